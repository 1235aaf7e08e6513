//! The index: which words are in which documents.
//!
//! A folder of segments, files that are written once, and a list of those that count (`list.json`), which is replaced by rename: a
//! reader sees the index before a change or after it, and a killed writer leaves files that no list names. New documents come in
//! new segments, and small segments are merged into larger ones. What is removed is marked as dead first, and its words are gone
//! once the segment is merged; [`Writer::purge`] does that at once. There is no text in it, and it can be made anew at any time.

mod ask;
mod common;
mod cursor;
mod dead;
mod dictionary;
mod list;
mod make;
mod merge;
mod near;
mod number;
mod postings;
mod rank;
mod segment;
mod writer;

pub use list::Index;
pub(crate) use segment::key_hash;
pub use writer::Writer;

use crate::document::Document;
use std::io;
use std::path::{Path, PathBuf};

/// A change of the index.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every change adds a document")]
pub enum Change {
    /// Adds a document, in the place of the one with this key.
    Put(Document),
    /// Removes the document with this key.
    Remove(String),
}

/// Why the index could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not use {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Files that are damaged, missing or of another version: the index is to be made anew.
    #[error("the search index has to be made anew: {0}")]
    Unusable(&'static str),
    /// Another process writes.
    #[error("another wyren writes the search index")]
    Busy,
}

impl Error {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }
}
