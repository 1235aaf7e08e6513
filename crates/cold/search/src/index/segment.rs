//! A segment: a file with the postings of some documents. It is never changed, only replaced.
//!
//! ```text
//! header | documents, newest first | details | places of strings | strings | postings | dictionary
//! ```
//!
//! Nothing in the file is trusted: every access is checked, and what does not hold is as if it were not there.

use super::dictionary::{Dictionary, Place};
use super::number::{Reader, u32_at, u64_at};
use super::postings::Postings;
use crate::document::Kind;
use memmap2::Mmap;
use std::io;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// What a segment begins with; the last byte is the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"WYRENSX\x01";
pub(super) const HEADER_BYTES: usize = 160;
pub(super) const RECORD_BYTES: usize = 48;

/// The parts of a segment, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Documents,
    Details,
    StringPlaces,
    Strings,
    Postings,
    Blocks,
    BlockPlaces,
    Backward,
}

pub(super) const PARTS: usize = 8;

/// What a segment has at which place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) documents: u32,
    pub(super) terms: u32,
    /// Words of all documents, and passages.
    pub(super) words: u64,
    pub(super) passages: u64,
    /// Where each part ends; the first begins behind the header.
    pub(super) ends: [u64; PARTS],
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let numbers = [u64::from(self.documents), u64::from(self.terms), self.words, self.passages];
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers.iter().chain(&self.ends)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a header; `None` unless the file is whole, of this version, and as long as when it was written.
    fn read(file: &[u8]) -> Option<Self> {
        let bytes = file.get(..HEADER_BYTES)?;
        if bytes[..8] != MAGIC || xxh3_64(&bytes[..HEADER_BYTES - 8]) != u64_at(bytes, HEADER_BYTES - 8) {
            return None;
        }
        let mut ends = [0; PARTS];
        for (number, end) in ends.iter_mut().enumerate() {
            *end = u64_at(bytes, 40 + 8 * number);
        }
        let header = Self {
            documents: u32::try_from(u64_at(bytes, 8)).ok()?,
            terms: u32::try_from(u64_at(bytes, 16)).ok()?,
            words: u64_at(bytes, 24),
            passages: u64_at(bytes, 32),
            ends,
        };
        let is_ordered = ends.is_sorted() && ends[0] >= HEADER_BYTES as u64;
        let has_documents =
            ends[0] - HEADER_BYTES as u64 == u64::from(header.documents) * RECORD_BYTES as u64;
        (is_ordered && has_documents && ends[PARTS - 1] == file.len() as u64).then_some(header)
    }
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    map: Mmap,
    pub(super) header: Header,
}

/// What a segment knows of a document at a fixed place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key_hash: u64,
    pub(super) at: u64,
    /// In words.
    pub(super) length: u32,
    pub(super) details: u32,
    /// Numbers of strings.
    pub(super) project: u32,
    pub(super) session: u32,
    pub(super) branch: u32,
    pub(super) author: u32,
    pub(super) class: u32,
    pub(super) kind: u32,
}

impl Record {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.key_hash.to_le_bytes());
        bytes.extend(self.at.to_le_bytes());
        let Self { length, details, project, session, branch, author, class, kind, .. } = *self;
        let numbers = [length, details, project, session, branch, author, class, kind];
        bytes.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    }
}

/// What a segment knows of a document besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Details<'s> {
    pub(super) key: &'s str,
    /// Numbers of strings.
    pub(super) files: Vec<u32>,
    /// The first word of each passage but the first.
    pub(super) passages: Vec<u32>,
}

impl Segment {
    /// Opens a segment; `None` when it is damaged or of another version.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let map = crate::mapped::map(path, HEADER_BYTES)?;
        Ok(map.and_then(|map| Header::read(&map).map(|header| Self { map, header })))
    }

    fn part(&self, part: Part) -> &[u8] {
        let number = part as usize;
        let start = number.checked_sub(1).map_or(HEADER_BYTES as u64, |before| self.header.ends[before]);
        self.map.get(start as usize..self.header.ends[number] as usize).unwrap_or_default()
    }

    pub(super) fn documents(&self) -> u32 {
        self.header.documents
    }

    #[inline]
    pub(super) fn record(&self, document: u32) -> Record {
        let start = HEADER_BYTES + document as usize * RECORD_BYTES;
        let bytes = self.map.get(start..start + RECORD_BYTES).unwrap_or(&[0; RECORD_BYTES]);
        let number = |field: usize| u32_at(bytes, 16 + 4 * field);
        Record {
            key_hash: u64_at(bytes, 0),
            at: u64_at(bytes, 8),
            length: number(0),
            details: number(1),
            project: number(2),
            session: number(3),
            branch: number(4),
            author: number(5),
            class: number(6),
            kind: number(7),
        }
    }

    #[inline]
    pub(super) fn key_hash(&self, document: u32) -> u64 {
        u64_at(&self.map, HEADER_BYTES + document as usize * RECORD_BYTES)
    }

    /// Returns a document's time and length.
    #[inline]
    pub(super) fn at_and_length(&self, document: u32) -> (u64, u32) {
        let start = HEADER_BYTES + document as usize * RECORD_BYTES;
        (u64_at(&self.map, start + 8), u32_at(&self.map, start + 16))
    }

    pub(super) fn details(&self, record: &Record) -> Details<'_> {
        self.try_details(record).unwrap_or_default()
    }

    fn try_details(&self, record: &Record) -> Option<Details<'_>> {
        let mut reader = Reader::new(self.part(Part::Details).get(record.details as usize..)?);
        let length = reader.small()?;
        let key = str::from_utf8(reader.take(length as usize)?).ok()?;
        let count = reader.small()?;
        let files = (0..count).map(|_| reader.small()).collect::<Option<_>>()?;
        let count = reader.small()?;
        let mut start = 0_u32;
        let mut passages = Vec::new();
        for _ in 0..count {
            start = start.checked_add(reader.small()?)?;
            passages.push(start);
        }
        Some(Details { key, files, passages })
    }

    /// Returns how many strings there are.
    pub(super) fn strings(&self) -> u32 {
        (self.part(Part::StringPlaces).len() / 4) as u32
    }

    /// Returns a string; an empty one beyond the last.
    pub(super) fn string(&self, number: u32) -> &str {
        let places = self.part(Part::StringPlaces);
        if number >= self.strings() {
            return "";
        }
        let start = number.checked_sub(1).map_or(0, |before| u32_at(places, before as usize * 4));
        let end = u32_at(places, number as usize * 4);
        let bytes = self.part(Part::Strings).get(start as usize..end as usize).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    pub(super) fn dictionary(&self) -> Dictionary<'_> {
        Dictionary {
            blocks: self.part(Part::Blocks),
            places: self.part(Part::BlockPlaces),
            backward: self.part(Part::Backward),
            terms: self.header.terms,
        }
    }

    pub(super) fn postings(&self, place: Place) -> Postings<'_> {
        let all = self.part(Part::Postings);
        let end = place.at.saturating_add(place.bytes) as usize;
        Postings::new(all.get(place.at as usize..end).unwrap_or_default(), place.documents)
    }
}

/// Returns the kind of this number.
pub(super) fn kind_of(number: u32) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| *kind as u32 == number)
}

/// Returns what a document's key is compared by.
pub(crate) fn key_hash(key: &str) -> u64 {
    xxh3_64(key.as_bytes())
}
