//! Joins the lines of a file with the edits that added them: pure, by text.
//!
//! A line that says something belongs to the edit that added the same text, with other spaces perhaps; of several edits, to
//! the one whose neighbouring lines agree best with those in the file, then to the latest. A bracket or a blank line says
//! nothing by itself: its neighbours have to agree. What a formatter broke into several lines, or joined, is found as a piece
//! of the text that was added. Lines that an edit moved or indented stay with the edit that wrote them.

use super::line::{Key, compact};
use super::patch::{Edit, Part};
use std::collections::{HashMap, HashSet};

/// How much neighbouring lines have to agree before a line that says nothing by itself counts, as [`Key::weight`] measures.
const ENOUGH: u32 = 4;
/// How many neighbours on each side are compared.
const NEIGHBOURS: usize = 6;
/// How much agreement on one side makes a later difference unimportant.
const FIRM: u32 = 8;
/// The most edits that are considered for one line: the latest.
const MOST_CANDIDATES: usize = 200;
/// How much later than its commit an edit may be, in milliseconds: clocks differ.
const CLOCK_SLACK: u64 = 60_000;
/// The shortest piece of a reformatted text that is known by itself, and the shortest with a neighbour, in bytes without
/// spaces.
const PIECE: usize = 16;
const PIECE_WITH_NEIGHBOUR: usize = 8;
/// The most text that is searched for pieces, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// A line of the file as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    pub text: &'a str,
    /// When the commit that git names for it was made, in milliseconds since 1970: an edit that is later did not write it.
    pub committed_at: Option<u64>,
    /// Tells the commits apart.
    pub commit: Option<usize>,
}

/// The edit that a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its place in the list of edits.
    pub edit: usize,
    pub how: How,
}

/// How a line was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The edit added this line.
    Same,
    /// A formatter broke or joined what the edit added.
    Reformatted,
    /// It is in the middle of a text that was too long to be recorded whole.
    Between,
}

/// Returns the edit that each line of a file is from; `None` for lines that no recorded edit added. `edits` are in the order
/// in which they were made.
pub fn attribute(edits: &[Edit], present: &[Present<'_>]) -> Vec<Option<Origin>> {
    let file = File::of(present);
    let log = Log::of(edits);
    let mut found = Found { file: &file, log: &log, present, edits, places: vec![None; present.len()] };
    found.by_text();
    found.blank_lines();
    found.reformatted();
    found.between();
    found.blank_lines();
    let origin = |(place, how): (usize, How)| Origin { edit: log.lines[place].edit, how };
    found.places.into_iter().map(|place| place.map(origin)).collect()
}

/// The present lines as they are compared, with a place before the first and behind the last.
struct File {
    keys: Vec<Key>,
    /// How often each text is there.
    counts: HashMap<u64, u32>,
}

impl File {
    fn of(present: &[Present<'_>]) -> Self {
        let keys: Vec<Key> = present.iter().map(|line| Key::of(line.text)).collect();
        let mut counts = HashMap::new();
        for key in &keys {
            *counts.entry(key.hash).or_default() += 1;
        }
        Self { keys, counts }
    }
}

/// A line of the new text of an edit.
struct Line<'a> {
    edit: usize,
    key: Key,
    text: &'a str,
    kind: LineKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Kept,
    Added,
    Gap,
    /// Between two hunks: equals no line.
    Edge,
}

impl Line<'_> {
    fn edge(edit: usize) -> Self {
        Line { edit, key: Key { hash: u64::MAX, words: 0 }, text: "", kind: LineKind::Edge }
    }
}

/// The new text of all edits, in order. It is a replay as far as recorded text goes: a line that an edit kept is joined with
/// the earlier edit that added it, by the neighbours that it had then.
struct Log<'a> {
    lines: Vec<Line<'a>>,
    /// The line that each line was added as; `None` for one that was kept and that no recorded edit added.
    origins: Vec<Option<usize>>,
    /// Where each text is.
    places: HashMap<u64, Vec<usize>>,
    /// Added lines that a later edit took out.
    removed: HashSet<usize>,
}

