//! Ends loops: when a call failed twice with the same error and nothing changed in between, the third attempt pauses once.
//!
//! `tool-record` leaves a [`Note`] about the last failure of a window, `lesson-inject` reads it. Only a failure makes a
//! note, so that a session without failures pays one `stat` per call. The note is a file beside the window's claims and is
//! forgotten with them: at a start, a clear and a compaction.

mod note;
mod watch;

pub use note::{Attempt, Note, Outcome, Step};
pub use watch::{forget_notes, observe, pause};
