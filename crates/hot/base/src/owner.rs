//! Whose a folder is. Another user may have put a `.git` or a `.wyren` above the folder of a session: neither counts, as
//! with git, unless the user's own git configuration lists the folder in `safe.directory`.
//!
//! The list is read from the system's and the user's configuration files, without what these include.

use crate::files::{self, cap};
use crate::{Env, git_config, system};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Returns whether what `metadata` describes, at `path`, may be used: it is the user's, or `root`, the folder that holds it,
/// is listed. Decides as git does; what costs something is asked last.
pub fn is_users(metadata: &Metadata, path: &Path, root: &Path) -> bool {
    system::is_users(metadata, path) || is_listed(root, &safe_folders())
}

/// Returns whether a list of `safe.directory` names a folder: by its path, by `path/*` above it, or by `*`. An empty entry
/// takes back those before it.
fn is_listed(root: &Path, safe: &[String]) -> bool {
    let start = safe.iter().rposition(String::is_empty).map_or(0, |empty| empty + 1);
    let Ok(root) = root.canonicalize() else { return false };
    safe[start..].iter().any(|entry| {
        if entry == "*" {
            return true;
        }
        let canonical = |path: &str| Path::new(path).is_absolute().then(|| Path::new(path).canonicalize());
        match entry.strip_suffix("/*") {
            Some("") => true,
            Some(above) => canonical(above)
                .and_then(Result::ok)
                .is_some_and(|above| root != above && root.starts_with(above)),
            None => canonical(entry).and_then(Result::ok).is_some_and(|listed| listed == root),
        }
    })
}

/// Returns every `safe.directory` of the system and of the user, in the order in which git reads them.
fn safe_folders() -> Vec<String> {
    let env = Env::process();
    let home = system::home(&env);
    let mut files: Vec<PathBuf> = Vec::new();
    if !env.is_on("GIT_CONFIG_NOSYSTEM") {
        files.extend(env.get("GIT_CONFIG_SYSTEM").map(PathBuf::from).or_else(system::git_configuration));
    }
    match env.get("GIT_CONFIG_GLOBAL") {
        Some(global) => files.push(global.into()),
        None => {
            let xdg = env.get("XDG_CONFIG_HOME").map(PathBuf::from);
            let xdg = xdg.or_else(|| home.as_ref().map(|home| home.join(".config")));
            files.extend(xdg.map(|folder| folder.join("git/config")));
            files.extend(home.as_ref().map(|home| home.join(".gitconfig")));
        }
    }
    let texts = files.iter().filter_map(|file| files::read_text_followed(file, cap::GIT_CONFIG).ok());
    texts.flat_map(|text| safe_in(&text, home.as_deref())).collect()
}

/// Returns every `safe.directory` of a configuration.
fn safe_in(config: &str, home: Option<&Path>) -> Vec<String> {
    let is_safe = |variable: &git_config::Variable| {
        variable.section == "safe" && variable.subsection.is_empty() && variable.name == "directory"
    };
    let expanded = |value: String| match (value.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => value,
    };
    git_config::parse(config).into_iter().filter(is_safe).map(|variable| expanded(variable.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(safe: &[&str], expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("shared").join("app");
        std::fs::create_dir_all(&root).unwrap();
        let name = |entry: &&str| entry.replace("TOP", &folder.path().display().to_string());
        let safe: Vec<String> = safe.iter().map(name).collect();
        assert_eq!(is_listed(&root, &safe), expected, "{safe:?}");
    }

    #[test]
    fn a_listed_folder_counts_whatever_its_owner() {
        check(&["TOP/shared/app"], true);
        check(&["TOP/shared/app/"], true);
        check(&["TOP/shared/*"], true);
        check(&["TOP/*"], true);
        check(&["*"], true);
        check(&["TOP/shared"], false);
        check(&["TOP/shared/ap/*", "TOP/shared/app/*", "TOP/other", "shared/app"], false);
        check(&["*", ""], false);
        check(&[], false);
        check(&["*", "", "TOP/shared/app"], true);
    }

    #[test]
    fn the_list_is_read_as_git_writes_it() {
        let config = "[safe]\n\tdirectory = ~/code/*\n\tdirectory\n[Safe]\n\tDirectory = \"/srv/a b\"\n[safe \"x\"]\n\tdirectory = no\n";
        assert_eq!(safe_in(config, Some(Path::new("/home/ada"))), ["/home/ada/code/*", "", "/srv/a b"]);
    }
}
