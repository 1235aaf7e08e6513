//! The terms of a segment in order, each with the place of its postings.
//!
//! Blocks of 16 terms: the first whole, the others by what they share with the one before. A second order, by the terms read
//! backwards, finds terms by their end.

use super::number::{Reader, put, u32_at};
use std::ops::ControlFlow;

const BLOCK: usize = 16;

/// Where the postings of a term are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// How many documents have the term.
    pub(super) documents: u32,
    pub(super) at: u64,
    pub(super) bytes: u64,
}

/// Writes a dictionary.
#[derive(Debug, Default)]
pub(super) struct Builder {
    blocks: Vec<u8>,
    places: Vec<u8>,
    last: Vec<u8>,
    terms: usize,
    /// Every term, read backwards.
    reversed: Vec<u8>,
    reversed_ends: Vec<u32>,
}

impl Builder {
    /// Adds a term; they come in order.
    pub(super) fn add(&mut self, term: &str, place: Place) {
        let bytes = term.as_bytes();
        if self.terms.is_multiple_of(BLOCK) {
            self.places.extend((self.blocks.len() as u32).to_le_bytes());
            self.last.clear();
            put(&mut self.blocks, place.at);
        }
        let shared = self.last.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        put(&mut self.blocks, shared as u64);
        put(&mut self.blocks, (bytes.len() - shared) as u64);
        self.blocks.extend(&bytes[shared..]);
        put(&mut self.blocks, u64::from(place.documents));
        put(&mut self.blocks, place.bytes);
        self.last.clear();
        self.last.extend(bytes);
        self.reversed.extend(term.chars().rev().flat_map(|letter| {
            let mut buffer = [0; 4];
            let length = letter.encode_utf8(&mut buffer).len();
            buffer.into_iter().take(length)
        }));
        self.reversed_ends.push(self.reversed.len() as u32);
        self.terms += 1;
    }

    /// Returns the blocks, their places, the backward order and the number of terms.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>, Vec<u8>, u32) {
        let backward = |term: u32| {
            let term = term as usize;
            let start = term.checked_sub(1).map_or(0, |before| self.reversed_ends[before] as usize);
            &self.reversed[start..self.reversed_ends[term] as usize]
        };
        let mut order: Vec<u32> = (0..self.terms as u32).collect();
        order.sort_unstable_by(|one, other| backward(*one).cmp(backward(*other)));
        let order = order.into_iter().flat_map(u32::to_le_bytes).collect();
        (self.blocks, self.places, order, self.terms as u32)
    }
}

/// A dictionary in the bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dictionary<'s> {
    pub(super) blocks: &'s [u8],
    pub(super) places: &'s [u8],
    pub(super) backward: &'s [u8],
    pub(super) terms: u32,
}

/// Goes through terms in order.
#[derive(Debug)]
pub(super) struct Walk<'s> {
    dictionary: Dictionary<'s>,
    reader: Reader<'s>,
    /// The number of the next term.
    next: u32,
    at: u64,
    term: Vec<u8>,
}

impl<'s> Dictionary<'s> {
    /// Returns where the postings of a term are.
    pub(super) fn find(&self, term: &str) -> Option<Place> {
        let mut walk = self.walk_from(term.as_bytes())?;
        let place = walk.step()?;
        (walk.term == term.as_bytes()).then_some(place)
    }

    /// Goes through all terms.
    pub(super) fn walk(&self) -> Walk<'s> {
        self.walk_block(0)
    }

    /// Goes through the terms that are not before this one.
    fn walk_from(&self, term: &[u8]) -> Option<Walk<'s>> {
        let blocks = self.places.len() / 4;
        // The last block whose first term is not after it.
        let (mut low, mut high) = (0, blocks);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.first_of(middle)? <= term { low = middle + 1 } else { high = middle }
        }
        let mut walk = self.walk_block(low.saturating_sub(1));
        loop {
            let before = walk.reader;
            let (next, at) = (walk.next, walk.at);
            let last = walk.term.clone();
            walk.step()?;
            if walk.term.as_slice() >= term {
                walk.reader = before;
                (walk.next, walk.at, walk.term) = (next, at, last);
                return Some(walk);
            }
        }
    }

    fn block(&self, number: usize) -> Reader<'s> {
        let at = u32_at(self.places, number * 4) as usize;
        Reader::new(self.blocks.get(at..).unwrap_or_default())
    }

    fn first_of(&self, number: usize) -> Option<&'s [u8]> {
        let mut reader = self.block(number);
        reader.number()?;
        reader.number()?;
        let length = reader.small()?;
        reader.take(length as usize)
    }

    fn walk_block(&self, number: usize) -> Walk<'s> {
        let reader = self.block(number);
        Walk { dictionary: *self, reader, next: (number * BLOCK) as u32, at: 0, term: Vec::new() }
    }

    /// Returns the term with this number.
    fn term(&self, number: u32, term: &mut Vec<u8>) -> Option<Place> {
        let mut walk = self.walk_block(number as usize / BLOCK);
        let mut place = None;
        for _ in 0..=number as usize % BLOCK {
            place = Some(walk.step()?);
        }
        std::mem::swap(term, &mut walk.term);
        place
    }

    /// Calls `each` for the terms that begin with `prefix`, in order.
    pub(super) fn beginning_with(&self, prefix: &str, mut each: impl FnMut(&str, Place) -> ControlFlow<()>) {
        let Some(mut walk) = self.walk_from(prefix.as_bytes()) else { return };
        while let Some(place) = walk.step() {
            let Ok(term) = str::from_utf8(&walk.term) else { return };
            if !term.starts_with(prefix) || each(term, place).is_break() {
                return;
            }
        }
    }

    /// Calls `each` for the terms that end with `suffix`.
    pub(super) fn ending_with(&self, suffix: &str, mut each: impl FnMut(&str, Place) -> ControlFlow<()>) {
        let wanted: String = suffix.chars().rev().collect();
        let mut term = Vec::new();
        let number = |place: usize| u32_at(self.backward, place * 4);
        let backward = |term: &[u8]| String::from_utf8_lossy(term).chars().rev().collect::<String>();
        let (mut low, mut high) = (0, self.backward.len() / 4);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.term(number(middle), &mut term).is_none() {
                return;
            }
            if backward(&term) < wanted { low = middle + 1 } else { high = middle }
        }
        while low < self.backward.len() / 4 {
            let Some(place) = self.term(number(low), &mut term) else { return };
            let Ok(text) = str::from_utf8(&term) else { return };
            if !text.ends_with(suffix) || each(text, place).is_break() {
                return;
            }
            low += 1;
        }
    }
}

