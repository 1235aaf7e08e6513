//! In which documents a term is, and at which words of them.
//!
//! ```text
//! places of blocks (where there are several) | block | block | …
//! block: documents as differences with how often each has the term | positions of each document as differences
//! ```
//!
//! A block is about 128 documents. Its place says which is the last, how often a document has the term at most and how short a
//! document is at least: whether any of them can be among the best is known without reading it.

use super::number::{Reader, put, u32_at};

pub(super) const BLOCK: usize = 128;
/// Last document, end of the documents, end of the positions, most of a term, shortest document.
const PLACE_BYTES: usize = 20;

/// The postings of a term while they are written.
#[derive(Debug, Default)]
pub(super) struct Builder {
    places: Vec<u8>,
    blocks: Vec<u8>,
    documents: Vec<u8>,
    positions: Vec<u8>,
    in_block: usize,
    count: u32,
    next: u32,
    most: u32,
    shortest: u32,
}

impl Builder {
    /// Adds a document; they come in order, and so do the positions. One that comes twice, as a damaged file may have it, is left out.
    pub(super) fn add(&mut self, document: u32, length: u32, positions: &[u32]) {
        let Some(gap) = document.checked_sub(self.next) else { return };
        if self.in_block == BLOCK {
            self.end_block();
        }
        let times = positions.len() as u64;
        put(&mut self.documents, (u64::from(gap) << 1) | u64::from(times > 1));
        if times > 1 {
            put(&mut self.documents, times - 2);
        }
        let mut last = 0;
        for position in positions {
            put(&mut self.positions, u64::from(position.saturating_sub(last)));
            last = *position;
        }
        self.next = document + 1;
        self.most = self.most.max(times as u32);
        self.shortest = if self.in_block == 0 { length } else { self.shortest.min(length) };
        self.in_block += 1;
        self.count += 1;
    }

    fn end_block(&mut self) {
        self.blocks.append(&mut self.documents);
        let documents_end = self.blocks.len();
        self.blocks.append(&mut self.positions);
        let numbers =
            [self.next - 1, documents_end as u32, self.blocks.len() as u32, self.most, self.shortest];
        self.places.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        (self.in_block, self.most) = (0, 0);
    }

    pub(super) fn documents(&self) -> u32 {
        self.count
    }

    /// Writes what was added behind `bytes`, and is empty again.
    pub(super) fn finish(&mut self, bytes: &mut Vec<u8>) {
        if self.count as usize <= BLOCK {
            // A single block: its place would be longer than many a block.
            put(bytes, u64::from(self.most));
            put(bytes, u64::from(self.shortest));
            put(bytes, self.documents.len() as u64);
            bytes.extend(&self.documents);
            bytes.extend(&self.positions);
        } else {
            self.end_block();
            bytes.extend(&self.places);
            bytes.extend(&self.blocks);
        }
        for buffer in [&mut self.places, &mut self.blocks, &mut self.documents, &mut self.positions] {
            buffer.clear();
        }
        (self.in_block, self.count, self.next, self.most, self.shortest) = (0, 0, 0, 0, 0);
    }
}

/// What is known of a block without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The last document; for a single block, any later one is none of its documents.
    pub(super) last: u32,
    /// How often a document has the term at most.
    pub(super) most: u32,
    /// The length of the shortest document.
    pub(super) shortest: u32,
    before: u32,
    start: usize,
    documents_end: usize,
    end: usize,
    count: usize,
}

impl Block {
    /// Where the positions of the block's first document begin.
    pub(super) fn positions_start(&self) -> usize {
        self.documents_end
    }
}

/// The postings of a term in the bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Postings<'s> {
    bytes: &'s [u8],
    /// How many documents have the term.
    pub(super) documents: u32,
}

impl<'s> Postings<'s> {
    pub(super) fn new(bytes: &'s [u8], documents: u32) -> Self {
        Self { bytes, documents }
    }

    pub(super) fn blocks(&self) -> usize {
        (self.documents as usize).div_ceil(BLOCK)
    }

    pub(super) fn block(&self, number: usize) -> Option<Block> {
        let documents = self.documents as usize;
        if number >= self.blocks() {
            return None;
        }
        if documents <= BLOCK {
            let mut reader = Reader::new(self.bytes);
            let (most, shortest, length) = (reader.small()?, reader.small()?, reader.small()?);
            let start = reader.at();
            let documents_end = start.checked_add(length as usize)?;
            let end = self.bytes.len();
            return Some(Block {
                last: u32::MAX,
                most,
                shortest,
                before: 0,
                start,
                documents_end,
                end,
                count: documents,
            });
        }
        let places = self.blocks() * PLACE_BYTES;
        let place = number * PLACE_BYTES;
        let field = |field: usize| u32_at(self.bytes, place + 4 * field);
        let (before, start) = match place.checked_sub(PLACE_BYTES) {
            Some(earlier) => {
                (u32_at(self.bytes, earlier).checked_add(1)?, u32_at(self.bytes, earlier + 8) as usize)
            }
            None => (0, 0),
        };
        Some(Block {
            last: field(0),
            most: field(3),
            shortest: field(4),
            before,
            start: places + start,
            documents_end: places + field(1) as usize,
            end: places + field(2) as usize,
            count: (documents - number * BLOCK).min(BLOCK),
        })
    }

