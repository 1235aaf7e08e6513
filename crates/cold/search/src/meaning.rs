//! Optional: documents found by what they mean, where an embeddings server on this machine is set up.
//!
//! Vectors are kept in files of their own beside the index, one byte per number. A question's vector is compared with all of them;
//! what is nearest and what ranks best by words are joined by their places in the two rankings. Without a server, or while it does
//! not answer, search goes by words alone.

mod refresh;
mod vectors;

pub use refresh::{Allowance, Refreshed, refresh};
pub use vectors::{Error, Vector, Vectors};

use crate::document::Document;
use crate::index::{Change, Index, key_hash};
use crate::query::{Found, Hit, Query};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many of each ranking are joined: at least, and for each hit that is wanted.
const LEAST_JOINED: usize = 50;
const JOINED_PER_HIT: usize = 2;
/// How little the first places of a ranking differ: a place counts one part in so many, and one more for each place before it.
const FLAT: f64 = 60.0;
/// The best score by places alone; scores are scaled to it so that they can be read.
const BEST: f64 = 100.0;

/// How much of a document a vector is made of, in bytes.
const MAX_TEXT_BYTES: usize = 4_096;

/// Returns the folder of the vectors, beside those of the index.
pub fn folder(index: &Path) -> PathBuf {
    index.join("meaning")
}

/// Returns the text of a document that its vector is made of: more than a model reads is left out.
pub fn text_of(document: &Document) -> String {
    let mut text = format!("{}\n{}", document.title, document.body);
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

/// Removes the vectors of documents that go or have another text from now on. To be called before the index changes: a process
/// that is killed in between leaves documents without a vector, which is got again.
pub fn before(index: &Path, changes: &[Change]) -> Result<(), Error> {
    let folder = folder(index);
    if !vectors::are_any(&folder) {
        return Ok(());
    }
    let of = |change: &Change| match change {
        Change::Put(document) => (key_hash(&document.key), Some(vectors::text_hash(&text_of(document)))),
        Change::Remove(key) => (key_hash(key), None),
    };
    vectors::forget(&folder, &changes.iter().map(of).collect())
}

/// Removes all vectors.
pub fn clear(index: &Path) -> Result<(), Error> {
    vectors::clear(&folder(index))
}

/// Answers a question by words and by meaning.
pub fn search(index: &Index, vectors: &Vectors, vector: &[f32], query: &Query) -> Found {
    let wanted = query.skip.saturating_add(query.limit);
    let joined = wanted.saturating_mul(JOINED_PER_HIT).max(LEAST_JOINED);
    let by_words = index.search(&Query { skip: 0, limit: joined, ..query.clone() });
    // More than are joined, since the filter comes afterwards.
    let nearest = vectors.nearest(vector, joined.saturating_mul(8));
    let mut known = index.documents_of(nearest.iter().map(|(hash, _)| *hash), &query.filter);
    let by_meaning: Vec<Hit> =
        nearest.iter().filter_map(|(hash, _)| known.remove(hash)).take(joined).collect();

    let mut hits: HashMap<String, Hit> = HashMap::new();
    let rankings = [("words", by_words.hits), ("meaning", by_meaning)];
    let is_only_one = rankings.iter().any(|(_, hits)| hits.is_empty());
    let has_vector = vectors.hashes();
    for (name, ranking) in rankings {
        for (place, hit) in ranking.into_iter().enumerate() {
            // What has no vector yet is not behind what has one: its place by words counts for both.
            let is_whole = is_only_one || !has_vector.contains(&key_hash(&hit.key));
            let share = if is_whole { BEST } else { BEST / 2.0 };
            let gained = share * (FLAT + 1.0) / (FLAT + 1.0 + place as f64);
            let joined =
                hits.entry(hit.key.clone()).or_insert_with(|| Hit { score: 0.0, parts: Vec::new(), ..hit });
            joined.score += gained;
            joined.parts.push((name.to_owned(), gained));
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    hits.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score.then_with(|| other.at.cmp(&one.at)).then_with(|| one.key.cmp(&other.key))
    });
    let hits = hits.into_iter().skip(query.skip).take(query.limit).collect();
    Found { hits, ..by_words }
}
