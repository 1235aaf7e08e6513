//! `wyren work`: contexts by command, and what prompts do with them.

mod cli;
mod handoffs;
mod load;
mod prompts;
