//! Keeps the tables of the journal in step with the observations.
//!
//! The unit is the turn: when something of it comes, all that was made of it goes and is made anew, so that neither order nor
//! repetition of observations matters.

use crate::edits::own_work_tree;
use crate::entry::{Entry, Summary, tokens_of};
use crate::id::entry_id;
use crate::link::{self, Links};
use crate::make::Made;
use crate::turn::{Before, Observed, Turn};
use crate::{find, kept, schema};
use base::project::Project;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use store::observations::{Projects, joined};
use store::rusqlite::{Connection, OptionalExtension as _, Params, Transaction, params};
use store::{Derived, Error};

/// A prompt of more characters says itself what it is about; no other has with it what the turn before said.
pub(crate) const MOST_LEANING: usize = 400;

/// The journal as derived tables.
#[derive(Debug)]
pub struct Journal;

impl Derived for Journal {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn version(&self) -> u32 {
        schema::VERSION
    }

    fn tables(&self) -> &'static [&'static str] {
        schema::TABLES
    }

    fn schema(&self) -> &'static str {
        schema::SCHEMA
    }

    fn projects(&self) -> Option<&'static str> {
        Some("SELECT project FROM entries UNION SELECT project FROM summaries")
    }

    fn along(&self, connection: &Connection, rows: &[i64]) -> Result<Vec<i64>, Error> {
        find::along(connection, rows)
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        let mut work = Work::new(transaction, HashSet::new());
        let mut turns = work.touched(after, last)?;
        turns.extend(work.take_amends(after, last)?);
        work.make(&turns)?;
        work.name_prompts(after, last)?;
        work.links.finish()
    }

    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error> {
        let mut work = Work::new(transaction, rows.iter().copied().collect());
        let mut turns = BTreeSet::new();
        let gone = serde_json::to_string(rows)?;
        let mut select =
            transaction.prepare_cached("SELECT session, prompt FROM observations WHERE row = ?1")?;
        for row in rows {
            let turn = select.query_row([row], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            turns.extend(turn);
        }
        work.with_next(&mut turns)?;
        turns.extend(work.drop_amends(rows)?);
        let gone = gone.as_str();
        work.delete("anchor IN (SELECT value FROM json_each(?1))", [gone])?;
        work.make(&turns)?;
        // Prompts leave the search index with their rows. What it has of files goes as well: it may name the project.
        transaction.execute("DELETE FROM search_files", [])?;
        transaction.execute("UPDATE search_state SET must_purge = 1", [])?;
        work.links.finish()
    }
}

/// A turn by the row of its session and the number of its prompt.
pub(crate) type Key = (i64, u64);

/// Returns a turn as it was observed; `None` where it has no observations.
pub(crate) fn load(transaction: &Transaction<'_>, key: Key) -> Result<Option<Turn>, Error> {
    Work::new(transaction, HashSet::new()).load(key)
}

/// What one transaction does.
struct Work<'t> {
    transaction: &'t Transaction<'t>,
    /// Rows of observations that count as gone.
    gone: HashSet<i64>,
    projects: Projects,
    sessions: HashMap<i64, Session>,
    links: Links<'t>,
}

/// What is known of a session.
#[derive(Clone)]
struct Session {
    platform: String,
    id: String,
    cwd: String,
    branch: Option<String>,
    project: i64,
    key: String,
    /// The work tree of the project that was seen first: another clone or linked work tree has another.
    root: PathBuf,
    /// The project and the work tree of each folder.
    folders: HashMap<String, (i64, PathBuf)>,
}

impl Session {
    /// Returns the top of the work tree around a folder that counts as one of the session's project.
    fn top_of(&self, cwd: &str) -> PathBuf {
        let own = Path::new(&self.cwd);
        if !own.is_absolute() {
            return self.root.clone();
        }
        if let Some(top) = own_work_tree(Path::new(cwd)).filter(|top| !top.is_dir()) {
            return top.to_owned();
        }
        let project = Project::of(own);
        if project.key == self.key {
            return project.root;
        }
        // Its folder is gone, or was never on this machine: a session mostly begins at the top.
        let is_elsewhere = !own.starts_with(&self.root) && !own.is_dir();
        if is_elsewhere && Path::new(cwd).starts_with(own) { own.to_owned() } else { self.root.clone() }
    }
}

