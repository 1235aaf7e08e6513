//! Child processes that end with everything they started: in time, and also when this process is killed.
//!
//! A child gets its own group, and its own children are in it. On Unix that is a session, which they may leave, and a group
//! can be signalled until the child's status is taken: until then the id is not reused. On Windows it is a job object, which
//! they cannot leave. So a caller checks with [`Group::has_ended`], ends the group with [`Group::ask_to_end`] and
//! [`Group::kill_all`], and calls [`Group::wait`] last.
//!
//! Deadlines, input and output are up to the caller.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::die_with_us;

/// A child and everything that it started.
#[derive(Debug)]
pub struct Group {
    child: Child,
    held: system::Held,
}

/// What becomes of a group when this process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// They go on.
    Live,
    /// They are asked to end, where the system can ask, and killed after this long; with a grace of zero, at once.
    EndAfter(Duration),
}

impl Group {
    /// Starts a command in a group of its own, without a terminal to prompt on and without a window.
    pub fn start(command: &mut Command, orphans: Orphans) -> io::Result<Self> {
        let (child, held) = system::start(command, orphans)?;
        Ok(Self { child, held })
    }

    /// Returns the id of the child's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the child's standard input, if it is piped.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the child's standard output, if it is piped.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the child's standard error, if it is piped.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Returns whether the child has ended. Does not take its status, so that its process id is not reused.
    pub fn has_ended(&mut self) -> bool {
        system::has_ended(&mut self.child)
    }

    /// Asks everything in the group to end. Where the system has no such question, kills it.
    pub fn ask_to_end(&mut self) {
        system::ask_to_end(&self.child, &self.held);
    }

    /// Kills everything in the group.
    pub fn kill_all(&mut self) {
        system::kill_all(&self.child, &self.held);
    }

    /// Waits for the child's end and takes its status. What is left of the group then goes on.
    pub fn wait(self) -> io::Result<ExitStatus> {
        system::wait(self.child, self.held)
    }
}
