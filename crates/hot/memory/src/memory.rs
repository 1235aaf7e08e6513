//! `memory.md` as sections and entries, with every byte of the file in its place.
//!
//! A section begins at a line `## Name`. An entry is a bullet at the start of a line together with the lines that
//! continue it: indented ones, also after a blank line, and plain text right below it. Everything else is prose,
//! line by line; a closed block of code is one piece. Before the first section there is only prose.

use std::borrow::Cow;

use crate::identity::identity;
use crate::provenance::{self, Provenance};
use crate::section;

/// The first line of every memory.
pub(crate) const TITLE: &str = "# Wyren Memory";

/// The second line of a fresh memory.
const FRESH_COMMENT: &str = "<!-- Populated by distiller. Edit manually to seed context. -->";

/// How much of CLAUDE.md a fresh memory takes over, in UTF-16 units.
const MAX_SEED_UNITS: usize = 8_000;

/// A parsed `memory.md`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    pub(crate) preamble: Vec<Block>,
    pub(crate) sections: Vec<Section>,
}

/// A heading and the lines below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The line of the heading with its line break.
    pub(crate) heading: String,
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a section. Each holds its lines as they are in the file, line breaks included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A bullet and the lines that continue it.
    Entry(Entry),
    /// A line that is no entry, or a block of code.
    Prose(String),
    /// A line of white space.
    Blank(String),
}

/// One thing that the team remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    raw: String,
}

impl Memory {
    /// Returns the memory that `wyren init` writes: a title, and CLAUDE.md when there is one.
    pub fn fresh(claude_md: Option<&str>) -> Self {
        let mut text = format!("{TITLE}\n{FRESH_COMMENT}\n");
        if let Some(seed) = claude_md.map(str::trim).filter(|seed| !seed.is_empty()) {
            let kept = utf16_prefix(seed, MAX_SEED_UNITS);
            let comment = "<!-- One-time import on wyren init. Not kept in sync. -->";
            text.push_str(&format!("\n## {}\n\n{comment}\n\n{kept}\n", section::SEEDED));
            if kept.len() < seed.len() {
                text.push_str("<!-- truncated -->\n");
            }
        }
        Self::parse(&text)
    }

    /// Reads a memory. Every text is one.
    pub fn parse(text: &str) -> Self {
        let mut memory = Self::default();
        let mut lines = Lines::new(text);
        while let Some(line) = lines.next() {
            let content = without_break(line);
            if section_name(content).is_some() {
                memory.sections.push(Section { heading: line.to_owned(), blocks: Vec::new() });
                continue;
            }
            let in_preamble = memory.sections.is_empty();
            let blocks =
                memory.sections.last_mut().map_or(&mut memory.preamble, |section| &mut section.blocks);
            if content.trim().is_empty() {
                blocks.push(Block::Blank(line.to_owned()));
            } else if !in_preamble && continue_entry(blocks, line) {
            } else if !in_preamble && is_bullet(content) {
                blocks.push(Block::Entry(Entry { raw: line.to_owned() }));
            } else {
                let end = lines.end_of_code(line);
                blocks.push(Block::Prose(lines.take_to(line, end).to_owned()));
            }
        }
        memory
    }

    /// Returns the text of the memory: what was parsed, byte by byte, when nothing was changed.
    pub fn render(&self) -> String {
        let mut text = String::new();
        self.preamble.iter().for_each(|block| text.push_str(block.raw()));
        for section in &self.sections {
            text.push_str(&section.heading);
            section.blocks.iter().for_each(|block| text.push_str(block.raw()));
        }
        text
    }

    /// Returns the sections in the order of the file. A name may come twice.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns every entry with the name of its section, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.sections.iter().flat_map(|section| section.entries().map(|entry| (section.name(), entry)))
    }

    /// Returns whether the memory says nothing: no entry and no prose but its title and comments.
    pub fn is_blank(&self) -> bool {
        let speaks = |block: &Block| match block {
            Block::Entry(_) => true,
            Block::Prose(line) => is_spoken(line),
            Block::Blank(_) => false,
        };
        !self.preamble.iter().any(speaks)
            && !self.sections.iter().any(|section| section.blocks.iter().any(speaks))
    }

    /// Returns the line break that the file uses.
    pub(crate) fn line_break(&self) -> &'static str {
        let first = self.preamble.first().map(Block::raw);
        let first = first.or_else(|| self.sections.first().map(|section| section.heading.as_str()));
        if first.is_some_and(line_is_crlf) { "\r\n" } else { "\n" }
    }
}

