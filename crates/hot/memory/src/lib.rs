//! The team's memory: what was decided, rejected, hacked and left open, as one markdown file that every clone
//! reads, changes and merges.
//!
//! `memory.md` is sections of entries. This crate parses it without losing a byte, tells what changed between
//! two versions, merges three of them, and says it to a model within a budget:
//!
//! ```text
//! text ─parse─► Memory ─┬─ diff(old, new) ─► Delta ─┬─ render(bytes) ─► the live update, and what is left
//!                       │                           └─ history::removals ─► what left the memory, and why
//!                       ├─ merge(base, ours, theirs) ─► Merged
//!                       └─ inject(memory, broadcast, budget) ─► the text for a new session
//! ```
//!
//! **Architecture invariant:** text in, text out. Nothing here opens a file, reads the clock or knows git; hot
//! hooks link this crate. Nothing here culls: the only cuts are of what is *shown*, and those say so.

mod comments;
mod compose;
mod delta;
mod edit;
pub mod history;
pub mod hygiene;
mod identity;
mod inject;
mod lines;
mod memory;
mod merge;
mod note;
mod provenance;
pub mod section;
mod signed;
mod update;

pub use comments::without_comments;
pub use delta::{Delta, Edit, SectionDelta, diff};
pub use edit::Added;
pub use identity::{identity, is_near_duplicate, similarity};
pub use inject::{BroadcastFile, INJECTION_UNITS, Injection, inject};
pub use memory::{Block, Entry, Memory, Section};
pub use merge::{BothKept, Merged, merge};
pub use note::Note;
pub use provenance::Provenance;
pub use update::{Authors, Frame, LIVE_UPDATE_BYTES, Update, live_update_opening};
