//! `wyren repair`: checks the whole database and repairs a damaged one.

use crate::database;
use crate::places;
use crate::terminal::{self, WARNING, counted};
use anyhow::{Context as _, Result};
use base::{Env, Paths};
use clap::Args;
use serde_json::json;
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  wyren repair           check the database, and repair it if it is damaged
  wyren repair --json    the same, for a script";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    places::check(paths)?;
    let path = paths.database();
    let repaired = database::repair_database(env, paths)
        .with_context(|| format!("could not repair {}", path.display()))?;
    let handoffs = write_handoffs(paths).context("could not write the folders of handoffs")?;
    let mut output = terminal::output();
    if arguments.json {
        let facts = json!({
            "damaged": repaired.aside.is_some(),
            "aside": repaired.aside,
            "salvaged": repaired.salvaged,
            "from_spool": repaired.from_spool,
            "from_transcripts": repaired.from_transcripts,
            "handoff_folders": handoffs,
        });
        writeln!(output, "{facts:#}")?;
        return Ok(());
    }
    if handoffs > 0 {
        let folders = counted(handoffs as u64, "missing folder of a handoff", "missing folders of handoffs");
        writeln!(output, "Wyren wrote {folders}.")?;
    }
    match &repaired.aside {
        Some(aside) => {
            writeln!(output, "{WARNING}The database was damaged.{WARNING:#} Wyren repaired it.")?;
            database::show_repaired(&mut output, &repaired, aside)
        }
        None if path.exists() => Ok(writeln!(output, "The database is sound.")?),
        None => Ok(writeln!(output, "There is no database yet.")?),
    }
}

/// Writes the folders of handoffs that are missing, from what is recorded; returns how many.
fn write_handoffs(paths: &Paths) -> Result<usize> {
    if !paths.database().exists() {
        return Ok(0);
    }
    let store = journal::open_store(paths)?;
    Ok(handoff::write_missing(paths, &handoff::all(&store)?)?)
}
