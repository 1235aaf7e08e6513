//! `wyren-worker`: does background jobs until there are none, then goes away.
//!
//! It becomes `wyren worker run --background`: a program of its own would be a second copy of most of `wyren`.

use base::detached;
use std::io;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match detached::beside_us("wyren").and_then(become_worker) {
        Ok(code) => code,
        // Hooks start it with nowhere to write to; `wyren doctor` names what is missing.
        Err(_) => ExitCode::FAILURE,
    }
}

fn become_worker(wyren: std::path::PathBuf) -> io::Result<ExitCode> {
    let mut command = Command::new(wyren);
    command.args(["worker", "run", "--background"]);
    replace_this_process(&mut command)
}

/// Keeps the process id, by which tests and the Node version know the worker.
#[cfg(unix)]
fn replace_this_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.arg0("wyren-worker").exec())
}

#[cfg(windows)]
fn replace_this_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let status = command.creation_flags(CREATE_NO_WINDOW).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
