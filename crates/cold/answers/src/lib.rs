//! Answers about what is remembered: the command line and the MCP server go through the same functions, and differ only in how they
//! show what these return. The HTTP server has claude-mem's rows and pages, and makes them of the same parts: `search`, `journal`, `store`.
//!
//! Nothing here writes to a terminal. What a person or a model may be asked to do differently is an [`Error`] with its text.

mod error;
mod finder;
pub mod ids;
mod moment;
pub mod notes;
pub mod projects;
pub mod rows;
pub mod similar;
pub mod when;
pub mod why;

pub use error::Error;
pub use finder::{Finder, InStep, MOST_TIME, open_drained};
pub use moment::anchor;

/// Returns a number with its noun: `1 line`, `3 lines`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}
