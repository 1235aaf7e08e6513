//! Whether lessons help, by what followed when they were shown.
//!
//! `lesson-inject` records what it says, `tool-record` every call. [`read`] puts both back in order, [`judge`] tells what
//! became of one showing by asking the lesson's own trigger about the calls that followed, and [`tally`] counts: the
//! confidence that follows, and the lessons that only annoy. Everything is computed from the observations of the moment,
//! so that what is forgotten counts no more. [`measure`] has hooks know the confidence.

pub mod failing;
pub mod judge;
pub mod known;
pub mod measure;
pub mod read;
pub mod recorded;
pub mod tally;
pub mod team;

pub use judge::{Judged, Verdict};
pub use measure::{Effect, effects, refresh, refresh_if_due};
pub use tally::Tally;
