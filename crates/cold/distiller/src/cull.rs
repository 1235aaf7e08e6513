//! Keeps `memory.md` a page: what goes when it is over its target, and in which order.
//!
//! What people wrote never goes. Of the rest goes first what no model confirmed, then what is oldest, then what bears
//! the least; all of it goes to the history.

use std::collections::HashSet;

use memory::section::LOAD_BEARING;
use memory::{Block, Entry, Memory};

use crate::budget::{FLOOR_LINES, SECTION_LINES, TARGET_LINES};
use crate::entry::{SECTIONS, entries, is_extracted, is_written_by_a_person, section};

/// An entry that was culled, with its section.
pub(crate) struct Culled {
    pub(crate) section: &'static str,
    pub(crate) entry: Entry,
}

/// Takes entries out of `memory` until it keeps to its caps. What was just written or confirmed stays.
pub(crate) fn cull(memory: &mut Memory, confirmed: &HashSet<String>) -> Vec<Culled> {
    let mut culled = Vec::new();
    for name in SECTIONS {
        while entry_lines(memory, |section, _| section == name) > SECTION_LINES {
            let Some(victim) = take_first(memory, confirmed, |section| section == name) else { break };
            culled.push(victim);
        }
    }
    while lines(memory) > TARGET_LINES
        && entry_lines(memory, |_, entry| !is_written_by_a_person(entry)) > FLOOR_LINES
    {
        let Some(victim) = take_first(memory, confirmed, |_| true) else { break };
        culled.push(victim);
    }
    culled
}

/// Returns how many lines count: the title and the sections that distillation writes.
pub(crate) fn lines(memory: &Memory) -> usize {
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

/// Takes out the entry that goes first.
fn take_first(
    memory: &mut Memory,
    confirmed: &HashSet<String>,
    is_candidate: impl Fn(&str) -> bool,
) -> Option<Culled> {
    let (section, text) = entries(memory)
        .filter(|(section, entry)| is_candidate(section) && !is_written_by_a_person(entry))
        .filter(|(_, entry)| !confirmed.contains(&entry.identity()))
        .map(|(section, entry)| (rank(section, entry), section, entry.text().into_owned()))
        .min()
        .map(|(_, section, text)| (section, text))?;
    let entry = memory.remove(section, &text)?;
    Some(Culled { section, entry })
}

/// Returns the place of an entry in the order of going.
fn rank(section: &str, entry: &Entry) -> (bool, String, usize, u64) {
    let provenance = entry.provenance();
    let bearing = LOAD_BEARING.iter().position(|known| *known == section).unwrap_or(LOAD_BEARING.len());
    let lightness = LOAD_BEARING.len() - bearing;
    (
        !is_extracted(entry),
        provenance.date.unwrap_or_default(),
        lightness,
        provenance.turn.unwrap_or_default(),
    )
}
