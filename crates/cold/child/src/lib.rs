//! Child processes that end when they should, with all that they started: in time, and with us should we be killed.
//!
//! A child gets a session of its own, and with it a process group that has the child's id; what it starts is in there as
//! well unless it leaves. The group can be signalled for as long as the child's status was not taken: until then nobody
//! else gets its id. So a user looks with [`has_ended`], ends the group with [`ask_to_end`] and [`kill_all`], and calls
//! `wait` last.
//!
//! How long a child may run, what it is told and what becomes of its output are its user's. Where there are no process
//! groups, this is about the child alone.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::{Guard, ask_to_end, die_with_us, has_ended, kill_all, leave_terminal};
#[cfg(unix)]
pub use unix::{Guard, ask_to_end, die_with_us, has_ended, kill_all, leave_terminal};
