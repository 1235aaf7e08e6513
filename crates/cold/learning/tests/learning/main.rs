//! From what happened to candidates.

mod detecting;
mod scanning;
