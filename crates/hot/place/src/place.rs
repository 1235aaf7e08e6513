//! Finds where a repository keeps its team memory by reading files.

use base::files::{self, cap};
use base::project::{Refusal, Repository};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The branch of side mode.
pub const SIDE_BRANCH: &str = "wyren/memory";

/// The folder of team memory in a work tree.
pub const FOLDER: &str = files::PROJECT_FOLDER;

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

/// The empty file below `state/` of a memory that a session found on the remote, until the user joins it with `wyren init`.
const FOUND: &str = "found";

/// Notes whether the memory in a `.wyren/` folder was found on the remote and nothing else.
pub fn note_found(wyren: &Path, is_found: bool) -> io::Result<()> {
    let state = state_folder(wyren);
    let file = state.join(FOUND);
    if is_found {
        files::write_atomic(&file, b"")
    } else if fs::symlink_metadata(&file).is_ok() && !files::is_link(&state) {
        files::remove_if_there(&file).map(drop)
    } else {
        Ok(())
    }
}

/// Returns whether the user wants nothing of the memory in a `.wyren/` folder: it was found, and the repository's
/// configuration forbids that. For all other memories this is one failed system call.
pub(crate) fn is_unwanted(wyren: &Path, repository: impl FnOnce() -> Option<Repository>) -> bool {
    fs::symlink_metadata(state_folder(wyren).join(FOUND)).is_ok()
        && repository().is_some_and(|repository| !wants_discovery(&repository))
}

fn wants_discovery(repository: &Repository) -> bool {
    let setting = repository.setting("wyren", "discover").unwrap_or_default();
    !["false", "no", "off", "0"].contains(&&*setting.to_ascii_lowercase())
}

/// The line that keeps `.wyren/` out of the user's commits in side mode.
pub const EXCLUDED: &str = "/.wyren/";

/// Inactive lessons, which are local to each clone: archived ones and unreviewed candidates.
const KEPT_HERE: [&str; 2] = ["lessons/archive/", "lessons/candidates/"];

/// The file of a git folder that names the remotes.
const CONFIG: &str = "config";

/// What git reads of a git folder whatever it does, as far as it is there.
const GIT_FILES: [&str; 7] =
    [CONFIG, "config.worktree", "HEAD", "packed-refs", "index", "shallow", "objects/info/alternates"];

/// How a repository shares its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// On a separate branch, [`SIDE_BRANCH`]; `.wyren/` is excluded from the others.
    Side,
    /// Tracked on the checked-out branch.
    Branch,
}

/// A repository, and where its team memory would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub repository: Repository,
    /// The top of the main work tree, whose `.wyren/` all work trees share in side mode; that of this one when the
    /// repository is bare.
    pub main_root: PathBuf,
}

impl Place {
    /// Finds the repository whose work tree contains `folder`; `None` when there is none, or none that counts.
    pub fn find(folder: &Path) -> Option<Self> {
        Self::look(folder).ok().flatten()
    }

    /// Finds the repository whose work tree contains `folder`, or the reason why the nearest one does not count.
    pub fn look(folder: &Path) -> Result<Option<Self>, Refusal> {
        let Ok(folder) = std::path::absolute(folder) else { return Ok(None) };
        let place = |repository: Repository| {
            let main_root = repository.main_root().unwrap_or_else(|| repository.root.clone());
            Self { repository, main_root }
        };
        Ok(Repository::find(&folder)?.map(place))
    }

    /// Fails when a file that git reads is none: git would wait for a pipe, and follow a link into another repository. Called
    /// before git is, not by hooks.
    pub fn check_git_files(&self) -> Result<(), Refusal> {
        let Repository { git_folder, common_folder, .. } = &self.repository;
        let own = GIT_FILES.map(|name| (git_folder.join(name), name));
        let shared = GIT_FILES.map(|name| (common_folder.join(name), name));
        for (path, name) in own.into_iter().chain(shared) {
            if name == CONFIG && files::is_link(&path) {
                return Err(Refusal::Kind { path, kind: "a link" });
            }
            if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(Refusal::Kind { path, kind: "no regular file" });
            }
        }
        Ok(())
    }

    pub fn folder(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::Side => self.main_root.join(FOLDER),
            Mode::Branch => self.repository.root.join(FOLDER),
        }
    }

    /// Returns the folder of the local copy, to read `memory.md`, `broadcast/` and `lessons/` from.
    pub fn copy_folder(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::Side => self.folder(mode),
            Mode::Branch => state_folder(&self.folder(mode)),
        }
    }

    /// Returns whether `.wyren/` is excluded, which distinguishes side from branch mode if nothing is tracked.
    pub fn is_excluded(&self) -> bool {
        let path = self.repository.common_folder.join("info/exclude");
        // People link theirs.
        files::read_text_followed(&path, cap::EXCLUDE).is_ok_and(|text| text.lines().any(is_exclusion))
    }

    /// Returns whether a clone without a team memory may look for one, and use what it found; `git config wyren.discover
    /// false` forbids both.
    pub fn wants_discovery(&self) -> bool {
        wants_discovery(&self.repository)
    }

    /// Returns whether the clone has a memory that was found on the remote, and the user wants nothing of it.
    pub fn is_unwanted(&self) -> bool {
        is_unwanted(&self.folder(Mode::Side), || Some(self.repository.clone()))
    }

    /// Returns whether the folder of a mode belongs to one linked work tree only.
    pub fn is_own(&self, mode: Mode) -> bool {
        let is_linked = self.repository.git_folder != self.repository.common_folder;
        is_linked && self.folder(mode).parent() == Some(&self.repository.root)
    }
}

/// Returns whether a line of an exclude file excludes `.wyren/`.
pub fn is_exclusion(line: &str) -> bool {
    matches!(line.trim(), EXCLUDED | "/.wyren" | ".wyren/" | ".wyren")
}

/// Returns whether `path`, relative to `.wyren/`, is shared.
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
