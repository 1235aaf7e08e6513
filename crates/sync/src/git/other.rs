//! Where there are no process groups, git alone is killed.

use std::io;
use std::process::{Child, Command};

/// Leaves the command as it is.
pub(crate) fn leave_terminal(_command: &mut Command) {}

/// Returns whether a child has ended.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Does nothing: there is no gentle way.
pub(crate) fn ask_to_end(_child: &mut Child) {}

/// Kills the child.
pub(crate) fn kill_all(child: &mut Child) {
    let _ = child.kill();
}

/// Stands for a guard.
#[derive(Debug)]
pub(crate) struct Guard;

impl Guard {
    /// Leaves the command as it is.
    #[expect(clippy::unnecessary_wraps, reason = "starting a guard can fail elsewhere")]
    pub(crate) fn new(_command: &mut Command) -> io::Result<Self> {
        Ok(Self)
    }
}
