//! How good a distillation is: annotated transcripts, and figures for what came out of them.
//!
//! A case is `<name>.jsonl`, a transcript as the client writes it, and `<name>.json`, what a reader finds in it:
//!
//! | field | meaning |
//! |---|---|
//! | `facts` | what a good memory contains: `sections` it may stand in, `keywords`, an ideal `text`, the `turns`, what it `replaces` |
//! | `removed` | entries of the existing memory that are resolved |
//! | `extras` | keywords of entries that are right though not required |
//! | `must_not` | keywords of entries that are wrong |
//! | `contradicts` | pairs of keywords that may not both be in the memory |
//! | `existing_memory` | the memory before |
//! | `held_out` | whether the case is kept away from tuning |
//!
//! Keywords are a list of lists: of each inner list one has to occur.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base::Timestamp;
use memory::Memory;
use serde::{Deserialize, Serialize};

use crate::apply::{Applied, Context, apply};
use crate::cull::Clearance;
use crate::entry::{self, entries};
use crate::evidence::Evidence;
use crate::extract::extract;
use crate::operation::{Action, Operation, Reason, Source};
use crate::score::{DEFAULT_THRESHOLD, score};
use crate::slice::{Message, Slice};

/// How many turns are distilled at once: the default of `distill.turns`.
const TURNS: usize = 5;

/// The least recall of extraction without a model on all cases: just below what it reaches.
pub const MIN_RECALL: f64 = 0.85;

/// The least precision of extraction without a model on all cases: just below what it reaches.
pub const MIN_PRECISION: f64 = 0.94;

/// The least recall on the cases that extraction was not tuned on.
pub const MIN_RECALL_HELD_OUT: f64 = 0.74;

/// The least precision on the cases that extraction was not tuned on.
pub const MIN_PRECISION_HELD_OUT: f64 = 0.9;

/// Of each inner list one has to occur.
pub type Keywords = Vec<Vec<String>>;

/// What a reader finds in a transcript.
#[derive(Debug, Clone, Deserialize)]
pub struct Annotation {
    /// What the session is about.
    #[serde(default)]
    pub about: String,
    /// Whether the case is kept away from tuning.
    #[serde(default)]
    pub held_out: bool,
    /// What a good memory contains.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Entries of the existing memory that are resolved.
    #[serde(default)]
    pub removed: Vec<Removed>,
    /// Entries that are right though not required.
    #[serde(default)]
    pub extras: Vec<Keywords>,
    /// Entries that are wrong.
    #[serde(default)]
    pub must_not: Vec<Keywords>,
    /// Entries that may not both be in the memory.
    #[serde(default)]
    pub contradicts: Vec<(Keywords, Keywords)>,
    #[serde(default)]
    pub existing_memory: String,
}

/// Something that a good memory contains.
#[derive(Debug, Clone, Deserialize)]
pub struct Fact {
    /// The sections it may stand in, the best first.
    pub sections: Vec<String>,
    /// What it says at its best.
    pub text: String,
    /// The message that says it.
    pub turns: Vec<u64>,
    /// What an entry has to contain to say it.
    pub keywords: Keywords,
    /// The entry of the existing memory that it replaces.
    #[serde(default)]
    pub replaces: Keywords,
}

/// An entry of the existing memory that is resolved.
#[derive(Debug, Clone, Deserialize)]
pub struct Removed {
    /// The message that says it.
    pub turns: Vec<u64>,
    /// What became of it.
    pub why: Reason,
    /// What resolved it.
    #[serde(default)]
    pub note: String,
    /// What the entry contains.
    pub keywords: Keywords,
}

/// A transcript and what a reader finds in it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of its files.
    pub name: String,
    pub transcript: PathBuf,
    /// What a reader finds in it.
    pub annotation: Annotation,
}

/// What came out of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Facts that were to be found.
    pub facts: usize,
    /// Facts that were not, in their ideal words.
    pub missed: Vec<String>,
    /// Entries that were written.
    pub entries: usize,
    /// Entries that say nothing that a reader found, or something that they must not.
    pub wrong: Vec<String>,
    /// Pairs of entries that contradict each other, and entries that should be gone.
    pub contradictions: usize,
}

/// Which slices of a session pass the score, when it is distilled every few turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// Slices in which a reader found something.
    pub telling: usize,
    /// How many of them pass; the others are lost.
    pub telling_passed: usize,
    /// Slices in which there is nothing to find.
    pub plain: usize,
    /// How many of them pass, and ask a model for nothing.
    pub plain_passed: usize,
}

