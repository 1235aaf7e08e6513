//! What stops a sync altogether, as opposed to what makes it wait ([`place::Reason`]).

use base::files;
use std::io;
use std::path::{Path, PathBuf};

/// An error on this side that trying again does not solve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is in no git repository.
    #[error("{} is in no git repository; team memory is shared through one", .0.display())]
    NoRepository(PathBuf),
    /// A `.git` or a `.wyren` does not count.
    #[error(transparent)]
    Refused(#[from] base::project::Refusal),
    /// The repository has no `.wyren/`.
    #[error("{} has no team memory yet; `wyren init` starts it", .0.display())]
    NotSetUp(PathBuf),
    /// Side mode was asked for where the branch has the memory.
    #[error(
        ".wyren/memory.md is tracked on this branch, so the memory is shared there; to move it to a branch of its own, remove it from this one first"
    )]
    Tracked,
    /// What is never shared is in the user's commits.
    #[error(
        ".wyren/state/ is tracked on this branch, so that a teammate could change what Wyren publishes as yours; nothing is synced until you run `git rm -r --cached .wyren/state` and commit that"
    )]
    TrackedState,
    /// The objects of the repository have names that the git library cannot read.
    #[error("this repository names its objects by SHA-256, which Wyren cannot read yet")]
    Sha256,
    /// The git program could not be started.
    #[error("could not start git: {0}; team memory needs the git program on the PATH")]
    NoGit(io::Error),
    /// The git program refused.
    #[error("could not {action}: {words}")]
    Git {
        /// What it was asked to do.
        action: &'static str,
        /// What it said, sanitised.
        words: String,
    },
    /// An object could not be read or written.
    #[error("could not {action}: {words}")]
    Object {
        /// What was tried.
        action: &'static str,
        /// What the git library said.
        words: String,
    },
    /// A file of our own could not be read or written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A path that is not shared, or not a plain path.
    #[error("{0:?} is not shared: only memory.md and files in broadcast/ and lessons/ are")]
    NotShared(String),
    /// A link leads out of `.wyren/`.
    #[error("{} is a link, and Wyren does not follow links here", .0.display())]
    Link(PathBuf),
    /// Another process of Wyren kept the lock.
    #[error("another wyren is syncing this repository; try again when it is done")]
    Busy,
    /// The remote's history was rewritten, and that is not accepted yet.
    #[error("the shared memory was rewritten on the remote; nothing was changed here until that is accepted")]
    Rewritten,
}

impl Error {
    /// Wraps the failure to access a file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::File(files::Error::at(path)(error))
    }
}
