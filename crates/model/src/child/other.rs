//! Where there are no process groups, the child alone is killed.

use std::io;
use std::process::{Child, Command};

/// Stands for the child alone.
#[derive(Debug)]
pub(crate) struct Group;

impl Group {
    /// Returns the stand-in.
    #[expect(clippy::unnecessary_wraps, reason = "founding a group can fail elsewhere")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Leaves the command as it is.
    pub(crate) fn adopt(&self, _command: &mut Command) {}

    /// Kills the child.
    pub(crate) fn kill(&self, child: &mut Child) {
        let _ = child.kill();
    }
}
