//! `wyren file-suggest`: the files that the client suggests after `@`.

use crate::terminal;
use anyhow::Result;
use base::Paths;
use clap::Args;
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

/// The most that the client tells, in bytes.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  wyren install --file-suggest                 have Claude Code ask Wyren for files
  echo '{\"query\":\"auth\"}' | wyren file-suggest     what it would show for @auth";

/// Reads what Claude Code tells on standard input; prints up to 15 paths.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

pub(crate) fn run(paths: &Paths) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut input)?;
    let input: Value = serde_json::from_slice(&input).unwrap_or_default();
    let cwd = match input["cwd"].as_str().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => PathBuf::from(cwd),
        None => std::env::current_dir()?,
    };
    let files = journal::suggest::suggest(input["query"].as_str().unwrap_or_default(), &cwd, paths);
    let lines: String = files.iter().map(|file| format!("{file}\n")).collect();
    Ok(terminal::exact_output().write_all(lines.as_bytes())?)
}