impl<'t> Work<'t> {
    fn new(transaction: &'t Transaction<'t>, gone: HashSet<i64>) -> Self {
        Self {
            transaction,
            gone,
            projects: Projects::default(),
            sessions: HashMap::new(),
            links: Links::new(transaction),
        }
    }

    /// Returns the turns that observations of these rows belong to, and notes which rows each turn has. The number of a
    /// prompt may change when another comes late: then every turn of the session is made anew.
    fn touched(&mut self, after: i64, last: i64) -> Result<BTreeSet<Key>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT session, prompt, min(row), max(row), max(kind = 'prompt'), min(at) FROM observations
             WHERE row > ?1 AND row <= ?2 GROUP BY session, prompt",
        )?;
        let mut rows = select.query([after, last])?;
        let mut turns = BTreeSet::new();
        let mut disordered = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let key: Key = (row.get(0)?, row.get(1)?);
            self.note_rows(key, row.get(2)?, row.get(3)?)?;
            turns.insert(key);
            if row.get::<_, bool>(4)? {
                // What was recorded a moment before its prompt belonged to the turn before.
                turns.extend(key.1.checked_sub(1).map(|number| (key.0, number)));
                if self.has_later(key.0, row.get(5)?, after)? {
                    disordered.insert(key.0);
                }
            }
        }
        for session in disordered {
            turns.extend(self.renumber(session)?);
        }
        let sessions: BTreeSet<i64> = turns.iter().map(|(session, _)| *session).collect();
        turns.extend(self.refiled(&sessions)?);
        self.with_next(&mut turns)?;
        Ok(turns)
    }

    /// Returns every turn of those sessions that were known by the bare name of their project when they were derived from, and
    /// have a folder now: their entries move there.
    fn refiled(&self, sessions: &BTreeSet<i64>) -> Result<Vec<Key>, Error> {
        let mut named = self.transaction.prepare_cached("SELECT 1 FROM projects WHERE key GLOB 'name:*'")?;
        // Only an import brings such projects.
        if !named.exists([])? {
            return Ok(Vec::new());
        }
        let mut select = self.transaction.prepare_cached(
            "WITH named AS MATERIALIZED (SELECT row FROM projects WHERE key GLOB 'name:*')
             SELECT number FROM turns WHERE session = ?1
                 AND (SELECT project FROM sessions WHERE row = ?1) NOT IN (SELECT row FROM named)
                 AND (EXISTS (SELECT 1 FROM entries WHERE session = ?1 AND project IN (SELECT row FROM named))
                     OR EXISTS (SELECT 1 FROM summaries WHERE session = ?1 AND project IN (SELECT row FROM named)))",
        )?;
        let mut turns = Vec::new();
        for session in sessions {
            let numbers = select.query_map([session], |row| row.get(0))?;
            turns.extend(
                numbers.collect::<Result<Vec<u64>, _>>()?.into_iter().map(|number| (*session, number)),
            );
        }
        Ok(turns)
    }

    fn note_rows(&self, (session, number): Key, first: i64, last: i64) -> Result<(), Error> {
        self.transaction
            .prepare_cached(
                "INSERT INTO turns VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
                 SET first_row = min(first_row, ?3), last_row = max(last_row, ?4)",
            )?
            .execute(params![session, number, first, last])?;
        Ok(())
    }

    /// Says whether something that was derived from before happened after this moment.
    fn has_later(&self, session: i64, at: i64, after: i64) -> Result<bool, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT 1 FROM observations WHERE session = ?1 AND at >= ?2 AND row <= ?3 LIMIT 1",
        )?;
        Ok(select.exists(params![session, at, after])?)
    }

    /// Finds the turns of a session anew, and takes out what was made of those that are no more.
    fn renumber(&mut self, session: i64) -> Result<Vec<Key>, Error> {
        self.delete("session = ?1", [session])?;
        self.transaction.prepare_cached("DELETE FROM turns WHERE session = ?1")?.execute([session])?;
        let mut select = self.transaction.prepare_cached(
            "SELECT prompt, min(row), max(row) FROM observations WHERE session = ?1 GROUP BY prompt",
        )?;
        let found = select.query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let found: Vec<(u64, i64, i64)> = found.collect::<Result<_, _>>()?;
        for (number, first, last) in &found {
            self.note_rows((session, *number), *first, *last)?;
        }
        Ok(found.into_iter().map(|(number, ..)| (session, number)).collect())
    }

    /// Gives prompts, plans and handoffs the ids that people type.
    fn name_prompts(&self, after: i64, last: i64) -> Result<(), Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT o.row, platform, sessions.id, o.id, iif(o.kind = 'plan' AND json_valid(o.data), o.data ->> '$.digest', NULL)
             FROM observations AS o JOIN sessions ON sessions.row = o.session
             WHERE o.row > ?1 AND o.row <= ?2 AND (o.kind IN ('prompt', 'plan')
                 OR o.kind = 'work' AND json_valid(o.data) AND o.data ->> '$.action' = 'handoff')",
        )?;
        let mut insert =
            self.transaction.prepare_cached("INSERT OR REPLACE INTO prompt_ids VALUES (?1, ?2)")?;
        let mut rows = select.query([after, last])?;
        while let Some(row) = rows.next()? {
            let (platform, session, id): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
            // A plan is the same one whether it was shown or accepted.
            let (kind, id) = match row.get::<_, Option<String>>(4)? {
                Some(digest) => ("plan", digest),
                None => ("prompt", id),
            };
            let id = entry_id(&platform, &session, kind, &id);
            insert.execute(params![id, row.get::<_, i64>(0)?])?;
        }
        Ok(())
    }

    /// Keeps what a person changed about entries; returns the turns that those are of.
    fn take_amends(&self, after: i64, last: i64) -> Result<Vec<Key>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT o.row, o.at, o.data, p.data FROM observations AS o
             LEFT JOIN payloads AS p ON p.observation = o.row
             WHERE o.row > ?1 AND o.row <= ?2 AND o.kind = 'amend'",
        )?;
        let mut rows = select.query([after, last])?;
        let mut turns = Vec::new();
        while let Some(row) = rows.next()? {
            let data = joined(row, 2)?;
            let Some(entry) = data.get("entry").and_then(Value::as_str) else { continue };
            self.transaction
                .prepare_cached("INSERT OR REPLACE INTO amends VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![row.get::<_, i64>(0)?, entry, row.get::<_, i64>(1)?, data.to_string()])?;
            turns.extend(self.turn_of(entry)?);
        }
        Ok(turns)
    }

    fn drop_amends(&self, rows: &[i64]) -> Result<Vec<Key>, Error> {
        let mut delete =
            self.transaction.prepare_cached("DELETE FROM amends WHERE observation = ?1 RETURNING entry")?;
        let mut turns = Vec::new();
        for row in rows {
            let entry: Option<String> = delete.query_row([row], |row| row.get(0)).optional()?;
            turns.extend(entry.map(|entry| self.turn_of(&entry)).transpose()?.flatten());
        }
        Ok(turns)
    }

    /// Returns the turn that an entry was made of.
    fn turn_of(&self, entry: &str) -> Result<Option<Key>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT o.session, o.prompt FROM entries JOIN observations AS o ON o.row = entries.anchor WHERE entries.id = ?1",
        )?;
        Ok(select.query_row([entry], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    fn make(&mut self, turns: &BTreeSet<Key>) -> Result<(), Error> {
        for key in turns {
            let Some(turn) = self.load(*key)? else { continue };
            let prompt = turn.observed.iter().find(|observed| observed.kind == "prompt");
            let prompt = prompt.map_or(0, |observed| observed.row);
            self.replace(key.0, &turn, prompt, kept::make(&turn))?;
        }
        Ok(())
    }

    fn load(&mut self, (session, number): Key) -> Result<Option<Turn>, Error> {
        let Some(known) = self.session(session)? else { return Ok(None) };
        // What was recorded a moment before its prompt may be among the rows of the turn before.
        let range = self
            .transaction
            .prepare_cached("SELECT min(first_row), max(last_row) FROM turns WHERE session = ?1 AND number IN (?2 - 1, ?2)")?
            .query_row(params![session, number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)): (Option<i64>, Option<i64>) = range else { return Ok(None) };
        let mut select = self.transaction.prepare_cached(
            "SELECT o.row, o.kind, o.id, o.at, o.cwd, o.agent, o.failed, o.data, p.data
             FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
             WHERE o.row BETWEEN ?3 AND ?4 AND o.session = ?1 AND o.prompt = ?2 AND o.kind <> 'told'
             ORDER BY o.at, o.kind <> 'prompt', o.id",
        )?;
        let mut rows = select.query(params![session, number, first, last])?;
        let mut turn = Turn {
            platform: known.platform.clone(),
            session: known.id.clone(),
            number,
            branch: known.branch.clone(),
            before: Before::default(),
            observed: Vec::new(),
        };
        while let Some(row) = rows.next()? {
            let at: i64 = row.get(0)?;
            if self.gone.contains(&at) {
                continue;
            }
            let cwd: String = row.get(4)?;
            let (project, root) = self.project(session, &cwd)?;
            let observed = Observed {
                row: at,
                kind: row.get(1)?,
                id: row.get(2)?,
                at: row.get(3)?,
                cwd,
                root,
                project,
                agent: row.get(5)?,
                failed: row.get(6)?,
                data: joined(row, 7)?,
            };
            if observed.kind == "prompt" && !observed.text("branch").is_empty() {
                turn.branch = Some(observed.text("branch").to_owned());
            }
            turn.observed.push(observed);
        }
        let prompt = turn.observed.iter().find(|observed| observed.kind == "prompt");
        let leans = |prompt: &Observed| {
            let is_next = prompt.data.get("after_private").and_then(Value::as_bool) != Some(true);
            is_next && prompt.text("text").chars().count() <= MOST_LEANING
        };
        if prompt.is_some_and(leans) {
            turn.before = self.before(session, number, first, last)?;
        }
        Ok(Some(turn))
    }

    /// Returns what the turn before a turn said.
    fn before(&self, session: i64, number: u64, first: i64, last: i64) -> Result<Before, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT o.row, o.kind, o.data, p.data FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
             WHERE o.row BETWEEN ?3 AND ?4 AND o.session = ?1 AND o.prompt = ?2 - 1 AND o.kind IN ('prompt', 'turn-end')
             ORDER BY o.at, o.id",
        )?;
        let mut rows = select.query(params![session, number, first, last])?;
        let mut before = Before::default();
        while let Some(row) = rows.next()? {
            if self.gone.contains(&row.get(0)?) {
                continue;
            }
            let data = joined(row, 2)?;
            let text = || data.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            match row.get_ref(1)?.as_str() {
                Ok("prompt") if before.prompt.is_empty() => before.prompt = text(),
                Ok("turn-end") => before.answer = text(),
                _ => {}
            }
        }
        Ok(before)
    }

    /// Adds the turns after those that are there: a short prompt has with it what the turn before said.
    fn with_next(&self, turns: &mut BTreeSet<Key>) -> Result<(), Error> {
        let mut select =
            self.transaction.prepare_cached("SELECT 1 FROM turns WHERE session = ?1 AND number = ?2")?;
        let next: Vec<Key> = turns.iter().map(|(session, number)| (*session, number + 1)).collect();
        for key in next {
            if !turns.contains(&key) && select.exists(params![key.0, key.1])? {
                turns.insert(key);
            }
        }
        Ok(())
    }

    fn session(&mut self, row: i64) -> Result<Option<Session>, Error> {
        if let Some(known) = self.sessions.get(&row) {
            return Ok(Some(known.clone()));
        }
        let mut select = self.transaction.prepare_cached(
            "SELECT platform, id, cwd, branch, project, key, root FROM sessions JOIN projects ON projects.row = project
             WHERE sessions.row = ?1",
        )?;
        let known = select.query_row([row], |row| {
            Ok(Session {
                platform: row.get(0)?,
                id: row.get(1)?,
                cwd: row.get(2)?,
                branch: row.get(3)?,
                project: row.get(4)?,
                key: row.get(5)?,
                root: PathBuf::from(row.get::<_, String>(6)?),
                folders: HashMap::new(),
            })
        });
        let known = known.optional()?;
        if let Some(known) = &known {
            self.sessions.insert(row, known.clone());
        }
        Ok(known)
    }

    /// Returns the project of a folder of a session, and the top of the work tree that it is in. What the session says about
    /// the project counts for its own folder, and for one that is no more: an import, or a folder that was removed, knows better
    /// than this machine.
    fn project(&mut self, session: i64, cwd: &str) -> Result<(i64, PathBuf), Error> {
        let Some(known) = self.sessions.get_mut(&session) else { return Ok((0, PathBuf::new())) };
        if let Some(found) = known.folders.get(cwd) {
            return Ok(found.clone());
        }
        let found = match Path::new(cwd).is_dir() {
            true if cwd != known.cwd => self.projects.row(self.transaction, cwd)?,
            _ => (known.project, known.top_of(cwd)),
        };
        known.folders.insert(cwd.to_owned(), found.clone());
        Ok(found)
    }

    /// Puts what was made of a turn in the place of what was made of it before.
    fn replace(&mut self, session: i64, turn: &Turn, prompt: i64, mut made: Made) -> Result<(), Error> {
        let anchors: Vec<i64> = turn.observed.iter().map(|observed| observed.row).collect();
        let projects: BTreeMap<i64, i64> =
            turn.observed.iter().map(|observed| (observed.row, observed.project)).collect();
        self.clear(session, prompt, &anchors)?;
        // The newest comes last, which is the cheapest order for finding what it replaces.
        made.entries.sort_by_key(|(_, entry)| link::place(entry.at as i64, &entry.id));
        for (anchor, entry) in made.entries {
            let project = projects.get(&anchor).copied().unwrap_or_default();
            let entry = self.amended(entry)?;
            if let Some(entry) = entry {
                let row = self.put_entry(session, prompt, (anchor, project), &entry)?;
                self.links.insert(row)?;
            }
        }
        for (anchor, summary) in made.summaries {
            let project = projects.get(&anchor).copied().unwrap_or_default();
            self.put_summary(session, prompt, (anchor, project), &summary)?;
        }
        Ok(())
    }

    /// Takes out what was made of a turn: what is known under its prompt, and what was made of its observations before the
    /// prompt was known.
    fn clear(&mut self, session: i64, prompt: i64, anchors: &[i64]) -> Result<(), Error> {
        let anchors = serde_json::to_string(anchors)?;
        self.delete("anchor IN (SELECT value FROM json_each(?1))", [anchors.as_str()])?;
        self.delete("session = ?1 AND turn = ?2 AND turn <> 0", [session, prompt])
    }

    /// Deletes the entries and summaries that a condition chooses.
    fn delete(&mut self, condition: &str, values: impl Params + Copy) -> Result<(), Error> {
        self.unlink(condition, values)?;
        for table in ["entries", "summaries"] {
            let delete = format!("DELETE FROM {table} WHERE {condition}");
            self.transaction.prepare_cached(&delete)?.execute(values)?;
        }
        Ok(())
    }

    /// Has the entries that a condition chooses no longer replace others.
    fn unlink(&mut self, condition: &str, values: impl Params) -> Result<(), Error> {
        let mut select =
            self.transaction.prepare_cached(&format!("SELECT row FROM entries WHERE {condition}"))?;
        let rows: Vec<i64> = select.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
        rows.into_iter().try_for_each(|row| self.links.remove(row))
    }

    /// Applies what a person changed about an entry; `None` once they deleted it.
    fn amended(&self, mut entry: Entry) -> Result<Option<Entry>, Error> {
        let mut select = self
            .transaction
            .prepare_cached("SELECT data FROM amends WHERE entry = ?1 ORDER BY at, observation")?;
        let mut rows = select.query([&entry.id])?;
        let mut is_deleted = false;
        while let Some(row) = rows.next()? {
            let amend: Value = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or("null"))?;
            let text = |name: &str| amend.get(name).and_then(Value::as_str).map(str::to_owned);
            let switch = |name: &str| amend.get(name).and_then(Value::as_bool);
            let before = tokens_of(&entry.title) + tokens_of(&entry.detail.narrative);
            entry.is_pinned = switch("pinned").unwrap_or(entry.is_pinned);
            is_deleted = switch("deleted").unwrap_or(is_deleted);
            entry.title = text("title").unwrap_or(entry.title);
            entry.kind = text("type").unwrap_or(entry.kind);
            entry.detail.narrative = text("text").unwrap_or(entry.detail.narrative);
            entry.is_noise = entry.is_noise && !entry.is_pinned;
            let after = tokens_of(&entry.title) + tokens_of(&entry.detail.narrative);
            entry.tokens = (entry.tokens + after).saturating_sub(before);
        }
        Ok((!is_deleted).then_some(entry))
    }

    fn put_entry(
        &self,
        session: i64,
        prompt: i64,
        (anchor, project): (i64, i64),
        entry: &Entry,
    ) -> Result<i64, Error> {
        let row = self
            .transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO entries (id, session, turn, anchor, project, at, kind, title, detail, branch, tokens, source,
                     is_noise, is_pinned, replaced_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .insert(params![
                entry.id,
                session,
                prompt,
                anchor,
                project,
                entry.at,
                entry.kind,
                entry.title,
                serde_json::to_string(&entry.detail)?,
                entry.branch,
                entry.tokens,
                entry.source.name(),
                entry.is_noise,
                entry.is_pinned,
                entry.replaced_by,
            ])?;
        let mut insert =
            self.transaction.prepare_cached("INSERT OR REPLACE INTO entry_files VALUES (?1, ?2, ?3)")?;
        for file in &entry.files {
            insert.execute(params![file.path, row, file.is_changed])?;
        }
        Ok(row)
    }

    fn put_summary(
        &self,
        session: i64,
        prompt: i64,
        (anchor, project): (i64, i64),
        summary: &Summary,
    ) -> Result<(), Error> {
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO summaries (id, session, turn, anchor, project, at, request, investigated, learned, completed,
                     next_steps, notes, files_read, files_edited, tokens, source)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            )?
            .execute(params![
                summary.id,
                session,
                prompt,
                anchor,
                project,
                summary.at,
                summary.request,
                summary.investigated,
                summary.learned,
                summary.completed,
                summary.next_steps,
                summary.notes,
                serde_json::to_string(&summary.files_read)?,
                serde_json::to_string(&summary.files_edited)?,
                summary.tokens,
                summary.source.name(),
            ])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DERIVED, Source, entry_id, read};
    use base::Timestamp;
    use capture::{Data, Kept, Observation, Prompt, Spool};
    use serde_json::json;
    use std::borrow::Cow;
    use store::Store;
    use store::observations::{Drain, Selection};

    struct Bench {
        folder: tempfile::TempDir,
        spool: Spool,
        store: Store,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path().join("spool"));
            let store =
                Store::open(&folder.path().join("wyren.db"), store::TABLES).unwrap().deriving(DERIVED);
            Self { folder, spool, store }
        }

        fn put(&self, kind: &'static str, id: &str, at: u64, data: &Value) {
            let data = serde_json::value::to_raw_value(data).unwrap();
            let data = match kind {
                "prompt" => Data::Prompt(Prompt { text: data.get().to_owned().into(), ..Prompt::default() }),
                _ => Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(data) }),
            };
            let mut observation = Observation::new("s", id.to_owned(), at, data);
            observation.cwd = Cow::Borrowed("/nowhere/p");
            self.spool.append(&observation).unwrap();
        }

        fn titles(&mut self) -> Vec<String> {
            Drain::unbounded(&self.spool).run(&mut self.store, Timestamp::now()).unwrap();
            let entries = read::entries_where(&self.store, "1 ORDER BY e.at, e.id", []).unwrap();
            entries.into_iter().map(|entry| entry.title).collect()
        }
    }

    #[test]
    fn what_was_given_whole_is_an_entry_can_be_amended_and_is_forgotten_with_its_observation() {
        let mut bench = Bench::new();
        bench.put("prompt", "p:1", 10, &json!("do it"));
        let data = json!({"type": "decision", "title": "Prices are integer cents", "source": "by-hand"});
        bench.put("entry", "n:1", 20, &data);
        assert_eq!(bench.titles(), ["Prices are integer cents"]);
        let id = entry_id("claude-code", "s", "entry", "n:1");
        bench.put("amend", "a:1", 30, &json!({"entry": id, "title": "Prices are cents", "pinned": true}));
        assert_eq!(bench.titles(), ["Prices are cents"]);
        let found = read::entries_by_prefix(&bench.store, &id[..4]).unwrap();
        assert!(found[0].is_pinned && found[0].source == Source::ByHand, "{found:?}");

        let selection = Selection { query: Some("integer cents".into()), ..Selection::default() };
        let notes = bench.folder.path().join("forgotten");
        selection.forget(&mut bench.store, &bench.spool, &notes, Timestamp::now()).unwrap();
        assert_eq!(bench.titles(), [""; 0]);
    }

    #[test]
    fn a_prompt_that_comes_late_leaves_each_entry_once() {
        let mut bench = Bench::new();
        bench.put("entry", "n:1", 20, &json!({"type": "note", "title": "one"}));
        assert_eq!(bench.titles(), ["one"]);
        bench.put("prompt", "p:2", 30, &json!("later"));
        bench.put("entry", "n:2", 40, &json!({"type": "note", "title": "two"}));
        bench.put("prompt", "p:1", 10, &json!("first"));
        assert_eq!(bench.titles(), ["one", "two"]);
        let turns: i64 = bench
            .store
            .connection()
            .query_row("SELECT count(DISTINCT turn) FROM entries", [], |row| row.get(0))
            .unwrap();
        assert_eq!(turns, 2);
    }
}
