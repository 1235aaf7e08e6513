//! Projects by the names that people know them by.

use crate::{Error, similar};
use base::project::Project;
use capture::Spool;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use store::Store;
use store::observations;
use store::rusqlite::OptionalExtension as _;
use text::sanitize;

/// In characters.
const MAX_NAME: usize = 40;

/// In characters.
const MAX_SHOWN: usize = 200;

/// The most names that a refusal lists.
const MAX_LISTED: usize = 5;

/// The beginnings of keys.
const KINDS: [&str; 3] = ["git:", "repo:", "path:"];

/// Returns what a project is called in lists: the last two parts of its key, as in `acme/app`.
pub fn name(key: &str) -> String {
    let plain = plain(key);
    let parts: Vec<&str> = plain.strip_suffix("/.git").unwrap_or(plain).rsplit('/').take(2).collect();
    let name = parts.into_iter().rev().collect::<Vec<_>>().join("/");
    if name.is_empty() { "–".to_owned() } else { sanitize::one_line(&name, MAX_NAME) }
}

/// Returns the key of the project that a person named: by its key, by its name or the end of it, or by a folder in it. What
/// names no project, or more than one, is refused, with what was not done: to select another project instead could delete what
/// was not meant.
pub fn find(named: &str, store: &Store, spool: &Spool, undone: &str) -> Result<String, Error> {
    let known = observations::projects(store, spool)?;
    choose(named, &known, folder(named), undone)
}

/// Returns the folder that a project was last recorded in, if it is still there.
pub fn root(store: &Store, key: &str) -> Result<Option<PathBuf>, Error> {
    let mut select = store
        .connection()
        .prepare_cached("SELECT root FROM projects WHERE key = ?1")
        .map_err(store::Error::from)?;
    let root: Option<String> =
        select.query_row([key], |row| row.get(0)).optional().map_err(store::Error::from)?;
    Ok(root.map(PathBuf::from).filter(|root| root.is_dir()))
}

/// Returns the project that an existing folder belongs to.
fn folder(named: &str) -> Option<String> {
    let path = Path::new(named);
    path.is_dir().then(|| Project::of(path).key)
}

fn choose(
    named: &str,
    known: &BTreeSet<String>,
    folder: Option<String>,
    undone: &str,
) -> Result<String, Error> {
    let shown = sanitize::one_line(named, MAX_SHOWN);
    let mut found: BTreeSet<&str> =
        known.iter().filter(|key| is_called(key, named)).map(String::as_str).collect();
    if known.contains(named) {
        return Ok(named.to_owned());
    }
    // `.`, `..` and paths with a folder in front can only be meant as folders.
    let is_path = named.starts_with(['.', '~']) || Path::new(named).has_root();
    if let Some(folder) = &folder {
        if is_path || found.is_empty() {
            return Ok(folder.clone());
        }
        found.insert(folder);
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.to_owned()),
        (Some(first), Some(second)) => {
            let all: Vec<&str> = [first, second].into_iter().chain(found).collect();
            Err(Error::Unclear(format!(
                "{shown:?} names {} projects; {undone}. Use one of the keys:\n{}",
                all.len(),
                list(&all)
            )))
        }
        (None, _) => {
            let names: Vec<String> = known.iter().map(|key| name(key)).collect();
            let wanted = plain(named).trim_end_matches('/');
            let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
            let is_near = |key: &&String| {
                let last = plain(key).rsplit('/').next().unwrap_or_default();
                !similar::nearest(wanted, [last, &name(key)], 1).is_empty()
            };
            let near: Vec<&str> = known.iter().filter(is_near).map(String::as_str).collect();
            let listed = match (near.is_empty(), names.is_empty()) {
                (false, _) => format!(" Did you mean:\n{}", list(&near)),
                (true, false) => {
                    let all: Vec<&str> = known.iter().map(String::as_str).collect();
                    format!(" These are known:\n{}", list(&all))
                }
                (true, true) => String::new(),
            };
            Err(Error::Unclear(format!(
                "{shown:?} is neither a known project nor a folder; {undone}.{listed}"
            )))
        }
    }
}

