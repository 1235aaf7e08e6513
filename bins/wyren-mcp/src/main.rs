//! `wyren-mcp`: the memory for the model, over MCP on standard input and output.
//!
//! It becomes `wyren mcp`: a program of its own would be a second copy of most of `wyren`.

use base::detached;
use std::io;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // The client reports a server that ends at once; `wyren doctor` names what is missing.
    detached::beside_us("wyren").and_then(become_server).unwrap_or(ExitCode::FAILURE)
}

fn become_server(wyren: std::path::PathBuf) -> io::Result<ExitCode> {
    let mut command = Command::new(wyren);
    command.arg("mcp");
    replace_this_process(&mut command)
}

/// Keeps the process id: the client ends the server by it.
#[cfg(unix)]
fn replace_this_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.arg0("wyren-mcp").exec())
}

#[cfg(windows)]
fn replace_this_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let status = command.creation_flags(CREATE_NO_WINDOW).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
