//! What was asked and what was done: sessions, their prompts and their tool calls, by project.
//!
//! Events come from the spool ([`Drain`]), from a file that another machine exported ([`Import`]), or, after damage,
//! from the client's transcripts ([`crate::repair`]). All of them go through one writer, which stores an event once
//! however often and in whichever order it comes.

mod backlog;
mod drain;
mod exchange;
mod forget;
mod rows;
mod writer;

pub use backlog::{Backlog, backlog};
pub use drain::{Drain, Drained, Progress};
pub use exchange::{BadLine, Export, ExportError, Import, Imported};
pub use forget::{Forgotten, Sample, Selection};
pub(crate) use forget::{event_digest, id_digest};
pub(crate) use rows::refresh_sessions;
pub(crate) use writer::{Projects, Writer};

use crate::schema::Tables;
use base::lock::Lock;
use capture::Spool;
use std::io;
use std::time::Duration;

/// The tables of captured events.
pub const TABLES: Tables = Tables { owner: "capture", migrations: &[FIRST] };

/// `row` numbers a row in this database; `id` is what the client calls the thing. Times are milliseconds since 1970.
const FIRST: &str = "
CREATE TABLE projects (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    root TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects (row),
    cwd TEXT NOT NULL,
    title TEXT,
    started_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    prompts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_of_project ON sessions (project, last_at);

CREATE TABLE prompts (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (row),
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    cwd TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (session, id)
) STRICT;
CREATE INDEX prompts_in_order ON prompts (session, at, id);

CREATE TABLE tool_calls (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (row),
    id TEXT NOT NULL,
    prompt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    cwd TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_use_id TEXT,
    failed INTEGER NOT NULL,
    input TEXT,
    output TEXT,
    error TEXT,
    duration_ms REAL,
    agent TEXT,
    agent_type TEXT,
    UNIQUE (session, id)
) STRICT;
CREATE INDEX tool_calls_in_order ON tool_calls (session, at);

CREATE TABLE spool_files (
    name TEXT PRIMARY KEY,
    offset INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE unread_lines (
    digest TEXT PRIMARY KEY,
    version INTEGER,
    line BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

/// The longest title of a session.
const MAX_TITLE_CHARS: usize = 100;

/// Returns the title of a session that begins with this prompt.
fn title(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    text::sanitize::one_line(line, MAX_TITLE_CHARS)
}

/// Takes the lock of all who change captured events: the drain, import, forget, repair. `None` when someone else keeps it.
pub(crate) fn lock(spool: &Spool, patience: Duration) -> io::Result<Option<Lock>> {
    Lock::exclusive(&spool.folder().join(".drain.lock"), patience)
}
