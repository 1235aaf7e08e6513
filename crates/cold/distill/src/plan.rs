//! `.wyren/state/plans/<session>.json`: what a distillation is about to do, until it is done.
//!
//! Between a model's answer and the mark that says it was used, anybody may be killed. The plan is written first, so that
//! what comes after goes on with it and asks nobody again. Applying it twice changes nothing more.

use base::{Timestamp, files};
use distiller::{Evidence, Mark, Operation};
use schedule::watermark::key;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The version of the format.
const VERSION: u32 = 1;

/// The folder of the plans.
const FOLDER: &str = "plans";

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
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
    /// What is to be done to the memory.
    pub(crate) operations: Vec<Operation>,
    /// What the operations rest on.
    pub(crate) evidence: Evidence,
    /// How far the session is distilled once it is done.
    pub(crate) next: Mark,
}

impl Plan {
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
        }
    }

    /// Reads the plan of a session that somebody left; `None` when there is none that makes sense.
    pub(crate) fn left(state: &Path, session: &str) -> Option<Self> {
        let text = fs::read(file(state, session)).ok()?;
        serde_json::from_slice(&text)
            .ok()
            .filter(|plan: &Self| plan.version == VERSION && plan.session == session)
    }

    pub(crate) fn write(&self, state: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        files::refuse_link(&state.join(FOLDER))?;
        files::write_atomic(&file(state, &self.session), &text)
    }

    /// Removes the plan of a session.
    pub(crate) fn forget(state: &Path, session: &str) -> io::Result<()> {
        files::remove_if_there(&file(state, session)).map(|_| ())
    }
}

fn file(state: &Path, session: &str) -> PathBuf {
    state.join(FOLDER).join(format!("{}.json", key(session)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_found_until_it_is_forgotten_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let next = Mark { uuid: Some("u".to_owned()), turn: 7, offset: Some(99) };
        let plan = Plan::new("s-1", Path::new("/t.jsonl"), "Ada", Timestamp::from_millis(5), next);
        assert_eq!(Plan::left(folder.path(), "s-1"), None);
        plan.write(folder.path()).unwrap();
        assert_eq!(Plan::left(folder.path(), "s-1"), Some(plan));
        assert_eq!(Plan::left(folder.path(), "s-2"), None);
        fs::write(file(folder.path(), "s-1"), "{\"v\":1").unwrap();
        assert_eq!(Plan::left(folder.path(), "s-1"), None);
        Plan::forget(folder.path(), "s-1").unwrap();
        Plan::forget(folder.path(), "s-1").unwrap();
    }
}