impl Section {
    /// Returns the name in the heading.
    pub fn name(&self) -> &str {
        section_name(without_break(&self.heading)).unwrap_or_default()
    }

    /// Returns the blocks below the heading, in the order of the file.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the entries in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Entry(entry) => Some(entry),
            _ => None,
        })
    }
}

impl Block {
    /// Returns the lines of the block as they are in the file.
    pub fn raw(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.raw,
            Self::Prose(raw) | Self::Blank(raw) => raw,
        }
    }

    pub(crate) fn raw_mut(&mut self) -> &mut String {
        match self {
            Self::Entry(entry) => &mut entry.raw,
            Self::Prose(raw) | Self::Blank(raw) => raw,
        }
    }

    pub(crate) const fn is_blank(&self) -> bool {
        matches!(self, Self::Blank(_))
    }
}

impl Entry {
    /// Returns the entry that is written as `- text [tag]`.
    pub(crate) fn new(text: &str, provenance: &Provenance, line_break: &str) -> Self {
        // A mark that ends a block of code must be alone on its line.
        let ends_in_code = text.contains('\n') && code_mark(last_line(text)).is_some();
        let gap = match provenance.is_empty() {
            true => String::new(),
            false if ends_in_code => format!("{line_break}  "),
            false => " ".to_owned(),
        };
        Self { raw: format!("- {text}{gap}{provenance}{line_break}") }
    }

    /// Returns the entry with its last line ended.
    pub(crate) fn ended(mut self, line_break: &str) -> Self {
        if !self.raw.ends_with('\n') {
            self.raw.push_str(line_break);
        }
        self
    }

    /// Returns the lines of the entry as they are in the file.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns what the entry says: without its bullet, its tag and the white space around it.
    pub fn text(&self) -> Cow<'_, str> {
        let body = self.body();
        let (text, tag) = provenance::split(body);
        if tag.is_some() {
            return Cow::Borrowed(text);
        }
        // A tag may also end the first line of a longer entry.
        match body.split_once('\n') {
            Some((first, rest)) => match provenance::split(first) {
                (first, Some(_)) => Cow::Owned(format!("{first}\n{rest}")),
                _ => Cow::Borrowed(body),
            },
            None => Cow::Borrowed(body),
        }
    }

    /// Returns where the entry comes from, as far as it says.
    pub fn provenance(&self) -> Provenance {
        let mut provenance = self.tag().map(Provenance::parse).unwrap_or_default();
        if provenance.date.is_none() {
            provenance.date = provenance::leading_stamp(self.body()).map(str::to_owned);
        }
        provenance
    }

    /// Returns the moment of a note, or the date of an entry: what it is ordered by.
    pub(crate) fn date(&self) -> Option<&str> {
        provenance::leading_stamp(self.body()).or_else(|| provenance::date_in(self.tag()?))
    }

    fn tag(&self) -> Option<&str> {
        let body = self.body();
        provenance::split(body).1.or_else(|| provenance::split(body.split_once('\n')?.0).1)
    }

    /// Returns the text that the entry is known by.
    pub fn identity(&self) -> String {
        identity(&self.text())
    }

    /// Returns the name of the entry in lists about entries: a digest of its identity.
    pub fn key(&self) -> String {
        base::digest::short_hex(self.identity().as_bytes())
    }

    /// Returns the text and the tag without bullet and line break.
    pub(crate) fn body(&self) -> &str {
        self.raw[1..].trim()
    }
}

/// Returns whether a line of prose says something: a title or a comment does not.
pub(crate) fn is_spoken(line: &str) -> bool {
    let line = line.trim();
    let is_comment = line.starts_with("<!--") && line.ends_with("-->");
    !line.is_empty() && !is_comment && !line.eq_ignore_ascii_case(TITLE)
}

