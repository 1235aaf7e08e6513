//! The client's transcripts.

use super::{Arguments, bar, derive_later};
use crate::database::{self, Look};
use crate::terminal::{self, DIM, WARNING, counted};
use anyhow::{Context as _, Result};
use base::{Env, Paths};
use capture::Spool;
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use store::transcripts::{Import, Imported};

pub(super) fn run(arguments: &Arguments, folder: Option<&Path>, env: &Env, paths: &Paths) -> Result<()> {
    let folder = folder.map_or_else(|| database::client_folder(env).join("projects"), Path::to_owned);
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let (spool, rules) = (Spool::new(paths.spool()), database::rules(env, paths));
    let import = Import::of(&folder, &spool, &rules);
    let mut import = import.with_context(|| format!("could not import {}", folder.display()))?;
    if arguments.dry_run {
        import = import.trial();
    }
    let bar = bar(Some(import.bytes()));
    let imported = import.run(&mut store, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    show(&imported?, arguments, paths)
}

fn show(imported: &Imported, arguments: &Arguments, paths: &Paths) -> Result<()> {
    let Imported { sessions, unchanged, unreadable, stored, known, forgotten, private } = imported;
    let later = (*stored > 0 && !arguments.dry_run).then(|| derive_later(paths));
    if arguments.json {
        let facts = json!({
            "dry_run": arguments.dry_run, "sessions": sessions, "unchanged": unchanged, "unreadable": unreadable,
            "stored": stored, "known": known, "forgotten": forgotten, "private": private,
        });
        return Ok(writeln!(terminal::output(), "{facts:#}")?);
    }
    let mut output = terminal::output();
    let verb = if arguments.dry_run { "Would import" } else { "Imported" };
    writeln!(
        output,
        "{verb} {} of {} {DIM}({known} already present){DIM:#}",
        counted(*stored, "observation", "observations"),
        counted(*sessions, "session", "sessions"),
    )?;
    for (count, one, many) in [
        (*unchanged, "session that was imported before", "sessions that were imported before"),
        (
            *private,
            "fully private prompt and what was done under it",
            "fully private prompts and what was done under them",
        ),
        (*forgotten, "observation that you have forgotten", "observations that you have forgotten"),
    ] {
        if count > 0 {
            writeln!(output, "Skipped {}", counted(count, one, many))?;
        }
    }
    if *unreadable > 0 {
        let unreadable = counted(*unreadable, "transcript or folder", "transcripts or folders");
        writeln!(output, "{WARNING}Could not read {unreadable}{WARNING:#}")?;
    }
    if let Some(later) = later {
        writeln!(output, "{DIM}{later}{DIM:#}")?;
    }
    Ok(())
}
