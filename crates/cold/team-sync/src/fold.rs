//! Hand edits of tracked files, in branch mode: they go into the local copy, and the tracked files stay the user's.
//!
//! A hand edit is what the work tree has and the commit does not, and what the user's commits have and the remote's
//! branch does not yet. What was taken in is remembered in `state/folded.json`, per branch: taken in again it would undo
//! what the others made of it since.

use crate::merging::{Merging, is_emptied};
use crate::repository::{Merge as _, Team, is_about_the_name, max_size};
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
        let committed = committed_files(team, deadline)?;
        let author = self.author();
        // Taken after git has answered, and the work tree is read below it: two that do this at once do not undo each
        // other, and no process waits for git.
        let _lock = self.lock()?;
        let path = self.folder().state().join("folded.json");
        let noted = Folded::read(&path);
        let mut edits = noted.branches.get(branch).cloned().unwrap_or_default();
        let is_same_branch = noted.branch == branch;
        let mut changed = Vec::new();
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
        Ok(changed)
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
        let Some(mut merged) = merged else { return Ok(Taken { has_changed: false, edit: Some(edit) }) };
        if file == MEMORY {
            merged = self.remember_edit(edited, copy.as_deref(), merged)?;
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

    /// Returns the merged memory without entries that others removed since, and notes what the edit removed.
    fn remember_edit(
        &self,
        edited: &Edited<'_>,
        copy: Option<&[u8]>,
        mut merged: Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        // Before the first sync the memory is what the branches have in common.
        let before = copy.or(edited.versions.committed.fork.as_deref()).unwrap_or_default();
        let before = Memory::parse(&lossy(before));
        let mut after = Memory::parse(&lossy(&merged));
        let noted = edited.noted.filter(|_| edited.same_head().is_none() || !edited.is_same_branch);
        if let Some(noted) = noted
            && withhold_known(&before, &mut after, noted)
        {
            merged = after.render().into_bytes();
        }
        let removals = history::removals(&diff(&before, &after), Timestamp::now(), edited.author, BY_HAND);
        self.remember(&removals)?;
        Ok(merged)
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
        let base = match same_head.filter(|_| self.is_same_branch) {
            Some(noted) => Some(noted.work.clone().into_bytes()),
            None => fork.clone(),
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

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Takes entries out again that an edit of earlier has brought and that are gone since: others removed them. Returns
/// whether there were any.
fn withhold_known(before: &Memory, after: &mut Memory, noted: &Edit) -> bool {
    let (base, work) = (Memory::parse(noted.base.as_deref().unwrap_or_default()), Memory::parse(&noted.work));
    let mut has_any = false;
    for section in diff(before, after).sections {
        let edited = section.edited.iter().map(|edit| &edit.after);
        for entry in section.added.iter().chain(edited) {
            let text = entry.text();
            if work.contains(&section.section, &text) && !base.contains(&section.section, &text) {
                after.remove(&section.section, &text);
                has_any = true;
            }
        }
    }
    has_any
}

/// Returns the tracked files as the user's commits have them.
fn committed_files(team: &Team, deadline: Instant) -> Result<Vec<(String, Committed)>, Error> {
    let tracked = team.tracked(deadline)?;
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