impl Gate {
    /// Returns the sums.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            telling: self.telling + other.telling,
            telling_passed: self.telling_passed + other.telling_passed,
            plain: self.plain + other.plain,
            plain_passed: self.plain_passed + other.plain_passed,
        }
    }
}

/// The figures of many outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// The share of facts that were found; 1 when there were none.
    pub recall: f64,
    /// The share of entries that are right; 1 when there were none.
    pub precision: f64,
    pub contradictions: usize,
    /// Facts in all.
    pub facts: usize,
    /// Entries in all.
    pub entries: usize,
}

/// Reads the cases of a folder, by name.
pub fn cases(folder: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let annotation = serde_json::from_str(&fs::read_to_string(&path)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        cases.push(Case { name, transcript: path.with_extension("jsonl"), annotation });
    }
    cases.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(cases)
}

impl Case {
    pub fn memory(&self) -> Memory {
        Memory::parse(&self.annotation.existing_memory)
    }

    /// Reads the whole transcript.
    pub fn slice(&self) -> Result<Slice, transcript::Error> {
        Slice::read(&self.transcript, None)
    }

    /// Reads the transcript as slices of a few turns, as they are distilled during a session.
    pub fn slices(&self) -> Result<Vec<Slice>, transcript::Error> {
        let whole = self.slice()?;
        let mut parts: Vec<Vec<Message>> = vec![Vec::new()];
        let mut turns = 0;
        for message in &whole.messages {
            turns += usize::from(message.is_of_a_person());
            if turns > TURNS {
                turns = 1;
                parts.push(Vec::new());
            }
            parts.last_mut().into_iter().for_each(|part| part.push(message.clone()));
        }
        Ok(parts.into_iter().map(|messages| Slice { messages, ..whole.clone() }).collect())
    }

    /// Returns whether a reader found something in the slice.
    pub fn is_telling(&self, slice: &Slice) -> bool {
        let (facts, removed) = (self.annotation.facts.iter(), self.annotation.removed.iter());
        let mut cited = facts.flat_map(|fact| &fact.turns).chain(removed.flat_map(|removed| &removed.turns));
        cited.any(|number| slice.message(*number).is_some())
    }

    /// Returns how many of the slices pass the score.
    pub fn gate(&self) -> Result<Gate, transcript::Error> {
        let mut gate = Gate::default();
        for slice in self.slices()? {
            let passes = usize::from(score(&slice).passes(DEFAULT_THRESHOLD));
            let one = match self.is_telling(&slice) {
                true => Gate { telling: 1, telling_passed: passes, ..Gate::default() },
                false => Gate { plain: 1, plain_passed: passes, ..Gate::default() },
            };
            gate = gate.and(one);
        }
        Ok(gate)
    }

    pub fn extracted(&self) -> Result<Outcome, transcript::Error> {
        let slice = self.slice()?;
        Ok(self.judge(&slice, &extract(&slice)))
    }

    /// With a model that knows the annotation.
    pub fn scripted(&self) -> Result<Outcome, transcript::Error> {
        let slice = self.slice()?;
        Ok(self.judge(&slice, &self.perfect()))
    }

    /// Applies operations and scores the result.
    pub fn judge(&self, slice: &Slice, operations: &[Operation]) -> Outcome {
        let memory = self.memory();
        let evidence = Evidence::of(slice);
        let context = Context {
            session: &slice.session,
            author: "Eve",
            when: Timestamp::from_millis(1_794_000_000_000),
            evidence: &evidence,
            clearance: Clearance::default(),
        };
        let applied = apply(&memory, operations, &context);
        self.annotation.judge(&memory, &applied)
    }

    /// Returns what a perfect model answers.
    pub fn perfect(&self) -> Vec<Operation> {
        let memory = self.memory();
        let find = |keywords: &Keywords| {
            entries(&memory)
                .find(|(_, entry)| matches(keywords, &entry.text()))
                .map(|(section, entry)| (section, entry::id_of(section, entry)))
        };
        let operation = |action, section: &str, turns: &[u64]| Operation {
            action,
            section: section.to_owned(),
            confidence: 0.9,
            turns: turns.to_vec(),
            source: Source::Model,
        };
        let facts = self.annotation.facts.iter().map(|fact| {
            let text = fact.text.clone();
            let replaced = if fact.replaces.is_empty() { None } else { find(&fact.replaces) };
            let action = match replaced {
                Some((_, entry)) => Action::Replace { entry, text, why: String::new() },
                None => Action::Add { text },
            };
            operation(action, fact.sections.first().map_or("", String::as_str), &fact.turns)
        });
        let removed = self.annotation.removed.iter().filter_map(|removed| {
            let (section, entry) = find(&removed.keywords)?;
            let action = Action::Remove { entry, reason: removed.why, by: removed.note.clone() };
            Some(operation(action, section, &removed.turns))
        });
        facts.chain(removed).collect()
    }
}

