//! Exit codes, as fixed in `docs/cli.md`.

use crate::terminal;
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// An exit code with its meaning, as `docs/cli.md` has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub(crate) number: u8,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the table in docs/cli.md, which a test compares"))]
    pub(crate) meaning: &'static str,
}

const DONE: Code = Code { number: 0, meaning: "success; also when the reader closes the output" };
const FAILED: Code =
    Code { number: 1, meaning: "failure, or a failed check; the reason is on standard error" };
/// clap ends with this code as well.
const MISUSED: Code = Code { number: 2, meaning: "invalid arguments; see `--help`" };
const QUEUED: Code = Code {
    number: 3,
    meaning: "kept locally: the changes did not reach the remote; the reason is on standard error",
};
const LOCKED: Code = Code { number: 4, meaning: "another process holds the lock; try again when it is done" };

/// Every exit code.
#[cfg(test)]
pub(crate) const CODES: [Code; 5] = [DONE, FAILED, MISUSED, QUEUED, LOCKED];

/// A failure with its own exit code or a fixed message.
#[derive(Debug)]
pub(crate) struct Ending {
    code: Code,
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

/// Returns how a command ends that has no answer.
pub(crate) fn of(error: answers::Error) -> anyhow::Error {
    match error {
        answers::Error::Unknown(text) | answers::Error::Refused(text) => {
            Ending::failed(format!("wyren: {text}")).into()
        }
        answers::Error::Unclear(text) => Ending::misused(format!("wyren: {text}")).into(),
        answers::Error::Store(error) => error.into(),
        answers::Error::Sources(error) => error.into(),
        answers::Error::Index(error) => error.into(),
        answers::Error::Capture(error) => error.into(),
        error @ answers::Error::File(..) => error.into(),
    }
}

/// Names what could not be done, and fails for it.
pub(crate) fn with_problems(problems: &[String]) -> anyhow::Result<()> {
    let Some((last, others)) = problems.split_last() else { return Ok(()) };
    for problem in others {
        writeln!(terminal::errors(), "wyren: {problem}")?;
    }
    Err(Ending::failed(format!("wyren: {last}")).into())
}

/// Prints the error and returns the exit code.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => DONE.number.into(),
        // The reader has closed the pipe, as `head` does.
        Err(error) if is_broken_pipe(&error) => DONE.number.into(),
        Err(error) => match error.downcast_ref::<Ending>() {
            Some(ending) => {
                let _ = writeln!(terminal::errors(), "{ending}");
                ending.code.number.into()
            }
            None => {
                let _ = writeln!(terminal::errors(), "wyren: {error:#}");
                if is_locked(&error) { LOCKED.number.into() } else { FAILED.number.into() }
            }
        },
    }
}

/// Returns whether another process held the database, or what goes into it, for longer than a command waits.
fn is_locked(error: &anyhow::Error) -> bool {
    let is_held = |error: &store::Error| matches!(error, store::Error::Busy | store::Error::Locked(_));
    error.chain().filter_map(|cause| cause.downcast_ref()).any(is_held)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_endings_share_a_code() {
        for (index, code) in CODES.iter().enumerate() {
            assert!(CODES[..index].iter().all(|other| other.number != code.number), "{code:?}");
        }
    }

    #[test]
    fn a_database_that_another_process_holds_has_the_code_of_a_lock() {
        let busy = anyhow::Error::from(store::Error::Busy).context("could not drain the spool");
        assert!(is_locked(&busy) && !is_locked(&anyhow::anyhow!("another failure")));
    }

    #[test]
    fn the_codes_that_scripts_know_stay() {
        assert_eq!(CODES.map(|code| code.number), [0, 1, 2, 3, 4]);
    }
}
