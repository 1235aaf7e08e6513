//! Takes observations out again: rows, what was derived from them, spool lines and long observations, so thoroughly that
//! their text is no longer in any file. A database of more than 64 MiB is not rewritten: SQLite overwrites what is deleted
//! from it, but may have left a copy of a row that it had moved before ([`Forgotten::is_too_large_to_rewrite`]).
//!
//! The order makes it safe to be killed at any point: offsets go back to the beginning first, then the lines leave the
//! spool, then the rows leave the database. Whatever was done, a drain afterwards finds every line that is still there,
//! and doing it again completes it.

use super::drain::Drain;
use super::needle::Needle;
use super::rows;
use super::writer::Projects;
use crate::derived::{self, Derived};
use crate::open::{Error, Store};
use base::{Timestamp, digest, files};
use capture::{Observation, Spool};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, Transaction, params_from_iter};
use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for a drain. The command tries again for longer, and says that it waits.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long to wait for readers of what is to be overwritten, and how often to try.
const CLEANING_PATIENCE: Duration = Duration::from_secs(10);
const CLEANING_PAUSE: Duration = Duration::from_millis(50);
/// Up to this size the whole database is written anew: that takes less than a second. SQLite overwrites what is deleted
/// from a larger one, but may have left a copy where it moved rows within a page.
const SMALL_BYTES: u64 = 64 * 1024 * 1024;
/// How old a long observation without a line is before its writer counts as killed.
const SWEEP_AFTER: Duration = Duration::from_secs(60);
/// How many samples are shown of what would go, and how long each is.
const MAX_SAMPLES: usize = 10;
const MAX_SAMPLE_CHARS: usize = 80;

/// Which observations are meant: those that satisfy every condition given.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Their ids, with or without what says their kind (`t:`, `p:`, `r:`).
    pub ids: Vec<String>,
    /// Single observations, each by the id of its session and its own: as if `ids` named them in that session alone.
    pub exact: Vec<(String, String)>,
    /// What a person called them: noted, so that a killed command can be given again ([`was_forgotten`]).
    pub names: Vec<String>,
    /// A text that they contain, in any case and normal form.
    pub query: Option<String>,
    /// The key of their project.
    pub project: Option<String>,
    /// Their session.
    pub session: Option<String>,
    /// The moment before which they happened.
    pub before: Option<Timestamp>,
    /// The moment from which on they happened.
    pub after: Option<Timestamp>,
}

/// What was, or would be, forgotten.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Observations of other kinds.
    pub others: u64,
    /// How many of those there are of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Lines that could not be read and were kept aside.
    pub unread_lines: u64,
    /// Lines of the spool; 0 as long as nothing is done.
    pub spool_lines: u64,
    /// Background jobs that named it; 0 as long as nothing is done.
    pub jobs: u64,
    /// The client's ids of the sessions that lose something; none as long as nothing is done.
    pub sessions: Vec<String>,
    /// The slugs of lessons whose mistake was seen nowhere else.
    pub lessons: Vec<String>,
    /// The keys of projects that contain the text and stay, since they have other sessions.
    pub projects: Vec<String>,
    /// Some of them, to be recognised by.
    pub samples: Vec<Sample>,
    /// Whether another program kept the old contents from being overwritten.
    pub is_kept_by_reader: bool,
    /// Whether the database was too large to be rewritten, so that it may still hold copies that SQLite left in it.
    pub is_too_large_to_rewrite: bool,
}

/// An observation to be recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it happened.
    pub at: Timestamp,
    /// Its session.
    pub session: String,
    /// Its id.
    pub id: String,
    /// How it begins.
    pub text: String,
}

impl Forgotten {
    /// Returns how many things are meant.
    pub fn count(&self) -> u64 {
        self.prompts + self.tool_calls + self.others + self.unread_lines
    }
}

