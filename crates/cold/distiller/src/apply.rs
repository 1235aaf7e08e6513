//! Applies operations to a memory: the rules of what may be written, replaced and removed.
//!
//! # What leaves
//!
//! A proposer names entries that are to go; code decides which do. An entry leaves when code can see what takes its place:
//!
//! - *superseded*: the operation replaces it by a text that shares a word with it; or it removes it, and an entry that the
//!   same answer writes, or one that the operation names in `by`, says half of its words;
//! - *contradicted*: [`crate::conflict`] finds that an entry of the answer or of the memory cannot hold together with it;
//! - *a duplicate*: another entry has its identity, or is a near duplicate in the same section.
//!
//! Beyond that a distillation takes out [`UNREPLACED`] entries at most: those that a person speaks about in a message that
//! the operation cites, or with one of their words in a sentence by which something changes; those that the operation replaces by a text without a word in common, each by a text of its own;
//! and others, asked for or not, when the memory has been over its size for [`crate::budget::OVER_MILLIS`] and the entry is
//! older than [`crate::budget::YOUNG_MILLIS`]. What a person wrote leaves on the word of a person alone. Where a
//! replacement may not take its entry out, both stay.
//!
//! # Twice is once
//!
//! The same operations, applied twice, give the memory of the first time; that is what makes it safe to apply a plan
//! again after a crash. Four things see to it: entries are named by what they say; what is there already is not written
//! again; what an answer says later takes the place of what it said before, whatever the memory holds; and what an answer
//! wrote or confirmed is not culled to make room for the rest of it. An operation whose entry is gone counts as one that
//! took it out, or a second application would have room for two more.

use std::collections::{BTreeMap, HashSet};

use base::Timestamp;
use memory::history::Removal;
use memory::{Added, Entry, Memory, Provenance};
use text::redact;

use serde_json::Value;

use crate::budget::{
    MIN_CONFIDENCE, REMOVED_FEW, REMOVED_SHARE, TOUCHED_FEW, TOUCHED_SHARE, UNREPLACED, WRITTEN,
};
use crate::conflict::{contradict, contradict_in_words};
use crate::cull::{Clearance, cull};
use crate::entry::{
    EXTRACTED_MARK, SECTIONS, entries, find, id_of_text, is_written_by_a_person, plain_id, section,
};
use crate::evidence::Evidence;
use crate::operation::{Action, Operation, Reason, Source};
use crate::wording::{self, Unfit};
use language::content_words;

/// The version of a removal, as `memory::history` writes it.
const REMOVAL_VERSION: u32 = 1;

/// The longest reason in the history, in characters.
const MAX_WHY_CHARS: usize = 200;

/// The field of a removal that says which session's distillation took the entry out.
pub const SESSION_FIELD: &str = "session";

/// How many characters of the session's id it has, as a tag.
const SESSION_CHARS: usize = 8;

/// An entry that says half of another's words, and at least this many, says what became of it.
const COVERED_WORDS: usize = 2;

/// What applying needs to know besides the memory and the operations.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The session that was distilled; an entry's tag carries eight characters of it.
    pub session: &'a str,
    /// Whose session it is.
    pub author: &'a str,
    /// When it is distilled. Kept with the operations, so that applying them again writes the same.
    pub when: Timestamp,
    /// The messages that may be cited.
    pub evidence: &'a Evidence,
    /// What may leave although nothing takes its place.
    pub clearance: Clearance<'a>,
}

/// The result of the operations.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The memory after them.
    pub memory: Memory,
    /// The operations that were done, with what they changed.
    pub done: Vec<Done>,
    /// The operations that were not, and why.
    pub refused: Vec<Refused>,
    /// What left the memory, for the history: removed, replaced and culled.
    pub removals: Vec<Removal>,
    /// How many of them left without anything that code can see to take their place; [`UNREPLACED`] at most.
    pub taken: usize,
}

impl Applied {
    /// Returns whether the memory is another one now.
    pub fn is_changed(&self) -> bool {
        !self.removals.is_empty() || self.done.iter().any(|done| done.change != Change::AlreadyThere)
    }
}

