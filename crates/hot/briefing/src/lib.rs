//! What a session is told about the team's memory, and what it was told before.
//!
//! ```text
//! .wyren/ ──look──► View ─┐
//!                         ├─ news ─► what is said now, and the Snapshot that stands for it
//! Snapshot (per session) ─┘
//! ```
//!
//! A session begins with the whole memory ([`start`]) and hears at each prompt what changed since ([`prompt`]). What it
//! was told is a [`Snapshot`] of its own, written after the answer: what dies in between is said again, never lost. The
//! remote is asked by `wyren sync` in the background, for which a hook waits a moment at most ([`pull`]).
//!
//! Hooks link this crate: it reads files and starts no git. Getting and publishing what others see is `share`'s.

mod error;
mod lessons;
mod news;
pub mod prompt;
pub mod pull;
mod rewrite;
mod snapshot;
pub mod start;
mod ups;
mod view;

pub use error::Error;
pub use snapshot::{Snapshot, Stamps};
pub use view::Stamp;
