//! What no event told: calls that the user refused or interrupted, and messages typed while the model worked. Hooks name the
//! transcript at the end of a turn; what was added to it since the last look is read then.

use super::put::Forgotten;
use super::{ReadBy, offset, set_offset};
use crate::observations::{Projects, Writer};
use crate::open::{Error, Store};
use crate::transcribe::{Transcriber, Wanted};
use base::{files, project};
use capture::{CLAUDE_CODE, Observation, Rules};
use rusqlite::{Connection, params};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// How much one drain reads: a second or two. What is left waits for the next.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// How many observations of one transcript are held at once; a turn has a few.
const MAX_HELD: usize = 1_000;

/// A session whose turn ended, or which ended.
struct Ended {
    row: i64,
    session: String,
    started_at: u64,
    transcript: PathBuf,
}

/// Reads what was added to the transcripts of sessions whose turns ended since the last time; returns how many observations
/// are new. A transcript that cannot be read, or is not what its name says, is passed over.
pub(crate) fn follow(store: &mut Store, rules: &Rules) -> Result<u64, Error> {
    let after = watermark(store.connection())?;
    let ended = ended_since(store.connection(), after)?;
    let mut stored = 0;
    let mut left = MAX_BYTES;
    let mut last = last_row(store.connection())?;
    for session in &ended {
        let Some(size) = size_of(session) else { continue };
        let from =
            offset(store.connection(), &session.transcript, ReadBy::Follow, rules)?.unwrap_or_default();
        let added = size.saturating_sub(from);
        // One that is larger than all that may be read is never read.
        if added > left && added <= MAX_BYTES {
            last = session.row - 1;
            break;
        }
        left = left.saturating_sub(added);
        stored += if added > MAX_BYTES {
            pass_over(store, session, rules, size)?
        } else {
            read(store, session, rules, from)?
        };
    }
    if last != after {
        store.write(|transaction| {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO transcripts VALUES ('', 'follow', '', ?1)")?
                .execute([last])?;
            Ok::<_, Error>(())
        })?;
    }
    Ok(stored)
}

fn watermark(connection: &Connection) -> Result<i64, Error> {
    let mut select = connection.prepare_cached(
        "SELECT coalesce(max(offset), 0) FROM transcripts WHERE name = '' AND reader = 'follow'",
    )?;
    Ok(select.query_row([], |row| row.get(0))?)
}

fn last_row(connection: &Connection) -> Result<i64, Error> {
    Ok(connection.query_row("SELECT coalesce(max(row), 0) FROM observations", [], |row| row.get(0))?)
}

/// Returns the sessions of which an end came after this row, each once, in the order of their last.
fn ended_since(connection: &Connection, after: i64) -> Result<Vec<Ended>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT max(o.row), sessions.id, started_at, o.data ->> '$.transcript' AS transcript
         FROM observations AS o JOIN sessions ON sessions.row = o.session
         WHERE o.row > ?1 AND o.kind IN ('turn-end', 'session-end') AND platform = ?2
             AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.transcript' END IS NOT NULL
         GROUP BY o.session, transcript ORDER BY 1",
    )?;
    let rows = select.query_map(params![after, CLAUDE_CODE], |row| {
        Ok(Ended {
            row: row.get(0)?,
            session: row.get(1)?,
            started_at: row.get(2)?,
            transcript: PathBuf::from(row.get::<_, String>(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the size of a session's transcript, if it is one: a regular file of the user's that is named after the session.
fn size_of(session: &Ended) -> Option<u64> {
    let path = &session.transcript;
    let is_named = path.is_absolute()
        && path.file_stem() == Some(OsStr::new(&session.session))
        && path.extension() == Some(OsStr::new("jsonl"));
    let folder = path.parent().filter(|_| is_named)?;
    let metadata = files::open_regular(path).and_then(|file| file.metadata()).ok()?;
    is_users(&metadata, path, folder).then_some(metadata.len())
}

fn is_users(metadata: &Metadata, path: &Path, folder: &Path) -> bool {
    project::refuse_foreign(metadata, path, folder).is_ok()
}

fn pass_over(store: &mut Store, session: &Ended, rules: &Rules, size: u64) -> Result<u64, Error> {
    store.write(|transaction| set_offset(transaction, &session.transcript, ReadBy::Follow, rules, size))?;
    Ok(0)
}

fn read(store: &mut Store, session: &Ended, rules: &Rules, from: u64) -> Result<u64, Error> {
    let mut found: Vec<Observation<'static>> = Vec::new();
    let mut transcriber = Transcriber::new(rules, Wanted::Unseen);
    // A session that goes on under another id begins with what the earlier one told.
    let passed = transcriber.session(&session.transcript, from, &mut |observation| {
        let is_its = observation.session == session.session && observation.at >= session.started_at;
        if is_its && found.len() < MAX_HELD {
            found.push(observation);
        }
    });
    let Ok(passed) = passed else { return Ok(0) };
    let forgotten = if found.is_empty() { Forgotten::default() } else { Forgotten::of(store) };
    let mut projects = Projects::default();
    store.write(|transaction| {
        let mut writer = Writer::new(transaction, &mut projects);
        let mut stored = 0;
        for observation in &found {
            let is_wanted = !forgotten.has(&session.session, &observation.id)
                && !is_recorded_call(transaction, session, &observation.id)?;
            stored += u64::from(is_wanted && writer.put(observation)?);
        }
        writer.finish()?;
        set_offset(transaction, &session.transcript, ReadBy::Follow, rules, passed.last_turn)?;
        Ok(stored)
    })
}

/// Says whether a refused call was recorded as a call, as one that was interrupted may be.
fn is_recorded_call(connection: &Connection, session: &Ended, id: &str) -> Result<bool, Error> {
    let Some(call) = id.strip_prefix("r:") else { return Ok(false) };
    let mut select = connection.prepare_cached(
        "SELECT 1 FROM sessions JOIN observations AS o ON o.session = sessions.row
         WHERE platform = ?1 AND sessions.id = ?2 AND o.kind = 'tool' AND o.id = 't:' || ?3",
    )?;
    Ok(select.exists(params![CLAUDE_CODE, session.session, call])?)
}
