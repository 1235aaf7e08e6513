//! Keeps the tables of contexts in step with the observations.
//!
//! `work_seen` has what contexts are about of each observation, so that a context is made anew without reading the calls of
//! its sessions. Whenever something of a context comes, all of it is made anew: order does not matter.

use super::fold::{Listed, Seen, Standing, What, fold};
use super::plan::Marks;
use super::write::BY_HAND;
use super::{Action, Context, KIND, SessionId, Work};
use crate::line::{self, End};
use crate::tasks::COMPLETED;
use capture::task::CREATE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::rusqlite::{Connection, Row, Transaction, params};
use store::{Derived, Error};

/// Contexts as derived tables.
#[derive(Debug)]
pub struct Contexts;

/// `session` and `observation` are rows; `state` is a [`Context`] as JSON; `is_open` says that a client runs the session, as far
/// as is known.
const SCHEMA: &str = "
CREATE TABLE work_seen (
    observation INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    prompt_id TEXT,
    context TEXT,
    what TEXT NOT NULL
) STRICT;
CREATE INDEX work_seen_of_session ON work_seen (session);
CREATE INDEX work_seen_of_context ON work_seen (context) WHERE context IS NOT NULL;
CREATE INDEX work_seen_of_prompt ON work_seen (prompt_id) WHERE prompt_id IS NOT NULL AND context IS NULL;

CREATE TABLE work_contexts (
    id TEXT PRIMARY KEY,
    project INTEGER,
    is_done INTEGER NOT NULL,
    mode TEXT NOT NULL,
    last_active INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX work_contexts_of_project ON work_contexts (project, is_done, last_active);
CREATE INDEX work_contexts_staged ON work_contexts (project, last_active) WHERE mode IN ('has_plan', 'has_handoff');

CREATE TABLE work_bindings (
    context TEXT NOT NULL,
    session INTEGER NOT NULL,
    at INTEGER NOT NULL,
    is_current INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (context, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_bindings_of_session ON work_bindings (session);
CREATE INDEX work_bindings_open ON work_bindings (session) WHERE is_open;
";

/// The tools that change something: a call of one outside of plan mode shows that the work has begun.
const CHANGING: &str = "'Bash', 'Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'apply_patch', 'edit', 'write', 'write_file', 'replace'";

/// How long after a prompt a context may be made of it: the hook that does has far less.
const QUOTED_WITHIN_MILLIS: i64 = 10_000;

impl Derived for Contexts {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn version(&self) -> u32 {
        5
    }

    fn tables(&self) -> &'static [&'static str] {
        &["work_seen", "work_contexts", "work_bindings"]
    }

    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn projects(&self) -> Option<&'static str> {
        Some("SELECT project FROM work_contexts WHERE project IS NOT NULL")
    }

    /// What made a context quotes the prompt that it is of, and so does the id that it got.
    fn along(&self, connection: &Connection, rows: &[i64]) -> Result<Vec<i64>, Error> {
        // A client that gives prompts no id has the quoting follow within moments.
        let mut select = connection.prepare_cached(
            "SELECT quoting.row FROM observations AS quoted JOIN observations AS quoting
                 ON quoting.session = quoted.session AND quoting.kind = 'work'
             WHERE quoted.row = ?1 AND quoted.kind = 'prompt' AND (quoting.prompt_id = quoted.prompt_id
                 OR quoted.prompt_id IS NULL AND quoting.prompt_id IS NULL AND abs(quoting.at - quoted.at) <= ?2
                     AND json_valid(quoting.data) AND quoting.data ->> '$.action' = 'new')",
        )?;
        let mut found = Vec::new();
        for row in rows {
            for quoting in select.query_map(params![row, QUOTED_WITHIN_MILLIS], |row| row.get(0))? {
                found.push(quoting?);
            }
        }
        let gone: BTreeSet<i64> = rows.iter().chain(&found).copied().collect();
        for context in made_by(connection, &gone)? {
            found.extend(wordless(connection, &context, &gone)?);
        }
        Ok(found)
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        let work = Making::of(transaction)?;
        let mut touched = work.note(after, last)?;
        touched.contexts.extend(work.with_silent_sessions(after, last)?);
        work.make(&touched)
    }

    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error> {
        let work = Making::of(transaction)?;
        let mut touched = Touched::default();
        for row in rows {
            let mut select = transaction
                .prepare_cached("SELECT session, context FROM work_seen WHERE observation = ?1")?;
            let mut found = select.query([row])?;
            while let Some(row) = found.next()? {
                touched.sessions.insert(row.get(0)?);
                touched.contexts.extend(row.get::<_, Option<String>>(1)?);
            }
        }
        // Before they go: what they were linked to is found by them.
        let contexts = work.contexts_of(&touched)?;
        for row in rows {
            transaction.prepare_cached("DELETE FROM work_seen WHERE observation = ?1")?.execute([row])?;
        }
        contexts.iter().try_for_each(|id| work.replace(id))
    }
}

/// Returns the contexts that these observations made of a prompt.
fn made_by(connection: &Connection, rows: &BTreeSet<i64>) -> Result<BTreeSet<String>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT context FROM work_seen WHERE observation = ?1 AND what ->> '$.work.action' = 'new'",
    )?;
    let mut contexts = BTreeSet::new();
    for row in rows {
        for context in select.query_map([row], |row| row.get(0))? {
            contexts.insert(context?);
        }
    }
    Ok(contexts)
}

