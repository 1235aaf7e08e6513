//! Where a repository keeps its team memory, found by reading files.

use base::project::Repository;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The branch of side mode.
pub const SIDE_BRANCH: &str = "wyren/memory";

/// The folder of team memory in a work tree.
pub const FOLDER: &str = ".wyren";

/// The memory, relative to `.wyren/` or to the local copy.
pub const MEMORY: &str = "memory.md";

/// The folder of the broadcast, relative to `.wyren/` or to the local copy.
pub const BROADCAST: &str = "broadcast";

/// The folder of the team's lessons, relative to `.wyren/` or to the local copy.
pub const LESSONS: &str = "lessons";

/// The folder of what is never shared, relative to `.wyren/`.
pub const STATE: &str = "state";

/// Returns the folder of what is never shared.
pub fn state_folder(wyren: &Path) -> PathBuf {
    wyren.join(STATE)
}

/// The line that keeps `.wyren/` out of the user's commits in side mode.
pub const EXCLUDED: &str = "/.wyren/";

/// Archived lessons and candidates stay in the clone.
const KEPT_HERE: [&str; 2] = ["lessons/archive/", "lessons/candidates/"];

/// How a repository shares its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// On a branch of its own, [`SIDE_BRANCH`]; `.wyren/` is excluded from the others.
    Side,
    /// Tracked on the branch that is checked out.
    Branch,
}

/// A repository, and where its team memory would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The repository.
    pub repository: Repository,
    /// The top of the main work tree, whose `.wyren/` all work trees share in side mode; that of this one when the
    /// repository is bare.
    pub main_root: PathBuf,
}

impl Place {
    /// Finds the repository whose work tree contains `folder`.
    pub fn find(folder: &Path) -> Option<Self> {
        let folder = std::path::absolute(folder).ok()?;
        let repository = Repository::above(&folder)?;
        let main_root = main_root(&repository).unwrap_or_else(|| repository.root.clone());
        Some(Self { repository, main_root })
    }

    /// Returns the `.wyren/` folder in a mode.
    pub fn folder(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::Side => self.main_root.join(FOLDER),
            Mode::Branch => self.repository.root.join(FOLDER),
        }
    }

    /// Returns the folder of the local copy: where `memory.md`, `broadcast/` and `lessons/` are to be read.
    pub fn copy_folder(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::Side => self.folder(mode),
            Mode::Branch => state_folder(&self.folder(mode)),
        }
    }

    /// Returns whether `.wyren/` is excluded, which tells side mode from branch mode where nothing is tracked.
    pub fn is_excluded(&self) -> bool {
        let path = self.repository.common_folder.join("info/exclude");
        fs::read_to_string(path).is_ok_and(|text| text.lines().any(is_exclusion))
    }

    /// Returns whether a team's memory may come into a clone that has none; `git config wyren.discover false` forbids it.
    pub fn wants_discovery(&self) -> bool {
        let setting = self.repository.setting("wyren", "discover").unwrap_or_default();
        !["false", "no", "off", "0"].contains(&&*setting.to_ascii_lowercase())
    }

    /// Returns whether the folder of a mode belongs to a linked work tree alone.
    pub fn is_own(&self, mode: Mode) -> bool {
        let is_linked = self.repository.git_folder != self.repository.common_folder;
        is_linked && self.folder(mode).parent() == Some(&self.repository.root)
    }
}

/// Returns the top of the work tree that the repository was made with.
fn main_root(repository: &Repository) -> Option<PathBuf> {
    let common = &repository.common_folder;
    if *common == repository.git_folder {
        return Some(repository.root.clone());
    }
    let config = fs::read_to_string(common.join("config")).unwrap_or_default();
    if core_value(&config, "bare") == Some("true") {
        return None;
    }
    // A submodule's folder is elsewhere, and says where the work tree is.
    let root = match core_value(&config, "worktree") {
        Some(path) => common.join(path).canonicalize().ok()?,
        None => common.parent().filter(|_| common.ends_with(".git"))?.to_owned(),
    };
    root.is_dir().then_some(root)
}

/// Returns a value of the section `core` as git itself writes it.
fn core_value<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    let core = config.lines().map(str::trim).skip_while(|line| *line != "[core]").skip(1);
    core.take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .find(|(found, _)| found.trim() == name)
        .map(|(_, value)| value.trim())
}

/// Returns whether a line of an exclude file excludes `.wyren/`.
pub fn is_exclusion(line: &str) -> bool {
    matches!(line.trim(), EXCLUDED | "/.wyren" | ".wyren/" | ".wyren")
}

/// Returns whether `path`, relative to `.wyren/`, is one that is shared.
pub fn is_shared(path: &str) -> bool {
    let is_below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| !rest.is_empty());
    let is_plain = |name: &str| {
        !name.is_empty()
            && !matches!(name, "." | "..")
            && !name.eq_ignore_ascii_case(".git")
            // A backslash and a colon lead elsewhere on Windows.
            && !name.contains(['\\', ':', '\0'])
    };
    let is_kept_here = KEPT_HERE.iter().any(|folder| path.starts_with(folder));
    (path == MEMORY || is_below("broadcast/") || is_below("lessons/"))
        && !is_kept_here
        && path.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_of_the_memory_are_shared() {
        for shared in ["memory.md", "broadcast/a.md", "broadcast/skills/deep/b", "lessons/.gitkeep"] {
            assert!(is_shared(shared), "{shared}");
        }
        for other in [
            "",
            "log",
            "state/fetch.json",
            "memory.md/x",
            "broadcast",
            "broadcast/",
            "broadcast/../log",
            "lessons//x",
            "lessons/.GIT/config",
            "lessons/a\\b",
            "lessons/c:x",
            "lessons/archive/x.md",
            "lessons/candidates/x.md",
        ] {
            assert!(!is_shared(other), "{other}");
        }
    }
}
