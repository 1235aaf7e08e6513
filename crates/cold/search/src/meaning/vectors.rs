//! Vectors on disk, and finding those that are near to one.
//!
//! A file has a header, hashes of the documents' keys and of their texts, what each vector is scaled by, and the vectors, a byte per
//! number. Files are written once and replaced by rename; few are large, since small ones are joined. They hold no text, but something of it can be
//! guessed from a vector: what is removed is off the disk at once.

use crate::index::key_hash;
use crate::mapped;
use base::files;
use base::lock::Lock;
use memmap2::Mmap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// What a file begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"WYRENVC\x01";
const HEADER: usize = 40;
/// The bytes of a vector besides its numbers.
const BESIDE: usize = 20;
const ENDING: &str = "vec";
/// Files are joined when there are more, into files of at most so many vectors.
const MAX_FILES: usize = 16;
const MAX_IN_FILE: usize = 65_536;

/// Why vectors could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("another wyren writes the vectors")]
    Busy,
    #[error("the embeddings server gave vectors of {found} numbers where it gave {expected} before")]
    Length { expected: usize, found: usize },
}

impl Error {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }
}

/// The vectors of one model.
#[derive(Debug)]
pub struct Vectors {
    folder: PathBuf,
    /// The hash of the model's name.
    model: u64,
    files: Vec<Vectored>,
}

/// A file of them, as it was when it was opened.
#[derive(Debug)]
struct Vectored {
    path: PathBuf,
    map: Mmap,
    model: u64,
    length: usize,
    count: usize,
}

impl Vectored {
    /// Opens a file; `None` when it is of another version, or damaged.
    fn open(path: &Path) -> Option<Self> {
        let map = mapped::map(path, HEADER).ok()??;
        let number = |at: usize| {
            map.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        let (model, length, count) =
            (number(8)?, usize::try_from(number(16)?).ok()?, usize::try_from(number(24)?).ok()?);
        let is_ours = map[..8] == MAGIC && number(32)? == xxh3_64(&map[..32]);
        let bytes = length.checked_add(BESIDE)?.checked_mul(count)?.checked_add(HEADER)?;
        let is_whole = is_ours && length > 0 && bytes == map.len();
        is_whole.then(|| Self { path: path.to_owned(), map, model, length, count })
    }

    fn number(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.map[at..at + 8].try_into().unwrap_or_default())
    }

    fn hash(&self, place: usize) -> u64 {
        self.number(HEADER + place * 8)
    }

    fn text(&self, place: usize) -> u64 {
        self.number(HEADER + (self.count + place) * 8)
    }

    fn scale(&self, place: usize) -> f32 {
        let at = HEADER + self.count * 16 + place * 4;
        f32::from_le_bytes(self.map[at..at + 4].try_into().unwrap_or_default())
    }

    fn numbers(&self, place: usize) -> &[u8] {
        let at = HEADER + self.count * BESIDE + place * self.length;
        &self.map[at..at + self.length]
    }

    fn one(&self, place: usize) -> One {
        One {
            hash: self.hash(place),
            text: self.text(place),
            scale: self.scale(place),
            numbers: self.numbers(place).to_vec(),
        }
    }
}

/// A vector of a document.
#[derive(Clone, Debug)]
struct One {
    hash: u64,
    text: u64,
    scale: f32,
    numbers: Vec<u8>,
}

impl One {
    /// Makes a vector one long and its numbers bytes.
    fn new(hash: u64, text: u64, vector: &[f32]) -> Self {
        let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt() as f32;
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let byte = |number: &f32| ((number / largest * 127.0).round() as i8).cast_unsigned();
        Self { hash, text, scale: largest / 127.0 / length, numbers: vector.iter().map(byte).collect() }
    }
}

/// How alike two vectors are that are one long: 1 where they are the same.
fn likeness(one: &One, scale: f32, numbers: &[u8]) -> f32 {
    let products = one.numbers.iter().zip(numbers);
    let sum: i32 =
        products.map(|(one, other)| i32::from(one.cast_signed()) * i32::from(other.cast_signed())).sum();
    sum as f32 * one.scale * scale
}

impl Vectors {
    /// Opens what there is in `folder` of a model. Files of others are left alone until the next time that vectors are written.
    pub fn open(folder: &Path, model: &str) -> Self {
        let model = xxh3_64(model.as_bytes());
        let files = opened(folder).into_iter().filter(|file| file.model == model).collect();
        Self { folder: folder.to_owned(), model, files }
    }

