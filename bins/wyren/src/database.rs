//! Opens the database for a command: reports damage, repairs it, and continues.

use crate::places;
use crate::terminal::{self, DIM, STRONG, WARNING, counted};
use anyhow::{Context as _, Result};
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::Rules;
use capture::Spool;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::Store;
use store::observations::{Drain, Drained, Progress};
use store::repair::{self, Repaired, Sources};

/// How thoroughly the database is checked before use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Only what opening reveals.
    Quick,
    /// Every page, for commands that read or write all of it anyway.
    Whole,
}

/// Opens the database. Moves a damaged one aside and rebuilds it, with a report on standard error.
pub(crate) fn open_for_user(env: &Env, paths: &Paths, look: Look) -> Result<Store> {
    places::check(paths)?;
    let opened = patiently(|| {
        journal::open_store(paths).and_then(|store| match look {
            Look::Quick => Ok(store),
            Look::Whole => store.check().map(|()| store),
        })
    });
    let store = match opened {
        Err(error) if error.is_corrupt() => mend(env, paths, &error)?,
        Err(error @ store::Error::Locked(_)) => {
            return Err(error)
                .context("could not open the database; try again when the other program has exited");
        }
        opened => opened?,
    };
    if let Some(owner) = store.ahead() {
        let mut errors = terminal::errors();
        let whose = "A later version of Wyren created this database";
        writeln!(errors, "{WARNING}{whose}{WARNING:#} ({owner}): opened read-only.")?;
    }
    Ok(store)
}

/// Opens the database as [`open_for_user`] does, and drains the spool. Waits for a drain in another process: the command must see
/// everything recorded before it.
pub(crate) fn open_drained(env: &Env, paths: &Paths, look: Look) -> Result<Store> {
    let (store, drained) = open_drained_within(env, paths, look, PATIENCE)?;
    drained.context("could not drain the spool")?;
    Ok(store)
}

/// Opens the database as [`open_drained`] does, but waits only this long for a drain in another process. Returns also whether
/// everything is drained.
pub(crate) fn open_drained_within(
    env: &Env,
    paths: &Paths,
    look: Look,
    patience: Duration,
) -> Result<(Store, Result<(), store::Error>)> {
    let mut store = open_for_user(env, paths, look)?;
    if store.ahead().is_some() {
        return Ok((store, Ok(())));
    }
    let drained = match drain(&mut store, env, paths, patience) {
        Err(error) if error.is_corrupt() => {
            drop(store);
            store = mend(env, paths, &error)?;
            drain(&mut store, env, paths, patience)
        }
        drained => drained,
    };
    let unread = match drained {
        Ok(progress) => progress.unread,
        Err(error) => return Ok((store, Err(error))),
    };
    // Hooks do without; the next drain tries again.
    let _ = journal::file_cache::refresh(&store, paths);
    if unread > 0 {
        let mut errors = terminal::errors();
        let unread = counted(unread, "recorded line is", "recorded lines are");
        writeln!(errors, "{WARNING}{unread} unreadable{WARNING:#} and kept in the spool.")?;
    }
    Ok((store, Ok(())))
}

/// Drains the spool. Waits for a drain in another process.
fn drain(store: &mut Store, env: &Env, paths: &Paths, patience: Duration) -> Result<Progress, store::Error> {
    let (spool, rules) = (Spool::new(paths.spool()), rules(env, paths));
    let attempt = || match Drain::unbounded(&spool).following(&rules).run(store, Timestamp::now())? {
        Drained::Done(progress) => Ok(progress),
        Drained::Busy => Err(store::Error::Busy),
    };
    patiently_for(patience, NOTICE_AFTER, attempt, tell_of_waiting)
}

pub(crate) use answers::notes::drain_now;

/// How long a command waits for others that use the database, how often it tries, and when it says that it waits.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
const NOTICE_AFTER: Duration = Duration::from_secs(1);

/// Tries again for as long as another process is at the same data.
pub(crate) fn patiently<T>(attempt: impl FnMut() -> Result<T, store::Error>) -> Result<T, store::Error> {
    patiently_for(PATIENCE, NOTICE_AFTER, attempt, tell_of_waiting)
}

fn tell_of_waiting() {
    let _ = writeln!(terminal::errors(), "{DIM}Waiting for another wyren process…{DIM:#}");
}

