//! What the database knows about the index: which changes wait, how far making it anew came, and which files it has documents of.
//!
//! After each piece of work the database and the index have the same mark. The index also has the one before, so that a process
//! killed between the two writes leaves an index that is known: the piece is done again. With any other mark the index was made
//! of another database, or of an earlier copy of this one, and is made anew.

use super::letter;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use store::rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use store::{Error, Store};

/// What documents are made of, and how. Another number has the index made anew.
const FORMAT: &str = "2";

/// What an index which is being made anew goes through, in this order, and the columns that say how far it came.
pub(super) const PASSES: [(char, &str); 3] =
    [(letter::ENTRY, "entries_from"), (letter::SUMMARY, "summaries_from"), (letter::PROMPT, "prompts_from")];

/// What the database says about the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) mark: String,
    /// By pass, the first row that was not seen; `None` once all were.
    pub(super) from: [Option<i64>; PASSES.len()],
    /// Whether words of what was deleted for good may be in the index's files.
    pub(super) must_purge: bool,
    /// Whether changes wait.
    pub(super) is_waiting: bool,
    /// Whether everything that was recorded is derived from.
    pub(super) is_derived: bool,
}

impl State {
    /// Returns whether an index with this mark is in step with the database, but for what waits.
    pub(super) fn agrees_with(&self, mark: &str) -> bool {
        let parts: Vec<&str> = mark.split(' ').collect();
        matches!(&*parts, [FORMAT, before, now] if *now == self.mark || *before == self.mark)
    }

    /// Returns the mark of an index after the next piece of work, and the database's own.
    pub(super) fn next_mark(&self) -> (String, String) {
        let next = unique();
        (format!("{FORMAT} {} {next}", self.mark), next)
    }

    /// Returns whether the index lacks nothing of the database.
    pub(super) fn is_settled(&self) -> bool {
        !self.is_waiting && !self.must_purge && self.from.iter().all(Option::is_none)
    }
}

/// Returns a word that no other process makes.
pub(super) fn unique() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Returns the state; `None` where the journal's tables are not made, or of another version.
pub(super) fn state(store: &Store) -> Result<Option<State>, Error> {
    let sql = "SELECT mark, entries_from, summaries_from, prompts_from, must_purge,
            EXISTS (SELECT 1 FROM search_changes),
            (SELECT watermark >= coalesce((SELECT max(row) FROM observations), 0) FROM derived
                WHERE name = 'journal' AND version = ?1)
        FROM search_state";
    // A database of another version may have no such table.
    let mut select = match store.connection().prepare_cached(sql) {
        Ok(select) => select,
        Err(_) if !journal::is_made(store)? => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let state = select.query_row([journal::VERSION], |row| {
        let is_derived: Option<bool> = row.get(6)?;
        let state = State {
            mark: row.get(0)?,
            from: [row.get(1)?, row.get(2)?, row.get(3)?],
            must_purge: row.get(4)?,
            is_waiting: row.get(5)?,
            is_derived: is_derived.unwrap_or_default(),
        };
        Ok(is_derived.map(|_| state))
    });
    Ok(state.optional()?.flatten())
}

/// Returns the keys of the first changes that wait, each once, and the number of the last of them.
pub(super) fn waiting(connection: &Connection, most: usize) -> Result<(Vec<String>, i64), Error> {
    let mut select =
        connection.prepare_cached("SELECT number, key FROM search_changes ORDER BY number LIMIT ?1")?;
    let mut rows = select.query([i64::try_from(most).unwrap_or(i64::MAX)])?;
    let (mut keys, mut last) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        keys.push(row.get(1)?);
    }
    keys.sort_unstable();
    keys.dedup();
    Ok((keys, last))
}

/// Notes that the changes up to this number are in the index.
pub(super) fn took(transaction: &Transaction<'_>, last: i64) -> Result<(), Error> {
    transaction.prepare_cached("DELETE FROM search_changes WHERE number <= ?1")?.execute([last])?;
    Ok(())
}

pub(super) fn set_mark(transaction: &Transaction<'_>, mark: &str) -> Result<(), Error> {
    transaction.prepare_cached("UPDATE search_state SET mark = ?1")?.execute([mark])?;
    Ok(())
}

/// Notes how far a pass came.
pub(super) fn set_from(transaction: &Transaction<'_>, pass: usize, from: Option<i64>) -> Result<(), Error> {
    let (_, column) = PASSES[pass];
    transaction.prepare_cached(&format!("UPDATE search_state SET {column} = ?1"))?.execute([from])?;
    Ok(())
}

/// Has the index made anew: of every row and every file. What waits is among the rows.
pub(super) fn begin_anew(transaction: &Transaction<'_>, mark: &str) -> Result<(), Error> {
    // First the files: a trigger notes their documents as changes.
    transaction.execute("DELETE FROM search_files", [])?;
    transaction.execute("DELETE FROM search_changes", [])?;
    transaction.execute(
        "UPDATE search_state SET mark = ?1, entries_from = 0, summaries_from = 0, prompts_from = 0, must_purge = 0",
        [mark],
    )?;
    Ok(())
}

/// Notes that the index's files have nothing of what was deleted, unless more was since.
pub(super) fn purged(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.execute(
        "UPDATE search_state SET must_purge = 0 WHERE NOT EXISTS (SELECT 1 FROM search_changes)",
        [],
    )?;
    Ok(())
}