/// The texts that each turn both took out and added.
type Moved = HashSet<((i64, u64), u64)>;

impl<'a> Log<'a> {
    fn of(edits: &'a [Edit]) -> Self {
        let mut log =
            Self { lines: Vec::new(), origins: Vec::new(), places: HashMap::new(), removed: HashSet::new() };
        let moved = moved(edits);
        for (number, edit) in edits.iter().enumerate() {
            let start = log.lines.len();
            for hunk in &edit.hunks {
                log.push(Line::edge(number), None);
                log.add(number, edit, hunk, &moved);
            }
            // Only now: the lines of an edit are compared with those of earlier ones.
            for (place, line) in log.lines.iter().enumerate().skip(start) {
                if !line.key.is_blank() && !matches!(line.kind, LineKind::Edge | LineKind::Gap) {
                    log.places.entry(line.key.hash).or_default().push(place);
                }
            }
        }
        log.push(Line::edge(edits.len()), None);
        log
    }

    fn push(&mut self, line: Line<'a>, origin: Option<usize>) {
        self.lines.push(line);
        self.origins.push(origin);
    }

    fn add(&mut self, number: usize, edit: &Edit, hunk: &'a [Part], moved: &Moved) {
        let before = hunk.iter().filter_map(|part| match part {
            Part::Kept(text) | Part::Removed(text) => Some(Key::of(text)),
            Part::Added(_) | Part::Gap => None,
        });
        let before: Vec<Key> = before.collect();
        let mut old = 0;
        for part in hunk {
            let (kind, text) = match part {
                Part::Kept(text) => (LineKind::Kept, text.as_str()),
                Part::Added(text) => (LineKind::Added, text.as_str()),
                Part::Gap => (LineKind::Gap, ""),
                Part::Removed(_) => {
                    let is_moved = moved.contains(&(edit.turn, before[old].hash));
                    let origin = self.best(&before, old, |_| true).and_then(|place| self.origins[place]);
                    self.removed.extend(origin.filter(|_| !is_moved));
                    old += 1;
                    continue;
                }
            };
            let key = if kind == LineKind::Gap { Line::edge(number).key } else { Key::of(text) };
            let here = self.lines.len();
            let origin = match kind {
                LineKind::Kept => self.best(&before, old, |_| true).and_then(|place| self.origins[place]),
                LineKind::Added => self.moved_from(edit, key, moved).or(Some(here)),
                _ => Some(here),
            };
            old += usize::from(kind == LineKind::Kept);
            self.push(Line { edit: number, key, text, kind }, origin);
        }
    }

    /// Returns the line that an added line was before the turn moved it.
    fn moved_from(&self, edit: &Edit, key: Key, moved: &Moved) -> Option<usize> {
        if moved.contains(&(edit.turn, key.hash)) {
            let place =
                self.places.get(&key.hash)?.iter().rev().find(|place| self.origins[**place].is_some())?;
            return self.origins[*place];
        }
        if key.is_telling() {
            return None;
        }
        // A bracket or a blank line goes with the line above it, where that had one below.
        let above = self.origins.last().copied().flatten().filter(|above| *above + 1 < self.lines.len())?;
        let is_moved =
            self.lines[above].edit < self.lines.last()?.edit && self.lines.last()?.kind == LineKind::Added;
        let below = &self.lines[above + 1];
        (is_moved && below.kind == LineKind::Added && below.key.hash == key.hash).then_some(above + 1)
    }

