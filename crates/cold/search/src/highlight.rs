//! Where the words of a question are in a text: for people, who want to see why something was found.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use text::terms::{Terms, folded, stem_of_ending};

/// How many letters the last word needs so that words count which it begins: it may be unfinished.
const MIN_BEGINNING: usize = 3;
/// How many letters a word needs so that compounds count (`Fehlerbehandlung` for `Behandlung`), how many of them are left at least
/// at the end of one, and how many it has besides.
const MIN_COMPOUND: usize = 5;
const MIN_ENDING: usize = 4;
const MIN_REST: usize = 4;

/// The words of a question.
#[derive(Debug, Default)]
pub struct Words {
    /// Terms, each with the number of its word.
    terms: HashMap<String, usize>,
    /// Words that may be parts of longer ones.
    parts: Vec<Part>,
    count: usize,
    /// Keeps its buffers from text to text.
    splitter: Terms,
}

/// A word that may be a part of longer ones.
#[derive(Debug)]
struct Part {
    folded: String,
    /// What is left of it at the end of a longer one; empty where that is too little.
    ending: String,
    /// The number of the word.
    word: usize,
    may_be_unfinished: bool,
}

impl Part {
    fn is_in(&self, term: &str) -> bool {
        let is_compound = |part: &str| term.len() >= part.len() + MIN_REST;
        let begins = term.starts_with(&self.folded);
        (begins && (self.may_be_unfinished || is_compound(&self.folded)))
            || (is_compound(&self.folded) && term.ends_with(&self.folded))
            || (!self.ending.is_empty() && is_compound(&self.ending) && term.ends_with(&self.ending))
    }
}

impl Words {
    /// Takes the words of a question that count, as [`crate::query::Found`] has them; the last one may be unfinished.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut found = Self::default();
        let typed: Vec<&str> = words.into_iter().collect();
        for (place, word) in typed.iter().enumerate() {
            let number = found.count;
            let terms = &mut found.terms;
            found.splitter.each(word, 0, |term| {
                terms.entry(term.text.to_owned()).or_insert(number);
            });
            let part = folded(word);
            let letters = part.chars().count();
            let may_be_unfinished = place + 1 == typed.len() && letters >= MIN_BEGINNING;
            let may_be_in_compound = letters >= MIN_COMPOUND && part.chars().all(char::is_alphabetic);
            if may_be_unfinished || may_be_in_compound {
                let ending = if may_be_in_compound { stem_of_ending(&part) } else { String::new() };
                let ending = if ending.chars().count() >= MIN_ENDING { ending } else { String::new() };
                found.parts.push(Part { folded: part, ending, word: number, may_be_unfinished });
            }
            found.count += 1;
        }
        found
    }

    /// How many words there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `each` for every place of a word, with the number of the word.
    fn each(&mut self, text: &str, mut each: impl FnMut(Range<usize>, usize)) {
        let Self { terms, parts, splitter, .. } = self;
        splitter.each(text, 0, |term| {
            let by_part = || parts.iter().find(|part| part.is_in(term.text)).map(|part| part.word);
            if let Some(number) = terms.get(term.text).copied().or_else(by_part) {
                each(term.range(), number);
            }
        });
    }

    /// Returns the places of the words in a text, in order and apart from each other.
    pub fn ranges(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        self.each(text, |range, _| ranges.push(range));
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }

    /// Returns how many of the words a text has.
    pub fn has(&mut self, text: &str) -> usize {
        let mut found = HashSet::new();
        self.each(text, |_, number| {
            found.insert(number);
        });
        found.len()
    }

    /// Returns the line that has most of the words, the first of several; `None` where none has any.
    pub fn best_line<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let mut best: Option<(usize, &str)> = None;
        for line in text.lines() {
            let has = self.has(line);
            if has > best.map_or(0, |(most, _)| most) {
                best = Some((has, line.trim()));
            }
        }
        best.map(|(_, line)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], text: &str, expected: &[&str]) {
        let ranges = Words::of(words.iter().copied()).ranges(text);
        let found: Vec<&str> = ranges.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{words:?} in {text:?}");
    }

    #[test]
    fn words_are_found_as_the_index_finds_them() {
        check(&["token", "verify"], "verifyToken() verifies tokens", &["verifyToken", "verifies", "tokens"]);
        check(&["cafe", "rust"], "The Café runs Rust, trusty", &["Café", "Rust"]);
        check(&["nothing"], "something else", &[]);
    }

    #[test]
    fn the_last_word_may_be_unfinished_and_compounds_count() {
        check(&["cac", "migr"], "a cached migration", &["migration"]);
        check(&["behandlung", "x1"], "Die Fehlerbehandlung fehlt", &["Fehlerbehandlung"]);
        check(
            &["fehler", "abfrage", "x1"],
            "Verbindungsfehler bei der Datenbankabfrage",
            &["Verbindungsfehler", "Datenbankabfrage"],
        );
        check(&["art", "x1"], "start the cart", &[]);
    }

    #[test]
    fn neighbouring_pairs_of_a_script_without_spaces_are_one_place() {
        check(&["用回", "回调"], "我们用回调函数", &["用回调"]);
    }

    #[test]
    fn the_best_line_has_most_of_the_words() {
        let mut words = Words::of(["cache", "stale"]);
        let text = "The cache is warm.\n  A stale cache was read.  \nStale bread.";
        assert_eq!(words.best_line(text), Some("A stale cache was read."));
        assert_eq!(words.best_line("none of it"), None);
        assert_eq!((words.has(text), words.count()), (2, 2));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_ranges_in_order_and_at_characters(text in "\\PC{0,80}", word in "\\PC{1,6}") {
            let ranges = Words::of([&*word]).ranges(&text);
            for pair in ranges.windows(2) {
                proptest::prop_assert!(pair[0].end < pair[1].start);
            }
            for range in ranges {
                proptest::prop_assert!(text.get(range).is_some());
            }
        }
    }
}
