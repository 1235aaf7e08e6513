//! `.wyren/state/marks.json`: how far each session is distilled, for longer than the watermark remembers it.
//!
//! Every stop reads and writes the watermark, so it holds few sessions, and a power cut may empty it. Only distillations
//! write this file. The two are written one after the other: the mark that is further counts.

use crate::watermark::{Session, Watermark, key};
use base::{Timestamp, files};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use transcript::Mark;

/// How long the mark of a session is kept; the client forgets its transcript after 30 days.
const KEEP_MILLIS: u64 = 60 * 86_400_000;

/// How many marks are kept.
const MAX_MARKS: usize = 1_000;

/// A mark in the file. Its fields are written out, since flattening costs a hook more than it saves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    turn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// When it was set, in milliseconds since 1970.
    at: u64,
}

impl Kept {
    fn of(session: &Session) -> Self {
        let Mark { uuid, message, offset } = session.mark();
        Self { uuid, turn: message, offset, at: session.distilled_at }
    }
}

/// Returns how far a session is distilled, by the watermark or by the marks.
pub fn mark(state: &Path, watermark: &Watermark, session: &str) -> Mark {
    let here = watermark.session(session).map(Session::mark).unwrap_or_default();
    let Kept { uuid, turn, offset, .. } = read(state).remove(&key(session)).unwrap_or_default();
    let kept = Mark { uuid, message: turn, offset };
    let progress = |mark: &Mark| (mark.message, mark.offset.unwrap_or_default());
    // A session of the Node version has a record and no message number.
    if progress(&kept) > progress(&here) || here.uuid.is_none() { kept } else { here }
}

/// Remembers how far a session is distilled. The caller holds the watermark, and has written it.
pub fn keep(state: &Path, session: &Session, now: Timestamp) -> io::Result<()> {
    let mut marks = read(state);
    marks.insert(key(&session.id), Kept::of(session));
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

fn read(state: &Path) -> BTreeMap<String, Kept> {
    serde_json::from_slice(&files::read_capped(&file(state), files::cap::TEXTS).unwrap_or_default())
        .unwrap_or_default()
}

fn file(state: &Path) -> PathBuf {
    state.join("marks.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn session(id: &str, message: u64, at: u64) -> Session {
        let uuid = Some(format!("u-{message}"));
        Session {
            id: id.to_owned(),
            uuid,
            message,
            offset: Some(message * 100),
            distilled_at: at,
            ..Session::default()
        }
    }

    fn message(state: &Path, watermark: &Watermark, id: &str) -> u64 {
        mark(state, watermark, id).message
    }

    #[test]
    fn the_mark_that_is_further_counts_and_a_lost_watermark_costs_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut watermark = Watermark::default();
        assert_eq!(mark(folder.path(), &watermark, "a"), Mark::default());
        keep(folder.path(), &session("a", 7, 1_000), Timestamp::from_millis(1_000)).unwrap();
        assert_eq!(message(folder.path(), &watermark, "a"), 7);
        *watermark.session_mut("a", None) = session("a", 9, 1_001);
        assert_eq!(message(folder.path(), &watermark, "a"), 9);
        *watermark.session_mut("a", None) = Session { id: "a".to_owned(), turns: 1, ..Session::default() };
        assert_eq!(message(folder.path(), &watermark, "a"), 7);
        assert_eq!(message(folder.path(), &watermark, "b"), 0);
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
            (key(&number.to_string()), Kept::of(&session("x", 1, at)))
        });
        let many: BTreeMap<String, Kept> = many.collect();
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
        assert_eq!(message(folder.path(), &Watermark::default(), "a"), 2);
    }
}
