//! Whether a `.git` is this folder's own: what a `.git` file leads to has to lead back, and all of it has to be the user's.
//!
//! Git writes the pointers back: the path of its `.git` file for each linked work tree, and `core.worktree` for each
//! submodule. For `git init --separate-git-dir` it writes none, so such a repository counts once the user sets
//! `core.worktree` in it.

use super::tidy;
use crate::files::{self, cap};
use crate::git_config::{self, Variable};
use crate::owner;
use crate::system::is_same_folder;
use std::fs;
use std::path::{Path, PathBuf};

/// Why a `.git` or a `.wyren` does not count. An archive may bring one that leads into another repository of the user's, and
/// another user may have put one above the folder of a session: nothing is read, shown, written or published there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A symbolic link, or neither a file nor a folder.
    #[error("{} is {kind}, so Wyren ignores this repository", path.display())]
    Kind {
        /// What it was found at.
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// A `.git` file that leads to a folder which does not lead back.
    #[error(
        "{} leads to {}, which belongs to another folder, so Wyren ignores this repository. {}",
        marker.display(), target.display(), advice(marker, target, root)
    )]
    Elsewhere {
        /// The `.git` file.
        marker: PathBuf,
        /// What it leads to.
        target: PathBuf,
        /// The folder that holds the `.git` file.
        root: PathBuf,
    },
    /// A `.git` folder that takes its objects and configuration from another one.
    #[error("{} points to another repository, so Wyren ignores it; `git worktree add` makes a linked work tree", .0.display())]
    Borrowed(PathBuf),
    /// Something of another user's.
    #[error(
        "{} belongs to another user; if you trust it, run `git config --global --add safe.directory {}`",
        path.display(), root.display()
    )]
    Foreign {
        /// What belongs to another user.
        path: PathBuf,
        /// The folder to call safe.
        root: PathBuf,
    },
}

/// Returns what to do about a `.git` file that leads elsewhere. A `.git` of another folder's is not to be made this one's: that
/// is what an archive with such a file is after.
fn advice(marker: &Path, target: &Path, root: &Path) -> String {
    if target.components().any(|part| part.as_os_str() == ".git") {
        let marker = marker.display();
        return format!(
            "If it came in an archive, delete {marker}; if you moved a work tree, run `git worktree repair` in the repository that it belongs to"
        );
    }
    let root = root.display();
    format!("If you made it with `git init --separate-git-dir`, run `git config core.worktree {root}`")
}

/// Follows a `.git` file: `gitdir: <folder>`, relative to the work tree.
pub(super) fn linked_folder(root: &Path, marker: &Path) -> Option<PathBuf> {
    let text = files::read_text_capped(marker, cap::POINTER).ok()?;
    let target = text.trim().strip_prefix("gitdir:")?.trim();
    Some(tidy(&root.join(target)))
}

/// Returns whether a repository has `root` in its list of linked work trees, under the name of `git_folder`: git keeps the
/// path of the `.git` file there.
pub(super) fn is_linked_from(root: &Path, git_folder: &Path, common: &Path) -> bool {
    let is_registered =
        git_folder.parent().is_some_and(|folder| is_same_folder(folder, &common.join("worktrees")));
    let back = files::read_text_capped(&git_folder.join("gitdir"), cap::POINTER);
    is_registered
        && back.is_ok_and(|back| {
            let back = git_folder.join(back.trim());
            back.ends_with(".git") && back.parent().is_some_and(|folder| is_same_folder(folder, root))
        })
}

/// Returns whether a git folder that is not in its work tree names `root` as its work tree: that of a submodule does.
pub(super) fn is_work_tree_of(root: &Path, git_folder: &Path) -> bool {
    core_setting(git_folder, "worktree").is_some_and(|path| is_same_folder(&git_folder.join(path), root))
}

/// Fails when something belongs to another user and `root`, the folder that holds it, is not called safe.
pub fn refuse_foreign(metadata: &fs::Metadata, path: &Path, root: &Path) -> Result<(), Refusal> {
    if owner::is_users(metadata, path, root) {
        return Ok(());
    }
    Err(Refusal::Foreign { path: path.to_owned(), root: root.to_owned() })
}

/// Does the same for what is at `path`. What is not there belongs to no other user.
pub fn refuse_foreign_at(path: &Path, root: &Path) -> Result<(), Refusal> {
    fs::metadata(path).map_or(Ok(()), |metadata| refuse_foreign(&metadata, path, root))
}

/// Returns a value of the section `core` of a git folder. Git keeps those that differ between work trees in a file of their
/// own once `extensions.worktreeConfig` is set.
pub(super) fn core_setting(git_folder: &Path, name: &str) -> Option<String> {
    let shared = variables(&git_folder.join("config"));
    setting(&shared, "core", name).or_else(|| {
        let is_split = setting(&shared, "extensions", "worktreeconfig").as_deref() == Some("true");
        let own = is_split.then(|| variables(&git_folder.join("config.worktree")))?;
        setting(&own, "core", name)
    })
}

/// Returns the variables of a git configuration; none when it cannot be read.
pub(super) fn variables(config: &Path) -> Vec<Variable> {
    files::read_text_capped(config, cap::GIT_CONFIG).map(|text| git_config::parse(&text)).unwrap_or_default()
}

/// Returns the last value of a variable without a subsection.
pub(super) fn setting(variables: &[Variable], section: &str, name: &str) -> Option<String> {
    let is_it = |variable: &&Variable| {
        variable.section == section && variable.subsection.is_empty() && variable.name == name
    };
    variables.iter().rev().find(is_it).map(|variable| variable.value.clone())
}
