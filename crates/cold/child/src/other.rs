//! Where there are no process groups, the child alone is killed.

use std::io;
use std::process::{Child, Command};
use std::time::Duration;

/// Leaves the command as it is.
pub fn leave_terminal(_command: &mut Command) {}

/// Leaves the command as it is.
pub fn die_with_us(_command: &mut Command) {}

/// Returns whether a child has ended.
pub fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Does nothing: there is no gentle way.
pub fn ask_to_end(_child: &mut Child) {}

/// Kills the child.
pub fn kill_all(child: &mut Child) {
    let _ = child.kill();
}

/// Stands for a guard.
#[derive(Debug)]
pub struct Guard;

impl Guard {
    /// Leaves the command as it is.
    #[expect(clippy::unnecessary_wraps, reason = "starting a guard can fail elsewhere")]
    pub fn new(_command: &mut Command, _grace: Duration) -> io::Result<Self> {
        Ok(Self)
    }
}
