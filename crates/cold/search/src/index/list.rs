//! The segments that count, and opening them.

use super::Error;
use super::dead::Dead;
use super::segment::Segment;
use crate::query::{Filter, Found, Hit, Query};
use base::files;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// The file that names the segments, and the version of the whole.
pub(super) const LIST: &str = "list.json";
const VERSION: u32 = 2;
const MAX_LIST_BYTES: usize = 1 << 20;
/// How often the list is read again when a file that it names was replaced in the meantime.
const TRIES: usize = 20;

/// What `list.json` has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct List {
    pub(super) version: u32,
    /// What the index was made of: for who made it.
    pub(super) mark: String,
    /// The number of the next file.
    pub(super) next: u64,
    pub(super) segments: Vec<Named>,
}

/// A segment of the list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) file: String,
    /// The file that says which of its documents are dead; empty where none is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) dead: String,
}

/// A segment with what is dead in it.
#[derive(Debug)]
pub(super) struct Living {
    pub(super) named: Named,
    pub(super) segment: Segment,
    pub(super) dead: Dead,
    /// How many of them the file on disk has.
    pub(super) written_dead: u32,
}

impl Living {
    pub(super) fn alive(&self) -> u32 {
        self.segment.documents().saturating_sub(self.dead.count)
    }
}

/// The index as it is at one moment, for reading.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) list: List,
    /// Those with the newest documents first.
    pub(super) segments: Vec<Living>,
}

impl Index {
    /// Opens the index in `folder`; an empty one where there is none.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        for _ in 0..TRIES {
            let Some(list) = read_list(folder)? else { return Ok(Self::default()) };
            match open_segments(folder, &list) {
                Ok(segments) => return Ok(Self { list, segments }),
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Unusable("a file is missing"))
    }

    /// Returns the mark that the last writer left: what the index was made of. Empty where there is none.
    pub fn mark(&self) -> &str {
        &self.list.mark
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.segments.iter().map(|living| living.alive() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it is in as few parts as it should be: [`super::Writer::tidy`] has nothing to do.
    pub fn is_tidy(&self) -> bool {
        super::writer::mergeable(&self.segments, u32::MAX).is_none()
    }

    /// Returns the documents that fit a question best.
    pub fn search(&self, query: &Query) -> Found {
        super::rank::search(self, query, super::rank::Effort::Best)
    }

    /// The same with every document judged, however many there are: what the quick way is compared with.
    pub fn search_exhaustively(&self, query: &Query) -> Found {
        super::rank::search(self, query, super::rank::Effort::All)
    }

    /// Returns how many documents have a word of the question and pass its filter.
    pub fn count(&self, query: &Query) -> usize {
        super::rank::count(self, query)
    }

    /// Returns the documents with these hashes of their keys that pass a filter. They have no score.
    pub fn documents_of(&self, hashes: impl IntoIterator<Item = u64>, filter: &Filter) -> HashMap<u64, Hit> {
        super::rank::documents_of(self, &hashes.into_iter().collect(), filter)
    }

    /// Calls `each` with the key and the time of every document.
    pub fn each_document(&self, mut each: impl FnMut(&str, u64)) {
        for living in &self.segments {
            for document in (0..living.segment.documents()).filter(|document| !living.dead.has(*document)) {
                let record = living.segment.record(document);
                each(living.segment.details(&record).key, record.at);
            }
        }
    }

    /// Returns words of the index that are spelled like `word`, the nearest first.
    pub fn nearest(&self, word: &str) -> Vec<String> {
        super::near::nearest(self, word)
    }

    /// Calls `each` for every term of every file, those of dead documents included: what could be read off the disk.
    pub fn each_term(&self, mut each: impl FnMut(&str)) {
        for living in &self.segments {
            let mut walk = living.segment.dictionary().walk();
            while walk.step().is_some() {
                each(&String::from_utf8_lossy(walk.term()));
            }
        }
    }
}

fn read_list(folder: &Path) -> Result<Option<List>, Error> {
    let path = folder.join(LIST);
    let bytes = files::read_capped_if_there(&path, MAX_LIST_BYTES).map_err(Error::io(&path))?;
    let Some(bytes) = bytes else { return Ok(None) };
    let list: List = serde_json::from_slice(&bytes).map_err(|_| Error::Unusable("its list is damaged"))?;
    if list.version != VERSION {
        return Err(Error::Unusable("it is of another version"));
    }
    Ok(Some(list))
}

pub(super) fn write_list(folder: &Path, list: &List) -> Result<(), Error> {
    let path = folder.join(LIST);
    let list = List { version: VERSION, ..list.clone() };
    let bytes = serde_json::to_vec(&list).map_err(|_| Error::Unusable("its list cannot be written"))?;
    files::write_atomic(&path, &bytes).map_err(Error::io(&path))
}

fn open_segments(folder: &Path, list: &List) -> Result<Vec<Living>, Error> {
    let mut segments =
        list.segments.iter().map(|named| open_segment(folder, named)).collect::<Result<Vec<_>, _>>()?;
    sort(&mut segments);
    Ok(segments)
}

/// Puts the segments with the newest documents first.
pub(super) fn sort(segments: &mut [Living]) {
    segments.sort_by_key(|living| std::cmp::Reverse(living.segment.record(0).at));
}

pub(super) fn open_segment(folder: &Path, named: &Named) -> Result<Living, Error> {
    let path = own_file(folder, &named.file)?;
    let segment = Segment::open(&path).map_err(Error::io(&path))?;
    let segment = segment.ok_or(Error::Unusable("a file of it is damaged"))?;
    let dead = if named.dead.is_empty() {
        Dead::default()
    } else {
        let path = own_file(folder, &named.dead)?;
        let dead = Dead::read(&path).map_err(Error::io(&path))?;
        dead.ok_or(Error::Unusable("a file of it is damaged"))?
    };
    let written_dead = dead.count;
    Ok(Living { named: named.clone(), segment, dead, written_dead })
}

/// Returns the path of a file that the list names.
fn own_file(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    if is_plain { Ok(folder.join(name)) } else { Err(Error::Unusable("its list is damaged")) }
}
