//! Checking out: what the remote has is merged into the local copy, whose own changes stay.

use crate::repository::bounds::{self, LeftOut, MAX_DEPTH, Why};
use crate::repository::local::Local;
use crate::repository::lock::SyncLock;
use crate::repository::objects::Snapshot;
use crate::repository::survey::{self, Survey};
use crate::repository::{Error, Files, Merge, Team, setup};
use base::files;
use git2::Oid;
use place::{BROADCAST, LESSONS, MEMORY, is_shared};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

/// How many names are tried for a file whose name the team gave to a folder, or the other way round.
const MAX_NAMES: usize = 100;

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

/// The result of a checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedOut {
    /// What changed in the local copy.
    pub changes: Vec<Change>,
    /// What is not taken in, or not published, and why.
    pub left_out: Vec<LeftOut>,
    /// Files that got another name here, since the team has a folder of their name or a file of their folder's: from, to.
    pub renamed: Vec<(String, String)>,
}

/// The local copy as it is on disk.
#[derive(Debug, Default)]
pub(crate) struct Copy {
    pub(crate) files: Files,
    /// What is there and was not read.
    pub(crate) left_out: BTreeMap<String, Why>,
    bytes: usize,
}

impl Team {
    /// Merges what the last fetch brought into the local copy. Returns what changed there.
    ///
    /// What was changed here and not published stays changed. A file is removed only when the remote removed it and it
    /// is here as it was there; one that is missing here comes back, unless its removal is queued.
    pub fn checkout(&self, merge: &dyn Merge, deadline: Instant) -> Result<CheckedOut, Error> {
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let mut refs = self.refs()?;
        if refs.before.is_some() {
            return Err(Error::Rewritten);
        }
        let mut copy = self.local_copy()?;
        let Some(tip) = refs.tip else {
            return Ok(CheckedOut { left_out: copy.left_out(), ..CheckedOut::default() });
        };
        let mut local = self.local(&refs)?;
        let noted = local.clone();
        self.settle(&mut local, tip)?;
        // Another process of this repository has moved the reference back, and another fetch will move it on.
        if let Some(agreed) = local.agreed.filter(|agreed| *agreed != tip)
            && self.is_ancestor(tip, agreed)?
        {
            return Ok(CheckedOut { left_out: copy.left_out(), ..CheckedOut::default() });
        }
        let base = match &local.base {
            Some(base) => base.clone(),
            None => self.first_base(tip, deadline)?,
        };
        let mut ours = self.our_files(&local, &copy.files, merge)?;
        let known = if local.base.is_some() { base } else { restricted(base, &ours) };
        let pending = local.pending.clone().unwrap_or_default();
        let survey = self.survey(Some(tip), &[&known, &ours, &pending])?;
        let mut theirs = self.theirs(&survey, &known, &copy)?;

        let mut merged = self.objects.merge(merge, &known, &ours, &theirs)?;
        let renamed = self.make_way(&survey, &mut copy, &mut ours, &mut merged)?;
        if copy.files.is_empty() {
            self.note_origin_anew(Some(tip))?;
        }
        let (changes, refused) = self.write_copy(&copy, &ours, &merged, merge)?;
        self.note_origin(Some(tip))?;
        // What could not be written counts as not changed there: it would look like a change of ours.
        for path in &refused {
            copy.left_out.insert(path.clone(), Why::Refused);
            keep(&mut theirs, path, &known);
        }

        // Noted last: should we be killed before, the same merge happens again, to the same end.
        let pending = match local.pending.take() {
            Some(mut pending) => {
                pending.retain(|path, _| survey.occupied_part(path, &merged).is_none());
                let is_first = local.base.is_none();
                let known = if is_first { restricted(known, &pending) } else { known };
                Some(self.objects.merge(merge, &known, &pending, &theirs)?)
            }
            None => None,
        };
        let copy_name = self.origin_and_copy().1;
        let local = Local {
            base: Some(theirs),
            pending,
            sent: None,
            candidate: None,
            agreed: Some(tip),
            copy: copy_name,
        };
        if local != noted {
            self.note(&mut refs, &local)?;
        }
        let left_out = survey.left_out().into_iter().chain(copy.left_out()).collect();
        Ok(CheckedOut { changes, left_out, renamed })
    }

