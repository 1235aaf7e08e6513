//! `wyren export`: every observation, as JSON lines.

use crate::database::{self, Look};
use crate::terminal::{self, DIM};
use anyhow::{Context as _, Result};
use base::{Env, Paths, Timestamp, files};
use clap::Args;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use store::Store;
use store::observations::Export;

const EXAMPLES: &str = "\
Examples:
  wyren export > wyren.jsonl                     everything, of all projects
  wyren export --project . --since 2026-11-01    this project, since a day (UTC)
  wyren export --output backup.jsonl             into a file that only you can read";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only this project: its key, or a folder in it.
    #[arg(long, value_name = "KEY|PATH")]
    project: Option<String>,
    /// Only what happened from this moment on: 2026-11-16, or 2026-11-16T02:26:41Z.
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let store = database::open_drained(env, paths, Look::Whole)?;
    let export =
        Export { project: arguments.project.as_deref().map(database::project_key), since: arguments.since };
    match &arguments.output {
        Some(file) => to_file(&export, &store, file),
        None => {
            // The lines themselves, whether or not somebody watches: no colours to take out.
            let mut output = BufWriter::new(io::stdout().lock());
            export.write(&store, &mut output)?;
            Ok(output.flush()?)
        }
    }
}

/// Writes beside the file and moves it into place: whoever reads it meets a whole export.
fn to_file(export: &Export, store: &Store, file: &Path) -> Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let write = || -> Result<u64> {
        let open = files::private_options().write(true).create(true).truncate(true).open(&unfinished)?;
        let mut output = BufWriter::new(open);
        let lines = export.write(store, &mut output)?;
        output.flush()?;
        fs::rename(&unfinished, file)?;
        Ok(lines)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    let lines = written.with_context(|| format!("could not export to {}", file.display()))?;
    writeln!(terminal::errors(), "{DIM}{lines} lines in {}{DIM:#}", file.display())?;
    Ok(())
}