    pub fn len(&self) -> usize {
        self.files.iter().map(|file| file.count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the hashes of the keys that have a vector.
    pub fn hashes(&self) -> HashSet<u64> {
        self.files.iter().flat_map(|file| (0..file.count).map(|place| file.hash(place))).collect()
    }

    /// Returns the hashes of the documents nearest to a vector, with how alike they are, the nearest first.
    pub fn nearest(&self, vector: &[f32], most: usize) -> Vec<(u64, f32)> {
        let asked = One::new(0, 0, vector);
        let mut best: BinaryHeap<Reverse<(Ordered, u64)>> = BinaryHeap::new();
        for file in self.files.iter().filter(|file| file.length == vector.len()) {
            for place in 0..file.count {
                let alike = Ordered(likeness(&asked, file.scale(place), file.numbers(place)));
                if best.len() < most {
                    best.push(Reverse((alike, file.hash(place))));
                } else if best.peek().is_some_and(|Reverse((worst, _))| alike > *worst) {
                    best.pop();
                    best.push(Reverse((alike, file.hash(place))));
                }
            }
        }
        let mut best: Vec<_> = best.into_iter().map(|Reverse((alike, hash))| (hash, alike.0)).collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        best
    }

    /// Adds the vectors of documents, all of one length, and joins small files.
    pub fn add(&mut self, vectors: &[Vector<'_>]) -> Result<(), Error> {
        let Some(first) = vectors.first() else { return Ok(()) };
        let expected = self.files.first().map_or(first.numbers.len(), |file| file.length);
        if let Some(other) = vectors.iter().find(|vector| vector.numbers.len() != expected) {
            return Err(Error::Length { expected, found: other.numbers.len() });
        }
        let _lock = lock(&self.folder)?;
        let one =
            |vector: &Vector<'_>| One::new(key_hash(vector.key), text_hash(vector.text), &vector.numbers);
        let mut ones: Vec<One> = vectors.iter().map(one).collect();
        let mut joined = Vec::new();
        if self.files.len() >= MAX_FILES {
            // The new ones and all files that are not full become one.
            for file in self.files.iter().filter(|file| file.count < MAX_IN_FILE) {
                ones.extend((0..file.count).map(|place| file.one(place)));
                joined.push(file.path.clone());
            }
        }
        for some in ones.chunks(MAX_IN_FILE) {
            let path = write(&self.folder, self.model, some)?;
            self.files.extend(Vectored::open(&path));
        }
        self.files.retain(|file| !joined.contains(&file.path));
        remove(&joined)
    }

    /// Removes the vectors of documents that are no more, and those of other models.
    pub fn keep_only(&mut self, hashes: &HashSet<u64>) -> Result<(), Error> {
        if !self.folder.is_dir() {
            return Ok(());
        }
        let model = self.model;
        retain(&self.folder, |file| file.model == model, |one, _| hashes.contains(&one))?;
        self.files = opened(&self.folder).into_iter().filter(|file| file.model == model).collect();
        Ok(())
    }
}

/// A vector with what it is of.
#[derive(Clone, Debug)]
pub struct Vector<'d> {
    pub key: &'d str,
    pub text: &'d str,
    pub numbers: Vec<f32>,
}

/// Removes vectors, of any model, of documents with these keys: all of a key, or those of another text.
pub(crate) fn forget(folder: &Path, keys: &HashMap<u64, Option<u64>>) -> Result<(), Error> {
    retain(folder, |_| true, |hash, text| keys.get(&hash).is_none_or(|kept| *kept == Some(text)))
}

/// Says whether there are vectors at all.
pub(crate) fn are_any(folder: &Path) -> bool {
    folder.is_dir() && !opened(folder).is_empty()
}

/// Removes every file of vectors, damaged ones included.
pub(crate) fn clear(folder: &Path) -> Result<(), Error> {
    if !folder.is_dir() {
        return Ok(());
    }
    let _lock = lock(folder)?;
    remove(&paths_in(folder))
}

/// Keeps files, and of those the vectors, that are to be kept, by the hashes of their keys and texts.
fn retain(
    folder: &Path,
    is_kept: impl Fn(&Vectored) -> bool,
    is_one_kept: impl Fn(u64, u64) -> bool,
) -> Result<(), Error> {
    let _lock = lock(folder)?;
    let mut dropped = Vec::new();
    for path in paths_in(folder) {
        let Some(file) = Vectored::open(&path).filter(&is_kept) else {
            dropped.push(path);
            continue;
        };
        let kept: Vec<usize> =
            (0..file.count).filter(|place| is_one_kept(file.hash(*place), file.text(*place))).collect();
        if kept.len() < file.count {
            let left: Vec<One> = kept.into_iter().map(|place| file.one(place)).collect();
            if !left.is_empty() {
                write(folder, file.model, &left)?;
            }
            dropped.push(path);
        }
    }
    remove(&dropped)
}

fn paths_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths = files::files_in(folder);
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    paths
}

fn opened(folder: &Path) -> Vec<Vectored> {
    paths_in(folder).iter().filter_map(|path| Vectored::open(path)).collect()
}

fn lock(folder: &Path) -> Result<Lock, Error> {
    files::create_private_folder(folder).map_err(Error::io(folder))?;
    let path = folder.join("write.lock");
    Lock::exclusive(&path, Duration::from_secs(5)).map_err(Error::io(&path))?.ok_or(Error::Busy)
}

fn write(folder: &Path, model: u64, ones: &[One]) -> Result<PathBuf, Error> {
    let length = ones.first().map_or(0, |one| one.numbers.len());
    let mut bytes = MAGIC.to_vec();
    bytes.extend([model, length as u64, ones.len() as u64].into_iter().flat_map(u64::to_le_bytes));
    let sum = xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes.extend(ones.iter().flat_map(|one| one.hash.to_le_bytes()));
    bytes.extend(ones.iter().flat_map(|one| one.text.to_le_bytes()));
    bytes.extend(ones.iter().flat_map(|one| one.scale.to_le_bytes()));
    ones.iter().for_each(|one| bytes.extend(&one.numbers));
    let last = paths_in(folder).iter().filter_map(|path| number_of(path)).max().unwrap_or(0);
    let path = folder.join(format!("{:08x}.{ENDING}", last + 1));
    files::write_atomic(&path, &bytes).map_err(Error::io(&path))?;
    Ok(path)
}

fn remove(paths: &[PathBuf]) -> Result<(), Error> {
    paths.iter().try_for_each(|path| files::remove_if_there(path).map(drop).map_err(Error::io(path)))
}

/// What a text is known by again.
pub(crate) fn text_hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

fn number_of(path: &Path) -> Option<u64> {
    u64::from_str_radix(path.file_stem()?.to_str()?, 16).ok()
}

/// A number that can be sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ordered(f32);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
