//! Black-box tests of the built plugin.

mod cli;
mod client;
mod contract;
mod faults;
mod wiring;
