//! Joins the lines of a file with the edits that added them: pure, by text.
//!
//! A line that says something belongs to the edit that added the same text, with other spaces perhaps; of several edits, to
//! the one whose neighbouring lines agree best with those in the file, then to the latest. A bracket or a blank line says
//! nothing by itself: it goes with its neighbours. What a formatter broke into several lines, or joined, is found as a piece
//! of the text that was added. Lines that an edit moved or indented stay with the edit that wrote them.

use super::line::{Key, compact};
use super::patch::{Edit, Part};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// What speaks for a line being one that an edit has: that its text is nowhere else, divided by the number of places.
const UNIQUE: f32 = 10.0;
/// What speaks for a line being the one behind the line that the line above it is.
const GOES_ON: f32 = 1.0;
/// What speaks against going on at another place: in the same hunk, in the same edit, elsewhere.
const GAP_IN_HUNK: f32 = 1.0;
const GAP_IN_EDIT: f32 = 2.0;
const JUMP: f32 = 4.0;
/// What speaks for a line being of no edit.
const UNKNOWN: f32 = 0.5;
/// What speaks against a line that a later edit took out, and one that an earlier commit should have.
const TAKEN_OUT: f32 = 2.0;
const COMMITTED_LATE: f32 = 2.0;
/// How much of that counts for a line that says nothing.
const LITTLE: f32 = 0.2;
/// What speaks against a line of another file where none of its lines were found.
const ELSEWHERE: f32 = 10.0;
/// What speaks against a line that says much and that a commit before the edit has.
const COMMITTED_BEFORE: f32 = 6.0;
/// What speaks against a line that an edit kept, so that the edit that added it counts where both are possible; and one of
/// which is not known who added it.
const KEPT: f32 = 0.3;
const KEPT_UNKNOWN: f32 = 0.6;
/// How much has to speak for lines that an edit kept before the edit that added them is taken from them.
const FIRM: f32 = 2.0;
/// How little a line says that goes on with the edit of lines above it, and how many lines above are looked at.
const SAYS_LITTLE: f32 = 0.7;
const SAYS_NOTHING: f32 = 0.3;
const NEAR: usize = 10;
/// How many of those may be of no edit.
const MOST_UNKNOWN: usize = 2;
/// Of a text that is at more places than these, only the latest are looked at, besides those that go on with a line.
const MOST_PLACES: usize = 64;
const LATEST_PLACES: usize = 16;
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
    /// When that commit was first made; a rebase does not change it.
    pub written_at: Option<u64>,
    /// Tells the commits apart.
    pub commit: Option<usize>,
    /// The other file that it may be moved from, as [`Edit::source`] counts.
    pub source: Option<usize>,
}

/// The edit that a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its place in the list of edits.
    pub edit: usize,
    pub how: How,
    /// The edit that moved it into this file, where the first was of another one.
    pub moved: Option<usize>,
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
    let mut commits: Vec<u64> = present.iter().filter_map(|line| line.written_at).collect();
    commits.sort_unstable();
    commits.dedup();
    let places = vec![None; present.len()];
    let mut found = Found { file: &file, log: &log, present, edits, commits, places };
    found.by_text();
    found.ends();
    found.blank_lines();
    found.reformatted();
    found.between();
    found.blank_lines();
    let origin = |(place, how): (usize, How)| Origin {
        edit: log.lines[place].edit,
        how,
        moved: log.moves.get(&place).copied(),
    };
    found.places.into_iter().map(|place| place.map(origin)).collect()
}

/// The present lines as they are compared, with a place before the first and behind the last.
struct File {
    keys: Vec<Key>,
    /// How often each text is there.
    counts: HashMap<u64, u32, Quick>,
}

