//! From a question to the lists of documents that it is answered from.
//!
//! Each word of the question is one list, and so is a name from code as a whole. A word also has a second, lighter list of words
//! that contain it: those that the last word begins, since it may be unfinished, and compounds (`Fehlerbehandlung` for
//! `Behandlung`); a third has compounds that lost its ending, as the index has them (`verbindungsfehl` for `Fehler`). Words that hold a question together add a little to what the others find, and find something only where there
//! are no others. A word that no document has counts as those that are spelled like it, beside words that are known.

use super::common::{self, Role};
use super::list::Index;
use super::near;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use text::terms::{self, Terms};

/// A word that was typed often counts for more, up to this.
const MOST_TIMES: u32 = 3;
/// How much a name counts as a whole: its parts count already. One that only code writes so is meant as a whole; words with a
/// hyphen may as well be apart.
const WHOLE: f64 = 0.25;
const WHOLE_OF_CODE: f64 = 0.6;
/// How much words weigh that contain the word of the question: beside the word itself, and where no document has it.
const CONTAINING: f64 = 0.1;
const CONTAINING_ALONE: f64 = 0.8;
/// The same of compounds that lost an ending: some only look like compounds of the word, and must not go before what has it.
const LOST_ENDING: f64 = 0.02;
/// How much words weigh that are spelled like a word which no document has.
const SPELLED_ALIKE: f64 = 0.7;
/// How much a word weighs that only frames a question, and one that holds it together.
const FRAMING: f64 = 0.5;
const JOINING: f64 = 0.2;
/// A word that joins words in another language is one of this question where no more than one of so many documents has it.
const RARE: usize = 50;
/// How many letters a word needs so that others are found by it: at their beginning, and anywhere else.
const MIN_BEGINNING: usize = 3;
const MIN_COMPOUND: usize = 5;
/// How many letters of it are left at least where a compound lost its ending, and how many a compound has besides.
const MIN_ENDING: usize = 4;
const MIN_REST: usize = 4;
/// How many such words are taken, and looked at in each segment.
const MAX_CONTAINING: usize = 24;
const MAX_LOOKED_AT: usize = 2_000;
/// How many words of a question may be slips: for each, all terms with its first letter are looked at.
const MAX_SLIPS: usize = 8;
/// A word that more than one of so many documents has is not looked for in others: there is enough to find.
const COMMON: usize = 20;
const ENOUGH: usize = 100;

/// A list of documents: those that have one of these terms.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// The word of the question, by its number.
    pub(super) word: usize,
    pub(super) terms: Vec<String>,
    /// What one document gains at most is a little over twice this.
    pub(super) weight: f64,
    pub(super) by: By,
}

impl List {
    /// Says whether its terms are letters of a script without spaces.
    pub(super) fn is_unspaced(&self) -> bool {
        self.terms.iter().all(|term| term.chars().all(terms::is_unspaced))
    }
}

/// What a list has to do with its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// It is the word's own.
    Word,
    /// The same of a word that holds the question together: it adds a little to what other words find, and finds nothing.
    Joining,
    /// Words that contain the word.
    Containing,
    /// Words that are spelled like the word, which no document has.
    Spelling,
}

/// A question that was taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Question {
    pub(super) lists: Vec<List>,
    pub(super) words: Vec<Known>,
    /// Paths and names of files in the question.
    pub(super) files: Vec<String>,
}

/// A word as it was typed.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) typed: String,
    /// How many documents have it.
    pub(super) has: usize,
    pub(super) is_joining: bool,
}

struct Word {
    typed: String,
    term: String,
    times: u32,
    is_whole: bool,
    is_last: bool,
    role: Role,
    /// How many documents have it.
    has: usize,
}

impl Question {
    pub(super) fn new(index: &Index, text: &str) -> Self {
        let documents: usize = index.segments.iter().map(|living| living.segment.documents() as usize).sum();
        let mut question = Self { files: files_in(text), ..Self::default() };
        let mut words = words_of(text);
        words.iter_mut().for_each(|word| word.has = documents_with(index, &word.term));
        decide_roles(&mut words, documents);
        let is_any_known = words.iter().any(|word| word.has > 0 && word.role != Role::Joining);
        // Alone, a slip finds nothing, and the answer says which words are spelled like it.
        let mut slips = if is_any_known { MAX_SLIPS } else { 0 };
        for word in words {
            // A name counts as a whole only where a document has it: its parts count anyway.
            if word.has == 0 && (word.is_whole || word.role == Role::Joining) {
                continue;
            }
            let number = question.words.len();
            let times = word.share() * f64::from(word.times.min(MOST_TIMES));
            let others = others(index, &word, documents, &mut slips);
            if word.has > 0 {
                let by = if word.role == Role::Joining { By::Joining } else { By::Word };
                let weight = times * rarity(documents, word.has);
                question.lists.push(List { word: number, terms: vec![word.term], weight, by });
            }
            for (by, share, found) in others {
                let has = word.has + found.iter().map(|(_, has)| has).sum::<usize>();
                let weight = share * times * rarity(documents, has.min(documents));
                let terms = found.into_iter().map(|(term, _)| term).collect();
                question.lists.push(List { word: number, terms, weight, by });
            }
            let is_joining = word.role == Role::Joining;
            question.words.push(Known { typed: word.typed, has: word.has, is_joining });
        }
        question
    }
}

/// Terms, each with how many documents have it.
type Found = Vec<(String, usize)>;

