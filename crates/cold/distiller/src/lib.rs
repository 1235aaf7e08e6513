//! The distiller: from a transcript to operations on the team's memory.
//!
//! ```text
//! transcript ─Slice::read─► Slice ─┬─ score ─► Score: is it worth a model?
//!                                  ├─ question(memory, slice) ─► a model ─► parse(answer) ─┐
//!                                  └─ extract(slice), without a model ─────────────────────┴─► operations
//!
//! memory + operations ─apply─► Applied: the new memory, what was done, refused and removed
//! ```
//!
//! A model never writes the memory: it proposes operations, and code decides which of them are done, and what leaves
//! (`apply.rs` has the rules). Whatever is wrong with an answer, the memory stays as it was or becomes better.
//!
//! **Architecture invariant:** text in, operations out. Nothing here asks a model, runs git, opens the database or
//! writes a file; the transcript is read through `transcript`, and the clock is passed in.

mod apply;
pub mod budget;
mod conflict;
mod cull;
mod entry;
pub mod evaluation;
mod evidence;
mod extract;
pub mod machinery;
mod operation;
mod question;
mod score;
mod slice;
mod summary;
mod text;
mod wording;

pub use crate::text::clean_cut;
pub use apply::{Applied, Change, Context, Done, Refused, SESSION_FIELD, Why, apply};
pub use cull::{Clearance, is_over};
pub use entry::{EXTRACTED_MARK, SECTIONS, id_of, is_extracted, is_written_by_a_person};
pub use evidence::Evidence;
pub use extract::extract;
pub use operation::{Action, Operation, Reason, Refusal, Source, parse, parse_value};
pub use question::{Question, question, summary_question};
pub use score::{DEFAULT_THRESHOLD, Score, Signal, score};
pub use slice::{Anchor, Message, Part, Role, Slice};
pub use summary::Summary;
pub use transcript::Mark;
pub use wording::Unfit;
