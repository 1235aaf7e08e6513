//! Checking out: what the remote has is merged into the local copy, whose own changes stay.

use crate::fetch::Fetched;
use crate::local::Local;
use crate::lock::SyncLock;
use crate::objects::Snapshot;
use crate::place::is_shared;
use crate::{Error, Files, Merge, Published, Team, setup};
use base::files;
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

impl Team {
    /// Merges what the last fetch brought into the local copy. Returns the paths that changed.
    ///
    /// What was changed here and not published stays changed. A file is removed only when the remote removed it and it
    /// is here as it was there; one that is missing here comes back.
    pub fn checkout(&self, merge: &dyn Merge, deadline: Instant) -> Result<Vec<String>, Error> {
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(_lock) = lock else { return Err(Error::Busy) };
        let refs = self.refs()?;
        if refs.before.is_some() {
            return Err(Error::Rewritten);
        }
        let Some(tip) = refs.tip else { return Ok(Vec::new()) };
        let mut local = self.local(&refs)?;
        let noted = local.clone();
        self.settle(&mut local, tip)?;
        let folder = self.copy_folder();
        let found = files_of_copy(&folder)?;
        let mut theirs = self.objects.snapshot(Some(tip))?;
        theirs.retain(|_, id| self.objects.size(*id).is_ok_and(|size| size <= MAX_FILE));
        let base = match &local.base {
            Some(base) => base.clone(),
            None => self.fork_point(tip, deadline)?,
        };
        // What is not in the copy counts as unchanged; before the first sync there is nothing that it could have been.
        let mut ours = if local.base.is_some() { base.clone() } else { Snapshot::new() };
        for (path, contents) in &found {
            if let Some(contents) = contents {
                ours.insert(path.clone(), self.objects.write(contents)?);
            }
        }
        let known = if local.base.is_some() { base } else { restricted(base, &ours) };
        let merged = self.objects.merge(merge, &known, &ours, &theirs)?;

        let mut changed = Vec::new();
        for path in ours.keys().filter(|path| !merged.contains_key(*path)) {
            if remove(&folder, path, found.get(path).and_then(Option::as_deref))? {
                changed.push(path.clone());
            }
        }
        for (path, id) in &merged {
            let before = found.get(path).and_then(Option::as_deref);
            if before.is_none() || ours.get(path) != Some(id) {
                write(&folder, path, before, &self.objects.read(*id)?, merge)?;
                changed.push(path.clone());
            }
        }
        changed.sort();

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
        let local = Local { base: Some(theirs), pending, sent: None, candidate: None };
        if local != noted {
            self.note(&local)?;
        }
        Ok(changed)
    }

    /// Publishes the local copy, and merges what the others have published into it. Returns how the publication ended,
    /// or why the remote could not be asked, and the paths that changed here.
    pub fn sync(
        &self,
        session: Option<&str>,
        merge: &dyn Merge,
        deadline: Instant,
    ) -> Result<(Published, Vec<String>), Error> {
        let mut published = self.publish(&self.local_files()?, session, merge, deadline)?;
        if published == Published::Nothing
            && let Fetched::Failed(reason) = self.fetch(deadline)?
        {
            published = Published::Queued(reason);
        }
        match self.checkout(merge, deadline) {
            Ok(changed) => Ok((published, changed)),
            Err(Error::Rewritten) => Ok((Published::Queued(crate::Reason::Rewritten), Vec::new())),
            Err(Error::Busy) => Ok((published, Vec::new())),
            Err(error) => Err(error),
        }
    }
}

/// Returns a snapshot without the files that `other` does not have.
fn restricted(mut snapshot: Snapshot, other: &Snapshot) -> Snapshot {
    snapshot.retain(|path, _| other.contains_key(path));
    snapshot
}

/// Returns the shared files in the folder of a local copy. Links, and what is too large, are passed over.
pub(crate) fn files_of_copy(folder: &Path) -> Result<Files, Error> {
    let mut found = Files::new();
    for name in ["memory.md", "broadcast", "lessons"] {
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
    // What is being written, by us or by the Node system, is not a file yet.
    let is_temporary = name.ends_with(".tmp");
    let is_small = usize::try_from(metadata.len()).is_ok_and(|size| size <= MAX_FILE);
    if metadata.is_file() && is_shared(name) && is_small && !is_temporary && found.len() < MAX_FILES {
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => {
                found.insert(name.to_owned(), Some(read.map_err(Error::file(path))?));
            }
        }
    }
    Ok(())
}

/// Writes a file of the copy, which was `before` when the merge began; should it have changed since, that is kept.
fn write(
    folder: &Path,
    path: &str,
    before: Option<&[u8]>,
    contents: &[u8],
    merge: &dyn Merge,
) -> Result<(), Error> {
    refuse_links(folder, path)?;
    let file = folder.join(path);
    let now = read_if_there(&file)?;
    let merged = if now.as_deref() == before {
        Some(contents.to_vec())
    } else {
        merge.merge(path, before, now.as_deref(), Some(contents))
    };
    merged.map_or(Ok(()), |merged| files::write_atomic(&file, &merged)).map_err(Error::file(&file))
}

/// Removes a file of the copy if it is still what it was when the merge began. Returns whether it was there.
fn remove(folder: &Path, path: &str, before: Option<&[u8]>) -> Result<bool, Error> {
    refuse_links(folder, path)?;
    let file = folder.join(path);
    let now = read_if_there(&file)?;
    if now.is_none() || now.as_deref() != before {
        return Ok(false);
    }
    fs::remove_file(&file).map_err(Error::file(&file))?;
    Ok(true)
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(Error::file(path)),
    }
}

/// Fails when a link stands anywhere on the way to a file of the copy.
fn refuse_links(folder: &Path, path: &str) -> Result<(), Error> {
    let mut place = folder.to_owned();
    setup::refuse_link(&place)?;
    for name in path.split('/') {
        place.push(name);
        setup::refuse_link(&place)?;
    }
    Ok(())
}
