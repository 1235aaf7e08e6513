//! The hooks that count turns, without a process around them.

mod desk;
mod ending;
mod stopping;