    /// Accepts the rewritten history, and puts what vanished there beside what it has now: the next publication shares it
    /// again. Returns what changed in the local copy.
    pub fn restore_rewrite(&self, merge: &dyn Merge, deadline: Instant) -> Result<Vec<Change>, Error> {
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let mut refs = self.refs()?;
        let Some(before) = refs.before else { return Ok(Vec::new()) };
        let local = self.local(&refs)?;
        let mut copy = self.local_copy()?;
        let mut ours = self.our_files(&local, &copy.files, merge)?;
        let known = local.base.clone().unwrap_or_default();
        // What was on the remote before and did not get here yet vanished as well.
        let before = Some(before).filter(|before| self.objects.has(*before));
        let vanished = self.theirs(&self.survey(before, &[&known, &ours])?, &known, &copy)?;
        let survey = self.survey(refs.tip, &[&known, &ours, &vanished])?;
        let theirs = self.theirs(&survey, &known, &copy)?;
        let everything = self.objects.merge(merge, &known, &ours, &vanished)?;
        // Nothing counts as known, so nothing counts as removed.
        let mut merged = self.objects.merge(merge, &Snapshot::new(), &everything, &theirs)?;
        self.make_way(&survey, &mut copy, &mut ours, &mut merged)?;
        let (changes, _) = self.write_copy(&copy, &ours, &merged, merge)?;
        let base = refs.tip.map(|_| theirs);
        let copy = self.origin_and_copy().1;
        let local =
            Local { base, pending: Some(merged), sent: None, candidate: None, agreed: refs.tip, copy };
        self.note(&mut refs, &local)?;
        self.accept_locked(&mut refs)?;
        Ok(changes)
    }

    /// Returns what the remote has as far as it is taken in. What is the user's own here is not, and what of the local copy
    /// was not read is as both sides had it before.
    fn theirs(&self, survey: &Survey, known: &Snapshot, copy: &Copy) -> Result<Snapshot, Error> {
        let own = self.users_own()?;
        let mut theirs = survey.taken(known);
        theirs.retain(|path, _| !own.contains(path));
        copy.left_out.keys().for_each(|path| keep(&mut theirs, path, known));
        Ok(theirs)
    }

    /// Renames files of the local copy whose name the team gave to a folder, or whose folder's name to a file: the team's
    /// wins in every clone, and ours is kept beside it. Returns the names.
    fn make_way(
        &self,
        survey: &Survey,
        copy: &mut Copy,
        ours: &mut Snapshot,
        merged: &mut Snapshot,
    ) -> Result<Vec<(String, String)>, Error> {
        let folder = self.copy_folder();
        let mut renamed = Vec::new();
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        for path in survey.occupied.keys() {
            let Some(part) = survey.occupied_part(path, merged).filter(|_| merged.contains_key(path)) else {
                continue;
            };
            merged.remove(path);
            ours.remove(path);
            let Some(contents) = copy.files.remove(path).flatten() else { continue };
            let is_taken = |name: &str| {
                let is_in = |path: &String| {
                    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                merged.keys().chain(copy.files.keys()).any(is_in)
            };
            let Some(name) = names.get(part).cloned().or_else(|| free_name(part, is_taken)) else { continue };
            let to = format!("{name}{}", &path[part.len()..]);
            names.insert(part, name);
            let lock = crate::repository::lock::lock_copy(&self.folder).map_err(Error::file(&self.folder))?;
            let Some(_lock) = lock else { return Err(Error::Busy) };
            let file = folder.join(&to);
            setup::refuse_links(&folder, &file)?;
            files::write_atomic(&file, &contents).map_err(Error::file(&file))?;
            remove(&folder, path, Some(&contents))?;
            renamed.push((path.clone(), to));
        }
        Ok(renamed)
    }

    /// Returns the local copy as it may be published.
    ///
    /// What is not in the copy counts as unchanged, but for what is to be removed; before the first sync there is nothing
    /// that it could have been.
    fn our_files(&self, local: &Local, found: &Files, merge: &dyn Merge) -> Result<Snapshot, Error> {
        let mut ours = local.base.clone().unwrap_or_default();
        match &local.pending {
            // The copy is gone, and what waits for the remote was part of it.
            Some(pending) if found.is_empty() && local.base.is_some() => ours.clone_from(pending),
            Some(pending) => ours.retain(|path, _| pending.contains_key(path)),
            None => {}
        }
        for (path, contents) in found {
            let Some(contents) = contents else { continue };
            if let Some(contents) = merge.published(path, contents) {
                put(&mut ours, path, self.objects.write(&contents)?);
            }
        }
        Ok(ours)
    }

    /// Makes the local copy, which is `ours` without what is kept back, what was merged. Returns what changed,
    /// and the files that the file system refused.
    fn write_copy(
        &self,
        copy: &Copy,
        ours: &Snapshot,
        merged: &Snapshot,
        merge: &dyn Merge,
    ) -> Result<(Vec<Change>, Vec<String>), Error> {
        let found = &copy.files;
        let folder = self.copy_folder();
        let lock = crate::repository::lock::lock_copy(&self.folder).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let (mut changes, mut refused) = (Vec::new(), Vec::new());
        for path in ours.keys().filter(|path| !merged.contains_key(*path)) {
            let before = found.get(path).and_then(Option::as_deref);
            if remove(&folder, path, before)? {
                changes.push(Change { path: path.clone(), before: before.map(<[u8]>::to_vec), after: None });
            }
        }
        // The memory first: whatever happens to the others, it arrives.
        let memory = merged.get_key_value(MEMORY);
        for (path, id) in memory.into_iter().chain(merged.iter().filter(|(path, _)| *path != MEMORY)) {
            let before = found.get(path).and_then(Option::as_deref);
            let is_unread = copy.left_out.contains_key(path);
            if !is_unread && (before.is_none() || ours.get(path) != Some(id)) {
                match write(&folder, path, before, self.objects.read(*id)?, merge) {
                    Err(Error::File(error)) if is_about_the_name(&error.cause) => refused.push(path.clone()),
                    change => changes.extend(change?),
                }
            }
        }
        changes.sort_by(|one, two| one.path.cmp(&two.path));
        Ok((changes, refused))
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

/// Puts a file into a snapshot, in place of a file of its folder's name or a folder of its own.
pub(crate) fn put(snapshot: &mut Snapshot, path: &str, id: Oid) {
    for (end, _) in path.match_indices('/') {
        snapshot.remove(&path[..end]);
    }
    let below = format!("{path}/");
    let first = snapshot.range(below.clone()..).next().map(|(path, _)| path.starts_with(&below));
    if first == Some(true) {
        snapshot.retain(|path, _| !path.starts_with(&below));
    }
    snapshot.insert(path.to_owned(), id);
}

/// Makes the version of a file what `known` has, which may be none.
pub(crate) fn keep(theirs: &mut Snapshot, path: &str, known: &Snapshot) {
    match known.get(path) {
        Some(id) => theirs.insert(path.to_owned(), *id),
        None => theirs.remove(path),
    };
}

/// Returns a name beside a file or folder that is free: `deploy-2`, `deploy-2.md`.
fn free_name(path: &str, is_taken: impl Fn(&str) -> bool) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let (stem, end) = match name.rfind('.').filter(|at| *at > 0) {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    let names = (2..MAX_NAMES).map(|number| format!("{folder}/{stem}-{number}{end}"));
    names.into_iter().find(|name| bounds::judge_path(name).is_ok() && !is_taken(name))
}

/// Returns whether the file system has something against this file alone.
pub(crate) fn is_about_the_name(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, IsADirectory, NotADirectory};
    matches!(error.kind(), InvalidFilename | InvalidInput | IsADirectory | NotADirectory)
}

impl Copy {
    /// Reads the shared files in the folder of a local copy. Links are passed over.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let mut copy = Self::default();
        for name in [MEMORY, BROADCAST, LESSONS] {
            copy.collect(&folder.join(name), name, MAX_DEPTH)?;
        }
        Ok(copy)
    }

    /// Returns what was not read, for a person.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let left_out = self.left_out.iter().take(bounds::MAX_NAMED);
        let shown = |path: &String| bounds::shown(&survey::split(path));
        left_out.map(|(path, why)| LeftOut { path: shown(path), why: why.to_string(), here: true }).collect()
    }

