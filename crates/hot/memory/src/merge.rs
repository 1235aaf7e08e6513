//! Three-way merge by section and entry.
//!
//! A section of entries is a set with an order. With the identities *B*, *O*, *T* of base, ours and theirs the
//! merged set is (O ∩ T) ∪ (O ∖ B) ∪ (T ∖ B): what either side added stays, what either side removed goes, and
//! since an edit is a removal and an addition, it wins over a removal and stays beside another edit. Which bytes of
//! an entry are kept when only its tag or its spelling differs does not depend on which side is ours.
//!
//! The order is ours; what only theirs has comes after the entry that it follows there, and among what ours added
//! in the same place by date, else after it. Free text (unknown sections, the preamble) is merged by line.
//!
//! **Architecture invariant:** nothing is culled here, whatever the size; no conflict markers are written.

use std::collections::{HashMap, HashSet};

use crate::delta::pair;
use crate::identity::Identities;
use crate::lines;
use crate::memory::{Block, Entry, Memory, continues, without_break};
use crate::section;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The memory of both sides.
    pub memory: Memory,
    /// The entries that both sides reworded, each in its own way.
    pub both_kept: Vec<BothKept>,
}

/// An entry that both sides reworded: both versions are in the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BothKept {
    /// The name of the section.
    pub section: String,
    /// What the entry said before.
    pub base: Entry,
    /// What our side made of it.
    pub ours: Entry,
    /// What their side made of it.
    pub theirs: Entry,
}

/// Merges what `ours` and `theirs` made of `base`. An unknown base is an empty one: then nothing is removed.
pub fn merge(base: &Memory, ours: &Memory, theirs: &Memory) -> Merged {
    // Where one side changed nothing, the other one's bytes are the answer.
    if ours == theirs || base == theirs {
        return Merged { memory: ours.clone(), both_kept: Vec::new() };
    }
    if base == ours {
        return Merged { memory: theirs.clone(), both_kept: Vec::new() };
    }
    let (base, ours, theirs) = (Parts::of(base), Parts::of(ours), Parts::of(theirs));
    let mut out = Writer::new(if ours.crlf && theirs.crlf { "\r\n" } else { "\n" });
    let mut identities = Identities::default();
    let mut both_kept = Vec::new();
    out.text_part(&base.preamble, &ours.preamble, &theirs.preamble, None);
    for name in section_order(&ours, &theirs) {
        let key = section::key(name);
        let (base, ours, theirs) = (base.part(&key), ours.part(&key), theirs.part(&key));
        if section::is_of_entries(name) {
            let mut items = |blocks| items(blocks, &mut identities);
            let (base, ours, theirs) = (items(base), items(ours), items(theirs));
            note_both_kept(name, [&base, &ours, &theirs], &identities, &mut both_kept);
            out.entry_part(name, &base, &ours, &theirs);
        } else {
            out.text_part(base, ours, theirs, Some(name));
        }
    }
    Merged { memory: Memory::parse(&out.text), both_kept }
}

/// A memory with the parts of one name put together.
struct Parts<'a> {
    preamble: Vec<&'a Block>,
    names: Vec<&'a str>,
    parts: HashMap<String, Vec<&'a Block>>,
    crlf: bool,
}

impl<'a> Parts<'a> {
    fn of(memory: &'a Memory) -> Self {
        let mut parts: HashMap<String, Vec<&Block>> = HashMap::new();
        let mut names = Vec::new();
        for section in memory.sections() {
            let part = parts.entry(section::key(section.name())).or_insert_with(|| {
                names.push(section.name());
                Vec::new()
            });
            // A list that goes on further down is one list: no gap where it was torn.
            let is_list = !part.is_empty() && section::is_of_entries(section.name());
            while is_list && part.pop_if(|last| last.is_blank()).is_some() {}
            part.extend(section.blocks().iter().skip_while(|block| is_list && block.is_blank()));
        }
        Self { preamble: memory.preamble.iter().collect(), names, parts, crlf: memory.line_break() == "\r\n" }
    }

