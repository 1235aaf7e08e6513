//! Claude Code's transcripts, read as a stream.
//!
//! A transcript is a JSONL file that the client appends to while a session runs. This crate turns its lines
//! into borrowed [`Record`]s and answers the questions that hooks and the scanner ask of them:
//!
//! | question | where |
//! |---|---|
//! | what does this line say? | [`record`] |
//! | what did the person and the model say and do, in which turn? | [`conversation`] |
//! | what was added since byte N? | [`stream`] |
//! | where do the last turns begin, what follows this uuid, how full is the context? | [`tail`] |
//! | a part of a transcript, held in memory | [`mod@slice`] |
//! | how many tokens were used? | [`usage`] |
//! | which subagents did this session start? | [`subagent`] |
//! | every transcript below a projects folder | [`tree`], [`scan`] |
//!
//! It only reads, and it trusts nothing: a line that is not JSON, a type it has never heard of or a file that is
//! being written at this moment is counted or left for later, never a panic. It does not decide what is worth
//! keeping, does not redact and does not store offsets; its callers do.

pub mod budget;
pub mod conversation;
mod error;
mod json;
mod lines;
mod mark;
pub mod record;
pub mod scan;
pub mod slice;
pub mod stream;
pub mod subagent;
#[cfg(feature = "synthetic")]
pub mod synthetic;
pub mod tail;
pub mod tree;
pub mod usage;

pub use conversation::{Act, Conversation, Scope, Step};
pub use error::Error;
pub use mark::Mark;
pub use record::Record;
pub use slice::{Since, Slice};
pub use stream::{Progress, Reader};
pub use usage::{Usage, UsageTotals};
