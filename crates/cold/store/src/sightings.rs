//! Where mistakes were seen that lessons are about, and how far transcripts were searched for them; `learning` reads and
//! writes the tables.

use crate::Tables;
use crate::open::Error;
use crate::transcripts::name_of;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::collections::HashMap;
use std::path::Path;

/// A mistake counts once per session, however often it is found. `name` is a digest of a transcript's path.
pub const TABLES: Tables = Tables {
    owner: "learning",
    migrations: &["CREATE TABLE sightings (
        lesson TEXT NOT NULL,
        session TEXT NOT NULL,
        project TEXT NOT NULL,
        at INTEGER NOT NULL,
        tier TEXT NOT NULL,
        failing TEXT NOT NULL,
        fix TEXT NOT NULL,
        PRIMARY KEY (lesson, session)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE scanned (
        name TEXT PRIMARY KEY,
        resume INTEGER NOT NULL,
        size INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;"],
};

/// The tier of what is no mistake: a fact about one project, as `failing`, under a name of its own.
pub const FACT: &str = "fact";

/// A mistake that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The slug of the lesson about it.
    pub lesson: String,
    pub session: String,
    /// The key of the project.
    pub project: String,
    /// In milliseconds since 1970.
    pub at: u64,
    /// How it was noticed: `reported`, `corrected` or `fixed`; or [`FACT`].
    pub tier: String,
    /// The call that went wrong and what was done instead.
    pub failing: String,
    pub fix: String,
}

/// In how many sessions and projects a mistake was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sessions: usize,
    pub projects: usize,
}

/// Notes a sighting; returns whether it is new.
pub fn put(transaction: &Transaction<'_>, sighting: &Sighting) -> Result<bool, Error> {
    let mut insert =
        transaction.prepare_cached("INSERT OR IGNORE INTO sightings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let Sighting { lesson, session, project, at, tier, failing, fix } = sighting;
    Ok(insert.execute(params![lesson, session, project, at, tier, failing, fix])? > 0)
}

/// Returns what was seen of a lesson's mistake, the latest first.
pub fn of(connection: &Connection, lesson: &str) -> Result<Vec<Sighting>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT lesson, session, project, at, tier, failing, fix FROM sightings WHERE lesson = ?1
         ORDER BY at DESC, session",
    )?;
    let rows = select.query_map([lesson], |row| {
        Ok(Sighting {
            lesson: row.get(0)?,
            session: row.get(1)?,
            project: row.get(2)?,
            at: row.get(3)?,
            tier: row.get(4)?,
            failing: row.get(5)?,
            fix: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the facts that were reported about a project, the latest first, each once.
pub fn facts(connection: &Connection, project: &str) -> Result<Vec<Sighting>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT lesson, session, project, max(at), tier, failing, fix FROM sightings WHERE tier = ?1 AND project = ?2
         GROUP BY lesson ORDER BY 4 DESC, lesson",
    )?;
    let rows = select.query_map([FACT, project], |row| {
        Ok(Sighting {
            lesson: row.get(0)?,
            session: row.get(1)?,
            project: row.get(2)?,
            at: row.get(3)?,
            tier: row.get(4)?,
            failing: row.get(5)?,
            fix: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns how often a lesson's mistake was seen.
pub fn counts(connection: &Connection, lesson: &str) -> Result<Counts, Error> {
    let mut select = connection.prepare_cached(
        "SELECT count(DISTINCT session), count(DISTINCT project) FROM sightings WHERE lesson = ?1",
    )?;
    Ok(select.query_row([lesson], |row| Ok(Counts { sessions: row.get(0)?, projects: row.get(1)? }))?)
}

/// Takes out what was seen of a lesson's mistake in a session; returns whether nothing is left of it.
pub fn withdraw(transaction: &Transaction<'_>, lesson: &str, session: &str) -> Result<bool, Error> {
    transaction.execute("DELETE FROM sightings WHERE lesson = ?1 AND session = ?2", [lesson, session])?;
    let left = transaction.prepare_cached("SELECT 1 FROM sightings WHERE lesson = ?1")?.exists([lesson])?;
    Ok(!left)
}

/// How far a transcript was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Where the next search begins.
    pub resume: u64,
    /// How large it was.
    pub size: u64,
}

/// How far each transcript was searched, all at once: a search looks at thousands.
#[derive(Debug, Default)]
pub struct Progress(HashMap<String, Searched>);

impl Progress {
    pub fn read(connection: &Connection) -> Result<Self, Error> {
        let mut select = connection.prepare_cached("SELECT name, resume, size FROM scanned")?;
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, Searched { resume: row.get(1)?, size: row.get(2)? })))?;
        Ok(Self(rows.collect::<Result<_, _>>()?))
    }

    /// Returns whether nothing was ever searched.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how far a transcript was searched.
    pub fn of(&self, path: &Path) -> Searched {
        self.0.get(&name_of(path)).copied().unwrap_or_default()
    }
}

/// Notes how far a transcript was searched.
pub fn set_searched(transaction: &Transaction<'_>, path: &Path, searched: Searched) -> Result<(), Error> {
    transaction.prepare_cached("INSERT OR REPLACE INTO scanned VALUES (?1, ?2, ?3)")?.execute(params![
        name_of(path),
        searched.resume,
        searched.size
    ])?;
    Ok(())
}

/// Returns the last row of `observations` that was searched.
pub fn last_row(connection: &Connection) -> Result<i64, Error> {
    let mut select =
        connection.prepare_cached("SELECT offset FROM transcripts WHERE name = '' AND reader = 'learn'")?;
    Ok(select.query_row([], |row| row.get(0)).optional()?.unwrap_or_default())
}

/// Notes the last row of `observations` that was searched.
pub fn set_last_row(transaction: &Transaction<'_>, row: i64) -> Result<(), Error> {
    transaction
        .prepare_cached("INSERT OR REPLACE INTO transcripts VALUES ('', 'learn', '', ?1)")?
        .execute([row])?;
    Ok(())
}
