//! Questions about the journal.

use crate::entry::{Entry, File, Source, Summary};
use base::Timestamp;
use store::rusqlite::{Connection, OptionalExtension as _, Params, Row};
use store::{Error, Store};

/// The columns that [`entry`] reads.
const ENTRY: &str = "SELECT e.row, e.id, e.at, e.kind, e.title, e.detail, e.branch, e.tokens, e.source, e.is_noise, e.is_pinned,
    e.replaced_by, e.times FROM entries AS e";
/// The columns that [`summary`] reads.
const SUMMARY: &str =
    "SELECT s.id, s.at, s.request, s.investigated, s.learned, s.completed, s.next_steps, s.notes,
    s.files_read, s.files_edited, s.tokens, s.source FROM summaries AS s";

/// Returns the row of a project in the database, by its key.
pub fn project_row(store: &Store, key: &str) -> Result<Option<i64>, Error> {
    let mut select = store.connection().prepare_cached("SELECT row FROM projects WHERE key = ?1")?;
    Ok(select.query_row([key], |row| row.get(0)).optional()?)
}

/// Returns the entries that a condition on `e` and its parameters choose, with what follows it (`ORDER BY …`).
pub fn entries_where(store: &Store, condition: &str, values: impl Params) -> Result<Vec<Entry>, Error> {
    if !is_made(store, "journal")? {
        return Ok(Vec::new());
    }
    let mut select = store.connection().prepare_cached(&format!("{ENTRY} WHERE {condition}"))?;
    let rows = select.query_map(values, |row| Ok((row.get::<_, i64>(0)?, entry(row)?)))?;
    let rows: Vec<(i64, Entry)> = rows.collect::<Result<_, _>>()?;
    rows.into_iter()
        .map(|(row, entry)| Ok(Entry { files: files(store.connection(), row)?, ..entry }))
        .collect()
}

/// As [`entries_where`], for summaries and `s`.
pub fn summaries_where(store: &Store, condition: &str, values: impl Params) -> Result<Vec<Summary>, Error> {
    if !is_made(store, "journal")? {
        return Ok(Vec::new());
    }
    let mut select = store.connection().prepare_cached(&format!("{SUMMARY} WHERE {condition}"))?;
    let rows = select.query_map(values, summary)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns how many entries of a project are about this time or later; without noise, and of entries that replace each other the
/// last alone.
pub fn count_since(store: &Store, project: i64, since: Timestamp) -> Result<u64, Error> {
    if !is_made(store, "journal")? {
        return Ok(0);
    }
    let mut select = store.connection().prepare_cached(
        "SELECT COUNT(*) FROM entries WHERE project = ?1 AND at >= ?2 AND is_noise = 0 AND replaced_by IS NULL",
    )?;
    Ok(select.query_row((project, since.millis()), |row| row.get(0))?)
}

/// Returns the entries whose id begins with this.
pub fn entries_by_prefix(store: &Store, prefix: &str) -> Result<Vec<Entry>, Error> {
    let prefix: String =
        prefix.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    entries_where(store, "e.id GLOB ?1 || '*' ORDER BY e.id LIMIT 20", [prefix])
}

/// Returns whether the tables of an owner are there: a hook or an earlier program may open a database without them.
pub(crate) fn is_made(store: &Store, name: &str) -> Result<bool, Error> {
    let derived = crate::DERIVED.iter().find(|derived| derived.name() == name);
    let Some(derived) = derived else { return Ok(false) };
    let mut select =
        store.connection().prepare_cached("SELECT 1 FROM derived WHERE name = ?1 AND version = ?2")?;
    Ok(select.exists((name, derived.version()))?)
}

fn entry(row: &Row<'_>) -> store::rusqlite::Result<Entry> {
    let source: String = row.get(8)?;
    Ok(Entry {
        id: row.get(1)?,
        at: row.get(2)?,
        kind: row.get(3)?,
        title: row.get(4)?,
        detail: serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or("{}")).unwrap_or_default(),
        files: Vec::new(),
        branch: row.get(6)?,
        tokens: row.get(7)?,
        source: Source::named(&source),
        is_noise: row.get(9)?,
        is_pinned: row.get(10)?,
        replaced_by: row.get(11)?,
        times: row.get(12)?,
    })
}

fn files(connection: &Connection, entry: i64) -> Result<Vec<File>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT path, is_changed FROM entry_files WHERE entry = ?1 ORDER BY is_changed DESC, path",
    )?;
    let rows = select.query_map([entry], |row| Ok(File { path: row.get(0)?, is_changed: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn summary(row: &Row<'_>) -> store::rusqlite::Result<Summary> {
    let list = |column: usize| -> store::rusqlite::Result<Vec<String>> {
        Ok(serde_json::from_str(row.get_ref(column)?.as_str().unwrap_or("[]")).unwrap_or_default())
    };
    let source: String = row.get(11)?;
    Ok(Summary {
        id: row.get(0)?,
        at: row.get(1)?,
        request: row.get(2)?,
        investigated: row.get(3)?,
        learned: row.get(4)?,
        completed: row.get(5)?,
        next_steps: row.get(6)?,
        notes: row.get(7)?,
        files_read: list(8)?,
        files_edited: list(9)?,
        tokens: row.get(10)?,
        source: Source::named(&source),
    })
}
