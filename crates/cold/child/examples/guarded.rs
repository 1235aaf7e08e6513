//! Runs a program in a group of its own: the victim of the tests.
//!
//! Usage: guarded GRACE_MS [with-us] PROGRAM [ARGUMENT]…

use child::{Group, Orphans};
use std::io;
use std::process::Command;
use std::time::Duration;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut argument = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let grace = Duration::from_millis(argument()?.parse().map_err(io::Error::other)?);
    let is_with_us = arguments.next_if(|word| word == "with-us").is_some();
    let mut command = Command::new(arguments.next().ok_or(io::ErrorKind::InvalidInput)?);
    command.args(arguments);
    if is_with_us {
        child::die_with_us(&mut command);
    }
    Group::start(&mut command, Orphans::EndAfter(grace))?.wait()?;
    Ok(())
}
