//! Hand edits of tracked files, in branch mode: they go into the local copy, and the tracked files stay the user's.
//!
//! A hand edit is what the work tree has and the commit does not, and what the user's commits have and no published commit
//! below them. What a pull brought is published, and was taken in before. What was taken in of an edit is remembered in
//! `state/folded.json`, per branch: taken in again it would undo what the others made of it since.

use crate::merging::{Merging, is_emptied};
use crate::record::BY_OTHERS;
use crate::repository::{self, CheckedOut, Merge as _, Team, is_about_the_name, max_size};
use crate::{Error, Share};
use base::{Timestamp, digest, files};
use memory::{Memory, diff, history};
use place::{MEMORY, Mode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The version of `state/folded.json`.
const VERSION: u32 = 1;

/// Why an entry left the memory that was taken out of the tracked file.
const BY_HAND: &str = "edited by hand";

/// What was taken in so far.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folded {
    v: u32,
    /// The branch of the last time.
    branch: String,
    branches: BTreeMap<String, BTreeMap<String, Edit>>,
}

/// An edit that was taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Edit {
    /// A digest of the file at HEAD.
    head: String,
    /// The file before the edit.
    base: Option<String>,
    /// The file in the work tree.
    work: String,
}

/// A tracked file in the user's commits.
struct Committed {
    head: Vec<u8>,
    fork: Option<Vec<u8>>,
}

/// The versions of a tracked file that matter to its edit.
struct Versions {
    committed: Committed,
    work: Vec<u8>,
}

impl Committed {
    /// Puts it beside the work tree's; `None` while git waits for a conflict to be resolved.
    fn with(self, work: Vec<u8>) -> Option<Versions> {
        let work = with_breaks_of(&self.head, work);
        (!is_in_conflict(&work)).then_some(Versions { committed: self, work })
    }
}

