//! Changing the index.

use super::list::{Index, LIST, Living, Named, open_segment, sort, write_list};
use super::make::write_documents;
use super::merge::write_merged;
use super::segment::key_hash;
use super::{Change, Error};
use crate::document::Document;
use base::files;
use base::lock::Lock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much goes into one segment before it is merged: about 40 MB of memory while it is written.
const MAX_DOCUMENTS: usize = 32_768;
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Segments of about the same size that are merged into one of the next size, and how much larger that is.
const MERGE_AT: usize = 4;
/// Segments of fewer documents are of one size: a search looks into each.
const SMALL: u32 = 256;
/// What is merged at once with a change, in documents; larger ones wait for [`Writer::tidy`].
const MAX_MERGE_AT_ONCE: u32 = 8_192;
/// How many documents are merged in a millisecond, at least.
const MERGED_IN_A_MILLISECOND: u32 = 60;

/// The one process that writes.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    index: Index,
    _lock: Lock,
}

impl Writer {
    /// Waits for its turn, creates the folder and removes what killed writers left. An index that cannot be used is removed.
    pub fn open(folder: &Path, patience: Duration) -> Result<Self, Error> {
        files::create_private_folder(folder).map_err(Error::io(folder))?;
        let path = folder.join("write.lock");
        let lock = Lock::exclusive(&path, patience).map_err(Error::io(&path))?.ok_or(Error::Busy)?;
        let (index, is_usable) = match Index::open(folder) {
            Err(Error::Unusable(_)) => (Index::default(), false),
            index => (index?, true),
        };
        let mut writer = Self { folder: folder.to_owned(), index, _lock: lock };
        if is_usable {
            writer.remove_unnamed()?
        } else {
            writer.clear()?
        }
        Ok(writer)
    }

    /// The mark that the last [`Writer::apply`] left.
    pub fn mark(&self) -> &str {
        self.index.mark()
    }

    /// The folder of the index.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The index as it is now.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Makes all changes and leaves `mark`, or makes none. A later change of a key wins. Small parts are merged on the way.
    pub fn apply(&mut self, changes: impl IntoIterator<Item = Change>, mark: &str) -> Result<(), Error> {
        let applied = self.try_apply(changes, mark);
        if applied.is_err() {
            // Back to what the list names.
            self.index = Index::open(&self.folder).unwrap_or_default();
        }
        applied
    }

    fn try_apply(&mut self, changes: impl IntoIterator<Item = Change>, mark: &str) -> Result<(), Error> {
        let mut batch = Batch::default();
        for change in changes {
            batch.add(change);
            if batch.is_full() {
                self.put(std::mem::take(&mut batch))?;
            }
        }
        self.put(batch)?;
        while let Some(mergeable) = self.mergeable(MAX_MERGE_AT_ONCE) {
            self.merge(&mergeable)?;
        }
        self.index.list.mark = mark.to_owned();
        self.commit()
    }

    /// Merges what is due, for `most_time` at most; returns whether nothing is left to merge.
    pub fn tidy(&mut self, most_time: Duration) -> Result<bool, Error> {
        let began = Instant::now();
        while let Some(mergeable) = self.mergeable(u32::MAX) {
            if began.elapsed() >= most_time {
                return Ok(false);
            }
            self.merge(&mergeable)?;
            self.commit()?;
        }
        Ok(true)
    }

