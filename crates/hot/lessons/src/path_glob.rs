//! Globs over paths relative to the project: `**/*.py` fits `foo.py` and `a/b.py`, not `a/b.pyc`; `{a,b}` works.

use crate::wildcard;

/// Says whether a glob fits a path. Without a slash the glob is for the file's name, wherever it is.
pub fn fits(glob: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    expand(glob).iter().any(|glob| {
        let glob = glob.trim_start_matches("./");
        if glob.contains('/') {
            let glob: Vec<&str> = glob.trim_start_matches('/').split('/').collect();
            let path: Vec<&str> = path.trim_start_matches('/').split('/').collect();
            fit_names(&glob, &path)
        } else {
            fits_name(glob.as_bytes(), path.rsplit('/').next().unwrap_or(path).as_bytes())
        }
    })
}

/// How many globs one glob with braces may stand for.
const MAX_EXPANSIONS: usize = 64;

/// Returns an upper bound of the bytes that a glob has with its braces written out.
pub(crate) fn expanded_bytes(glob: &str) -> usize {
    let mut globs = 1_usize;
    for braces in glob.split('{').skip(1) {
        let inside = braces.split('}').next().unwrap_or_default();
        globs = globs.saturating_mul(1 + inside.matches(',').count()).min(2 * MAX_EXPANSIONS);
    }
    globs * glob.len()
}

/// Writes out the alternatives in braces.
pub fn expand(glob: &str) -> Vec<String> {
    let mut finished = Vec::new();
    let mut pending = vec![glob.to_owned()];
    while let Some(glob) = pending.pop() {
        let innermost = glob.rfind('{').and_then(|open| Some((open, open + glob[open..].find('}')?)));
        match innermost {
            Some((open, close)) if finished.len() + pending.len() < MAX_EXPANSIONS => {
                let (before, after) = (&glob[..open], &glob[close + 1..]);
                let alternatives = glob[open + 1..close].split(',').rev();
                pending.extend(alternatives.map(|alternative| format!("{before}{alternative}{after}")));
            }
            _ => finished.push(glob),
        }
    }
    finished
}

/// Works without recursion, as [`wildcard::fits`] does: on a mismatch the last `**` takes one name more.
fn fit_names(glob: &[&str], path: &[&str]) -> bool {
    let (mut at, mut in_path) = (0, 0);
    let mut gap = None;
    loop {
        let is_fitting = match glob.get(at) {
            // `a/**` fits what is below `a`, at any depth.
            Some(&"**") if at + 1 == glob.len() => return in_path < path.len(),
            Some(&"**") => {
                gap = Some((at + 1, in_path));
                at += 1;
                continue;
            }
            Some(name) => path.get(in_path).is_some_and(|other| fits_name(name.as_bytes(), other.as_bytes())),
            None if in_path == path.len() => return true,
            None => false,
        };
        if is_fitting {
            at += 1;
            in_path += 1;
        } else if let Some((after, reached)) = gap
            && reached < path.len()
        {
            gap = Some((after, reached + 1));
            (at, in_path) = (after, reached + 1);
        } else {
            return false;
        }
    }
}

/// Fits one name: `*` is any part of it, `?` one byte, `[a-z]` one of a set.
fn fits_name(glob: &[u8], name: &[u8]) -> bool {
    wildcard::fits(glob, name, fit_one)
}

/// Returns how much of the glob one byte takes, if it fits.
fn fit_one(glob: &[u8], byte: u8) -> Option<usize> {
    match glob {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => {
            let close = rest.iter().position(|byte| *byte == b']').filter(|close| *close > 0)?;
            let (negated, set) = match &rest[..close] {
                [b'!' | b'^', set @ ..] => (true, set),
                set => (false, set),
            };
            let ranges =
                set.windows(3).any(|range| range[1] == b'-' && (range[0]..=range[2]).contains(&byte));
            ((set.contains(&byte) || ranges) != negated).then_some(close + 2)
        }
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, fitting: &[&str], others: &[&str]) {
        for path in fitting {
            assert!(fits(glob, path), "{glob} on {path}");
        }
        for path in others {
            assert!(!fits(glob, path), "{glob} on {path}");
        }
    }

    #[test]
    fn real_globs() {
        check("**/*.py", &["foo.py", "a/b.py", "a/b/c.py"], &["a/b.pyc", "py", "a.py/b"]);
        check("*.py", &["foo.py", "a/b.py"], &["a.pyc"]);
        check("src/*.rs", &["src/a.rs"], &["src/a/b.rs", "x/src/a.rs"]);
        check("src/**", &["src/a", "src/a/b.rs"], &["src", "lib/src/a"]);
        check("**/migrations/**/*.sql", &["db/migrations/1.sql", "migrations/a/2.sql"], &["migrations.sql"]);
        check("**/a/**/b/**", &["a/b/c", "x/a/y/b/z/c", "a/b/a/b/c"], &["a/b", "b/a/c", "a/c/d"]);
        check("a/**/**/b", &["a/b", "a/x/y/b"], &["b", "a/b/c"]);
        check("package.json", &["package.json", "a/package.json"], &["package.json5", "my-package.json"]);
        check(".env*", &[".env", "a/.env.local"], &["x.env"]);
    }

    #[test]
    fn braces_sets_and_question_marks() {
        check("**/*.{py,pyi}", &["a.py", "b/c.pyi"], &["a.pyx"]);
        check("{src,lib}/**/*.{ts,tsx}", &["src/a.ts", "lib/b/c.tsx"], &["test/a.ts"]);
        check("file[0-9].txt", &["file1.txt"], &["filea.txt"]);
        check("file[!0-9].txt", &["filea.txt"], &["file1.txt"]);
        check("?.c", &["a.c"], &["ab.c"]);
    }

    #[test]
    fn hostile_globs_end() {
        check(&"*a".repeat(40), &[], &[&"ab".repeat(300)]);
        check(&("**/*a*/".repeat(60) + "x"), &[], &[&"a/".repeat(300)]);
        assert!(expand(&"{a,b}".repeat(30)).len() <= 2 * MAX_EXPANSIONS);
    }
}
