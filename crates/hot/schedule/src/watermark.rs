//! `.wyren/state/watermark.json`: turns that were counted, and how far each session is distilled.
//!
//! The file is the Node version's, key by key. What it does not know is in one key of ours, `sessions`; what we do not know
//! is written back as it was read. A file that makes no sense counts as an empty one, as it does there.

use base::lock::Lock;
use base::{Timestamp, digest, files};
use place::node::{Replaced, is_alive, replace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use transcript::Mark;

/// A session that is distilled and was left alone for so long is forgotten.
const KEEP_MILLIS: u64 = 30 * 86_400_000;

/// How many sessions stay here once they are distilled: every stop reads and writes all of them. Their marks
/// are kept in [`crate::marks`] for longer.
const MAX_DISTILLED: usize = 4;

/// How many sessions are remembered at all, where nothing is ever distilled.
const MAX_SESSIONS: usize = 256;

/// A distillation without a process id counts as running for so long.
const NAMELESS_MILLIS: u64 = 60_000;

/// A distillation that was asked for so long ago does not count as running: its process id may be another process's now.
const LONGEST_RUN_MILLIS: u64 = 15 * 60_000;

/// The file's contents.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Watermark {
    /// The turns of all sessions since a distillation was last begun.
    pub turns_since_distill: u64,
    /// When the last turn of any session ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn_at: Option<u64>,
    /// The last record that was distilled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_uuid: Option<String>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_distilled_at: Option<u64>,
    /// The transcript that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transcript: Option<String>,
    /// Whether a distillation was begun and is not over; see [`Watermark::is_running`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub distiller_running: bool,
    /// The process that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distiller_pid: Option<u32>,
    /// Since when a distillation of the Node version is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    distiller_seen: Option<Seen>,
    /// The sessions, by the short digest of their ids; see [`key`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<String, Session>,
    /// What others keep in the file.
    #[serde(flatten)]
    other: BTreeMap<String, Box<RawValue>>,
}

/// A distillation of the Node version, which does not say when it began. Its process id may become another process's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// The process; `None` when the flag names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// When it was seen first, in milliseconds since 1970.
    at: u64,
}

/// One session: its turns, and how far it is distilled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The client's name for it.
    pub id: String,
    /// Its turns since its last distillation was asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub turns: u64,
    /// When its last turn ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_turn_at: u64,
    /// The last record that was distilled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The number of the last message that was distilled, counted from the start of the transcript.
    #[serde(rename = "turn", skip_serializing_if = "is_zero")]
    pub message: u64,
    /// Where in the transcript that record ends, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Its transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The folder that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// When its distillation was last asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub requested_at: u64,
    /// When it was last distilled.
    #[serde(skip_serializing_if = "is_zero")]
    pub distilled_at: u64,
    /// How often in a row a model's answer about it was no good.
    #[serde(skip_serializing_if = "is_zero")]
    pub bad_answers: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A turn that has just ended.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The session's id.
    pub session: &'a str,
    /// Its transcript.
    pub transcript: Option<&'a str>,
    /// The folder that it works in.
    pub cwd: &'a Path,
    /// When it ended.
    pub at: Timestamp,
}

/// What a session had behind it when a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its turns, this one included.
    pub turns: u64,
    /// How long ago its turn before this one ended, in milliseconds, if that one is not distilled yet.
    pub pause: Option<u64>,
}

/// Returns the key of a session in the map.
pub fn key(session: &str) -> String {
    digest::short_hex(session.as_bytes())
}

