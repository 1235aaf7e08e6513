//! Without process groups, only the child is killed.

use std::io;
use std::process::{Child, Command};
use std::time::Duration;

pub fn leave_terminal(_command: &mut Command) {}

pub fn die_with_us(_command: &mut Command) {}

pub fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Does nothing: there is no signal to send.
pub fn ask_to_end(_child: &mut Child) {}

pub fn kill_all(child: &mut Child) {
    let _ = child.kill();
}

/// A guard that does nothing.
#[derive(Debug)]
pub struct Guard;

impl Guard {
    #[expect(clippy::unnecessary_wraps, reason = "starting a guard can fail elsewhere")]
    pub fn new(_command: &mut Command, _grace: Duration) -> io::Result<Self> {
        Ok(Self)
    }
}
