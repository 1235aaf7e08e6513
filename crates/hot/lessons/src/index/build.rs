//! Making an index from lessons.

use super::layout::{
    BITMAP_BYTES, BITMAPS, Domain, Fingerprint, GRAM_BYTES, HEADER_BYTES, Header, POSTING_BYTES, SLOT_BYTES,
    STRIDE, bit, bitmap, fold, gram_key, key,
};
use super::literals;
use super::record;
use crate::condition::Targets;
use crate::lesson::Lesson;
use crate::path_glob;
use crate::pattern::{CommandPattern, Text};
use std::collections::BTreeMap;

/// A lesson that is verified with every call of its tool, since nothing in its patterns can be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unindexed {
    /// The lesson.
    pub slug: String,
    /// The pattern that cannot be looked up.
    pub pattern: String,
}

/// Where a lesson is filed.
enum Filing {
    Key(u64),
    Gram { key: u64, domain: Domain, gram: u32, literal: Vec<u8>, at: usize },
}

/// How much of a literal is looked up, in bytes: more would tell hardly more, and cost its length in each place.
const MAX_LITERAL: usize = 64;

/// The tools that a lesson without tools is filed under.
pub(super) const ANY_TOOL: &str = "*";

/// What a lesson is filed under whose expressions over SQL have no text to look up.
pub(super) const ANY_STATEMENT: &str = "*";

/// What a lesson is filed under that names the target of a redirection by a pattern.
pub(super) const ANY_FILE: &str = "*";

/// Makes an index of the lessons that are about calls and not switched off.
pub fn build(lessons: &[Lesson], fingerprint: Fingerprint) -> (Vec<u8>, Vec<Unindexed>) {
    let mut unindexed = Vec::new();
    let mut postings: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut bitmaps = vec![0_u8; BITMAPS * BITMAP_BYTES];
    let mut literal_heap = Vec::new();
    let (mut records, mut places) = (Vec::new(), Vec::new());
    let active = lessons.iter().filter(|lesson| !lesson.is_disabled);
    for (number, lesson) in active.enumerate() {
        places.push(records.len());
        records.extend(record::write(lesson));
        let mut filings = if lesson.kind.is_about_calls() {
            file(lesson, &mut unindexed)
        } else {
            vec![Filing::Key(key(Domain::Start, lesson.kind.name()))]
        };
        filings.sort_by(|one, other| one.order().cmp(&other.order()));
        filings.dedup_by(|one, other| one.order() == other.order());
        for filing in filings {
            let posting = postings.entry(filing.key()).or_default();
            posting.extend(as_u32(number).to_le_bytes());
            posting.extend(as_u32(literal_heap.len()).to_le_bytes());
            let (literal, at) = match &filing {
                Filing::Gram { domain, gram, literal, at, .. } => {
                    let (byte, mask) = bit(*gram);
                    bitmaps[bitmap(*domain) * BITMAP_BYTES + byte] |= mask;
                    (&literal[..], *at)
                }
                Filing::Key(_) => (&[][..], 0),
            };
            posting.extend((literal.len() as u16).to_le_bytes());
            posting.extend((at as u16).to_le_bytes());
            literal_heap.extend(literal);
        }
    }
    (lay_out(&places, &records, &postings, &bitmaps, &literal_heap, fingerprint), unindexed)
}

fn lay_out(
    places: &[usize],
    records: &[u8],
    postings: &BTreeMap<u64, Vec<u8>>,
    bitmaps: &[u8],
    literals: &[u8],
    fingerprint: Fingerprint,
) -> Vec<u8> {
    // Half of the slots stay empty, so that a search ends soon.
    let slots = (postings.len() * 2).next_power_of_two().max(16);
    let slots_at = HEADER_BYTES + BITMAPS * BITMAP_BYTES;
    let postings_at = slots_at + slots * SLOT_BYTES;
    let all: Vec<u8> = postings.values().flatten().copied().collect();
    let records_at = postings_at + all.len();
    let first_record = records_at + 4 * places.len();
    let literals_at = first_record + records.len();
    let file_bytes = literals_at + literals.len();

    let header = Header {
        file_bytes: as_u32(file_bytes),
        lessons: as_u32(places.len()),
        slots: as_u32(slots),
        slots_at: as_u32(slots_at),
        postings_at: as_u32(postings_at),
        postings: as_u32(all.len() / POSTING_BYTES),
        records_at: as_u32(records_at),
        literals_at: as_u32(literals_at),
        filled_bitmaps: filled(bitmaps),
        fingerprint,
    };
    let mut table = vec![0_u8; slots * SLOT_BYTES];
    let mut first = 0;
    for (key, entries) in postings {
        let count = entries.len() / POSTING_BYTES;
        let mut slot = (*key as usize) & (slots - 1);
        while table[slot * SLOT_BYTES..slot * SLOT_BYTES + 8] != [0; 8] {
            slot = (slot + 1) & (slots - 1);
        }
        let place = &mut table[slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES];
        place[..8].copy_from_slice(&key.to_le_bytes());
        place[8..12].copy_from_slice(&as_u32(first).to_le_bytes());
        place[12..].copy_from_slice(&as_u32(count).to_le_bytes());
        first += count;
    }
    let mut file = Vec::with_capacity(file_bytes);
    file.extend(header.write());
    file.extend(bitmaps);
    file.extend(table);
    file.extend(all);
    places.iter().for_each(|place| file.extend(as_u32(first_record + place).to_le_bytes()));
    file.extend(records);
    file.extend(literals);
    file
}