/// Returns other terms by which a word is found, and how much they weigh. So many `slips` may still be looked for.
fn others(index: &Index, word: &Word, documents: usize, slips: &mut usize) -> Vec<(By, f64, Found)> {
    if word.is_whole || word.role == Role::Joining {
        return Vec::new();
    }
    let share = |beside: f64| if word.has > 0 { beside } else { CONTAINING_ALONE };
    let mut others = vec![
        (By::Containing, share(CONTAINING), containing(index, word, documents)),
        (By::Containing, share(LOST_ENDING), without_ending(index, word)),
    ];
    others.retain(|(_, _, found)| !found.is_empty());
    if others.is_empty() && word.has == 0 && *slips > 0 && near::may_be_slip(&word.term) {
        *slips -= 1;
        let alike = near::instead_of(index, &word.term);
        if !alike.is_empty() {
            others.push((By::Spelling, SPELLED_ALIKE, alike));
        }
    }
    others
}

impl Word {
    /// How much of its weight counts.
    fn share(&self) -> f64 {
        let of_role = match self.role {
            Role::Content => 1.0,
            Role::Framing => FRAMING,
            // Decided by now: it joins.
            Role::Joining | Role::OtherLanguage => JOINING,
        };
        let of_whole = match (self.is_whole, is_from_code(&self.typed)) {
            (false, _) => 1.0,
            (true, true) => WHOLE_OF_CODE,
            (true, false) => WHOLE,
        };
        of_role * of_whole
    }
}

/// Says whether a name is written as in code: `verify_token`, `verifyToken`.
fn is_from_code(name: &str) -> bool {
    let mut last = ' ';
    name.chars().any(|letter| {
        let is_seam = letter == '_' || (last.is_lowercase() && letter.is_uppercase());
        last = letter;
        is_seam
    })
}

/// Returns the words of a question, each once.
fn words_of(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut last = None;
    Terms::default().each(text, 0, |term| {
        let place = *known.entry(term.text.to_owned()).or_insert_with(|| {
            words.push(Word {
                typed: text[term.range()].to_owned(),
                term: term.text.to_owned(),
                times: 0,
                is_whole: term.is_whole,
                is_last: false,
                role: common::role_of(&text[term.range()].to_lowercase()),
                has: 0,
            });
            words.len() - 1
        });
        words[place].times += 1;
        // Typed without a seam as well, it is a word of its own.
        if words[place].is_whole && !term.is_whole {
            words[place].is_whole = false;
            text[term.range()].clone_into(&mut words[place].typed);
        }
        if !term.is_whole {
            last = Some((place, term.bytes.1));
        }
    });
    if let Some((place, end)) = last
        && end == text.len()
    {
        words[place].is_last = true;
    }
    words
}

/// Decides what each word is for. A question of nothing but words that hold it together, or that ask, is about these.
fn decide_roles(words: &mut [Word], documents: usize) {
    let others = words.iter().filter(|word| word.role == Role::OtherLanguage).count();
    for word in words.iter_mut().filter(|word| word.role == Role::OtherLanguage) {
        // One alone, which few texts have, is a word of the question's own language: `hat`, `die`, `war`, `son`.
        let is_content = others == 1 && word.has * RARE <= documents;
        word.role = if is_content { Role::Content } else { Role::Joining };
    }
    for only in [Role::Joining, Role::Framing] {
        if words.iter().all(|word| matches!(word.role, Role::Joining) || word.role == only) {
            words.iter_mut().filter(|word| word.role == only).for_each(|word| word.role = Role::Content);
        }
    }
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

pub(super) fn documents_with(index: &Index, term: &str) -> usize {
    let places = index.segments.iter().filter_map(|living| living.segment.dictionary().find(term));
    places.map(|place| place.documents as usize).sum()
}

/// Returns the terms that contain a word, those in most documents first.
fn containing(index: &Index, word: &Word, documents: usize) -> Found {
    let folded = terms::folded(&word.typed);
    let letters = folded.chars().count();
    let is_unspaced = folded.chars().all(terms::is_unspaced);
    let is_word = folded.chars().all(char::is_alphabetic);
    let is_rare = word.has <= ENOUGH || word.has * COMMON <= documents;
    // A word that so many documents have is finished.
    let as_beginning = word.is_last && is_rare && (letters >= MIN_BEGINNING || (is_unspaced && letters == 1));
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
    most_common(found)
}

/// Returns the compounds that end with a word, which lost its ending by that: the index has only stems, and a longer word has a
/// shorter one. They are looked for where few documents have the word.
fn without_ending(index: &Index, word: &Word) -> Found {
    let folded = terms::folded(&word.typed);
    let is_word = folded.chars().all(|letter| letter.is_alphabetic() && !terms::is_unspaced(letter));
    let ending = terms::stem_of_ending(&folded);
    let letters = ending.chars().count();
    let is_looked_for = is_word && word.has <= ENOUGH && folded.chars().count() >= MIN_COMPOUND;
    if !is_looked_for || ending == folded || letters < MIN_ENDING {
        return Found::new();
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for living in &index.segments {
        let mut looked_at = 0;
        living.segment.dictionary().ending_with(&ending, |term, place| {
            looked_at += 1;
            let is_known = term == word.term || term.ends_with(&folded);
            let is_compound = term.chars().count() >= letters + MIN_REST;
            if !is_known && is_compound && !term.bytes().any(|byte| byte.is_ascii_digit()) {
                *found.entry(term.to_owned()).or_default() += place.documents as usize;
            }
            if looked_at >= MAX_LOOKED_AT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    most_common(found)
}

/// Puts the terms first that most documents have, and leaves out the rest of many.
fn most_common(found: BTreeMap<String, usize>) -> Found {
    let mut found: Found = found.into_iter().collect();
    found.sort_by_key(|(term, documents)| (std::cmp::Reverse(*documents), term.clone()));
    found.truncate(MAX_CONTAINING);
    found
}