impl Annotation {
    /// Judges a memory that was distilled from `before`.
    pub fn judge(&self, before: &Memory, applied: &Applied) -> Outcome {
        let known: Vec<String> = entries(before).map(|(_, entry)| entry.identity()).collect();
        let after: Vec<(&str, String)> =
            entries(&applied.memory).map(|(section, entry)| (section, entry.text().into_owned())).collect();
        let written: Vec<&(&str, String)> =
            after.iter().filter(|(_, text)| !known.contains(&memory::identity(text))).collect();
        let says = |fact: &Fact, (section, text): &(&str, String)| {
            fact.sections.iter().any(|known| known == section) && matches(&fact.keywords, text)
        };
        let is_right = |entry: &(&str, String)| {
            let is_wanted = self.facts.iter().any(|fact| says(fact, entry))
                || self.extras.iter().any(|extra| matches(extra, &entry.1));
            is_wanted && !self.must_not.iter().any(|wrong| matches(wrong, &entry.1))
        };
        let missed = self.facts.iter().filter(|fact| !written.iter().any(|entry| says(fact, entry)));
        let wrong = written.iter().filter(|entry| !is_right(entry));
        let contains = |keywords: &Keywords| after.iter().position(|(_, text)| matches(keywords, text));
        let contradicting =
            self.contradicts.iter().filter(|(one, two)| match (contains(one), contains(two)) {
                (Some(one), Some(two)) => one != two,
                _ => false,
            });
        Outcome {
            facts: self.facts.len(),
            missed: missed.map(|fact| fact.text.clone()).collect(),
            entries: written.len(),
            wrong: wrong.map(|(section, text)| format!("{section}: {text}")).collect(),
            contradictions: contradicting.count(),
        }
    }

    /// Returns the resolved entries that are still there.
    pub fn unresolved<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = &'a Removed> {
        self.removed
            .iter()
            .filter(|removed| entries(memory).any(|(_, entry)| matches(&removed.keywords, &entry.text())))
    }
}

impl Figures {
    /// Returns the figures of all outcomes together: every fact and every entry counts the same.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let (mut facts, mut missed, mut entries, mut wrong, mut contradictions) = (0, 0, 0, 0, 0);
        for outcome in outcomes {
            facts += outcome.facts;
            missed += outcome.missed.len();
            entries += outcome.entries;
            wrong += outcome.wrong.len();
            contradictions += outcome.contradictions;
        }
        let share =
            |part: usize, whole: usize| if whole == 0 { 1.0 } else { (whole - part) as f64 / whole as f64 };
        Self {
            recall: share(missed, facts),
            precision: share(wrong, entries),
            contradictions,
            facts,
            entries,
        }
    }
}

/// Returns whether of each list of keywords one occurs in the text.
pub fn matches(keywords: &Keywords, text: &str) -> bool {
    let text = text.to_lowercase();
    !keywords.is_empty()
        && keywords.iter().all(|any| any.iter().any(|keyword| occurs(&keyword.to_lowercase(), &text)))
}

/// Returns whether a keyword occurs at the start of a word; a number has to end there too, or 3 would be found in 31.
fn occurs(keyword: &str, text: &str) -> bool {
    let is_number = keyword.bytes().all(|byte| byte.is_ascii_digit());
    let begins_as_word = keyword.starts_with(|c: char| c.is_ascii_alphanumeric());
    text.match_indices(keyword).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + keyword.len()..].chars().next();
        let is_inside = begins_as_word && before.is_some_and(|c| c.is_ascii_alphanumeric());
        let goes_on = is_number && after.is_some_and(|c| c.is_ascii_digit());
        !(is_inside || goes_on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_by_word() {
        let keywords = |lists: &[&[&str]]| -> Keywords {
            lists.iter().map(|list| list.iter().map(|word| (*word).to_owned()).collect()).collect()
        };
        assert!(matches(&keywords(&[&["3", "three"], &["retr"]]), "At most three Retries"));
        assert!(!matches(&keywords(&[&["3"]]), "31 rows"));
        assert!(!matches(&keywords(&[&["art"]]), "a cart"));
        assert!(!matches(&keywords(&[]), "anything"));
    }
}
