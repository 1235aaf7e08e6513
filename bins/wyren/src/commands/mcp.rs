//! `wyren mcp`: answers the model's questions about its memory, over MCP on standard input and output.

use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp};
use clap::Args;
use mcp::Desk;

#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(env: Env, paths: Paths) -> Result<()> {
    let cwd = match env.get("CLAUDE_PROJECT_DIR") {
        Some(folder) => folder.into(),
        None => std::env::current_dir().context("could not find out which folder this is")?,
    };
    mcp::serve(Desk::new(env, paths, cwd, Timestamp::now)).context("could not serve")
}
