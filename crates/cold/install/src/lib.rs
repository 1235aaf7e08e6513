//! Puts Wyren into the files of Claude Code and of other agents, and takes it out again.
//!
//! The client's settings belong to the user: an edit changes the bytes of our own entries and no others, and what was
//! installed comes out so that the file is as it was.

pub mod agents;
pub mod commands;
pub mod diff;
pub mod jsonc;
pub mod link;
pub mod list;
pub mod machine;
pub mod marked;
pub mod npm;
pub mod ours;
pub mod plugin;
pub mod record;
pub mod settings;
mod wiring;

pub use wiring::to_paste;
