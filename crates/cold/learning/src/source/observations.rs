//! Observations of the store as happenings. The store has nothing of private prompts.

use super::{command, failed, input, succeeded};
use crate::detect::{Detector, Found, Spoken};
use crate::happening::{Call, Happening, Outcome, Place};
use serde_json::Value;
use store::rusqlite::{Connection, params};
use store::{Error, Store};

/// Returns the sessions that something came of since a row, each with its last row, in the order of those.
pub fn sessions_since(connection: &Connection, after: i64) -> Result<Vec<(i64, i64)>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT session, max(row) FROM observations WHERE row > ?1 GROUP BY session ORDER BY 2",
    )?;
    let rows = select.query_map([after], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Follows what the store has of a session: its own conversation, then each subagent's.
pub fn read(store: &Store, session: i64, spoken: &Spoken) -> Result<Vec<Found>, Error> {
    let connection = store.connection();
    let mut agents = connection
        .prepare_cached("SELECT DISTINCT agent FROM observations WHERE session = ?1 ORDER BY agent")?;
    let agents: Vec<Option<String>> =
        agents.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?;
    agents.iter().map(|agent| follow(connection, session, agent.as_deref(), spoken)).collect()
}

fn follow(
    connection: &Connection,
    session: i64,
    agent: Option<&str>,
    spoken: &Spoken,
) -> Result<Found, Error> {
    let mut select = connection.prepare_cached(
        "SELECT sessions.id, o.kind, o.at, o.cwd, o.tool, o.failed,
             CASE WHEN json_valid(o.data) THEN o.data END, CASE WHEN json_valid(p.data) THEN p.data END
         FROM observations AS o JOIN sessions ON sessions.row = o.session LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE o.session = ?1 AND o.agent IS ?2 AND o.kind IN ('prompt', 'said', 'tool', 'refused', 'turn-end')
         ORDER BY o.at, o.kind <> 'prompt', o.id",
    )?;
    let mut detector: Option<Detector<'_>> = None;
    let mut rows = select.query(params![session, agent])?;
    while let Some(row) = rows.next()? {
        let (id, kind, cwd): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(3)?);
        let (short, long): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
        let data = |name: &str| {
            [&short, &long].into_iter().flatten().find_map(|text| {
                let value: Value = serde_json::from_str(text).ok()?;
                value.get(name).cloned()
            })
        };
        let text = |name: &str| data(name).and_then(|value| value.as_str().map(str::to_owned));
        let detector = detector
            .get_or_insert_with(|| Detector::new(spoken, Place { session: id.clone(), cwd: cwd.clone() }));
        detector.set_folder(&cwd);
        match kind.as_str() {
            "prompt" | "said" => detector.take(Happening::Prompt(text("text").unwrap_or_default())),
            "turn-end" => detector.take(Happening::Reply(text("text").unwrap_or_default())),
            _ => {
                let tool: String =
                    row.get::<_, Option<String>>(4)?.or_else(|| text("tool")).unwrap_or_default();
                let has_failed: bool = row.get(5)?;
                let given = data("input").map(|given| given.to_string());
                let (command, input) = (command(&tool, given.as_deref()), input(&tool, given.as_deref()));
                let printed = || {
                    let output = data("output").unwrap_or_default();
                    let part = |name: &str| output[name].as_str().unwrap_or_default().to_owned();
                    format!("{}\n{}", part("stderr"), part("stdout"))
                };
                let outcome = match kind.as_str() {
                    "refused" => Outcome::Refused,
                    _ if data("interrupted").is_some_and(|value| value == true) => Outcome::Refused,
                    _ if has_failed => failed(&text("error").unwrap_or_default()),
                    _ => succeeded(command.as_deref(), printed),
                };
                let at = row.get::<_, u64>(2)?;
                detector.take(Happening::Call(Call { tool, command, input, outcome, at }));
            }
        }
    }
    Ok(detector.map(Detector::finish).unwrap_or_default())
}
