//! What changed from one memory to another, by section and entry.
//!
//! An entry that only moved within its section, or got another tag, did not change. One that left while a similar
//! one came (`similarity` ≥ 0.5, best pairs first) was edited.

use std::collections::{HashMap, HashSet};

use crate::identity::{Identities, REWORDED, Words};
use crate::memory::{Block, Entry, Memory, is_spoken};
use crate::section;

/// Up to this many comparisons every removed entry is held against every added one.
const MAX_COMPARISONS: usize = 4_096;

/// Beyond that only entries are compared that share a word which at most this many removed ones have.
const MAX_POSTINGS: usize = 16;

/// The changes from one memory to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// The sections with changes, in the order of the newer memory.
    pub sections: Vec<SectionDelta>,
}

/// The changes of one section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionDelta {
    /// The name of the section; empty for the part above the first one.
    pub section: String,
    /// The entries that came, in the order of the newer memory.
    pub added: Vec<Entry>,
    /// The entries that were reworded.
    pub edited: Vec<Edit>,
    /// The entries that left, in the order of the older memory.
    pub removed: Vec<Entry>,
    /// The lines of prose that came.
    pub prose_added: Vec<String>,
    /// The lines of prose that left.
    pub prose_removed: Vec<String>,
}

/// One entry before and after it was reworded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub before: Entry,
    pub after: Entry,
}

/// Returns what changed from `old` to `new`.
pub fn diff(old: &Memory, new: &Memory) -> Delta {
    if old == new {
        return Delta::default();
    }
    let (old, new) = (by_section(old), by_section(new));
    let known: HashSet<&str> = new.iter().map(|section| section.key.as_str()).collect();
    let only_old = old.iter().filter(|section| !known.contains(section.key.as_str()));
    let before: HashMap<&str, &Content<'_>> =
        old.iter().map(|section| (section.key.as_str(), section)).collect();
    let nothing = Content::default();
    let mut identities = Identities::default();
    let mut delta = Delta::default();
    for section in &new {
        let before = before.get(section.key.as_str()).copied().unwrap_or(&nothing);
        delta.sections.push(diff_section(section.name, before, section, &mut identities));
    }
    for section in only_old {
        delta.sections.push(diff_section(section.name, section, &nothing, &mut identities));
    }
    delta.sections.retain(|section| !section.is_empty());
    delta
}

impl Delta {
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(SectionDelta::is_empty)
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.sections.iter().map(SectionDelta::len).sum()
    }

    /// Removes what the session itself wrote, which it need not be told.
    pub fn forget_session(&mut self, session_id: &str) {
        let session: String = session_id.chars().take(8).collect();
        let is_foreign = |entry: &Entry| entry.provenance().session.as_deref() != Some(session.as_str());
        for section in &mut self.sections {
            section.added.retain(is_foreign);
            section.edited.retain(|edit| is_foreign(&edit.after));
        }
        self.sections.retain(|section| !section.is_empty());
    }

    /// Returns the memory that this delta leads from: `new` without its changes.
    ///
    /// When a part of a delta was shown, the memory that counts as shown is the newer one without the rest.
    pub fn undo(&self, new: &Memory) -> Memory {
        let mut memory = new.clone();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, section) in memory.sections.iter().enumerate() {
            places.entry(section::key(section.name())).or_default().push(at);
        }
        for section in &self.sections {
            let places = places.get(&section::key(&section.section));
            section.take_back(&mut memory, places.map_or(&[], Vec::as_slice));
        }
        for section in &self.sections {
            section.put_back(&mut memory);
        }
        memory
    }
}

impl SectionDelta {
    /// Returns whether nothing changed in the section.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of changes in the section.
    pub fn len(&self) -> usize {
        self.added.len()
            + self.edited.len()
            + self.removed.len()
            + self.prose_added.len()
            + self.prose_removed.len()
    }

    /// Removes added entries and restores reworded ones. The section is in `places`.
    fn take_back(&self, memory: &mut Memory, places: &[usize]) {
        let added: HashSet<String> = self.added.iter().map(Entry::identity).collect();
        let mut edited: HashMap<String, Option<&Entry>> =
            self.edited.iter().map(|edit| (edit.after.identity(), Some(&edit.before))).collect();
        let line_break = memory.line_break();
        let mut prose = counted(self.prose_added.iter().map(String::as_str));
        let mut undo = |block: &mut Block| match block {
            Block::Entry(entry) if !(added.is_empty() && edited.is_empty()) => {
                let identity = entry.identity();
                match edited.get_mut(&identity).map(Option::take) {
                    Some(Some(before)) => *entry = before.clone().ended(line_break),
                    // A second copy of what was reworded.
                    Some(None) => return false,
                    None => {}
                }
                !added.contains(&identity)
            }
            Block::Prose(line) => match prose.get_mut(line.trim()) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            },
            _ => true,
        };
        if self.section.is_empty() {
            memory.preamble.retain_mut(&mut undo);
        }
        for place in places {
            memory.sections[*place].blocks.retain_mut(&mut undo);
        }
    }

    /// Lets what left stand where its section begins (prose, which below an entry would become a part of it) or ends.
    fn put_back(&self, memory: &mut Memory) {
        for line in self.prose_removed.iter().rev() {
            memory.put_prose_back(&self.section, line);
        }
        for entry in &self.removed {
            memory.append_entry(&self.section, entry.clone());
        }
    }
}

/// What the parts of a memory that bear one name hold together.
#[derive(Debug, Default)]
struct Content<'a> {
    key: String,
    name: &'a str,
    entries: Vec<&'a Entry>,
    prose: Vec<&'a str>,
}

