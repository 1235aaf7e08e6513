//! Which observations are about work, so that they are found without a look at the rest of a session.
//!
//! No text is kept here: an observation's data is read when it is asked for, and goes with it.

use serde_json::Value;
use store::rusqlite::{Connection, Row, Transaction, params};
use store::{Derived, Error};

/// Observations about work, as a derived table.
#[derive(Debug)]
pub struct WorkObservations;

const NAME: &str = "work-observations";
const VERSION: u32 = 1;

/// `key` is the list of a task, and the client's id of the prompt for every other kind.
const SCHEMA: &str = "
CREATE TABLE work_observations (
    observation INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT
) STRICT;
CREATE INDEX work_observations_of_session ON work_observations (session, kind);
CREATE INDEX work_observations_by_key ON work_observations (key, kind) WHERE key IS NOT NULL;
";

impl Derived for WorkObservations {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn tables(&self) -> &'static [&'static str] {
        &["work_observations"]
    }

    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO work_observations
                 SELECT row, session, kind, CASE WHEN kind <> 'task' THEN prompt_id WHEN json_valid(data) THEN data ->> '$.list' END
                 FROM observations WHERE row > ?1 AND row <= ?2
                     AND (kind IN ('plan', 'task', 'prompt', 'session-start', 'session-end')
                         OR kind = 'refused' AND tool = 'ExitPlanMode')",
            )?
            .execute([after, last])?;
        Ok(())
    }

    /// A plan is recorded when it is shown, when it is accepted, and with the call.
    fn along(&self, connection: &Connection, rows: &[i64]) -> Result<Vec<i64>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT other.row FROM observations AS mine
             JOIN work_observations AS e ON e.session = mine.session AND e.kind = 'plan' AND e.observation <> mine.row
             JOIN observations AS other ON other.row = e.observation
             WHERE mine.row = ?1 AND (mine.kind = 'plan' OR mine.kind = 'tool' AND mine.tool = 'ExitPlanMode')
                 AND json_valid(mine.data) AND json_valid(other.data)
                 AND mine.data ->> '$.tool_use_id' = other.data ->> '$.tool_use_id'",
        )?;
        let mut along = Vec::new();
        for row in rows {
            let found = select.query_map([row], |row| row.get(0))?;
            along.extend(found.collect::<Result<Vec<i64>, _>>()?);
        }
        Ok(along)
    }

    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error> {
        let mut delete =
            transaction.prepare_cached("DELETE FROM work_observations WHERE observation = ?1")?;
        for row in rows {
            delete.execute([row])?;
        }
        Ok(())
    }
}

/// Returns whether the table is there: a hook or an earlier program may open a database without it.
pub fn are_made(connection: &Connection) -> Result<bool, Error> {
    let mut select = connection.prepare_cached("SELECT 1 FROM derived WHERE name = ?1 AND version = ?2")?;
    Ok(select.exists(params![NAME, VERSION])?)
}

/// Returns the latest sessions of a project with observations about work, the earliest first.
pub fn sessions_of_project(connection: &Connection, project: &str, most: usize) -> Result<Vec<i64>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT s.row FROM sessions AS s JOIN projects AS p ON p.row = s.project
         WHERE p.key = ?1 AND EXISTS (SELECT 1 FROM work_observations AS w WHERE w.session = s.row)
         ORDER BY s.last_at DESC, s.row DESC LIMIT ?2",
    )?;
    let rows = select.query_map(params![project, most as i64], |row| row.get(0))?;
    let mut sessions = rows.collect::<Result<Vec<i64>, _>>()?;
    sessions.reverse();
    Ok(sessions)
}

/// One observation about work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The session's id, as the platform gave it.
    pub session: String,
    /// `plan`, `task`, `prompt`, `session-start`, `session-end` or `refused`.
    pub kind: String,
    /// Unique within session and kind.
    pub id: String,
    /// In milliseconds since 1970.
    pub at: u64,
    pub prompt_id: Option<String>,
    /// The subagent that it happened in.
    pub agent: Option<String>,
    /// The data of its kind, as JSON.
    pub data: Value,
}

impl Observed {
    /// Returns a text of the data; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the texts of a list in the data.
    pub fn list(&self, name: &str) -> Vec<String> {
        let items = self.data.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// Says whether a field of the data is true.
    pub fn is(&self, name: &str) -> bool {
        self.data.get(name).and_then(Value::as_bool).unwrap_or_default()
    }
}

/// Returns observations in the order in which they happened, each once: whatever order they came in, the result is the same.
pub(crate) fn ordered(found: &[Observed]) -> Vec<&Observed> {
    let mut ordered: Vec<&Observed> = found.iter().collect();
    ordered.sort_by_key(|observed| (observed.at, &observed.session, &observed.kind, &observed.id));
    ordered.dedup_by_key(|observed| (&observed.session, &observed.kind, &observed.id));
    ordered
}

/// Returns the observations of these kinds in these sessions, by their rows.
pub fn of_sessions(
    connection: &Connection,
    sessions: &[i64],
    kinds: &[&str],
) -> Result<Vec<Observed>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT s.id, o.kind, o.id, o.at, o.prompt_id, o.agent, o.data, p.data
         FROM work_observations AS e JOIN observations AS o ON o.row = e.observation JOIN sessions AS s ON s.row = o.session
         LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE e.session = ?1 AND e.kind = ?2",
    )?;
    let mut found = Vec::new();
    for session in sessions {
        for kind in kinds {
            let mut rows = select.query(params![session, kind])?;
            while let Some(row) = rows.next()? {
                found.push(observed(row)?);
            }
        }
    }
    Ok(found)
}

/// Returns the tasks of a list that several sessions share.
pub(crate) fn of_list(connection: &Connection, list: &str) -> Result<Vec<Observed>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT s.id, o.kind, o.id, o.at, o.prompt_id, o.agent, o.data, p.data
         FROM work_observations AS e JOIN observations AS o ON o.row = e.observation JOIN sessions AS s ON s.row = o.session
         LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE e.key = ?1 AND e.kind = 'task'",
    )?;
    let mut rows = select.query([list])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(observed(row)?);
    }
    Ok(found)
}

fn observed(row: &Row<'_>) -> Result<Observed, Error> {
    let part = |column: usize| -> Result<Value, Error> {
        let text = row.get_ref(column)?;
        let text = text.as_str_or_null().ok().flatten().unwrap_or("null");
        Ok(serde_json::from_str(text).unwrap_or_default())
    };
    // Long values are kept apart from the others.
    let data = match (part(6)?, part(7)?) {
        (Value::Object(mut short), Value::Object(long)) => {
            short.extend(long);
            Value::Object(short)
        }
        (Value::Null, long) => long,
        (short, _) => short,
    };
    Ok(Observed {
        session: row.get(0)?,
        kind: row.get(1)?,
        id: row.get(2)?,
        at: row.get(3)?,
        prompt_id: row.get(4)?,
        agent: row.get(5)?,
        data,
    })
}