impl Selection {
    /// Says what would be forgotten, and changes nothing but to drain the spool first.
    pub fn preview(&self, store: &mut Store, spool: &Spool, now: Timestamp) -> Result<Forgotten, Error> {
        let lock = super::lock(spool, PATIENCE).map_err(Error::io(spool.folder()))?;
        let _lock = lock.ok_or(Error::Busy)?;
        Drain::unbounded(spool).run_locked(store, now)?;
        derived::catch_up(store)?;
        Ok(self.find(store)?.forgotten)
    }

    /// Forgets. `notes` is the file that keeps digests of what was forgotten, so that no repair brings it back.
    pub fn forget(
        &self,
        store: &mut Store,
        spool: &Spool,
        notes: &Path,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        let lock = super::lock(spool, PATIENCE).map_err(Error::io(spool.folder()))?;
        let lock = lock.ok_or(Error::Busy)?;
        Drain::unbounded(spool).run_locked(store, now)?;
        derived::catch_up(store)?;
        let mut found = self.find(store)?;
        let names: HashSet<String> = self.names.iter().map(|name| name_digest(name)).collect();
        note(notes, found.digests.union(&found.id_digests).chain(&names))?;
        // A drain that reads from the beginning stores nothing twice; one that read from a stale offset would lose lines.
        store.write(|transaction| {
            transaction.execute("DELETE FROM spool_files", [])?;
            Ok::<_, Error>(())
        })?;
        let spool_lines = self.clean_spool(spool, &found, now);
        let derived = store.derived();
        let done = store.write(|transaction| {
            let sessions = found.sessions(transaction)?;
            let lessons = self.delete_sightings(transaction, &sessions)?;
            found.delete(transaction, derived)?;
            Ok::<_, Error>((self.delete_jobs(transaction)?, lessons, sessions.into_iter().collect()))
        })?;
        (found.forgotten.jobs, found.forgotten.lessons, found.forgotten.sessions) = done;
        found.forgotten.projects = self.projects_left(store)?;
        // Whatever keeps the old contents open keeps no drain waiting.
        drop(lock);
        let overwritten = overwrite(store, SMALL_BYTES)?;
        found.forgotten.is_kept_by_reader = overwritten.is_kept_by_reader;
        found.forgotten.is_too_large_to_rewrite = !overwritten.is_rewritten;
        // A file that could not be cleaned is an error, and keeps nothing else from being forgotten.
        found.forgotten.spool_lines = spool_lines?;
        Ok(found.forgotten)
    }

