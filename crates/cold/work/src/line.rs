//! Which sessions continue each other. `/clear`, a plan that is accepted with a new window, and `/branch` give a session a new
//! id: the end of the old one and the start of the new one carry the same `prompt_id`, and nothing else names both.

use crate::contexts::read;
use std::collections::BTreeSet;
use store::Error;
use store::rusqlite::{Connection, OptionalExtension as _, params};

/// How many sessions one line may have: a bound for damaged data, not for people.
const MOST: usize = 1_000;
/// After how long without an observation, counted from the newest one of all, a session without an end counts as ended.
pub(crate) const SILENCE_MILLIS: u64 = 12 * 60 * 60 * 1_000;
/// The reason of an end that no event told of: a killed terminal, or a run with a shell in the background.
pub const UNKNOWN: &str = "unknown";

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// In milliseconds since 1970.
    pub at: u64,
    /// `clear`, `prompt_input_exit`, `other`, …, or [`UNKNOWN`].
    pub reason: String,
}

/// Returns the row of a session.
pub fn row_of(connection: &Connection, platform: &str, session: &str) -> Result<Option<i64>, Error> {
    let mut select = connection.prepare_cached("SELECT row FROM sessions WHERE platform = ?1 AND id = ?2")?;
    Ok(select.query_row([platform, session], |row| row.get(0)).optional()?)
}

/// Returns the session that a start with this `prompt_id` continues; it may not be recorded itself yet. A start that goes back
/// to an earlier session continues none.
pub fn before(
    connection: &Connection,
    platform: &str,
    session: &str,
    prompt_id: &str,
) -> Result<Option<i64>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT s.row FROM work_observations AS e JOIN observations AS o ON o.row = e.observation
         JOIN sessions AS s ON s.row = e.session
         WHERE e.key = ?1 AND e.kind = 'session-end' AND s.platform = ?2 AND s.id <> ?3
         ORDER BY o.at DESC, s.id LIMIT 1",
    )?;
    let before: Option<i64> =
        select.query_row(params![prompt_id, platform, session], |row| row.get(0)).optional()?;
    let Some(row) = row_of(connection, platform, session)? else { return Ok(before) };
    Ok(before.filter(|before| begins_after(connection, row, *before, prompt_id).unwrap_or_default()))
}

/// Says whether a session has nothing from before the end of another that carries this `prompt_id`.
fn begins_after(connection: &Connection, session: i64, other: i64, prompt_id: &str) -> Result<bool, Error> {
    let mut select = connection.prepare_cached(
        "SELECT coalesce((SELECT min(at) FROM observations WHERE session = ?1) >=
             (SELECT max(o.at) FROM work_observations AS e JOIN observations AS o ON o.row = e.observation
              WHERE e.session = ?2 AND e.kind = 'session-end' AND e.key = ?3), 0)",
    )?;
    Ok(select.query_row(params![session, other, prompt_id], |row| row.get(0))?)
}

/// Returns all sessions that continue each other around this one, the earliest first.
pub fn around(connection: &Connection, session: i64) -> Result<Vec<i64>, Error> {
    let mut found = BTreeSet::from([session]);
    let mut waiting = vec![session];
    while let Some(session) = waiting.pop() {
        for next in neighbours(connection, session)? {
            if found.len() < MOST && found.insert(next) {
                waiting.push(next);
            }
        }
    }
    in_order(connection, found)
}