    fn collect(&mut self, path: &Path, name: &str, depth: usize) -> Result<(), Error> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            metadata => metadata.map_err(Error::file(path))?,
        };
        if metadata.is_dir() {
            if depth == 0 {
                self.left_out.insert(name.to_owned(), Why::Deep);
                return Ok(());
            }
            let entries = fs::read_dir(path).map_err(Error::file(path))?.flatten();
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name()).take(bounds::MAX_ENTRIES).collect();
            names.sort_unstable();
            for file_name in names {
                if let Some(file_name) = file_name.to_str() {
                    self.collect(&path.join(file_name), &format!("{name}/{file_name}"), depth - 1)?;
                }
            }
            return Ok(());
        }
        let is_wanted = metadata.is_file() && is_shared(name) && !files::is_temporary(name);
        if !is_wanted {
            return Ok(());
        }
        let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        if let Err(why) = self.judge(name, size) {
            self.left_out.insert(name.to_owned(), why);
        } else if let Some(contents) = files::read_if_there(path).map_err(Error::file(path))? {
            self.bytes += if name == MEMORY { 0 } else { contents.len() };
            self.files.insert(name.to_owned(), Some(contents));
        }
        Ok(())
    }

    fn judge(&self, name: &str, size: usize) -> Result<(), Why> {
        bounds::judge_path(name)?;
        if size > bounds::max_size(name) {
            return Err(Why::Large(bounds::max_size(name)));
        }
        if self.files.len() >= bounds::MAX_FILES {
            return Err(Why::TooMany);
        }
        let is_too_much = name != MEMORY && self.bytes.saturating_add(size) > bounds::MAX_BYTES;
        if is_too_much { Err(Why::TooMuch) } else { Ok(()) }
    }
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
    if before.is_none() {
        remove_empty(&file, MAX_DEPTH);
    }
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

/// Removes a folder in which there are folders at most: where the files of one were, a file of its name may come.
fn remove_empty(folder: &Path, depth: usize) {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    if !is_folder || depth == 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty(&entry.path(), depth - 1);
    }
    // Fails when something is left in it.
    let _ = fs::remove_dir(folder);
}
