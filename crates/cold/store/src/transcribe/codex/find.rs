//! The rollouts below a folder: sessions, each with the subagents that it started.

use super::Helper;
use crate::transcripts::Source;
use capture::Fields;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use transcript::tree;

/// How the name of a rollout begins; the session's id is at its end.
const PREFIX: &str = "rollout-";
const ID_CHARS: usize = 36;
/// The most of a first line that is read; it has all that Codex told the model about itself.
const MAX_HEAD_BYTES: u64 = 4 * 1024 * 1024;
/// How deep subagents start others.
const MAX_GENERATIONS: usize = 16;

/// The sessions that were found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) sources: Vec<Source>,
    /// Subagents of sessions that are not there: whether those were private cannot be known.
    pub(crate) orphans: u64,
    pub(crate) unreadable: u64,
}

/// What the first line of a rollout says.
#[derive(Debug, Default)]
struct Head {
    id: String,
    /// Whether no person started it.
    is_helper: bool,
    parent: Option<String>,
    kind: Option<String>,
}

/// Finds the rollouts below a folder.
pub(crate) fn find(folder: &Path) -> Result<Found, transcript::Error> {
    let walked = tree::walk(folder)?;
    let mut found = Found { unreadable: walked.unreadable_folders, ..Found::default() };
    let mut heads: Vec<(PathBuf, Head)> = Vec::new();
    for path in walked.transcripts {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(PREFIX) {
            heads.push((path.clone(), Head::of(&path, &name)));
        }
    }
    // Codex packs rollouts of long ago; what cannot be read is counted.
    found.unreadable += walked.packed;
    let parents: HashMap<String, Option<String>> =
        heads.iter().map(|(_, head)| (head.id.clone(), head.parent.clone())).collect();
    let mut helpers: BTreeMap<String, Vec<Helper>> = BTreeMap::new();
    let mut sessions: Vec<(PathBuf, String)> = Vec::new();
    for (path, head) in heads {
        if !head.is_helper {
            sessions.push((path, head.id));
        } else if let Some(root) = root_of(&head, &parents) {
            helpers.entry(root).or_default().push(Helper { path, id: head.id, kind: head.kind });
        } else {
            found.orphans += 1;
        }
    }
    for (path, id) in sessions {
        let helpers = helpers.remove(&id).unwrap_or_default();
        found.sources.push(Source::codex(path, id, helpers));
    }
    found.orphans += helpers.values().map(|helpers| helpers.len() as u64).sum::<u64>();
    Ok(found)
}

/// Returns the session that a subagent belongs to, however many are between them.
fn root_of(head: &Head, parents: &HashMap<String, Option<String>>) -> Option<String> {
    let mut id = head.parent.clone()?;
    for _ in 0..MAX_GENERATIONS {
        match parents.get(&id)? {
            Some(parent) => id.clone_from(parent),
            None => return Some(id),
        }
    }
    None
}

impl Head {
    fn of(path: &Path, name: &str) -> Self {
        let tail = name.len().checked_sub(ID_CHARS).and_then(|at| name.get(at..)).unwrap_or(name);
        Self::read(path).unwrap_or_default().or_named(tail)
    }

    fn or_named(mut self, name: &str) -> Self {
        if self.id.is_empty() {
            name.clone_into(&mut self.id);
        }
        self
    }

    fn read(path: &Path) -> Option<Self> {
        let mut line = String::new();
        BufReader::new(base::files::open_regular(path).ok()?.take(MAX_HEAD_BYTES))
            .read_line(&mut line)
            .ok()?;
        let fields = Fields::read(&line)?;
        let payload = fields.get("payload").and_then(|payload| Fields::read(payload.get()));
        let meta = payload.unwrap_or(fields);
        let source = meta.get("source").and_then(|source| Fields::read(source.get())).unwrap_or_default();
        let is_helper = source.get("subagent").is_some() || source.get("internal").is_some();
        let subagent = source.get("subagent").and_then(|subagent| Fields::read(subagent.get()));
        let spawn = subagent.and_then(|subagent| Fields::read(subagent.get("thread_spawn")?.get()));
        let spawned =
            |name: &str| spawn.as_ref().and_then(|spawn| spawn.text(name)).or_else(|| meta.text(name));
        let kind = ["agent_role", "agent_type", "agent_nickname"].iter().find_map(|name| spawned(name));
        Some(Self {
            id: meta.text("id").unwrap_or_default().into_owned(),
            is_helper,
            parent: spawned("parent_thread_id").filter(|_| is_helper).map(|id| id.into_owned()),
            kind: kind.map(|kind| kind.into_owned()),
        })
    }
}