fn patiently_for<T>(
    patience: Duration,
    notice_after: Duration,
    mut attempt: impl FnMut() -> Result<T, store::Error>,
    mut tell: impl FnMut(),
) -> Result<T, store::Error> {
    let began = Instant::now();
    let mut has_told = false;
    loop {
        match attempt() {
            Err(store::Error::Busy | store::Error::Locked(_)) if began.elapsed() < patience => {}
            result => return result,
        }
        if !has_told && began.elapsed() >= notice_after {
            has_told = true;
            tell();
        }
        std::thread::sleep(PAUSE);
    }
}

/// Moves a damaged database aside, rebuilds it with a report, and opens the new one.
fn mend(env: &Env, paths: &Paths, damage: &store::Error) -> Result<Store> {
    let what = match damage {
        store::Error::Emptied(_) => "The database is empty, but should not be",
        _ => "The database is damaged",
    };
    writeln!(terminal::errors(), "{WARNING}{what}{WARNING:#}. Rebuilding it from what can be recovered.")?;
    tell(&repair_database(env, paths).context("could not repair the database")?)?;
    Ok(journal::open_store(paths)?)
}

/// Returns the rules of what is recorded.
pub(crate) fn rules(env: &Env, paths: &Paths) -> Rules {
    Rules::of(&Settings::read(env, &paths.hook_settings()), env)
}

pub(crate) fn repair_database(env: &Env, paths: &Paths) -> Result<Repaired, store::Error> {
    let spool = Spool::new(paths.spool());
    let transcripts = client_folder(env).join("projects");
    let sources = Sources {
        spool: &spool,
        transcripts: &transcripts,
        rules: rules(env, paths),
        derived: journal::DERIVED,
    };
    let repaired = repair::repair(&paths.database(), store::TABLES, &sources, Timestamp::now())?;
    if repaired.aside.is_some()
        && let Ok(store) = journal::open_store(paths)
    {
        // Computed from what could be recovered; the worker does the same within the hour.
        let _ = effect::refresh(&store, env, paths, Timestamp::now());
    }
    Ok(repaired)
}

fn tell(repaired: &Repaired) -> Result<()> {
    let mut errors = terminal::errors();
    match &repaired.aside {
        None => writeln!(errors, "Another wyren process has repaired it.")?,
        Some(aside) => show_repaired(&mut errors, repaired, aside)?,
    }
    Ok(())
}

/// Shows what a repair kept, and where the damaged database is.
pub(crate) fn show_repaired(output: &mut impl Write, repaired: &Repaired, aside: &Path) -> Result<()> {
    let Repaired { salvaged, damaged, from_spool, from_transcripts, .. } = repaired;
    writeln!(output, "  damaged file {STRONG}{}{STRONG:#}", aside.display())?;
    let from_spool = counted(*from_spool, "observation", "observations");
    writeln!(output, "  recovered    {}", counted(*salvaged, "readable row", "readable rows"))?;
    if *damaged > 0 {
        writeln!(output, "  left out     {}", counted(*damaged, "damaged row", "damaged rows"))?;
    }
    writeln!(output, "  rebuilt      {from_spool} from the spool, {from_transcripts} from transcripts")?;
    writeln!(output, "Delete the damaged file once you have checked that nothing is missing.")?;
    Ok(())
}

pub(crate) fn client_folder(env: &Env) -> PathBuf {
    let home = || base::system::home(env).unwrap_or_default();
    env.get("CLAUDE_CONFIG_DIR").map_or_else(|| home().join(".claude"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_waits_for_others_says_so_once_and_gives_up_in_the_end() {
        let (mut attempts, mut told) = (0, 0);
        let done = patiently_for(
            Duration::from_secs(60),
            Duration::ZERO,
            || {
                attempts += 1;
                if attempts < 4 { Err(store::Error::Busy) } else { Ok(attempts) }
            },
            || told += 1,
        );
        assert_eq!((done.unwrap(), told), (4, 1));
        let given_up =
            patiently_for(Duration::ZERO, Duration::ZERO, || Err::<(), _>(store::Error::Busy), || {});
        assert!(matches!(given_up, Err(store::Error::Busy)));
        let mut attempts = 0;
        let failed = patiently_for(
            Duration::from_secs(60),
            Duration::ZERO,
            || {
                attempts += 1;
                Err::<(), _>(store::Error::ReadOnly { owner: "test" })
            },
            || {},
        );
        assert!(failed.is_err() && attempts == 1, "another failure is not waited for");
    }
}
