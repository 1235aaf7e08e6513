//! Reading claude-mem's database without a change to it: whatever tables and columns there are.

use super::row::{Kind, Row, platform, time};
use crate::open::Error;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SESSIONS: &str = "sdk_sessions";
const PROMPTS: &str = "user_prompts";
/// The platform of rows whose session is gone.
const ORPHANS: &str = "claude-mem";

/// Rows of claude-mem's tables, each by the names of its columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    pub sessions: &'a [Map<String, Value>],
    pub prompts: &'a [Map<String, Value>],
    pub observations: &'a [Map<String, Value>],
    pub summaries: &'a [Map<String, Value>],
}

/// The database.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    connection: Connection,
    session_columns: BTreeSet<String>,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if !path.is_file() {
            return Err(Error::io(path)(std::io::ErrorKind::NotFound.into()));
        }
        let connection = connect(path)?;
        let columns = columns(&connection, SESSIONS).map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Error::WrongKind { path: path.to_owned(), problem: "is no database, or a damaged one" }
            }
            _ => error.into(),
        })?;
        let source = Self { path: path.to_owned(), connection, session_columns: columns };
        if !source.is_claude_mems()? {
            return Err(Error::WrongKind { path: source.path, problem: "has no table of claude-mem's" });
        }
        Ok(source)
    }

    /// Takes rows that a program sent, as claude-mem exports them. They are in memory alone: what is private or secret in them
    /// reaches no disk.
    pub(super) fn of_rows(rows: &Rows<'_>) -> Result<Self, Error> {
        let connection = Connection::open_in_memory()?;
        let sessions: Vec<&str> = SESSION_COLUMNS.to_vec();
        let prompts: Vec<&str> = Kind::Prompt.columns().to_vec();
        for (table, columns, rows) in [
            (SESSIONS, sessions, rows.sessions),
            (PROMPTS, prompts, rows.prompts),
            (Kind::Entry.table(), Kind::Entry.columns().to_vec(), rows.observations),
            (Kind::Summary.table(), Kind::Summary.columns().to_vec(), rows.summaries),
        ] {
            fill(&connection, table, &columns, rows)?;
        }
        let session_columns = columns(&connection, SESSIONS)?;
        Ok(Self { path: PathBuf::new(), connection, session_columns })
    }

    /// Other systems have tables of observations, too.
    fn is_claude_mems(&self) -> Result<bool, Error> {
        let observations = columns(&self.connection, Kind::Entry.table())?;
        let is_its =
            ["memory_session_id", "sdk_session_id"].iter().any(|column| observations.contains(*column));
        Ok(is_its || !self.session_columns.is_empty())
    }

    fn has_table(&self, table: &str) -> bool {
        columns(&self.connection, table).is_ok_and(|columns| !columns.is_empty())
    }

    /// Returns the last step of its schema that it notes.
    pub(super) fn schema(&self) -> Option<u32> {
        self.connection
            .query_row("SELECT max(version) FROM schema_versions", [], |row| row.get(0))
            .ok()
            .flatten()
    }

    pub(super) fn count(&self) -> Result<u64, Error> {
        let mut all = 0;
        for kind in Kind::ALL.into_iter().filter(|kind| self.is_read(*kind)) {
            let sql = format!("SELECT count(*) FROM {}", kind.table());
            all += self.connection.query_row(&sql, [], |row| row.get::<_, u64>(0))?;
        }
        Ok(all)
    }

    /// First prompts are read from where no table has them: beside it they may be raw and private.
    fn is_read(&self, kind: Kind) -> bool {
        let is_there = self.has_table(kind.table());
        match kind {
            Kind::FirstPrompt => {
                is_there && !self.has_table(PROMPTS) && self.session_columns.contains("user_prompt")
            }
            _ => is_there,
        }
    }

    /// Hands on all rows of a kind, some at a time.
    pub(super) fn for_each(
        &self,
        kind: Kind,
        at_once: usize,
        mut take: impl FnMut(&[Row]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.is_read(kind) {
            return Ok(());
        }
        let sql = self.statement(kind)?;
        let mut select = self.connection.prepare(&sql)?;
        let names: Vec<String> = select.column_names().map(str::to_owned).collect();
        let mut after = i64::MIN;
        loop {
            let mut rows = select.query(params![after, at_once])?;
            let mut batch = Vec::with_capacity(at_once);
            while let Some(row) = rows.next()? {
                let mut values = Map::new();
                for (place, name) in names.iter().enumerate() {
                    if let Some(value) = value(row.get_ref(place)?) {
                        values.insert(name.clone(), value);
                    }
                }
                batch.push(read(kind, values));
            }
            let Some(last) = batch.last() else { return Ok(()) };
            after = last.number;
            take(&batch)?;
        }
    }

    /// Returns the statement that selects rows with their sessions, by the columns that there are.
    fn statement(&self, kind: Kind) -> Result<String, Error> {
        let own = columns(&self.connection, kind.table())?;
        let has_sessions = !self.session_columns.is_empty();
        let of_session = |column: &str| match has_sessions && self.session_columns.contains(column) {
            true => format!("s.{column} AS \"session.{column}\""),
            false => format!("NULL AS \"session.{column}\""),
        };
        let mut wanted: Vec<String> = own
            .iter()
            .filter(|column| kind.columns().contains(&column.as_str()))
            .map(|column| format!("r.{column}"))
            .collect();
        wanted.push("r.rowid AS \"row.number\"".to_owned());
        wanted.extend(SESSION_COLUMNS.map(of_session));
        let join = match (has_sessions, kind) {
            (false, _) => String::new(),
            (true, Kind::FirstPrompt) => format!(" JOIN {SESSIONS} AS s ON s.rowid = r.rowid"),
            (true, _) => {
                // By number where there is one: ids of the client are unique per platform alone.
                let key = [
                    "session_db_id",
                    "memory_session_id",
                    "sdk_session_id",
                    "content_session_id",
                    "claude_session_id",
                ];
                let joined = key.into_iter().find(|column| {
                    own.contains(*column)
                        && (*column == "session_db_id" || self.session_columns.contains(*column))
                });
                let on = match joined {
                    Some("session_db_id") => "s.id = r.session_db_id".to_owned(),
                    Some(column) => format!("s.{column} = r.{column}"),
                    None => "0".to_owned(),
                };
                // One session at most for each row.
                format!(
                    " LEFT JOIN {SESSIONS} AS s ON s.rowid = (SELECT s.rowid FROM {SESSIONS} AS s WHERE {on} LIMIT 1)"
                )
            }
        };
        Ok(format!(
            "SELECT {} FROM {} AS r{join} WHERE r.rowid > ?1 ORDER BY r.rowid LIMIT ?2",
            wanted.join(", "),
            kind.table()
        ))
    }
}