    /// Returns the line that `keys[at]` is, of those whose origin is allowed: the one whose neighbours agree best, then the
    /// latest.
    fn best(&self, keys: &[Key], at: usize, allows: impl Fn(usize) -> bool) -> Option<usize> {
        let candidates = self.places.get(&keys[at].hash)?;
        let is_allowed = |place: &&usize| self.origins[**place].is_none_or(&allows);
        let ranked = candidates.iter().rev().filter(is_allowed).take(MOST_CANDIDATES).filter_map(|place| {
            let agreement = self.agreement(keys, at, *place);
            if agreement.up + agreement.down < ENOUGH && !keys[at].is_telling() {
                return None;
            }
            let origin = self.origins[*place];
            let is_gone = origin.is_some_and(|origin| self.removed.contains(&origin));
            let is_vague = origin.is_none() && !keys[at].is_telling();
            let doubt = agreement.differences + u32::from(is_gone) + u32::from(is_vague);
            let weight = agreement.up.min(FIRM) + agreement.down.min(FIRM);
            Some(((u32::MAX - doubt, weight, self.lines[*place].edit), *place))
        });
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, place)| place)
    }

    /// Compares the neighbours of `keys[at]` with those of a line of an edit.
    fn agreement(&self, keys: &[Key], at: usize, place: usize) -> Agreement {
        let (up, differs_above) = self.side(keys, at, place, -1);
        let (down, differs_below) = self.side(keys, at, place, 1);
        let is_firm = |weight: u32, differs: bool| !differs || weight >= FIRM;
        let differences = u32::from(!is_firm(up, differs_above)) + u32::from(!is_firm(down, differs_below));
        Agreement { up, down, differences }
    }

    /// Returns how much the neighbours on one side agree, and whether one of those compared differs. Blank lines are passed
    /// over.
    fn side(&self, keys: &[Key], at: usize, place: usize, step: isize) -> (u32, bool) {
        let mut weight = 0;
        let (mut at, mut place) = (at as isize, place as isize);
        for _ in 0..NEIGHBOURS {
            let next = loop {
                at += step;
                match usize::try_from(at).ok().and_then(|at| keys.get(at)) {
                    Some(key) if key.is_blank() => {}
                    next => break next,
                }
            };
            let other = loop {
                place += step;
                match usize::try_from(place).ok().and_then(|place| self.lines.get(place)) {
                    Some(line) if line.key.is_blank() => {}
                    other => break other,
                }
            };
            let is_end = other.is_none_or(|line| matches!(line.kind, LineKind::Edge | LineKind::Gap));
            match (next, other) {
                _ if is_end => return (weight, false),
                (Some(key), Some(line)) if key.hash == line.key.hash => weight += key.weight(),
                _ => return (weight, true),
            }
        }
        (weight, false)
    }
}

/// How well the neighbours of two lines agree.
struct Agreement {
    up: u32,
    down: u32,
    /// How many sides differ.
    differences: u32,
}

/// Returns the texts that each turn both took out and added.
fn moved(edits: &[Edit]) -> Moved {
    let (mut added, mut removed) = (HashSet::new(), HashSet::new());
    for edit in edits {
        for part in edit.hunks.iter().flatten() {
            let (set, text) = match part {
                Part::Added(text) => (&mut added, text),
                Part::Removed(text) => (&mut removed, text),
                Part::Kept(_) | Part::Gap => continue,
            };
            let key = Key::of(text);
            if key.is_telling() {
                set.insert((edit.turn, key.hash));
            }
        }
    }
    added.intersection(&removed).copied().collect()
}

/// What is found out, line by line.
struct Found<'a> {
    file: &'a File,
    log: &'a Log<'a>,
    present: &'a [Present<'a>],
    edits: &'a [Edit],
    /// The line of the log that each present line is.
    places: Vec<Option<(usize, How)>>,
}