    fn part(&self, key: &str) -> &[&'a Block] {
        self.parts.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Returns the names of all sections: ours in their order; of theirs the known ones before the first that they have
/// to precede, the others after the one that they follow there.
fn section_order<'a>(ours: &Parts<'a>, theirs: &Parts<'a>) -> Vec<&'a str> {
    let keyed = |name: &&'a str| (section::key(name), section::rank(name), *name);
    let mut order: Vec<(String, Option<usize>, &str)> = ours.names.iter().map(keyed).collect();
    let mut known: HashSet<String> = order.iter().map(|(key, ..)| key.clone()).collect();
    let mut above: Option<String> = None;
    for (key, rank, name) in theirs.names.iter().map(keyed) {
        if known.insert(key.clone()) {
            let place = match (rank, &above) {
                (Some(rank), _) => {
                    order.iter().position(|(_, other, _)| other.is_some_and(|other| other > rank))
                }
                (None, Some(above)) => order.iter().position(|(other, ..)| other == above).map(|at| at + 1),
                (None, None) => Some(0),
            };
            order.insert(place.unwrap_or(order.len()), (key.clone(), rank, name));
        }
        above = Some(key);
    }
    order.into_iter().map(|(.., name)| name).collect()
}

/// What a block of a section is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// The number of an identity.
    Entry(usize),
    /// A line of prose and how often the section has had it so far.
    Prose(&'a str, usize),
}

/// A block that is not blank, and its surroundings.
#[derive(Clone, Copy)]
struct Item<'a> {
    key: Key<'a>,
    raw: &'a str,
    entry: Option<&'a Entry>,
    /// Whether a blank line was above it.
    spaced: bool,
    /// Whether an entry was above it.
    below_entry: bool,
}

impl<'a> Item<'a> {
    fn date(&self) -> Option<&'a str> {
        self.entry.and_then(Entry::date)
    }
}

/// Returns the items of a section, each identity once.
fn items<'a>(blocks: &[&'a Block], identities: &mut Identities<'a>) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = Vec::with_capacity(blocks.len());
    let mut places: HashMap<Key<'_>, usize> = HashMap::with_capacity(blocks.len());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut spaced, mut below_entry) = (false, false);
    for block in blocks {
        let raw = block.raw().trim_end();
        let (key, entry) = match *block {
            Block::Blank(_) => {
                spaced = true;
                continue;
            }
            Block::Entry(entry) => (Key::Entry(identities.number(entry)), Some(entry)),
            Block::Prose(_) => {
                let count = counts.entry(raw).or_default();
                *count += 1;
                (Key::Prose(raw, *count), None)
            }
        };
        match places.get(&key) {
            Some(&place) => {
                let twin = &mut items[place];
                if let (Some(one), Some(two)) = (twin.entry, entry) {
                    let kept = preferred(one, two);
                    (twin.raw, twin.entry) = (kept.raw().trim_end(), Some(kept));
                }
            }
            None => {
                places.insert(key, items.len());
                items.push(Item { key, raw, entry, spaced, below_entry });
            }
        }
        (spaced, below_entry) = (false, entry.is_some());
    }
    items
}

/// Returns which of two spellings of one entry is kept: the one that says more about where it comes from, then the
/// older one, then the one that sorts first. It is the same one for everybody who merges.
fn preferred<'a>(one: &'a Entry, two: &'a Entry) -> &'a Entry {
    let order = |entry: &'a Entry| {
        let provenance = entry.provenance();
        let known = [provenance.author.is_some(), provenance.session.is_some(), provenance.date.is_some()];
        let unknown = known.iter().filter(|known| !**known).count();
        (unknown, provenance.date.clone(), provenance, entry.body())
    };
    if one.body() == two.body() || order(one) <= order(two) { one } else { two }
}

/// Writes the merged text in one style: one blank line between sections.
struct Writer {
    text: String,
    line_break: &'static str,
}

impl Writer {
    const fn new(line_break: &'static str) -> Self {
        Self { text: String::new(), line_break }
    }

    fn lines(&mut self, lines: &str) {
        for line in lines.split_inclusive('\n').map(without_break) {
            self.text.push_str(line);
            self.text.push_str(self.line_break);
        }
    }

