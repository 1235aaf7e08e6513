//! `.wyren/state/ups-state.json` and `last-injected-memory.md`: what the clone as a whole was shown, in the Node version's
//! format. A session without a snapshot of its own starts from here. Only prompts write these two.

use base::{digest, files};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

/// How many digits of a text's SHA-256 the Node version keeps.
const HASH_DIGITS: usize = 12;

/// How far two readings of one time may be apart, in milliseconds: both are rounded.
const SAME_MILLIS: f64 = 0.001;

const MTIME: &str = "last_injected_mtime";
const HASH: &str = "last_injected_hash";

/// The rewriting that was reported where there is no session to keep it; the Node version does not know it.
const REWRITE: &str = "warned_rewrite";

/// What the clone as a whole was shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpsState {
    fields: Map<String, Value>,
}

impl UpsState {
    /// Reads the state; an empty one when there is none that can be read.
    pub fn read(state: &Path) -> Self {
        let text = files::read_capped(&file(state), files::cap::STATE).unwrap_or_default();
        Self { fields: serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Returns whether a prompt has written the state before.
    pub fn is_seeded(&self) -> bool {
        self.hash().is_some()
    }

    /// Returns whether `memory` was shown last.
    pub fn is_about(&self, memory: &str) -> bool {
        self.hash() == Some(hash(memory).as_str())
    }

    /// Returns whether a file that was changed at `millis` is the one that was shown last: the Node version looks no
    /// further, and neither the text nor its copy has to be there.
    pub fn is_as_of(&self, millis: Option<f64>) -> bool {
        let shown = self.fields.get(MTIME).and_then(Value::as_f64);
        shown.zip(millis).is_some_and(|(shown, millis)| (shown - millis).abs() < SAME_MILLIS)
    }

    /// Returns the rewriting that was reported.
    pub fn rewrite(&self) -> Option<String> {
        Some(self.fields.get(REWRITE)?.as_str()?.to_owned())
    }

    fn hash(&self) -> Option<&str> {
        self.fields.get(HASH)?.as_str().filter(|hash| !hash.is_empty())
    }

    /// Notes that `memory` counts as shown. `millis` is when its file was changed, unless more of it is to be shown.
    pub fn note(&mut self, memory: &str, millis: Option<f64>) {
        self.fields.insert(HASH.to_owned(), hash(memory).into());
        self.fields.insert(MTIME.to_owned(), millis.unwrap_or_default().into());
    }

    /// Notes the rewriting that was reported.
    pub fn note_rewrite(&mut self, rewrite: Option<&str>) {
        match rewrite {
            Some(rewrite) => self.fields.insert(REWRITE.to_owned(), rewrite.into()),
            None => self.fields.remove(REWRITE),
        };
    }

    /// Replaces the state; keys of others are kept.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        files::write_atomic(&file(state), &serde_json::to_vec_pretty(&self.fields)?)
    }
}

/// Reads the memory that was shown last; an empty text when it cannot be read.
pub fn last_injected(state: &Path) -> String {
    files::read_text_capped(&last_injected_file(state), files::cap::SHARED).unwrap_or_default()
}

/// Replaces the memory that was shown last.
pub fn write_last_injected(state: &Path, memory: &str) -> io::Result<()> {
    files::write_atomic(&last_injected_file(state), memory.as_bytes())
}

fn file(state: &Path) -> PathBuf {
    state.join("ups-state.json")
}

fn last_injected_file(state: &Path) -> PathBuf {
    state.join("last-injected-memory.md")
}

fn hash(memory: &str) -> String {
    let mut hash = digest::sha256_hex(memory.as_bytes());
    hash.truncate(HASH_DIGITS);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_state_is_that_of_the_node_version_and_unknown_keys_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            r#"{"last_remote_memory_commit":"abc","future":[1],"last_injected_mtime":1794790500341.682}"#;
        fs::write(file(folder.path()), text).unwrap();
        let mut state = UpsState::read(folder.path());
        assert!(!state.is_seeded());
        state.note("", Some(1_794_790_500_342.25));
        state.write(folder.path()).unwrap();
        let written = fs::read_to_string(file(folder.path())).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&written).unwrap(),
            serde_json::json!({
                "last_remote_memory_commit": "abc", "future": [1],
                "last_injected_mtime": 1_794_790_500_342.25, "last_injected_hash": "e3b0c44298fc"
            })
        );
        assert!(UpsState::read(folder.path()).is_about(""));
    }
}
