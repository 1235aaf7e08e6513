//! Black-box tests of the built plugin.

mod cli;
mod client;
mod contract;
mod distill;
mod engine;
mod faults;
mod lessons;
mod lessons_cli;
mod new_hook;
mod spend;
mod team;
mod team_cli;
mod torture;
mod wiring;
mod worker;
