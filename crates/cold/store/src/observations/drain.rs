//! From the spool into the database: rows and offsets in one transaction, so that a drain that is killed at any point
//! loses nothing and stores nothing twice.

use super::writer::{Projects, Writer};
use crate::derived;
use crate::open::{Error, Store};
use crate::transcripts;
use base::{Timestamp, digest};
use capture::{Observation, Rules, Spool, SpoolFile};
use rusqlite::{Transaction, params};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// What a hook may spend on draining.
const HOOK_LINES: usize = 2_000;
const HOOK_TIME: Duration = Duration::from_millis(10);
/// How many lines a hook stores between two looks at the clock.
const HOOK_LINES_AT_ONCE: usize = 100;
/// What goes into one transaction of a drain that has time: enough to be quick, and over before anyone has to wait.
const LINES_AT_ONCE: usize = 5_000;
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// For how long one drain derives tables from observations; the next one goes on.
const DERIVE_TIME: Duration = Duration::from_secs(2);
/// When a long observation that no line points to is what a killed writer left.
const SWEEP_AFTER: Duration = Duration::from_secs(2 * 3_600);

/// A drain, and how much it may do.
#[derive(Clone, Copy, Debug)]
pub struct Drain<'s> {
    spool: &'s Spool,
    most_lines: usize,
    most_time: Option<Duration>,
    lines_at_once: usize,
    /// The rules by which transcripts are followed; they are not where there are none.
    followed_by: Option<&'s Rules>,
}

/// The result of a drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Someone else is draining.
    Busy,
    /// As much as was allowed is stored.
    Done(Progress),
}

/// How far a drain came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Lines that were read.
    pub lines: u64,
    /// Observations that were new.
    pub stored: u64,
    /// Lines that this version cannot read, kept aside.
    pub unread: u64,
    /// Files and folders that could not be read, or not be deleted, this time; the next drain tries again.
    pub skipped: u64,
    /// Whether nothing was left that could be read.
    pub is_complete: bool,
    /// Whether tables were derived from everything that is stored; a drain without time derives nothing.
    pub is_derived: bool,
    /// Why tables could not be derived, each beginning with its name; the next drain tries again.
    pub derive_errors: Vec<String>,
}

impl<'s> Drain<'s> {
    /// Drains as much as a hook may.
    pub fn bounded(spool: &'s Spool) -> Self {
        Self {
            spool,
            most_lines: HOOK_LINES,
            most_time: Some(HOOK_TIME),
            lines_at_once: HOOK_LINES_AT_ONCE,
            followed_by: None,
        }
    }

    /// Drains all there is.
    pub fn unbounded(spool: &'s Spool) -> Self {
        Self {
            spool,
            most_lines: usize::MAX,
            most_time: None,
            lines_at_once: LINES_AT_ONCE,
            followed_by: None,
        }
    }

    /// Drains no more than this many lines.
    #[must_use]
    pub fn at_most(self, lines: usize) -> Self {
        Self { most_lines: self.most_lines.min(lines), ..self }
    }

    /// Reads also what no event told: the transcripts of sessions whose turns ended.
    #[must_use]
    pub fn following(self, rules: &'s Rules) -> Self {
        Self { followed_by: Some(rules), ..self }
    }

    /// Stores what the spool holds beyond what was stored before; returns at once when someone else is at it.
    pub fn run(&self, store: &mut Store, now: Timestamp) -> Result<Drained, Error> {
        if !self.spool.folder().is_dir() {
            return self.without_spool(store).map(Drained::Done);
        }
        let Some(_lock) = super::lock(self.spool, Duration::ZERO).map_err(Error::io(self.spool.folder()))?
        else {
            return Ok(Drained::Busy);
        };
        if self.most_time.is_none() {
            return store.in_bulk(|store| self.run_locked(store, now)).map(Drained::Done);
        }
        // A hook does not wait for others' transactions either.
        let drained = store.without_waiting(|store| self.run_locked(store, now));
        match drained {
            Err(Error::Locked(_)) => Ok(Drained::Busy),
            drained => drained.map(Drained::Done),
        }
    }

