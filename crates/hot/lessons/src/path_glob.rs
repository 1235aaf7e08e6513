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

fn fit_names(glob: &[&str], path: &[&str]) -> bool {
    match glob.split_first() {
        None => path.is_empty(),
        // `a/**` fits what is below `a`, at any depth.
        Some((&"**", [])) => !path.is_empty(),
        Some((&"**", rest)) => (0..=path.len()).any(|skipped| fit_names(rest, &path[skipped..])),
        Some((name, rest)) => path.split_first().is_some_and(|(first, others)| {
            fits_name(name.as_bytes(), first.as_bytes()) && fit_names(rest, others)
        }),
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
        assert!(expand(&"{a,b}".repeat(30)).len() <= 2 * MAX_EXPANSIONS);
    }
}