    fn heading(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push_str(self.line_break);
        }
        self.text.push_str("## ");
        self.lines(name);
    }

    fn text_part(&mut self, base: &[&Block], ours: &[&Block], theirs: &[&Block], name: Option<&str>) {
        let (base, ours, theirs) = (text_lines(base), text_lines(ours), text_lines(theirs));
        let mut merged = lines::merge(&base, &ours, &theirs);
        let is_blank = |line: &&str| line.trim().is_empty();
        let spaced = merged.first().is_some_and(is_blank) && name.is_some();
        let start = merged.iter().position(|line| !is_blank(line)).unwrap_or(merged.len());
        merged.drain(..start);
        while merged.last().is_some_and(is_blank) {
            merged.pop();
        }
        let was_empty = |lines: &[&str]| lines.iter().all(is_blank);
        if merged.is_empty() && !(name.is_some() && was_empty(&ours) && was_empty(&theirs)) {
            return;
        }
        if let Some(name) = name {
            self.heading(name);
            if spaced && !merged.is_empty() {
                self.lines("\n");
            }
        }
        merged.iter().for_each(|line| self.line(line));
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str(self.line_break);
    }

    fn entry_part(&mut self, name: &str, base: &[Item<'_>], ours: &[Item<'_>], theirs: &[Item<'_>]) {
        let merged = merge_items(base, ours, theirs, section::is_newest_first(name));
        if merged.is_empty() && !(ours.is_empty() && theirs.is_empty()) {
            return;
        }
        self.heading(name);
        let spaced = ours.first().or(theirs.first()).is_some_and(|first| first.spaced);
        let mut above: Option<&Item<'_>> = None;
        for item in &merged {
            let is_blank_above = match above {
                None => spaced,
                // A list stays as tight or as loose as it was; a new neighbour is no reason for a gap.
                Some(above) if above.entry.is_some() && item.entry.is_some() => {
                    item.spaced && item.below_entry
                }
                Some(above) if above.entry.is_some() => item.spaced || continues(item.raw),
                Some(_) => item.spaced,
            };
            if is_blank_above {
                self.lines("\n");
            }
            let is_swallowed = item.entry.is_none() && above.is_some_and(|above| above.entry.is_some());
            // Indented prose below an entry would become a part of it.
            self.lines(if is_swallowed { item.raw.trim_start() } else { item.raw });
            above = Some(item);
        }
    }
}

fn text_lines<'a>(blocks: &[&'a Block]) -> Vec<&'a str> {
    blocks.iter().flat_map(|block| block.raw().split_inclusive('\n')).map(without_break).collect()
}

fn merge_items<'a>(
    base: &[Item<'a>],
    ours: &[Item<'a>],
    theirs: &[Item<'a>],
    newest_first: bool,
) -> Vec<Item<'a>> {
    let before: HashMap<Key<'a>, &Item<'a>> = base.iter().map(|item| (item.key, item)).collect();
    let of_theirs: HashMap<Key<'a>, &Item<'a>> = theirs.iter().map(|item| (item.key, item)).collect();
    let mut places: HashMap<Key<'a>, usize> = HashMap::with_capacity(ours.len());

    // What only theirs added waits for the item of both sides that it follows there.
    places.extend(ours.iter().enumerate().map(|(at, item)| (item.key, at)));
    let mut waiting: HashMap<Option<usize>, Vec<&Item<'a>>> = HashMap::new();
    let mut anchor = None;
    for item in theirs {
        match places.get(&item.key) {
            Some(&place) => anchor = Some(place),
            None if !before.contains_key(&item.key) => waiting.entry(anchor).or_default().push(item),
            None => {}
        }
    }

    let mut merged: Vec<Item<'a>> = Vec::with_capacity(ours.len() + theirs.len());
    let mut at = 0;
    let mut anchor = None;
    loop {
        let additions = ours[at..].iter().take_while(|item| !of_theirs.contains_key(&item.key)).count();
        let added = ours[at..at + additions].iter().filter(|item| !before.contains_key(&item.key));
        interleave(added, waiting.remove(&anchor).unwrap_or_default(), newest_first, &mut merged);
        at += additions;
        let Some(item) = ours.get(at) else { return merged };
        merged.push(chosen(before.get(&item.key).copied(), item, of_theirs[&item.key]));
        anchor = Some(at);
        at += 1;
    }
}

/// Appends what the two sides added in one place: by date where both say one, else ours first.
fn interleave<'a: 'b, 'b>(
    ours: impl Iterator<Item = &'b Item<'a>>,
    theirs: Vec<&Item<'a>>,
    newest_first: bool,
    merged: &mut Vec<Item<'a>>,
) {
    let mut theirs = theirs.into_iter().map(|item| (item.date(), item)).peekable();
    for item in ours {
        if theirs.peek().is_some() {
            let date = item.date();
            let precedes = |other: &Option<&str>| match (*other, date) {
                (Some(other), Some(date)) => {
                    if newest_first {
                        other > date
                    } else {
                        other < date
                    }
                }
                _ => false,
            };
            while let Some((_, other)) = theirs.next_if(|(other, _)| precedes(other)) {
                merged.push(*other);
            }
        }
        merged.push(*item);
    }
    merged.extend(theirs.map(|(_, item)| *item));
}

