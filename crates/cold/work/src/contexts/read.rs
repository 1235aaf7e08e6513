//! Contexts as the database has them.

use super::{Action, Context, Contexts, File, Handoff, Work, is_stale};
use capture::CLAUDE_CODE;
use std::collections::BTreeSet;
use store::rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use store::{Derived as _, Error, Store};

/// Returns whether the tables are there: a hook or an earlier program may open a database without them.
pub fn is_made(store: &Store) -> bool {
    are_made(store.connection())
}

/// As [`is_made`], for who has the connection alone.
pub(crate) fn are_made(connection: &Connection) -> bool {
    let made = connection.prepare_cached("SELECT 1 FROM derived WHERE name = ?1 AND version = ?2");
    made.and_then(|mut made| made.exists((Contexts.name(), Contexts.version()))).unwrap_or_default()
}

/// Which contexts are meant by their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Open,
    Done,
    All,
}

/// Returns the contexts of a project, or of all, those with the latest activity first.
pub fn list(store: &Store, project: Option<i64>, which: Which) -> Result<Vec<Context>, Error> {
    let which = match which {
        Which::Open => "is_done = 0",
        Which::Done => "is_done = 1",
        Which::All => "1",
    };
    let condition = format!("(?1 IS NULL OR project = ?1) AND {which}");
    contexts_where(store, &condition, [project])
}

/// Returns what waits for a session of a project, the latest first.
pub fn staged(store: &Store, project: i64) -> Result<Vec<Context>, Error> {
    // What is done holds nothing for a session.
    let table = "work_contexts INDEXED BY work_contexts_staged";
    contexts_in(store, table, "project = ?1 AND mode IN ('has_plan', 'has_handoff')", [project])
}

/// Returns the context with this id.
pub fn by_id(store: &Store, id: &str) -> Result<Option<Context>, Error> {
    Ok(contexts_where(store, "id = ?1", [id])?.pop())
}

/// Returns the id of the context that a session of a platform works on.
pub fn of_session(store: &Store, platform: Option<&str>, session: &str) -> Result<Option<String>, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT context FROM work_bindings JOIN sessions ON sessions.row = session
         WHERE platform = ?1 AND sessions.id = ?2 AND is_current",
    )?;
    Ok(select.query_row(params![platform.unwrap_or(CLAUDE_CODE), session], |row| row.get(0)).optional()?)
}

/// Returns the contexts that these sessions worked on at some time.
pub(crate) fn of_sessions(connection: &Connection, sessions: &[i64]) -> Result<Vec<Context>, Error> {
    if !are_made(connection) {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT state, project FROM work_contexts WHERE id IN (SELECT context FROM work_bindings
         WHERE session IN (SELECT value FROM json_each(?1)))",
    )?;
    let mut rows = select.query([serde_json::to_string(sessions)?])?;
    let mut contexts = Vec::new();
    while let Some(row) = rows.next()? {
        contexts.push(context(row)?);
    }
    Ok(contexts)
}

/// Returns the id of the context that a session works on, by its row.
pub(crate) fn current(connection: &Connection, session: i64) -> Result<Option<String>, Error> {
    if !are_made(connection) {
        return Ok(None);
    }
    let mut select =
        connection.prepare_cached("SELECT context FROM work_bindings WHERE session = ?1 AND is_current")?;
    Ok(select.query_row([session], |row| row.get(0)).optional()?)
}

/// Says whether everything that a session worked on is done by now.
pub fn is_over(connection: &Connection, session: i64) -> Result<bool, Error> {
    if !are_made(connection) {
        return Ok(false);
    }
    let mut select = connection.prepare_cached(
        "SELECT coalesce(min(is_done), 0) FROM work_bindings JOIN work_contexts ON work_contexts.id = context
         WHERE session = ?1",
    )?;
    Ok(select.query_row([session], |row| row.get(0))?)
}

