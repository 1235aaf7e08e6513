//! What can go wrong with the file itself; what is wrong *in* the file is counted, not raised.

use std::io;
use std::path::{Path, PathBuf};

/// A transcript or a folder of transcripts that could not be used. Each message finishes "could not …".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The transcript is missing or may not be opened.
    #[error("open transcript {}", path.display())]
    Open { path: PathBuf, source: io::Error },
    /// The transcript was opened but reading it failed.
    #[error("read transcript {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The folder is missing or may not be listed.
    #[error("list folder {}", path.display())]
    List { path: PathBuf, source: io::Error },
    /// A synthetic tree could not be written.
    #[cfg(feature = "synthetic")]
    #[error("write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Error {
    /// Returns whether the file or folder does not exist, which for many callers is an ordinary answer.
    pub fn is_not_found(&self) -> bool {
        self.source_error().kind() == io::ErrorKind::NotFound
    }

    fn source_error(&self) -> &io::Error {
        match self {
            Self::Open { source, .. } | Self::Read { source, .. } | Self::List { source, .. } => source,
            #[cfg(feature = "synthetic")]
            Self::Write { source, .. } => source,
        }
    }

    pub(crate) fn open(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Open { path, source }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Read { path, source }
    }

    pub(crate) fn list(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::List { path, source }
    }

    #[cfg(feature = "synthetic")]
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Write { path, source }
    }
}