impl Share {
    /// Takes the user's edits of tracked files into the local copy. Returns the paths that changed there. In side mode
    /// there is nothing to take in: the files are the copy.
    pub fn fold(&self, deadline: Instant) -> Result<Vec<String>, Error> {
        let team = self.team().filter(|team| team.mode() == Mode::Branch && team.remote().is_some());
        let Some((team, branch)) = team.and_then(|team| Some((team, team.branch()?))) else {
            return Ok(Vec::new());
        };
        let mut changed = self.take_in_pulled(team, deadline)?;
        let committed = committed_files(team, deadline)?;
        let author = self.author();
        // Taken after git has answered, and the work tree is read below it: two that do this at once do not undo each
        // other, and no process waits for git.
        let _lock = self.lock()?;
        let path = self.folder().state().join("folded.json");
        let noted = Folded::read(&path);
        let mut edits = noted.branches.get(branch).cloned().unwrap_or_default();
        let is_same_branch = noted.branch == branch;
        for (file, committed) in committed {
            let work = work_file(&self.folder().wyren.join(&file), max_size(&file));
            let Some(versions) = work.and_then(|work| committed.with(work)) else { continue };
            let edit = edits.remove(&file);
            let taken = self.take_in(&Edited {
                file: &file,
                versions: &versions,
                noted: edit.as_ref(),
                is_same_branch,
                author: &author,
            })?;
            if taken.has_changed {
                changed.push(file.clone());
            }
            edits.extend(taken.edit.map(|edit| (file, edit)));
        }
        let mut folded = Folded { v: VERSION, branch: branch.to_owned(), branches: noted.branches.clone() };
        folded.branches.insert(branch.to_owned(), edits);
        folded.branches.retain(|_, edits| !edits.is_empty());
        if folded != noted {
            folded.write(&path)?;
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(changed)
    }

    /// Merges what the user's own git has brought since the last sync into the local copy, without asking the remote. Returns
    /// the paths that changed there. Before the first sync the tracked files are what readers see.
    fn take_in_pulled(&self, team: &Team, deadline: Instant) -> Result<Vec<String>, Error> {
        if team.remote_tip()?.is_none() || !team.follow_tracking(deadline)? {
            return Ok(Vec::new());
        }
        match team.checkout(&Merging::default(), deadline) {
            Ok(CheckedOut { changes, .. }) => {
                self.note_changes(team, &changes, BY_OTHERS, &[])?;
                Ok(changes.into_iter().map(|change| change.path).collect())
            }
            // The next sync does it.
            Err(repository::Error::Busy | repository::Error::Rewritten) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the user's branch has commits with changes of shared files that were neither taken in nor published,
    /// as far as this clone knows: the remote may know better.
    pub(crate) fn has_new_commits(&self, team: &Team, deadline: Instant) -> Result<bool, Error> {
        let Some(branch) = team.branch() else { return Ok(false) };
        let noted = Folded::read(&self.folder().state().join("folded.json"));
        let noted = noted.branches.get(branch);
        let is_new = |(file, committed): (String, Committed)| {
            let head = digest::short_hex(&committed.head);
            let is_noted = noted.and_then(|edits| edits.get(&file)).is_some_and(|edit| edit.head == head);
            committed.fork.as_ref() != Some(&committed.head) && !is_noted
        };
        Ok(committed_files(team, deadline)?.into_iter().any(is_new))
    }

    /// Takes in the edit of one file.
    fn take_in(&self, edited: &Edited<'_>) -> Result<Taken, Error> {
        let (edit, base) = match edited.decide() {
            Decision::Leave(edit) => return Ok(Taken { has_changed: false, edit }),
            Decision::TakeIn { edit, base } => (edit, base),
        };
        let (file, work) = (edited.file, &edited.versions.work);
        let path = self.copy().join(file);
        let copy = match files::read_capped(&path, files::cap::SHARED) {
            Ok(copy) => Some(copy),
            Err(_) => self.agreed(file)?,
        };
        let merged = match &copy {
            Some(copy) => Merging::default().merge(file, base.as_deref(), Some(work), Some(copy)),
            None => Some(work.clone()),
        };
        let Some(merged) = merged else { return Ok(Taken { has_changed: false, edit: Some(edit) }) };
        if file == MEMORY {
            self.remember_edit(edited, copy.as_deref(), &merged)?;
        }
        let has_changed = copy.as_ref() != Some(&merged);
        if has_changed {
            self.refuse_links(&path)?;
            self.begin_copy()?;
            match files::write_atomic(&path, &merged) {
                // The team has a folder of that name, or a file of the folder's: git itself will ask the user.
                Err(error) if is_about_the_name(&error) => {
                    return Ok(Taken { has_changed: false, edit: None });
                }
                written => written.map_err(Error::file(&path))?,
            }
        }
        Ok(Taken { has_changed, edit: Some(edit) })
    }

    /// Notes what the edit removed.
    fn remember_edit(&self, edited: &Edited<'_>, copy: Option<&[u8]>, merged: &[u8]) -> Result<(), Error> {
        // Before the first sync the memory is what the branches have in common.
        let before = copy.or(edited.versions.committed.fork.as_deref()).unwrap_or_default();
        let (before, after) = (Memory::parse(&lossy(before)), Memory::parse(&lossy(merged)));
        let removals = history::removals(&diff(&before, &after), Timestamp::now(), edited.author, BY_HAND);
        self.remember(&removals)
    }
}

/// A tracked file that may have an edit.
struct Edited<'a> {
    file: &'a str,
    versions: &'a Versions,
    /// What was taken in before.
    noted: Option<&'a Edit>,
    /// Whether the last time was on the same branch.
    is_same_branch: bool,
    author: &'a str,
}

/// What is done with an edit.
enum Decision {
    /// Nothing; what is to be remembered.
    Leave(Option<Edit>),
    /// It is merged into the copy, with `base` as the file before it.
    TakeIn { edit: Edit, base: Option<Vec<u8>> },
}

/// The result of taking in an edit.
struct Taken {
    has_changed: bool,
    /// What is to be remembered.
    edit: Option<Edit>,
}

impl Edited<'_> {
    /// Returns what was taken in before, if HEAD has the same file since.
    fn same_head(&self) -> Option<&Edit> {
        let head = digest::short_hex(&self.versions.committed.head);
        self.noted.filter(|noted| noted.head == head)
    }

    fn decide(&self) -> Decision {
        let Versions { committed: Committed { head, fork }, work } = self.versions;
        let same_head = self.same_head();
        if work == head {
            // Put back, stashed or checked out: nothing was removed by hand.
            if same_head.is_some() {
                return Decision::Leave(self.noted.cloned());
            }
            if fork.as_ref() == Some(head) {
                return Decision::Leave(None);
            }
        }
        let work_text = lossy(work);
        let is_memory = self.file == MEMORY;
        if is_memory && is_emptied(&Memory::parse(&lossy(head)), &Memory::parse(&work_text)) {
            return Decision::Leave(self.noted.cloned());
        }
        let base = match (same_head.filter(|_| self.is_same_branch), self.noted) {
            (Some(noted), _) => Some(noted.work.clone().into_bytes()),
            (None, Some(noted)) => noted.applied_to(self.file, fork.as_deref()),
            (None, None) => fork.clone(),
        };
        let is_known = self.noted.is_some_and(|noted| noted.work == work_text);
        let head = digest::short_hex(head);
        let edit = Edit { head, base: fork.as_deref().map(lossy), work: work_text };
        if base.as_ref() == Some(work) || (is_known && !is_memory) {
            return Decision::Leave(Some(edit));
        }
        Decision::TakeIn { edit, base }
    }
}

impl Edit {
    /// Returns a file of another commit with the same edit: what others made of the edit since is not undone by it.
    fn applied_to(&self, file: &str, fork: Option<&[u8]>) -> Option<Vec<u8>> {
        let base = self.base.as_deref().map(str::as_bytes);
        Merging::default().merge(file, base, Some(self.work.as_bytes()), fork)
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the tracked files as the user's commits have them.
fn committed_files(team: &Team, deadline: Instant) -> Result<Vec<(String, Committed)>, Error> {
    let tracked = team.tracked(&Merging::default(), deadline)?;
    let mut files = Vec::new();
    for file in tracked.paths() {
        if let Some(head) = tracked.at_head(file)? {
            files.push((file.to_owned(), Committed { head, fork: tracked.at_fork(file)? }));
        }
    }
    Ok(files)
}

/// Returns a file of the work tree. What is missing, a link or too large has no edit.
fn work_file(path: &Path, most: usize) -> Option<Vec<u8>> {
    files::read_capped(path, most).ok()
}

/// Returns the file with the line breaks of the commit: git may have checked it out with others.
fn with_breaks_of(head: &[u8], work: Vec<u8>) -> Vec<u8> {
    let has_breaks = |text: &[u8]| text.windows(2).any(|pair| pair == b"\r\n");
    if !has_breaks(&work) || has_breaks(head) {
        return work;
    }
    let mut plain = Vec::with_capacity(work.len());
    for (at, byte) in work.iter().enumerate() {
        if *byte != b'\r' || work.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    plain
}

/// Returns whether git has left the marks of a conflict in the file.
fn is_in_conflict(work: &[u8]) -> bool {
    let has = |mark: &[u8]| work.split(|byte| *byte == b'\n').any(|line| line.starts_with(mark));
    has(b"<<<<<<< ") && has(b">>>>>>> ")
}

impl Folded {
    fn read(path: &Path) -> Self {
        let folded: Self =
            serde_json::from_slice(&files::read_capped(path, files::cap::TEXTS).unwrap_or_default())
                .unwrap_or_default();
        if folded.v == VERSION { folded } else { Self::default() }
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        // Texts and their names, so writing them as JSON cannot fail.
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        text.push(b'\n');
        files::write_atomic(path, &text).map_err(Error::file(path))
    }
}
