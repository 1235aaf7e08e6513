//! Looking things up in a cache.

use crate::layout::{Domain, Header, RECORD_HEAD_BYTES, SLOT_BYTES, Table, key, u16_at, u32_at, u64_at};
use std::ops::Deref;
use xxhash_rust::xxh3::xxh3_64;

/// A cache over any bytes: a mapped file, or a buffer. Entries have numbers, the newest has 0.
#[derive(Debug)]
pub struct Cache<B> {
    bytes: B,
    header: Header,
}

/// An entry of the journal in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub(crate) session: u32,
    pub id: &'a str,
    /// Its day, glyph and title.
    pub text: &'a str,
}

/// How much a term of a prompt says about the entries that it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A file or a name from code: enough by itself.
    Name,
    /// A rare word: takes another one.
    Word,
}

impl<B: Deref<Target = [u8]>> Cache<B> {
    /// Takes bytes for a cache; `None` when they are damaged or of another version. Only the header is looked at: the cost
    /// does not depend on how much the cache holds.
    pub fn new(bytes: B) -> Option<Self> {
        let header = Header::read(&bytes)?;
        Some(Self { bytes, header })
    }

    /// Returns what the cache was made from.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.header.entries as usize
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries about a file, newest first.
    pub fn about_file(&self, path: &str) -> Vec<u32> {
        let Some(record) = self.find(self.header.files, key(Domain::File, path)) else { return Vec::new() };
        let length = usize::from(u16_at(record, 0).unwrap_or_default());
        let is_it = record.get(2..2 + length) == Some(path.as_bytes());
        self.numbers(record.get(2 + length..).filter(|_| is_it).unwrap_or_default())
    }

    /// Returns the entries that a term leads to, newest first.
    pub fn about_term(&self, strength: Strength, term: &str) -> Vec<u32> {
        let domain = match strength {
            Strength::Name => Domain::Name,
            Strength::Word => Domain::Word,
        };
        self.numbers(self.find(self.header.terms, key(domain, term)).unwrap_or_default())
    }

    /// Returns an entry by its number.
    pub fn line(&self, number: u32) -> Option<Line<'_>> {
        if number >= self.header.entries {
            return None;
        }
        let place = (self.header.entries_at as usize).checked_add(4 * number as usize)?;
        let record = self.record(u32_at(&self.bytes, place)?)?;
        let id_length = usize::from(*record.get(4)?);
        let (id, text) = record.get(5..)?.split_at_checked(id_length)?;
        Some(Line {
            session: u32_at(record, 0)?,
            id: std::str::from_utf8(id).ok()?,
            text: std::str::from_utf8(text).ok()?,
        })
    }

    /// Returns the record under a key.
    fn find(&self, table: Table, key: u64) -> Option<&[u8]> {
        let first = key as usize & (table.slots as usize - 1);
        for step in 0..table.slots as usize {
            let slot = (first + step) & (table.slots as usize - 1);
            let place = (table.at as usize).checked_add(slot.checked_mul(SLOT_BYTES)?)?;
            match u64_at(&self.bytes, place)? {
                0 => return None,
                found if found == key => return self.record(u32_at(&self.bytes, place + 8)?),
                _ => {}
            }
        }
        None
    }

    /// Returns a record whose checksum holds.
    fn record(&self, at: u32) -> Option<&[u8]> {
        let at = at as usize;
        let length = u32_at(&self.bytes, at.checked_add(8)?)? as usize;
        let start = at.checked_add(RECORD_HEAD_BYTES)?;
        let record = self.bytes.get(start..start.checked_add(length)?)?;
        (xxh3_64(record) == u64_at(&self.bytes, at)?).then_some(record)
    }

    fn numbers(&self, record: &[u8]) -> Vec<u32> {
        let numbers = record.chunks_exact(4).filter_map(|number| u32_at(number, 0));
        numbers.filter(|number| *number < self.header.entries).collect()
    }
}
