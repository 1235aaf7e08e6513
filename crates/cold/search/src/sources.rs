//! Where documents come from, and how the index keeps in step with them.
//!
//! A new source in files is a row of `What` in [`file`], a letter in [`letter`] and a function that returns its documents; one in
//! the database also needs a trigger in the journal's schema and a pass in [`ledger`].
//!
//! Entries, summaries and prompts are rows of the database: triggers note the key of each that changes, in the transaction
//! that changes it, and [`refresh`] takes what waits. The team memory, its history, broadcasts and lessons are files: their size
//! and time say whether they have to be read again. The [`ledger`] ties the index to the database: an index that was made of
//! another one, or of a part of it, is made anew.

mod around;
mod file;
mod keep;
mod ledger;
mod lesson;
mod load;
mod recorded;
mod team;

pub use around::{Around, around};
pub use keep::{Refreshed, forget, is_current, refresh};
pub use load::{Loaded, by_prefix, load};

use crate::document::Kind;
use crate::index;
use crate::meaning;
use std::path::PathBuf;

/// The folder of the index, in the data folder.
pub const FOLDER: &str = "search";

/// Returns the folder of a user's index.
pub fn folder(paths: &base::Paths) -> PathBuf {
    paths.data().join(FOLDER)
}

/// What counts as the project of lessons that ship with Wyren: they are found where lessons are asked for, and are no one's
/// records.
pub const SHIPPED: &str = "wyren:shipped";

/// Returns what the projects of a filter are that lets those of every project pass. Lessons that ship are of none: without any
/// project, the filter has one without a name, since an empty one would let them pass.
pub fn every_project(store: &store::Store) -> Result<Vec<String>, Error> {
    let mut keys = ledger::projects(store.connection())?;
    if keys.is_empty() {
        keys.push(String::new());
    }
    Ok(keys)
}

/// Says whether any project has documents.
pub fn is_any_recorded(store: &store::Store) -> Result<bool, Error> {
    Ok(!ledger::projects(store.connection())?.is_empty())
}

/// Returns the entries of a team memory as its file has them now, with the ids that a search finds them by.
pub fn of_team_memory(file: &std::path::Path, project: &str) -> Vec<Loaded> {
    team::memory(file, project).into_iter().map(Loaded::of).collect()
}

/// Why the index could not be kept in step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Index(#[from] index::Error),
    #[error(transparent)]
    Vectors(#[from] meaning::Error),
}

impl Error {
    /// Says whether another process is at the same work: that one does it.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Index(index::Error::Busy)
                | Self::Vectors(meaning::Error::Busy)
                | Self::Store(store::Error::Busy | store::Error::Locked(_))
        )
    }
}

impl From<store::rusqlite::Error> for Error {
    fn from(error: store::rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// What kinds are called, for `--type` and in lists.
const NAMES: [(Kind, &str); 8] = [
    (Kind::Entry, "entry"),
    (Kind::Summary, "summary"),
    (Kind::Prompt, "prompt"),
    (Kind::Memory, "memory"),
    (Kind::History, "removed"),
    (Kind::Lesson, "lesson"),
    (Kind::Handoff, "handoff"),
    (Kind::Plan, "plan"),
];

/// Returns what a kind is called.
pub fn name_of(kind: Kind) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

/// Returns the kind that is called this.
pub fn kind_named(name: &str) -> Option<Kind> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
}

/// Returns what people type for the document with this key: all but the letter in front.
pub fn id_of(key: &str) -> &str {
    key.split_once(':').map_or(key, |(_, id)| id)
}

/// What the key of a document begins with.
pub(crate) mod letter {
    pub(crate) const ENTRY: char = 'e';
    pub(crate) const SUMMARY: char = 's';
    pub(crate) const PROMPT: char = 'p';
    pub(crate) const MEMORY: char = 'm';
    pub(crate) const HISTORY: char = 'h';
    pub(crate) const HANDOFF: char = 'n';
    pub(crate) const BROADCAST: char = 'b';
    pub(crate) const LESSON: char = 'l';

    /// Those of documents that are in files.
    pub(crate) const OF_FILES: [char; 5] = [MEMORY, HISTORY, HANDOFF, BROADCAST, LESSON];
}

/// Splits a text into the line that it is recognised by and the rest. A first line that is too long is in the rest as well, so
/// that no word is lost.
pub(crate) fn split(text: &str) -> (String, String) {
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let first = first.trim();
    if first.len() <= MAX_TITLE_BYTES {
        return (first.to_owned(), rest.trim().to_owned());
    }
    let end = first.floor_char_boundary(MAX_TITLE_BYTES);
    let end = first[..end].rfind(' ').unwrap_or(end);
    (first[..end].to_owned(), text.to_owned())
}

/// The longest title, in bytes.
const MAX_TITLE_BYTES: usize = 200;

/// Returns the lines that have something to say.
pub(crate) fn lines<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut body = String::new();
    for line in parts.into_iter().flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty()) {
        if !body.is_empty() {
            body.push('\n');
        }
        body.push_str(line);
    }
    body
}

#[cfg(test)]
mod tests;
