//! Changes a memory entry by entry, leaving every other byte where it was.

use text::{privacy, redact, sanitize};

use crate::identity::{identity, is_near_duplicate};
use crate::memory::{Block, Entry, Memory, Section, TITLE};
use crate::provenance::Provenance;
use crate::section;

/// The text of a handoff without a note, as in the Node version.
const NO_NOTE: &str = "(session handoff — no note)";

/// What became of an entry that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is in the memory now.
    New,
    /// The section has it already; nothing changed.
    Duplicate,
    /// The section has one that says the same in other words; nothing changed. Replace that one, or add the
    /// text as a distinct entry.
    Similar(Entry),
    /// There was nothing to add.
    Blank,
}

impl Memory {
    /// Adds an entry at the end of its section, with its lines, unless the section has it or one that says the same.
    pub fn add(&mut self, name: &str, text: &str, provenance: &Provenance) -> Added {
        let line = one_line(text);
        let similar = self.of_section(name).find(|entry| is_near_duplicate(&entry.text(), &line)).cloned();
        match similar {
            Some(entry) if entry.identity() != identity(&line) => Added::Similar(entry),
            _ => self.add_anyway(name, text, provenance),
        }
    }

    /// Adds an entry at the end of its section, with its lines, unless the section has it in the same words.
    pub fn add_anyway(&mut self, name: &str, text: &str, provenance: &Provenance) -> Added {
        self.add_cleaned(name, in_lines(text, self.line_break()), provenance)
    }

    /// Adds an entry on one line at the end of its section, unless the section has it in the same words.
    pub fn add_distinct(&mut self, name: &str, text: &str, provenance: &Provenance) -> Added {
        self.add_cleaned(name, one_line(text), provenance)
    }

    fn add_cleaned(&mut self, name: &str, text: String, provenance: &Provenance) -> Added {
        if text.is_empty() || name.trim().is_empty() {
            return Added::Blank;
        }
        if self.find(name, &text).is_some() {
            return Added::Duplicate;
        }
        let entry = Entry::new(&text, provenance, self.line_break());
        self.append_entry(name, entry);
        Added::New
    }

    /// Puts `new` in the place of the entry that says `old`. Returns the entry that left, if there was one.
    pub fn replace(&mut self, name: &str, old: &str, new: &str, provenance: &Provenance) -> Option<Entry> {
        let text = one_line(new);
        if text.is_empty() {
            return None;
        }
        let (at, block) = self.find(name, old)?;
        let replacement = Entry::new(&text, provenance, self.line_break());
        let place = &mut self.sections[at].blocks[block];
        let Block::Entry(before) = std::mem::replace(place, Block::Entry(replacement)) else { return None };
        Some(before)
    }

    /// Removes the entry that says `text`. A section without anything left goes with it.
    pub fn remove(&mut self, name: &str, text: &str) -> Option<Entry> {
        let (at, block) = self.find(name, text)?;
        let Block::Entry(removed) = self.sections[at].blocks.remove(block) else { return None };
        if self.sections[at].blocks.iter().all(Block::is_blank) {
            self.sections.remove(at);
        }
        Some(removed)
    }

    /// Puts a note on top of the handoff notes, with its lines; an empty one says that there was a handoff.
    pub fn add_handoff_note(&mut self, note: &str, iso_time: &str, author: Option<&str>) {
        let note = in_lines(note, self.line_break());
        let note = if note.is_empty() { NO_NOTE } else { &note };
        let provenance = Provenance::of_author(author.unwrap_or_default(), iso_time);
        // The stamp in front has the date already; a tag without an author would only repeat it.
        let tag = if provenance.author.is_some() { provenance } else { Provenance::default() };
        let entry = Entry::new(&format!("[{iso_time}] {note}"), &tag, self.line_break());
        self.end_last_line();
        let section = self.section_mut(section::HANDOFF);
        let is_entry = |block: &Block| matches!(block, Block::Entry(_));
        let top = section.blocks.iter().position(is_entry).unwrap_or_else(|| section.end_of_content());
        section.blocks.insert(top, Block::Entry(entry));
    }

    /// Returns whether the section holds an entry that says `text`.
    pub fn contains(&self, name: &str, text: &str) -> bool {
        self.find(name, text).is_some()
    }

    pub(crate) fn append_entry(&mut self, name: &str, entry: Entry) {
        self.end_last_line();
        let entry = entry.ended(self.line_break());
        let section = self.section_mut(name);
        let end = section.end_of_content();
        section.blocks.insert(end, Block::Entry(entry));
    }