/// Returns a bit for each bitmap that has one.
fn filled(bitmaps: &[u8]) -> u32 {
    let is_filled = |bitmap: &[u8]| bitmap.iter().any(|byte| *byte != 0);
    let all = bitmaps.chunks(BITMAP_BYTES).enumerate();
    all.filter(|(_, bitmap)| is_filled(bitmap)).fold(0, |filled, (place, _)| filled | 1 << place)
}

fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Filing {
    fn key(&self) -> u64 {
        match self {
            Self::Key(key) | Self::Gram { key, .. } => *key,
        }
    }

    fn at(&self) -> usize {
        match self {
            Self::Key(_) => 0,
            Self::Gram { at, .. } => *at,
        }
    }

    fn order(&self) -> (u64, &[u8], usize) {
        (self.key(), self.literal(), self.at())
    }

    fn literal(&self) -> &[u8] {
        match self {
            Self::Key(_) => &[],
            Self::Gram { literal, .. } => literal,
        }
    }
}

/// Returns where a lesson is filed: for calls of a shell and for others, each under the most telling of its fields.
fn file(lesson: &Lesson, unindexed: &mut Vec<Unindexed>) -> Vec<Filing> {
    let trigger = &lesson.trigger;
    if trigger.is_tool_only() {
        return file_under_tools(&trigger.tools);
    }
    let mut filings = Vec::new();
    let mut note = |pattern: &str| {
        unindexed.push(Unindexed { slug: lesson.slug.clone(), pattern: pattern.to_owned() });
    };
    if trigger.is_about_shell() {
        let shell_fields = [&trigger.matches, &trigger.raw];
        let found = file_commands(&trigger.commands)
            .or_else(|| file_sql(&trigger.sql))
            .or_else(|| file_writes(&trigger.writes))
            .or_else(|| shell_fields.iter().find_map(|field| file_expressions(field, Domain::Shell)));
        filings.extend(found.unwrap_or_else(|| {
            note(first(&[&trigger.commands, &trigger.matches, &trigger.raw]));
            vec![Filing::Key(key(Domain::Tool, "Bash"))]
        }));
    }
    let expressions: Vec<String> = trigger.inputs.iter().map(|(_, expression)| expression.clone()).collect();
    if !(trigger.paths.is_empty() && trigger.content.is_empty() && expressions.is_empty()) {
        let found = file_expressions(&trigger.content, Domain::Content)
            .or_else(|| file_paths(&trigger.paths))
            .or_else(|| file_expressions(&expressions, Domain::Field));
        filings.extend(found.unwrap_or_else(|| {
            note(first(&[&trigger.content, &trigger.paths, &expressions]));
            file_under_tools(&trigger.tools)
        }));
    }
    filings
}

fn first<'a>(fields: &[&'a Vec<String>]) -> &'a str {
    fields.iter().find_map(|field| field.first()).map_or("", String::as_str)
}

fn file_under_tools(tools: &[String]) -> Vec<Filing> {
    if tools.is_empty() {
        return vec![Filing::Key(key(Domain::Tool, ANY_TOOL))];
    }
    // A tool may be named by a pattern (`mcp__*`), which cannot be looked up.
    let under = |tool: &String| {
        let name = match tool.as_str() {
            "Task" => "Agent",
            name if name.contains('*') => ANY_TOOL,
            name => name,
        };
        Filing::Key(key(Domain::Tool, name))
    };
    tools.iter().map(under).collect()
}

fn file_commands(patterns: &[String]) -> Option<Vec<Filing>> {
    let mut filings = Vec::new();
    for pattern in patterns {
        // A pattern that cannot be read never fits, so it need not be found.
        let Ok(pattern) = CommandPattern::parse(pattern) else { continue };
        filings.extend(pattern.beginnings()?.iter().map(|words| Filing::Key(key(Domain::Program, words))));
    }
    (!filings.is_empty()).then_some(filings)
}

