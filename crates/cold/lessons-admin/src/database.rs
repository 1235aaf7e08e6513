//! Reading the database of lessons-learned, of any of its ages: whatever columns there are.

use super::{Error, Result};
use base::{Paths, files};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// What every SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Columns that hold JSON.
const JSON_COLUMNS: [&str; 9] = [
    "toolNames",
    "commandPatterns",
    "pathPatterns",
    "modelPatterns",
    "tags",
    "sourceSessionIds",
    "duplicatedBy",
    "requires",
    "triggers",
];
/// The only column that is not kept: numbers that nothing can read any more.
const DEAD_COLUMN: &str = "embedding";

/// What was read.
pub(super) struct Rows {
    /// The lessons, each with all of its columns.
    pub(super) lessons: Vec<Map<String, Value>>,
    /// The other tables that hold something, which is left where it is.
    pub(super) other_tables: Vec<(String, u64)>,
}

/// Says whether a file is a database.
pub(super) fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a database without touching it.
pub(super) fn read(file: &Path, paths: &Paths) -> Result<Rows> {
    let copy = Copy::of(file, paths)?;
    let unreadable =
        |error: rusqlite::Error| Error::Unreadable { path: file.to_owned(), reason: error.to_string() };
    read_copy(&copy.file).map_err(unreadable)
}

fn read_copy(file: &Path) -> rusqlite::Result<Rows> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    let mut statement = connection.prepare("SELECT * FROM lessons ORDER BY rowid")?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let lessons = statement
        .query_map([], |row| {
            let cell = |(place, name): (usize, &String)| Ok((name.clone(), value(name, row.get_ref(place)?)));
            columns.iter().enumerate().filter(|(_, name)| *name != DEAD_COLUMN).map(cell).collect()
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut other_tables = Vec::new();
    for table in ["review_sessions", "pending_semantic_windows"] {
        let count = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        // An older database lacks the table.
        other_tables.extend(count.ok().filter(|count| *count > 0).map(|count| (table.to_owned(), count)));
    }
    Ok(Rows { lessons, other_tables })
}

fn value(column: &str, cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text).into_owned();
            let json = JSON_COLUMNS.contains(&column).then(|| serde_json::from_str(&text).ok()).flatten();
            json.unwrap_or(Value::String(text))
        }
    }
}

/// A copy of a database: opening one may change it, and what its log holds must be read as well.
struct Copy {
    folder: PathBuf,
    file: PathBuf,
}

impl Copy {
    fn of(original: &Path, paths: &Paths) -> Result<Self> {
        let folder = paths.cache().join(format!("import-{}", std::process::id()));
        files::create_private_folder(&folder).map_err(Error::io(&folder))?;
        let copy = Self { file: folder.join("lessons.db"), folder };
        fs::copy(original, &copy.file).map_err(Error::io(original))?;
        let log = with_ending(original, "-wal");
        if log.is_file() {
            fs::copy(&log, with_ending(&copy.file, "-wal")).map_err(Error::io(&log))?;
        }
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
