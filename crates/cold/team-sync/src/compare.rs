//! What differs between the local memory and the remote one, as of the last fetch.

use crate::merging::Merging;
use crate::repository::{Files, Merge as _, Team};
use crate::{Error, Share};
use memory::{Delta, Memory, diff};
use place::MEMORY;
use std::collections::BTreeMap;

/// How the local copy and the remote differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// What was changed here, and is not on the remote yet.
    pub ours: Delta,
    /// Other files that were changed here, relative to `.wyren/`.
    pub our_files: Vec<String>,
    /// What the remote has, and is not here yet.
    pub theirs: Delta,
    /// Other files that the remote has otherwise.
    pub their_files: Vec<String>,
}

impl Share {
    /// Returns how the local copy differs from what the last fetch saw; `None` without a remote. What is held back is no
    /// difference.
    pub fn difference(&self) -> Result<Option<Difference>, Error> {
        let Some(team) = self.team().filter(|team| team.remote().is_some()) else { return Ok(None) };
        let (mut agreed, mut remote) = team.agreed_and_remote()?;
        let base = memory_of(agreed.remove(MEMORY).flatten());
        let theirs = memory_of(remote.remove(MEMORY).flatten());
        let ours = memory_of(publishable(MEMORY, self.text()?.into_bytes()));
        // What both sides did is no difference any more.
        let mut difference = Difference {
            ours: without(diff(&base, &ours), &diff(&base, &theirs)),
            theirs: without(diff(&base, &theirs), &diff(&base, &ours)),
            ..Difference::default()
        };
        for (path, [base, ours, theirs]) in other_files(team, agreed, remote)? {
            if ours.is_some() && ours != base && ours != theirs {
                difference.our_files.push(path.clone());
            }
            if theirs != base && ours != theirs {
                difference.their_files.push(path);
            }
        }
        Ok(Some(difference))
    }

    /// Returns how many changes were made here that the remote does not have, as far as this clone knows.
    pub fn count_unpublished(&self) -> usize {
        let count = |it: Difference| it.ours.len() + it.our_files.len();
        let changes = self.difference().ok().flatten().map_or(0, count);
        // A removal that is queued is no difference of files that are here.
        if changes == 0 { usize::from(self.has_unpublished()) } else { changes }
    }

    /// Returns whether something was changed here that the remote does not have, as far as this clone knows.
    pub fn has_unpublished(&self) -> bool {
        let is_queued =
            self.team().is_some_and(|team| team.remote().is_some() && team.has_queued().unwrap_or_default());
        let has_changes = |it: Difference| !it.ours.is_empty() || !it.our_files.is_empty();
        is_queued || self.difference().ok().flatten().is_some_and(has_changes)
    }
}

type Versions = [Option<Vec<u8>>; 3];

/// Returns the shared files but the memory: as both sides had them, as they are here, as they are on the remote.
fn other_files(team: &Team, agreed: Files, remote: Files) -> Result<BTreeMap<String, Versions>, Error> {
    let mut files: BTreeMap<String, Versions> = BTreeMap::new();
    for (path, contents) in team.local_files()?.into_iter().filter(|(path, _)| path != MEMORY) {
        let contents = contents.and_then(|contents| publishable(&path, contents));
        files.entry(path).or_default()[1] = contents;
    }
    for (place, side) in [(0, agreed), (2, remote)] {
        for (path, contents) in side {
            files.entry(path).or_default()[place] = contents;
        }
    }
    Ok(files)
}

fn publishable(path: &str, contents: Vec<u8>) -> Option<Vec<u8>> {
    Merging::default().published(path, &contents).map(std::borrow::Cow::into_owned)
}

fn memory_of(contents: Option<Vec<u8>>) -> Memory {
    Memory::parse(&String::from_utf8_lossy(&contents.unwrap_or_default()))
}

/// Returns the changes that `other` does not have.
fn without(mut delta: Delta, other: &Delta) -> Delta {
    for section in &mut delta.sections {
        let Some(known) = other.sections.iter().find(|known| known.section == section.section) else {
            continue;
        };
        let known_added =
            |text: &str| known.added.iter().any(|entry| entry.identity() == memory::identity(text));
        section.added.retain(|entry| !known_added(&entry.text()));
        section
            .removed
            .retain(|entry| !known.removed.iter().any(|other| other.identity() == entry.identity()));
        section.edited.retain(|edit| {
            let is_same = |other: &memory::Edit| {
                other.before.identity() == edit.before.identity()
                    && other.after.identity() == edit.after.identity()
            };
            !known.edited.iter().any(is_same)
        });
        section.prose_added.retain(|line| !known.prose_added.contains(line));
        section.prose_removed.retain(|line| !known.prose_removed.contains(line));
    }
    delta.sections.retain(|section| !section.is_empty());
    delta
}