/// The columns of a session that say more about its rows. The first two had other names in early versions.
const SESSION_COLUMNS: [&str; 9] = [
    "content_session_id",
    "memory_session_id",
    "claude_session_id",
    "sdk_session_id",
    "platform_source",
    "project",
    "custom_title",
    "started_at_epoch",
    "started_at",
];

impl Kind {
    fn table(self) -> &'static str {
        match self {
            Self::Prompt => PROMPTS,
            Self::FirstPrompt => SESSIONS,
            Self::Entry => "observations",
            Self::Summary => "session_summaries",
        }
    }

    /// Returns the columns that are read; what serves claude-mem's own syncing stays.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Prompt => &[
                "prompt_text",
                "prompt_number",
                "content_session_id",
                "claude_session_id",
                "created_at",
                "created_at_epoch",
            ],
            Self::FirstPrompt => &["user_prompt", "started_at", "started_at_epoch", "project"],
            Self::Entry => &[
                "memory_session_id",
                "sdk_session_id",
                "project",
                "text",
                "type",
                "title",
                "subtitle",
                "facts",
                "narrative",
                "concepts",
                "files_read",
                "files_modified",
                "prompt_number",
                "discovery_tokens",
                "created_at",
                "created_at_epoch",
                "content_hash",
                "generated_by_model",
                "relevance_count",
                "merged_into_project",
                "agent_type",
                "agent_id",
                "metadata",
            ],
            Self::Summary => &[
                "memory_session_id",
                "sdk_session_id",
                "project",
                "request",
                "investigated",
                "learned",
                "completed",
                "next_steps",
                "files_read",
                "files_edited",
                "notes",
                "prompt_number",
                "discovery_tokens",
                "created_at",
                "created_at_epoch",
                "merged_into_project",
            ],
        }
    }
}