    fn find(&self, store: &Store) -> Result<Found, Error> {
        let mut found = Found::default();
        self.find_observations(store, &mut found)?;
        add_companions(store, &mut found)?;
        self.find_sessions(store, &mut found)?;
        let mut select = store.connection().prepare("SELECT digest, line FROM unread_lines")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if self.mentions(row.get_ref(1)?.as_blob().unwrap_or_default()) {
                found.unread_lines.push(row.get(0)?);
            }
        }
        found.forgotten.unread_lines = found.unread_lines.len() as u64;
        Ok(found)
    }

    fn find_observations(&self, store: &Store, found: &mut Found) -> Result<(), Error> {
        let mut condition = Condition::default();
        if self.names_observations() {
            let with_kinds =
                |id: &String| [id.clone(), format!("p:{id}"), format!("t:{id}"), format!("r:{id}")];
            let ids = self.ids.iter().flat_map(with_kinds);
            let named = (ids.collect::<Vec<_>>(), &self.exact);
            let is_named = "(o.id IN (SELECT value FROM json_each(?, '$[0]'))
                OR (sessions.id, o.id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?, '$[1]')))";
            let json = serde_json::to_string(&named)?;
            condition.and(is_named, json.clone());
            condition.values.push(json.into());
        }
        if let Some(project) = &self.project {
            condition.and("sessions.project = (SELECT row FROM projects WHERE key = ?)", project.clone());
        }
        if let Some(session) = &self.session {
            condition.and("sessions.id = ?", session.clone());
        }
        if let Some(before) = self.before {
            condition.and("o.at < ?", i64::try_from(before.millis()).unwrap_or(i64::MAX));
        }
        if let Some(after) = self.after {
            condition.and("o.at >= ?", i64::try_from(after.millis()).unwrap_or(i64::MAX));
        }
        let needle = self.query.as_deref().map(Needle::new);
        condition.is_wanted_anyway = needle.is_some();
        let sql = format!(
            "SELECT {HEAD}, {} FROM {OBSERVATIONS} WHERE {} ORDER BY o.at, o.kind <> 'prompt', o.id",
            TEXTS.join(", "),
            condition.sql()
        );
        let mut select = store.connection().prepare(&sql)?;
        let mut rows = select.query(params_from_iter(condition.values))?;
        while let Some(row) = rows.next()? {
            if is_mentioned(needle.as_ref(), row, HEAD_COLUMNS, TEXTS.len())? {
                found.take(store, row)?;
            }
        }
        Ok(())
    }

    /// Returns whether single observations are named.
    fn names_observations(&self) -> bool {
        !self.ids.is_empty() || !self.exact.is_empty()
    }

    /// Finds sessions that carry the text in their own row, or have no observations that could be found.
    fn find_sessions(&self, store: &Store, found: &mut Found) -> Result<(), Error> {
        if self.names_observations() || self.before.is_some() || self.after.is_some() {
            return Ok(());
        }
        let mut condition = Condition::default();
        if let Some(project) = &self.project {
            condition.and("project = (SELECT row FROM projects WHERE key = ?)", project.clone());
        }
        if let Some(session) = &self.session {
            condition.and("id = ?", session.clone());
        }
        let needle = self.query.as_deref().map(Needle::new);
        condition.is_wanted_anyway = needle.is_some();
        let sql =
            format!("SELECT row, cwd, author, title, branch, model FROM sessions WHERE {}", condition.sql());
        let mut select = store.connection().prepare(&sql)?;
        let mut rows = select.query(params_from_iter(condition.values))?;
        while let Some(row) = rows.next()? {
            if is_mentioned(needle.as_ref(), row, 1, 5)? {
                let is_in_folder = needle.is_some() && is_mentioned(needle.as_ref(), row, 1, 2)?;
                found.sessions.insert(row.get(0)?, is_in_folder);
            }
        }
        Ok(())
    }

    /// Deletes what was seen of mistakes in the sessions that lose something, or mentions it; returns the lessons that nothing
    /// else was seen of. A sighting quotes calls without their ids, so all of its session go.
    fn delete_sightings(
        &self,
        transaction: &Transaction<'_>,
        sessions: &HashSet<String>,
    ) -> Result<Vec<String>, Error> {
        if !has_table(transaction, "sightings")? {
            return Ok(Vec::new());
        }
        let needle = self.query.as_deref().map(Needle::new);
        let is_alone = needle.is_none() && !self.names_observations();
        let mut select = transaction.prepare(
            "SELECT lesson, session, project, at, lesson, session, project, failing, fix FROM sightings",
        )?;
        let mut rows = select.query([])?;
        let mut meant: Vec<(String, String)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (lesson, session, project): (String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let is_in = self.session.as_ref().is_none_or(|wanted| *wanted == session)
                && self.project.as_ref().is_none_or(|wanted| *wanted == project)
                && self.covers(Timestamp::from_millis(row.get(3)?));
            let is_named = match &needle {
                Some(_) => is_mentioned(needle.as_ref(), row, 4, 5)?,
                None => is_alone,
            };
            if is_in && (is_named || sessions.contains(&session)) {
                meant.push((lesson, session));
            }
        }
        drop(rows);
        for (lesson, session) in &meant {
            transaction
                .execute("DELETE FROM sightings WHERE lesson = ?1 AND session = ?2", [lesson, session])?;
        }
        let mut lessons: Vec<String> = meant.into_iter().map(|(lesson, _)| lesson).collect();
        lessons.sort();
        lessons.dedup();
        let mut is_left = transaction.prepare("SELECT 1 FROM sightings WHERE lesson = ?1")?;
        let mut gone = Vec::new();
        for lesson in lessons {
            if !is_left.exists([&lesson])? {
                gone.push(lesson);
            }
        }
        Ok(gone)
    }

    /// Deletes background jobs that name what is forgotten, and takes its name out of the ledger of model calls.
    fn delete_jobs(&self, transaction: &Transaction<'_>) -> Result<u64, Error> {
        let mentioned = |table: &str, row: &str, texts: &[&str]| -> Result<Vec<i64>, Error> {
            let texts: Vec<String> = texts.iter().map(|text| format!("coalesce({text}, '')")).collect();
            let sql = format!("SELECT {row}, {} FROM {table}", texts.join(" || char(10) || "));
            let mut select = transaction.prepare(&sql)?;
            let mut rows = select.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if self.mentions(row.get_ref(1)?.as_bytes().unwrap_or_default()) {
                    found.push(row.get(0)?);
                }
            }
            Ok(found)
        };
        let mut deleted = 0;
        if has_table(transaction, "jobs")? {
            // A worker that is at one of them notes its end in a row that is gone, which changes nothing.
            for job in mentioned("jobs", "id", &["payload", "project", "dedup_key", "reason"])? {
                deleted += transaction.execute("DELETE FROM jobs WHERE id = ?1", [job])? as u64;
            }
        }
        if has_table(transaction, "spend")? {
            for call in mentioned("spend", "id", &["project"])? {
                transaction.execute("UPDATE spend SET project = '' WHERE id = ?1", [call])?;
            }
        }
        Ok(deleted)
    }

    /// Returns the keys of the projects that contain the text.
    fn projects_left(&self, store: &Store) -> Result<Vec<String>, Error> {
        let Some(needle) = self.query.as_deref().map(Needle::new) else { return Ok(Vec::new()) };
        let mut left = Vec::new();
        let mut select = store.connection().prepare("SELECT key, name, root FROM projects ORDER BY key")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if is_mentioned(Some(&needle), row, 0, 3)? {
                left.push(row.get(0)?);
            }
        }
        Ok(left)
    }

    /// Says whether a text that is no observation, as a line of a log, mentions what is to be forgotten by name: every text
    /// and session that is given, and one of the ids.
    pub fn mentions(&self, text: &[u8]) -> bool {
        let is_in = |name: &String| Needle::new(name).is_in(text);
        let has_names = self.names_observations() || self.session.is_some() || self.query.is_some();
        let exact = self.exact.iter().map(|(_, id)| id);
        has_names
            && (!self.names_observations() || self.ids.iter().chain(exact).any(is_in))
            && self.session.iter().chain(&self.query).all(is_in)
    }

    /// Says whether what happened at a moment may be meant.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.before.is_none_or(|before| at < before) && self.after.is_none_or(|after| at >= after)
    }

    fn is_kept(&self, line: &[u8], found: &Found) -> bool {
        match Observation::read(line) {
            Some(observation) => {
                !found.digests.contains(&observation_digest(&observation.session, &observation.id))
            }
            None => !self.mentions(line),
        }
    }

    fn clean_spool(&self, spool: &Spool, found: &Found, now: Timestamp) -> Result<u64, Error> {
        let mut removed = Ok(0);
        for file in spool.files().map_err(Error::io(spool.folder()))? {
            let lines = file.retain(|line| self.is_kept(line, found));
            match lines.map_err(Error::io(&spool.folder().join(&file.name))) {
                Ok(lines) => removed = removed.map(|before| before + lines as u64),
                Err(error) => removed = removed.and(Err(error)),
            }
        }
        let bulks = spool.retain_bulk(|observation| self.is_kept(observation, found));
        // No drain will ever read what a killed writer left, so nothing in the database says whether it is meant.
        let swept = spool.sweep(SWEEP_AFTER, now);
        bulks.and(swept).map_err(Error::io(spool.folder()))?;
        removed
    }
}

