//! What sessions are told about the team's memory. Numbers in comments are the lines of the acceptance list.

mod concurrency;
mod files;
mod live;
mod pulling;
mod start;
mod state;
mod support;