impl Watermark {
    /// Reads the file below a folder of state; an empty one when there is none that makes sense.
    pub fn read(state: &Path) -> Self {
        Self::parse(&files::read_capped(&file(state), files::cap::TEXTS).unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Self {
        let mut keys: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(text).unwrap_or_default();
        let keys = &mut keys;
        Self {
            turns_since_distill: take(keys, "turns_since_distill"),
            last_turn_at: take(keys, "last_turn_at"),
            last_uuid: take(keys, "last_uuid"),
            last_distilled_at: take(keys, "last_distilled_at"),
            last_transcript: take(keys, "last_transcript"),
            distiller_running: take(keys, "distiller_running"),
            distiller_pid: take(keys, "distiller_pid"),
            distiller_seen: take(keys, "distiller_seen"),
            sessions: keys.remove("sessions").map(|raw| sessions(&raw)).unwrap_or_default(),
            other: std::mem::take(keys),
        }
    }

    /// Returns the text of the file, indented as the Node version does.
    fn render(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Counts a turn, of the clone and of its session.
    pub fn count(&mut self, turn: Turn<'_>) -> Counted {
        let session = self.session_mut(turn.session, turn.transcript);
        let is_open = session.turns > 0 && session.last_turn_at > 0;
        let pause = is_open.then(|| turn.at.millis_since(Timestamp::from_millis(session.last_turn_at)));
        session.turns += 1;
        session.last_turn_at = turn.at.millis();
        session.cwd = Some(turn.cwd.to_string_lossy().into_owned());
        let counted = Counted { turns: session.turns, pause };
        self.turns_since_distill += 1;
        self.last_turn_at = Some(turn.at.millis());
        counted
    }

    /// Returns the session of an id.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(&key(id))
    }

    /// Returns the session of an id, to be changed. The first one in a file of the Node version continues from
    /// its count.
    pub fn session_mut(&mut self, id: &str, transcript: Option<&str>) -> &mut Session {
        let first = self.sessions.is_empty().then(|| Session {
            turns: self.turns_since_distill,
            last_turn_at: self.last_turn_at.unwrap_or_default(),
            // In another transcript the record would be looked for in vain.
            uuid: self.last_uuid.clone().filter(|_| self.last_transcript.as_deref() == transcript),
            ..Session::default()
        });
        let session = self.sessions.entry(key(id)).or_insert_with(|| first.unwrap_or_default());
        id.clone_into(&mut session.id);
        if let Some(transcript) = transcript {
            // A session that goes on in another file has a mark that means nothing there, except for its record.
            if session.transcript.as_deref().is_some_and(|known| known != transcript) {
                session.offset = None;
            }
            session.transcript = Some(transcript.to_owned());
        }
        session
    }

    /// Says whether a distillation runs: one is noted, and its process lives.
    pub fn is_running(&self, now: Timestamp) -> bool {
        let age = |at: u64| now.millis_since(Timestamp::from_millis(at));
        let longest = if self.distiller_pid.is_some() { LONGEST_RUN_MILLIS } else { NAMELESS_MILLIS };
        let is_young = || match self.last_request() {
            // One that was never seen before begins to count now.
            0 => self.seen().is_none_or(|seen| age(seen.at) < longest),
            requested => age(requested) < longest,
        };
        self.distiller_running && self.distiller_pid.is_none_or(is_alive) && is_young()
    }

    /// Says whether a distillation runs in another process.
    pub fn is_running_elsewhere(&self, now: Timestamp) -> bool {
        self.distiller_pid.is_some_and(|process| process != std::process::id()) && self.is_running(now)
    }

    /// Returns when a distillation was last asked for; 0 when none ever was, as in a folder of the Node version.
    fn last_request(&self) -> u64 {
        self.sessions.values().map(|session| session.requested_at).max().unwrap_or_default()
    }

    /// Notes since when a distillation is known that has no time of request.
    fn note_seen(&mut self, now: Timestamp) {
        let is_theirs = self.distiller_running && self.last_request() == 0;
        let now = Seen { pid: self.distiller_pid, at: now.millis() };
        self.distiller_seen = is_theirs.then(|| self.seen().unwrap_or(now));
    }

    /// Returns since when the distillation that is noted is known.
    fn seen(&self) -> Option<Seen> {
        self.distiller_seen.filter(|seen| seen.pid == self.distiller_pid)
    }

    /// Notes that a distillation runs in a process.
    pub fn set_running(&mut self, process: Option<u32>) {
        self.distiller_running = true;
        self.distiller_pid = process;
    }

    /// Notes that no distillation runs.
    pub fn clear_running(&mut self) {
        self.distiller_running = false;
        self.distiller_pid = None;
    }

    /// Returns the keys of sessions with turns that no request covers and that have been idle for longer than `idle`
    /// milliseconds, and of those whose request is so old that it was lost; those that wait longest first.
    pub fn leftovers(&self, now: Timestamp, idle: u64) -> Vec<String> {
        let age = |at: u64| now.millis_since(Timestamp::from_millis(at));
        let is_left = |session: &Session| {
            let waits = session.turns > 0 && age(session.last_turn_at) > idle;
            let is_lost = session.is_requested() && age(session.requested_at) > LONGEST_RUN_MILLIS;
            session.transcript.is_some() && (waits || is_lost)
        };
        let mut left: Vec<_> = self.sessions.iter().filter(|(_, session)| is_left(session)).collect();
        left.sort_by_key(|(_, session)| session.last_turn_at);
        left.into_iter().map(|(key, _)| key.clone()).collect()
    }

    /// Forgets sessions that do not continue, so that the file stays small.
    fn prune(&mut self, now: Timestamp) {
        let is_old =
            |session: &Session| now.millis_since(Timestamp::from_millis(session.touched_at())) > KEEP_MILLIS;
        self.sessions.retain(|_, session| session.turns > 0 || !is_old(session));
        let is_distilled = |session: &Session| session.turns == 0 && !session.is_requested();
        let distilled = self.sessions.values().filter(|session| is_distilled(session)).count();
        self.forget_oldest(distilled.saturating_sub(MAX_DISTILLED), is_distilled);
        self.forget_oldest(self.sessions.len().saturating_sub(MAX_SESSIONS), |_| true);
    }

    fn forget_oldest(&mut self, count: usize, may_go: impl Fn(&Session) -> bool) {
        if count == 0 {
            return;
        }
        let mut keys: Vec<(u64, String)> = (self.sessions.iter())
            .filter(|(_, session)| may_go(session))
            .map(|(key, session)| (session.touched_at(), key.clone()))
            .collect();
        keys.sort();
        keys.iter().take(count).for_each(|(_, key)| {
            self.sessions.remove(key);
        });
    }
}

impl Session {
    /// Returns how far the session is distilled.
    pub fn mark(&self) -> Mark {
        Mark { uuid: self.uuid.clone(), message: self.message, offset: self.offset }
    }

    /// Notes how far the session is distilled.
    pub fn set_mark(&mut self, mark: &Mark) {
        (self.uuid, self.message, self.offset) = (mark.uuid.clone(), mark.message, mark.offset);
    }

    /// Says whether a distillation was asked for and has not come to its end.
    fn is_requested(&self) -> bool {
        self.requested_at > self.distilled_at
    }

    fn touched_at(&self) -> u64 {
        self.last_turn_at.max(self.distilled_at).max(self.requested_at)
    }
}

/// Takes a key out of the map; one whose value makes no sense counts as missing.
fn take<T: DeserializeOwned + Default>(keys: &mut BTreeMap<String, Box<RawValue>>, name: &str) -> T {
    keys.remove(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// Reads the map of sessions; one of them that makes no sense does not take the others along.
fn sessions(raw: &RawValue) -> BTreeMap<String, Session> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| {
        let each: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get()).unwrap_or_default();
        each.into_iter().filter_map(|(key, raw)| Some((key, serde_json::from_str(raw.get()).ok()?))).collect()
    })
}

fn file(state: &Path) -> PathBuf {
    state.join("watermark.json")
}

/// The right to change the file, and what it held when it was taken.
#[derive(Debug)]
pub struct Hold {
    _lock: Lock,
    state: PathBuf,
    written: Option<Replaced>,
    /// What the file is to hold.
    pub watermark: Watermark,
}

impl Hold {
    /// Takes the file below a folder of state, waiting at most `patience`; `None` when someone else kept it. A folder that is
    /// a link is refused: it would lead out of the repository.
    pub fn take(state: &Path, patience: Duration) -> io::Result<Option<Self>> {
        files::refuse_link(state)?;
        let Some(lock) = Lock::exclusive(&state.join("watermark.lock"), patience)? else { return Ok(None) };
        let watermark = Watermark::read(state);
        Ok(Some(Self { _lock: lock, state: state.to_owned(), written: None, watermark }))
    }

