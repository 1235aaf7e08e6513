//! Words that are spelled alike.

use super::list::Index;
use std::collections::BTreeMap;
use text::terms;

/// How many are named.
const MAX_WORDS: usize = 3;

/// Returns words of the index that are spelled like `word`, the nearest first, then those in more documents.
pub(super) fn nearest(index: &Index, word: &str) -> Vec<String> {
    let wanted: Vec<char> = terms::folded(word).chars().collect();
    let most = match wanted.len() {
        0..=2 => return Vec::new(),
        3..=5 => 1,
        _ => 2,
    };
    let mut found: BTreeMap<String, (usize, u32)> = BTreeMap::new();
    for living in &index.segments {
        let mut walk = living.segment.dictionary().walk();
        while let Some(place) = walk.step() {
            if walk.term().len().abs_diff(wanted.len()) > most * 4 {
                continue;
            }
            let Ok(term) = str::from_utf8(walk.term()) else { continue };
            let letters: Vec<char> = term.chars().collect();
            if letters.len().abs_diff(wanted.len()) > most
                || letters.iter().any(|letter| letter.is_ascii_digit())
            {
                continue;
            }
            let distance = distance(&wanted, &letters);
            if (1..=most).contains(&distance) {
                let known = found.entry(term.to_owned()).or_insert((distance, 0));
                known.1 += place.documents;
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(term, (distance, documents))| {
        (*distance, std::cmp::Reverse(*documents), term.clone())
    });
    found.into_iter().take(MAX_WORDS).map(|(term, _)| term).collect()
}

/// How many letters have to be added, left out, replaced or swapped with their neighbour.
fn distance(one: &[char], other: &[char]) -> usize {
    let width = other.len() + 1;
    let mut rows = vec![(0..width).collect::<Vec<usize>>()];
    for (at, letter) in one.iter().enumerate() {
        let mut row = vec![at + 1];
        for (place, against) in other.iter().enumerate() {
            let mut least = (rows[at][place] + usize::from(letter != against))
                .min(rows[at][place + 1] + 1)
                .min(row[place] + 1);
            if at > 0 && place > 0 && *letter == other[place - 1] && one[at - 1] == *against {
                least = least.min(rows[at - 1][place - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}
