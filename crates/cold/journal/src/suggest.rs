//! Which files a person may mean who types after `@`: by their names, by recent work, out of git's index; by a path that leads
//! elsewhere, out of its folder.

use crate::recall::tree;
use base::Paths;
use base::project::{Project, Repository};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use store::Store;
use store::rusqlite::params;
use work::contexts::write;

/// How many files the client shows.
pub const MOST: usize = 15;

/// How many files of recent work are looked at, those used last.
const MOST_RECENT: u32 = 200;

/// How many files of a folder outside of the project are looked at.
const MOST_BESIDE: usize = 10_000;

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

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What was typed.
    pub query: &'a str,
    pub cwd: &'a Path,
    /// The client's id of the session.
    pub session: Option<&'a str>,
    /// The folder that `~` means.
    pub home: Option<&'a Path>,
}

/// Returns the files that fit the query best, relative to the session's folder, or as a whole path where that was typed; without a
/// query, those that were worked on last. Where too few do, `others` is asked for files that git's index does not have, by the root
/// of the work tree, if there is one.
pub fn suggest(
    asked: Asked<'_>,
    paths: &Paths,
    others: impl FnOnce(Option<&Path>) -> Vec<String>,
) -> Vec<String> {
    let Asked { query, cwd, .. } = asked;
    let repository = Repository::above(cwd);
    let root = repository.as_ref().map_or(cwd, |repository| &repository.root);
    let (folder, name) = match elsewhere(&asked) {
        Some((folder, name)) => {
            match repository.as_ref().and_then(|repository| folder.strip_prefix(&repository.root).ok()) {
                Some(below) => (slashed(below), name),
                None => return inside(&folder, name, query),
            }
        }
        None => (String::new(), query.trim().trim_start_matches("./")),
    };
    let mut files = repository.as_ref().map(tree::indexed).unwrap_or_default();
    let recent = recent(&asked, paths);
    // What is not in the index yet; journals keep files that are gone.
    let is_new = |path: &&String| files.binary_search(path).is_err() && is_file(&root.join(path));
    let new: BTreeSet<String> = recent.iter().filter(is_new).cloned().collect();
    files.extend(new.iter().cloned());
    let ages: HashMap<&str, usize> =
        recent.iter().enumerate().rev().map(|(age, path)| (&**path, age)).collect();
    // The index keeps files that were deleted until that is committed.
    let is_there = |path: &str| root.join(path).symlink_metadata().is_ok_and(|metadata| !metadata.is_dir());
    let wanted = Wanted { folder: &folder, name, ages: &ages, is_there: &is_there };
    let mut chosen = wanted.choose(files.iter().map(String::as_str));
    let others = match chosen.len() < MOST {
        true => others(repository.as_ref().map(|repository| repository.root.as_path())),
        false => Vec::new(),
    };
    if !others.is_empty() {
        let others = others.iter().filter(|path| !new.contains(*path));
        chosen = wanted.choose(files.iter().chain(others).map(String::as_str));
    }
    let from_root = cwd.strip_prefix(root).unwrap_or(Path::new(""));
    let as_typed = |path: &str| match typed_root(&asked, root) {
        Some(root) => format!("{root}{path}"),
        None => relative(path, from_root),
    };
    chosen.into_iter().map(as_typed).collect()
}

/// Returns the folder that a path leads to which was typed, and the beginning of a name in it. `None` for what may be anywhere in
/// the project.
fn elsewhere<'a>(asked: &Asked<'a>) -> Option<(PathBuf, &'a str)> {
    let query = asked.query.trim();
    let (folder, name) = match query {
        ".." | "~" => (query, ""),
        _ => query.rsplit_once('/')?,
    };
    let typed = match (folder, asked.home) {
        ("", _) => PathBuf::from("/"),
        ("~", Some(home)) => home.to_owned(),
        _ => match (folder.strip_prefix("~/"), asked.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => asked.cwd.join(folder),
        },
    };
    let leads = folder.is_empty()
        || folder.starts_with(['/', '~'])
        || Path::new(folder).has_root()
        || folder.split('/').any(|part| part == "..");
    leads.then(|| (tidy(&typed), name))
}

/// Returns a path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}