/// An operation that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub operation: Operation,
    pub change: Change,
}

/// What an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Added {
        text: String,
    },
    /// An entry took the place of another.
    Replaced {
        before: String,
        text: String,
    },
    Removed {
        before: String,
    },
    /// Nothing: the memory says so already.
    AlreadyThere,
}

/// An operation that was not done.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub operation: Operation,
    pub why: Why,
}

/// Why an operation is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Distillation does not write that section.
    #[error("distillation does not write that section")]
    UnknownSection,
    /// The text is no entry.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The proposer is not sure enough.
    #[error("the confidence is too low")]
    LowConfidence,
    /// None of the cited messages says so.
    #[error("no message of the slice supports it")]
    NoSupport,
    /// A person wrote the entry, and no person spoke about it in the cited messages.
    #[error("a person wrote the entry, and the slice does not mention it")]
    WrittenByAPerson,
    /// Nothing takes the entry's place, and there is room for it.
    #[error("nothing takes the entry's place, and the memory has not been over its size for a week")]
    HasRoom,
    /// Nothing takes the entry's place, and it is young, or its age is unknown.
    #[error("nothing takes the entry's place, and it is younger than thirty days")]
    Young,
    /// The distillation took out as many entries without anything in their place as it may.
    #[error("nothing takes the entry's place, and two such entries left already")]
    Enough,
    /// Another operation of the same answer takes it back.
    #[error("another operation of the same answer reverts it")]
    TakenBack,
    /// The answer writes more than one distillation may; the rest is left out.
    #[error("the answer writes too many entries")]
    TooMany,
    /// The whole answer removes or replaces more than a distillation may; nothing of it is done.
    #[error("the answer removes or replaces too much of the memory")]
    TooMuch,
}

/// Applies operations to a memory. What is removed and replaced goes first, so that what is added is held against what is
/// left.
pub fn apply(memory: &Memory, operations: &[Operation], context: &Context<'_>) -> Applied {
    let mut outcomes: Vec<Result<Change, Why>> = operations.iter().map(|_| Err(Why::TooMuch)).collect();
    let mut prepared: Vec<Prepared<'_>> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        match Prepared::new(at, operation, context) {
            Ok(operation) => prepared.push(operation),
            Err(why) => outcomes[at] = Err(why),
        }
    }
    for at in taken_back(&prepared).into_iter().rev() {
        outcomes[prepared.remove(at).at] = Err(Why::TakenBack);
    }
    let additions = prepared.iter().filter_map(Prepared::addition).map(memory::identity).collect();
    let mut hand = Hand {
        memory: memory.clone(),
        context,
        additions,
        confirmed: HashSet::new(),
        successors: HashSet::new(),
        removals: Vec::new(),
        taken: 0,
        gone: 0,
    };
    if !hand.is_too_much(&prepared) {
        prepared.sort_by_key(Prepared::order);
        let mut written = HashSet::new();
        for operation in &prepared {
            written.extend(operation.text.as_deref().map(memory::identity));
            outcomes[operation.at] = if written.len() > WRITTEN {
                Err(Why::TooMany)
            } else {
                hand.carry_out(operation, &prepared)
            };
        }
        let is_changed =
            |outcome: &Result<Change, Why>| matches!(outcome, Ok(change) if *change != Change::AlreadyThere);
        if outcomes.iter().any(is_changed) {
            hand.make_room();
        }
    }
    let mut applied = Applied {
        memory: hand.memory,
        done: Vec::new(),
        refused: Vec::new(),
        removals: hand.removals,
        taken: hand.taken,
    };
    for (operation, outcome) in operations.iter().cloned().zip(outcomes) {
        match outcome {
            Ok(change) => applied.done.push(Done { operation, change }),
            Err(why) => applied.refused.push(Refused { operation, why }),
        }
    }
    applied
}

/// An operation that may be carried out as far as can be told without the memory.
struct Prepared<'o> {
    /// Its place in the answer.
    at: usize,
    operation: &'o Operation,
    section: &'static str,
    /// What is to be written, as an entry says it.
    text: Option<String>,
    provenance: Provenance,
}

