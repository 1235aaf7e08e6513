//! `.wyren/state/marks.json`: how far each session is distilled, for longer than the watermark remembers it.
//!
//! Every stop reads and writes the watermark, so that one holds few sessions, and a power cut may empty it. This file is
//! written by distillations alone. Whoever needs a mark takes the one that is further: the two are written one after the
//! other.

use crate::watermark::{Session, Watermark, key};
use base::{Timestamp, files};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How long the mark of a session is kept; the client forgets its transcript after 30 days.
const KEEP_MILLIS: u64 = 60 * 86_400_000;

/// How many marks are kept.
const MAX_MARKS: usize = 1_000;

/// How far a session is distilled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// The last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The number of its turn, counted from the beginning of the transcript.
    pub turn: u64,
    /// Where that record ends in the transcript, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// When this was so, in milliseconds since 1970.
    pub at: u64,
}

impl Position {
    fn of(session: &Session) -> Self {
        Self {
            uuid: session.uuid.clone(),
            turn: session.turn,
            offset: session.offset,
            at: session.distilled_at,
        }
    }

    fn progress(&self) -> (u64, u64) {
        (self.turn, self.offset.unwrap_or_default())
    }
}

/// Returns how far a session is distilled, by the watermark or by the marks.
pub fn position(state: &Path, watermark: &Watermark, session: &str) -> Position {
    let here = watermark.session(session).map(Position::of).unwrap_or_default();
    let kept = read(state).remove(&key(session)).unwrap_or_default();
    // A session of the Node system has a record and no turn.
    if kept.progress() > here.progress() || here.uuid.is_none() { kept } else { here }
}

/// Remembers how far a session is distilled. The caller holds the watermark, and has written it.
pub fn keep(state: &Path, session: &Session, now: Timestamp) -> io::Result<()> {
    let mut marks = read(state);
    marks.insert(key(&session.id), Position::of(session));
    marks.retain(|_, mark| now.millis_since(Timestamp::from_millis(mark.at)) <= KEEP_MILLIS);
    let mut by_age: Vec<(u64, String)> = marks.iter().map(|(key, mark)| (mark.at, key.clone())).collect();
    by_age.sort();
    by_age.iter().take(marks.len().saturating_sub(MAX_MARKS)).for_each(|(_, key)| {
        marks.remove(key);
    });
    let mut text = serde_json::to_vec(&marks)?;
    text.push(b'\n');
    files::write_atomic(&file(state), &text)
}

fn read(state: &Path) -> BTreeMap<String, Position> {
    serde_json::from_slice(&fs::read(file(state)).unwrap_or_default()).unwrap_or_default()
}

fn file(state: &Path) -> PathBuf {
    state.join("marks.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, turn: u64, at: u64) -> Session {
        let uuid = Some(format!("u-{turn}"));
        Session {
            id: id.to_owned(),
            uuid,
            turn,
            offset: Some(turn * 100),
            distilled_at: at,
            ..Session::default()
        }
    }

    fn turn(state: &Path, watermark: &Watermark, id: &str) -> u64 {
        position(state, watermark, id).turn
    }

    #[test]
    fn the_mark_that_is_further_counts_and_a_lost_watermark_costs_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut watermark = Watermark::default();
        assert_eq!(position(folder.path(), &watermark, "a"), Position::default());
        keep(folder.path(), &session("a", 7, 1_000), Timestamp::from_millis(1_000)).unwrap();
        assert_eq!(turn(folder.path(), &watermark, "a"), 7);
        *watermark.session_mut("a", None) = session("a", 9, 1_001);
        assert_eq!(turn(folder.path(), &watermark, "a"), 9);
        *watermark.session_mut("a", None) = Session { id: "a".to_owned(), turns: 1, ..Session::default() };
        assert_eq!(turn(folder.path(), &watermark, "a"), 7);
        assert_eq!(turn(folder.path(), &watermark, "b"), 0);
    }

    #[test]
    fn marks_are_forgotten_by_age_and_beyond_a_count() {
        let folder = tempfile::tempdir().unwrap();
        let later = Timestamp::from_millis(KEEP_MILLIS + 2_000);
        keep(folder.path(), &session("old", 1, 1_000), Timestamp::from_millis(1_000)).unwrap();
        keep(folder.path(), &session("new", 1, later.millis()), later).unwrap();
        assert_eq!(read(folder.path()).len(), 1);
        let many = (0..MAX_MARKS as u64 + 50).map(|number| {
            let at = later.millis() + number;
            (key(&number.to_string()), Position::of(&session("x", 1, at)))
        });
        let many: BTreeMap<String, Position> = many.collect();
        fs::write(file(folder.path()), serde_json::to_vec(&many).unwrap()).unwrap();
        keep(folder.path(), &session("newest", 1, later.millis() + 9_999), later).unwrap();
        let kept = read(folder.path());
        assert_eq!(kept.len(), MAX_MARKS);
        assert!(kept.contains_key(&key("newest")) && !kept.contains_key(&key("0")));
    }

    #[test]
    fn nonsense_counts_as_no_marks() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(file(folder.path()), "[").unwrap();
        keep(folder.path(), &session("a", 2, 5), Timestamp::from_millis(5)).unwrap();
        assert_eq!(turn(folder.path(), &Watermark::default(), "a"), 2);
    }
}
