//! Checking out: what the remote has is merged into the local copy, whose own changes stay.

use crate::repository::local::Local;
use crate::repository::lock::SyncLock;
use crate::repository::objects::Snapshot;
use crate::repository::{Error, Files, Merge, Team, setup};
use base::files;
use git2::Oid;
use place::{BROADCAST, LESSONS, MEMORY, is_shared};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

/// The largest file that is shared, in bytes.
const MAX_FILE: usize = 8 * 1024 * 1024;

/// The most files of a local copy that are looked at.
const MAX_FILES: usize = 10_000;

/// How deep the folders of a local copy are looked into.
const MAX_DEPTH: usize = 8;

/// A file of the local copy that a checkout changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path, relative to `.wyren/`.
    pub path: String,
    /// What it was; `None` when it was not there.
    pub before: Option<Vec<u8>>,
    /// What it is; `None` when it is not there any more.
    pub after: Option<Vec<u8>>,
}

impl Team {
    /// Merges what the last fetch brought into the local copy. Returns what changed there.
    ///
    /// What was changed here and not published stays changed. A file is removed only when the remote removed it and it
    /// is here as it was there; one that is missing here comes back, unless its removal is queued.
    pub fn checkout(&self, merge: &dyn Merge, deadline: Instant) -> Result<Vec<Change>, Error> {
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let mut refs = self.refs()?;
        if refs.before.is_some() {
            return Err(Error::Rewritten);
        }
        let Some(tip) = refs.tip else { return Ok(Vec::new()) };
        let mut local = self.local(&refs)?;
        let noted = local.clone();
        self.settle(&mut local, tip)?;
        // Another process of this repository has moved the reference back, and another fetch will move it on.
        if let Some(agreed) = local.agreed.filter(|agreed| *agreed != tip)
            && self.is_ancestor(tip, agreed)?
        {
            return Ok(Vec::new());
        }
        let found = self.local_files()?;
        let theirs = self.small_files(tip)?;
        let base = match &local.base {
            Some(base) => base.clone(),
            None => self.first_base(tip, deadline)?,
        };
        let ours = self.our_files(&local, &found, merge)?;
        let known = if local.base.is_some() { base } else { restricted(base, &ours) };
        let merged = self.objects.merge(merge, &known, &ours, &theirs)?;
        if found.is_empty() {
            self.note_origin(Some(tip))?;
        }
        let changes = self.write_copy(&found, &ours, &merged, merge)?;
        self.note_origin(Some(tip))?;

        // Noted last: should we be killed before, the same merge happens again, to the same end.
        let pending = match &local.pending {
            Some(pending) if local.base.is_some() => {
                Some(self.objects.merge(merge, &known, pending, &theirs)?)
            }
            Some(pending) => {
                let known = restricted(known, pending);
                Some(self.objects.merge(merge, &known, pending, &theirs)?)
            }
            None => None,
        };
        let local = Local { base: Some(theirs), pending, sent: None, candidate: None, agreed: Some(tip) };
        if local != noted {
            self.note(&mut refs, &local)?;
        }
        Ok(changes)
    }

    /// Accepts the rewritten history, and puts what vanished there beside what it has now: the next publication shares it
    /// again. Returns what changed in the local copy.
    pub fn restore_rewrite(&self, merge: &dyn Merge, deadline: Instant) -> Result<Vec<Change>, Error> {
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let mut refs = self.refs()?;
        let Some(before) = refs.before else { return Ok(Vec::new()) };
        let local = self.local(&refs)?;
        let found = self.local_files()?;
        let ours = self.our_files(&local, &found, merge)?;
        // What was on the remote before and did not get here yet vanished as well.
        let vanished = if self.objects.has(before) { self.small_files(before)? } else { Snapshot::new() };
        let known = local.base.clone().unwrap_or_default();
        let everything = self.objects.merge(merge, &known, &ours, &vanished)?;
        let theirs = refs.tip.map(|tip| self.small_files(tip)).transpose()?;
        // Nothing counts as known, so nothing counts as removed.
        let nothing = Snapshot::new();
        let merged = self.objects.merge(merge, &nothing, &everything, theirs.as_ref().unwrap_or(&nothing))?;
        let changes = self.write_copy(&found, &ours, &merged, merge)?;
        let local =
            Local { base: theirs, pending: Some(merged), sent: None, candidate: None, agreed: refs.tip };
        self.note(&mut refs, &local)?;
        self.accept_locked(&mut refs)?;
        Ok(changes)
    }

    /// Returns the shared files of a commit that are not too large, and not the user's own here.
    fn small_files(&self, commit: Oid) -> Result<Snapshot, Error> {
        let own = self.users_own()?;
        let mut files = self.objects.snapshot(Some(commit))?;
        files.retain(|path, id| {
            !own.contains(path) && self.objects.size(*id).is_ok_and(|size| size <= MAX_FILE)
        });
        Ok(files)
    }

    /// Returns the local copy as it may be published.
    ///
    /// What is not in the copy counts as unchanged, but for what is to be removed; before the first sync there is nothing
    /// that it could have been.
    fn our_files(&self, local: &Local, found: &Files, merge: &dyn Merge) -> Result<Snapshot, Error> {
        let mut ours = local.base.clone().unwrap_or_default();
        if let Some(pending) = &local.pending {
            ours.retain(|path, _| pending.contains_key(path));
        }
        for (path, contents) in found {
            let Some(contents) = contents else { continue };
            if let Some(contents) = merge.published(path, contents) {
                ours.insert(path.clone(), self.objects.write(&contents)?);
            }
        }
        Ok(ours)
    }

