//! Tests of search.

#![allow(clippy::unwrap_used, reason = "a test that fails says so")]

mod crash;
mod damage;
mod finding;
mod forgetting;
mod keeping;
mod meaning;
mod ranking;

use search::index::{Change, Index, Writer};
use search::{Document, Filter, Query};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The clock of the tests.
const NOW: u64 = 1_800_000_000_000;
const DAY: u64 = 86_400_000;

/// An index in a folder of its own.
struct Shelf {
    folder: TempDir,
    writer: Writer,
}

impl Shelf {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = open(folder.path());
        Self { folder, writer }
    }

    /// Adds texts with the keys `a`, `b`, …
    fn of(texts: &[&str]) -> Self {
        let mut shelf = Self::new();
        let keys = ('a'..='z').map(String::from);
        shelf.put(texts.iter().zip(keys).map(|(text, key)| document(&key, text)));
        shelf
    }

    fn put(&mut self, documents: impl IntoIterator<Item = Document>) {
        self.writer.apply(documents.into_iter().map(Change::Put), "put").unwrap();
    }

    fn remove(&mut self, key: &str) {
        self.writer.apply([Change::Remove(key.to_owned())], "removed").unwrap();
    }

    /// Returns the keys of what is found, best first.
    fn find(&self, text: &str) -> Vec<String> {
        self.find_with(text, Filter::default())
    }

    fn find_with(&self, text: &str, filter: Filter) -> Vec<String> {
        let found = self.index().search(&Query { filter, ..query(text) });
        found.hits.into_iter().map(|hit| hit.key).collect()
    }

    /// The index as another process opens it.
    fn index(&self) -> Index {
        Index::open(self.folder.path()).unwrap()
    }

    fn tidy(&mut self) {
        while !self.writer.tidy(Duration::MAX).unwrap() {}
    }
}

/// Waits: a process that another test starts has every lock for a moment.
fn open(folder: &Path) -> Writer {
    Writer::open(folder, Duration::from_secs(20)).unwrap()
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), limit: 100, now: NOW, ..Query::default() }
}

fn document(key: &str, text: &str) -> Document {
    Document { key: key.to_owned(), body: text.to_owned(), at: NOW - DAY, ..Document::default() }
}
