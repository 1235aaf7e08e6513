//! Black-box tests of the built plugin.

mod agents;
#[cfg(unix)]
mod archives;
mod claude_mem;
mod claude_mem_model;
mod cli;
mod client;
mod contract;
mod distill;
mod doctor;
mod drain;
mod elsewhere;
mod engine;
mod entries;
mod faults;
mod file_recall;
mod hostile;
mod import;
mod install;
mod journal;
mod lessons;
mod lessons_cli;
mod migrate;
mod new_hook;
#[cfg(unix)]
mod npm;
mod prompts;
mod recall;
mod removed;
mod spend;
mod status;
mod team;
mod team_cli;
mod time;
mod torture;
mod update;
mod why;
mod wiring;
mod words;
mod worker;
