//! What stops the work on a team memory.

use base::files;
use std::io;
use std::path::{Path, PathBuf};

/// An error of sharing, to be shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no `.wyren/` here.
    #[error("{} has no team memory yet; `wyren init` starts it", .0.display())]
    NotSetUp(PathBuf),
    /// A folder that holds every other one.
    #[error(
        "{} holds all your folders, and a memory here would be shown in every session below it; nothing was changed. Run `wyren init` in a project", .0.display()
    )]
    TooWide(PathBuf),
    /// Git or the repository cannot be used.
    #[error(transparent)]
    Sync(#[from] crate::repository::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Another process kept the memory's lock.
    #[error("another process is writing the memory; nothing was changed, try again")]
    Busy,
    /// A change would have left nothing of the memory.
    #[error("that would leave nothing of a memory with {0} entries; nothing was changed")]
    Emptied(usize),
    /// The memory is no text.
    #[error("{} is not UTF-8 text; nothing was changed", .0.display())]
    NotText(PathBuf),
    /// A name that no broadcast can have.
    #[error("{0:?} is no name of a file")]
    BadName(String),
}

impl Error {
    /// Wraps the failure to access a file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::File(files::Error::at(path)(error))
    }
}
