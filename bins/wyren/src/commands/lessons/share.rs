//! `wyren lessons share`: a lesson for everyone who works in the repository.

use super::shown;
use crate::commands::sync::{self as syncing, PATIENCE};
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, STRONG};
use anyhow::{Context as _, Result};
use clap::Args;
use lessons_admin::catalogue::Places;
use lessons_admin::change::Change;
use place::Mode;
use std::io::Write as _;
use std::time::Instant;
use team_sync::Share;
use team_sync::repository::Published;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lesson's name, as listed: one of your own.
    slug: String,
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let (item, file) = Change::begin(places)?.share(&arguments.slug)?;
    let mut output = terminal::output();
    let slug = shown(&item.lesson.slug);
    writeln!(output, "{STRONG}{slug}{STRONG:#} is the project's now: {}", file.display())?;
    writeln!(
        output,
        "{DIM}Yours is in the archive. Teammates read it as data until they run `wyren trust`.{DIM:#}"
    )?;
    let share = match Share::open(&places.cwd, &places.env) {
        Err(team_sync::Error::NotSetUp(_)) => {
            writeln!(output, "There is no team memory here: commit the file, or run `wyren init`.")?;
            return Ok(());
        }
        share => share?.insistent(),
    };
    if share.team().is_some_and(|team| team.mode() == Mode::Branch) {
        // There, all but the memory are files of the user's.
        writeln!(
            output,
            "The memory is part of your branch: commit the file and push it, and the team has it."
        )?;
        return Ok(());
    }
    if share.team().is_none_or(|team| team.remote().is_none()) {
        writeln!(output, "There is no remote: it stays on this machine.")?;
        return Ok(());
    }
    person::allow_publishing(&share, &places.env, "wyren lessons share")?;
    let spinner = terminal::spinner("publishing");
    let synced = share.sync(None, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let synced = synced.context("saved here, but could not be published")?;
    syncing::warn(&synced)?;
    match &synced.published {
        Published::Queued(reason) => {
            Err(Ending::queued(format!("Saved here; the team does not have it yet: {reason}")).into())
        }
        _ => Ok(writeln!(output, "{DIM}Published to the team.{DIM:#}")?),
    }
}
