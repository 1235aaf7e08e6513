//! The tables of the journal.

/// A change of the tables, or of what is made of a turn, needs another number: everything is then made anew.
pub const VERSION: u32 = 7;

pub(crate) const TABLES: &[&str] = &[
    "entry_keys",
    "entry_files",
    "entries",
    "summaries",
    "turns",
    "amends",
    "changes",
    "prompt_ids",
    "search_file_documents",
    "search_files",
    "search_changes",
    "search_state",
];

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
///
/// `prompt_ids` has the ids that people type for prompts. The tables called `search_…` are the search index's: which documents
/// it lacks (`search_changes`, filled by triggers in the transaction that changes an entry, a summary or a prompt), what it was
/// made of (`search_state`, one row), and the files that it has documents of. `mark` is another one after each piece of work, and
/// whenever the tables are made anew; the index has the same one. `entries_from`, `summaries_from` and `prompts_from` are the
/// first rows that an index which is being made anew has not seen; null when it has seen all. `must_purge` says that something
/// was deleted for good, whose words may still be in the index's files.
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

CREATE TABLE prompt_ids (
    id TEXT PRIMARY KEY,
    observation INTEGER NOT NULL UNIQUE REFERENCES observations (row) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE search_changes (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL
) STRICT;
CREATE TABLE search_state (
    mark TEXT NOT NULL,
    entries_from INTEGER,
    summaries_from INTEGER,
    prompts_from INTEGER,
    must_purge INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO search_state (mark) VALUES (lower(hex(randomblob(8))));
CREATE TABLE search_files (
    row INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    project TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    UNIQUE (source, project)
) STRICT;
CREATE TABLE search_file_documents (
    key TEXT PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES search_files (row) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_of_file ON search_file_documents (file);

CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (new.project, random());
    INSERT INTO search_changes (key) VALUES ('e:' || new.id);
END;
CREATE TRIGGER entry_changed AFTER UPDATE ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (new.project, random());
END;
CREATE TRIGGER entry_gone AFTER DELETE ON entries BEGIN
    INSERT OR REPLACE INTO changes VALUES (old.project, random());
    INSERT INTO search_changes (key) VALUES ('e:' || old.id);
END;
CREATE TRIGGER summary_made AFTER INSERT ON summaries BEGIN
    INSERT INTO search_changes (key) VALUES ('s:' || new.id);
END;
CREATE TRIGGER summary_gone AFTER DELETE ON summaries BEGIN
    INSERT INTO search_changes (key) VALUES ('s:' || old.id);
END;
CREATE TRIGGER prompt_named AFTER INSERT ON prompt_ids BEGIN
    INSERT INTO search_changes (key) VALUES ('p:' || new.id);
END;
CREATE TRIGGER prompt_gone AFTER DELETE ON prompt_ids BEGIN
    INSERT INTO search_changes (key) VALUES ('p:' || old.id);
END;
CREATE TRIGGER file_document_gone AFTER DELETE ON search_file_documents BEGIN
    INSERT INTO search_changes (key) VALUES (old.key);
END;
";