    /// Derives from what is stored, where nothing was ever recorded: it may come from an import.
    fn without_spool(&self, store: &mut Store) -> Result<Progress, Error> {
        let derived = match self.most_time {
            None => derived::run(store, DERIVE_TIME)?,
            Some(_) => derived::Ran::default(),
        };
        Ok(Progress {
            is_complete: true,
            is_derived: derived.is_complete,
            derive_errors: derived.errors,
            ..Progress::default()
        })
    }

    /// Drains under the lock that the caller holds.
    pub(crate) fn run_locked(&self, store: &mut Store, now: Timestamp) -> Result<Progress, Error> {
        let started = Instant::now();
        let mut projects = Projects::default();
        let mut progress = Progress::default();
        let (files, folders) = self.spool.files_and_skipped().map_err(Error::io(self.spool.folder()))?;
        let mut skipped = Skipped { folders, files: HashSet::new() };
        progress.skipped = skipped.count();
        let mut offsets = offsets(store)?;
        let pending: Vec<&SpoolFile> = files
            .iter()
            .filter(|file| holds_more(file, offsets.entry(file.name.clone()).or_default()))
            .collect();
        let mut pending = pending.into_iter().peekable();
        while pending.peek().is_some() {
            let is_spent = self.most_time.is_some_and(|most| started.elapsed() >= most);
            let room = self.most_lines.saturating_sub(progress.lines as usize).min(self.lines_at_once);
            if is_spent || room == 0 {
                return Ok(progress);
            }
            let chunk = Chunk::read(&mut pending, &mut offsets, room, &mut skipped);
            progress.skipped = skipped.count();
            store.write(|transaction| chunk.store(transaction, &mut projects, &mut progress))?;
        }
        if self.most_time.is_none() {
            reread(store, &mut projects, &mut progress)?;
            delete_done(store, &files, &offsets, now, &mut skipped)?;
            // What cannot be swept now can be later.
            let _ = self.spool.sweep(SWEEP_AFTER, now);
            progress.skipped = skipped.count();
            if let Some(rules) = self.followed_by {
                progress.stored += transcripts::follow(store, &rules.clone().knowing(self.spool))?;
            }
            let derived = derived::run(store, DERIVE_TIME)?;
            (progress.derive_errors, progress.is_derived) = (derived.errors, derived.is_complete);
        }
        progress.is_complete = true;
        Ok(progress)
    }
}

/// What one drain had to pass over, so that the rest is drained all the same.
struct Skipped {
    folders: u64,
    files: HashSet<String>,
}

impl Skipped {
    fn count(&self) -> u64 {
        self.folders + self.files.len() as u64
    }
}

/// Lines that are stored together, and the offsets behind them.
#[derive(Default)]
struct Chunk {
    lines: Vec<Vec<u8>>,
    offsets: Vec<(String, u64)>,
}

impl Chunk {
    /// Reads lines from the files that are next; files that hold nothing more, or cannot be read, are passed over.
    fn read<'f>(
        pending: &mut std::iter::Peekable<impl Iterator<Item = &'f SpoolFile>>,
        offsets: &mut HashMap<String, u64>,
        most_lines: usize,
        skipped: &mut Skipped,
    ) -> Self {
        let mut chunk = Self::default();
        let mut bytes = 0;
        while let Some(file) = pending.peek()
            && chunk.lines.len() < most_lines
            && bytes < BYTES_AT_ONCE
        {
            let offset = offsets.entry(file.name.clone()).or_default();
            let Ok(batch) = file.read(*offset, most_lines - chunk.lines.len(), BYTES_AT_ONCE - bytes) else {
                skipped.files.insert(file.name.clone());
                pending.next();
                continue;
            };
            if batch.offset != *offset {
                *offset = batch.offset;
                chunk.offsets.push((file.name.clone(), batch.offset));
            }
            bytes += batch.lines.iter().map(Vec::len).sum::<usize>();
            chunk.lines.extend(batch.lines);
            if batch.is_complete {
                pending.next();
            }
        }
        chunk
    }

    fn store(
        &self,
        transaction: &Transaction<'_>,
        projects: &mut Projects,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let mut writer = Writer::new(transaction, projects);
        for line in &self.lines {
            match readable(line) {
                Some(observation) => progress.stored += u64::from(writer.put(&observation)?),
                None => progress.unread += u64::from(put_aside(transaction, line)?),
            }
        }
        writer.finish()?;
        progress.lines += self.lines.len() as u64;
        let mut update = transaction.prepare_cached("INSERT OR REPLACE INTO spool_files VALUES (?1, ?2)")?;
        for (name, offset) in &self.offsets {
            update.execute(params![name, offset])?;
        }
        Ok(())
    }
}

