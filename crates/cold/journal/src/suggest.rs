//! Which files a person may mean who types after `@`: by their names, by recent work, out of git's index.

use crate::recall::tree;
use base::Paths;
use base::project::{Project, Repository};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path};
use store::Store;
use store::rusqlite::params;

/// How many files the client shows.
pub const MOST: usize = 15;

/// How many files of recent work are looked at, those used last.
const MOST_RECENT: u32 = 200;

/// How well a name fits what was typed. Recent work decides between names that fit equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its letters are in the path, in this order.
    Scattered,
    InPath,
    InName,
    StartOfName,
    Name,
}

/// Returns the files that fit `query` best, relative to `cwd`; without a query, those that were worked on last. Where too few do,
/// `others` is asked for files that git's index does not have, by the root of the work tree, if there is one.
pub fn suggest(
    query: &str,
    cwd: &Path,
    paths: &Paths,
    others: impl FnOnce(Option<&Path>) -> Vec<String>,
) -> Vec<String> {
    let repository = Repository::above(cwd);
    let root = repository.as_ref().map_or(cwd, |repository| &repository.root);
    let mut files = repository.as_ref().map(tree::indexed).unwrap_or_default();
    let recent = recent(cwd, paths);
    // What is not in the index yet; journals keep files that are gone.
    let is_new = |path: &&String| files.binary_search(path).is_err() && is_file(&root.join(path));
    let new: Vec<String> = recent.iter().filter(is_new).cloned().collect();
    files.extend_from_slice(&new);
    let ages: HashMap<&str, usize> =
        recent.iter().enumerate().rev().map(|(age, path)| (&**path, age)).collect();
    let mut chosen = choose(query, files.iter().map(String::as_str), &ages);
    let others = match chosen.len() < MOST {
        true => others(repository.as_ref().map(|repository| repository.root.as_path())),
        false => Vec::new(),
    };
    if !others.is_empty() {
        let others = others.iter().filter(|path| !new.contains(path));
        chosen = choose(query, files.iter().chain(others).map(String::as_str), &ages);
    }
    let from_root = cwd.strip_prefix(root).unwrap_or(Path::new(""));
    chosen.into_iter().map(|path| relative(path, from_root)).collect()
}

/// Returns the best of the files, the best first. `ages` has those of recent work, with how many are newer.
fn choose<'a>(
    query: &str,
    files: impl Iterator<Item = &'a str>,
    ages: &HashMap<&str, usize>,
) -> Vec<&'a str> {
    let query: Vec<u8> =
        query.trim().trim_start_matches("./").bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let mut lower = Vec::new();
    let mut found: Vec<_> = files
        .filter_map(|path| {
            lower.clear();
            lower.extend_from_slice(path.as_bytes());
            lower.make_ascii_lowercase();
            let fit = fit(&query, &lower).filter(|_| !path.contains(char::is_control))?;
            let age = ages.get(path).copied().unwrap_or(usize::MAX);
            Some((Reverse(fit), age, path.len(), path))
        })
        .collect();
    if found.len() > MOST {
        found.select_nth_unstable(MOST);
        found.truncate(MOST);
    }
    found.sort_unstable();
    found.into_iter().map(|(_, _, _, path)| path).collect()
}

/// Returns how well a path fits; both are in lower case.
fn fit(query: &[u8], path: &[u8]) -> Option<Fit> {
    // All that fits has these letters in this order, and few files of a large repository have.
    let mut rest = path.iter();
    if !query.iter().all(|letter| rest.any(|byte| byte == letter)) {
        return None;
    }
    if query.is_empty() {
        return Some(Fit::Scattered);
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    Some(if name == query || stem == query || path == query {
        Fit::Name
    } else if name.starts_with(query) || path.starts_with(query) {
        Fit::StartOfName
    } else if contains(name, query) {
        Fit::InName
    } else if contains(path, query) {
        Fit::InPath
    } else {
        Fit::Scattered
    })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Returns a path relative to the root as one that is relative to a folder below it.
fn relative(path: &str, from_root: &Path) -> String {
    match Path::new(path).strip_prefix(from_root) {
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => {
            let depth = from_root.components().filter(|part| matches!(part, Component::Normal(_))).count();
            "../".repeat(depth) + path
        }
    }
}

/// Returns the files that the journal's entries about a project are about, the newest entries first. None where there is no
/// journal, or where it cannot be read: names are enough.
fn recent(cwd: &Path, paths: &Paths) -> Vec<String> {
    // Looking must not create a database.
    let store = paths.database().exists().then(|| crate::open_store(paths).ok()).flatten();
    store.and_then(|store| recent_in(&store, &Project::of(cwd).key).ok()).unwrap_or_default()
}

fn recent_in(store: &Store, key: &str) -> Result<Vec<String>, store::Error> {
    let mut statement = store.connection().prepare_cached(
        "SELECT f.path FROM entries AS e JOIN entry_files AS f ON f.entry = e.row
         WHERE e.project = (SELECT row FROM projects WHERE key = ?1)
         ORDER BY e.at DESC, f.is_changed DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![key, MOST_RECENT], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 8] = [
        "README.md",
        "docs/window.md",
        "src/lib.rs",
        "src/main.rs",
        "src/window/lib.rs",
        "src/window/size.rs",
        "tests/main_window.rs",
        "web/Main.tsx",
    ];

    #[track_caller]
    fn check(query: &str, recent: &[&'static str], expected: &[&str]) {
        let ages = recent.iter().enumerate().map(|(age, path)| (*path, age)).collect();
        assert_eq!(choose(query, FILES.into_iter(), &ages), expected, "{query}");
    }

    #[test]
    fn a_whole_name_comes_before_its_start_a_part_and_a_folder() {
        check("main", &[], &["src/main.rs", "web/Main.tsx", "tests/main_window.rs"]);
        check(
            "window",
            &[],
            &["docs/window.md", "tests/main_window.rs", "src/window/lib.rs", "src/window/size.rs"],
        );
        check("src/w", &[], &["src/window/lib.rs", "src/window/size.rs"]);
        check("swl", &[], &["src/window/lib.rs"]);
        check("nothing-like-it", &[], &[]);
    }

    #[test]
    fn recent_work_decides_between_equal_names_and_without_a_query() {
        check("lib.rs", &["src/window/lib.rs"], &["src/window/lib.rs", "src/lib.rs"]);
        let ages = [("web/Main.tsx", 0), ("README.md", 1)].into_iter().collect();
        assert_eq!(choose("", FILES.into_iter(), &ages)[..2], ["web/Main.tsx", "README.md"]);
    }

    #[test]
    fn no_more_than_the_client_shows_and_no_path_that_breaks_a_line() {
        let many: Vec<String> = (0..100).map(|number| format!("src/file-{number:03}.rs")).collect();
        let chosen = choose("file", many.iter().map(String::as_str), &HashMap::new());
        assert_eq!(chosen.len(), MOST);
        assert_eq!(chosen[0], "src/file-000.rs");
        assert_eq!(choose("a", ["a\nb"].into_iter(), &HashMap::new()), [""; 0]);
    }

    #[test]
    fn paths_are_relative_to_where_the_session_works() {
        assert_eq!(relative("src/lib.rs", Path::new("")), "src/lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new("src")), "lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new("docs/guides")), "../../src/lib.rs");
    }
}
