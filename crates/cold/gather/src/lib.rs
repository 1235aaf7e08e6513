//! Gathers a handoff from a transcript, without a model: what was asked, done, tried, decided and left open, with the exact
//! commands, paths and ids, so that a reader who has nothing else can run the next command.
//!
//! ```text
//! transcript ─Thread::read─► Thread: turns and calls ─draft─► handoff::Draft
//! ```
//!
//! Since the last compaction, and before it where that is short; the first prompt of the session in any case. What hooks would not
//! have recorded is left out ([`Bounds`]): a wholly private prompt and everything under it, skipped tools, folders that are excluded
//! or paused, and Wyren itself; and so is what was forgotten. All texts are without secrets.
//!
//! **Architecture invariant:** a transcript in, a draft out. Nothing here writes, asks a model or runs a program.

mod answer;
mod background;
mod bounds;
pub mod budget;
mod draft;
mod failure;
mod line;
mod marks;
mod plan;
mod question;
mod remark;
mod thread;

pub use bounds::Bounds;
pub use draft::{Around, draft, spoken, window};
pub use question::{SYSTEM, answered, prompt, schema};
pub use thread::{Call, Ending, Thread, Turn};
