//! Files between a local copy and the remote, merged by line.

mod branch;
mod network;
mod race;
mod relay;
mod repositories;
mod rewrite;
mod setup;
mod side;
