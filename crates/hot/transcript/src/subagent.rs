//! The transcripts of the subagents that a session started: `<session>/subagents/agent-<id>.jsonl` beside the
//! session's own `<session>.jsonl`, each with an `agent-<id>.meta.json`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

const PREFIX: &str = "agent-";
const TRANSCRIPT_SUFFIX: &str = ".jsonl";
const META_SUFFIX: &str = ".meta.json";

/// A subagent of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// The id, as in the `agentId` of its records.
    pub id: String,
    pub transcript: PathBuf,
    /// What the client notes about it; empty when the note is missing or unreadable.
    pub meta: Meta,
}

/// What the client notes about a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// The kind of agent (`general-purpose` …).
    pub agent_type: Option<String>,
    /// The short description that the model gave.
    pub description: Option<String>,
    /// The tool call that started it.
    pub tool_use_id: Option<String>,
    /// How many agents deep it is; 1 was started by the main conversation.
    pub spawn_depth: Option<u64>,
}

/// Returns the session's folder of subagents, whether it exists or not.
pub fn folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// Returns the transcript that the subagent `id` has or would have; nothing if `id` cannot be part of a file name.
pub fn transcript_path(transcript: &Path, id: &str) -> Option<PathBuf> {
    is_id(id).then(|| folder(transcript).join(format!("{PREFIX}{id}{TRANSCRIPT_SUFFIX}")))
}

/// Returns the subagents of a session in the order of their ids; none if it started none.
pub fn of_session(transcript: &Path) -> Result<Vec<Subagent>, Error> {
    let folder = folder(transcript);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(Error::list(&folder)(error)),
    };
    let mut subagents = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::list(&folder))?;
        // A symlink is not a file here: it may lead out of the projects folder.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(TRANSCRIPT_SUFFIX));
        if let Some(id) = id.filter(|id| is_id(id)) {
            let meta = read_meta(&folder.join(format!("{PREFIX}{id}{META_SUFFIX}")));
            subagents.push(Subagent { id: id.to_owned(), transcript: entry.path(), meta });
        }
    }
    subagents.sort_by(|left, right| left.id.cmp(&right.id));
    Ok(subagents)
}

fn read_meta(path: &Path) -> Meta {
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Meta::default();
    }
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Returns whether the id is a plain word, so that it cannot lead out of the folder.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