    /// Returns the folder of state that the file is in.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Writes the file, whole or not at all.
    pub fn write(&mut self, now: Timestamp) -> io::Result<()> {
        self.watermark.prune(now);
        self.watermark.note_seen(now);
        let (path, text) = (file(&self.state), self.watermark.render()?);
        self.written = Some(match self.written.take() {
            Some(replaced) => replaced.again(&path, text)?,
            None => replace(&path, text)?,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = r#"{
  "turns_since_distill": 4,
  "last_turn_at": 1794796001123,
  "last_uuid": "u-1",
  "last_transcript": "/t/a.jsonl",
  "from_tomorrow": {"b": [1, 2.50]}
}"#;

    fn turn<'a>(session: &'a str, transcript: &'a str, at: u64) -> Turn<'a> {
        Turn { session, transcript: Some(transcript), cwd: Path::new("/w"), at: Timestamp::from_millis(at) }
    }

    #[test]
    fn keys_of_others_are_written_back_as_they_were() {
        let watermark = Watermark::parse(NODE.as_bytes());
        let text = String::from_utf8(watermark.render().unwrap()).unwrap();
        assert!(text.contains(r#""from_tomorrow": {"b": [1, 2.50]}"#), "{text}");
        assert!(
            text.starts_with("{\n  \"turns_since_distill\": 4,\n  \"last_turn_at\": 1794796001123,"),
            "{text}"
        );
        assert!(!text.contains("distiller_running") && !text.contains("distiller_pid"), "{text}");
    }

    #[test]
    fn the_first_session_continues_from_the_node_version_and_the_second_does_not() {
        let mut watermark = Watermark::parse(NODE.as_bytes());
        let counted = watermark.count(turn("a", "/t/a.jsonl", 1_794_796_101_123));
        assert_eq!(counted, Counted { turns: 5, pause: Some(100_000) });
        assert_eq!(watermark.session("a").unwrap().uuid.as_deref(), Some("u-1"));
        let counted = watermark.count(turn("b", "/t/b.jsonl", 1_794_796_101_124));
        assert_eq!(counted, Counted { turns: 1, pause: None });
        assert_eq!(
            (watermark.turns_since_distill, watermark.session("b").unwrap().uuid.as_deref()),
            (6, None)
        );

        let mut elsewhere = Watermark::parse(NODE.as_bytes());
        elsewhere.count(turn("a", "/t/other.jsonl", 1));
        assert_eq!(elsewhere.session("a").unwrap().uuid, None);
    }

    #[test]
    fn what_makes_no_sense_counts_as_missing_and_nothing_else_does() {
        for nonsense in ["", "{", "[]", "null", "7", "\u{0}"] {
            let watermark = Watermark::parse(nonsense.as_bytes());
            assert_eq!((watermark.turns_since_distill, watermark.sessions.len()), (0, 0), "{nonsense}");
        }
        let odd = r#"{"turns_since_distill":"many","last_uuid":"u","sessions":{"a":{"turns":3},"b":{"turns":"x"},"c":1}}"#;
        let watermark = Watermark::parse(odd.as_bytes());
        assert_eq!((watermark.turns_since_distill, watermark.last_uuid.as_deref()), (0, Some("u")));
        assert_eq!(watermark.sessions.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_flag_counts_while_its_process_lives_and_a_nameless_one_for_a_minute() {
        let now = Timestamp::from_millis(10_000_000);
        let running = |process: Option<u32>, requested_at: u64| {
            let mut watermark = Watermark::default();
            watermark.session_mut("a", None).requested_at = requested_at;
            watermark.set_running(process);
            watermark.is_running(now)
        };
        let alive = Some(std::process::id());
        assert!(running(alive, 9_999_999) && running(alive, 0));
        assert!(!running(alive, 10_000_000 - LONGEST_RUN_MILLIS));
        assert!(
            running(None, 10_000_000 - NAMELESS_MILLIS + 1) && !running(None, 10_000_000 - NAMELESS_MILLIS)
        );
        assert!(!running(Some(u32::MAX), 9_999_999));
        assert!(!Watermark::default().is_running(now));
    }

    #[test]
    fn a_flag_without_a_request_counts_for_as_long_as_any_once_it_was_seen() {
        let at = |millis: u64| Timestamp::from_millis(1_000 + millis);
        let mut watermark = Watermark::default();
        watermark.set_running(Some(std::process::id()));
        watermark.note_seen(at(0));
        let mut watermark = Watermark::parse(&watermark.render().unwrap());
        watermark.note_seen(at(1));
        assert!(watermark.is_running(at(LONGEST_RUN_MILLIS - 1)));
        assert!(!watermark.is_running(at(LONGEST_RUN_MILLIS)));
        // Another distillation has its own time.
        watermark.distiller_seen = Some(Seen { pid: Some(u32::MAX), at: 1 });
        watermark.note_seen(at(LONGEST_RUN_MILLIS));
        assert!(watermark.is_running(at(LONGEST_RUN_MILLIS)));
        watermark.clear_running();
        watermark.note_seen(at(LONGEST_RUN_MILLIS));
        assert_eq!(watermark.distiller_seen, None);
    }

    #[test]
    fn d10_a_flag_without_a_process_counts_for_a_minute_where_nothing_was_ever_asked_for() {
        let at = |millis: u64| Timestamp::from_millis(1_000_000 + millis);
        let mut watermark = Watermark::parse(br#"{"turns_since_distill":4,"distiller_running":true}"#);
        assert!(watermark.is_running(at(0)));
        watermark.note_seen(at(0));
        let mut watermark = Watermark::parse(&watermark.render().unwrap());
        watermark.note_seen(at(NAMELESS_MILLIS - 1));
        assert!(watermark.is_running(at(NAMELESS_MILLIS - 1)));
        assert!(!watermark.is_running(at(NAMELESS_MILLIS)));
        // A distillation that has a process has its own time.
        watermark.set_running(Some(std::process::id()));
        assert!(watermark.is_running(at(NAMELESS_MILLIS)));
    }

    #[test]
    fn distilled_sessions_are_forgotten_in_time_and_others_are_not() {
        let now = Timestamp::from_millis(100 * KEEP_MILLIS);
        let mut watermark = Watermark::default();
        watermark.count(turn("open", "/t/open.jsonl", 1));
        watermark.session_mut("old", None).last_turn_at = now.millis() - KEEP_MILLIS - 1;
        watermark.session_mut("old", None).turns = 0;
        watermark.session_mut("new", None).distilled_at = now.millis() - KEEP_MILLIS;
        watermark.prune(now);
        let ids: Vec<&str> = watermark.sessions.values().map(|session| session.id.as_str()).collect();
        assert!(ids.len() == 2 && !ids.contains(&"old"), "{ids:?}");
    }

    #[test]
    fn however_many_sessions_there_are_the_file_stays_small() {
        let mut watermark = Watermark::default();
        for number in 0..1_000_u64 {
            let name = number.to_string();
            watermark.count(turn(&name, "/t/x.jsonl", 1_000 + number));
            watermark.session_mut(&name, None).turns = number % 2;
            watermark.prune(Timestamp::from_millis(1_000 + number));
        }
        let distilled = watermark.sessions.values().filter(|session| session.turns == 0).count();
        assert!(distilled <= MAX_DISTILLED && watermark.sessions.len() <= MAX_SESSIONS);
        assert!(watermark.session("999").is_some() && watermark.session("998").is_some());
        assert!(watermark.session("0").is_none() && watermark.session("1").is_none());
    }
}
