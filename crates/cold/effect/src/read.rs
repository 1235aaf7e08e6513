//! Sessions in which a lesson was shown, from the database.

use crate::recorded::{Call, Fate, Session, Step, What};
use hook::Platform;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::PathBuf;
use store::rusqlite::{Connection, Row};
use store::{Error, Store};

/// Reads every session in which a lesson spoke up.
pub fn sessions(store: &Store) -> Result<Vec<Session>, Error> {
    let mut select = store.connection().prepare(
        "SELECT s.row, s.platform, s.id, p.root FROM sessions AS s JOIN projects AS p ON p.row = s.project
         WHERE s.row IN (SELECT session FROM observations WHERE kind IN ('told', 'refused')
             AND CASE WHEN json_valid(data) THEN data ->> '$.lesson' END IS NOT NULL)
         ORDER BY s.platform, s.id",
    )?;
    let found = select.query_map([], |row| {
        let platform: String = row.get(1)?;
        let session = Session {
            platform: Platform::from_name(Some(&platform)),
            id: row.get(2)?,
            root: PathBuf::from(row.get::<_, String>(3)?),
            steps: Vec::new(),
        };
        Ok((row.get::<_, i64>(0)?, session))
    })?;
    let mut sessions: Vec<(i64, Session)> = found.collect::<Result<_, _>>()?;
    for (row, session) in &mut sessions {
        session.steps = steps(store.connection(), *row)?;
        session.sort();
    }
    Ok(sessions.into_iter().map(|(_, session)| session).collect())
}

fn steps(connection: &Connection, session: i64) -> Result<Vec<Step>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT o.kind, o.id, o.at, o.agent, o.cwd, o.failed, o.data, p.data
         FROM observations AS o LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE o.session = ?1 AND o.kind IN ('tool', 'refused', 'told', 'session-start', 'session-end')",
    )?;
    let mut rows = select.query([session])?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.extend(step(row)?);
    }
    Ok(steps)
}

/// The fields of an observation that count here. Long ones are in a row of their own.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    tool: Option<String>,
    tool_use_id: Option<String>,
    input: Option<Box<RawValue>>,
    interrupted: Option<bool>,
    duration_ms: Option<f64>,
    by: Option<String>,
    lesson: Option<String>,
    hook: Option<String>,
    form: Option<String>,
    source: Option<String>,
}

impl Data {
    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let part = |column: usize| -> Result<Self, Error> {
            let text = row.get_ref(column)?.as_str_or_null().ok().flatten().unwrap_or("{}");
            Ok(serde_json::from_str(text).unwrap_or_default())
        };
        let (short, long) = (part(6)?, part(7)?);
        Ok(Self {
            tool: short.tool.or(long.tool),
            tool_use_id: short.tool_use_id.or(long.tool_use_id),
            input: short.input.or(long.input),
            interrupted: short.interrupted.or(long.interrupted),
            duration_ms: short.duration_ms.or(long.duration_ms),
            by: short.by.or(long.by),
            lesson: short.lesson.or(long.lesson),
            hook: short.hook.or(long.hook),
            form: short.form.or(long.form),
            source: short.source.or(long.source),
        })
    }

    fn lessons(&self) -> Vec<String> {
        let names = self.lesson.iter().flat_map(|names| names.split(','));
        names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

fn step(row: &Row<'_>) -> Result<Option<Step>, Error> {
    let data = Data::read(row)?;
    let kind: String = row.get(0)?;
    let at: u64 = row.get(2)?;
    let what = match kind.as_str() {
        "tool" | "refused" => {
            let lessons = data.lessons();
            let fate = match kind.as_str() {
                "refused" => Fate::Refused { by: data.by.unwrap_or_default(), lessons },
                _ if data.interrupted == Some(true) => Fate::Interrupted,
                _ if row.get::<_, bool>(5)? => Fate::Failed,
                _ => Fate::Succeeded,
            };
            What::Call(Call {
                tool_use_id: data.tool_use_id,
                tool: data.tool.unwrap_or_default(),
                input: data.input,
                cwd: PathBuf::from(row.get::<_, String>(4)?),
                began: at.saturating_sub(data.duration_ms.unwrap_or_default().max(0.0) as u64),
                fate,
            })
        }
        "told"
            if data.hook.as_deref() == Some("lesson-inject") && data.form.as_deref() == Some("context") =>
        {
            What::Hints { lessons: data.lessons(), call: data.tool_use_id }
        }
        "session-start" if matches!(data.source.as_deref(), Some("clear" | "compact")) => What::NewWindow,
        "session-end" => What::End,
        _ => return Ok(None),
    };
    Ok(Some(Step { id: format!("{kind} {}", row.get::<_, String>(1)?), at, agent: row.get(3)?, what }))
}