/// Returns whether a key may be called `named`: by all of it but its kind, or by its last parts.
fn is_called(key: &str, named: &str) -> bool {
    let named = named.trim_end_matches('/');
    let plain = plain(key);
    // The work tree is what people see of a repository without a remote.
    [plain, plain.strip_suffix("/.git").unwrap_or(plain)].iter().any(|plain| {
        let end = plain.strip_suffix(named).filter(|_| !named.is_empty());
        end.is_some_and(|front| front.is_empty() || front.ends_with('/'))
    })
}

/// Returns a key without its kind.
fn plain(key: &str) -> &str {
    KINDS.iter().find_map(|kind| key.strip_prefix(kind)).unwrap_or(key)
}

fn list(keys: &[&str]) -> String {
    let mut lines: Vec<String> =
        keys.iter().take(MAX_LISTED).map(|key| format!("  {}", sanitize::one_line(key, MAX_SHOWN))).collect();
    if keys.len() > MAX_LISTED {
        lines.push(format!("  … and {} more", keys.len() - MAX_LISTED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeSet<String> {
        [
            "git:github.com/acme/app",
            "git:github.com/acme/api",
            "git:gitlab.com/grace/api",
            "path:/home/ada/notes",
            "repo:/home/ada/draft/.git",
        ]
        .map(str::to_owned)
        .into()
    }

    fn chosen(named: &str, folder: Option<&str>) -> Result<String, String> {
        choose(named, &known(), folder.map(str::to_owned), "nothing was changed")
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn c1_a_project_is_found_by_its_key_its_name_or_a_folder() {
        for (named, folder, expected) in [
            ("git:github.com/acme/app", None, "git:github.com/acme/app"),
            ("github.com/acme/app", None, "git:github.com/acme/app"),
            ("acme/app", None, "git:github.com/acme/app"),
            ("app", None, "git:github.com/acme/app"),
            ("grace/api", None, "git:gitlab.com/grace/api"),
            ("/home/ada/notes", None, "path:/home/ada/notes"),
            ("/home/ada/draft/", None, "repo:/home/ada/draft/.git"),
            (".", Some("path:/elsewhere"), "path:/elsewhere"),
            ("src", Some("git:github.com/acme/app"), "git:github.com/acme/app"),
            ("app", Some("git:github.com/acme/app"), "git:github.com/acme/app"),
        ] {
            assert_eq!(chosen(named, folder).as_deref(), Ok(expected), "{named}");
        }
    }

    #[test]
    fn c1_what_names_no_project_is_refused_with_the_nearest() {
        for named in ["some-other-client", "git:github.com/acme/nothing", "p", "", "../gone", "pp"] {
            let refused = chosen(named, None).unwrap_err();
            assert!(refused.contains("nothing was changed"), "{named}: {refused}");
        }
        let refused = chosen("acme/ap", None).unwrap_err();
        assert!(refused.contains("Did you mean:\n  git:github.com/acme/api\n"), "{refused}");
        assert!(!refused.contains("notes"), "{refused}");
        let refused = chosen("some-other-client", None).unwrap_err();
        assert!(refused.contains("These are known:\n  git:github.com/acme/api\n"), "{refused}");
    }

    #[test]
    fn c1_a_name_of_several_projects_is_refused_with_all_of_them() {
        let refused = chosen("api", None).unwrap_err();
        assert!(refused.contains("git:github.com/acme/api\n  git:gitlab.com/grace/api"), "{refused}");
        let refused = chosen("app", Some("git:github.com/acme/shop")).unwrap_err();
        assert!(refused.contains("git:github.com/acme/app\n  git:github.com/acme/shop"), "{refused}");
    }

    #[test]
    fn a_project_has_one_short_name() {
        assert_eq!(name("git:github.com/ada/engine"), "ada/engine");
        assert_eq!(name("path:/home/ada/notes"), "ada/notes");
        assert_eq!(name("repo:/home/ada/draft/.git"), "ada/draft");
        assert_eq!(name(""), "–");
    }
}
