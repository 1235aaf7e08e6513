//! Team memory through git: publishes and fetches `.wyren/memory.md`, `broadcast/` and `lessons/`, and leaves the
//! user's git as it was.
//!
//! Commits are built in the object database on top of the *remote* tip and pushed to that branch alone. What comes from
//! the remote goes to `refs/wyren/*` alone. There are two modes: [`Mode::Side`] has a branch of its own, and
//! [`Mode::Branch`] shares the branch that is checked out.
//!
//! ```text
//!   local copy ──publish──►  commit on the remote tip ──git push──► the remote
//!       ▲                                                              │
//!       └────checkout────  refs/wyren/remote/<branch> ◄──git fetch─────┘
//! ```
//!
//! The local copy is `.wyren/` itself in side mode. In branch mode those files are tracked and the user's, so the copy
//! is below `.wyren/state/`, one for all branches: see `origin.rs`. Where the copy and the remote last agreed is kept in
//! `refs/wyren/local/<branch>`, together with what did not land yet: see `local.rs`.
//!
//! Nothing is published without the user's [`Leave`]: see `leave.rs`.
//!
//! What arrives is looked at by `survey.rs` within `bounds.rs` before any of it is read or written. What is over is left out:
//! it stays on the remote as it is, and the version of it that both sides had before counts as the remote's.
//!
//! **Architecture invariants.** `git2` reads and writes objects and nothing else, trees and commits byte by byte
//! (`trees.rs`); references, configuration and the
//! network are the `git` program's, so that reftable repositories, credential helpers and proxies work as in the user's
//! terminal; but none that a repository's own configuration names, since git connects from a repository of ours: see
//! `relay.rs`. Git 2.31 is the oldest that has everything used here (`GIT_CONFIG_COUNT`); its messages are read
//! in the C locale. Nothing here writes the index, HEAD, `refs/heads`, `refs/remotes` or FETCH_HEAD, and nothing runs the
//! user's git hooks. How two texts are merged, and what of a text
//! may leave this machine, is the caller's: see [`Merge`].

mod blame;
mod bounds;
mod checkout;
mod config;
mod error;
mod exchange;
mod fetch;
pub(crate) mod git;
mod leave;
mod local;
mod lock;
mod merge;
mod objects;
mod origin;
mod past;
mod publish;
mod reach;
mod relay;
mod setup;
mod survey;
mod team;
mod tracking;
mod trees;
mod visibility;

pub use blame::{Blame, BlamedCommit, name_at_head};
pub use bounds::LeftOut;
pub(crate) use bounds::{can_be_shared, max_size};
pub use checkout::{Change, CheckedOut};
pub(crate) use checkout::{is_about_the_name, remove_from_copy};
pub use error::Error;
pub use exchange::{Exchanged, Outgoing};
pub use fetch::Fetched;
pub use leave::Leave;
pub use lock::lock_copy;
pub use merge::{ByLine, Merge};
pub use past::{Commit, Tracked, first_commit, user_name};
pub use publish::{Files, Published};
pub use reach::Reach;
pub use relay::{OwnSetting, own_settings};
pub use setup::{Made, init_branch, init_side, is_tracked, purge, stop_ignoring_unshared, take_back};
pub(crate) use setup::{refuse_link, refuse_links};
pub use team::{Rewrite, Team};
pub use visibility::Visibility;
