//! Transcripts of Claude Code and other agents.

use super::{Arguments, bar, derive_later};
use crate::database::{self, Look};
use crate::terminal::{self, DIM, WARNING, counted};
use anyhow::{Context as _, Result};
use base::{Env, Paths};
use capture::Spool;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use store::transcripts::{Agent, Import, Imported};

/// The agents whose transcripts can be imported.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Writer {
    #[default]
    Claude,
    Codex,
    Cursor,
}

impl Writer {
    fn agent(self) -> Agent {
        match self {
            Self::Claude => Agent::ClaudeCode,
            Self::Codex => Agent::Codex,
            Self::Cursor => Agent::Cursor,
        }
    }

    /// Returns the folder that the agent keeps its transcripts in.
    fn folder(self, env: &Env) -> PathBuf {
        let home = base::system::home(env).unwrap_or_default();
        let own = |name: &str, below: &str| {
            let folder = install::agents::find(name)
                .map(|agent| agent.user_folder(&home, |name| env.get(name).map(PathBuf::from)));
            folder.unwrap_or_default().join(below)
        };
        match self {
            Self::Claude => database::client_folder(env).join("projects"),
            Self::Codex => own("codex", "sessions"),
            Self::Cursor => own("cursor", "projects"),
        }
    }
}

pub(super) fn run(arguments: &Arguments, folder: Option<&Path>, env: &Env, paths: &Paths) -> Result<()> {
    let folder = folder.map_or_else(|| arguments.agent.folder(env), Path::to_owned);
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let (spool, rules) = (Spool::new(paths.spool()), database::rules(env, paths));
    let import = Import::of_agent(arguments.agent.agent(), &folder, &spool, &rules);
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
    let Imported { sessions, unchanged, recorded, unreadable, stored, known, forgotten, private, unplaced } =
        imported;
    let later = (*stored > 0 && !arguments.dry_run).then(|| derive_later(paths));
    if arguments.json {
        let facts = json!({
            "dry_run": arguments.dry_run, "sessions": sessions, "unchanged": unchanged, "unreadable": unreadable,
            "stored": stored, "known": known, "forgotten": forgotten, "private": private,
            "recorded": recorded, "unplaced": unplaced,
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
        (*recorded, "session that hooks recorded", "sessions that hooks recorded"),
        (
            *private,
            "fully private prompt and what was done under it",
            "fully private prompts and what was done under them",
        ),
        (*forgotten, "observation that you have forgotten", "observations that you have forgotten"),
        (
            *unplaced,
            "session or subagent whose folder or starting session is not known",
            "sessions and subagents whose folder or starting session is not known",
        ),
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
