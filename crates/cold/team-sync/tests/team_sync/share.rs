//! The memory: changed, folded, merged by entry and published.

mod authors;
mod bounds;
mod branch;
mod change;
mod hand;
mod leave;
mod mended;
mod news;
mod past;
mod pulled;
mod rewrite;
mod secrets;
mod setup;
mod side;
mod skills;
mod voice;
