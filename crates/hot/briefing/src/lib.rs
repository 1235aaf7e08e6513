//! Composes the texts about the team memory that a session gets, and tracks what it has seen.
//!
//! ```text
//! .wyren/ ──look──► View ─┐
//!                         ├─ news ─► the text for now, and the next Snapshot
//! Snapshot (per session) ─┘
//! ```
//!
//! A session starts with the whole memory ([`start`]) and gets at each prompt what changed since ([`prompt`]), and beside a
//! tool's result what arrived during the turn ([`during`]). A [`Snapshot`] per session holds what it has seen. It is written
//! after the answer: if the process dies in between, the text is shown again, never lost. A subagent gets the memory in a few
//! lines ([`subagent`]). `wyren sync` fetches in the background; a hook waits a moment at most, and only where that is enough
//! ([`pull`]).
//!
//! Hooks link this crate: it reads files and starts no git. Fetching and publishing is the job of `team-sync`.

pub mod during;
mod error;
mod lessons;
mod news;
pub mod prompt;
pub mod pull;
mod rewrite;
mod snapshot;
pub mod start;
pub mod subagent;
mod view;
mod voice;

pub use error::Error;
pub use snapshot::{Snapshot, Stamps};
pub use view::Stamp;
