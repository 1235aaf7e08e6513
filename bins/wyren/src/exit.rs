//! Exit codes, as fixed in `docs/cli.md`.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The command succeeded, or its checks passed.
const DONE: u8 = 0;
/// The command or one of its checks failed.
const FAILED: u8 = 1;
/// Another process holds the lock that the command needs, as in the Node version.
const LOCKED: u8 = 2;
/// Invalid arguments; the same code as clap's.
const MISUSED: u8 = 2;
/// The changes are kept and will be published with the next sync.
const QUEUED: u8 = 3;

/// A failure with its own exit code or a fixed message.
#[derive(Debug)]
pub(crate) struct Ending {
    code: u8,
    message: String,
}

impl Ending {
    /// Fails with exactly this message, without a prefix: scripts may match those of the Node version.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into() }
    }

    pub(crate) fn misused(message: impl Into<String>) -> Self {
        Self { code: MISUSED, message: message.into() }
    }

    pub(crate) fn locked(message: impl Into<String>) -> Self {
        Self { code: LOCKED, message: message.into() }
    }

    pub(crate) fn queued(message: impl Into<String>) -> Self {
        Self { code: QUEUED, message: message.into() }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Ending {}

/// Prints the error and returns the exit code.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => DONE.into(),
        // The reader has closed the pipe, as `head` does.
        Err(error) if is_broken_pipe(&error) => DONE.into(),
        Err(error) => match error.downcast_ref::<Ending>() {
            Some(ending) => {
                anstream::eprintln!("{ending}");
                ending.code.into()
            }
            None => {
                anstream::eprintln!("wyren: {error:#}");
                FAILED.into()
            }
        },
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