/// Returns the observations that have nothing of a context but its id, if none but those in `gone` has a text of its own: a note or
/// handoff is kept, and its context with it.
fn wordless(connection: &Connection, context: &str, gone: &BTreeSet<i64>) -> Result<Vec<i64>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT observation, what ->> '$.work.action' IN ('new', 'edit', 'note', 'handoff', 'import')
         FROM work_seen WHERE context = ?1",
    )?;
    let mut left = Vec::new();
    for found in select.query_map([context], |row| Ok((row.get(0)?, row.get::<_, bool>(1)?)))? {
        match found? {
            (row, _) if gone.contains(&row) => {}
            (_, true) => return Ok(Vec::new()),
            (row, false) => left.push(row),
        }
    }
    Ok(left)
}

/// What new observations are about.
#[derive(Debug, Default)]
struct Touched {
    sessions: BTreeSet<i64>,
    contexts: BTreeSet<String>,
}

struct Making<'t> {
    transaction: &'t Transaction<'t>,
    /// The moment of the newest observation of all.
    newest: u64,
    /// The sessions of what was done outside of any: they have something of every context, work on none, and lead to no other.
    by_hand: BTreeSet<i64>,
}

impl<'t> Making<'t> {
    fn of(transaction: &'t Transaction<'t>) -> Result<Self, Error> {
        let mut select = transaction.prepare_cached("SELECT row FROM sessions WHERE platform = ?1")?;
        let by_hand = select.query_map([BY_HAND], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Self { transaction, newest: line::newest(transaction)?, by_hand })
    }
}

