//! Documents by their keys, as they are now: the index stores no text.

use super::file::Source;
use super::recorded::{Reader, Rows};
use super::{Error, ledger, letter};
use crate::document::Document;
use base::Paths;
use std::collections::HashMap;
use store::Store;

/// A document, and what is known of it besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub document: Document,
    /// The id of the later entry that replaces it.
    pub replaced_by: Option<String>,
    /// Whether that one tells the same.
    pub is_repeated: bool,
    /// How often it happened; 0 counts as once.
    pub times: u64,
}

impl Loaded {
    pub(super) fn of(document: Document) -> Self {
        Self { document, ..Self::default() }
    }
}

/// Returns the documents with these keys, in this order; those that are no more are left out.
pub fn load(store: &Store, paths: &Paths, keys: &[String]) -> Result<Vec<Loaded>, Error> {
    let mut found: HashMap<String, Loaded> = HashMap::new();
    let mut reader = Reader::default();
    for sort in [letter::ENTRY, letter::SUMMARY, letter::PROMPT] {
        let ids: Vec<String> = of_sort(keys, sort).map(|key| super::id_of(key).to_owned()).collect();
        if !ids.is_empty() {
            let (loaded, _) = reader.read(store.connection(), sort, Rows::Ids(&ids))?;
            found.extend(loaded.into_iter().map(|loaded| (loaded.document.key.clone(), loaded)));
        }
    }
    let in_files: Vec<&String> = letter::OF_FILES.into_iter().flat_map(|sort| of_sort(keys, sort)).collect();
    for source in ledger::files_of(store.connection(), &in_files)? {
        for document in Source::named(&source).map(|file| file.documents(paths)).unwrap_or_default() {
            if in_files.contains(&&document.key) {
                found.insert(document.key.clone(), Loaded::of(document));
            }
        }
    }
    Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
}

fn of_sort(keys: &[String], sort: char) -> impl Iterator<Item = &String> {
    keys.iter().filter(move |key| key.starts_with(sort) && key.as_bytes().get(1) == Some(&b':'))
}

/// Returns every document whose id begins with this, those of files as far as they were indexed; the one whose id it is whole
/// comes alone.
pub fn by_prefix(store: &Store, paths: &Paths, prefix: &str) -> Result<Vec<Loaded>, Error> {
    let prefix = prefix.trim().to_lowercase();
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(Vec::new());
    }
    if !journal::is_made(store)? {
        return Ok(Vec::new());
    }
    let mut keys = ledger::recorded_keys(store.connection(), &prefix)?;
    keys.extend(ledger::file_keys(store.connection(), &prefix)?);
    if let Some(exact) = keys.iter().position(|key| super::id_of(key) == prefix) {
        keys = vec![keys.swap_remove(exact)];
    }
    load(store, paths, &keys)
}
