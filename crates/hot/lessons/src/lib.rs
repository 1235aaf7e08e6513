//! Lessons: what went wrong before, shown at the moment it is about to happen again.
//!
//! A lesson is a text file ([`format`]). Patterns of commands ([`pattern`]), globs and regular expressions say when it
//! applies ([`trigger`]); a compiled [`index`] finds the few that may apply among any number. [`choose`] decides what is
//! shown, and `wording` in which words. The tags of the reporting protocol are those of lessons-learned, so transcripts of either system serve both.

pub mod allowance;
pub mod artifact;
pub mod call;
pub mod choose;
pub mod condition;
mod escaped;
pub mod format;
pub mod index;
pub mod inject;
pub mod layers;
mod leaves;
mod lesson;
pub mod limits;
pub mod manifest;
pub mod measured;
pub mod old_expression;
mod options;
pub mod path_class;
pub mod path_glob;
pub mod pattern;
mod protocol;
mod sql;
pub mod start;
mod top_folder;
pub mod trigger;
mod wildcard;
mod wording;

pub use escaped::Content;
pub use lesson::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson, Trigger};
pub use protocol::{OLD_PROTOCOL, PROTOCOL};