impl Found<'_> {
    fn by_text(&mut self) {
        for at in 0..self.present.len() {
            let allows = |origin: usize| self.is_in_time(at, self.log.lines[origin].edit);
            let place = self.log.best(&self.file.keys, at, allows).and_then(|place| self.log.origins[place]);
            self.places[at] = place.map(|place| (place, How::Same));
        }
    }

    /// Returns whether the edit was made before the commit that has the line.
    fn is_in_time(&self, at: usize, edit: usize) -> bool {
        self.present[at].committed_at.is_none_or(|committed| self.edits[edit].at <= committed + CLOCK_SLACK)
    }

    /// A blank line is from the edit of a neighbour that has a blank line there, too, or is inside of what was recognised
    /// otherwise.
    fn blank_lines(&mut self) {
        for at in 0..self.present.len() {
            if !self.file.keys[at].is_blank() || self.places[at].is_some() {
                continue;
            }
            let above = at.checked_sub(1).and_then(|at| self.places[at]);
            let below = self.places.get(at + 1).copied().flatten();
            let added = |neighbour: Option<(usize, How)>, step: isize| {
                let place = neighbour?.0.checked_add_signed(step)?;
                let line = self.log.lines.get(place)?;
                let is_it =
                    line.kind == LineKind::Added && line.key.is_blank() && self.is_in_time(at, line.edit);
                is_it.then_some((place, How::Same))
            };
            let inside = above.zip(below).and_then(|((above, how), (below, _))| {
                let is_one = self.log.lines[above].edit == self.log.lines[below].edit;
                (is_one && how != How::Same).then_some((above, how))
            });
            self.places[at] = added(above, 1).or_else(|| added(below, -1)).or(inside);
        }
    }

    /// Finds lines that a formatter broke or joined.
    fn reformatted(&mut self) {
        let is_open = |at: usize| self.places[at].is_none() && !self.file.keys[at].is_blank();
        if !(0..self.present.len()).any(is_open) {
            return;
        }
        let text = Lost::of(self.log, self.file);
        let pieces: Vec<String> = self.present.iter().map(|line| compact(line.text)).collect();
        let mut at = 0;
        while at < self.present.len() {
            let run = self.open_run(at, &pieces, &text);
            let Some((from, to, place)) = run else {
                at += 1;
                continue;
            };
            for line in from..=to {
                if self.places[line].is_none() {
                    self.places[line] = Some((place, How::Reformatted));
                }
            }
            at = to + 1;
        }
    }

    /// Returns the lines around `at` that are consecutive pieces of what an edit added.
    fn open_run(&self, at: usize, pieces: &[String], text: &Lost) -> Option<(usize, usize, usize)> {
        let piece = &pieces[at];
        if self.places[at].is_some() || piece.len() < PIECE_WITH_NEIGHBOUR {
            return None;
        }
        let is_free = |line: usize| self.places[line].is_none() || !self.file.keys[line].is_telling();
        for start in text.find(piece).take(MOST_CANDIDATES) {
            let place = text.place(start);
            if !self.is_in_time(at, self.log.lines[place].edit) {
                continue;
            }
            let (mut from, mut begin) = (at, start);
            while from > 0 && is_free(from - 1) {
                let Some(before) = text.ends_before(begin, &pieces[from - 1]) else { break };
                (from, begin) = (from - 1, before);
            }
            let (mut to, mut end) = (at, start + piece.len());
            while to + 1 < pieces.len() && is_free(to + 1) && text.continues(end, &pieces[to + 1]) {
                (to, end) = (to + 1, end + pieces[to + 1].len());
            }
            while pieces[from].is_empty() {
                from += 1;
            }
            while pieces[to].is_empty() {
                to -= 1;
            }
            if piece.len() >= PIECE || from < to {
                return Some((from, to, place));
            }
        }
        None
    }

    /// Lines between the beginning and the end of a text that was too long to be recorded whole are of the same edit,
    /// as far as no other edit added them and git names the same commit for them.
    fn between(&mut self) {
        for (gap, line) in self.log.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Gap) {
            let nearest = |range: &dyn Fn(usize) -> bool| {
                let of_edit = self.places.iter().enumerate().filter(|(_, place)| {
                    place.is_some_and(|(place, _)| self.log.lines[place].edit == line.edit && range(place))
                });
                of_edit.map(|(at, _)| at).collect::<Vec<_>>()
            };
            let (heads, tails) = (nearest(&|place| place < gap), nearest(&|place| place > gap));
            let (Some(head), Some(tail)) = (heads.last().copied(), tails.first().copied()) else { continue };
            for at in head + 1..tail.max(head + 1) {
                let is_same_commit = self.present[at].commit == self.present[head].commit
                    || self.present[at].commit == self.present[tail].commit;
                if self.places[at].is_none() && is_same_commit && self.is_in_time(at, line.edit) {
                    self.places[at] = Some((gap, How::Between));
                }
            }
        }
    }
}

/// The text that edits added and that the file no longer has line by line, without spaces.
struct Lost {
    text: String,
    /// Where each line of the log begins in it.
    begins: Vec<(usize, usize)>,
    /// Where each beginning of a piece is.
    index: HashMap<[u8; PIECE_WITH_NEIGHBOUR], Vec<u32>>,
}

