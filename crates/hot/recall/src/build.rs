//! Making a cache.

use crate::layout::{Domain, HEADER_BYTES, Header, RECORD_HEAD_BYTES, SLOT_BYTES, Table, key, session_tag};
use crate::terms;
use std::collections::{BTreeMap, BTreeSet};
use text::sanitize;
use xxhash_rust::xxh3::xxh3_64;

/// How many entries a cache has at most, the newest ones.
pub const MAX_ENTRIES: usize = 20_000;
/// How many files, those that were worked on last.
pub const MAX_FILES: usize = 20_000;
/// How many entries a file has, the newest ones.
pub const MAX_ENTRIES_OF_FILE: usize = 20;
const MAX_TERMS: usize = 40_000;
/// How long a title is in a line, in characters: with [`MAX_ENTRIES_OF_FILE`] the text about a file stays below 4 KB.
const MAX_TITLE_CHARS: usize = 160;
const MAX_ID: usize = 32;
const MAX_PATH: usize = 1_024;
/// The most bytes of the records of entries, files and terms. With the slots of as many files and terms the whole is below
/// 8 MB.
const ENTRY_BYTES: usize = 3 * 1024 * 1024;
const FILE_BYTES: usize = 2 * 1024 * 1024;
const TERM_BYTES: usize = 512 * 1024;
/// How many files may share a name for the name to lead to them.
const MAX_NAMESAKES: usize = 3;

/// An entry of the journal, as far as a line about it needs it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The session's id, as its client gave it.
    pub session: String,
    pub id: String,
    /// The local day, as `2026-11-16`.
    pub day: String,
    pub glyph: String,
    pub title: String,
}

/// What a cache is made of.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Newest first.
    pub entries: Vec<Entry>,
    /// The entries about each file by their place in `entries`, newest first.
    pub files: BTreeMap<String, Vec<u32>>,
}

/// Records under keys.
#[derive(Default)]
struct Keyed(BTreeMap<u64, Vec<u8>>);

impl Contents {
    /// Makes the bytes of a cache. What is over the limits is left out, the oldest first.
    pub fn build(&self, fingerprint: u64) -> Vec<u8> {
        let entries = self.entry_records();
        let count = entries.len() as u32;
        let files = self.newest_files(count);
        let file_records = file_records(&files);
        let term_records = self.term_records(&files, count);
        lay_out(fingerprint, &entries, &file_records, &term_records)
    }

    fn entry_records(&self) -> Vec<Vec<u8>> {
        let mut room = ENTRY_BYTES;
        let mut records = Vec::new();
        for entry in self.entries.iter().take(MAX_ENTRIES) {
            let id = &entry.id[..entry.id.floor_char_boundary(MAX_ID)];
            let title = sanitize::model_line(&entry.title, MAX_TITLE_CHARS);
            let mut record = session_tag(&entry.session).to_le_bytes().to_vec();
            record.push(id.len() as u8);
            record.extend(id.as_bytes());
            record.extend(format!("{} {} {title}", entry.day, entry.glyph).as_bytes());
            let Some(left) = room.checked_sub(record.len() + RECORD_HEAD_BYTES + 4) else { break };
            room = left;
            records.push(record);
        }
        records
    }

    /// Returns the files with the entries that are in the cache, those that were worked on last first.
    fn newest_files(&self, entries: u32) -> Vec<(&str, Vec<u32>)> {
        let kept = |numbers: &[u32]| {
            let kept = numbers.iter().copied().filter(|number| *number < entries);
            kept.take(MAX_ENTRIES_OF_FILE).collect::<Vec<u32>>()
        };
        let mut files: Vec<(&str, Vec<u32>)> = self
            .files
            .iter()
            .map(|(path, numbers)| (path.as_str(), kept(numbers)))
            .filter(|(path, numbers)| !numbers.is_empty() && path.len() <= MAX_PATH)
            .collect();
        files.sort_by_key(|(_, numbers)| numbers.first().copied());
        files.truncate(MAX_FILES);
        files
    }

