//! Child processes that end with everything they started: in time, and also when this process is killed.
//!
//! A child gets its own session, and with it a process group with the child's id; its own children are in the group
//! unless they leave it. The group can be signalled until the child's status is taken: until then the id is not reused.
//! So a caller checks with [`has_ended`], ends the group with [`ask_to_end`] and [`kill_all`], and calls `wait` last.
//!
//! Deadlines, input and output are up to the caller. On platforms without process groups, all this applies to the child
//! alone.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::{Guard, ask_to_end, die_with_us, has_ended, kill_all, leave_terminal};
#[cfg(unix)]
pub use unix::{Guard, ask_to_end, die_with_us, has_ended, kill_all, leave_terminal};
