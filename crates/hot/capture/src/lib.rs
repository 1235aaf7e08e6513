//! The spool: where hooks put events, one append each, until someone drains them into the database.
//!
//! Hooks link this crate, so it knows no SQLite. A writer needs no daemon and no lock that could be left behind; what
//! it has written survives the death of any process. Large values are cut and secrets taken out *before* anything is
//! written ([`shrink`]).
//!
//! ```text
//! spool/<session>/<hour>.jsonl    events, one JSON object per line
//! spool/<session>/bulk/<name>     the event of a line that would be longer than 64 KiB
//! spool/<session>/private         the last prompt was wholly private: nothing under it is recorded
//! ```

mod event;
mod read;
mod record;
mod rules;
pub mod shrink;
mod write;

pub use event::{Event, Kind, VERSION};
pub use read::{Batch, Done, SpoolFile};
pub use record::{may_record_call, record_prompt, record_tool};
pub use rules::Rules;
pub use write::{Error, Spool};
