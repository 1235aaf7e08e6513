//! Opens the database and the search index for a command that looks something up, and says what is not in step.

use crate::database::{self, Look};
use crate::exit;
use crate::terminal::{self, WARNING, counted};
use answers::InStep;
use anyhow::{Context as _, Result};
use base::error::with_causes;
use base::{Env, Paths};
use search::Query;
use search::query::Found;
use std::io::Write as _;

pub(crate) use answers::Finder;

/// Opens both; repairs a damaged database.
pub(crate) fn open(env: &Env, paths: &Paths) -> Result<Finder> {
    let cwd = std::env::current_dir().context("could not find out which folder this is")?;
    // The long way reports what fails here.
    if let Some(finder) = Finder::in_step(paths, &cwd) {
        return Ok(finder);
    }
    // While the worker takes in a lot, what is there already answers.
    let (store, drained) = database::open_drained_within(env, paths, Look::Quick, answers::MOST_TIME)?;
    let is_drained = match drained {
        Err(store::Error::Busy | store::Error::Locked(_)) => false,
        drained => drained.map(|()| true).context("could not drain the spool")?,
    };
    let spinner = terminal::spinner("updating the search index");
    let refreshed = Finder::refreshed(store, is_drained, paths, &cwd);
    spinner.finish_and_clear();
    let (finder, step) = refreshed.map_err(exit::of)?;
    let mut errors = terminal::errors();
    match step {
        InStep::Yes => {}
        InStep::Failed(error) => {
            let reason = with_causes(&error);
            writeln!(errors, "{WARNING}Could not update the search index{WARNING:#}: {reason}")?;
        }
        InStep::NotYet => {
            let documents = counted(finder.index.len() as u64, "document", "documents");
            writeln!(
                errors,
                "{WARNING}The search index is being made{WARNING:#}: {documents} so far. Some may be missing."
            )?;
        }
    }
    Ok(finder)
}

/// Answers a question, and says where it was answered by words alone.
pub(crate) fn search(finder: &Finder, query: &Query, env: &Env, paths: &Paths) -> Found {
    let (found, left_out) = finder.search(query, env, paths);
    if let Some(error) = left_out {
        let reason = with_causes(&error);
        let _ = writeln!(terminal::errors(), "{WARNING}Searched by words alone{WARNING:#}: {reason}");
    }
    found
}
