//! Where things are in an index file, and how its keys are hashed. All numbers are little-endian.

use super::Damaged;
use xxhash_rust::xxh3::xxh3_64;

/// What an index begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"WYRENLX\x04";
/// How long the header is.
pub(super) const HEADER_BYTES: usize = 64;
/// A bitmap has one bit for each value of the 16 bits that a gram is folded to; each domain of texts has its own.
pub(super) const BITMAP_BYTES: usize = 8 * 1024;
/// How many domains of texts there are.
pub(super) const BITMAPS: usize = 3;
/// A slot: key, place of its postings, their number.
pub(super) const SLOT_BYTES: usize = 16;
/// A posting: lesson, place of its literal, length of the literal, place of the gram in it.
pub(super) const POSTING_BYTES: usize = 12;

/// What an index was made from: it is out of date when this is another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

/// The places of the parts of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) file_bytes: u32,
    pub(super) lessons: u32,
    pub(super) slots: u32,
    pub(super) slots_at: u32,
    pub(super) postings_at: u32,
    pub(super) postings: u32,
    pub(super) records_at: u32,
    pub(super) literals_at: u32,
    /// A bit for each bitmap that has one: the others need not be looked at.
    pub(super) filled_bitmaps: u32,
    pub(super) fingerprint: Fingerprint,
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.fingerprint.0.to_le_bytes());
        for (place, number) in bytes[16..52].chunks_exact_mut(4).zip(self.numbers()) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a header and makes sure that the file has the length that it had when it was written.
    pub(super) fn read(file: &[u8]) -> Result<Self, Damaged> {
        let bytes = file.get(..HEADER_BYTES).ok_or(Damaged)?;
        let is_whole = bytes[..8] == MAGIC && xxh3_64(&bytes[..56]).to_le_bytes() == bytes[56..];
        let number = |place: usize| u32_at(bytes, 16 + 4 * place).unwrap_or(0);
        let header = Self {
            file_bytes: number(0),
            lessons: number(1),
            slots: number(2),
            slots_at: number(3),
            postings_at: number(4),
            postings: number(5),
            records_at: number(6),
            literals_at: number(7),
            filled_bitmaps: number(8),
            fingerprint: Fingerprint(u64_at(bytes, 8).unwrap_or(0)),
        };
        if is_whole && header.file_bytes as usize == file.len() && header.slots.is_power_of_two() {
            Ok(header)
        } else {
            Err(Damaged)
        }
    }

    /// Puts another fingerprint into the header of an index.
    pub(super) fn restamp(file: &mut [u8], fingerprint: Fingerprint) -> Result<(), Damaged> {
        let header = Self { fingerprint, ..Self::read(file)? };
        file[..HEADER_BYTES].copy_from_slice(&header.write());
        Ok(())
    }

    fn numbers(&self) -> [u32; 9] {
        [
            self.file_bytes,
            self.lessons,
            self.slots,
            self.slots_at,
            self.postings_at,
            self.postings,
            self.records_at,
            self.literals_at,
            self.filled_bitmaps,
        ]
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// What kind of thing a key is, so that a program and a file of one name stay apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    /// A program, or a program and its first word.
    Program = 1,
    /// The ending of a file's name.
    Ending,
    /// A file's name.
    FileName,
    /// A tool: lessons that are verified with each of its calls.
    Tool,
    /// Three bytes of what a shell runs.
    Shell,
    /// Three bytes of what is written to a file.
    Content,
    /// Three bytes of any other field, or of a path.
    Field,
    /// What is shown when a session or a subagent starts, by the kind's name.
    Start,
    /// A class of paths that output is redirected to, or a path itself.
    Writes,
    /// Three bytes of a statement for a database client; and the name of the lessons that have none.
    Sql,
}

/// Returns the key of a name; never 0, which marks an empty slot.
pub(super) fn key(domain: Domain, name: &str) -> u64 {
    xxh3_64(name.as_bytes()).wrapping_mul(2 * domain as u64 + 1).max(1)
}

/// How many bytes are looked up at once.
pub(super) const GRAM_BYTES: usize = 3;

/// How far apart the grams of a text are that are looked up. A literal is filed under as many grams, one after the other, so
/// that one of them is met wherever it is.
pub(super) const STRIDE: usize = 2;

/// Packs three bytes into a number that does not tell upper from lower case (nor a few other pairs): one operation, where
/// exact lower case would take several for every byte of a large text. The literal itself is compared exactly.
pub(super) fn fold([one, two, three]: [u8; GRAM_BYTES]) -> u32 {
    u32::from_le_bytes([one, two, three, 0]) | 0x0020_2020
}

/// Folds eight bytes at once.
pub(super) fn fold_eight(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020
}

/// Returns the key of a folded gram.
pub(super) fn gram_key(domain: Domain, gram: u32) -> u64 {
    let mixed = (u64::from(gram) | (domain as u64) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).max(1)
}

/// Returns which bitmap a domain of texts has.
pub(super) fn bitmap(domain: Domain) -> usize {
    match domain {
        // Statements are few: they need no bitmap of their own.
        Domain::Shell | Domain::Sql => 0,
        Domain::Content => 1,
        _ => 2,
    }
}

/// Returns the byte and the bit of a gram in its bitmap: one multiplication, since a large text asks for every byte.
pub(super) fn bit(gram: u32) -> (usize, u8) {
    let mixed = gram.wrapping_mul(0x9E37_79B1);
    // The first 13 bits choose the byte, so that it is always one of the bitmap's; the next three the bit.
    ((mixed >> 19) as usize, 1 << ((mixed >> 16) & 7))
}
