//! `wyren broadcast-skill` and `wyren unbroadcast`: what every session of the team is told.

use super::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::terminal::{self, WARNING};
use anyhow::{Context as _, Result};
use base::Env;
use clap::Args;
use place::Reason;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;
use team_sync::repository::Published;

/// What the commits of a broadcast name as their session, as in the Node system.
const SESSION: &str = "broadcast";

/// The endings that a skill usually has.
const USUAL: [&str; 6] = ["md", "toml", "txt", "json", "yaml", "yml"];

const EXAMPLES: &str = "\
Examples:
  wyren broadcast-skill review.md     every session of the team is told it from its next prompt on
  wyren unbroadcast review            and nobody is told it any more";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file; its name is the skill's.
    file: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Unbroadcast {
    /// The skill's name, with or without ending, or a path below broadcast/.
    name: String,
}

pub(crate) fn run(arguments: &Arguments, env: &Env) -> Result<()> {
    let share = syncing::open(&std::env::current_dir()?, env)?.insistent();
    let Some(file) = &arguments.file else {
        return Err(Ending::failed("Usage: wyren broadcast-skill <file>").into());
    };
    let shown = file.display();
    if !file.exists() {
        return Err(Ending::failed(format!("File not found: {shown}")).into());
    }
    if !file.is_file() {
        return Err(Ending::failed(format!("Not a file: {shown}")).into());
    }
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    if !USUAL.contains(&&*ending) {
        let usual = USUAL.map(|ending| format!(".{ending}")).join(" ");
        writeln!(
            terminal::errors(),
            "{WARNING}Warning{WARNING:#}: {shown} is none of {usual}; broadcast all the same."
        )?;
    }
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let contents = fs::read(file).with_context(|| format!("could not read {shown}"))?;
    let path = share.broadcast_skill(name, &contents)?;
    writeln!(terminal::output(), "Broadcast: .wyren/{path}")?;
    let spinner = terminal::spinner("publishing");
    let synced = share.sync(Some(SESSION), Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.context("it is saved here, but could not be published")?;
    syncing::warn(&synced)?;
    match &synced.published {
        Published::Landed(_) => writeln!(terminal::output(), "Pushed to remote.")?,
        Published::Nothing => writeln!(terminal::output(), "No broadcast changes to push (no_changes).")?,
        Published::Queued(Reason::Busy) => {
            return Err(Ending::locked("Saved locally; another sync of this repository is running.").into());
        }
        Published::Queued(reason) => {
            writeln!(terminal::output(), "Saved locally; push did not complete ({}).", code(reason))?;
            writeln!(terminal::errors(), "{}", syncing::waiting(reason))?;
        }
    }
    Ok(())
}

pub(crate) fn unbroadcast(arguments: &Unbroadcast, env: &Env) -> Result<()> {
    let share = syncing::open(&std::env::current_dir()?, env)?.insistent();
    let spinner = terminal::spinner("publishing");
    let removed = share.unbroadcast(&arguments.name, Some(SESSION), Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let Some(removed) = removed? else {
        let known = share.broadcasts()?;
        let known = if known.is_empty() { "nothing is".to_owned() } else { known.join(", ") };
        return Err(Ending::failed(format!(
            "No broadcast is called {:?}; broadcast now: {known}",
            arguments.name
        ))
        .into());
    };
    syncing::warn(&removed.synced)?;
    let mut output = terminal::output();
    match &removed.synced.published {
        Published::Queued(Reason::Busy) => {
            Err(Ending::locked("Nothing was removed: another sync of this repository is running.").into())
        }
        Published::Queued(Reason::Detached) => {
            Err(Ending::failed(format!("Nothing was removed: {}", Reason::Detached)).into())
        }
        Published::Queued(reason) => {
            writeln!(output, "Removed here: .wyren/{}", removed.path)?;
            Err(Ending::queued(format!("The others still have it: {reason}")).into())
        }
        _ => Ok(writeln!(output, "Removed for everybody: .wyren/{}", removed.path)?),
    }
}

/// Returns the word that the Node system has for why something did not reach the remote.
fn code(reason: &Reason) -> &'static str {
    match reason {
        Reason::NoRemote => "no_remote",
        Reason::Detached => "branch_unknown",
        Reason::Rewritten | Reason::Outrun => "remote_diverged",
        Reason::NotCommitted => "nothing_to_add",
        Reason::TimedOut | Reason::BackingOff(_) | Reason::Unreachable(_) => "fetch_failed",
        Reason::Busy | Reason::NotOnRemote(_) | Reason::Refused(_) | Reason::Unusable(_) => "push_failed",
    }
}
