//! Team memory with real repositories and bare remotes, with the git program that is installed.
//!
//! Numbers in comments are lines of the list "What Wyren must do better" in the reference of the Node system.

mod branch;
mod change;
mod hand;
mod mended;
mod past;
mod rewrite;
mod secrets;
mod setup;
mod side;
mod skills;
mod support;
