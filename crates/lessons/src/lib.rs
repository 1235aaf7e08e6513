//! Lessons: what went wrong before, said at the moment it is about to happen again.
//!
//! A lesson is a text file ([`format`]). Patterns of commands ([`pattern`]), globs and regular expressions say when it
//! applies. The tags of the reporting protocol are those of lessons-learned, so transcripts of either system serve both.

pub mod format;
mod lesson;
pub mod path_glob;
pub mod pattern;
mod protocol;

pub use lesson::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson, Trigger};
pub use protocol::PROTOCOL;
