//! Getting the vectors of documents that have none yet, newest first, a bounded number at a time.

use super::vectors::{Error, Vector, Vectors};
use crate::index::{Index, key_hash};
use base::files;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

/// The file that counts what was asked for on a day.
const COUNT: &str = "count.json";
const MAX_COUNT_BYTES: usize = 4_096;
/// How many documents are asked for at once.
const AT_ONCE: usize = 16;

/// How far a refresh may go.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// How many texts a day, and which day it is, counted since 1970.
    pub daily: u64,
    pub day: u64,
    pub until: Instant,
}

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    pub added: usize,
    /// How many documents have no vector yet.
    pub left: usize,
    /// Whether the rest waits for tomorrow.
    pub is_spent: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Count {
    day: u64,
    texts: u64,
}

/// Gets vectors for documents of the index: `load` returns the texts of keys, as far as they are there, `embed` their vectors.
///
/// What fails ends it; vectors that came before are kept.
pub fn refresh<E: From<Error>>(
    vectors: &mut Vectors,
    folder: &Path,
    index: &Index,
    allowance: Allowance,
    mut load: impl FnMut(&[String]) -> Result<Vec<(String, String)>, E>,
    mut embed: impl FnMut(&[&str]) -> Result<Vec<Vec<f32>>, E>,
) -> Result<Refreshed, E> {
    let known = vectors.hashes();
    let mut due: Vec<(u64, String)> = Vec::new();
    let mut all = HashSet::new();
    index.each_document(|key, at| {
        all.insert(key_hash(key));
        if !known.contains(&key_hash(key)) {
            due.push((at, key.to_owned()));
        }
    });
    if !known.is_subset(&all) {
        vectors.keep_only(&all)?;
    }
    due.sort_by(|one, other| other.cmp(one));
    let path = folder.join(COUNT);
    let mut count = read_count(&path, allowance.day);
    let mut refreshed = Refreshed { left: due.len(), ..Refreshed::default() };
    let mut due = due.into_iter().map(|(_, key)| key).peekable();
    while due.peek().is_some() {
        let left = usize::try_from(allowance.daily.saturating_sub(count.texts)).unwrap_or(usize::MAX);
        refreshed.is_spent = left == 0;
        if refreshed.is_spent || Instant::now() >= allowance.until {
            break;
        }
        let keys: Vec<String> = due.by_ref().take(left.min(AT_ONCE)).collect();
        let texts = load(&keys)?;
        // Counted first: a server that fails on a text is not asked for it all day.
        count.texts += keys.len() as u64;
        write_count(&path, count)?;
        if !texts.is_empty() {
            let of = embed(&texts.iter().map(|(_, text)| &**text).collect::<Vec<_>>())?;
            let of = texts.iter().zip(of).map(|((key, text), numbers)| Vector { key, text, numbers });
            let of: Vec<Vector<'_>> = of.collect();
            vectors.add(&of)?;
            refreshed.added += of.len();
        }
        refreshed.left -= keys.len();
    }
    Ok(refreshed)
}

fn read_count(path: &Path, day: u64) -> Count {
    let bytes = files::read_capped_if_there(path, MAX_COUNT_BYTES).ok().flatten().unwrap_or_default();
    let count: Count = serde_json::from_slice(&bytes).unwrap_or_default();
    if count.day == day { count } else { Count { day, texts: 0 } }
}

fn write_count(path: &Path, count: Count) -> Result<(), Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        files::create_private_folder(folder).map_err(io)?;
    }
    let bytes = serde_json::to_vec(&count).unwrap_or_default();
    files::write_atomic(path, &bytes).map_err(io)
}