    /// Returns the entries that names of files, names from code and rare words lead to.
    fn term_records(&self, files: &[(&str, Vec<u32>)], entries: u32) -> Keyed {
        let mut found: BTreeMap<(Domain, String), BTreeSet<u32>> = BTreeMap::new();
        for (number, entry) in (0..entries).zip(&self.entries) {
            for token in terms::tokens(&entry.title) {
                for name in terms::names(token) {
                    found.entry((Domain::Name, name.to_owned())).or_default().insert(number);
                }
                for word in terms::words(token) {
                    found.entry((Domain::Word, word)).or_default().insert(number);
                }
            }
        }
        // One in a hundred, and a few where there are few.
        let most = (entries as usize / 100).clamp(3, MAX_ENTRIES_OF_FILE);
        found.retain(|_, numbers| numbers.len() <= most);
        let mut namesakes: BTreeMap<&str, Vec<&[u32]>> = BTreeMap::new();
        for (path, numbers) in files {
            if let Some(name) = terms::base_name(path) {
                namesakes.entry(name).or_default().push(numbers);
            }
        }
        for (name, all) in namesakes.into_iter().filter(|(_, all)| all.len() <= MAX_NAMESAKES) {
            let numbers = found.entry((Domain::Name, name.to_owned())).or_default();
            numbers.extend(all.into_iter().flatten());
        }
        // The terms of the newest entries first.
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(_, numbers)| numbers.first().copied());
        let mut room = TERM_BYTES;
        let mut keyed = Keyed::default();
        for ((domain, term), numbers) in found.into_iter().take(MAX_TERMS) {
            let numbers: Vec<u32> = numbers.into_iter().take(MAX_ENTRIES_OF_FILE).collect();
            let Some(left) = room.checked_sub(RECORD_HEAD_BYTES + 4 * numbers.len()) else { break };
            room = left;
            keyed.0.insert(key(domain, &term), as_bytes(&numbers));
        }
        keyed
    }
}

fn file_records(files: &[(&str, Vec<u32>)]) -> Keyed {
    let mut room = FILE_BYTES;
    let mut keyed = Keyed::default();
    for (path, numbers) in files {
        let mut record = (path.len() as u16).to_le_bytes().to_vec();
        record.extend(path.as_bytes());
        record.extend(as_bytes(numbers));
        let Some(left) = room.checked_sub(record.len() + RECORD_HEAD_BYTES) else { break };
        room = left;
        keyed.0.insert(key(Domain::File, path), record);
    }
    keyed
}

fn as_bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn lay_out(fingerprint: u64, entries: &[Vec<u8>], files: &Keyed, terms: &Keyed) -> Vec<u8> {
    let file_slots = files.slots();
    let term_slots = terms.slots();
    let files_at = HEADER_BYTES;
    let terms_at = files_at + file_slots * SLOT_BYTES;
    let entries_at = terms_at + term_slots * SLOT_BYTES;
    let mut records = Records { first: entries_at + 4 * entries.len(), bytes: Vec::new() };
    let places: Vec<u32> = entries.iter().map(|entry| records.put(entry)).collect();
    let (files, terms) = (files.table(file_slots, &mut records), terms.table(term_slots, &mut records));
    let header = Header {
        fingerprint,
        file_bytes: as_u32(records.first + records.bytes.len()),
        files: Table { slots: as_u32(file_slots), at: as_u32(files_at) },
        terms: Table { slots: as_u32(term_slots), at: as_u32(terms_at) },
        entries: as_u32(entries.len()),
        entries_at: as_u32(entries_at),
    };
    [&header.write()[..], &files, &terms, &as_bytes(&places), &records.bytes].concat()
}

struct Records {
    /// Where the first record is in the file.
    first: usize,
    bytes: Vec<u8>,
}

impl Records {
    fn put(&mut self, record: &[u8]) -> u32 {
        let place = as_u32(self.first + self.bytes.len());
        self.bytes.extend(xxh3_64(record).to_le_bytes());
        self.bytes.extend(as_u32(record.len()).to_le_bytes());
        self.bytes.extend(record);
        place
    }
}

impl Keyed {
    /// Returns a number of slots of which half stay empty, so that a search ends soon.
    fn slots(&self) -> usize {
        (self.0.len() * 2).next_power_of_two().max(16)
    }

    fn table(&self, slots: usize, records: &mut Records) -> Vec<u8> {
        let mut table = vec![0_u8; slots * SLOT_BYTES];
        for (key, record) in &self.0 {
            let mut slot = (*key as usize) & (slots - 1);
            while table[slot * SLOT_BYTES..slot * SLOT_BYTES + 8] != [0; 8] {
                slot = (slot + 1) & (slots - 1);
            }
            let place = &mut table[slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES];
            place[..8].copy_from_slice(&key.to_le_bytes());
            place[8..].copy_from_slice(&records.put(record).to_le_bytes());
        }
        table
    }
}

fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