/// Returns sessions with the earliest first.
fn in_order(connection: &Connection, rows: impl IntoIterator<Item = i64>) -> Result<Vec<i64>, Error> {
    let mut select = connection.prepare_cached("SELECT started_at, id FROM sessions WHERE row = ?1")?;
    let mut sessions = Vec::new();
    for row in rows {
        let began: Option<(u64, String)> =
            select.query_row([row], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        sessions.extend(began.map(|began| (began, row)));
    }
    sessions.sort();
    Ok(sessions.into_iter().map(|(_, row)| row).collect())
}

/// Returns the sessions right before and right after one.
fn neighbours(connection: &Connection, session: i64) -> Result<Vec<i64>, Error> {
    let pairs = |mine: &str, other: &str| -> Result<Vec<(i64, String)>, Error> {
        let mut select = connection.prepare_cached(
            "SELECT DISTINCT other.session, mine.key FROM work_observations AS mine
             JOIN work_observations AS other ON other.key = mine.key AND other.kind = ?3 AND other.session <> mine.session
             JOIN sessions AS one ON one.row = mine.session JOIN sessions AS two ON two.row = other.session
             WHERE mine.session = ?1 AND mine.kind = ?2 AND one.platform = two.platform",
        )?;
        let rows = select.query_map(params![session, mine, other], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    let mut found = Vec::new();
    for (before, prompt_id) in pairs("session-start", "session-end")? {
        if begins_after(connection, session, before, &prompt_id)? {
            found.push(before);
        }
    }
    for (after, prompt_id) in pairs("session-end", "session-start")? {
        if begins_after(connection, after, session, &prompt_id)? {
            found.push(after);
        }
    }
    Ok(found)
}

/// Returns the sessions of a line and those of the same contexts that left their work to it, the earliest first: what goes on
/// beside the line keeps its own.
pub fn with_context(connection: &Connection, line: &[i64]) -> Result<Vec<i64>, Error> {
    let newest = newest(connection)?;
    let mut sessions = line.to_vec();
    for bound in read::bound_together(connection, line)? {
        // Heard of no more since the line took the context up, or ended.
        if !sessions.contains(&bound.session)
            && (bound.last_at <= bound.taken_up_at
                || end_before(connection, bound.session, newest)?.is_some())
        {
            sessions.push(bound.session);
        }
    }
    in_order(connection, sessions)
}

/// Puts the sessions of a project into groups that share their work: each with those that continue it and those of its contexts.
pub fn groups(connection: &Connection, sessions: &[i64]) -> Result<Vec<Vec<i64>>, Error> {
    let mut groups: Vec<BTreeSet<i64>> = Vec::new();
    for session in sessions {
        let line = around(connection, *session)?;
        let mut group: BTreeSet<i64> = line.iter().copied().collect();
        group.extend(read::bound_together(connection, &line)?.into_iter().map(|bound| bound.session));
        let (joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|other| !other.is_disjoint(&group));
        group.extend(joined.into_iter().flatten());
        groups = apart;
        groups.push(group);
    }
    groups.into_iter().map(|group| in_order(connection, group)).collect()
}

/// Returns how a session ended; `None` while it goes on. One of which nothing was heard for long counts as ended when it was
/// heard of last: long before the newest observation, not before now, so that the same observations tell the same.
pub fn end_of(connection: &Connection, session: i64) -> Result<Option<End>, Error> {
    end_before(connection, session, newest(connection)?)
}

/// As [`end_of`], given the moment of the newest observation.
pub(crate) fn end_before(connection: &Connection, session: i64, newest: u64) -> Result<Option<End>, Error> {
    let mut select =
        connection.prepare_cached("SELECT ended_at, end_reason, last_at FROM sessions WHERE row = ?1")?;
    type Known = (Option<u64>, Option<String>, u64);
    let known: Option<Known> =
        select.query_row([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((ended_at, reason, last_at)) = known else { return Ok(None) };
    let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned());
    Ok(match ended_at {
        Some(at) => Some(End { at, reason }),
        None if last_at.saturating_add(SILENCE_MILLIS) < newest => {
            Some(End { at: last_at, reason: UNKNOWN.to_owned() })
        }
        None => None,
    })
}

/// Returns the moment of the newest observation of all, in milliseconds since 1970.
pub(crate) fn newest(connection: &Connection) -> Result<u64, Error> {
    let mut select = connection.prepare_cached(
        "SELECT coalesce(max((SELECT max(last_at) FROM sessions WHERE project = p.row)), 0) FROM projects AS p",
    )?;
    Ok(select.query_row([], |row| row.get(0))?)
}
