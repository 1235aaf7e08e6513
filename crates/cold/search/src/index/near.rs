//! Words that are spelled alike.

use super::list::Index;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use text::terms;

/// How many are named.
const MAX_NAMED: usize = 3;
/// How many take the place of a word that no document has, and how many letters that word has at least.
const MAX_INSTEAD: usize = 4;
const MIN_LETTERS: usize = 4;
/// A word of so many letters may have two that are wrong.
const LONG: usize = 8;

/// A term with its distance and with how many documents have it.
type Found = BTreeMap<String, (usize, usize)>;

/// Returns words of the index that are spelled like `word`, the nearest first, then those in more documents.
pub(super) fn nearest(index: &Index, word: &str) -> Vec<String> {
    let wanted: Vec<char> = terms::folded(word).chars().collect();
    let most = match wanted.len() {
        0..=2 => return Vec::new(),
        3..=5 => 1,
        _ => 2,
    };
    let found = found_from(index, "", &wanted, most);
    sorted(found).into_iter().take(MAX_NAMED).map(|(term, _)| term).collect()
}

/// Says whether other terms may take the place of one that no document has.
pub(super) fn may_be_slip(term: &str) -> bool {
    term.chars().count() >= MIN_LETTERS
        && term.chars().all(|letter| letter.is_alphabetic() && !terms::is_unspaced(letter))
}

/// Returns the terms that take the place of a slip, each with how many documents have it. Slips rarely change the first letter, so
/// terms with another one are not looked at; all with the same one are.
pub(super) fn instead_of(index: &Index, term: &str) -> Vec<(String, usize)> {
    let wanted: Vec<char> = term.chars().collect();
    let most = if wanted.len() < LONG { 1 } else { 2 };
    let mut found = found_from(index, wanted[0].encode_utf8(&mut [0; 4]), &wanted, most);
    let least = found.values().map(|(distance, _)| *distance).min().unwrap_or_default();
    found.retain(|_, (distance, _)| *distance == least);
    sorted(found).into_iter().take(MAX_INSTEAD).collect()
}

/// Returns the terms that begin with `prefix` and are spelled like `wanted`.
fn found_from(index: &Index, prefix: &str, wanted: &[char], most: usize) -> Found {
    let mut found = Found::new();
    let mut distances = Distances::default();
    for living in &index.segments {
        living.segment.dictionary().beginning_with(prefix, |term, place| {
            if let Some(distance) = distances.between(wanted, term, most) {
                found.entry(term.to_owned()).or_insert((distance, 0)).1 += place.documents as usize;
            }
            ControlFlow::Continue(())
        });
    }
    found
}

/// Puts the nearest first, then those in more documents.
fn sorted(found: Found) -> Vec<(String, usize)> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(term, (distance, documents))| (*distance, Reverse(*documents), term.clone()));
    found.into_iter().map(|(term, (_, documents))| (term, documents)).collect()
}

/// Compares words letter by letter. It keeps its buffers from word to word.
#[derive(Debug, Default)]
struct Distances {
    letters: Vec<char>,
    /// The last row, the one before it, and the one that is being made.
    rows: [Vec<usize>; 3],
}

impl Distances {
    /// Returns how many letters have to be added, left out, replaced or swapped with their neighbour, where that is from 1 to `most`.
    fn between(&mut self, wanted: &[char], term: &str, most: usize) -> Option<usize> {
        // A letter has up to four bytes.
        if term.len() + most < wanted.len() || term.len() > (wanted.len() + most) * 4 {
            return None;
        }
        self.letters.clear();
        self.letters.extend(term.chars());
        let Self { letters, rows: [last, before, row] } = self;
        if letters.len().abs_diff(wanted.len()) > most || letters.iter().any(char::is_ascii_digit) {
            return None;
        }
        last.clear();
        last.extend(0..=letters.len());
        for (at, letter) in wanted.iter().enumerate() {
            row.clear();
            row.push(at + 1);
            for (place, against) in letters.iter().enumerate() {
                let mut least = (last[place] + usize::from(letter != against))
                    .min(last[place + 1] + 1)
                    .min(row[place] + 1);
                if at > 0 && place > 0 && *letter == letters[place - 1] && wanted[at - 1] == *against {
                    least = least.min(before[place - 1] + 1);
                }
                row.push(least);
            }
            if row.iter().all(|distance| *distance > most) {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last.last().copied().filter(|distance| (1..=most).contains(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_added_left_out_replaced_and_swapped() {
        let mut distances = Distances::default();
        for (one, other, expected) in [
            ("cache", "cache", None),
            ("cahce", "cache", Some(1)),
            ("cche", "cache", Some(1)),
            ("caache", "cache", Some(1)),
            ("cacha", "cache", Some(1)),
            ("kacke", "cache", Some(2)),
            ("xxche", "cache", Some(2)),
            ("xxxhe", "cache", None),
            ("größe", "grösse", Some(2)),
            ("e0381", "e0382", None),
        ] {
            let wanted: Vec<char> = one.chars().collect();
            assert_eq!(distances.between(&wanted, other, 2), expected, "{one} {other}");
        }
    }
}