fn read(kind: Kind, mut values: Map<String, Value>) -> Row {
    let session = |name: &str| values.get(&format!("session.{name}"));
    fn text(value: Option<&Value>) -> Option<&str> {
        value.and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }
    let own = |name: &str| text(values.get(name));
    let known = text(session("content_session_id")).or_else(|| text(session("claude_session_id")));
    let named = known.or_else(|| own("content_session_id")).or_else(|| own("claude_session_id"));
    let made_up = own("memory_session_id").or_else(|| own("sdk_session_id"));
    let platform = match (text(session("platform_source")), named) {
        (Some(name), _) => platform(name),
        (None, Some(_)) => platform(""),
        (None, None) => ORPHANS.to_owned(),
    };
    let started_at = time(session("started_at_epoch"), session("started_at"));
    let at = match kind {
        Kind::FirstPrompt => started_at,
        _ => time(values.get("created_at_epoch"), values.get("created_at")).or(started_at),
    };
    let row = Row {
        kind,
        number: values.get("row.number").and_then(Value::as_i64).unwrap_or_default(),
        at,
        platform,
        session: named.or(made_up).unwrap_or(ORPHANS).to_owned(),
        session_title: text(session("custom_title")).map(str::to_owned),
        session_started_at: started_at,
        session_project: text(session("project")).unwrap_or_default().to_owned(),
        values: Map::new(),
    };
    for name in ["prompt_text", "user_prompt"] {
        if let Some(text) = values.remove(name) {
            values.insert("text".to_owned(), text);
        }
    }
    Row { values, ..row }
}

fn value(cell: ValueRef<'_>) -> Option<Value> {
    match cell {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned().into()),
    }
}

/// Makes a table of rows. A row without a number gets one of its contents, so that it is the same when it comes again.
fn fill(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    rows: &[Map<String, Value>],
) -> Result<(), Error> {
    connection
        .execute_batch(&format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, {})", columns.join(", ")))?;
    let marks = vec!["?"; columns.len() + 1].join(", ");
    let mut insert = connection.prepare(&format!("INSERT OR IGNORE INTO {table} VALUES ({marks})"))?;
    for row in rows {
        let given = row.get("id").and_then(Value::as_i64).filter(|number| *number > 0);
        let number = given.unwrap_or_else(|| {
            let text = serde_json::to_string(row).unwrap_or_default();
            let hex = base::digest::sha256_hex(text.as_bytes());
            // Beyond any number that claude-mem counts up to.
            (1 << 40) + i64::from_str_radix(&hex[..12], 16).unwrap_or_default()
        });
        let cells = columns.iter().map(|column| cell(row.get(*column)));
        let cells: Vec<Sql> = std::iter::once(Sql::Integer(number)).chain(cells).collect();
        insert.execute(rusqlite::params_from_iter(cells))?;
    }
    Ok(())
}

fn cell(value: Option<&Value>) -> Sql {
    match value {
        None | Some(Value::Null) => Sql::Null,
        Some(Value::String(text)) => Sql::Text(text.clone()),
        Some(Value::Number(number)) => match number.as_i64() {
            Some(number) => Sql::Integer(number),
            None => Sql::Real(number.as_f64().unwrap_or_default()),
        },
        Some(Value::Bool(is_true)) => Sql::Integer((*is_true).into()),
        // Lists are texts of JSON in claude-mem's tables.
        Some(value) => Sql::Text(value.to_string()),
    }
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut select = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = select.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// Opens the database so that neither it nor its log changes. Without a log there is nothing to be merged: SQLite then
/// takes the file for one that does not change, and leaves no log beside it either.
fn connect(path: &Path) -> Result<Connection, Error> {
    let log = {
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        PathBuf::from(name)
    };
    let has_log = log.metadata().is_ok_and(|log| log.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if has_log {
        Connection::open_with_flags(path, flags)?
    } else {
        Connection::open_with_flags(address(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Returns the address of a file that does not change.
fn address(path: &Path) -> String {
    let mut address = "file:".to_owned();
    // A drive needs a slash before it.
    if !path.has_root() || cfg!(windows) {
        address.push_str(if path.is_absolute() { "///" } else { "" });
    }
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' | b'~' => address.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => address.push(byte.into()),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}
