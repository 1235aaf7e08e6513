//! What left the memory: `state/history.jsonl` of this clone, and the commits of the shared branch.

use crate::authors::keys;
use crate::repository::Commit;
use crate::{Error, Share};
use base::lock::Lock;
use base::{Timestamp, files};
use memory::history::{self, History, Removal};
use memory::{Memory, diff, identity};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::{privacy, redact};

/// How many commits of the shared branch are looked through, the newest first.
const MAX_COMMITS: usize = 500;

/// How long to wait for another process that appends to the history.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why something left the memory that others removed.
pub(crate) const BY_OTHERS: &str = "removed by others";

/// Appends to the history below a `state/` folder.
pub(crate) fn append(state: &Path, removals: &[Removal]) -> Result<(), Error> {
    let removals: Vec<Removal> = removals.iter().filter_map(clean).collect();
    if removals.is_empty() {
        return Ok(());
    }
    let path = file(state);
    let lock = Lock::exclusive(&path, PATIENCE).map_err(Error::file(&path))?.ok_or(Error::Busy)?;
    let mut lines = history::to_lines(&removals);
    if is_torn(&path) {
        lines.insert(0, '\n');
    }
    lock.file().write_all(lines.as_bytes()).map_err(Error::file(&path))
}

fn file(state: &Path) -> PathBuf {
    state.join("history.jsonl")
}

/// Returns whether the last line was not written to its end.
fn is_torn(path: &Path) -> bool {
    files::read_end(path, 1).is_ok_and(|text| text.last().is_some_and(|byte| *byte != b'\n'))
}

/// Returns a removal without private parts and secrets; nothing when nothing is left.
fn clean(removal: &Removal) -> Option<Removal> {
    let clean = |text: &str| redact::redact(&privacy::strip_private(text)).trim().to_owned();
    let text = clean(&removal.text);
    let replaced_by = removal.replaced_by.as_deref().map(clean).filter(|text| !text.is_empty());
    (!text.is_empty()).then(|| Removal { text, replaced_by, ..removal.clone() })
}

impl Share {
    /// Returns what left the memory: what this clone has noted, and what the commits of the shared branch show. So a fresh
    /// clone knows what was decided before it was made.
    pub fn history(&self) -> Result<History, Error> {
        let noted = self.noted()?;
        let commits = match self.team() {
            Some(team) => team.commits(place::MEMORY, MAX_COMMITS)?,
            None => Vec::new(),
        };
        Ok(together(noted, commits.iter().flat_map(removals_of).collect()))
    }

    /// Returns what this clone has noted of what left the memory, without the commits.
    pub fn noted(&self) -> Result<History, Error> {
        let path = file(&self.folder().state());
        let text = files::read_if_there(&path).map_err(Error::file(&path))?.unwrap_or_default();
        Ok(History::parse(&String::from_utf8_lossy(&text)))
    }

    /// Returns when git first saw the entries of the memory, by their keys, as far as the newest commits tell: one that an
    /// older commit brought counts from the first of these. Empty where nothing is shared.
    pub fn first_seen(&self) -> Result<BTreeMap<String, Timestamp>, Error> {
        let mut first_seen: BTreeMap<String, Timestamp> = BTreeMap::new();
        let Some(team) = self.team() else { return Ok(first_seen) };
        for Commit { when, before, after, .. } in team.commits(place::MEMORY, MAX_COMMITS)? {
            for contents in [before, after].into_iter().flatten() {
                for key in keys(&contents) {
                    first_seen.entry(key).and_modify(|seen| *seen = when.min(*seen)).or_insert(when);
                }
            }
        }
        Ok(first_seen)
    }
}

/// Returns what a commit removed or reworded.
pub(crate) fn removals_of(commit: &Commit) -> Vec<Removal> {
    let memory = |contents: &Option<Vec<u8>>| {
        Memory::parse(&contents.as_deref().map(String::from_utf8_lossy).unwrap_or_default())
    };
    // An emptied memory was an accident that the next commit made good.
    let (before, after) = (memory(&commit.before), memory(&commit.after));
    if crate::merging::is_emptied(&before, &after) {
        return Vec::new();
    }
    let removals = history::removals(&diff(&before, &after), commit.when, &commit.author, &commit.subject);
    removals.iter().filter_map(clean).collect()
}

/// Puts both together, each removal once: a clone notes why, a commit tells who and when where a clone could not.
fn together(mut noted: History, mut committed: Vec<Removal>) -> History {
    let key = |removal: &Removal| {
        let after = removal.replaced_by.as_deref().map(identity);
        (removal.section.to_lowercase(), identity(&removal.text), after)
    };
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, removal) in noted.removals.iter().enumerate() {
        places.entry(key(removal)).or_default().push(at);
    }
    let mut is_listed = vec![false; noted.removals.len()];
    committed.retain(|removal| match places.get_mut(&key(removal)).and_then(Vec::pop) {
        Some(at) if noted.removals[at].why == BY_OTHERS => {
            is_listed[at] = true;
            true
        }
        Some(_) => false,
        None => true,
    });
    let mut listed = is_listed.into_iter();
    noted.removals.retain(|_| !listed.next().unwrap_or_default());
    noted.merge(History { removals: committed, unreadable: Vec::new() })
}
