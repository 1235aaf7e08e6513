//! Black-box tests of the built plugin.

mod agents;
mod cli;
mod client;
mod contract;
mod distill;
mod drain;
mod engine;
mod entries;
mod faults;
mod hostile;
mod install;
mod lessons;
mod lessons_cli;
mod new_hook;
mod prompts;
mod removed;
mod spend;
mod status;
mod team;
mod team_cli;
mod time;
mod torture;
mod wiring;
mod words;
mod worker;
