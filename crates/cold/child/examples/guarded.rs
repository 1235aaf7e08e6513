//! Runs a shell script under a guard: the victim of the tests.
//!
//! Usage: guarded GRACE_MS SCRIPT [with-us]

use child::Guard;
use std::io;
use std::process::Command;
use std::time::Duration;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let grace = Duration::from_millis(argument()?.parse().map_err(io::Error::other)?);
    let mut command = Command::new("sh");
    command.arg("-c").arg(argument()?);
    let _guard = Guard::new(&mut command, grace)?;
    if argument().is_ok_and(|word| word == "with-us") {
        child::die_with_us(&mut command);
    }
    command.spawn()?.wait()?;
    Ok(())
}