fn has_table(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    transaction.prepare_cached(sql)?.exists([name])
}

/// Adds what cannot outlive the observations that were found.
fn add_companions(store: &Store, found: &mut Found) -> Result<(), Error> {
    let mut known: HashSet<i64> = found.rows.iter().copied().collect();
    for derived in store.derived() {
        // Tables that cannot be read are made anew without what is forgotten.
        let rows = derived.along(store.connection(), &found.rows).unwrap_or_default();
        let sql = format!("SELECT {HEAD} FROM {OBSERVATIONS} WHERE o.row = ?1");
        let mut select = store.connection().prepare(&sql)?;
        for row in rows.into_iter().filter(|row| known.insert(*row)) {
            let mut rows = select.query([row])?;
            if let Some(row) = rows.next()? {
                found.take(store, row)?;
            }
        }
    }
    Ok(())
}

/// What [`Found::take`] reads of an observation.
const HEAD: &str = "o.row, o.session, sessions.id, o.id, o.at, o.kind";
const HEAD_COLUMNS: usize = 6;
const OBSERVATIONS: &str = "observations AS o JOIN sessions ON sessions.row = o.session
    LEFT JOIN payloads AS p ON p.observation = o.row";
/// Where an observation has texts.
const TEXTS: [&str; 8] =
    ["o.data", "p.data", "o.cwd", "o.tool", "o.agent", "o.agent_type", "o.prompt_id", "o.kind"];