impl Walk<'_> {
    /// Goes to the next term.
    pub(super) fn step(&mut self) -> Option<Place> {
        if self.next >= self.dictionary.terms {
            return None;
        }
        if (self.next as usize).is_multiple_of(BLOCK) {
            self.reader = self.dictionary.block(self.next as usize / BLOCK);
            self.at = self.reader.number()?;
            self.term.clear();
        }
        let shared = self.reader.small()? as usize;
        let length = self.reader.small()? as usize;
        let rest = self.reader.take(length)?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend(rest);
        let documents = self.reader.small()?;
        let bytes = self.reader.number()?;
        let place = Place { documents, at: self.at, bytes };
        self.at = self.at.checked_add(bytes)?;
        self.next += 1;
        Some(place)
    }

    /// The term that was reached.
    pub(super) fn term(&self) -> &[u8] {
        &self.term
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn built(terms: &BTreeSet<String>) -> (Vec<u8>, Vec<u8>, Vec<u8>, u32) {
        let mut builder = Builder::default();
        let mut at = 7;
        for (number, term) in terms.iter().enumerate() {
            let place = Place { documents: number as u32 + 1, at, bytes: number as u64 % 300 };
            at += place.bytes;
            builder.add(term, place);
        }
        builder.finish()
    }

    #[test]
    fn terms_are_found_whole_by_their_beginning_and_by_their_end() {
        let mut terms: BTreeSet<String> =
            (0..1_000).map(|number| format!("{:x}word{number}", number * 7_919)).collect();
        terms.extend(["fehler", "fehlerbehandlung", "behandlung", "é", "用回"].map(str::to_owned));
        let (blocks, places, backward, count) = built(&terms);
        let dictionary = Dictionary { blocks: &blocks, places: &places, backward: &backward, terms: count };
        for (number, term) in terms.iter().enumerate() {
            assert_eq!(dictionary.find(term).map(|place| place.documents), Some(number as u32 + 1), "{term}");
        }
        assert!(["", "a", "fehle", "zzz", "用"].iter().all(|term| dictionary.find(term).is_none()));
        let mut found = Vec::new();
        let mut keep = |term: &str, _: Place| {
            found.push(term.to_owned());
            ControlFlow::Continue(())
        };
        dictionary.beginning_with("fehler", &mut keep);
        dictionary.ending_with("behandlung", &mut keep);
        dictionary.beginning_with("用", &mut keep);
        dictionary.ending_with("é", &mut keep);
        assert_eq!(found, ["fehler", "fehlerbehandlung", "behandlung", "fehlerbehandlung", "用回", "é"]);
    }

    #[test]
    fn an_empty_or_damaged_dictionary_finds_nothing_and_does_not_panic() {
        let (blocks, places, backward, count) =
            built(&(0..100).map(|number| format!("t{number:03}")).collect());
        for cut in 0..blocks.len() {
            let mut damaged = blocks[..cut].to_vec();
            if let Some(byte) = damaged.get_mut(cut / 2) {
                *byte ^= 0xff;
            }
            let dictionary =
                Dictionary { blocks: &damaged, places: &places, backward: &backward, terms: count };
            dictionary.find("t050");
            dictionary.beginning_with("t", |_, _| ControlFlow::Continue(()));
            dictionary.ending_with("9", |_, _| ControlFlow::Continue(()));
        }
        let empty = Dictionary { blocks: &[], places: &[], backward: &[], terms: 0 };
        assert_eq!(empty.find("a"), None);
    }
}
