//! Sessions and their observations, by project.
//!
//! Observations come from the spool ([`Drain`]), from a file that another machine exported ([`Import`]), or, after
//! damage, from the client's transcripts ([`crate::repair`]). All of them go through one writer, which stores an
//! observation once however often and in whichever order it comes.

mod backlog;
mod drain;
mod exchange;
mod forget;
mod look;
mod needle;
pub mod retain;
mod rows;
mod told;
mod values;
mod writer;

pub use backlog::{Backlog, backlog, is_anything_waiting};
pub use drain::{Drain, Drained, Progress};
pub use exchange::{BadLine, Export, ExportError, Exported, Import, Imported};
pub use forget::{Forgotten, Sample, Selection, was_forgotten};
pub(crate) use forget::{id_digest, observation_digest, take_out};
pub use look::{Spoke, project_rows, projects, sessions_since, spoken_since};
pub(crate) use rows::refresh_sessions;
pub use told::{ToldText, last_told_session, told};
pub use values::joined;
pub use writer::Projects;
pub(crate) use writer::{Origin, Writer};

use crate::schema::Tables;
use base::lock::Lock;
use capture::Spool;
use std::io;
use std::time::Duration;

/// The tables of observations.
pub const TABLES: Tables = Tables { owner: "capture", migrations: &[FIRST, SECOND, THIRD] };

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

/// One table for every kind. Values longer than [`values::INLINE_BYTES`] are in `payloads`: SQLite reads all of a long row
/// to find the end of it. A view each shows prompts and tool calls as they were, for programs of the first version, too.
/// They are empty where SQLite cannot read the data: its JSON has at most 1000 levels.
const SECOND: &str = "
DROP INDEX sessions_of_project;
DROP INDEX prompts_in_order;
ALTER TABLE sessions RENAME TO first_sessions;
ALTER TABLE prompts RENAME TO first_prompts;
ALTER TABLE tool_calls RENAME TO first_tool_calls;

CREATE TABLE sessions (
    row INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,
    id TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES projects (row),
    cwd TEXT NOT NULL,
    title TEXT,
    started_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    prompts INTEGER NOT NULL DEFAULT 0,
    author TEXT,
    branch TEXT,
    model TEXT,
    ended_at INTEGER,
    end_reason TEXT,
    UNIQUE (platform, id)
) STRICT;
CREATE INDEX sessions_of_project ON sessions (project, last_at);

CREATE TABLE observations (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (row),
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    prompt_id TEXT,
    cwd TEXT NOT NULL,
    agent TEXT,
    agent_type TEXT,
    tool TEXT,
    failed INTEGER NOT NULL DEFAULT 0,
    data TEXT,
    UNIQUE (session, kind, id)
) STRICT;
CREATE INDEX observations_in_order ON observations (session, at);
CREATE INDEX prompts_in_order ON observations (session, at, id) WHERE kind = 'prompt';

CREATE TABLE payloads (
    observation INTEGER PRIMARY KEY REFERENCES observations (row) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE derived (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    tables TEXT NOT NULL,
    watermark INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO sessions (row, platform, id, project, cwd, title, started_at, last_at, prompts)
    SELECT row, 'claude-code', id, project, cwd, title, started_at, last_at, prompts FROM first_sessions;

INSERT INTO observations (session, kind, id, at, prompt, prompt_id, cwd, agent, agent_type, tool, failed, data)
    SELECT session, 'prompt', id, at, number, iif(id LIKE 'p:%', substr(id, 3), NULL), cwd, NULL, NULL, NULL, 0,
        iif(length(text) <= 1024, json_object('text', text), NULL)
    FROM first_prompts
    UNION ALL
    SELECT session, 'tool', id, at, prompt, NULL, cwd, agent, agent_type, tool, failed,
        rtrim(json_patch('{}', json_object('tool', tool, 'tool_use_id', tool_use_id, 'duration_ms', duration_ms,
            'error', iif(length(error) <= 1024, error, NULL))), '}')
        || iif(length(input) <= 1024, ',\"input\":' || input, '')
        || iif(length(output) <= 1024, ',\"output\":' || output, '') || '}'
    FROM first_tool_calls
    ORDER BY 4;

INSERT INTO payloads
    SELECT new.row, json_object('text', old.text)
    FROM first_prompts AS old
    JOIN observations AS new ON new.session = old.session AND new.kind = 'prompt' AND new.id = old.id
    WHERE length(old.text) > 1024;
INSERT INTO payloads
    SELECT new.row, '{' || substr(iif(length(old.input) > 1024, ',\"input\":' || old.input, '')
        || iif(length(old.output) > 1024, ',\"output\":' || old.output, '')
        || iif(length(old.error) > 1024, ',\"error\":' || json_quote(old.error), ''), 2) || '}'
    FROM first_tool_calls AS old
    JOIN observations AS new ON new.session = old.session AND new.kind = 'tool' AND new.id = old.id
    WHERE length(old.input) > 1024 OR length(old.output) > 1024 OR length(old.error) > 1024;

DROP TABLE first_tool_calls;
DROP TABLE first_prompts;
DROP TABLE first_sessions;

CREATE VIEW prompts AS
    SELECT row, session, id, prompt AS number, at, cwd, coalesce(short ->> '$.text', long ->> '$.text', '') AS text
    FROM (SELECT o.*, CASE WHEN json_valid(o.data) THEN o.data END AS short,
              CASE WHEN json_valid(p.data) THEN p.data END AS long
          FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row)
    WHERE kind = 'prompt';
CREATE VIEW tool_calls AS
    SELECT row, session, id, prompt, at, cwd, coalesce(tool, '') AS tool, short ->> '$.tool_use_id' AS tool_use_id, failed,
        coalesce(short -> '$.input', long -> '$.input') AS input,
        coalesce(short -> '$.output', long -> '$.output') AS output,
        coalesce(short ->> '$.error', long ->> '$.error') AS error,
        short ->> '$.duration_ms' AS duration_ms, agent, agent_type
    FROM (SELECT o.*, CASE WHEN json_valid(o.data) THEN o.data END AS short,
              CASE WHEN json_valid(p.data) THEN p.data END AS long
          FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row)
    WHERE kind = 'tool';
";

/// How far each transcript of the client's was read, by whom and by which rules. `name` is a digest of its path. The row without a
/// name says up to which row of `observations` the ends of turns were followed ([`crate::transcripts`]).
const THIRD: &str = "
CREATE TABLE transcripts (
    name TEXT NOT NULL,
    reader TEXT NOT NULL,
    rules TEXT NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (name, reader)
) STRICT, WITHOUT ROWID;
";

/// The longest title of a session.
const MAX_TITLE_CHARS: usize = 100;

/// Returns the title of a session that begins with this prompt.
fn title(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    text::sanitize::one_line(line, MAX_TITLE_CHARS)
}

/// Takes the lock that the drain, import, forget and repair share; `None` when another process keeps it.
pub(crate) fn lock(spool: &Spool, patience: Duration) -> io::Result<Option<Lock>> {
    Lock::exclusive(&spool.folder().join(".drain.lock"), patience)
}
