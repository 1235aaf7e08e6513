//! `wyren export`: all recorded observations as JSON lines.

use crate::database::{self, Look};
use crate::projects;
use crate::terminal::{self, DIM, WARNING, counted};
use crate::when;
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp, files};
use capture::Spool;
use clap::Args;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use store::Store;
use store::observations::{Export, Exported};

const EXAMPLES: &str = "\
Examples:
  wyren export > wyren.jsonl                     everything, from all projects
  wyren export --project . --since yesterday     this project, since yesterday 00:00
  wyren export --output backup.jsonl             write a file that only you can read";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only this project: its name, its key or a folder in it.
    #[arg(long, value_name = "NAME|KEY|PATH")]
    project: Option<String>,
    /// Only from this time on: yesterday, 2h, 2026-11-16, "2026-11-16 14:30" or 2026-11-16T14:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Timestamp>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let store = database::open_drained(env, paths, Look::Whole)?;
    let named = arguments.project.as_deref();
    let spool = Spool::new(paths.spool());
    let find = |named| projects::find(named, &store, &spool, "nothing was exported");
    let project = named.map(find).transpose()?;
    let export = Export { project, since: arguments.since };
    match &arguments.output {
        Some(file) => to_file(&export, &store, file),
        None => {
            // Raw lines: there are no colours to strip.
            let mut output = BufWriter::new(io::stdout().lock());
            let Exported { damaged, .. } = export.write_counted(&store, &mut output)?;
            output.flush()?;
            warn_of_damage(damaged)
        }
    }
}

/// Writes the file whole or not at all: an export that fails halfway leaves the earlier one.
fn to_file(export: &Export, store: &Store, file: &Path) -> Result<()> {
    let written = files::write_atomic_with(file, |open| -> Result<Exported> {
        let mut output = BufWriter::new(open);
        let exported = export.write_counted(store, &mut output)?;
        output.flush()?;
        Ok(exported)
    });
    let exported = written.with_context(|| format!("could not export to {}", file.display()))?;
    let Exported { lines, damaged } = exported;
    let lines = counted(lines, "line", "lines");
    writeln!(terminal::errors(), "{DIM}Wrote {lines} to {}{DIM:#}", file.display())?;
    warn_of_damage(damaged)
}

fn warn_of_damage(damaged: u64) -> Result<()> {
    if damaged > 0 {
        let rows = counted(damaged, "damaged row", "damaged rows");
        writeln!(
            terminal::errors(),
            "{WARNING}Left out {rows}{WARNING:#}. To repair the database: wyren repair"
        )?;
    }
    Ok(())
}