/// Returns the text of a file that an import brought.
pub fn file(connection: &Connection, context: &str, path: &str) -> Result<Option<String>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT o.data, p.data FROM work_seen AS w JOIN observations AS o ON o.row = w.observation
         LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE w.context = ?1 AND w.what LIKE '%\"action\":\"import\"%' ORDER BY w.at DESC, w.id DESC",
    )?;
    let mut rows = select.query([context])?;
    while let Some(row) = rows.next()? {
        for column in 0..2 {
            let data = row.get_ref(column)?.as_str_or_null().ok().flatten().unwrap_or("null");
            let Ok(data) = serde_json::from_str::<Files>(data) else { continue };
            if let Some(found) = data.files.into_iter().find(|file| file.path == path) {
                return Ok(Some(found.text));
            }
        }
    }
    Ok(None)
}

/// A handoff, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The id of the context.
    pub context: String,
    /// In milliseconds since 1970.
    pub at: i64,
    /// The client's id of the session; `None` outside of any.
    pub session: Option<String>,
    pub handoff: Handoff,
}

/// Returns what a window goes on with of the handoffs of a context, without one of what these sessions work on: the latest; before
/// one that was saved by itself, the latest that was not, unless a session has gone on from that or it is old beside the other.
pub(crate) fn last_handoffs(
    connection: &Connection,
    sessions: &[i64],
    context: Option<&str>,
) -> Result<Vec<Handed>, Error> {
    if !are_made(connection) {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT DISTINCT context FROM work_bindings WHERE is_current AND session IN (SELECT value FROM json_each(?1))",
    )?;
    let contexts = select.query_map([serde_json::to_string(sessions)?], |row| row.get(0))?;
    let contexts: Vec<String> = contexts.collect::<Result<_, _>>()?;
    let contexts = contexts.iter().map(String::as_str);
    let contexts: Vec<&str> = contexts.filter(|id| context.is_none_or(|context| context == *id)).collect();
    if contexts.is_empty() {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT what ->> '$.work.digest' FROM work_seen
         WHERE context IN (SELECT value FROM json_each(?1)) AND what ->> '$.work.action' = 'resumed'",
    )?;
    let taken = select.query_map([serde_json::to_string(&contexts)?], |row| row.get(0))?;
    let taken: BTreeSet<String> = taken.collect::<Result<_, _>>()?;
    Ok(last_of(handoffs(connection, &contexts)?, &taken))
}

/// Returns the handoffs to go on with of these, of which the latest are first; `taken` are the digests of those that a session has
/// gone on from.
fn last_of(handoffs: Vec<Handed>, taken: &BTreeSet<String>) -> Vec<Handed> {
    let mut handoffs = handoffs.into_iter().filter(|handed| !handed.handoff.id.is_empty());
    let Some(latest) = handoffs.next() else { return Vec::new() };
    let asked = match latest.handoff.origin.is_automatic() {
        true => handoffs.find(|handed| !handed.handoff.origin.is_automatic()),
        false => None,
    };
    let asked =
        asked.filter(|asked| !is_stale(asked.at, latest.at) && !taken.contains(&asked.handoff.digest));
    asked.into_iter().chain([latest]).collect()
}

/// A session that works on the same context as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Together {
    /// Its row.
    pub(crate) session: i64,
    /// When something was heard of it last, in milliseconds since 1970.
    pub(crate) last_at: i64,
    /// When the first of the others took the context up.
    pub(crate) taken_up_at: i64,
}

