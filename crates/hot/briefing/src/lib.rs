//! The texts that tell a session of the team's memory, and what it was shown before.
//!
//! ```text
//! .wyren/ ──look──► View ─┐
//!                         ├─ news ─► the text for now, and the Snapshot that records it
//! Snapshot (per session) ─┘
//! ```
//!
//! A session begins with the whole memory ([`start`]) and gets at each prompt what changed since ([`prompt`]). What it was
//! shown is a [`Snapshot`] of its own, written after the answer: a hook killed in between shows the same again. `wyren sync`
//! asks the remote in the background; a hook waits a moment at most for it ([`pull`]).
//!
//! Hooks link this crate: it reads files and starts no git. Fetching and publishing are `team-sync`'s.

mod error;
mod lessons;
mod news;
pub mod prompt;
pub mod pull;
mod rewrite;
mod snapshot;
pub mod start;
mod view;

pub use error::Error;
pub use snapshot::{Snapshot, Stamps};
pub use view::Stamp;
