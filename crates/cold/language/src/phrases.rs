//! Finds phrases in text: one pass over its words, however many phrases there are.

use std::collections::HashMap;

use crate::lexicon;
use crate::words::{is_inside_word, is_unspaced};

/// A set of phrases, each with a label.
///
/// A phrase is words with a space between them; `hardcod*` matches any word with this beginning. A phrase of a script
/// without spaces, or one that begins with `~`, is looked for anywhere, also within words.
pub struct Phrases<L> {
    by_first_word: HashMap<&'static str, Vec<(Vec<&'static str>, L)>>,
    by_prefix: Vec<(&'static str, Vec<&'static str>, L)>,
    anywhere: Vec<(&'static str, L)>,
}

/// A phrase that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<L> {
    /// What the phrase is labelled with.
    pub label: L,
    /// Where it begins, in bytes of the lower-case text.
    pub start: usize,
    pub end: usize,
}

impl<L: Copy> Phrases<L> {
    pub fn new(tables: impl IntoIterator<Item = (&'static str, L)>) -> Self {
        let mut phrases = Self { by_first_word: HashMap::new(), by_prefix: Vec::new(), anywhere: Vec::new() };
        for (phrase, label) in tables {
            phrases.add(phrase, label);
        }
        phrases
    }

    fn add(&mut self, phrase: &'static str, label: L) {
        if let Some(part) = phrase.strip_prefix('~') {
            self.anywhere.push((part, label));
        } else if phrase.chars().any(is_unspaced) {
            self.anywhere.push((phrase, label));
        } else {
            let mut words = phrase.split(' ');
            let Some(first) = words.next() else { return };
            let rest: Vec<&'static str> = words.collect();
            match first.strip_suffix('*') {
                Some(prefix) => self.by_prefix.push((prefix, rest, label)),
                None => self.by_first_word.entry(first).or_default().push((rest, label)),
            }
        }
    }

    /// Returns every phrase in `text`, which must be in lower case, in the order of their places.
    pub fn find(&self, text: &str) -> Vec<Hit<L>> {
        let words = spans(text);
        let mut hits = Vec::new();
        for (at, (start, end)) in words.iter().copied().enumerate() {
            let word = &text[start..end];
            let mut try_rest = |rest: &[&str], label: L| {
                if let Some(end) = match_rest(text, &words[at..], rest) {
                    hits.push(Hit { label, start, end });
                }
            };
            for (rest, label) in self.by_first_word.get(word).map_or(&[][..], Vec::as_slice) {
                try_rest(rest, *label);
            }
            for (prefix, rest, label) in &self.by_prefix {
                if word.starts_with(prefix) {
                    try_rest(rest, *label);
                }
            }
        }
        // Nearly all of them are of scripts without spaces, and most texts have none of those.
        let is_ascii = text.is_ascii();
        for (part, label) in self.anywhere.iter().filter(|(part, _)| !is_ascii || part.is_ascii()) {
            hits.extend(text.match_indices(part).map(|(start, _)| Hit {
                label: *label,
                start,
                end: start + part.len(),
            }));
        }
        hits.sort_by_key(|hit| hit.start);
        hits
    }
}

impl Phrases<()> {
    /// Returns the phrases under a heading of a file.
    pub fn of(file: &'static str, heading: &'static str) -> Self {
        Self::new(lexicon::list(file, heading).map(|phrase| (phrase, ())))
    }

    /// Returns whether one of the phrases is in `text`, which must be in lower case.
    pub fn occur(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// Returns whether `text`, which must be in lower case, is one of the phrases, or begins with one of several words.
    pub fn head(&self, text: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric();
        let Some(start) = text.find(is_word) else { return false };
        let end = text
            .rfind(is_word)
            .map_or(text.len(), |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
        self.find(text).iter().any(|hit| {
            let is_long = text[hit.start..hit.end].contains(char::is_whitespace);
            hit.start == start && (hit.end >= end || is_long)
        })
    }

    /// Returns whether `text`, which must be in lower case, begins with one of the phrases.
    pub fn begin(&self, text: &str) -> bool {
        let start = text.find(is_inside_word).unwrap_or_default();
        self.find(text).first().is_some_and(|hit| hit.start == start)
    }
}

/// Returns `text` in lower case with plain apostrophes, as phrases are written.
pub fn folded(text: &str) -> String {
    text.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase).collect()
}

/// Returns where the words of `text` begin and end.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        match (is_inside_word(character), start) {
            (true, None) => start = Some(at),
            (false, Some(begun)) => {
                spans.push((begun, at));
                start = None;
            }
            _ => {}
        }
    }
    spans.extend(start.map(|start| (start, text.len())));
    spans
}

/// Returns where the phrase ends whose first word is the first of `words`, if its other words follow.
fn match_rest(text: &str, words: &[(usize, usize)], rest: &[&str]) -> Option<usize> {
    let (_, mut end) = *words.first()?;
    for (at, wanted) in rest.iter().enumerate() {
        let (next_start, next_end) = *words.get(at + 1)?;
        let word = &text[next_start..next_end];
        let fits = match wanted.strip_suffix('*') {
            Some(prefix) => word.starts_with(prefix),
            None => word == *wanted,
        };
        // Words of two sentences are no phrase.
        let is_apart = text[end..next_start].contains(['.', '!', '?', '\n', ';']);
        if !fits || is_apart {
            return None;
        }
        end = next_end;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let phrases = Phrases::new(
            ["let's go with", "hardcod*", "won't fix", "决定", "~하기로", "is hardcod*"]
                .map(|phrase| (phrase, ())),
        );
        let text = folded(text);
        let found: Vec<&str> = phrases.find(&text).iter().map(|hit| &text[hit.start..hit.end]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_heading_is_a_phrase_or_begins_with_several_words() {
        let phrases = Phrases::new(["cause", "not done", "原因"].map(|phrase| (phrase, ())));
        for heading in ["cause", "## cause:", "not done", "not done in this change", "原因"] {
            assert!(phrases.head(heading), "{heading}");
        }
        for heading in ["cause and effect", "what is not done", "", "##"] {
            assert!(!phrases.head(heading), "{heading}");
        }
    }

    #[test]
    fn phrases_are_found_by_word() {
        check("Let’s go with dark mode", &["let's go with"]);
        check("let's go, with", &["let's go, with"]);
        check("let's go. With", &[]);
        check("it is hardcoded", &["is hardcoded", "hardcoded"]);
        check("we won't, fixed", &[]);
        check("我们决定用它", &["决定"]);
        check("사용하기로 했다", &["하기로"]);
    }
}
