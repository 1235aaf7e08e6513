//! A team memory with git around it: what `memory` knows of texts and [`repository`] of git, put together.
//!
//! ```text
//!  hand edits ─fold─►┐                        ┌─ secrets and private parts held back
//!  Share::change ───►├─► the local copy ─sync─┤
//!  teammates ───────►┘        │               └─ what leaves the memory goes to the history
//!                             └─► Share::memory: what every reader sees
//! ```
//!
//! The local copy is `.wyren/` in side mode and `.wyren/state/` in branch mode. Where nothing can be shared (outside a
//! repository, or in branch mode without a remote) `.wyren/memory.md` itself is changed and nothing is committed.
//!
//! **Architecture invariants.** A tracked file is never written while there is a remote. A process that changes the local copy
//! holds `state/memory.lock` from reading to renaming. Nothing is published but through [`Merging`], which holds secrets
//! back. An emptied memory always counts as an accident.

mod authors;
mod commits;
mod compare;
mod error;
mod fold;
mod last;
mod merging;
mod record;
pub mod repository;
mod secrets;
mod setup;
mod share;
mod skills;
mod syncing;
mod voice;
mod work_tree;

pub use commits::last_commits;
pub use compare::Difference;
pub use error::Error;
pub use last::LastSync;
pub use merging::Merging;
pub use secrets::HeldBack;
pub use setup::{Setup, Wish, current_mode, discover, init, seed_from_claude_md};
pub use share::{Share, log_once};
pub use skills::Removed;
pub use syncing::{Rewritten, Synced};
pub use work_tree::{Changes, Since, WorkTree};
