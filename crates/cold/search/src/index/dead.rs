//! Documents of a segment that were removed or replaced: one bit each, in a file beside the segment.

use super::number::u64_at;
use std::io;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes of such a file: for more documents than a segment can have.
const MAX_BYTES: usize = 1 << 29;

/// Which documents are dead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dead {
    bits: Vec<u8>,
    pub(super) count: u32,
}

impl Dead {
    #[inline]
    pub(super) fn has(&self, document: u32) -> bool {
        self.bits.get(document as usize / 8).is_some_and(|byte| byte & (1 << (document % 8)) != 0)
    }

    /// Adds a document; returns whether it was alive.
    pub(super) fn add(&mut self, document: u32) -> bool {
        let place = document as usize / 8;
        if self.bits.len() <= place {
            self.bits.resize(place + 1, 0);
        }
        let is_new = self.bits[place] & (1 << (document % 8)) == 0;
        self.bits[place] |= 1 << (document % 8);
        self.count += u32::from(is_new);
        is_new
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = xxh3_64(&self.bits).to_le_bytes().to_vec();
        bytes.extend(&self.bits);
        bytes
    }

    /// Reads a file of them; `None` when it is damaged.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        let bytes = base::files::read_capped(path, MAX_BYTES)?;
        let Some(bits) = bytes.get(8..).filter(|bits| xxh3_64(bits) == u64_at(&bytes, 0)) else {
            return Ok(None);
        };
        let count = bits.iter().map(|byte| byte.count_ones()).sum();
        Ok(Some(Self { bits: bits.to_vec(), count }))
    }
}