fn by_section(memory: &Memory) -> Vec<Content<'_>> {
    let mut contents = vec![Content::default()];
    contents[0].take(&memory.preamble);
    let mut places: HashMap<String, usize> = HashMap::new();
    for section in &memory.sections {
        let key = section::key(section.name());
        let place = *places.entry(key.clone()).or_insert(contents.len());
        if place == contents.len() {
            contents.push(Content { key, name: section.name(), ..Content::default() });
        }
        contents[place].take(&section.blocks);
    }
    contents
}

impl<'a> Content<'a> {
    fn take(&mut self, blocks: &'a [Block]) {
        for block in blocks {
            match block {
                Block::Entry(entry) => self.entries.push(entry),
                Block::Prose(line) if is_spoken(line) => self.prose.push(line.trim()),
                _ => {}
            }
        }
    }
}

fn diff_section<'a>(
    name: &str,
    old: &Content<'a>,
    new: &Content<'a>,
    identities: &mut Identities<'a>,
) -> SectionDelta {
    let mut number = |entries: &[&'a Entry]| -> Vec<(usize, &'a Entry)> {
        entries.iter().map(|entry| (identities.number(entry), *entry)).collect()
    };
    let (before, after) = (number(&old.entries), number(&new.entries));
    let (removed, added) = (only_in(&before, &after), only_in(&after, &before));
    let texts = |entries: &[(usize, &Entry)]| -> Vec<&str> {
        entries.iter().map(|(number, _)| identities.identity(*number)).collect()
    };
    let pairs = pair(&texts(&removed), &texts(&added));
    let replaced: HashSet<usize> = pairs.iter().map(|(removed, _)| *removed).collect();
    let replacing: HashMap<usize, usize> = pairs.iter().map(|(removed, added)| (*added, *removed)).collect();
    let mut delta = SectionDelta {
        section: name.to_owned(),
        prose_added: missing_in(&old.prose, &new.prose),
        prose_removed: missing_in(&new.prose, &old.prose),
        ..SectionDelta::default()
    };
    for (at, (_, entry)) in added.into_iter().enumerate() {
        match replacing.get(&at) {
            Some(&before) => {
                delta.edited.push(Edit { before: removed[before].1.clone(), after: entry.clone() });
            }
            None => delta.added.push(entry.clone()),
        }
    }
    let gone = removed.iter().enumerate().filter(|(at, _)| !replaced.contains(at));
    delta.removed = gone.map(|(_, (_, entry))| (*entry).clone()).collect();
    delta
}

/// Returns what `these` have and `others` have not, each identity once.
fn only_in<'a>(these: &[(usize, &'a Entry)], others: &[(usize, &'a Entry)]) -> Vec<(usize, &'a Entry)> {
    let mut known: HashSet<usize> = others.iter().map(|(number, _)| *number).collect();
    these.iter().filter(|(number, _)| known.insert(*number)).copied().collect()
}

/// Returns the lines of `new` that `old` does not have, as often as they are missing.
fn missing_in(old: &[&str], new: &[&str]) -> Vec<String> {
    let mut known = counted(old.iter().copied());
    let is_missing = |line: &&&str| match known.get_mut(**line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    new.iter().filter(is_missing).map(|line| (*line).to_owned()).collect()
}

fn counted<'a>(lines: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

/// Returns which removed entries became which added ones: the most alike first, each at most once.
pub(crate) fn pair(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let words = |identities: &[&str]| -> Vec<Words> { identities.iter().copied().map(Words::of).collect() };
    let (before, after) = (words(removed), words(added));
    let candidates = Candidates::new(&before, after.len());
    let mut alike: Vec<(f64, usize, usize)> = Vec::new();
    for (new, words) in after.iter().enumerate() {
        for old in candidates.of(words) {
            let similarity = before[old].similarity(words);
            if similarity >= REWORDED {
                alike.push((similarity, old, new));
            }
        }
    }
    alike.sort_by(|one, two| two.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(two.1, two.2))));
    let (mut replaced, mut replacing) = (HashSet::new(), HashSet::new());
    let mut pairs = Vec::new();
    for (_, old, new) in alike {
        if !replaced.contains(&old) && !replacing.contains(&new) {
            replaced.insert(old);
            replacing.insert(new);
            pairs.push((old, new));
        }
    }
    pairs
}

/// Which removed entries are worth comparing. Two rewritten memories of thousands of entries must not cost
/// millions of comparisons, so there only rare words lead from one to the other.
enum Candidates {
    All(usize),
    ByWord(HashMap<u64, Vec<usize>>),
}

impl Candidates {
    fn new(before: &[Words], added: usize) -> Self {
        if before.len() * added <= MAX_COMPARISONS {
            return Self::All(before.len());
        }
        let mut postings: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, words) in before.iter().enumerate() {
            for word in words.iter() {
                let posting = postings.entry(word).or_default();
                // One more than the limit marks the word as too common.
                if posting.len() <= MAX_POSTINGS {
                    posting.push(at);
                }
            }
        }
        postings.retain(|_, posting| posting.len() <= MAX_POSTINGS);
        Self::ByWord(postings)
    }

    fn of(&self, words: &Words) -> Vec<usize> {
        match self {
            Self::All(count) => (0..*count).collect(),
            Self::ByWord(postings) => {
                let mut found: Vec<usize> =
                    words.iter().filter_map(|word| postings.get(&word)).flatten().copied().collect();
                found.sort_unstable();
                found.dedup();
                found
            }
        }
    }
}

impl Memory {
    /// Puts a line of prose back below the heading, or above the first section when `name` is empty.
    fn put_prose_back(&mut self, name: &str, line: &str) {
        let block = Block::Prose(format!("{line}{}", self.line_break()));
        if name.is_empty() {
            self.end_last_line();
            self.preamble.push(block);
        } else {
            self.end_last_line();
            self.section_mut(name).blocks.insert(0, block);
        }
    }
}