/// Returns how the root of the work tree was typed, with a `/` at its end; `None` where the path is relative.
fn typed_root(asked: &Asked<'_>, root: &Path) -> Option<String> {
    let query = asked.query.trim();
    if query.starts_with('/') || Path::new(query).has_root() {
        return Some(slashed(root));
    }
    let below = root.strip_prefix(asked.home?).ok().filter(|_| query.starts_with('~'))?;
    Some(format!("~/{}", slashed(below)))
}

/// Returns a folder as paths below it begin.
fn slashed(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() || folder.ends_with('/') { folder.into_owned() } else { format!("{folder}/") }
}

/// Returns what is in a folder outside of the project, as it was typed. Folders end with a `/`; hidden ones are named by their dot.
fn inside(folder: &Path, name: &str, query: &str) -> Vec<String> {
    let query = query.trim();
    let typed = match query.strip_suffix(name).unwrap_or(query) {
        typed if typed.ends_with('/') => typed.to_owned(),
        typed => format!("{typed}/"),
    };
    let wanted = name.to_lowercase();
    let mut found: Vec<(Fit, String)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_BESIDE) {
        let Ok(file) = entry.file_name().into_string() else { continue };
        if file.contains(char::is_control) || (file.starts_with('.') && !name.starts_with('.')) {
            continue;
        }
        if let Some(fit) = fit(wanted.as_bytes(), file.to_lowercase().as_bytes()) {
            let end = if entry.path().is_dir() { "/" } else { "" };
            found.push((fit, format!("{typed}{file}{end}")));
        }
    }
    found.sort_unstable_by(|(one, a), (other, b)| (other, a).cmp(&(one, b)));
    found.into_iter().map(|(_, path)| path).take(MOST).collect()
}

/// What the files are chosen by.
struct Wanted<'w> {
    /// The folder that they are in, relative to the root, with a `/` at its end; empty for any.
    folder: &'w str,
    name: &'w str,
    /// The files of recent work, with how many are newer.
    ages: &'w HashMap<&'w str, usize>,
    is_there: &'w dyn Fn(&str) -> bool,
}

impl Wanted<'_> {
    /// Returns the best of the files, the best first.
    fn choose<'a>(&self, files: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let (folder, name) = (self.folder.to_lowercase(), self.name.to_lowercase());
        let mut lower = Vec::new();
        let mut found: Vec<_> = files
            .filter_map(|path| {
                lower.clear();
                lower.extend_from_slice(path.as_bytes());
                match path.is_ascii() {
                    true => lower.make_ascii_lowercase(),
                    false => lower = path.to_lowercase().into_bytes(),
                }
                let below = lower.strip_prefix(folder.as_bytes())?;
                let fit = fit(name.as_bytes(), below).filter(|_| !path.contains(char::is_control))?;
                let age = self.ages.get(path).copied().unwrap_or(usize::MAX);
                Some((Reverse(fit), age, path.len(), path))
            })
            .collect();
        // As many more as are seldom gone, all at once.
        let (mut chosen, mut looked_at) = (Vec::new(), 0);
        while chosen.len() < MOST && looked_at < found.len() {
            let rest = &mut found[looked_at..];
            let some = rest.len().min(4 * MOST);
            if some < rest.len() {
                rest.select_nth_unstable(some);
            }
            rest[..some].sort_unstable();
            let there = rest[..some].iter().map(|(_, _, _, path)| *path).filter(|path| (self.is_there)(path));
            chosen.extend(there.take(MOST - chosen.len()));
            looked_at += some;
        }
        chosen
    }
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