/// Statements are few, so those without a text that can be looked up are found with each of them.
fn file_sql(expressions: &[String]) -> Option<Vec<Filing>> {
    let under_any = || vec![Filing::Key(key(Domain::Sql, ANY_STATEMENT))];
    let is_given = !expressions.is_empty();
    is_given.then(|| file_expressions(expressions, Domain::Sql).unwrap_or_else(under_any))
}

fn file_writes(writes: &[String]) -> Option<Vec<Filing>> {
    let under = |target: &Text| {
        let name = match target.class() {
            Some(class) => class.name(),
            None => target.fixed().unwrap_or(ANY_FILE),
        };
        Filing::Key(key(Domain::Writes, name))
    };
    let targets: Vec<Targets> = writes.iter().filter_map(|targets| Targets::parse(targets).ok()).collect();
    let filings = || targets.iter().flat_map(Targets::alternatives).map(under).collect();
    (!writes.is_empty()).then(filings)
}

fn file_paths(globs: &[String]) -> Option<Vec<Filing>> {
    let mut filings = Vec::new();
    for glob in globs.iter().flat_map(|glob| path_glob::expand(glob)) {
        let name = glob.rsplit('/').next().unwrap_or(&glob);
        let is_literal = |text: &str| !text.is_empty() && !text.contains(['*', '?', '[']);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(|ending| is_literal(ending));
        if is_literal(name) {
            filings.push(Filing::Key(key(Domain::FileName, name)));
        } else if let Some(ending) = ending {
            filings.push(Filing::Key(key(Domain::Ending, ending)));
        } else {
            filings.extend(grams(longest_literal(&glob).to_ascii_lowercase().as_bytes(), Domain::Field)?);
        }
    }
    (!filings.is_empty()).then_some(filings)
}

/// Returns the longest text that every path that fits a glob contains. Slashes at its ends do not count: `**` may stand
/// for no folder at all.
fn longest_literal(glob: &str) -> &str {
    let mut longest = "";
    let mut rest = glob.trim_start_matches("./");
    while !rest.is_empty() {
        let end = rest.find(['*', '?', '[']).unwrap_or(rest.len());
        let part = rest[..end].trim_matches('/');
        if part.len() > longest.len() {
            longest = part;
        }
        let wildcard = if rest[end..].starts_with('[') { rest[end..].find(']').unwrap_or(0) } else { 0 };
        rest = rest.get(end + wildcard + 1..).unwrap_or_default();
    }
    longest
}

fn file_expressions(expressions: &[String], domain: Domain) -> Option<Vec<Filing>> {
    let mut filings = Vec::new();
    for expression in expressions {
        for literal in literals::required(expression)? {
            filings.extend(grams(&literal, domain)?);
        }
    }
    (!filings.is_empty()).then_some(filings)
}

/// Files a literal under those of its bytes that are least likely to be met by chance.
fn grams(literal: &[u8], domain: Domain) -> Option<[Filing; STRIDE]> {
    let literal = if domain == Domain::Content { plain_part(literal) } else { literal };
    let literal = &literal[..literal.len().min(MAX_LITERAL)];
    const WINDOW: usize = GRAM_BYTES + STRIDE - 1;
    let at = (0..literal.len().checked_sub(WINDOW - 1)?)
        .min_by_key(|at| literal[*at..at + WINDOW].iter().map(|byte| commonness(*byte)).sum::<u32>())?;
    Some(std::array::from_fn(|offset| {
        let at = at + offset;
        let gram = fold(std::array::from_fn(|byte| literal[at + byte]));
        Filing::Gram { key: gram_key(domain, gram), domain, gram, literal: literal.to_vec(), at }
    }))
}

/// Returns the longest part that JSON writes as it is: a large text is looked through as it comes.
fn plain_part(literal: &[u8]) -> &[u8] {
    let is_escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | b'/') || !(b' '..=b'~').contains(byte);
    literal.split(is_escaped).max_by_key(|part| part.len()).unwrap_or_default()
}

/// Says how common a byte is in code and commands; only the order matters.
fn commonness(byte: u8) -> u32 {
    const COMMON_FIRST: &[u8] = b" etaoinsrlcdpumfhg-./_bvyk=wx\"'(){}:;,0123456789jqz";
    let place = COMMON_FIRST.iter().position(|common| *common == byte);
    place.map_or(1, |place| as_u32(COMMON_FIRST.len() - place).pow(2))
}