impl Lost {
    fn of(log: &Log<'_>, file: &File) -> Self {
        let mut lost = Self { text: String::new(), begins: Vec::new(), index: HashMap::new() };
        // The latest first: what is found first counts.
        let mut at = log.lines.len();
        while at > 0 && lost.text.len() < MOST_TEXT {
            let end = at;
            while at > 0 && log.lines[at - 1].kind == LineKind::Added {
                at -= 1;
            }
            let run = &log.lines[at..end];
            let is_gone = |line: &Line<'_>| !line.key.is_blank() && !file.counts.contains_key(&line.key.hash);
            if run.iter().any(is_gone) {
                for (line, place) in run.iter().zip(at..) {
                    lost.begins.push((lost.text.len(), place));
                    lost.text.push_str(&compact(line.text));
                }
                // No piece goes across.
                lost.text.push('\n');
            }
            at = at.min(end - 1);
        }
        for (at, window) in lost.text.as_bytes().windows(PIECE_WITH_NEIGHBOUR).enumerate() {
            if let Ok(window) = <[u8; PIECE_WITH_NEIGHBOUR]>::try_from(window) {
                lost.index.entry(window).or_default().push(u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
        lost
    }

    fn find<'s>(&'s self, piece: &'s str) -> impl Iterator<Item = usize> + 's {
        let begin = piece.as_bytes().first_chunk::<PIECE_WITH_NEIGHBOUR>();
        let places = begin.and_then(|begin| self.index.get(begin)).into_iter().flatten();
        places.map(|at| *at as usize).filter(|at| self.continues(*at, piece))
    }

    fn continues(&self, at: usize, piece: &str) -> bool {
        self.text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(piece.as_bytes()))
    }

    fn ends_before(&self, at: usize, piece: &str) -> Option<usize> {
        let before = at.checked_sub(piece.len())?;
        self.continues(before, piece).then_some(before)
    }

    /// Returns the line of the log that a place of the text is of.
    fn place(&self, at: usize) -> usize {
        let line = self.begins.partition_point(|(begin, _)| *begin <= at).saturating_sub(1);
        self.begins.get(line).map_or(0, |(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::hunks;
    use serde_json::json;

    /// Reads edits, of which each line begins with `+`, `-` or a space; `@` begins another hunk.
    fn edits(diffs: &[&str]) -> Vec<Edit> {
        let edit = |(number, diff): (usize, &&str)| {
            let hunks: Vec<serde_json::Value> =
                diff.split("@\n").map(|hunk| json!({"lines": hunk.lines().collect::<Vec<_>>()})).collect();
            let data = json!({"output": {"structuredPatch": hunks}});
            Edit { row: 0, at: number as u64 * 1_000_000, turn: (number as i64, 1), hunks: hunks_of(&data) }
        };
        diffs.iter().enumerate().map(edit).collect()
    }

    fn hunks_of(data: &serde_json::Value) -> Vec<super::super::Hunk> {
        hunks(data, "a")
    }

    /// Writes each line of the file with the number of its edit in front, `.` for none.
    fn told(diffs: &[&str], file: &str) -> String {
        let present: Vec<Present<'_>> =
            file.lines().map(|text| Present { text, committed_at: None, commit: None }).collect();
        let found = attribute(&edits(diffs), &present);
        let number =
            |origin: &Option<Origin>| origin.map_or(".".to_owned(), |origin| origin.edit.to_string());
        found.iter().map(number).collect()
    }

    const FUNCTION: &str = "+fn total(prices: &[u64]) -> u64 {\n+    prices.iter().sum()\n+}\n";

    #[test]
    fn lines_are_of_the_edit_that_added_them_and_others_of_none() {
        let file = "use std::io;\n\nfn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n\nfn own() {\n}\n";
        assert_eq!(told(&[FUNCTION], file), "..000...");
        assert_eq!(told(&[], file), "........");
        assert_eq!(told(&[FUNCTION], ""), "");
    }

    #[test]
    fn a_later_edit_of_a_line_takes_it_and_leaves_its_neighbours() {
        let change = " fn total(prices: &[u64]) -> u64 {\n-    prices.iter().sum()\n+    prices.iter().copied().sum()\n }\n";
        let file = "fn total(prices: &[u64]) -> u64 {\n    prices.iter().copied().sum()\n}\n";
        assert_eq!(told(&[FUNCTION, change], file), "010");
    }

    #[test]
    fn the_same_text_at_two_places_is_told_apart_by_its_neighbours() {
        let one = "+fn first_of_all() {\n+    return Err(Failure::new());\n+}\n";
        let two = "+fn second_of_all() {\n+    return Err(Failure::new());\n+}\n";
        let file = "fn second_of_all() {\n    return Err(Failure::new());\n}\nfn first_of_all() {\n    return Err(Failure::new());\n}\n";
        assert_eq!(told(&[one, two], file), "111000");
    }

    #[test]
    fn a_block_that_is_moved_or_indented_stays_with_the_edit_that_wrote_it() {
        let moved = " fn main() {\n+    if is_ready {\n-    start_the_engine();\n-    drive_to_the_sea();\n+        start_the_engine();\n+        drive_to_the_sea();\n+    }\n";
        let wrote = "+    start_the_engine();\n+    drive_to_the_sea();\n";
        let file = "fn main() {\n    if is_ready {\n        start_the_engine();\n        drive_to_the_sea();\n    }\n";
        assert_eq!(told(&[wrote, moved], file), ".1001");
    }

    #[test]
    fn what_a_formatter_breaks_and_joins_is_recognised() {
        let wrote = "+let answer = compute_the_answer(first_argument, second_argument, third);\n+let short =\n+    other_value_of(\"it\");\n";
        let file = "let answer = compute_the_answer(\n    first_argument,\n    second_argument,\n    third,\n);\nlet short = other_value_of('it');\n";
        assert_eq!(told(&[wrote], file), "000000");
        assert_eq!(
            told(&[wrote], "let answer = compute_the_total(\n    first_argument,\n    2,\n);\n"),
            "...."
        );
    }

    #[test]
    fn what_was_taken_out_and_added_again_is_of_the_later_edit() {
        let out = "-fn total(prices: &[u64]) -> u64 {\n-    prices.iter().sum()\n-}\n";
        let file = "fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n";
        assert_eq!(told(&[FUNCTION, out, FUNCTION], file), "222");
    }

    #[test]
    fn an_edit_that_is_later_than_the_commit_of_a_line_did_not_write_it() {
        let present =
            |committed_at| Present { text: "let the_same = line();", committed_at, commit: Some(0) };
        let found =
            attribute(&edits(&["+let the_same = line();", "+let the_same = line();"]), &[present(Some(10))]);
        assert_eq!(found, [Some(Origin { edit: 0, how: How::Same })]);
        let found =
            attribute(&edits(&["+let the_same = line();", "+let the_same = line();"]), &[present(None)]);
        assert_eq!(found, [Some(Origin { edit: 1, how: How::Same })]);
    }

    #[test]
    fn the_middle_of_a_text_that_was_too_long_is_of_the_same_edit() {
        let mut edits = edits(&[""]);
        let content =
            "fn first_function() {}\nhalf …[cut: 20000 bytes, xxh3 0]… half\nfn last_function() {}\n";
        edits[0].hunks = hunks(&json!({"input": {"content": content}}), "a");
        let line = |text, commit| Present { text, committed_at: None, commit };
        let lines = [
            line("fn first_function() {}", Some(1)),
            line("fn not_recorded() {}", Some(1)),
            line("", Some(1)),
            line("fn of_another_commit() {}", Some(2)),
            line("fn last_function() {}", Some(1)),
            line("fn behind_it() {}", Some(1)),
        ];
        let found: Vec<Option<How>> =
            attribute(&edits, &lines).iter().map(|origin| origin.map(|it| it.how)).collect();
        let expected = [Some(How::Same), Some(How::Between), Some(How::Between), None, Some(How::Same), None];
        assert_eq!(found, expected);
    }
}
