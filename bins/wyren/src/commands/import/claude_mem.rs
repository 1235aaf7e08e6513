//! claude-mem's records.

use super::{Arguments, bar_of_rows, derive_later};
use crate::database::{self, Look};
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, WARNING, counted};
use anyhow::{Context as _, Result};
use base::{Env, Paths};
use capture::Spool;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use store::claude_mem::{Count, Import, Imported};
use text::sanitize;

/// How many names of projects are shown.
const MAX_NAMES: usize = 20;

pub(super) fn run(arguments: &Arguments, database: Option<&Path>, env: &Env, paths: &Paths) -> Result<()> {
    let projects =
        arguments.project.iter().map(|given| named(given, env)).collect::<Result<BTreeMap<_, _>>>()?;
    let database = database.map_or_else(|| default_database(env), Path::to_owned);
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let (spool, rules) = (Spool::new(paths.spool()), database::rules(env, paths));
    let context = || format!("could not import {}", database.display());
    let mut import = Import::open(&database, &spool, &rules).with_context(context)?.with_projects(projects);
    if arguments.dry_run {
        import = import.trial();
    }
    let bar = bar_of_rows(import.rows().with_context(context)?);
    let imported = import.run(&mut store, |rows| bar.set_position(rows));
    bar.finish_and_clear();
    show(&imported.with_context(context)?, arguments, env, paths)
}

fn default_database(env: &Env) -> PathBuf {
    let named = env.get("CLAUDE_MEM_DATA_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || base::system::home(env).unwrap_or_default().join(".claude-mem");
    named.unwrap_or_else(home).join("claude-mem.db")
}

/// Reads `NAME=PATH`; the folder must be there, since a project is known by it.
fn named(given: &str, env: &Env) -> Result<(String, PathBuf)> {
    let misused = |reason: &str| Ending::misused(format!("wyren: --project {given}: {reason}"));
    let (name, folder) = given.split_once('=').ok_or_else(|| misused("expected NAME=PATH"))?;
    let folder = match folder.strip_prefix("~/") {
        Some(rest) => base::system::home(env).unwrap_or_default().join(rest),
        None => PathBuf::from(folder),
    };
    let folder = std::path::absolute(&folder)?;
    if name.trim().is_empty() || !folder.is_dir() {
        return Err(misused("expected a name and a folder that is there").into());
    }
    Ok((name.trim().to_owned(), folder))
}

fn show(imported: &Imported, arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let is_changed = imported.stored() > 0 || imported.refiled > 0;
    let later = (is_changed && !arguments.dry_run).then(|| derive_later(paths));
    if arguments.json {
        return Ok(writeln!(terminal::output(), "{:#}", facts(imported, arguments.dry_run))?);
    }
    let mut output = terminal::output();
    let verb = if arguments.dry_run { "Would import" } else { "Imported" };
    let Imported { prompts, entries, summaries, sessions, .. } = imported;
    writeln!(
        output,
        "{verb} {}, {} and {} of {} {DIM}({} already present){DIM:#}",
        counted(entries.stored, "observation", "observations"),
        counted(summaries.stored, "summary", "summaries"),
        counted(prompts.stored, "prompt", "prompts"),
        counted(*sessions, "session", "sessions"),
        imported.known(),
    )?;
    for (count, one, many) in [
        (imported.private, "fully private prompt", "fully private prompts"),
        (imported.excluded, "row of an excluded project", "rows of excluded projects"),
        (imported.forgotten, "row that you have forgotten", "rows that you have forgotten"),
        (imported.empty, "row without text or time", "rows without text or time"),
    ] {
        if count > 0 {
            writeln!(output, "Skipped {}", counted(count, one, many))?;
        }
    }
    if imported.refiled > 0 {
        let sessions = counted(imported.refiled, "session", "sessions");
        writeln!(output, "Moved {sessions} to the folder that was named")?;
    }
    let names: Vec<String> = imported.unmatched().map(|name| sanitize::one_line(name, 60)).collect();
    if !names.is_empty() {
        let more = names.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
        writeln!(
            output,
            "{WARNING}Kept by name{WARNING:#}, since no folder, or more than one, is known for it: {shown}{more}. To say which: {} \
             import --claude-mem --project NAME=PATH",
            person::wyren(env)
        )?;
    }
    if let Some(later) = later {
        writeln!(output, "{DIM}{later}{DIM:#}")?;
    }
    Ok(())
}

fn facts(imported: &Imported, is_trial: bool) -> Value {
    let count = |count: &Count| json!({"stored": count.stored, "known": count.known});
    json!({
        "dry_run": is_trial, "schema": imported.schema, "sessions": imported.sessions, "prompts": count(&imported.prompts),
        "observations": count(&imported.entries), "summaries": count(&imported.summaries), "private": imported.private,
        "excluded": imported.excluded, "forgotten": imported.forgotten, "empty": imported.empty, "moved": imported.refiled,
        "projects": imported.projects, "unmatched": imported.unmatched().collect::<Vec<_>>(),
    })
}
