//! Exit codes, as fixed in `docs/cli.md`.

use std::io;
use std::process::ExitCode;

/// The command did what it was asked, or found nothing wrong.
const DONE: u8 = 0;
/// The command failed, or found something wrong.
const FAILED: u8 = 1;

/// Turns a command's result into the exit code, and its error into a message.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => DONE.into(),
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => DONE.into(),
        Err(error) => {
            anstream::eprintln!("wyren: {error:#}");
            FAILED.into()
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
