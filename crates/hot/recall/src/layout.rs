//! Where things are in a cache, and how its keys are hashed. All numbers are little-endian.

use xxhash_rust::xxh3::xxh3_64;

/// What a cache begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"WYRENRC\x01";
pub(crate) const HEADER_BYTES: usize = 64;
/// A slot: key and place of its record. The key 0 marks an empty one.
pub(crate) const SLOT_BYTES: usize = 12;
/// What goes before a record: its checksum and its length.
pub(crate) const RECORD_HEAD_BYTES: usize = 12;

/// The places of the parts of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// What the cache was made from.
    pub(crate) fingerprint: u64,
    pub(crate) file_bytes: u32,
    pub(crate) files: Table,
    pub(crate) terms: Table,
    pub(crate) entries: u32,
    pub(crate) entries_at: u32,
}

/// A table of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// A power of two.
    pub(crate) slots: u32,
    pub(crate) at: u32,
}

impl Header {
    pub(crate) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.fingerprint.to_le_bytes());
        let numbers = [
            self.file_bytes,
            self.files.slots,
            self.files.at,
            self.terms.slots,
            self.terms.at,
            self.entries,
            self.entries_at,
        ];
        for (place, number) in bytes[16..44].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a header; `None` unless the file is whole, of this version, and as long as when it was written.
    pub(crate) fn read(file: &[u8]) -> Option<Self> {
        let bytes = file.get(..HEADER_BYTES)?;
        let is_whole = bytes[..8] == MAGIC && xxh3_64(&bytes[..56]).to_le_bytes() == bytes[56..];
        let number = |place: usize| u32_at(bytes, 16 + 4 * place).unwrap_or(0);
        let header = Self {
            fingerprint: u64_at(bytes, 8)?,
            file_bytes: number(0),
            files: Table { slots: number(1), at: number(2) },
            terms: Table { slots: number(3), at: number(4) },
            entries: number(5),
            entries_at: number(6),
        };
        let has_tables = header.files.slots.is_power_of_two() && header.terms.slots.is_power_of_two();
        (is_whole && has_tables && header.file_bytes as usize == file.len()).then_some(header)
    }
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// What kind of thing a key is, so that a file and a word of one name stay apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Domain {
    /// A path, as the journal writes it.
    File = 1,
    /// The last part of a path, or a name from code.
    Name,
    /// A rare word of a title, in lower case.
    Word,
}

/// Returns the key of a text; never 0, which marks an empty slot.
pub(crate) fn key(domain: Domain, text: &str) -> u64 {
    xxh3_64(text.as_bytes()).wrapping_mul(2 * domain as u64 + 1).max(1)
}

/// Returns what tells the entries of one session from those of others.
pub(crate) fn session_tag(session: &str) -> u32 {
    xxh3_64(session.as_bytes()) as u32
}
