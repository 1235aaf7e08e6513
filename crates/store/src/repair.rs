//! When the database is damaged: puts it aside, keeps what can still be read, and makes the rest again from the spool
//! and from the client's transcripts.
//!
//! The new database is made beside the old one and takes its place in one step, so whoever is killed meanwhile leaves a
//! damaged database, which the next one repairs.

mod rebuild;
mod salvage;

use crate::capture::{self, Drain};
use crate::open::{Error, Store};
use crate::schema::Tables;
use base::{Timestamp, files};
use spool::Spool;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for a drain, or for someone else who is repairing.
const PATIENCE: Duration = Duration::from_secs(60);
/// What SQLite keeps beside a database.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// From what a database is made again.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The spool; it also has the lock that keeps drains away.
    pub spool: &'a Spool,
    /// The folder of the client's transcripts.
    pub transcripts: &'a Path,
    /// What of them would have been recorded.
    pub rules: spool::Rules,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Where the damaged database is now; `None` when someone else had repaired it.
    pub aside: Option<PathBuf>,
    /// Rows that could be read from it.
    pub salvaged: u64,
    /// Events that came back from the spool.
    pub from_spool: u64,
    /// Events that came back from transcripts.
    pub from_transcripts: u64,
}

/// Returns the file that keeps digests of what was forgotten; it is no part of the database, so that it outlives one.
pub fn notes_of_forgotten(database: &Path) -> PathBuf {
    database.with_file_name("forgotten")
}

/// Repairs the database at `path` if it is damaged.
pub fn repair(
    path: &Path,
    tables: &[Tables],
    sources: &Sources<'_>,
    now: Timestamp,
) -> Result<Repaired, Error> {
    let lock = capture::lock(sources.spool, PATIENCE).map_err(Error::io(sources.spool.folder()))?;
    let _lock = lock.ok_or(Error::Busy)?;
    match Store::open(path, tables).and_then(|store| store.check()) {
        Err(Error::Corrupt { .. }) => {}
        sound => return sound.map(|()| Repaired::default()),
    }
    let aside = put_aside(path, now).map_err(Error::io(path))?;
    let fresh = suffixed(path, ".new");
    remove(&fresh).map_err(Error::io(&fresh))?;
    let mut repaired = Repaired { aside: Some(aside.clone()), ..Repaired::default() };
    {
        let mut store = Store::open(&fresh, tables)?;
        repaired.salvaged = salvage::copy(&aside, &mut store)?;
        repaired.from_spool = Drain::unbounded(sources.spool).run_locked(&mut store, now)?.stored;
        let forgotten = forgotten(&notes_of_forgotten(path));
        repaired.from_transcripts =
            rebuild::from_transcripts(&mut store, sources.transcripts, &sources.rules, &forgotten)?;
        // Everything into the one file that is about to be moved.
        store.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    for companion in COMPANIONS {
        remove_file(&suffixed(&fresh, companion)).map_err(Error::io(&fresh))?;
    }
    fs::rename(&fresh, path).map_err(Error::io(path))?;
    Ok(repaired)
}

/// Gives the damaged database a second name, and takes away what lies beside it: SQLite would take a log of changes for
/// one of the new database.
fn put_aside(path: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let stamp: String = now.to_string().chars().filter(|letter| !matches!(letter, '-' | ':')).collect();
    let aside = suffixed(path, &format!(".damaged-{stamp}"));
    for companion in COMPANIONS {
        match fs::rename(suffixed(path, companion), suffixed(&aside, companion)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    if fs::hard_link(path, &aside).is_err() {
        drop(files::open_append(&aside)?);
        fs::copy(path, &aside)?;
    }
    Ok(aside)
}

fn forgotten(notes: &Path) -> HashSet<String> {
    let notes = fs::read_to_string(notes).unwrap_or_default();
    notes.lines().map(str::to_owned).collect()
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Removes a database with all that lies beside it.
fn remove(path: &Path) -> io::Result<()> {
    remove_file(path)?;
    COMPANIONS.iter().try_for_each(|companion| remove_file(&suffixed(path, companion)))
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
