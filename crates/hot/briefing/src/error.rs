//! Errors of composing the texts for a session. None of them reaches the user.

use base::Timestamp;
use place::log;
use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the state could not be written.
    #[error("could not write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// `wyren` could not be started.
    #[error("could not start `wyren {command}` in the background")]
    Start {
        /// What it was to do.
        command: String,
        source: io::Error,
    },
}

impl Error {
    /// Returns what turns a failure to write `path` into an error.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Write { path, source }
    }

    /// Writes a line to the log of the team's memory, which is where a person looks first.
    pub(crate) fn note(&self, wyren: &Path, tag: &str) {
        // When even the log cannot be written, the hook's own log still says what happened.
        let _ = log::append(wyren, Timestamp::now(), tag, &format!("error: {}", self.whole()));
    }

    /// Returns what went wrong and why.
    pub(crate) fn whole(&self) -> String {
        let cause = self.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{self}{cause}")
    }
}

/// Logs that a session was given something at `event`, which is how `wyren status` and `wyren log` know.
pub(crate) fn log_injection(wyren: &Path, tag: &str, event: &str) -> Result<(), Error> {
    log::injection(wyren, tag, event).map_err(Error::write(&log::file(wyren)))
}