/// Returns the other sessions of what these sessions work on.
pub(crate) fn bound_together(connection: &Connection, sessions: &[i64]) -> Result<Vec<Together>, Error> {
    if !are_made(connection) {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT other.session, s.last_at, min(mine.at)
         FROM work_bindings AS mine JOIN work_bindings AS other ON other.context = mine.context AND other.session <> mine.session
         JOIN sessions AS s ON s.row = other.session
         WHERE mine.is_current AND other.is_current AND mine.session IN (SELECT value FROM json_each(?1))
         GROUP BY other.session",
    )?;
    let rows = select.query_map([serde_json::to_string(sessions)?], |row| {
        Ok(Together { session: row.get(0)?, last_at: row.get(1)?, taken_up_at: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the handoffs of these contexts, the latest first.
pub fn handoffs(connection: &Connection, contexts: &[&str]) -> Result<Vec<Handed>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT w.context, w.at, s.id, s.platform, o.data, p.data
         FROM work_seen AS w JOIN observations AS o ON o.row = w.observation JOIN sessions AS s ON s.row = w.session
         LEFT JOIN payloads AS p ON p.observation = o.row
         WHERE w.context IN (SELECT value FROM json_each(?1)) AND w.what LIKE '%\"action\":\"handoff\"%'
         ORDER BY w.at DESC, w.id DESC",
    )?;
    let mut rows = select.query([serde_json::to_string(contexts)?])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let data = store::observations::joined(row, 4)?;
        let Ok(Work { context, action: Action::Handoff(handoff), .. }) = serde_json::from_value(data) else {
            continue;
        };
        let platform = row.get_ref(3)?;
        let is_by_hand = platform.as_str().is_ok_and(|platform| platform == super::write::BY_HAND);
        let session = if is_by_hand { None } else { Some(row.get(2)?) };
        found.push(Handed { context, at: row.get(1)?, session, handoff: *handoff });
    }
    Ok(found)
}

#[derive(serde::Deserialize)]
struct Files {
    #[serde(default)]
    files: Vec<File>,
}

/// Returns the ids of all contexts.
pub fn ids(store: &Store) -> Result<Vec<String>, Error> {
    if !is_made(store) {
        return Ok(Vec::new());
    }
    let mut select = store.connection().prepare_cached("SELECT id FROM work_contexts")?;
    let ids = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// The project that a session is filed under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filed {
    pub row: i64,
    pub name: String,
}

/// Returns where a session is filed; `None` where nothing of it was taken in yet.
pub fn filed(store: &Store, platform: Option<&str>, session: &str) -> Result<Option<Filed>, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT projects.row, name FROM sessions JOIN projects ON projects.row = project
         WHERE platform = ?1 AND sessions.id = ?2",
    )?;
    let filed = select.query_row(params![platform.unwrap_or(CLAUDE_CODE), session], |row| {
        Ok(Filed { row: row.get(0)?, name: row.get(1)? })
    });
    Ok(filed.optional()?)
}

/// Returns the row of a project.
pub fn project_row(store: &Store, key: &str) -> Result<Option<i64>, Error> {
    let mut select = store.connection().prepare_cached("SELECT row FROM projects WHERE key = ?1")?;
    Ok(select.query_row([key], |row| row.get(0)).optional()?)
}

/// Returns the key of a project.
pub fn project_key(store: &Store, row: i64) -> Result<Option<String>, Error> {
    let mut select = store.connection().prepare_cached("SELECT key FROM projects WHERE row = ?1")?;
    Ok(select.query_row([row], |row| row.get(0)).optional()?)
}

fn contexts_where(store: &Store, condition: &str, values: impl Params) -> Result<Vec<Context>, Error> {
    contexts_in(store, "work_contexts", condition, values)
}

fn contexts_in(
    store: &Store,
    table: &str,
    condition: &str,
    values: impl Params,
) -> Result<Vec<Context>, Error> {
    let mut select = store.connection().prepare_cached(&format!(
        "SELECT state, project FROM {table} WHERE {condition} ORDER BY last_active DESC, id DESC"
    ))?;
    let mut rows = select.query(values)?;
    let mut contexts = Vec::new();
    while let Some(row) = rows.next()? {
        contexts.push(context(row)?);
    }
    Ok(contexts)
}

fn context(row: &Row<'_>) -> Result<Context, Error> {
    let context: Context = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or_default())?;
    Ok(Context { project: row.get(1)?, ..context })
}