impl Making<'_> {
    /// Notes what contexts are about of these observations.
    fn note(&self, after: i64, last: i64) -> Result<Touched, Error> {
        let mut select = self.transaction.prepare_cached(&format!(
            "SELECT o.row, o.session, o.at, o.id, o.prompt_id, o.kind, o.tool, o.data, p.data
             FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row AND o.kind <> 'tool'
             WHERE o.row > ?1 AND o.row <= ?2 AND o.agent IS NULL AND (
                 o.kind IN ('work', 'plan', 'prompt', 'task', 'session-start', 'session-end')
                 OR o.kind = 'refused' AND o.tool = 'ExitPlanMode'
                 OR o.kind = 'tool' AND o.failed = 0 AND (o.tool IN ({CHANGING}) OR o.tool = 'ExitPlanMode'))"
        ))?;
        let mut rows = select.query([after, last])?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR REPLACE INTO work_seen VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        let mut touched = Touched::default();
        while let Some(row) = rows.next()? {
            let Some(what) = what(row)? else { continue };
            let context = match &what {
                What::Work(work) => Some(work.context.as_str()),
                _ => None,
            };
            touched.sessions.insert(row.get(1)?);
            touched.contexts.extend(context.map(str::to_owned));
            insert.execute(params![
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, String>(3)?,
                row.get::<_, Option<String>>(4)?,
                context,
                serde_json::to_string(&what)?
            ])?;
        }
        Ok(touched)
    }

    /// Returns the contexts of sessions that count as ended since one of these observations was made.
    fn with_silent_sessions(&self, after: i64, last: i64) -> Result<Vec<String>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT DISTINCT b.context FROM work_bindings AS b JOIN sessions AS s ON s.row = b.session
             WHERE b.is_open AND s.last_at + ?3 < (SELECT max(at) FROM observations WHERE row > ?1 AND row <= ?2)",
        )?;
        let contexts = select.query_map(params![after, last, line::SILENCE_MILLIS], |row| row.get(0))?;
        Ok(contexts.collect::<Result<_, _>>()?)
    }

    fn make(&self, touched: &Touched) -> Result<(), Error> {
        self.contexts_of(touched)?.iter().try_for_each(|id| self.replace(id))
    }

    /// Returns every context that may be another than before.
    fn contexts_of(&self, touched: &Touched) -> Result<BTreeSet<String>, Error> {
        let mut contexts = touched.contexts.clone();
        for session in self.linked(touched.sessions.clone())? {
            let mut select = self.transaction.prepare_cached(
                "SELECT context FROM work_seen WHERE session = ?1 AND context IS NOT NULL
                 UNION SELECT context FROM work_bindings WHERE session = ?1",
            )?;
            for context in select.query_map([session], |row| row.get(0))? {
                contexts.insert(context?);
            }
        }
        Ok(contexts)
    }

    /// Adds the sessions that ended or started with a prompt that another of these started or ended with; leaves out those of what
    /// was done by hand.
    fn linked(&self, mut sessions: BTreeSet<i64>) -> Result<BTreeSet<i64>, Error> {
        sessions.retain(|session| !self.by_hand.contains(session));
        let mut waiting: Vec<i64> = sessions.iter().copied().collect();
        let mut select = self.transaction.prepare_cached(
            "SELECT DISTINCT other.session FROM work_seen AS own JOIN work_seen AS other
                 ON other.prompt_id = own.prompt_id AND other.context IS NULL AND other.session <> own.session
             WHERE own.session = ?1 AND own.prompt_id IS NOT NULL AND own.context IS NULL",
        )?;
        while let Some(session) = waiting.pop() {
            for other in select.query_map([session], |row| row.get(0))? {
                let other = other?;
                if sessions.insert(other) {
                    waiting.push(other);
                }
            }
        }
        Ok(sessions)
    }

    /// Makes a context anew.
    fn replace(&self, id: &str) -> Result<(), Error> {
        for delete in
            ["DELETE FROM work_contexts WHERE id = ?1", "DELETE FROM work_bindings WHERE context = ?1"]
        {
            self.transaction.prepare_cached(delete)?.execute([id])?;
        }
        let mut named = BTreeSet::new();
        let mut select =
            self.transaction.prepare_cached("SELECT DISTINCT session FROM work_seen WHERE context = ?1")?;
        for session in select.query_map([id], |row| row.get(0))? {
            named.insert(session?);
        }
        let (mut seen, rows) = self.load(id, &self.linked(named)?)?;
        let open = self.close_silent(&mut seen, &rows)?;
        let Some(context) = fold(&seen).remove(id) else { return Ok(()) };
        self.put(&context, &rows, &open)
    }

    /// Has the sessions that a client ran and that count as ended end; returns those that are open.
    fn close_silent(
        &self,
        seen: &mut Vec<Seen>,
        rows: &BTreeMap<SessionId, i64>,
    ) -> Result<BTreeSet<SessionId>, Error> {
        // An import and a command bind sessions of which nothing else is known.
        let ran =
            |seen: &&Seen| matches!(seen.what, What::Prompt { .. } | What::Start { .. } | What::Changed);
        let ran: BTreeMap<SessionId, i64> =
            seen.iter().filter(ran).map(|seen| (seen.session.clone(), seen.project)).collect();
        let mut open = BTreeSet::new();
        for (session, project) in ran {
            let Some(row) = rows.get(&session) else { continue };
            match line::end_before(self.transaction, *row, self.newest)? {
                None => drop(open.insert(session)),
                Some(End { at, reason }) if reason == line::UNKNOWN => seen.push(Seen {
                    // After everything that was heard of it.
                    at: i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1),
                    session,
                    id: line::UNKNOWN.to_owned(),
                    prompt_id: None,
                    project,
                    what: What::End { reason: Some(reason) },
                }),
                Some(_) => {}
            }
        }
        Ok(open)
    }

    /// Loads what is about a context, and what its sessions did.
    fn load(
        &self,
        id: &str,
        sessions: &BTreeSet<i64>,
    ) -> Result<(Vec<Seen>, BTreeMap<SessionId, i64>), Error> {
        let sessions = serde_json::to_string(sessions)?;
        let mut select = self.transaction.prepare_cached(
            "SELECT w.session, s.platform, s.id, s.project, w.at, w.id, w.prompt_id, w.what
             FROM work_seen AS w JOIN sessions AS s ON s.row = w.session
             WHERE w.context = ?1 OR w.session IN (SELECT value FROM json_each(?2))",
        )?;
        let mut rows = select.query([id, &sessions])?;
        let (mut seen, mut by_id) = (Vec::new(), BTreeMap::new());
        while let Some(row) = rows.next()? {
            // A later version may have noted what this one does not know.
            let Ok(what) = serde_json::from_str(row.get_ref(7)?.as_str().unwrap_or_default()) else {
                continue;
            };
            let session = SessionId { platform: row.get(1)?, id: row.get(2)? };
            by_id.insert(session.clone(), row.get(0)?);
            seen.push(Seen {
                at: row.get(4)?,
                session,
                id: row.get(5)?,
                prompt_id: row.get(6)?,
                project: row.get(3)?,
                what,
            });
        }
        Ok((seen, by_id))
    }

    fn put(
        &self,
        context: &Context,
        rows: &BTreeMap<SessionId, i64>,
        open: &BTreeSet<SessionId>,
    ) -> Result<(), Error> {
        self.transaction
            .prepare_cached("INSERT INTO work_contexts VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                context.id,
                context.project,
                context.is_done,
                context.mode.name(),
                context.last_active,
                serde_json::to_string(context)?
            ])?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR REPLACE INTO work_bindings VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for binding in &context.sessions {
            if let Some(row) = rows.get(&binding.session) {
                let is_open = open.contains(&binding.session);
                insert.execute(params![context.id, row, binding.at, binding.is_current, is_open])?;
            }
        }
        Ok(())
    }
}