impl File {
    fn of(present: &[Present<'_>]) -> Self {
        let keys: Vec<Key> = present.iter().map(|line| Key::of(line.text)).collect();
        let mut counts = HashMap::default();
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
#[derive(Default)]
struct Log<'a> {
    lines: Vec<Line<'a>>,
    /// The line that each line was added as; `None` for one that was kept and that no recorded edit added.
    origins: Vec<Option<usize>>,
    /// The number of the hunk that each line is in.
    hunks: Vec<usize>,
    /// Where each text is.
    places: HashMap<u64, Vec<usize>, Quick>,
    /// How often each text was added.
    added: HashMap<u64, u32, Quick>,
    /// Added lines that a later edit took out.
    removed: HashSet<usize, Quick>,
    /// The edit of the file itself that took over each line of another one.
    moves: HashMap<usize, usize, Quick>,
}

/// The texts that each session both took out and added.
type Moved = HashSet<(i64, u64)>;

impl<'a> Log<'a> {
    fn of(edits: &'a [Edit]) -> Self {
        let mut log = Self::default();
        let moved = moved(edits);
        for (number, edit) in edits.iter().enumerate() {
            let start = log.lines.len();
            for hunk in &edit.hunks {
                log.push(Line::edge(number), None);
                log.add(number, edits, hunk, &moved);
            }
            // Only now: the lines of an edit are compared with those of earlier ones.
            for (place, line) in log.lines.iter().enumerate().skip(start) {
                if !line.key.is_blank() && !matches!(line.kind, LineKind::Edge | LineKind::Gap) {
                    log.places.entry(line.key.hash).or_default().push(place);
                    *log.added.entry(line.key.hash).or_default() += u32::from(line.kind == LineKind::Added);
                }
            }
        }
        log.push(Line::edge(edits.len()), None);
        log
    }

    fn push(&mut self, line: Line<'a>, origin: Option<usize>) {
        let hunk = self.hunks.last().copied().unwrap_or_default();
        self.hunks.push(hunk + usize::from(line.kind == LineKind::Edge));
        self.lines.push(line);
        self.origins.push(origin);
    }

    fn add(&mut self, number: usize, edits: &[Edit], hunk: &'a [Part], moved: &Moved) {
        let edit = &edits[number];
        let before = hunk.iter().filter_map(|part| match part {
            Part::Kept(text) | Part::Removed(text) => Some(Key::of(text)),
            Part::Added(_) | Part::Gap => None,
        });
        let before: Vec<Key> = before.collect();
        let joined = self.firm(&before, self.align(&before, |_, _, _| 0.0));
        let moved_from = self.moved_from(edit, hunk, moved);
        let mut old = 0;
        for (at, part) in hunk.iter().enumerate() {
            let (kind, text) = match part {
                Part::Kept(text) => (LineKind::Kept, text.as_str()),
                Part::Added(text) => (LineKind::Added, text.as_str()),
                Part::Gap => (LineKind::Gap, ""),
                Part::Removed(_) => {
                    let is_moved =
                        before[old].is_telling() && moved.contains(&(edit.turn.0, before[old].hash));
                    self.removed.extend(joined[old].filter(|_| !is_moved));
                    old += 1;
                    continue;
                }
            };
            let key = if kind == LineKind::Gap { Line::edge(number).key } else { Key::of(text) };
            let here = self.lines.len();
            let origin = match kind {
                LineKind::Kept => joined[old],
                LineKind::Added => moved_from[at].unwrap_or(Some(here)),
                _ => Some(here),
            };
            old += usize::from(kind == LineKind::Kept);
            let kind = if origin.is_none() { LineKind::Kept } else { kind };
            if let Some(origin) = origin.filter(|origin| *origin != here && kind == LineKind::Added)
                && edit.source.is_none()
                && edits[self.lines[origin].edit].source.is_some()
            {
                self.moves.insert(origin, number);
            }
            self.push(Line { edit: number, key, text, kind }, origin);
        }
    }

    /// Returns what each part of a hunk was before the session moved or indented it: of lines beside each other that the same
    /// session took out, if they say enough. Some of those are of no edit.
    fn moved_from(&self, edit: &Edit, hunk: &[Part], moved: &Moved) -> Vec<Option<Option<usize>>> {
        let key = |part: &Part| match part {
            Part::Added(text) => Some(Key::of(text)).filter(|key| moved.contains(&(edit.turn.0, key.hash))),
            _ => None,
        };
        let keys: Vec<Option<Key>> = hunk.iter().map(key).collect();
        let mut origins = vec![None; hunk.len()];
        let mut from = 0;
        while from < keys.len() {
            let run: Vec<Key> = keys[from..].iter().map_while(|key| *key).collect();
            let weight: f32 = run.iter().map(|key| self.unique(*key)).sum();
            if weight >= FIRM {
                let joined = self.firm(&run, self.align(&run, |_, _, _| 0.0));
                origins[from..from + run.len()]
                    .iter_mut()
                    .zip(joined)
                    .for_each(|(origin, joined)| *origin = Some(joined));
            }
            from += run.len().max(1);
        }
        origins
    }

    /// Returns the added line that each of these lines is. Of all ways to join them, the one counts that the most speaks for:
    /// lines that are beside each other in an edit are beside each other in the file. `doubt` says what speaks against a line of
    /// the log and its origin.
    fn align(&self, keys: &[Key], doubt: impl Fn(usize, usize, usize) -> f32) -> Vec<Option<usize>> {
        let lines: Vec<usize> = (0..keys.len()).filter(|at| !keys[*at].is_blank()).collect();
        let candidates = self.candidates(keys, &lines);
        let mut steps: Vec<Vec<Step>> = Vec::with_capacity(lines.len());
        for (number, at) in lines.iter().enumerate() {
            let before = number.checked_sub(1).map(|before| steps[before].as_slice()).unwrap_or_default();
            let step =
                self.step(keys[*at], &candidates[number], before, |place, origin| doubt(*at, place, origin));
            steps.push(step);
        }
        let mut joined = vec![None; keys.len()];
        let mut best = steps.last().and_then(|last| top(last));
        for (number, at) in lines.iter().enumerate().rev() {
            let Some(step) = best.and_then(|best| steps[number].get(best)) else { break };
            joined[*at] = step.place.and_then(|place| self.origins[place]);
            best = Some(step.from);
        }
        joined
    }

    /// Returns the places that each line may be: those of its text, and of frequent texts the latest and those that go on
    /// with a neighbour.
    fn candidates(&self, keys: &[Key], lines: &[usize]) -> Vec<Vec<usize>> {
        let base = |at: &usize| {
            let places = self.places.get(&keys[*at].hash).map(Vec::as_slice).unwrap_or_default();
            let most = if places.len() > MOST_PLACES { LATEST_PLACES } else { MOST_PLACES };
            places[places.len().saturating_sub(most)..].to_vec()
        };
        let mut all: Vec<Vec<usize>> = lines.iter().map(base).collect();
        let mut extend = |number: usize, neighbour: usize, step: isize| {
            let hash = keys[lines[number]].hash;
            let beside = all[neighbour].iter().filter_map(|place| self.beside(*place, step));
            let beside: Vec<usize> = beside.filter(|place| self.lines[*place].key.hash == hash).collect();
            all[number].extend(beside);
            all[number].sort_unstable();
            all[number].dedup();
        };
        (1..lines.len()).for_each(|number| extend(number, number - 1, 1));
        (1..lines.len()).rev().for_each(|number| extend(number - 1, number, -1));
        all
    }

    /// Takes out what little speaks for: a hunk has few lines around a change, and brackets are everywhere.
    fn firm(&self, keys: &[Key], mut joined: Vec<Option<usize>>) -> Vec<Option<usize>> {
        let mut weights: HashMap<usize, f32> = HashMap::new();
        for (key, origin) in keys.iter().zip(&joined) {
            if let Some(origin) = origin {
                *weights.entry(self.hunks[*origin]).or_default() += self.unique(*key);
            }
        }
        for origin in &mut joined {
            origin.take_if(|origin| weights.get(&self.hunks[*origin]).is_none_or(|weight| *weight < FIRM));
        }
        joined
    }

    /// Returns the next line in a direction that is not blank.
    fn beside(&self, place: usize, step: isize) -> Option<usize> {
        let mut place = place;
        loop {
            place = place.checked_add_signed(step)?;
            if !self.lines.get(place)?.key.is_blank() {
                return Some(place);
            }
        }
    }

    /// Returns what speaks for a line being one of those that have its text: the longer it is, and the fewer they are.
    fn unique(&self, key: Key) -> f32 {
        let added = self.added.get(&key.hash).copied().unwrap_or_default().max(1) as f32;
        UNIQUE * key.fullness() / added
    }

    fn step(
        &self,
        key: Key,
        candidates: &[usize],
        before: &[Step],
        doubt: impl Fn(usize, usize) -> f32,
    ) -> Vec<Step> {
        let unique = self.unique(key);
        let best = top(before);
        let score_of =
            |from: Option<usize>| from.and_then(|from| before.get(from)).map_or(0.0, |step| step.score);
        // The last step has no place: the line is of no edit.
        let unknown = before.len().checked_sub(1);
        let stays = score_of(unknown) >= score_of(best) - JUMP;
        let from = if stays { unknown } else { best };
        let gone = if stays { 0.0 } else { JUMP };
        let nothing =
            Step { place: None, score: score_of(from) - gone + UNKNOWN, from: from.unwrap_or_default() };
        let mut hunks: HashMap<(usize, bool), usize> = HashMap::new();
        for (number, step) in before.iter().enumerate() {
            let Some(place) = step.place else { continue };
            for key in [(self.hunks[place], true), (self.lines[place].edit, false)] {
                let known = hunks.entry(key).or_insert(number);
                if before[*known].score < step.score {
                    *known = number;
                }
            }
        }
        let mut steps = Vec::with_capacity(candidates.len() + 1);
        for place in candidates {
            let origin = self.origins[*place];
            let against = origin.map_or(0.0, |origin| doubt(*place, origin));
            let is_removed = origin.is_some_and(|origin| self.removed.contains(&origin));
            let above = self.beside(*place, -1).and_then(|above| {
                before.binary_search_by_key(&Some(above), |step| step.place.or(Some(usize::MAX))).ok()
            });
            let in_hunk = hunks.get(&(self.hunks[*place], true)).copied();
            let in_hunk = in_hunk.filter(|from| before[*from].place < Some(*place));
            let in_edit = hunks.get(&(self.lines[*place].edit, false)).copied();
            let ways = [(above, GOES_ON), (in_hunk, -GAP_IN_HUNK), (in_edit, -GAP_IN_EDIT), (best, -JUMP)];
            let scores = ways.iter().filter(|(from, _)| from.is_some() || before.is_empty());
            let scores = scores.map(|(from, gain)| (score_of(*from) + gain, from.unwrap_or_default()));
            let (score, from) =
                scores.fold((f32::MIN, 0), |most, one| if one.0 > most.0 { one } else { most });
            // Of equals, the latest.
            let recency = self.lines[*place].edit as f32 / 1_000_000.0;
            let kept = match (self.lines[*place].kind, origin) {
                (LineKind::Kept, None) => KEPT_UNKNOWN,
                (LineKind::Kept, Some(_)) => KEPT,
                _ => 0.0,
            };
            let against = against + kept + if is_removed { TAKEN_OUT } else { 0.0 };
            steps.push(Step { place: Some(*place), score: score + unique - against + recency, from });
        }
        steps.push(nothing);
        steps
    }
}

/// A way to join the lines up to one of them.
struct Step {
    /// What the line is; `None` for a line of no edit.
    place: Option<usize>,
    /// What speaks for it.
    score: f32,
    /// The step of the line above.
    from: usize,
}

/// Returns the step that the most speaks for.
fn top(steps: &[Step]) -> Option<usize> {
    let better = |best: usize, at: usize| if steps[at].score > steps[best].score { at } else { best };
    (0..steps.len()).reduce(better)
}

/// Returns the texts that each session both took out and added.
fn moved(edits: &[Edit]) -> Moved {
    let (mut added, mut removed) = (HashSet::new(), HashSet::new());
    for edit in edits {
        for part in edit.hunks.iter().flatten() {
            let (set, text) = match part {
                Part::Added(text) => (&mut added, text),
                Part::Removed(text) => (&mut removed, text),
                Part::Kept(_) | Part::Gap => continue,
            };
            set.insert((edit.turn.0, Key::of(text).hash));
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
    /// When the commits of the file were made, in order.
    commits: Vec<u64>,
    /// The line of the log that each present line is.
    places: Vec<Option<(usize, How)>>,
}

impl Found<'_> {
    fn by_text(&mut self) {
        let doubt = |at: usize, place: usize, origin: usize| {
            let edit = self.log.lines[origin].edit;
            // What an edit of the file took over is in the file, where an edit of the file has it.
            let is_moved = self.log.moves.contains_key(&origin);
            let source = self.edits[if is_moved { self.log.lines[place].edit } else { edit }].source;
            // A line that says nothing goes with those of the same file.
            let is_elsewhere = source != self.present[at].source && self.file.keys[at].is_telling();
            if source.is_some() && is_elsewhere {
                return ELSEWHERE;
            }
            match self.is_in_time(at, edit) {
                true if self.is_late(at, edit) => COMMITTED_LATE * self.file.keys[at].fullness().max(LITTLE),
                true => 0.0,
                // Git takes a line that says little for an earlier one of the same text.
                false => COMMITTED_BEFORE * self.file.keys[at].fullness().powi(2),
            }
        };
        let joined = self.log.align(&self.file.keys, doubt);
        self.places = joined.into_iter().map(|place| place.map(|place| (place, How::Same))).collect();
    }

    /// Lines that say little, behind a change in the middle of what an edit added: they go on with that edit.
    fn ends(&mut self) {
        let mut used: HashSet<usize> = self.places.iter().flatten().map(|(place, _)| *place).collect();
        for at in 0..self.present.len() {
            let key = self.file.keys[at];
            if self.places[at].is_some() || key.is_blank() || key.fullness() > SAYS_LITTLE {
                continue;
            }
            // Git takes a bracket for another one.
            let says_nothing = key.fullness() < SAYS_NOTHING;
            let mut unknown = 0;
            let above =
                (0..at).rev().filter(|above| !self.file.keys[*above].is_blank()).take_while(|above| {
                    unknown += usize::from(self.places[*above].is_none());
                    unknown <= MOST_UNKNOWN
                });
            let mut above = above.take(NEAR).filter_map(|above| self.places[above]);
            let found = above.find_map(|(place, _)| {
                let behind = (place + 1..self.log.lines.len()).take(NEAR);
                let mut behind = behind.take_while(|behind| self.log.hunks[*behind] == self.log.hunks[place]);
                behind.find(|behind| {
                    let line = &self.log.lines[*behind];
                    let is_its = self.log.origins[*behind] == Some(*behind) && !used.contains(behind);
                    line.key.hash == key.hash && is_its && (says_nothing || !self.is_late(at, line.edit))
                })
            });
            used.extend(found);
            self.places[at] = found.map(|place| (place, How::Same));
        }
    }

    /// Returns whether the file had another commit between the edit and the one that has the line.
    fn is_late(&self, at: usize, edit: usize) -> bool {
        let Some(written) = self.present[at].written_at else { return false };
        let after = self.commits.partition_point(|commit| *commit <= self.edits[edit].at + CLOCK_SLACK);
        self.commits.get(after).is_some_and(|commit| *commit < written)
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
        let pieces: Vec<String> = self.present.iter().map(|line| compact(line.text)).collect();
        let wanted =
            pieces.iter().zip(&self.places).filter(|(_, place)| place.is_none()).map(|(piece, _)| piece);
        let text = Lost::of(self.log, self.file, wanted);
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
        // A whole line that an edit added was not reformatted: it is of no edit for another reason.
        let is_whole = self.log.added.get(&self.file.keys[at].hash).is_some_and(|count| *count > 0);
        if self.places[at].is_some() || is_whole || piece.len() < PIECE_WITH_NEIGHBOUR {
            return None;
        }
        let is_free = |line: usize| self.places[line].is_none() || !self.file.keys[line].is_telling();
        for start in text.find(piece).take(MOST_PLACES) {
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
    /// as far as no other edit added them and git names no later commit for them.
    fn between(&mut self) {
        for (gap, line) in self.log.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Gap) {
            let telling = self.places.iter().enumerate().filter_map(|(at, place)| {
                let (place, how) = (*place).filter(|_| self.file.keys[at].is_telling())?;
                (how == How::Same && self.log.lines[place].edit == line.edit).then_some((place, at))
            });
            let telling: Vec<(usize, usize)> = telling.collect();
            let head = telling.iter().filter(|(place, _)| *place < gap).map(|(_, at)| *at).min();
            let tail = telling.iter().filter(|(place, _)| *place > gap).map(|(_, at)| *at).max();
            let (Some(head), Some(tail)) = (head, tail) else { continue };
            let is_committed = self.present[head].commit.is_some();
            for at in head + 1..tail.max(head + 1) {
                let is_same_commit =
                    [head, tail].iter().any(|end| self.present[at].commit == self.present[*end].commit);
                let is_in_time = is_same_commit || !self.is_late(at, line.edit);
                let is_committed = self.present[at].commit.is_some() == is_committed;
                if self.places[at].is_none() && is_in_time && is_committed {
                    self.places[at] = Some((gap, How::Between));
                }
            }
        }
    }
}

/// Returns the first bytes of a piece as a number.
fn beginning(piece: &[u8]) -> Option<u64> {
    piece.first_chunk::<PIECE_WITH_NEIGHBOUR>().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Spreads numbers over a table: they are hashes already, or nearly.
#[derive(Default)]
struct Spread(u64);

type Quick = BuildHasherDefault<Spread>;

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The text that edits added and that the file no longer has line by line, without spaces.
struct Lost {
    text: String,
    /// Where each line of the log begins in it.
    begins: Vec<(usize, usize)>,
    /// Where each beginning of a piece is.
    index: HashMap<u64, Vec<u32>, Quick>,
}

impl Lost {
    fn of<'p>(log: &Log<'_>, file: &File, wanted: impl Iterator<Item = &'p String>) -> Self {
        let mut lost = Self { text: String::new(), begins: Vec::new(), index: HashMap::default() };
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
        // Only what is looked for: most of the text is not.
        for piece in wanted {
            lost.index.extend(beginning(piece.as_bytes()).map(|begin| (begin, Vec::new())));
        }
        for at in 0..lost.text.len() {
            let places = beginning(&lost.text.as_bytes()[at..]).and_then(|begin| lost.index.get_mut(&begin));
            if let Some(places) = places {
                places.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
        lost
    }

    fn find<'s>(&'s self, piece: &'s str) -> impl Iterator<Item = usize> + 's {
        let places =
            beginning(piece.as_bytes()).and_then(|begin| self.index.get(&begin)).into_iter().flatten();
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
            Edit {
                row: 0,
                at: number as u64 * 1_000_000,
                turn: (number as i64, 1),
                source: None,
                path: String::new(),
                hunks: hunks_of(&data),
            }
        };
        diffs.iter().enumerate().map(edit).collect()
    }

    fn hunks_of(data: &serde_json::Value) -> Vec<super::super::Hunk> {
        hunks(data, "a")
    }

    /// Writes each line of the file with the number of its edit in front, `.` for none.
    fn told(diffs: &[&str], file: &str) -> String {
        let present: Vec<Present<'_>> = file
            .lines()
            .map(|text| Present { text, committed_at: None, written_at: None, commit: None, source: None })
            .collect();
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
    fn the_same_text_at_two_places_is_distinguished_by_its_neighbours() {
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
        let present = |committed_at| Present {
            text: "let the_same = line();",
            committed_at,
            written_at: committed_at,
            commit: Some(0),
            source: None,
        };
        let found =
            attribute(&edits(&["+let the_same = line();", "+let the_same = line();"]), &[present(Some(10))]);
        assert_eq!(found, [Some(Origin { edit: 0, how: How::Same, moved: None })]);
        let found =
            attribute(&edits(&["+let the_same = line();", "+let the_same = line();"]), &[present(None)]);
        assert_eq!(found, [Some(Origin { edit: 1, how: How::Same, moved: None })]);
    }

    #[test]
    fn the_middle_of_a_text_that_was_too_long_is_of_the_same_edit() {
        let mut edits = edits(&[""]);
        let content =
            "fn first_function() {}\nhalf …[cut: 20000 bytes, xxh3 0]… half\nfn last_function() {}\n";
        edits[0].hunks = hunks(&json!({"input": {"content": content}}), "a");
        let line = |text, commit| Present {
            text,
            committed_at: None,
            written_at: Some(100_000),
            commit,
            source: None,
        };
        let lines = [
            line("fn first_function() {}", Some(1)),
            line("fn not_recorded() {}", Some(1)),
            line("", Some(1)),
            Present { written_at: Some(900_000), ..line("fn of_another_commit() {}", Some(2)) },
            line("fn last_function() {}", Some(1)),
            line("fn behind_it() {}", Some(1)),
        ];
        let found: Vec<Option<How>> =
            attribute(&edits, &lines).iter().map(|origin| origin.map(|it| it.how)).collect();
        let expected = [Some(How::Same), Some(How::Between), Some(How::Between), None, Some(How::Same), None];
        assert_eq!(found, expected);
    }
}