    /// Returns the section of that name; a new one is put where its order wants it.
    pub(crate) fn section_mut(&mut self, name: &str) -> &mut Section {
        let key = section::key(name);
        let known = self.sections.iter().position(|section| section::key(section.name()) == key);
        let at = known.unwrap_or_else(|| self.new_section(name));
        &mut self.sections[at]
    }

    fn new_section(&mut self, name: &str) -> usize {
        self.end_last_line();
        let line_break = self.line_break();
        if self.preamble.is_empty() && self.sections.is_empty() {
            self.preamble.push(Block::Prose(format!("{TITLE}{line_break}")));
        }
        let at = self.place_of(name);
        let blank = || Block::Blank(line_break.to_owned());
        let above = if at == 0 { &mut self.preamble } else { &mut self.sections[at - 1].blocks };
        if !above.last().is_some_and(Block::is_blank) {
            above.push(blank());
        }
        let mut blocks = vec![blank()];
        if at < self.sections.len() {
            blocks.push(blank());
        }
        self.sections.insert(at, Section { heading: format!("## {name}{line_break}"), blocks });
        at
    }

    /// Returns where a section that is not there yet belongs.
    fn place_of(&self, name: &str) -> usize {
        let rank = section::rank(name);
        let follows = |section: &Section| match (rank, section::rank(section.name())) {
            (Some(rank), Some(other)) => other > rank,
            // Handoff notes come first, then the other known sections, then unknown ones.
            (Some(0), None) => true,
            _ => false,
        };
        self.sections.iter().position(follows).unwrap_or(self.sections.len())
    }

    /// Ends the last line of the file, so that something can follow it.
    pub(crate) fn end_last_line(&mut self) {
        let line_break = self.line_break();
        let last = match self.sections.last_mut() {
            Some(section) => section.blocks.last_mut().map_or(&mut section.heading, Block::raw_mut),
            None => match self.preamble.last_mut() {
                Some(block) => block.raw_mut(),
                None => return,
            },
        };
        if !last.ends_with('\n') {
            last.push_str(line_break);
        }
    }

    fn of_section(&self, name: &str) -> impl Iterator<Item = &Entry> {
        let key = section::key(name);
        let of_name = self.sections.iter().filter(move |section| section::key(section.name()) == key);
        of_name.flat_map(Section::entries)
    }

    fn find(&self, name: &str, text: &str) -> Option<(usize, usize)> {
        let key = section::key(name);
        let wanted = identity(&Entry::new(text, &Provenance::default(), "").text());
        self.sections.iter().enumerate().filter(|(_, section)| section::key(section.name()) == key).find_map(
            |(at, section)| {
                let is_wanted = |block: &Block| match block {
                    Block::Entry(entry) => entry.identity() == wanted,
                    _ => false,
                };
                section.blocks.iter().position(is_wanted).map(|block| (at, block))
            },
        )
    }
}

impl Section {
    /// Returns the place behind the last block that is not blank.
    fn end_of_content(&self) -> usize {
        match self.blocks.iter().rposition(|block| !block.is_blank()) {
            Some(last) => last + 1,
            None => self.blocks.len().min(1),
        }
    }
}

/// Returns the text as an entry holds it: on one line, without what is private, secrets and invisible characters.
fn one_line(text: &str) -> String {
    // First, since a tag that was made harmless is not known for one any more.
    let public = privacy::strip_private(text);
    sanitize::one_line(&redact::redact(&public), usize::MAX)
}

/// Returns the text as an entry of several lines holds it: without what is private, secrets and invisible characters, each
/// line after the first indented, which makes it a part of the entry whatever it begins with.
fn in_lines(text: &str, line_break: &str) -> String {
    let public = privacy::strip_private(text);
    let redacted = redact::redact(&public);
    let visible = sanitize::sanitize(&redacted);
    let lines = || visible.trim().lines();
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    // Of an entry that was in a memory before: it must not move to the right each time.
    let common = lines().skip(1).filter(|line| !line.trim().is_empty()).map(indentation).min().unwrap_or(0);
    let mut entry = String::new();
    let mut is_after_blank = false;
    for line in lines() {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            is_after_blank = true;
            continue;
        }
        if !entry.is_empty() {
            entry.push_str(if is_after_blank { line_break } else { "" });
            entry.push_str(line_break);
            entry.push_str("  ");
            entry.extend(std::iter::repeat_n(' ', indentation(line).saturating_sub(common)));
        }
        entry.push_str(&words);
        is_after_blank = false;
    }
    entry
}
