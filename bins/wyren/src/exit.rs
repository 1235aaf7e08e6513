//! Exit codes, as fixed in `docs/cli.md`.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The command did what it was asked, or found nothing wrong.
const DONE: u8 = 0;
/// The command failed, or found something wrong.
const FAILED: u8 = 1;
/// Another process holds the lock that the command needs, as in the Node system.
const LOCKED: u8 = 2;
/// The command was called in a way that makes no sense; clap ends so as well.
const MISUSED: u8 = 2;
/// What was to be published is kept and goes with the next sync.
const QUEUED: u8 = 3;

/// An end that has its own exit code, or whose words are fixed.
#[derive(Debug)]
pub(crate) struct Ending {
    code: u8,
    message: String,
}

impl Ending {
    /// Ends in failure with exactly these words: those of the Node system, that scripts may look for.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into() }
    }

    /// Ends because the arguments make no sense together.
    pub(crate) fn misused(message: impl Into<String>) -> Self {
        Self { code: MISUSED, message: message.into() }
    }

    /// Ends because another process is at it.
    pub(crate) fn locked(message: impl Into<String>) -> Self {
        Self { code: LOCKED, message: message.into() }
    }

    /// Ends with something that is kept and did not reach the remote.
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

/// Turns a command's result into the exit code, and its error into a message.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => DONE.into(),
        // Whoever reads our output has seen enough.
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