/// How an observation is shown. Data that SQLite cannot read, such as JSON of more than 1000 levels, is shown as it is.
const SAMPLE: &str = "CASE
    WHEN NOT json_valid(coalesce(o.data, 'null')) THEN o.kind || ' ' || o.data
    WHEN NOT json_valid(coalesce(p.data, 'null')) THEN coalesce(o.tool, o.kind) || ' ' || p.data
    WHEN o.kind = 'prompt' THEN coalesce(o.data ->> '$.text', p.data ->> '$.text', '')
    WHEN o.kind = 'tool' THEN coalesce(o.tool, '') || ' ' ||
        coalesce(o.data -> '$.input', p.data -> '$.input', o.data ->> '$.error', p.data ->> '$.error', '')
    WHEN o.kind = 'refused' THEN 'refused ' || coalesce(o.data ->> '$.tool', '') || ' ' ||
        coalesce(o.data -> '$.input', p.data -> '$.input', '')
    ELSE o.kind || ' ' || coalesce(o.data ->> '$.title', o.data ->> '$.text', p.data ->> '$.text', o.data ->> '$.error',
        p.data ->> '$.error', o.data, p.data, '') END";

/// A condition that grows.
#[derive(Default)]
struct Condition {
    parts: Vec<String>,
    values: Vec<Value>,
    /// Whether there is a further condition that SQLite does not know: without parts, every row is looked at.
    is_wanted_anyway: bool,
}

impl Condition {
    fn and(&mut self, part: &str, value: impl Into<Value>) {
        self.parts.push(part.to_owned());
        self.values.push(value.into());
    }

    fn sql(&self) -> String {
        match &self.parts[..] {
            [] => self.is_wanted_anyway.to_string(),
            parts => parts.join(" AND "),
        }
    }
}

