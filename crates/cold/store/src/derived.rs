//! Tables that are made from observations: each can be dropped and made anew at any time.
//!
//! An owner of such tables implements [`Derived`] and is named in `journal::DERIVED`. Every drain with time derives from
//! the rows that came since, `wyren forget` has each take out what it made of forgotten rows, and a repair leaves the
//! tables out and makes them anew. An owner that fails stops none of these: its tables wait, or are dropped. The number of the prompt that an observation belongs to may change later
//! (`observations.prompt`), so derived tables look it up instead of copying it.

use crate::open::{Error, Store};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::error::Error as _;
use std::fmt::Debug;
use std::time::{Duration, Instant};

/// How many observations are derived from in one transaction: some 0.05 s of work, so that no other program waits long. A turn
/// across two of them is made twice, and each transaction writes the pages of its indexes anew.
const ROWS_AT_ONCE: i64 = 1_000;
/// The same in a hook, between two looks at the clock.
const HOOK_ROWS_AT_ONCE: i64 = 50;

/// Tables that are made from observations.
pub trait Derived: Debug + Sync {
    /// Its name in the table `derived`.
    fn name(&self) -> &'static str;
    /// When this differs from the version in the database, the tables are dropped and made anew.
    fn version(&self) -> u32;
    /// The names of its tables, virtual ones included; their shadow tables go with them.
    fn tables(&self) -> &'static [&'static str];
    /// The statements that make them.
    fn schema(&self) -> &'static str;
    /// Derives from the observations whose `row` is greater than `after` and at most `last`.
    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error>;
    /// Returns the statement that selects the rows of `projects` that its tables name, besides those of sessions.
    fn projects(&self) -> Option<&'static str> {
        None
    }
    /// Returns the rows of observations that cannot outlive these, since they quote them or are about what was made of them.
    fn along(&self, _connection: &Connection, _rows: &[i64]) -> Result<Vec<i64>, Error> {
        Ok(Vec::new())
    }
    /// Takes out everything that was made of these observations, text and all; their rows are still there.
    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error>;
}

/// How far deriving came.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// Why tables could not be derived.
    pub(crate) errors: Vec<String>,
    /// Whether nothing was left that could be derived from.
    pub(crate) is_complete: bool,
}

/// Derives from what came since the last time, for `most_time` at most. Tables that could not be derived are named: each can
/// be made anew at any time, so none keeps the others or a drain from going on. A damaged database is an error.
pub(crate) fn run(store: &mut Store, most_time: Duration) -> Result<Ran, Error> {
    let began = Instant::now();
    let mut errors = Vec::new();
    for derived in store.derived() {
        loop {
            match store.write(|transaction| step(transaction, *derived, ROWS_AT_ONCE)) {
                Ok(true) if began.elapsed() >= most_time => return Ok(Ran { errors, is_complete: false }),
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.is_corrupt() => return Err(error),
                Err(error) => {
                    errors.push(described(*derived, &error));
                    break;
                }
            }
        }
    }
    Ok(Ran { errors, is_complete: true })
}

/// Derives from everything there is, however long it takes: what is about to be looked up must be there.
pub(crate) fn catch_up(store: &mut Store) -> Result<(), Error> {
    run(store, Duration::MAX).map(drop)
}

/// Derives from what came since the last time as far as a hook may: tables that are missing or of another version are left
/// to a program with time, and so is the rest once `most_time` has passed. Returns at once when another program writes.
pub fn catch_up_in_hook(store: &mut Store, most_time: Duration) -> Result<(), Error> {
    let began = Instant::now();
    let caught_up = store.without_waiting(|store| {
        for derived in store.derived() {
            while began.elapsed() < most_time && is_behind(store, *derived)? {
                store.write(|transaction| step(transaction, *derived, HOOK_ROWS_AT_ONCE))?;
            }
        }
        Ok(())
    });
    match caught_up {
        Err(Error::Locked(_)) => Ok(()),
        caught_up => caught_up,
    }
}

/// Says whether tables of this version are there and lack what came since.
pub fn is_behind(store: &Store, derived: &dyn Derived) -> Result<bool, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT watermark < (SELECT max(row) FROM observations) FROM derived WHERE name = ?1 AND version = ?2",
    )?;
    let is_behind: Option<Option<bool>> =
        select.query_row(params![derived.name(), derived.version()], |row| row.get(0)).optional()?;
    Ok(is_behind.flatten().unwrap_or_default())
}

/// Makes the tables in a database without observations. SQLite writes its list of tables where the file ends at that moment: made
/// later, the list would be behind the observations, and of a file that was cut nothing could be read.
pub(crate) fn prepare(store: &mut Store) -> Result<(), Error> {
    let made: usize = store.connection().query_row("SELECT count(*) FROM derived", [], |row| row.get(0))?;
    if made >= store.derived().len() || store.ahead().is_some() {
        return Ok(());
    }
    let is_used = store.connection().prepare("SELECT 1 FROM observations")?.exists([])?;
    if is_used {
        return Ok(());
    }
    let derived = store.derived();
    store.write(|transaction| {
        derived.iter().try_for_each(|derived| watermark(transaction, *derived).map(drop))
    })
}

