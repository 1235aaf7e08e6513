//! Why nothing was found, and what would be.

use super::asked;
use crate::finder::Finder;
use crate::terminal::counted;
use base::Paths;
use search::Kind;
use search::query::{Filter, Found, Query};
use search::sources::{self, SHIPPED};
use serde_json::{Value, json};
use text::sanitize;
use text::terms::{self, Terms};

/// How many words are looked at, and how long each may be.
const MAX_WORDS: usize = 5;
const MAX_CHARS: usize = 60;

/// Why nothing was found.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// Whether nothing of any project is there to be found.
    is_empty: bool,
    /// Whether the question has no word.
    has_no_word: bool,
    /// Words that no document has, each with words that are spelled alike.
    unknown: Vec<(String, Vec<String>)>,
    /// How many would be found without a filter.
    without: Vec<(String, usize)>,
    in_all_projects: usize,
    /// How many would be found without any filter.
    without_all: usize,
    /// How many lessons that ship would be found.
    lessons: usize,
}

pub(super) fn reasons(
    query: &Query,
    found: &Found,
    arguments: &asked::Filters,
    finder: &Finder,
    paths: &Paths,
) -> Reasons {
    let index = &finder.index;
    // An index that is being made may have it yet.
    let is_empty = finder.is_complete && !sources::is_any_recorded(&finder.store).unwrap_or(true);
    if found.terms.is_empty() {
        return Reasons { is_empty, has_no_word: true, ..Reasons::default() };
    }
    let count = |filter: Filter| index.count(&Query { filter, ..query.clone() });
    let most_words = if is_empty { 0 } else { MAX_WORDS };
    let unknown = found.terms.iter().filter(|(_, documents)| *documents == 0).take(most_words);
    let unknown =
        unknown.map(|(word, _)| (word.clone(), spelled_alike(word, query, finder, paths))).collect();
    let without = arguments.dropped(&query.filter).into_iter().map(|(name, filter)| (name, count(filter)));
    let without = without.filter(|(_, count)| *count > 0).collect();
    let projects = sources::every_project(&finder.store).unwrap_or_default();
    let everywhere = Filter { projects: projects.clone(), ..query.filter.clone() };
    let in_all_projects = if arguments.is_of_all_projects() { 0 } else { count(everywhere) };
    let without_all = count(Filter { projects, ..Filter::default() });
    let shipped =
        Filter { projects: vec![SHIPPED.to_owned()], kinds: vec![Kind::Lesson], ..Filter::default() };
    // Where they were looked for, that is no advice.
    let are_asked_for = query.filter.projects.iter().any(|project| project == SHIPPED);
    let lessons = if are_asked_for { 0 } else { count(shipped) };
    Reasons { is_empty, unknown, without, in_all_projects, without_all, lessons, ..Reasons::default() }
}

/// Returns words of documents that are spelled like `word`.
fn spelled_alike(word: &str, query: &Query, finder: &Finder, paths: &Paths) -> Vec<String> {
    let mut stemmed = terms::folded(word);
    terms::stem(&mut stemmed);
    let near = [word, &stemmed].into_iter().flat_map(|word| finder.index.nearest(word));
    let mut words: Vec<String> = Vec::new();
    for term in near {
        let whole = whole_word(&term, query, finder, paths).unwrap_or(term);
        if !words.contains(&whole) {
            words.push(whole);
        }
    }
    words.truncate(MAX_WORDS);
    words
}

/// Returns a word that a document has for a term: the index has only its stem.
fn whole_word(term: &str, query: &Query, finder: &Finder, paths: &Paths) -> Option<String> {
    let query = Query { text: term.to_owned(), filter: Filter::default(), limit: 1, ..query.clone() };
    let keys: Vec<String> = finder.index.search(&query).hits.into_iter().map(|hit| hit.key).collect();
    let loaded = sources::load(&finder.store, paths, &keys).ok()?.pop()?;
    let mut whole = None;
    for text in [&loaded.document.title, &loaded.document.body] {
        Terms::default().each(text, 0, |found| {
            if found.text == term && whole.is_none() {
                whole = Some(text[found.range()].to_lowercase());
            }
        });
    }
    whole
}

impl Reasons {
    pub(super) fn lines(&self) -> Vec<String> {
        if self.has_no_word {
            return vec!["Nothing found: the question has no letter and no digit.".to_owned()];
        }
        let first = if self.is_empty {
            "Nothing is recorded yet: sessions with Wyren fill the journal."
        } else {
            "Nothing found."
        };
        let mut lines = vec![first.to_owned()];
        for (word, near) in &self.unknown {
            let word = sanitize::one_line(word, MAX_CHARS);
            let near: Vec<String> = near.iter().map(|word| sanitize::one_line(word, MAX_CHARS)).collect();
            lines.push(match &*near {
                [] => format!("  No document has “{word}”."),
                near => format!("  No document has “{word}”. Spelled alike: {}.", near.join(", ")),
            });
        }
        let hits = |count: &usize| counted(*count as u64, "document", "documents");
        for (name, count) in &self.without {
            lines.push(format!("  Without {}: {}.", sanitize::one_line(name, MAX_CHARS), hits(count)));
        }
        if self.in_all_projects > 0 {
            lines.push(format!("  In all projects (--all-projects): {}.", hits(&self.in_all_projects)));
        }
        if self.without.is_empty() && self.in_all_projects == 0 && self.without_all > 0 {
            lines.push(format!("  Without any filter, in all projects: {}.", hits(&self.without_all)));
        }
        if self.lessons > 0 {
            let lessons =
                counted(self.lessons as u64, "lesson that ships with Wyren", "lessons that ship with Wyren");
            lines.push(format!("  With --type lesson: {lessons}."));
        }
        lines
    }

    pub(super) fn to_json(&self) -> Value {
        let unknown = self.unknown.iter().map(|(word, near)| json!({"word": word, "spelled_alike": near}));
        let without =
            self.without.iter().map(|(filter, count)| json!({"filter": filter, "documents": count}));
        json!({
            "is_empty": self.is_empty,
            "has_no_word": self.has_no_word,
            "unknown": unknown.collect::<Value>(),
            "without": without.collect::<Value>(),
            "in_all_projects": self.in_all_projects,
            "without_filters": self.without_all,
            "shipped_lessons": self.lessons,
        })
    }
}