/// Returns the item that both sides have: the changed spelling, or the preferred one of two.
fn chosen<'a>(base: Option<&Item<'a>>, ours: &Item<'a>, theirs: &Item<'a>) -> Item<'a> {
    let same = |one: &Item<'_>, two: &Item<'_>| one.raw.lines().eq(two.raw.lines());
    let kept = match (base, ours.entry, theirs.entry) {
        _ if same(ours, theirs) => ours,
        (Some(base), ..) if same(base, ours) => theirs,
        (Some(base), ..) if same(base, theirs) => ours,
        (_, Some(one), Some(two)) if std::ptr::eq(preferred(one, two), two) => theirs,
        _ => ours,
    };
    Item { raw: kept.raw, entry: kept.entry, ..*ours }
}

/// Collects the entries of the base that both sides reworded, for a report to the user.
fn note_both_kept(
    name: &str,
    [base, ours, theirs]: [&[Item<'_>]; 3],
    identities: &Identities<'_>,
    noted: &mut Vec<BothKept>,
) {
    let keys = |items: &[Item<'_>]| -> HashSet<usize> { numbered(items).map(|(number, _)| number).collect() };
    let (of_base, of_ours, of_theirs) = (keys(base), keys(ours), keys(theirs));
    let gone = only_in(base, [&of_ours, &of_theirs], identities);
    if gone.0.is_empty() {
        return;
    }
    let ours = only_in(ours, [&of_base, &of_theirs], identities);
    let theirs = only_in(theirs, [&of_base, &of_ours], identities);
    let (texts, gone) = gone;
    let by_theirs: HashMap<usize, usize> = pair(&texts, &theirs.0).into_iter().collect();
    let mut pairs = pair(&texts, &ours.0);
    pairs.sort_unstable();
    for (base, our) in pairs {
        if let Some(&their) = by_theirs.get(&base) {
            noted.push(BothKept {
                section: name.to_owned(),
                base: gone[base].clone(),
                ours: ours.1[our].clone(),
                theirs: theirs.1[their].clone(),
            });
        }
    }
}

/// Returns the entries that are on neither of the other sides, with their identities.
fn only_in<'a, 'i>(
    items: &[Item<'a>],
    others: [&HashSet<usize>; 2],
    identities: &'i Identities<'_>,
) -> (Vec<&'i str>, Vec<&'a Entry>) {
    let is_own = |number: &usize| others.iter().all(|other| !other.contains(number));
    let own = numbered(items).filter(|(number, _)| is_own(number));
    own.map(|(number, entry)| (identities.identity(number), entry)).unzip()
}

fn numbered<'a>(items: &[Item<'a>]) -> impl Iterator<Item = (usize, &'a Entry)> {
    items.iter().filter_map(|item| match (item.key, item.entry) {
        (Key::Entry(number), Some(entry)) => Some((number, entry)),
        _ => None,
    })
}
