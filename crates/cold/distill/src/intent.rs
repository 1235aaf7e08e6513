//! `.wyren/state/intents/<session>.json`: what a distillation is about to do, until it is done.
//!
//! The process may be killed between a model's answer and the mark that says it was used. The intent is written first, so
//! that the next distillation continues with it instead of asking again. Applying it twice changes nothing more.

use crate::note::Note;
use base::{Timestamp, files};
use distiller::{Evidence, Operation};
use schedule::watermark::key;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use transcript::Mark;

/// The version of the format.
const VERSION: u32 = 1;

const FOLDER: &str = "intents";

/// The folder of earlier builds, which may still hold an intent of a process that was killed before an update.
const EARLIER_FOLDER: &str = "plans";

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    #[serde(rename = "v")]
    version: u32,
    /// The session that was distilled.
    pub(crate) session: String,
    /// Its transcript.
    pub(crate) transcript: String,
    /// Whose session it is.
    pub(crate) author: String,
    /// When it was distilled, in milliseconds since 1970: entries carry the day.
    pub(crate) when: u64,
    /// The model that was asked; empty for none.
    pub(crate) model: String,
    /// What is to change in the memory.
    pub(crate) operations: Vec<Operation>,
    /// What the operations rest on.
    pub(crate) evidence: Evidence,
    /// How far the session is distilled once it is done.
    pub(crate) next: Mark,
    /// What the journal gets; absent without a model's summary, and in intents of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) journal: Option<Note>,
}

impl Intent {
    pub(crate) fn new(session: &str, transcript: &Path, author: &str, when: Timestamp, next: Mark) -> Self {
        Self {
            version: VERSION,
            session: session.to_owned(),
            transcript: transcript.to_string_lossy().into_owned(),
            author: author.to_owned(),
            when: when.millis(),
            model: String::new(),
            operations: Vec::new(),
            evidence: Evidence::default(),
            next,
            journal: None,
        }
    }

    /// Reads the intent that an interrupted distillation of a session left; `None` when there is no valid one.
    pub(crate) fn left(state: &Path, session: &str) -> Option<Self> {
        [FOLDER, EARLIER_FOLDER].into_iter().find_map(|folder| {
            files::refuse_link(&state.join(folder)).ok()?;
            let text = files::read_capped(&file(state, folder, session), files::cap::TEXTS).ok()?;
            let intent: Self = serde_json::from_slice(&text).ok()?;
            (intent.version == VERSION && intent.session == session).then_some(intent)
        })
    }

    pub(crate) fn write(&self, state: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        files::refuse_link(&state.join(FOLDER))?;
        files::write_atomic(&file(state, FOLDER, &self.session), &text)
    }
}

/// Removes the intent of a session, if there is one.
pub(crate) fn remove(state: &Path, session: &str) -> io::Result<()> {
    for folder in [FOLDER, EARLIER_FOLDER] {
        if !files::is_link(&state.join(folder)) {
            files::remove_if_there(&file(state, folder, session))?;
        }
    }
    Ok(())
}

fn file(state: &Path, folder: &str, session: &str) -> PathBuf {
    state.join(folder).join(format!("{}.json", key(session)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_intent_is_found_until_it_is_removed_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let next = Mark { uuid: Some("u".to_owned()), message: 7, offset: Some(99) };
        let intent = Intent::new("s-1", Path::new("/t.jsonl"), "Ada", Timestamp::from_millis(5), next);
        assert_eq!(Intent::left(folder.path(), "s-1"), None);
        intent.write(folder.path()).unwrap();
        assert_eq!(Intent::left(folder.path(), "s-1"), Some(intent));
        assert_eq!(Intent::left(folder.path(), "s-2"), None);
        fs::write(file(folder.path(), FOLDER, "s-1"), "{\"v\":1").unwrap();
        assert_eq!(Intent::left(folder.path(), "s-1"), None);
        remove(folder.path(), "s-1").unwrap();
        remove(folder.path(), "s-1").unwrap();
    }

    #[test]
    fn an_intent_of_the_earlier_version_is_found_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let earlier = file(folder.path(), EARLIER_FOLDER, "s-1");
        let text = r#"{"v":1,"session":"s-1","transcript":"/t.jsonl","author":"Ada","when":5,"model":"",
            "operations":[],"evidence":{"turns":{}},"next":{"uuid":"u","turn":7,"offset":99}}"#;
        fs::create_dir(earlier.parent().unwrap()).unwrap();
        fs::write(&earlier, text).unwrap();
        let left = Intent::left(folder.path(), "s-1").unwrap();
        assert_eq!((left.next.message, left.author.as_str()), (7, "Ada"));
        remove(folder.path(), "s-1").unwrap();
        assert!(!earlier.exists() && Intent::left(folder.path(), "s-1").is_none());
    }
}
