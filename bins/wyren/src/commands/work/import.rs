//! `wyren work import`: contexts of aiwcli.

use crate::database;
use crate::exit::Ending;
use crate::terminal::{self, STRONG, WARNING, counted};
use anyhow::{Context as _, Result};
use base::project::Project;
use base::{Env, Paths, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use text::sanitize;
use work::import::{self, Error, Found};

/// The folder that aiwcli writes to, in the root of a project.
const OUTPUT: &str = "_output";
/// In characters.
const MAX_NAME: usize = 80;

#[derive(Args)]
pub(super) struct Import {
    /// The folder that aiwcli wrote [default: _output in the root of this project].
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Show what would be imported, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Import, env: &Env, paths: &Paths) -> Result<()> {
    let here = super::change::may_record(env, paths)?;
    let folder = match &arguments.folder {
        Some(folder) => std::path::absolute(folder)?,
        None => Project::of(&here).root.join(OUTPUT),
    };
    let found = match import::import(&folder, paths, arguments.dry_run, Timestamp::now()) {
        Err(error @ Error::NoContexts(_)) => {
            return Err(Ending::failed(format!("wyren: {error}; nothing was imported")).into());
        }
        found => found?,
    };
    if !arguments.dry_run {
        let mut store = journal::open_store(paths).context("imported, but could not open the database")?;
        database::drain_now(&mut store, paths);
    }
    show(&found, &folder, arguments)
}

fn show(found: &Found, folder: &Path, arguments: &Import) -> Result<()> {
    let mut output = terminal::output();
    if arguments.json {
        let contexts: Vec<Value> =
            found.contexts.iter().map(|(id, files)| json!({"id": id, "files": files})).collect();
        let skipped: Vec<Value> =
            found.skipped.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
        let facts =
            json!({"folder": folder, "dry_run": arguments.dry_run, "contexts": contexts, "skipped": skipped});
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let what = if arguments.dry_run { "Would import" } else { "Imported" };
    for (id, files) in &found.contexts {
        let files = counted(*files as u64, "file", "files");
        writeln!(output, "{what} {STRONG}{id}{STRONG:#} with {files}")?;
    }
    for (name, reason) in &found.skipped {
        let name = sanitize::one_line(name, MAX_NAME);
        writeln!(terminal::errors(), "{WARNING}Passed over{WARNING:#} {name:?}: {reason}")?;
    }
    let folder = sanitize::one_line(&folder.to_string_lossy(), 200);
    Ok(writeln!(output, "{folder} stays as it is.")?)
}