fn described(derived: &dyn Derived, error: &Error) -> String {
    let mut text = format!("{}: {error}", derived.name());
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

/// Derives from the next rows; returns whether there may be more.
fn step(transaction: &Transaction<'_>, derived: &dyn Derived, most_rows: i64) -> Result<bool, Error> {
    let after = watermark(transaction, derived)?;
    let last: Option<i64> = transaction
        .prepare_cached(
            "SELECT max(row) FROM (SELECT row FROM observations WHERE row > ?1 ORDER BY row LIMIT ?2)",
        )?
        .query_row([after, most_rows], |row| row.get(0))?;
    let Some(last) = last else { return Ok(false) };
    derived.derive(transaction, after, last)?;
    transaction
        .prepare_cached("UPDATE derived SET watermark = ?2 WHERE name = ?1")?
        .execute(params![derived.name(), last])?;
    Ok(true)
}

/// Returns the last row that was derived from; makes the tables where they are missing or of another version.
fn watermark(transaction: &Transaction<'_>, derived: &dyn Derived) -> Result<i64, Error> {
    let known: Option<(u32, i64)> = transaction
        .prepare_cached("SELECT version, watermark FROM derived WHERE name = ?1")?
        .query_row([derived.name()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        Some((version, watermark)) if version == derived.version() => Ok(watermark),
        _ => make(transaction, derived).map(|()| 0),
    }
}

/// Drops the tables, also those of another version, and makes them empty.
fn make(transaction: &Transaction<'_>, derived: &dyn Derived) -> Result<(), Error> {
    drop_tables(transaction, derived)?;
    transaction.execute_batch(derived.schema())?;
    transaction.execute(
        "INSERT OR REPLACE INTO derived VALUES (?1, ?2, ?3, 0)",
        params![derived.name(), derived.version(), serde_json::to_string(derived.tables())?],
    )?;
    Ok(())
}

/// Drops the tables, also those of another version; the next drain makes them.
fn drop_tables(transaction: &Transaction<'_>, derived: &dyn Derived) -> Result<(), Error> {
    let mut tables: Vec<String> = derived.tables().iter().map(ToString::to_string).collect();
    let earlier: Option<String> = transaction
        .query_row("SELECT tables FROM derived WHERE name = ?1", [derived.name()], |row| row.get(0))
        .optional()?;
    let earlier = earlier.and_then(|tables| serde_json::from_str::<Vec<String>>(&tables).ok());
    tables.extend(earlier.unwrap_or_default());
    for table in tables {
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS \"{}\"", table.replace('"', "\"\"")))?;
    }
    transaction.execute("DELETE FROM derived WHERE name = ?1", [derived.name()])?;
    Ok(())
}

/// Has every table made anew by the next drains: something changed that they are made of besides observations. No version is 0.
pub(crate) fn make_anew(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.execute("UPDATE derived SET watermark = 0, version = 0", [])?;
    Ok(())
}

/// Has every owner forget observations that are about to be deleted. The tables of one that fails to are dropped: what was
/// made of these observations must not outlive them.
pub(crate) fn forget(transaction: &Transaction<'_>, all: &[&dyn Derived], rows: &[i64]) -> Result<(), Error> {
    for derived in all {
        transaction.execute_batch("SAVEPOINT derived_forget")?;
        if forget_one(transaction, *derived, rows).is_ok() {
            transaction.execute_batch("RELEASE derived_forget")?;
        } else {
            transaction.execute_batch("ROLLBACK TO derived_forget; RELEASE derived_forget")?;
            drop_tables(transaction, *derived)?;
        }
    }
    Ok(())
}

/// Deletes the projects that neither a session nor a derived table names.
pub(crate) fn forget_projects(transaction: &Transaction<'_>, all: &[&dyn Derived]) -> Result<(), Error> {
    let mut named = "SELECT project FROM sessions".to_owned();
    for derived in all {
        let is_made = transaction
            .prepare_cached("SELECT 1 FROM derived WHERE name = ?1 AND version = ?2")?
            .exists(params![derived.name(), derived.version()])?;
        if let Some(projects) = derived.projects().filter(|_| is_made) {
            named.extend([" UNION ", projects]);
        }
    }
    transaction.execute(&format!("DELETE FROM projects WHERE row NOT IN ({named})"), [])?;
    Ok(())
}

fn forget_one(transaction: &Transaction<'_>, derived: &dyn Derived, rows: &[i64]) -> Result<(), Error> {
    // Tables of another version hold the same text under other names: they are made anew.
    let after = watermark(transaction, derived)?;
    if after > 0 { derived.forget(transaction, rows) } else { Ok(()) }
}

/// Puts watermarks back after observations were deleted: SQLite may give their rows to those that come next.
pub(crate) fn lower_watermarks(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.execute(
        "UPDATE derived SET watermark = min(watermark, coalesce((SELECT max(row) FROM observations), 0))",
        [],
    )?;
    transaction.execute(
        "UPDATE transcripts SET offset = min(offset, coalesce((SELECT max(row) FROM observations), 0)) WHERE name = ''",
        [],
    )?;
    Ok(())
}