/// Says whether a file holds more than was read of it. One that is shorter than that is another file, and one that
/// cannot be measured is left to reading, which notes that.
fn holds_more(file: &SpoolFile, offset: &mut u64) -> bool {
    let Ok(size) = file.size() else { return true };
    if *offset > size {
        *offset = 0;
    }
    size > *offset
}

/// Returns the observation in a line, unless it is of a later version, damaged, or of a time that no database can hold.
fn readable(line: &[u8]) -> Option<Observation<'_>> {
    Observation::read(line).filter(|observation| i64::try_from(observation.at).is_ok())
}

pub(super) fn offsets(store: &Store) -> Result<HashMap<String, u64>, Error> {
    let mut select = store.connection().prepare_cached("SELECT name, offset FROM spool_files")?;
    let offsets = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(offsets.collect::<Result<_, _>>()?)
}

/// Keeps a line that cannot be read, once; says whether it is new.
fn put_aside(transaction: &Transaction<'_>, line: &[u8]) -> Result<bool, Error> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        v: u32,
    }
    let version = serde_json::from_slice(line).ok().map(|Versioned { v }| v);
    let mut insert =
        transaction.prepare_cached("INSERT INTO unread_lines VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    Ok(insert.execute(params![digest::short_hex(line), version, line])? > 0)
}

/// Stores the lines that an earlier version of Wyren had to put aside and that this one can read.
fn reread(store: &mut Store, projects: &mut Projects, progress: &mut Progress) -> Result<(), Error> {
    let lines: Vec<(String, Vec<u8>)> = store
        .connection()
        .prepare_cached("SELECT digest, line FROM unread_lines WHERE version <= ?1")?
        .query_map([capture::VERSION], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let readable: Vec<(&str, Observation<'_>)> =
        lines.iter().filter_map(|(digest, line)| Some((digest.as_str(), readable(line)?))).collect();
    if readable.is_empty() {
        return Ok(());
    }
    store.write(|transaction| {
        let mut writer = Writer::new(transaction, projects);
        for (digest, observation) in &readable {
            progress.stored += u64::from(writer.put(observation)?);
            transaction.execute("DELETE FROM unread_lines WHERE digest = ?1", [digest])?;
        }
        writer.finish()
    })
}

/// Deletes the files that are old and all in the database.
fn delete_done(
    store: &mut Store,
    files: &[SpoolFile],
    offsets: &HashMap<String, u64>,
    now: Timestamp,
    skipped: &mut Skipped,
) -> Result<(), Error> {
    for file in files {
        let offset = offsets.get(&file.name).copied().unwrap_or_default();
        let done = match file.if_done(offset, now) {
            Ok(Some(done)) => done,
            Ok(None) => continue,
            Err(_) => {
                skipped.files.insert(file.name.clone());
                continue;
            }
        };
        // The offset goes first: a file of the same name must never be read from the middle.
        store.write(|transaction| {
            transaction.execute("DELETE FROM spool_files WHERE name = ?1", [&file.name])?;
            Ok::<_, Error>(())
        })?;
        if done.delete().is_err() {
            skipped.files.insert(file.name.clone());
        }
    }
    Ok(())
}