impl<'o> Prepared<'o> {
    fn new(at: usize, operation: &'o Operation, context: &Context<'_>) -> Result<Self, Why> {
        let section = section(&operation.section).ok_or(Why::UnknownSection)?;
        let is_sure = operation.confidence >= MIN_CONFIDENCE;
        if !is_sure {
            return Err(Why::LowConfidence);
        }
        let text = match &operation.action {
            Action::Add { text } | Action::Replace { text, .. } => Some(wording::fit(text)?),
            Action::Remove { .. } => None,
        };
        let message = context.evidence.support(&operation.turns).ok_or(Why::NoSupport)?;
        let author = match operation.source {
            Source::Model => context.author.to_owned(),
            Source::Extraction => format!("{} {EXTRACTED_MARK}", context.author),
        };
        let day: String = context.when.to_string().chars().take(10).collect();
        let provenance = Provenance::new(context.session, message, &author, &day);
        Ok(Self { at, operation, section, text, provenance })
    }

    fn order(&self) -> u8 {
        match self.operation.action {
            Action::Remove { .. } => 0,
            Action::Replace { .. } => 1,
            Action::Add { .. } => 2,
        }
    }

    /// Returns what the operation adds, if that is all it does.
    fn addition(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| matches!(self.operation.action, Action::Add { .. }))
    }

    /// Returns how the operation names the entry that it takes away.
    fn target(&self) -> Option<&str> {
        match &self.operation.action {
            Action::Add { .. } => None,
            Action::Replace { entry, .. } | Action::Remove { entry, .. } => Some(entry),
        }
    }
}

/// Returns the places of the operations that another one of the same answer takes back: what a later one contradicts, and
/// the removal of what the answer itself writes.
fn taken_back(prepared: &[Prepared<'_>]) -> Vec<usize> {
    let written: HashSet<String> = prepared
        .iter()
        .filter_map(|operation| operation.text.as_deref())
        .flat_map(|text| {
            SECTIONS.map(|section| id_of_text(section, text)).into_iter().chain([memory::identity(text)])
        })
        .collect();
    let takes_back = |one: &Prepared<'_>, two: &Prepared<'_>| match (&one.text, &two.text) {
        // Two values added in one answer mean two things.
        (Some(first), Some(second)) if one.addition().is_some() && two.addition().is_some() => {
            contradict_in_words((one.section, first), (two.section, second))
        }
        (Some(first), Some(second)) => contradict((one.section, first), (two.section, second)),
        _ => false,
    };
    let is_taken_back = |(at, operation): (usize, &Prepared<'_>)| {
        let is_of_own = operation.target().is_some_and(|name| {
            written.contains(&plain_id(name)) || written.contains(&memory::identity(name))
        });
        let is_contradicted = prepared[at + 1..].iter().any(|later| takes_back(operation, later));
        (is_of_own || is_contradicted).then_some(at)
    };
    prepared.iter().enumerate().filter_map(is_taken_back).collect()
}

/// The memory while it is changed.
struct Hand<'c> {
    memory: Memory,
    context: &'c Context<'c>,
    /// The identities of what this answer adds.
    additions: HashSet<String>,
    /// The identities of what this answer wrote, or would have written if it were not there.
    confirmed: HashSet<String>,
    /// The identities of the texts that entries were to be replaced by so far.
    successors: HashSet<String>,
    removals: Vec<Removal>,
    /// How many entries left without anything that code can see to take their place.
    taken: usize,
    /// How many operations named an entry that is not there.
    gone: usize,
}