/// A source of documents in files, as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRow {
    pub(super) source: String,
    /// The key of the project; empty for what belongs to every project.
    pub(super) project: String,
    /// The top of the project's work tree; empty for what belongs to every project.
    pub(super) root: String,
    pub(super) fingerprint: String,
}

const FILES: &str = "SELECT source, project, path, fingerprint FROM search_files";

/// Returns every source that the index has documents of.
pub(super) fn files(connection: &Connection) -> Result<Vec<FileRow>, Error> {
    queried(connection, &format!("{FILES} ORDER BY source, project"), [])
}

/// Returns the sources of these documents.
pub(super) fn files_of(connection: &Connection, keys: &[&String]) -> Result<Vec<FileRow>, Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "{FILES} WHERE row IN (SELECT file FROM search_file_documents WHERE key IN (SELECT value FROM json_each(?1)))"
    );
    queried(connection, &sql, [serde_json::to_string(keys)?])
}

/// Returns the keys of every project that has documents, in the database or in files.
pub(super) fn projects(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut select = connection.prepare(
        "SELECT key FROM projects UNION SELECT project FROM search_files WHERE project <> '' ORDER BY 1",
    )?;
    let keys = select.query_map([], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

fn queried(
    connection: &Connection,
    sql: &str,
    values: impl store::rusqlite::Params,
) -> Result<Vec<FileRow>, Error> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map(values, |row| {
        Ok(FileRow { source: row.get(0)?, project: row.get(1)?, root: row.get(2)?, fingerprint: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Ids have digits and small letters, which are all before this.
const BEHIND: char = '~';

/// Returns the keys of documents in the database whose id begins with this.
pub(super) fn recorded_keys(connection: &Connection, prefix: &str) -> Result<Vec<String>, Error> {
    let tables = [(letter::ENTRY, "entries"), (letter::SUMMARY, "summaries"), (letter::PROMPT, "prompt_ids")];
    let mut keys = Vec::new();
    for (sort, table) in tables {
        let sql = format!("SELECT id FROM {table} WHERE id >= ?1 AND id < ?2 LIMIT 20");
        let mut select = connection.prepare_cached(&sql)?;
        for id in select.query_map([prefix, &format!("{prefix}{BEHIND}")], |row| row.get::<_, String>(0))? {
            keys.push(format!("{sort}:{}", id?));
        }
    }
    Ok(keys)
}

/// Returns the keys of documents in files whose id begins with this.
pub(super) fn file_keys(connection: &Connection, prefix: &str) -> Result<Vec<String>, Error> {
    let mut keys = Vec::new();
    let mut select = connection
        .prepare_cached("SELECT key FROM search_file_documents WHERE key >= ?1 AND key < ?2 LIMIT 20")?;
    for sort in letter::OF_FILES {
        let first = format!("{sort}:{prefix}");
        for key in select.query_map([&first, &format!("{first}{BEHIND}")], |row| row.get(0))? {
            keys.push(key?);
        }
    }
    Ok(keys)
}

/// Returns which of these keys are of documents in files that the index is to have.
pub(super) fn kept_in_files(connection: &Connection, keys: &[String]) -> Result<Vec<String>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT key FROM search_file_documents WHERE key IN (SELECT value FROM json_each(?1))",
    )?;
    let keys = select.query_map([serde_json::to_string(keys)?], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Notes the documents that a source is about to have in the index. Those that it had and has no more become changes. Its
/// fingerprint stays empty until [`read`].
pub(super) fn begin_file(
    transaction: &Transaction<'_>,
    file: &FileRow,
    keys: &[String],
) -> Result<(), Error> {
    let row: i64 = transaction
        .prepare_cached(
            "INSERT INTO search_files (source, project, path, fingerprint) VALUES (?1, ?2, ?3, '')
             ON CONFLICT DO UPDATE SET path = ?3, fingerprint = '' RETURNING row",
        )?
        .query_row(params![file.source, file.project, file.root], |row| row.get(0))?;
    let json = serde_json::to_string(keys)?;
    transaction
        .prepare_cached(
            "DELETE FROM search_file_documents WHERE file = ?1 AND key NOT IN (SELECT value FROM json_each(?2))",
        )?
        .execute(params![row, json])?;
    transaction
        .prepare_cached(
            "INSERT INTO search_file_documents SELECT value, ?1 FROM json_each(?2) WHERE true
             ON CONFLICT DO UPDATE SET file = ?1",
        )?
        .execute(params![row, json])?;
    Ok(())
}

/// Notes that the documents of a source are in the index.
pub(super) fn read_file(transaction: &Transaction<'_>, file: &FileRow) -> Result<(), Error> {
    transaction
        .prepare_cached("UPDATE search_files SET fingerprint = ?3 WHERE source = ?1 AND project = ?2")?
        .execute(params![file.source, file.project, file.fingerprint])?;
    Ok(())
}

/// Takes out a source that is no more; its documents become changes.
pub(super) fn drop_file(transaction: &Transaction<'_>, file: &FileRow) -> Result<(), Error> {
    transaction
        .prepare_cached("DELETE FROM search_files WHERE source = ?1 AND project = ?2")?
        .execute(params![file.source, file.project])?;
    Ok(())
}
