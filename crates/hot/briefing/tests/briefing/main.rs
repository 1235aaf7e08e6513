//! The texts about the team memory that sessions get. Numbers in comments are lines of the list in docs/status.md.

mod concurrency;
mod during;
mod files;
mod live;
mod pulling;
mod start;
mod state;
mod subagent;
mod support;
mod voice;