    /// Makes the local copy, which was `found` and is `ours` without what is kept back, what was merged.
    fn write_copy(
        &self,
        found: &Files,
        ours: &Snapshot,
        merged: &Snapshot,
        merge: &dyn Merge,
    ) -> Result<Vec<Change>, Error> {
        let folder = self.copy_folder();
        let lock = crate::repository::lock::lock_copy(&self.folder).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let mut changes = Vec::new();
        for path in ours.keys().filter(|path| !merged.contains_key(*path)) {
            let before = found.get(path).and_then(Option::as_deref);
            if remove(&folder, path, before)? {
                changes.push(Change { path: path.clone(), before: before.map(<[u8]>::to_vec), after: None });
            }
        }
        for (path, id) in merged {
            let before = found.get(path).and_then(Option::as_deref);
            if before.is_none() || ours.get(path) != Some(id) {
                changes.extend(write(&folder, path, before, self.objects.read(*id)?, merge)?);
            }
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(changes)
    }
}

/// Removes files of the local copy in `copy`, which is `wyren` or below it.
pub(crate) fn remove_from_copy(wyren: &Path, copy: &Path, paths: &[String]) -> Result<(), Error> {
    if paths.is_empty() {
        return Ok(());
    }
    let lock = crate::repository::lock::lock_copy(wyren).map_err(Error::file(wyren))?;
    let Some(_lock) = lock else { return Err(Error::Busy) };
    for path in paths {
        let file = copy.join(path);
        setup::refuse_links(wyren, &file)?;
        files::remove_if_there(&file).map_err(Error::file(&file))?;
    }
    Ok(())
}

/// Returns a snapshot without the files that `other` does not have.
fn restricted(mut snapshot: Snapshot, other: &Snapshot) -> Snapshot {
    snapshot.retain(|path, _| other.contains_key(path));
    snapshot
}

/// Returns the shared files in the folder of a local copy. Links, and what is too large, are passed over.
pub(crate) fn files_of_copy(folder: &Path) -> Result<Files, Error> {
    let mut found = Files::new();
    for name in [MEMORY, BROADCAST, LESSONS] {
        collect(&folder.join(name), name, MAX_DEPTH, &mut found)?;
    }
    Ok(found)
}

fn collect(path: &Path, name: &str, depth: usize, found: &mut Files) -> Result<(), Error> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(Error::file(path))?,
    };
    if metadata.is_dir() && depth > 0 {
        for entry in fs::read_dir(path).map_err(Error::file(path))?.flatten() {
            let file_name = entry.file_name();
            if let Some(file_name) = file_name.to_str() {
                collect(&entry.path(), &format!("{name}/{file_name}"), depth - 1, found)?;
            }
        }
        return Ok(());
    }
    let is_small = usize::try_from(metadata.len()).is_ok_and(|size| size <= MAX_FILE);
    let is_wanted = metadata.is_file() && is_shared(name) && is_small && !files::is_temporary(name);
    if is_wanted
        && found.len() < MAX_FILES
        && let Some(contents) = files::read_if_there(path).map_err(Error::file(path))?
    {
        found.insert(name.to_owned(), Some(contents));
    }
    Ok(())
}

/// Writes a file of the copy, which was `before` when the merge began; should it have changed since, that is kept.
/// Returns what changed.
fn write(
    folder: &Path,
    path: &str,
    before: Option<&[u8]>,
    contents: Vec<u8>,
    merge: &dyn Merge,
) -> Result<Option<Change>, Error> {
    let file = folder.join(path);
    setup::refuse_links(folder, &file)?;
    let now = files::read_if_there(&file).map_err(Error::file(&file))?;
    let published = |contents: Option<&[u8]>| {
        contents.and_then(|contents| merge.published(path, contents)).map(std::borrow::Cow::into_owned)
    };
    let merged = if now.as_deref() == before {
        Some(contents)
    } else {
        let (before, now) = (published(before), published(now.as_deref()));
        merge.merge(path, before.as_deref(), now.as_deref(), Some(&contents))
    };
    let Some(merged) = merged else { return Ok(None) };
    let after = match &now {
        Some(now) => merge.restored(path, now, merged),
        None => merged,
    };
    if now.as_ref() == Some(&after) {
        return Ok(None);
    }
    files::write_atomic(&file, &after).map_err(Error::file(&file))?;
    Ok(Some(Change { path: path.to_owned(), before: now, after: Some(after) }))
}

/// Removes a file of the copy if it is still what it was when the merge began. Returns whether it was there.
fn remove(folder: &Path, path: &str, before: Option<&[u8]>) -> Result<bool, Error> {
    let file = folder.join(path);
    setup::refuse_links(folder, &file)?;
    let now = files::read_if_there(&file).map_err(Error::file(&file))?;
    if now.is_none() || now.as_deref() != before {
        return Ok(false);
    }
    fs::remove_file(&file).map_err(Error::file(&file))?;
    Ok(true)
}
