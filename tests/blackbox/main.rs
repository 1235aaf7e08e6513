//! Black-box tests of the built plugin.

mod cli;
mod client;
mod contract;
mod engine;
mod faults;
mod lessons;
mod lessons_cli;
mod spend;
mod torture;
mod wiring;
mod worker;