/// Returns whether the line would be read as a part of the entry above it.
pub(crate) fn continues(line: &str) -> bool {
    line.starts_with([' ', '\t']) || !begins_block(line)
}

pub(crate) fn without_break(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns the longest beginning of `text` that has at most `max` UTF-16 units.
pub(crate) fn utf16_prefix(text: &str, max: usize) -> &str {
    let mut units = 0;
    let cut = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > max
    });
    cut.map_or(text, |(at, _)| &text[..at])
}

fn line_is_crlf(lines: &str) -> bool {
    lines.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"))
}

fn section_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("##")?;
    (name.starts_with([' ', '\t']) && !name.trim().is_empty()).then(|| name.trim())
}

fn is_bullet(line: &str) -> bool {
    let text = line.strip_prefix(['-', '*', '+']);
    text.is_some_and(|text| text.starts_with([' ', '\t']) && !text.trim().is_empty())
}

/// Appends `line` to the entry that it continues, if there is one.
fn continue_entry(blocks: &mut Vec<Block>, line: &str) -> bool {
    let blanks = blocks.iter().rev().take_while(|block| block.is_blank()).count();
    let is_indented = line.starts_with([' ', '\t']);
    let above = blocks.len() - blanks;
    if above == 0 || !(is_indented || blanks == 0 && continues(line)) {
        return false;
    }
    if !matches!(blocks[above - 1], Block::Entry(_)) {
        return false;
    }
    let gap: Vec<Block> = blocks.drain(above..).collect();
    let raw = blocks[above - 1].raw_mut();
    gap.iter().for_each(|blank| raw.push_str(blank.raw()));
    raw.push_str(line);
    true
}

/// Returns whether the line begins something of its own rather than going on with the paragraph above.
fn begins_block(line: &str) -> bool {
    let is_rule = |mark| line.trim_end().len() >= 3 && line.trim_end().bytes().all(|byte| byte == mark);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    is_bullet(without_break(line))
        || line.starts_with(['#', '<', '>', '|'])
        || code_mark(line).is_some()
        || [b'-', b'*', b'_'].into_iter().any(is_rule)
        || digits > 0 && line[digits..].starts_with(['.', ')'])
}

/// Returns the last line of a text without its indentation.
fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default().trim_start()
}

/// Returns the mark that opens or closes a block of code at the start of the line.
fn code_mark(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|next| *next == mark).count();
    (length >= 3).then(|| &line[..length])
}

/// The lines of a text, with the look ahead that blocks of code need.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    /// Where the next known section begins: no block of code reaches over it, or one stray mark would hide it.
    wall: usize,
    /// Up to where it is known that marks of this kind and length have no counterpart.
    unclosed: Vec<(&'a str, usize)>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, wall: 0, unclosed: Vec::new() }
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.text[self.at..].split_inclusive('\n').next()?;
        self.at += line.len();
        Some(line)
    }

    /// Returns the lines from `first`, which was just read, to `end`, and goes on after them.
    fn take_to(&mut self, first: &str, end: usize) -> &'a str {
        let start = self.at - first.len();
        self.at = end.max(self.at);
        &self.text[start..self.at]
    }

    /// Returns where the block of code that `line` opens ends, or where `line` does.
    fn end_of_code(&mut self, line: &'a str) -> usize {
        let Some(mark) = code_mark(line) else { return self.at };
        let wall = self.next_known_section();
        if self.unclosed.iter().any(|(known, until)| *until == wall && mark.starts_with(known)) {
            return self.at;
        }
        let mut end = self.at;
        for candidate in self.text[self.at..wall].split_inclusive('\n') {
            end += candidate.len();
            let closing = candidate.trim_end();
            if closing.starts_with(mark) && code_mark(closing) == Some(closing) {
                return end;
            }
        }
        self.unclosed.push((mark, wall));
        self.at
    }

    fn next_known_section(&mut self) -> usize {
        if self.wall < self.at {
            let mut at = self.at;
            let is_wall = |line: &str| section_name(without_break(line)).and_then(section::rank).is_some();
            for line in self.text[self.at..].split_inclusive('\n') {
                if is_wall(line) {
                    break;
                }
                at += line.len();
            }
            self.wall = at;
        }
        self.wall
    }
}
