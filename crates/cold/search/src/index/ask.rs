//! From a question to the lists of documents that it is answered from.
//!
//! Each word of the question is one list, and so is a name from code as a whole. A word also has a second, lighter list of words
//! that contain it: those that the last word begins, since it may be unfinished, and compounds (`Fehlerbehandlung` for
//! `Behandlung`). Common words count only where there are no others.

use super::common::{self, FRAMING};
use super::list::Index;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use text::terms::{self, Terms};

/// A word that was typed often counts for more, up to this.
const MOST_TIMES: u32 = 3;
/// How much a name counts as a whole: its parts count already.
const WHOLE: f64 = 0.25;
/// How much a word weighs that contains the word of the question, and where no document has the word itself.
const CONTAINING: f64 = 0.1;
const CONTAINING_ALONE: f64 = 0.8;
/// How many letters a word needs so that others are found by it: at their beginning, and anywhere else.
const MIN_BEGINNING: usize = 3;
const MIN_COMPOUND: usize = 5;
/// How many letters a compound has besides.
const MIN_REST: usize = 4;
/// How many such words are taken, and looked at in each segment.
const MAX_CONTAINING: usize = 24;
const MAX_LOOKED_AT: usize = 2_000;
/// A word that more than one of so many documents has needs no compounds: there is enough to find.
const COMMON: usize = 20;

/// A list of documents: those that have one of these terms.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// The word of the question, by its number.
    pub(super) word: usize,
    pub(super) terms: Vec<String>,
    /// What one document gains at most is a little over twice this.
    pub(super) weight: f64,
    /// Whether these are words that contain the word.
    pub(super) is_containing: bool,
}

/// A question that was taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Question {
    pub(super) lists: Vec<List>,
    /// The words as they were typed, each with how many documents have it.
    pub(super) words: Vec<(String, usize)>,
    /// Paths and names of files in the question.
    pub(super) files: Vec<String>,
}

struct Word {
    typed: String,
    term: String,
    times: u32,
    is_whole: bool,
    is_last: bool,
    /// How much of its weight counts.
    share: f64,
}

impl Question {
    pub(super) fn new(index: &Index, text: &str) -> Self {
        let documents: usize = index.segments.iter().map(|living| living.segment.documents() as usize).sum();
        let mut question = Self { files: files_in(text), ..Self::default() };
        for word in words_of(text) {
            let has = documents_with(index, &word.term);
            if word.is_whole && has == 0 {
                continue;
            }
            let number = question.words.len();
            let times = word.share * f64::from(word.times.min(MOST_TIMES));
            let containing =
                if word.is_whole { Vec::new() } else { containing(index, &word, has, documents) };
            if has > 0 {
                let weight = times * rarity(documents, has);
                question.lists.push(List {
                    word: number,
                    terms: vec![word.term],
                    weight,
                    is_containing: false,
                });
            }
            if !containing.is_empty() {
                let by_containing: usize = containing.iter().map(|(_, has)| has).sum();
                let share = if has > 0 { CONTAINING } else { CONTAINING_ALONE };
                let weight = share * times * rarity(documents, (has + by_containing).min(documents));
                let terms = containing.into_iter().map(|(term, _)| term).collect();
                question.lists.push(List { word: number, terms, weight, is_containing: true });
            }
            question.words.push((word.typed, has));
        }
        question
    }
}

/// Returns the words of a question that count.
fn words_of(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut last = None;
    Terms::default().each(text, 0, |term| {
        let place = *known.entry(term.text.to_owned()).or_insert_with(|| {
            let typed = text[term.range()].to_owned();
            words.push(Word {
                typed,
                term: term.text.to_owned(),
                times: 0,
                is_whole: term.is_whole,
                is_last: false,
                share: if term.is_whole { WHOLE } else { 1.0 },
            });
            words.len() - 1
        });
        words[place].times += 1;
        if !term.is_whole {
            last = Some((place, term.bytes.1));
        }
    });
    if let Some((place, end)) = last
        && end == text.len()
    {
        words[place].is_last = true;
    }
    let is_joining = |word: &Word| common::is_joining(&word.typed.to_lowercase());
    if !words.iter().all(is_joining) {
        words.retain(|word| !is_joining(word));
    }
    let is_asking = |word: &Word| common::is_asking(&word.typed.to_lowercase());
    if !words.iter().all(is_asking) {
        words.iter_mut().filter(|word| is_asking(word)).for_each(|word| word.share *= FRAMING);
    }
    words
}

/// Returns words with a `/` or an ending, as file names have.
fn files_in(text: &str) -> Vec<String> {
    let is_path = |word: &&str| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        let has_ending =
            (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        word.len() > 3
            && (word.contains('/') || has_ending)
            && !word.bytes().all(|byte| !byte.is_ascii_alphabetic())
    };
    let words =
        text.split_whitespace().map(|word| word.trim_matches(|letter: char| "\"'`,;:()[]".contains(letter)));
    words.filter(is_path).map(|word| word.trim_start_matches("./").to_owned()).collect()
}

/// How much it says that a document has a term.
fn rarity(documents: usize, has: usize) -> f64 {
    let (documents, has) = (documents as f64, has.min(documents) as f64);
    (1.0 + (documents - has + 0.5) / (has + 0.5)).ln()
}

fn documents_with(index: &Index, term: &str) -> usize {
    let places = index.segments.iter().filter_map(|living| living.segment.dictionary().find(term));
    places.map(|place| place.documents as usize).sum()
}

/// Returns the terms that contain a word, those in most documents first.
fn containing(index: &Index, word: &Word, has: usize, documents: usize) -> Vec<(String, usize)> {
    let folded = terms::folded(&word.typed);
    let letters = folded.chars().count();
    let is_unspaced = folded.chars().all(terms::is_unspaced);
    let is_word = folded.chars().all(char::is_alphabetic);
    let is_rare = has * COMMON <= documents;
    let as_beginning = word.is_last && (letters >= MIN_BEGINNING || (is_unspaced && letters == 1));
    let as_compound = is_word && letters >= MIN_COMPOUND && is_rare && !is_unspaced;
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for living in &index.segments {
        let dictionary = living.segment.dictionary();
        let mut looked_at = 0;
        let mut keep = |term: &str, documents: u32, least_rest: usize| {
            looked_at += 1;
            let rest = term.chars().count() - letters.min(term.chars().count());
            if term != word.term
                && rest >= least_rest
                && (is_unspaced || !term.bytes().any(|byte| byte.is_ascii_digit()))
            {
                *found.entry(term.to_owned()).or_default() += documents as usize;
            }
            if looked_at >= MAX_LOOKED_AT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if as_beginning || as_compound {
            let least_rest = if as_beginning { 1 } else { MIN_REST };
            dictionary.beginning_with(&folded, |term, place| keep(term, place.documents, least_rest));
        }
        if as_compound || (is_unspaced && letters == 1) {
            let least_rest = if is_unspaced { 1 } else { MIN_REST };
            dictionary.ending_with(&folded, |term, place| keep(term, place.documents, least_rest));
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(term, documents)| (std::cmp::Reverse(*documents), term.clone()));
    found.truncate(MAX_CONTAINING);
    found
}
