//! Team memory with real repositories and bare remotes, with the git program that is installed.
//!
//! Numbers in comments are lines of the list "What Wyren must do better" in the reference of the Node version.

mod repository;
mod share;
mod support;
