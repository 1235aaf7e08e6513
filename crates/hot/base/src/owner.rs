//! Whose a folder is. Another user may have put a `.git` or a `.wyren` above the folder of a session: neither counts, as
//! with git, unless the user's own git configuration lists the folder in `safe.directory`.
//!
//! The list is read from the system's and the user's configuration files, without what these include.

use std::fs::Metadata;
use std::path::Path;

/// Returns whether what `metadata` describes may be used: it is the user's, or `root`, the folder that holds it, is listed.
#[cfg(unix)]
pub fn is_users(metadata: &Metadata, root: &Path) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    let user = unix::effective_user();
    owner == user || unix::counts(owner, user, unix::sudo_user, root, unix::safe_folders)
}

/// Returns whether what `metadata` describes may be used.
#[cfg(not(unix))]
pub fn is_users(_metadata: &Metadata, _root: &Path) -> bool {
    true
}

#[cfg(unix)]
mod unix {
    use crate::files::{self, cap};
    use crate::{Env, git_config};
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    const ROOT: u32 = 0;

    pub(super) fn effective_user() -> u32 {
        static USER: OnceLock<u32> = OnceLock::new();
        #[expect(unsafe_code, reason = "the standard library does not tell the user")]
        // SAFETY: it takes nothing and cannot fail.
        *USER.get_or_init(|| unsafe { libc::geteuid() })
    }

    /// Returns who called `sudo`, as git reads it.
    pub(super) fn sudo_user() -> Option<u32> {
        Env::process().text("SUDO_UID")?.parse().ok()
    }

    /// Decides as git does. What costs something is asked last.
    pub(super) fn counts(
        owner: u32,
        user: u32,
        sudo_user: impl FnOnce() -> Option<u32>,
        root: &Path,
        safe: impl FnOnce() -> Vec<String>,
    ) -> bool {
        owner == user || user == ROOT && sudo_user() == Some(owner) || is_listed(root, &safe())
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
            let canonical =
                |path: &str| Path::new(path).is_absolute().then(|| Path::new(path).canonicalize());
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
    pub(super) fn safe_folders() -> Vec<String> {
        let env = Env::process();
        let home = env.get("HOME").map(PathBuf::from);
        let mut files: Vec<PathBuf> = Vec::new();
        if !env.is_on("GIT_CONFIG_NOSYSTEM") {
            files.push(env.get("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into()).into());
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
        git_config::parse(config)
            .into_iter()
            .filter(is_safe)
            .map(|variable| expanded(variable.value))
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const ADA: u32 = 1_000;
        const BOB: u32 = 1_001;

        #[track_caller]
        fn check(owner: u32, user: u32, sudo_user: Option<u32>, safe: &[&str], expected: bool) {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap().join("shared/app");
            std::fs::create_dir_all(&root).unwrap();
            let name = |entry: &&str| entry.replace("TOP", &folder.path().display().to_string());
            let safe: Vec<String> = safe.iter().map(name).collect();
            let counted = counts(owner, user, || sudo_user, &root, || safe.clone());
            assert_eq!(counted, expected, "{owner} {user} {sudo_user:?} {safe:?}");
        }

        #[test]
        fn ones_own_folder_counts_and_anothers_does_not() {
            check(ADA, ADA, None, &[], true);
            check(BOB, ADA, None, &[], false);
            check(ROOT, ADA, None, &[], false);
            check(ROOT, ROOT, None, &[], true);
            check(ADA, ROOT, None, &[], false);
        }

        #[test]
        fn under_sudo_the_callers_folder_counts_for_root_alone() {
            check(ADA, ROOT, Some(ADA), &[], true);
            check(ROOT, ROOT, Some(ADA), &[], true);
            check(BOB, ROOT, Some(ADA), &[], false);
            check(BOB, ADA, Some(BOB), &[], false);
        }

        #[test]
        fn a_listed_folder_counts_whatever_its_owner() {
            check(ROOT, ADA, None, &["TOP/shared/app"], true);
            check(BOB, ADA, None, &["TOP/shared/app/"], true);
            check(BOB, ADA, None, &["TOP/shared/*"], true);
            check(BOB, ADA, None, &["TOP/*"], true);
            check(BOB, ADA, None, &["*"], true);
            check(BOB, ADA, None, &["TOP/shared"], false);
            check(BOB, ADA, None, &["TOP/shared/ap/*", "TOP/shared/app/*", "TOP/other", "shared/app"], false);
            check(BOB, ADA, None, &["*", ""], false);
            check(BOB, ADA, None, &["*", "", "TOP/shared/app"], true);
        }

        #[test]
        fn the_list_is_read_as_git_writes_it() {
            let config = "[safe]\n\tdirectory = ~/code/*\n\tdirectory\n[Safe]\n\tDirectory = \"/srv/a b\"\n[safe \"x\"]\n\tdirectory = no\n";
            assert_eq!(safe_in(config, Some(Path::new("/home/ada"))), ["/home/ada/code/*", "", "/srv/a b"]);
        }

        #[test]
        fn a_folder_that_was_given_away_does_not_count() {
            let folder = tempfile::tempdir().unwrap();
            let metadata = || std::fs::symlink_metadata(folder.path()).unwrap();
            assert!(super::super::is_users(&metadata(), folder.path()));
            // Only root can give a folder away.
            if effective_user() == ROOT {
                std::os::unix::fs::chown(folder.path(), Some(ADA + 54_321), None).unwrap();
                assert!(!super::super::is_users(&metadata(), folder.path()));
            }
        }
    }
}