    /// Returns the number of the first block whose last document is not before `document`, from the block `from` on.
    pub(super) fn block_of(&self, document: u32, from: usize) -> usize {
        if self.documents as usize <= BLOCK {
            return from;
        }
        let last = |number: usize| u32_at(self.bytes, number * PLACE_BYTES);
        let blocks = self.blocks();
        let (mut low, mut step) = (from, 1);
        while low + step < blocks && last(low + step - 1) < document {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(blocks);
        while low < high {
            let middle = usize::midpoint(low, high);
            if last(middle) < document { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Reads the documents of a block, and how often each has the term.
    pub(super) fn read(&self, block: &Block, documents: &mut Vec<u32>, times: &mut Vec<u32>) {
        documents.clear();
        times.clear();
        let mut reader = Reader::new(self.bytes.get(block.start..block.documents_end).unwrap_or_default());
        let mut next = block.before;
        for _ in 0..block.count {
            let Some(difference) = reader.number() else { return };
            let Some(document) = next.checked_add((difference >> 1) as u32) else { return };
            let more =
                if difference & 1 == 1 { reader.small().unwrap_or_default().saturating_add(1) } else { 0 };
            documents.push(document);
            times.push(more + 1);
            next = document.saturating_add(1);
        }
    }

    /// Reads the positions of the document `index` of a block whose documents have the term so often.
    pub(super) fn positions(&self, block: &Block, times: &[u32], index: usize, positions: &mut Vec<u32>) {
        self.positions_from(block, block.positions_start(), &times[..=index], positions);
    }

    /// Reads the positions of the last of some documents of a block, where those of the first begin at `at`; returns where those
    /// of the next one do.
    pub(super) fn positions_from(
        &self,
        block: &Block,
        at: usize,
        times: &[u32],
        positions: &mut Vec<u32>,
    ) -> usize {
        let mut reader = Reader::new(self.bytes.get(at..block.end).unwrap_or_default());
        let Some((last, before)) = times.split_last() else { return at };
        let before: u64 = before.iter().map(|times| u64::from(*times)).sum();
        if reader.skip(before).is_some() {
            read_positions(&mut reader, *last, positions);
        }
        at + reader.at()
    }

    /// Calls `each` for every document, with its positions.
    pub(super) fn each(&self, mut each: impl FnMut(u32, &[u32])) {
        let (mut documents, mut times, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..self.blocks() {
            let Some(block) = self.block(number) else { return };
            self.read(&block, &mut documents, &mut times);
            let mut reader = Reader::new(self.bytes.get(block.documents_end..block.end).unwrap_or_default());
            for (document, times) in documents.iter().zip(&times) {
                positions.clear();
                read_positions(&mut reader, *times, &mut positions);
                each(*document, &positions);
            }
        }
    }
}

fn read_positions(reader: &mut Reader<'_>, times: u32, positions: &mut Vec<u32>) {
    let mut position = 0_u32;
    for _ in 0..times {
        let Some(difference) = reader.small() else { return };
        position = position.saturating_add(difference);
        positions.push(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u32) {
        let mut builder = Builder::default();
        let made: Vec<(u32, Vec<u32>)> = (0..count)
            .map(|number| {
                (number * 3 + number % 2, (0..number % 5 + 1).map(|place| place * (number + 1)).collect())
            })
            .collect();
        for (document, positions) in &made {
            builder.add(*document, document % 50 + 5, positions);
        }
        assert_eq!(builder.documents(), count);
        let mut bytes = Vec::new();
        builder.finish(&mut bytes);
        let postings = Postings::new(&bytes, count);
        let mut found = Vec::new();
        postings.each(|document, positions| found.push((document, positions.to_vec())));
        assert_eq!(found, made);
        let (mut documents, mut times, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (document, expected) in &made {
            let block = postings.block(postings.block_of(*document, 0)).unwrap();
            postings.read(&block, &mut documents, &mut times);
            let index = documents.binary_search(document).unwrap();
            positions.clear();
            postings.positions(&block, &times, index, &mut positions);
            assert_eq!(positions, *expected);
            assert!(
                block.most >= times[index] && block.shortest <= document % 50 + 5 && block.last >= *document
            );
        }
        for cut in 0..bytes.len().min(300) {
            Postings::new(&bytes[..cut], count).each(|_, _| {});
        }
    }

    #[test]
    fn documents_and_positions_come_back() {
        [1, 2, 127, 128, 129, 256, 1_000].into_iter().for_each(check);
    }
}
