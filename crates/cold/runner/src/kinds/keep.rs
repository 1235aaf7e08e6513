//! `keep-transcript`: a compressed copy of the transcript of a session that ended, once the user has switched that on.

use crate::handler::{Context, Handler, Progress};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, files};
use capture::{Rules, Spool};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use store::jobs::{self, Failure, NewJob};
use store::{Store, repair};

const KIND: &str = "keep-transcript";
const SETTING: &str = "capture.keep_transcripts";

/// Only sessions of which something was heard within this time are looked at: a week, so that one whose terminal was killed before
/// a weekend is kept after it.
const RECENT_MILLIS: u64 = 7 * 86_400_000;
/// After how long without a word a session without an end counts as ended: its terminal was killed, or a shell went on in the
/// background.
const SILENCE_MILLIS: u64 = 12 * 60 * 60 * 1_000;

/// What the job is about.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    session: String,
    transcript: String,
}

/// Does jobs of this kind.
pub(super) struct KeepTranscript;

impl Handler for KeepTranscript {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let payload: Payload = context.payload()?;
        let settings = Settings::read(&context.env, &context.paths.hook_settings());
        let transcript = Path::new(&payload.transcript);
        let file = context.paths.transcript(&payload.session);
        if !settings.is_on(SETTING) || is_forgotten(&file) {
            return Ok(Progress::Needless { reason: "the transcript is not to be kept".to_owned() });
        }
        // What a hook named is a path; only a transcript of this session is copied.
        if transcript.file_stem() != Some(OsStr::new(&payload.session)) || !transcript.is_absolute() {
            return Ok(Progress::Needless { reason: "no transcript of the session".to_owned() });
        }
        let rules = Rules::of(&settings, &context.env).knowing(&Spool::new(context.paths.spool()));
        // What `wyren forget` notes first of all: what it forgets meanwhile must not come back with the copy.
        let notes = || files::read_if_there(&repair::notes_of_forgotten(&context.paths.database()));
        let before = notes().map_err(|error| Failure::Again(error.to_string()))?;
        let is_current = || notes().is_ok_and(|now| now == before);
        let kept = files::write_atomic_with(&file, |copy| -> io::Result<()> {
            let mut copy = GzEncoder::new(io::BufWriter::new(copy), Compression::default());
            store::transcripts::keep(&context.store, &rules, &payload.session, transcript, &mut copy)?;
            io::Write::flush(&mut copy.finish()?)?;
            let is_wanted = is_current() && !is_forgotten(&file);
            is_wanted.then_some(()).ok_or_else(|| io::Error::other("something was forgotten meanwhile"))
        });
        match kept {
            // It was noted in the instant between: what exactly is not known any more.
            Ok(()) if !is_current() => match files::write_atomic(&file, b"") {
                Ok(()) => Ok(Progress::Done),
                Err(error) => Err(Failure::Again(error.to_string())),
            },
            Ok(()) => Ok(Progress::Done),
            // A missing transcript does not come back.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Progress::Done),
            Err(error) => Err(Failure::Again(error.to_string())),
        }
    }
}

/// Returns whether something of it was forgotten: then the file is empty, and stays so.
fn is_forgotten(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.len() == 0)
}

/// Queues a job for every session that ended since its transcript was kept.
pub(crate) fn request_due(
    store: &mut Store,
    env: &Env,
    paths: &Paths,
    now: Timestamp,
) -> Result<(), store::Error> {
    let settings = Settings::read(env, &paths.hook_settings());
    if !settings.is_on(SETTING) {
        return Ok(());
    }
    for (payload, ended_at) in ended(store, now)? {
        let file = paths.transcript(&payload.session);
        let kept_at = fs::metadata(&file).and_then(|metadata| metadata.modified()).map(Timestamp::from);
        if is_forgotten(&file) || kept_at.is_ok_and(|at| at.millis() > ended_at) {
            continue;
        }
        let text = serde_json::to_string(&payload)?;
        let job = NewJob { dedup_key: Some(&payload.session), max_attempts: 3, ..NewJob::new(KIND, &text) };
        jobs::enqueue(store, &job, now)?;
    }
    Ok(())
}

fn ended(store: &Store, now: Timestamp) -> Result<Vec<(Payload, u64)>, store::Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT s.id, o.data ->> '$.transcript', max(o.at) FROM sessions AS s JOIN observations AS o ON o.session = s.row
         WHERE s.last_at >= ?1 AND s.platform = 'claude-code' AND json_valid(o.data)
             AND (o.kind = 'session-end'
                 OR o.kind = 'turn-end' AND CASE WHEN s.ended_at IS NULL THEN s.last_at < ?2 ELSE o.at <= s.ended_at END)
             AND o.data ->> '$.transcript' IS NOT NULL
         GROUP BY s.row",
    )?;
    let before = |millis: u64| i64::try_from(now.millis().saturating_sub(millis)).unwrap_or(i64::MAX);
    let rows = select.query_map([before(RECENT_MILLIS), before(SILENCE_MILLIS)], |row| {
        Ok((Payload { session: row.get(0)?, transcript: row.get(1)? }, row.get(2)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{Data, Kept, Observation};
    use serde_json::{Value, json};
    use std::borrow::Cow;
    use store::observations::Drain;

    /// 15 January 2027.
    const AT: u64 = 1_800_000_000_000;
    const HOUR: u64 = 3_600_000;

    #[test]
    fn a_session_is_due_once_it_ended_or_was_silent_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        let mut store = journal::open_store(&paths).unwrap();
        let spool = Spool::new(paths.spool());
        let put = |session: &str, kind: &str, at: u64, data: &Value| {
            let data = serde_json::value::to_raw_value(data).unwrap();
            let data = Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(data) });
            let mut observation = Observation::new(session, format!("x:{at}"), AT + at, data);
            observation.cwd = "/nowhere/p".into();
            spool.append(&observation).unwrap();
        };
        let transcript = json!({"transcript": "/t/s.jsonl"});
        put("ended", "session-end", 1, &json!({"transcript": "/t/ended.jsonl", "reason": "other"}));
        // After a private prompt, an end does not name the transcript.
        put("private", "turn-end", 1, &json!({"transcript": "/t/private.jsonl"}));
        put("private", "session-end", 2, &json!({"reason": "clear"}));
        put("silent", "turn-end", 2, &transcript);
        put("open", "turn-end", 2 * HOUR, &transcript);
        Drain::unbounded(&spool).run(&mut store, Timestamp::from_millis(AT)).unwrap();
        let due = |hours: u64| -> Vec<String> {
            let due = ended(&store, Timestamp::from_millis(AT + hours * HOUR)).unwrap();
            let mut sessions: Vec<String> = due.into_iter().map(|(payload, _)| payload.session).collect();
            sessions.sort();
            sessions
        };
        assert_eq!(due(1), ["ended", "private"]);
        assert_eq!(due(13), ["ended", "private", "silent"]);
        assert_eq!(due(7 * 24), ["ended", "open", "private", "silent"]);
        assert_eq!(due(7 * 24 + 1), ["open"], "the others are too old");
    }
}