/// Returns what an observation means for contexts; `None` where that is nothing.
fn what(row: &Row<'_>) -> Result<Option<What>, Error> {
    let kind = row.get_ref(5)?;
    let data = joined(row, 7)?;
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(match kind.as_str().unwrap_or_default() {
        KIND => {
            let work: Option<Work> = serde_json::from_value(data).ok();
            // What an import of another machine brings names no folder here unless it is an id.
            let work = work.filter(|work| super::id::check(&work.context).is_ok());
            work.map(|work| What::Work(Box::new(without_texts(work))))
        }
        "plan" => {
            let is_accepted = data.get("accepted").and_then(Value::as_bool).unwrap_or_default();
            let marks = text("text").map(|plan| Marks::of(&plan));
            marks.map(|marks| if is_accepted { What::AcceptedPlan(marks) } else { What::Plan(marks) })
        }
        "refused" => Some(What::Refused),
        "task" => listed(&data).map(What::Task),
        "prompt" => Some(What::Prompt { permission_mode: text("permission_mode"), branch: text("branch") }),
        "session-start" => Some(What::Start { source: text("source") }),
        "session-end" => Some(What::End { reason: text("reason") }),
        "tool" if row.get_ref(6)?.as_str().ok() == Some("ExitPlanMode") => Some(What::Accepted),
        "tool" => (text("permission_mode").as_deref() != Some("plan")).then_some(What::Changed),
        _ => None,
    })
}

/// Returns what a call did to the list of tasks, as far as it says which.
fn listed(data: &Value) -> Option<Listed> {
    let text = |data: &Value, name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    let standing = |status: &str| match status {
        COMPLETED => Standing::Completed,
        _ => Standing::Open,
    };
    if let Some(todos) = data.get("todos").and_then(Value::as_array) {
        let todos = todos.iter().map(|todo| standing(text(todo, "status").unwrap_or_default().as_str()));
        return Some(Listed::Written(todos.collect()));
    }
    let number = text(data, "task")?;
    if text(data, "tool").as_deref() == Some(CREATE) {
        return Some(Listed::Added(number));
    }
    let is_gone = data.get("deleted").and_then(Value::as_bool).unwrap_or_default();
    let to = if is_gone { Standing::Gone } else { standing(&text(data, "status")?) };
    Some(Listed::Moved { number, to })
}

/// Leaves the texts of files and handoffs to the observation that has them.
fn without_texts(mut work: Work) -> Work {
    match &mut work.action {
        Action::Import(imported) => imported.files.iter_mut().for_each(|file| file.text.clear()),
        Action::Handoff(handoff) => {
            handoff.sections.clear();
            handoff.tasks.clear();
        }
        _ => {}
    }
    work
}

/// Returns the data of an observation, whose long values are in another column.
fn joined(row: &Row<'_>, column: usize) -> Result<Value, Error> {
    let part = |column: usize| -> Result<Value, Error> {
        let text = row.get_ref(column)?.as_str_or_null().ok().flatten().unwrap_or("null");
        Ok(serde_json::from_str(text).unwrap_or_default())
    };
    let (mut short, long) = (part(column)?, part(column + 1)?);
    match (&mut short, long) {
        (Value::Object(short), Value::Object(long)) => short.extend(long),
        (Value::Null, long) => short = long,
        _ => {}
    }
    Ok(short)
}

#[cfg(test)]
mod tests;
