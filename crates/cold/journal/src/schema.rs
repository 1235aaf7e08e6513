//! The tables of the journal.

/// A change of the tables, or of what is made of a turn, needs another number: everything is then made anew.
pub(crate) const VERSION: u32 = 2;

pub(crate) const TABLES: &[&str] =
    &["entry_keys", "entry_files", "entries", "summaries", "turns", "amends", "changes"];

/// `session`, `project` and `turn` are rows of `sessions`, `projects` and of the prompt in `observations` (0 before the first
/// prompt). Paths are relative to the project's root, with `/`; absolute outside of it. Times are milliseconds since 1970.
///
/// An entry that a later one replaces has that one's id in `replaced_by`; `is_repeated` says that the later one tells the same,
/// and `times` how often an entry repeats. `entry_keys` is how such entries find each other (`link`).
///
/// `turns` says which rows of `observations` a turn begins and ends with, so that it is found without a look at the whole
/// session; its `number` is the number of the prompt.
///
/// `changes` has a number for each project that is another one whenever its entries change, also after they were made anew:
/// what was made from them says by it whether it is current.
pub(crate) const SCHEMA: &str = "
CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    project INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    detail TEXT NOT NULL,
    branch TEXT,
    tokens INTEGER NOT NULL,
    source TEXT NOT NULL,
    is_noise INTEGER NOT NULL DEFAULT 0,
    is_pinned INTEGER NOT NULL DEFAULT 0,
    replaced_by TEXT,
    is_repeated INTEGER NOT NULL DEFAULT 0,
    times INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX entries_of_project ON entries (project, at);
CREATE INDEX entries_of_turn ON entries (session, turn);
CREATE INDEX entries_of_anchor ON entries (anchor);
CREATE INDEX entries_pinned ON entries (project, at) WHERE is_pinned = 1;
CREATE INDEX entries_by_hand ON entries (project, at) WHERE source = 'by-hand';
CREATE INDEX entries_of_branch ON entries (project, branch, at) WHERE branch NOT IN ('main', 'master');

CREATE TABLE entry_files (
    path TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries (row) ON DELETE CASCADE,
    is_changed INTEGER NOT NULL,
    PRIMARY KEY (path, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_of_entry ON entry_files (entry, is_changed);

CREATE INDEX entries_replaced ON entries (replaced_by) WHERE replaced_by IS NOT NULL;

CREATE TABLE entry_keys (
    project INTEGER NOT NULL,
    key INTEGER NOT NULL,
    place INTEGER NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries (row) ON DELETE CASCADE,
    PRIMARY KEY (project, key, place, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_of_entry ON entry_keys (entry);

CREATE TABLE summaries (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    project INTEGER NOT NULL,
    at INTEGER NOT NULL,
    request TEXT NOT NULL,
    investigated TEXT NOT NULL,
    learned TEXT NOT NULL,
    completed TEXT NOT NULL,
    next_steps TEXT NOT NULL,
    notes TEXT NOT NULL,
    files_read TEXT NOT NULL,
    files_edited TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    source TEXT NOT NULL
) STRICT;
CREATE INDEX summaries_of_project ON summaries (project, at);
CREATE INDEX summaries_of_anchor ON summaries (anchor);
CREATE INDEX summaries_of_turn ON summaries (session, turn);

CREATE TABLE turns (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    last_row INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE amends (
    observation INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE INDEX amends_of_entry ON amends (entry, at);

CREATE TABLE changes (
    project INTEGER PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;
CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (new.project, random());
END;
CREATE TRIGGER entry_changed AFTER UPDATE ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (new.project, random());
END;
CREATE TRIGGER entry_gone AFTER DELETE ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (old.project, random());
END;
";
