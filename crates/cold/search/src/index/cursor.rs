//! Going through the documents of a list, forward only.

use super::ask;
use super::postings::{Block, Postings};
use super::segment::Segment;

/// Behind the last document.
pub(super) const END: u32 = u32::MAX;

/// The place in a list of documents.
#[derive(Debug)]
pub(super) struct Cursor<'s> {
    /// Of each term of the list that the segment has.
    postings: Vec<Postings<'s>>,
    /// Whether the documents of several terms were put together; there is one block then.
    is_merged: bool,
    number: usize,
    block: Option<Block>,
    is_read: bool,
    documents: Vec<u32>,
    times: Vec<u32>,
    index: usize,
    /// Up to which document of the block positions were read, and where those of the next begin.
    positions: (usize, usize),
    /// Of documents that were put together.
    most: u32,
    shortest: u32,
}

impl<'s> Cursor<'s> {
    /// Goes to the first document of a list.
    pub(super) fn new(segment: &'s Segment, list: &ask::List) -> Self {
        let dictionary = segment.dictionary();
        let places = list.terms.iter().filter_map(|term| dictionary.find(term));
        let postings: Vec<Postings<'s>> = places.map(|place| segment.postings(place)).collect();
        let mut cursor = Self {
            is_merged: postings.len() > 1,
            postings,
            number: 0,
            block: None,
            is_read: false,
            documents: Vec::new(),
            times: Vec::new(),
            index: 0,
            positions: (0, 0),
            most: 0,
            shortest: u32::MAX,
        };
        if cursor.is_merged {
            cursor.put_together(segment);
        } else {
            cursor.enter(0);
        }
        cursor
    }

    fn put_together(&mut self, segment: &Segment) {
        let mut found: Vec<(u32, u32)> = Vec::new();
        let (mut documents, mut times) = (Vec::new(), Vec::new());
        for postings in &self.postings {
            for block in (0..postings.blocks()).filter_map(|number| postings.block(number)) {
                postings.read(&block, &mut documents, &mut times);
                found.extend(documents.iter().copied().zip(times.iter().copied()));
            }
        }
        found.sort_unstable();
        for (document, times) in found {
            if self.documents.last() == Some(&document) {
                if let Some(known) = self.times.last_mut() {
                    *known += times;
                }
            } else {
                self.documents.push(document);
                self.times.push(times);
            }
        }
        self.most = self.times.iter().copied().max().unwrap_or_default();
        self.shortest = self
            .documents
            .iter()
            .map(|document| segment.at_and_length(*document).1)
            .min()
            .unwrap_or_default();
        self.is_read = true;
    }

    /// How often a document of the list has its terms at most, and how long the shortest is: what all blocks say.
    pub(super) fn extremes(&self) -> (u32, u32) {
        let (mut most, mut shortest) = (self.most, self.shortest);
        if let Some(postings) = self.postings.first().filter(|_| !self.is_merged) {
            for block in (0..postings.blocks()).filter_map(|number| postings.block(number)) {
                most = most.max(block.most);
                shortest = shortest.min(block.shortest);
            }
        }
        (most, shortest)
    }

    fn enter(&mut self, number: usize) {
        self.number = number;
        self.block = self.postings.first().and_then(|postings| postings.block(number));
        self.is_read = false;
        self.index = 0;
        self.positions = (0, self.block.map_or(0, |block| block.positions_start()));
    }

    fn read(&mut self) {
        if !self.is_read {
            self.is_read = true;
            match (self.postings.first(), &self.block) {
                (Some(postings), Some(block)) => postings.read(block, &mut self.documents, &mut self.times),
                _ => {
                    self.documents.clear();
                    self.times.clear();
                }
            }
        }
    }

    /// The document that was reached; [`END`] behind the last.
    #[inline]
    pub(super) fn document(&mut self) -> u32 {
        loop {
            self.read();
            if let Some(document) = self.documents.get(self.index) {
                return *document;
            }
            if self.is_merged || self.block.is_none() {
                return END;
            }
            self.enter(self.number + 1);
        }
    }

    /// How often the document that was reached has the terms.
    #[inline]
    pub(super) fn times(&self) -> u32 {
        self.times.get(self.index).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn next(&mut self) {
        self.index += 1;
    }

    /// Goes to the first document that is not before this one.
    pub(super) fn seek(&mut self, document: u32) -> u32 {
        self.skip_to(document);
        self.read();
        let rest = self.documents.get(self.index..).unwrap_or_default();
        self.index += rest.partition_point(|other| *other < document);
        self.document()
    }

    /// Goes to the block that would have this document, without reading it; returns what is known of the block: its last document,
    /// the most of a document and the shortest.
    pub(super) fn skip_to(&mut self, document: u32) -> (u32, u32, u32) {
        if self.is_merged {
            return (END - 1, self.most, self.shortest);
        }
        let (Some(postings), Some(block)) = (self.postings.first(), &self.block) else {
            return (END - 1, 0, 0);
        };
        if block.last < document {
            let number = postings.block_of(document, self.number);
            self.enter(number);
        }
        self.block.map_or((END - 1, 0, 0), |block| (block.last.min(END - 1), block.most, block.shortest))
    }

    /// Adds the positions in a document; documents are asked for in order.
    pub(super) fn positions(&mut self, document: u32, positions: &mut Vec<u32>) {
        if self.is_merged {
            let (mut documents, mut times) = (Vec::new(), Vec::new());
            for postings in &self.postings {
                let Some(block) = postings.block(postings.block_of(document, 0)) else { continue };
                postings.read(&block, &mut documents, &mut times);
                if let Ok(index) = documents.binary_search(&document) {
                    postings.positions(&block, &times, index, positions);
                }
            }
            positions.sort_unstable();
        } else if self.seek(document) == document
            && let (Some(postings), Some(block)) = (self.postings.first(), &self.block)
        {
            let (from, at) = self.positions;
            if let Some(times) = self.times.get(from..=self.index) {
                let at = postings.positions_from(block, at, times, positions);
                self.positions = (self.index + 1, at);
            }
        }
    }
}
