//! The MCP server: what the model asks of its memory, over standard input and output.
//!
//! [`tools`] is the table of what it can be asked, [`Desk`] answers, and every answer is a [`sheet`]: fenced as data, within a
//! budget, with the way to what was left out. There is no tool that forgets: that is a person's command.

mod arguments;
mod desk;
mod handoffs;
mod protocol;
mod resources;
mod sheet;
mod tools;

pub use desk::Desk;
pub use protocol::serve;
pub use sheet::MAX_CHARS;
pub use tools::{INSTRUCTIONS, Parameter, Shape, TOOLS, Tool, called};