    /// Merges what is done within this time for sure.
    pub fn tidy_within(&mut self, most_time: Duration) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            let left = most_time.saturating_sub(began.elapsed()).as_millis();
            let most = u32::try_from(left).unwrap_or(u32::MAX).saturating_mul(MERGED_IN_A_MILLISECOND);
            let Some(mergeable) = self.mergeable(most) else { return Ok(()) };
            self.merge(&mergeable)?;
            self.commit()?;
        }
    }

    /// Rewrites every file that has words of removed documents: none of them is on disk afterwards.
    pub fn purge(&mut self) -> Result<(), Error> {
        let concerned: Vec<String> = self
            .index
            .segments
            .iter()
            .filter(|living| living.dead.count > 0)
            .map(|living| living.named.file.clone())
            .collect();
        for file in concerned {
            self.merge(&[file])?;
        }
        self.commit()
    }

    /// Removes the whole index.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.index.segments.clear();
        self.index.list.mark.clear();
        self.commit()
    }

    /// Adds a segment with the new documents, and marks those that they replace as dead.
    fn put(&mut self, batch: Batch) -> Result<(), Error> {
        if batch.changes.is_empty() {
            return Ok(());
        }
        let hashes: HashSet<u64> = batch.changes.keys().copied().collect();
        for living in &mut self.index.segments {
            for document in 0..living.segment.documents() {
                if hashes.contains(&living.segment.key_hash(document)) {
                    living.dead.add(document);
                }
            }
        }
        let documents: Vec<Document> = batch.changes.into_values().flatten().collect();
        if documents.is_empty() {
            return Ok(());
        }
        let living = self.write_segment(|file| write_documents(file, documents))?;
        self.index.segments.push(living);
        Ok(())
    }

    fn write_segment(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Living, Error> {
        let named = Named { file: self.next_file("seg"), dead: String::new() };
        let path = self.folder.join(&named.file);
        files::write_atomic_with(&path, write).map_err(Error::io(&path))?;
        open_segment(&self.folder, &named)
    }

    fn next_file(&mut self, ending: &str) -> String {
        let number = self.index.list.next;
        self.index.list.next += 1;
        format!("{number:08x}.{ending}")
    }

    fn mergeable(&self, most_documents: u32) -> Option<Vec<String>> {
        mergeable(&self.index.segments, most_documents)
    }

    /// Puts one segment in the place of these.
    fn merge(&mut self, files: &[String]) -> Result<(), Error> {
        let is_meant = |living: &Living| files.contains(&living.named.file);
        let is_any_alive = self.index.segments.iter().any(|living| is_meant(living) && living.alive() > 0);
        let merged = if is_any_alive {
            let segments = std::mem::take(&mut self.index.segments);
            let meant: Vec<_> = segments
                .iter()
                .filter(|living| is_meant(living))
                .map(|living| (&living.segment, &living.dead))
                .collect();
            let written = self.write_segment(|file| write_merged(file, &meant));
            self.index.segments = segments;
            Some(written?)
        } else {
            None
        };
        self.index.segments.retain(|living| !is_meant(living));
        self.index.segments.extend(merged);
        Ok(())
    }

    /// Writes the list; what it does not name any more is removed.
    fn commit(&mut self) -> Result<(), Error> {
        for place in 0..self.index.segments.len() {
            let is_written = self.index.segments[place].written_dead == self.index.segments[place].dead.count;
            if !is_written {
                let name = self.next_file("dead");
                let living = &mut self.index.segments[place];
                let path = self.folder.join(&name);
                files::write_atomic(&path, &living.dead.bytes()).map_err(Error::io(&path))?;
                living.named.dead = name;
                living.written_dead = living.dead.count;
            }
        }
        sort(&mut self.index.segments);
        self.index.list.segments = self.index.segments.iter().map(|living| living.named.clone()).collect();
        write_list(&self.folder, &self.index.list)?;
        self.remove_unnamed()
    }

    /// Removes files that the list does not name. On Windows one that is still mapped stays until the next time.
    fn remove_unnamed(&self) -> Result<(), Error> {
        let named: HashSet<&str> =
            self.index.list.segments.iter().flat_map(|named| [&*named.file, &*named.dead]).collect();
        for file in files::files_in(&self.folder) {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_ours =
                [".seg", ".dead"].iter().any(|ending| name.ends_with(ending)) || files::is_temporary(&name);
            if is_ours && name != LIST && !named.contains(&*name) {
                let removed = files::remove_if_there(&file);
                if cfg!(unix) {
                    removed.map_err(Error::io(&file))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the files of segments that should become one: several of about the same size, or one that is mostly dead.
pub(super) fn mergeable(segments: &[Living], most_documents: u32) -> Option<Vec<String>> {
    let mut by_size: BTreeMap<u32, Vec<&Living>> = BTreeMap::new();
    for living in segments {
        let alive = living.alive();
        if alive.saturating_mul(3) < living.dead.count && living.segment.documents() <= most_documents {
            return Some(vec![living.named.file.clone()]);
        }
        by_size.entry(alive.max(SMALL).ilog(MERGE_AT as u32)).or_default().push(living);
    }
    by_size.into_values().find_map(|mut of_size| {
        of_size.sort_by_key(|living| living.alive());
        let mut left = most_documents;
        let fits = |living: &&&Living| {
            let rest = left.checked_sub(living.alive());
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        let fitting: Vec<String> =
            of_size.iter().take_while(fits).map(|living| living.named.file.clone()).collect();
        (fitting.len() >= MERGE_AT).then_some(fitting)
    })
}

/// Changes that go into one segment; the last of each key.
#[derive(Debug, Default)]
struct Batch {
    changes: HashMap<u64, Option<Document>>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, change: Change) {
        let (key, document) = match change {
            Change::Put(document) => (key_hash(&document.key), Some(document)),
            Change::Remove(key) => (key_hash(&key), None),
        };
        self.bytes += document.as_ref().map_or(0, |document| document.title.len() + document.body.len());
        self.changes.insert(key, document);
    }

    fn is_full(&self) -> bool {
        self.changes.len() >= MAX_DOCUMENTS || self.bytes >= MAX_TEXT_BYTES
    }
}
