//! Starts itself once more, says that both are ready, and ends with a status or runs on: a child of the tests, with a child of
//! its own that holds the output open.
//!
//! Usage: family STATUS | family forever | family child

use std::io::{self, Write as _};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

fn main() -> io::Result<ExitCode> {
    let word = std::env::args().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    if word != "child" {
        Command::new(std::env::current_exe()?).arg("child").spawn()?;
    }
    io::stdout().write_all(b"ready\n")?;
    match word.parse::<u8>() {
        Ok(status) => Ok(ExitCode::from(status)),
        Err(_) => loop {
            thread::sleep(Duration::from_secs(600));
        },
    }
}
