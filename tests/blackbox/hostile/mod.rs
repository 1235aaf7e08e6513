//! Hostile ground: what a repository, a teammate, another user or a bad day may not do to Wyren.

mod faults;
mod forget;
