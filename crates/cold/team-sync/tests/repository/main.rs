//! Team memory against real repositories and bare remotes, with the git program that is installed.

mod branch;
mod network;
mod race;
mod repositories;
mod rewrite;
mod setup;
mod side;
mod support;
