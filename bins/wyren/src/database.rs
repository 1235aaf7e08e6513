//! Opening the database for a person: says what is wrong with it, mends what can be mended, and goes on.

use crate::terminal::{self, STRONG, WARNING};
use anyhow::{Context as _, Result};
use base::project::Project;
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

/// How closely the database is looked at before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Only what opening it shows.
    Quick,
    /// All of it, for commands that read or write all of it anyway.
    Whole,
}

/// Opens the database. A damaged one is put aside and made again from what is left; all that is said on standard error.
pub(crate) fn open_for_user(env: &Env, paths: &Paths, look: Look) -> Result<Store> {
    let opened = store::open_store(paths).and_then(|store| match look {
        Look::Quick => Ok(store),
        Look::Whole => store.check().map(|()| store),
    });
    let store = match opened {
        Err(error) if error.is_corrupt() => mend(env, paths)?,
        Err(error @ store::Error::Locked(_)) => {
            return Err(error)
                .context("could not open the database; try again when the other program is done");
        }
        opened => opened?,
    };
    if let Some(owner) = store.ahead() {
        let mut errors = terminal::errors();
        let whose = format!("{WARNING}A later version of Wyren made this database{WARNING:#} ({owner})");
        writeln!(errors, "{whose}: it is only read.")?;
    }
    Ok(store)
}

/// Opens the database as [`open_for_user`] does, and takes in what the hooks have recorded since.
pub(crate) fn open_drained(env: &Env, paths: &Paths, look: Look) -> Result<Store> {
    let mut store = open_for_user(env, paths, look)?;
    if store.ahead().is_some() {
        return Ok(store);
    }
    let drained = match drain(&mut store, paths) {
        Err(error) if error.is_corrupt() => {
            drop(store);
            store = mend(env, paths)?;
            drain(&mut store, paths)
        }
        drained => drained,
    };
    let unread = drained.context("could not take in what the hooks recorded")?.unread;
    if unread > 0 {
        let mut errors = terminal::errors();
        writeln!(errors, "{WARNING}{unread} recorded lines could not be read{WARNING:#}; they are kept.")?;
    }
    Ok(store)
}

/// Drains the spool. Someone else who is draining is waited for: what was recorded before this command must be seen by it.
fn drain(store: &mut Store, paths: &Paths) -> Result<Progress, store::Error> {
    let spool = Spool::new(paths.spool());
    let deadline = Instant::now() + PATIENCE;
    loop {
        match Drain::unbounded(&spool).run(store, Timestamp::now())? {
            Drained::Done(progress) => return Ok(progress),
            Drained::Busy if Instant::now() >= deadline => return Err(store::Error::Busy),
            Drained::Busy => std::thread::sleep(PAUSE),
        }
    }
}

/// How long another drain is waited for, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Puts a damaged database aside, makes a new one, says so, and opens it.
fn mend(env: &Env, paths: &Paths) -> Result<Store> {
    writeln!(terminal::errors(), "{WARNING}The database is damaged.{WARNING:#} Repairing it.")?;
    tell(&repair_database(env, paths).context("could not repair the database")?)?;
    Ok(store::open_store(paths)?)
}

pub(crate) fn repair_database(env: &Env, paths: &Paths) -> Result<Repaired, store::Error> {
    let spool = Spool::new(paths.spool());
    let settings = Settings::read(env, &paths.hook_settings());
    let transcripts = client_folder(env).join("projects");
    let sources = Sources {
        spool: &spool,
        transcripts: &transcripts,
        rules: Rules::of(&settings, env),
        derived: store::DERIVED,
    };
    repair::repair(&paths.database(), store::TABLES, &sources, Timestamp::now())
}

fn tell(repaired: &Repaired) -> Result<()> {
    let mut errors = terminal::errors();
    match &repaired.aside {
        None => writeln!(errors, "Another wyren has repaired it meanwhile.")?,
        Some(aside) => show_repaired(&mut errors, repaired, aside)?,
    }
    Ok(())
}

/// Shows what a repair kept, and where the damaged database is.
pub(crate) fn show_repaired(output: &mut impl Write, repaired: &Repaired, aside: &Path) -> Result<()> {
    let Repaired { salvaged, from_spool, from_transcripts, .. } = repaired;
    writeln!(output, "  kept aside   {STRONG}{}{STRONG:#}", aside.display())?;
    writeln!(output, "  salvaged     {salvaged} rows")?;
    writeln!(
        output,
        "  recovered    {from_spool} observations from the spool, {from_transcripts} from transcripts"
    )?;
    writeln!(output, "Delete the damaged file once you are sure that nothing is missing.")?;
    Ok(())
}

/// Returns the client's folder.
fn client_folder(env: &Env) -> PathBuf {
    let home = || env.get("HOME").or_else(|| env.get("USERPROFILE")).map(PathBuf::from).unwrap_or_default();
    env.get("CLAUDE_CONFIG_DIR").map_or_else(|| home().join(".claude"), PathBuf::from)
}

/// Returns the key of the project that a person names: by its key, or by a folder in it.
pub(crate) fn project_key(named: &str) -> String {
    let is_key = ["git:", "repo:", "path:"].iter().any(|kind| named.starts_with(kind));
    if is_key { named.to_owned() } else { Project::of(Path::new(named)).key }
}