/// Returns the files that the journal's entries about a project are about, those of the newest entries first, and before them those of
/// the context that the session works on. None where there is no journal, or where it cannot be read: names are enough.
fn recent(asked: &Asked<'_>, paths: &Paths) -> Vec<String> {
    // Looking must not create a database.
    let store = paths.database().exists().then(|| crate::open_store(paths).ok()).flatten();
    let Some(store) = store else { return Vec::new() };
    let context = asked.session.and_then(|session| write::read_binding(paths, session));
    let key = Project::of(asked.cwd).key;
    let of_context = context.and_then(|context| of_context(&store, &key, &context).ok()).unwrap_or_default();
    let recent = recent_in(&store, &key).unwrap_or_default();
    of_context.into_iter().chain(recent).collect()
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

/// Returns the files of a project that the sessions of a context worked on, those that they changed first.
fn of_context(store: &Store, key: &str, context: &str) -> Result<Vec<String>, store::Error> {
    let mut statement = store.connection().prepare_cached(
        "SELECT f.path FROM entries AS e JOIN entry_files AS f ON f.entry = e.row
         WHERE e.project = (SELECT row FROM projects WHERE key = ?1)
         AND e.session IN (SELECT session FROM work_bindings WHERE context = ?2)
         ORDER BY f.is_changed DESC, e.at DESC LIMIT ?3",
    )?;
    let rows = statement.query_map(params![key, context, MOST_RECENT], |row| row.get(0))?;
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
        assert_eq!(choose("", query, &FILES, recent), expected, "{query}");
    }

    fn choose<'f>(folder: &str, name: &str, files: &[&'f str], recent: &[&str]) -> Vec<&'f str> {
        let ages = recent.iter().enumerate().map(|(age, path)| (*path, age)).collect();
        let is_there = |path: &str| !path.starts_with("gone");
        Wanted { folder, name, ages: &ages, is_there: &is_there }.choose(files.iter().copied())
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
        let newest = choose("", "", &FILES, &["web/Main.tsx", "README.md"]);
        assert_eq!(newest[..2], ["web/Main.tsx", "README.md"]);
    }

    #[test]
    fn no_more_than_the_client_shows_and_no_path_that_breaks_a_line() {
        let many: Vec<String> = (0..100).map(|number| format!("src/file-{number:03}.rs")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let chosen = choose("", "file", &many, &[]);
        assert_eq!(chosen.len(), MOST);
        assert_eq!(chosen[0], "src/file-000.rs");
        assert_eq!(choose("", "a", &["a\nb"], &[]), [""; 0]);
    }

    #[test]
    fn files_that_are_gone_leave_their_place_to_others() {
        let names = (0..100).map(|number| match number {
            0..80 => format!("gone/{number:02}.rs"),
            _ => format!("src/of/{number:02}.rs"),
        });
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let chosen = choose("", "rs", &names, &["gone/07.rs"]);
        assert_eq!((chosen.len(), chosen[0]), (MOST, "src/of/80.rs"));
    }

    #[test]
    fn letters_of_any_script_are_the_same_in_either_case() {
        let files = ["docs/Ärger.md", "docs/ÉTÉ.md", "src/Δelta.rs", "src/SIZE.rs"];
        for (query, expected) in [
            ("ärger", files[0]),
            ("ÄRG", files[0]),
            ("été", files[1]),
            ("δ", files[2]),
            ("size.RS", files[3]),
        ] {
            assert_eq!(choose("", query, &files, &[]), [expected], "{query}");
        }
        assert_eq!(choose("SRC/", "", &files, &[]).len(), 2);
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_looked_for_there() {
        let found = |query: &str| {
            let (cwd, home) = (Path::new("/home/ada/shop/docs"), Path::new("/home/ada"));
            let asked = Asked { query, cwd, session: None, home: Some(home) };
            elsewhere(&asked).map(|(folder, name)| (folder.display().to_string(), name.to_owned()))
        };
        let is = |folder: &str, name: &str| Some((folder.to_owned(), name.to_owned()));
        assert_eq!(found("../src/au"), is("/home/ada/shop/src", "au"));
        assert_eq!(found(".."), is("/home/ada/shop", ""));
        assert_eq!(found("./../../x"), is("/home/ada", "x"));
        assert_eq!(found("/etc/ho"), is("/etc", "ho"));
        assert_eq!(found("/et"), is("/", "et"));
        assert_eq!(found("~/shop/"), is("/home/ada/shop", ""));
        assert_eq!(found("~"), is("/home/ada", ""));
        for query in ["", "auth", "src/au", "./src/au", "a..b/c", "~x"] {
            assert_eq!(found(query), None, "{query}");
        }
    }

    #[test]
    fn paths_are_relative_to_where_the_session_works() {
        assert_eq!(relative("src/lib.rs", Path::new("")), "src/lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new("src")), "lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new("docs/guides")), "../../src/lib.rs");
    }
}