impl Hand<'_> {
    /// Returns whether the operations together want more gone than a distillation may take.
    fn is_too_much(&self, prepared: &[Prepared<'_>]) -> bool {
        let total = entries(&self.memory).count() as f64;
        // Each entry once, however often it is named; a removal weighs more than a replacement.
        let mut touched: BTreeMap<String, bool> = BTreeMap::new();
        let mut touch = |section: &str, entry: &Entry, removes: bool| {
            *touched.entry(format!("{section}\n{}", entry.identity())).or_default() |= removes;
        };
        for operation in prepared {
            let target = operation.target().and_then(|name| find(&self.memory, name));
            if let Some((section, entry)) = target {
                touch(section, entry, operation.text.is_none());
            }
            let Some(text) = operation.text.as_deref() else { continue };
            if target.is_none() && self.known(operation.section, text).is_some() {
                continue;
            }
            // A new entry takes the place of one that it contradicts; the others go.
            let mut has_place = target.is_none();
            for (section, entry) in self.contradicted(operation, text, target.map(|(_, entry)| entry)) {
                let is_replaced = has_place && section == operation.section;
                has_place &= !is_replaced;
                touch(section, entry, !is_replaced);
            }
        }
        let removed = touched.values().filter(|removes| **removes).count();
        removed > REMOVED_FEW && removed as f64 > total * REMOVED_SHARE
            || touched.len() > TOUCHED_FEW && touched.len() as f64 > total * TOUCHED_SHARE
            // A memory of a few entries is not emptied either.
            || removed > 1 && removed as f64 == total
    }

    /// Returns the entry that says `text` already.
    fn known(&self, name: &str, text: &str) -> Option<&Entry> {
        let identity = memory::identity(text);
        let says_so = |section: &str, entry: &Entry| {
            entry.identity() == identity || section == name && memory::is_near_duplicate(&entry.text(), text)
        };
        entries(&self.memory).find(|(section, entry)| says_so(section, entry)).map(|(_, entry)| entry)
    }

    /// Returns the entries that contradict `text`. Another value that the same answer adds does not.
    fn contradicted<'m>(
        &'m self,
        prepared: &'m Prepared<'_>,
        text: &'m str,
        except: Option<&'m Entry>,
    ) -> impl Iterator<Item = (&'static str, &'m Entry)> {
        let contradicts = move |section: &str, entry: &Entry| {
            let (new, old) = ((prepared.section, text), (section, &*entry.text()));
            let is_of_same_breath =
                prepared.addition().is_some() && self.additions.contains(&entry.identity());
            if is_of_same_breath { contradict_in_words(new, old) } else { contradict(new, old) }
        };
        entries(&self.memory)
            .filter(move |(section, entry)| except != Some(*entry) && contradicts(section, entry))
    }

    fn carry_out(&mut self, prepared: &Prepared<'_>, answer: &[Prepared<'_>]) -> Result<Change, Why> {
        let text = prepared.text.as_deref().unwrap_or_default();
        match &prepared.operation.action {
            Action::Add { .. } => self.add(prepared, text),
            Action::Replace { entry, why, .. } => self.replace(prepared, entry, text, why),
            Action::Remove { entry, reason, by } => self.remove(prepared, entry, (*reason, by), answer),
        }
    }

    fn add(&mut self, prepared: &Prepared<'_>, text: &str) -> Result<Change, Why> {
        let name = prepared.section;
        if let Some(known) = self.known(name, text).map(Entry::identity) {
            self.confirmed.insert(known);
            return Ok(Change::AlreadyThere);
        }
        let before = self.supersede(prepared, text, None)?;
        self.confirmed.insert(memory::identity(text));
        // What took the place of another one is there already.
        match (self.memory.add_distinct(name, text, &prepared.provenance), before) {
            (Added::Blank, _) => Err(Why::Unfit(Unfit::Empty)),
            (_, Some(before)) => Ok(Change::Replaced { before, text: text.to_owned() }),
            (_, None) => Ok(Change::Added { text: text.to_owned() }),
        }
    }

    /// Removes entries that contradict `text`, and puts it in the place of the first of them in its section. Returns the
    /// text of one of them.
    fn supersede(
        &mut self,
        prepared: &Prepared<'_>,
        text: &str,
        except: Option<&Entry>,
    ) -> Result<Option<String>, Why> {
        let contradicted: Vec<(&'static str, Entry)> = self
            .contradicted(prepared, text, except)
            .map(|(section, entry)| (section, entry.clone()))
            .collect();
        for (_, entry) in &contradicted {
            self.allow(entry, prepared.operation)?;
        }
        let mut last = None;
        for (section, entry) in contradicted {
            let before = entry.text().into_owned();
            let has_place =
                except.is_none() && section == prepared.section && !self.memory.contains(section, text);
            let left = if has_place {
                self.memory.replace(section, &before, text, &prepared.provenance)
            } else {
                self.memory.remove(section, &before)
            };
            if let Some(left) = left {
                self.record(section, &left, "superseded: contradicted by a later session", Some(text));
                last = Some(before);
            }
        }
        Ok(last)
    }

    fn replace(
        &mut self,
        prepared: &Prepared<'_>,
        entry: &str,
        text: &str,
        why: &str,
    ) -> Result<Change, Why> {
        let name = prepared.section;
        let is_first = self.successors.insert(memory::identity(text));
        let Some((section, before)) =
            find(&self.memory, entry).map(|(section, entry)| (section, entry.clone()))
        else {
            // It was replaced by this very operation, or a teammate took it out meanwhile: what is new is still new.
            self.gone += 1;
            return self.add(prepared, text);
        };
        self.allow(&before, prepared.operation)?;
        let (new, old) = ((name, text), (section, &*before.text()));
        let is_related = is_first && shares_a_word(text, old.1) || takes_the_place(new, old);
        if !is_related && self.permit(&before, prepared.operation, is_first).is_err() {
            return self.add(prepared, text);
        }
        self.taken += usize::from(!is_related);
        self.supersede(prepared, text, Some(&before))?;
        self.confirmed.insert(memory::identity(text));
        let said = before.text().into_owned();
        let left = if section == name && !self.memory.contains(name, text) {
            self.memory.replace(section, &said, text, &prepared.provenance)
        } else {
            let left = self.memory.remove(section, &said);
            self.memory.add_distinct(name, text, &prepared.provenance);
            left
        };
        if let Some(left) = left {
            self.record(section, &left, &reason("superseded", why), Some(text));
        }
        Ok(Change::Replaced { before: said, text: text.to_owned() })
    }

    fn remove(
        &mut self,
        prepared: &Prepared<'_>,
        entry: &str,
        (kind, by): (Reason, &str),
        answer: &[Prepared<'_>],
    ) -> Result<Change, Why> {
        let Some((section, before)) =
            find(&self.memory, entry).map(|(section, entry)| (section, entry.clone()))
        else {
            self.gone += 1;
            return Ok(Change::AlreadyThere);
        };
        self.allow(&before, prepared.operation)?;
        let successor = self.successor((section, &before), by, answer);
        if successor.is_none() {
            self.permit(&before, prepared.operation, false)?;
            self.taken += 1;
        }
        let said = before.text().into_owned();
        if let Some(left) = self.memory.remove(section, &said) {
            self.record(section, &left, &reason(kind.name(), by), successor.as_deref());
        }
        Ok(Change::Removed { before: said })
    }

    /// Returns what takes the place of an entry: another one that says the same or cannot hold together with it, or one
    /// that the answer writes or `by` names and that says half of its words.
    fn successor(
        &self,
        (section, entry): (&str, &Entry),
        by: &str,
        answer: &[Prepared<'_>],
    ) -> Option<String> {
        let old = (section, &*entry.text());
        // What the answer itself wants gone takes no place.
        let targets: Vec<(&str, &Entry)> = answer
            .iter()
            .filter_map(|operation| find(&self.memory, operation.target()?))
            .chain([(section, entry)])
            .collect();
        let stays = |found: &(&'static str, &Entry)| !targets.contains(found);
        let said = |(name, other): (&'static str, &Entry)| (name, other.text().into_owned());
        let named = || find(&self.memory, by).filter(stays).map(said);
        let mut known = entries(&self.memory).filter(stays).map(said);
        let excludes = |new: &(&str, String)| is_same_or_contrary((new.0, &new.1), old);
        let takes_it = |new: &(&str, String)| takes_the_place((new.0, &new.1), old);
        let written = answer.iter().find_map(|operation| {
            let new = (operation.section, operation.text.clone()?);
            (takes_it(&new) && self.will_be_written(operation, answer)).then_some(new)
        });
        let found = written.or_else(|| named().filter(takes_it));
        found.or_else(|| known.find(excludes)).map(|(_, text)| text)
    }

    /// Returns whether the text of an operation is sure to be in the memory in the end.
    fn will_be_written(&self, operation: &Prepared<'_>, answer: &[Prepared<'_>]) -> bool {
        let Some(text) = operation.text.as_deref() else { return false };
        let texts: HashSet<String> =
            answer.iter().filter_map(|operation| operation.text.as_deref()).map(memory::identity).collect();
        let target = operation.target().and_then(|name| find(&self.memory, name)).map(|(_, entry)| entry);
        let mut touched = self.contradicted(operation, text, target).map(|(_, entry)| entry).chain(target);
        texts.len() <= WRITTEN && touched.all(|entry| self.allow(entry, operation.operation).is_ok())
    }

    /// Says whether an entry may leave although code cannot see what takes its place. `is_vouched` is for one that the
    /// operation puts another text in the place of.
    fn permit(&self, entry: &Entry, operation: &Operation, is_vouched: bool) -> Result<(), Why> {
        let Context { evidence, clearance, when, .. } = self.context;
        if !is_vouched && !evidence.is_taken_back(&operation.turns, &entry.text()) {
            if !clearance.is_long_over {
                return Err(Why::HasRoom);
            }
            if !clearance.is_old(entry, *when) {
                return Err(Why::Young);
            }
        }
        if self.room() == 0 { Err(Why::Enough) } else { Ok(()) }
    }

    /// Returns how many entries may still leave without anything in their place.
    fn room(&self) -> usize {
        UNREPLACED.saturating_sub(self.context.clearance.taken + self.taken + self.gone)
    }

    /// Says whether the operation may take the entry away.
    fn allow(&self, entry: &Entry, operation: &Operation) -> Result<(), Why> {
        if is_written_by_a_person(entry) && !self.context.evidence.is_direct(&operation.turns, &entry.text())
        {
            return Err(Why::WrittenByAPerson);
        }
        Ok(())
    }

    fn make_room(&mut self) {
        let Context { clearance, when, .. } = self.context;
        let room = self.room();
        for culled in cull(&mut self.memory, &self.confirmed, clearance, *when, room) {
            self.taken += 1;
            self.record(culled.section, &culled.entry, "made room: the memory was over its size", None);
        }
    }

    fn record(&mut self, section: &str, entry: &Entry, why: &str, replaced_by: Option<&str>) {
        let session: String = self.context.session.chars().take(SESSION_CHARS).collect();
        self.removals.push(Removal {
            version: REMOVAL_VERSION,
            when: self.context.when.to_string(),
            by: self.context.author.to_owned(),
            why: why.to_owned(),
            section: section.to_owned(),
            text: redact::redact(&entry.text()).into_owned(),
            provenance: entry.provenance().to_string(),
            replaced_by: replaced_by.map(str::to_owned),
            other: [(SESSION_FIELD.to_owned(), Value::String(session))].into(),
        });
    }
}

/// Returns the reason of a removal: what kind it is, and what the proposer says about it, made safe.
fn reason(kind: &str, note: &str) -> String {
    let note = memory::hygiene::tidy(note, MAX_WHY_CHARS).unwrap_or_default();
    if note.is_empty() || wording::gives_orders(&note.to_lowercase()) {
        kind.to_owned()
    } else {
        format!("{kind}: {note}")
    }
}

/// Returns whether an entry says the same as another one, or cannot hold together with it.
fn is_same_or_contrary(new: (&str, &str), old: (&str, &str)) -> bool {
    memory::identity(new.1) == memory::identity(old.1)
        || new.0 == old.0 && memory::is_near_duplicate(new.1, old.1)
        || contradict(new, old)
}

/// Returns whether an entry says what became of another one: by excluding it, or by half of its words.
fn takes_the_place(new: (&str, &str), old: (&str, &str)) -> bool {
    let about = content_words(old.1);
    let needed = about.len().div_ceil(2).max(COVERED_WORDS);
    is_same_or_contrary(new, old) || content_words(new.1).intersection(&about).count() >= needed
}

fn shares_a_word(one: &str, two: &str) -> bool {
    !content_words(one).is_disjoint(&content_words(two))
}
