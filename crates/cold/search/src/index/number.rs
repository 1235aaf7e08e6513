//! Numbers in as few bytes as they need, and reading that trusts nothing.

/// Adds a number: seven bits a byte, the lowest first.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads numbers and bytes one after the other; `None` beyond the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut number = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
            if shift > 56 {
                return None;
            }
        }
    }

    #[inline]
    pub(super) fn small(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    /// Leaves out so many numbers.
    pub(super) fn skip(&mut self, numbers: u64) -> Option<()> {
        let mut left = numbers;
        while left > 0 {
            left -= u64::from(*self.bytes.get(self.at)? < 0x80);
            self.at += 1;
        }
        Some(())
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }
}

/// Returns the number at a place; 0 beyond the end.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four))
}

/// Returns the number at a place; 0 beyond the end.
#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_a_cut_one_is_none() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, u64::from(u32::MAX), 1 << 55];
        numbers.iter().for_each(|number| put(&mut bytes, *number));
        let mut reader = Reader::new(&bytes);
        assert!(numbers.iter().all(|number| reader.number() == Some(*number)));
        assert_eq!(reader.number(), None);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.skip(5).and_then(|()| reader.number()), Some(16_383));
        assert_eq!(reader.skip(4), None);
        assert_eq!(Reader::new(&[0x80]).number(), None);
        assert_eq!(Reader::new(&[0xff; 12]).number(), None);
    }
}
