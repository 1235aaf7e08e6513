//! Makes room in a memory that has been over its size for long: what leaves, and in which order.
//!
//! What people wrote never leaves, nor what is younger than [`YOUNG_MILLIS`]. Of the rest the oldest goes first, a few in
//! one distillation; all of it goes to the history. Until then the memory may be as long as it likes: what of it a session
//! gets is chosen when it is shown.

use std::collections::{BTreeMap, HashSet};

use base::Timestamp;
use memory::section::LOAD_BEARING;
use memory::{Block, Entry, Memory};

use crate::budget::{DAY_MILLIS, FLOOR_LINES, SECTION_LINES, TARGET_LINES, YOUNG_MILLIS};
use crate::entry::{SECTIONS, entries, is_extracted, is_written_by_a_person, section};

/// What a distillation may take out although nothing takes its place. The default is nothing but what a person takes back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clearance<'a> {
    /// How many entries the distillation took out before, in an earlier slice.
    pub taken: usize,
    /// Whether the memory has been over its size for [`crate::budget::OVER_MILLIS`].
    pub is_long_over: bool,
    /// When git first saw the entries, by their keys. One that has no date and is not in here counts as young.
    pub first_seen: Option<&'a BTreeMap<String, Timestamp>>,
}

impl Clearance<'_> {
    /// Returns whether an entry may leave at `now` as far as its age goes.
    pub(crate) fn is_old(&self, entry: &Entry, now: Timestamp) -> bool {
        self.since(entry).is_some_and(|since| now.millis_since(since) >= YOUNG_MILLIS)
    }

    /// Returns since when an entry is there at the latest: the end of the day that it names, else when git first saw it.
    fn since(&self, entry: &Entry) -> Option<Timestamp> {
        let moment = |date: String| -> Option<Timestamp> {
            if let Ok(moment) = date.parse() {
                return Some(moment);
            }
            let day: Timestamp = format!("{date}T00:00:00Z").parse().ok()?;
            Some(Timestamp::from_millis(day.millis() + DAY_MILLIS))
        };
        let dated = entry.provenance().date.and_then(moment);
        dated.or_else(|| self.first_seen?.get(&entry.key()).copied())
    }
}

/// An entry that was culled, with its section.
pub(crate) struct Culled {
    pub(crate) section: &'static str,
    pub(crate) entry: Entry,
}

/// Returns whether a memory is over its size, by more than what people wrote in it.
pub fn is_over(memory: &Memory) -> bool {
    SECTIONS.into_iter().any(|name| is_section_over(memory, name)) || is_whole_over(memory)
}

/// Takes at most `most` old entries out of `memory` while it is over its size. What was just written or confirmed stays.
pub(crate) fn cull(
    memory: &mut Memory,
    confirmed: &HashSet<String>,
    clearance: &Clearance<'_>,
    now: Timestamp,
    most: usize,
) -> Vec<Culled> {
    let mut culled = Vec::new();
    while clearance.is_long_over && culled.len() < most {
        let is_whole_over = is_whole_over(memory);
        let over: Vec<&str> = SECTIONS.into_iter().filter(|name| is_section_over(memory, name)).collect();
        let is_candidate = |(section, entry): &(&'static str, &Entry)| {
            !is_written_by_a_person(entry)
                && !confirmed.contains(&entry.identity())
                && clearance.is_old(entry, now)
                && (is_whole_over || over.contains(section))
        };
        let first = entries(memory).filter(is_candidate).min_by_key(|(section, entry)| {
            (clearance.since(entry), !is_extracted(entry), lightness(section), entry.provenance().turn)
        });
        let Some((section, text)) = first.map(|(section, entry)| (section, entry.text().into_owned())) else {
            break;
        };
        let Some(entry) = memory.remove(section, &text) else { break };
        culled.push(Culled { section, entry });
    }
    culled
}

fn is_section_over(memory: &Memory, name: &str) -> bool {
    let distilled = entry_lines(memory, |section, entry| section == name && !is_written_by_a_person(entry));
    distilled > 0 && entry_lines(memory, |section, _| section == name) > SECTION_LINES
}

fn is_whole_over(memory: &Memory) -> bool {
    lines(memory) > TARGET_LINES
        && entry_lines(memory, |_, entry| !is_written_by_a_person(entry)) > FLOOR_LINES
}

/// Returns how many lines count: the title and the sections that distillation writes.
fn lines(memory: &Memory) -> usize {
    let all = memory.render().lines().count();
    let elsewhere: usize = memory
        .sections()
        .iter()
        .filter(|part| section(part.name()).is_none())
        .map(|part| 1 + part.blocks().iter().map(height).sum::<usize>())
        .sum();
    all.saturating_sub(elsewhere)
}

fn height(block: &Block) -> usize {
    block.raw().lines().count()
}

fn entry_lines(memory: &Memory, counts: impl Fn(&str, &Entry) -> bool) -> usize {
    entries(memory)
        .filter(|(section, entry)| counts(section, entry))
        .map(|(_, entry)| entry.raw().lines().count())
        .sum()
}

/// Returns the place of a section among those that bear the least, which go first.
fn lightness(section: &str) -> usize {
    let bearing = LOAD_BEARING.iter().position(|known| *known == section).unwrap_or(LOAD_BEARING.len());
    LOAD_BEARING.len() - bearing
}