/// Says whether one of `count` columns from `first` on has the text; without a text every row is meant.
fn is_mentioned(
    needle: Option<&Needle>,
    row: &Row<'_>,
    first: usize,
    count: usize,
) -> rusqlite::Result<bool> {
    let Some(needle) = needle else { return Ok(true) };
    for column in first..first + count {
        let value = row.get_ref(column)?;
        if matches!(value, ValueRef::Text(text) | ValueRef::Blob(text) if needle.is_in(text)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a selection means in this database.
#[derive(Default)]
struct Found {
    rows: Vec<i64>,
    unread_lines: Vec<String>,
    /// The sessions that lose something, and whether even their folder and author are to be forgotten.
    sessions: BTreeMap<i64, bool>,
    digests: HashSet<String>,
    /// Digests of the ids that mean the same observation in whichever session.
    id_digests: HashSet<String>,
    forgotten: Forgotten,
}

impl Found {
    /// Returns the client's ids of the sessions that lose something.
    fn sessions(&self, transaction: &Transaction<'_>) -> Result<HashSet<String>, Error> {
        let mut select = transaction.prepare("SELECT id FROM sessions WHERE row = ?1")?;
        let ids = self.sessions.keys().map(|session| select.query_row([session], |row| row.get(0)));
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Adds the observation whose [`HEAD`] a row begins with.
    fn take(&mut self, store: &Store, row: &Row<'_>) -> Result<(), Error> {
        self.rows.push(row.get(0)?);
        match row.get_ref(5)?.as_str().unwrap_or_default() {
            "prompt" => self.forgotten.prompts += 1,
            "tool" => self.forgotten.tool_calls += 1,
            other => {
                self.forgotten.others += 1;
                *self.forgotten.kinds.entry(other.to_owned()).or_default() += 1;
            }
        }
        self.sessions.entry(row.get(1)?).or_default();
        let (session, id): (String, String) = (row.get(2)?, row.get(3)?);
        self.digests.insert(observation_digest(&session, &id));
        self.id_digests.extend(id_digest(&id));
        if self.forgotten.samples.len() < MAX_SAMPLES {
            let sample = format!("SELECT substr({SAMPLE}, 1, 400) FROM {OBSERVATIONS} WHERE o.row = ?1");
            let mut sample = store.connection().prepare_cached(&sample)?;
            let text: String = sample.query_row([row.get::<_, i64>(0)?], |row| row.get(0))?;
            self.forgotten.samples.push(Sample {
                at: Timestamp::from_millis(row.get(4)?),
                session,
                id,
                text: text::sanitize::one_line(&text, MAX_SAMPLE_CHARS),
            });
        }
        Ok(())
    }

    fn delete(&self, transaction: &Transaction<'_>, derived: &[&dyn Derived]) -> Result<(), Error> {
        derived::forget(transaction, derived, &self.rows)?;
        // Payloads go with their observations.
        let mut delete = transaction.prepare("DELETE FROM observations WHERE row = ?1")?;
        for row in &self.rows {
            delete.execute([row])?;
        }
        derived::lower_watermarks(transaction)?;
        for digest in &self.unread_lines {
            transaction.execute("DELETE FROM unread_lines WHERE digest = ?1", [digest])?;
        }
        let mut projects = Projects::default();
        for (session, forgets_folder) in &self.sessions {
            if *forgets_folder {
                rows::move_to_first_observation(transaction, *session, &mut projects)?;
                transaction.execute("UPDATE sessions SET author = NULL WHERE row = ?1", [session])?;
            }
            rows::clear_session(transaction, *session)?;
            rows::refresh_session(transaction, *session)?;
        }
        derived::forget_projects(transaction, derived)
    }
}

/// Returns whether a name that was given to an earlier `wyren forget` is this one: then there may be something left to do.
pub fn was_forgotten(notes: &Path, name: &str) -> bool {
    let notes = files::read_if_there(notes).ok().flatten().unwrap_or_default();
    let digest = name_digest(name);
    notes.split(|byte| *byte == b'\n').any(|line| line == digest.as_bytes())
}

fn name_digest(name: &str) -> String {
    digest::short_hex(format!("forgotten\n{name}").as_bytes())
}

/// Takes out observations, each by its row and that of its session, and what was derived from them. They may come again.
pub(crate) fn take_out(
    transaction: &Transaction<'_>,
    derived: &[&dyn Derived],
    rows: &[(i64, i64)],
) -> Result<(), Error> {
    let found = Found {
        rows: rows.iter().map(|(row, _)| *row).collect(),
        sessions: rows.iter().map(|(_, session)| (*session, false)).collect(),
        ..Found::default()
    };
    found.delete(transaction, derived)
}

/// Returns what an observation is known by once nothing else of it may be.
pub(crate) fn observation_digest(session: &str, id: &str) -> String {
    digest::short_hex(format!("{session}\n{id}").as_bytes())
}

/// Returns what an observation is known by in every session that repeats it, if the client gave it its id: a session that
/// goes on under another id tells the same again.
pub(crate) fn id_digest(id: &str) -> Option<String> {
    let is_clients = ["p:", "t:", "r:", "q:", "u:"].iter().any(|kind| id.starts_with(kind));
    is_clients.then(|| digest::short_hex(id.as_bytes()))
}

fn note<'d>(notes: &Path, digests: impl Iterator<Item = &'d String>) -> Result<(), Error> {
    let mut lines = String::new();
    for digest in digests {
        lines.push_str(digest);
        lines.push('\n');
    }
    if lines.is_empty() {
        return Ok(());
    }
    let noted = files::open_append(notes).and_then(|mut file| file.write_all(lines.as_bytes()));
    noted.map_err(Error::io(notes))
}

struct Overwritten {
    /// Whether a reader kept the log of changes from being emptied.
    is_kept_by_reader: bool,
    is_rewritten: bool,
}

/// Overwrites what is left in pages that are no longer used, and empties the log of changes. Costs what was deleted, once
/// the database is larger than `small`.
fn overwrite(store: &Store, small: u64) -> Result<Overwritten, Error> {
    let connection = store.connection();
    let pages: u64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let page: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let is_rewritten = pages * page <= small;
    match if is_rewritten { store.vacuum() } else { store.give_back_pages() } {
        // The rows are deleted: what is left to do is the same as with a reader.
        Err(Error::Locked(_)) => return Ok(Overwritten { is_kept_by_reader: true, is_rewritten }),
        written => written?,
    }
    // SQLite would keep others from writing for as long as it waits for a reader.
    connection.busy_timeout(Duration::ZERO)?;
    let began = Instant::now();
    let is_kept_by_reader = loop {
        let is_kept: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if !is_kept || began.elapsed() >= CLEANING_PATIENCE {
            break is_kept;
        }
        std::thread::sleep(CLEANING_PAUSE);
    };
    Ok(Overwritten { is_kept_by_reader, is_rewritten })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::TABLES;
    use capture::{Data, Prompt};

    #[test]
    fn a_large_database_loses_what_is_deleted_without_being_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        let spool = Spool::new(folder.path().join("spool"));
        let mut store = Store::open(&path, &[TABLES]).unwrap();
        for number in 0..2_000_u64 {
            let text = format!(
                "{} {}",
                if number % 7 == 0 { "merger" } else { "weather" },
                "x".repeat(number as usize)
            );
            let data = Data::Prompt(Prompt { text: text.into(), ..Prompt::default() });
            spool.append(&Observation::new("s", format!("p:{number}"), number, data)).unwrap();
        }
        Drain::unbounded(&spool).run(&mut store, Timestamp::now()).unwrap();
        let selection = Selection { query: Some("merger".into()), ..Selection::default() };
        let found = selection.find(&store).unwrap();
        assert_eq!(found.rows.len(), 286);
        store.write(|transaction| found.delete(transaction, &[])).unwrap();
        let overwritten = overwrite(&store, 0).unwrap();
        assert!(!overwritten.is_kept_by_reader && !overwritten.is_rewritten);
        drop(store);
        for file in files::files_in(folder.path()) {
            let is_there = Needle::new("merger").is_in(&std::fs::read(&file).unwrap());
            assert!(!is_there, "{}", file.display());
        }
    }
}
