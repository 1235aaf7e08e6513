//! `wyren broadcast-skill` and `wyren unbroadcast`: skills shared with every session of the team.

use super::sync::{self as syncing, MAX_LISTED, PATIENCE};
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, WARNING};
use anyhow::{Context as _, Result};
use base::{Env, files};
use clap::Args;
use place::Reason;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;
use team_sync::repository::Published;

/// The session named in the commits of a broadcast, as in the Node version.
const SESSION: &str = "broadcast";

/// File extensions accepted without a warning.
const USUAL: [&str; 6] = ["md", "toml", "txt", "json", "yaml", "yml"];

const EXAMPLES: &str = "\
Examples:
  wyren broadcast-skill review.md     every session of the team gets it with its next prompt
  wyren unbroadcast review            remove it for the whole team";

#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = "wyren broadcast-skill <FILE>")]
pub(crate) struct Arguments {
    /// The skill's file. Its name becomes the skill's name.
    file: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Unbroadcast {
    /// The skill's name, with or without extension, or a path below broadcast/.
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
            "{WARNING}Warning{WARNING:#}: {shown} has none of the usual extensions ({usual}); broadcasting it anyway."
        )?;
    }
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let contents =
        files::read_followed(file, files::cap::SHARED).with_context(|| format!("could not read {shown}"))?;
    person::allow_publishing(&share, env, "wyren broadcast-skill")?;
    let path = share.broadcast_skill(name, &contents)?;
    writeln!(terminal::output(), "Broadcast: .wyren/{path}")?;
    let spinner = terminal::spinner("publishing");
    let synced = share.sync(Some(SESSION), Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.context("saved locally, but could not be published")?;
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
    if share.is_broadcast(&arguments.name)? {
        // A name that is nothing says nothing about publishing.
        person::allow_publishing(&share, env, "wyren unbroadcast")?;
    }
    let spinner = terminal::spinner("publishing");
    let removed = share.unbroadcast(&arguments.name, Some(SESSION), Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let Some(removed) = removed? else {
        let known = share.broadcasts()?;
        let more = known.len().saturating_sub(MAX_LISTED);
        let listed = known.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = match (known.len(), more) {
            (0, _) => "none".to_owned(),
            (_, 0) => listed,
            _ => format!("{listed} and {more} more"),
        };
        return Err(Ending::failed(format!(
            "No broadcast named {:?}. Current broadcasts: {known}",
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
        Published::Queued(reason @ (Reason::Detached | Reason::NotAllowed)) => {
            Err(Ending::failed(format!("Nothing was removed: {reason}")).into())
        }
        Published::Queued(reason) if removed.is_left_out => Err(Ending::queued(format!(
            "Not removed for the team yet: {reason}. The next sync that reaches the remote removes it."
        ))
        .into()),
        Published::Queued(reason) => {
            writeln!(output, "Removed locally: .wyren/{}", removed.path)?;
            Err(Ending::queued(format!("Not removed for the team yet: {reason}")).into())
        }
        _ => Ok(writeln!(output, "Removed for the whole team: .wyren/{}", removed.path)?),
    }
}

/// Returns the Node version's code for a push that did not complete.
fn code(reason: &Reason) -> &'static str {
    match reason {
        Reason::NoRemote => "no_remote",
        Reason::Detached => "branch_unknown",
        Reason::Rewritten | Reason::Outrun => "remote_diverged",
        Reason::NotCommitted => "nothing_to_add",
        Reason::TimedOut | Reason::BackingOff(_) | Reason::Unreachable(_) => "fetch_failed",
        Reason::NotAllowed => "not_allowed",
        Reason::Busy
        | Reason::NotOnRemote(_)
        | Reason::Refused(_)
        | Reason::Unusable(_)
        | Reason::LeftOut(_) => "push_failed",
    }
}
