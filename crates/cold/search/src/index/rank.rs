//! Ranking: how well a document fits a question, and which documents fit best.
//!
//! A document's score is half BM25 of the whole and half BM25 of its best passage, so that one line of a long conversation can win;
//! more where words of the question are near each other, and a little more for what is new or about a file that the question names.
//!
//! The best are found in two steps. The first goes through the lists of documents by BM25 alone and leaves out blocks that
//! cannot reach the best so far (MaxScore with bounds for blocks); the second judges the few hundred that are left in full.

use super::ask::{self, By, Question};
use super::cursor::{Cursor, END};
use super::list::{Index, Living};
use super::segment::{Record, Segment, kind_of};
use crate::query::{Filter, Found, Hit, Query};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// How soon more of the same word stops to count, and how much the length of a document counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How much of a score is the best passage's.
const PASSAGE: f64 = 0.5;
/// How much two neighbouring words of the question add when they are neighbours in the document.
const NEAR: f64 = 0.4;
const MAX_DISTANCE: u32 = 8;
/// How much more something new counts, and when half of that is gone, in milliseconds.
const NEW: f64 = 0.15;
const HALF_LIFE: f64 = 30.0 * 24.0 * 3_600_000.0;
/// How much more something counts that is about a file of the question.
const SAME_FILE: f64 = 0.25;

/// How many are judged in full: at least, and for each that is wanted.
const MIN_CANDIDATES: usize = 200;
const CANDIDATES_PER_HIT: usize = 4;

/// What is not looked at is counted all the same where the lists of a question have no more documents than this: some 0.1 ms.
const MOST_COUNTED: usize = 10_000;

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Only what can be among the best is looked at.
    Best,
    /// Everything is.
    All,
}

pub(super) fn search(index: &Index, query: &Query, effort: Effort) -> Found {
    let question = Question::new(index, &query.text);
    let scale = Scale::of(index);
    let wanted = query.skip.saturating_add(query.limit);
    let most = match effort {
        Effort::Best => wanted.saturating_mul(CANDIDATES_PER_HIT).max(MIN_CANDIDATES),
        Effort::All => usize::MAX,
    };
    let mut best = Best { most, heap: BinaryHeap::new() };
    let (mut seen, mut is_all) = (0, true);
    for (number, living) in index.segments.iter().enumerate() {
        let mut look = Look {
            living,
            number,
            passes: Passes::new(&living.segment, &query.filter),
            scale,
            now: query.now,
            seen: 0,
            is_all: true,
        };
        look.go(&question, &mut best);
        seen += look.seen;
        is_all &= look.is_all;
    }
    let mut candidates = best.heap.into_vec();
    candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.document));
    let mut judged: Vec<Judged<'_>> = Vec::with_capacity(candidates.len());
    for of_segment in candidates.chunk_by(|one, other| one.segment == other.segment) {
        let segment = &index.segments[of_segment[0].segment].segment;
        let mut judge = Judge::new(segment, &question, scale, query.now);
        judged.extend(of_segment.iter().map(|candidate| judge.judge(candidate.document)));
    }
    judged.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score.then_with(|| other.record.at.cmp(&one.record.at)).then_with(|| one.key.cmp(other.key))
    });
    let hits =
        judged.into_iter().skip(query.skip).take(query.limit).map(|judged| judged.hit(&question)).collect();
    let total = if is_all { Some(seen) } else { counted(index, &question, &query.filter) };
    let terms = question.words.into_iter().filter(|word| !word.is_joining);
    let terms = terms.map(|word| (word.typed, word.has)).collect();
    Found { hits, total, terms }
}

/// Returns how many documents have a word of the question and pass the filter, where that is quickly known.
fn counted(index: &Index, question: &Question, filter: &Filter) -> Option<usize> {
    let lists: Vec<&ask::List> = question.lists.iter().filter(|list| list.by != By::Joining).collect();
    let terms = || lists.iter().flat_map(|list| &list.terms);
    if terms().map(|term| ask::documents_with(index, term)).sum::<usize>() > MOST_COUNTED {
        return None;
    }
    let mut count = 0;
    for living in &index.segments {
        let segment = &living.segment;
        let mut documents = Vec::new();
        for list in &lists {
            let mut cursor = Cursor::new(segment, list);
            // A damaged list may name documents that are not there.
            while cursor.document() < segment.documents() {
                documents.push(cursor.document());
                cursor.next();
            }
        }
        documents.sort_unstable();
        documents.dedup();
        let mut passes = Passes::new(segment, filter);
        count += documents
            .into_iter()
            .filter(|document| !living.dead.has(*document) && passes.passes(*document))
            .count();
    }
    Some(count)
}

/// Returns how many documents have a word of the question and pass the filter. None of them is judged.
pub(super) fn count(index: &Index, query: &Query) -> usize {
    let question = Question::new(index, &query.text);
    let mut count = 0;
    for living in &index.segments {
        let segment = &living.segment;
        let mut is_found = vec![false; segment.documents() as usize];
        for list in question.lists.iter().filter(|list| list.by != By::Joining) {
            let mut cursor = Cursor::new(segment, list);
            // A damaged list may name documents that are not there.
            while let Some(is_found) = is_found.get_mut(cursor.document() as usize) {
                *is_found = true;
                cursor.next();
            }
        }
        let mut passes = Passes::new(segment, &query.filter);
        let found = (0..segment.documents()).zip(is_found).filter(|(_, is_found)| *is_found);
        count +=
            found.filter(|(document, _)| !living.dead.has(*document) && passes.passes(*document)).count();
    }
    count
}

/// Returns the documents with these hashes that pass a filter, without a score.
pub(super) fn documents_of(index: &Index, hashes: &HashSet<u64>, filter: &Filter) -> HashMap<u64, Hit> {
    let mut found = HashMap::new();
    for living in &index.segments {
        let segment = &living.segment;
        let mut passes = Passes::new(segment, filter);
        for document in 0..segment.documents() {
            let hash = segment.key_hash(document);
            if !hashes.contains(&hash) || living.dead.has(document) || !passes.passes(document) {
                continue;
            }
            let record = segment.record(document);
            let hit = Hit {
                key: segment.details(&record).key.to_owned(),
                kind: kind_of(record.kind),
                project: segment.string(record.project).to_owned(),
                at: record.at,
                ..Hit::default()
            };
            found.insert(hash, hit);
        }
    }
    found
}

/// What scores depend on besides the document.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The average length of a document and of a passage, in words.
    document: f64,
    passage: f64,
}

impl Scale {
    fn of(index: &Index) -> Self {
        let sum = |number: fn(&Living) -> u64| index.segments.iter().map(number).sum::<u64>().max(1) as f64;
        let words = sum(|living| living.segment.header.words);
        Self {
            document: words / sum(|living| u64::from(living.segment.documents())),
            passage: words / sum(|living| living.segment.header.passages),
        }
    }
}

/// How much it counts that a text of this length has a word so often: from 0 to 1 + K1.
#[inline]
fn frequency(times: f64, length: f64, average: f64) -> f64 {
    times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average))
}

/// How much more something counts for its age.
#[inline]
fn newness(at: u64, now: u64) -> f64 {
    if at == 0 {
        return 0.0;
    }
    NEW * (-(now.saturating_sub(at) as f64) / HALF_LIFE).exp2()
}

/// A document that may be among the best.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: f64,
    segment: usize,
    document: u32,
}

impl Ord for Candidate {
    /// The worst is the greatest, so that a heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| (self.segment, self.document).cmp(&(other.segment, other.document)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The best so far.
#[derive(Debug)]
struct Best {
    most: usize,
    heap: BinaryHeap<Candidate>,
}

impl Best {
    /// What a score has to be above.
    fn least(&self) -> f64 {
        if self.heap.len() < self.most {
            f64::MIN
        } else {
            self.heap.peek().map_or(f64::MIN, |worst| worst.score)
        }
    }

    fn add(&mut self, candidate: Candidate) {
        if self.heap.len() >= self.most {
            self.heap.pop();
        }
        self.heap.push(candidate);
    }
}

/// A look through one segment.
struct Look<'s> {
    living: &'s Living,
    number: usize,
    passes: Passes<'s>,
    scale: Scale,
    now: u64,
    /// How many documents were looked at that pass the filter, and whether that is all of them.
    seen: usize,
    is_all: bool,
}

/// A list of the question in one segment.
struct Listed<'s> {
    cursor: Cursor<'s>,
    weight: f64,
    /// Whether it only adds to what others find.
    is_joining: bool,
    /// What a document gains by it at most.
    most: f64,
}

impl<'s> Look<'s> {
    fn go(&mut self, question: &Question, best: &mut Best) {
        let segment: &'s Segment = &self.living.segment;
        let average = self.scale.document;
        let mut lists: Vec<Listed<'s>> = question
            .lists
            .iter()
            .map(|list| {
                let cursor = Cursor::new(segment, list);
                let is_joining = list.by == By::Joining;
                let most = if is_joining {
                    // Weighs so little that a nearer bound is not worth going through its blocks.
                    list.weight * (K1 + 1.0)
                } else {
                    let (times, shortest) = cursor.extremes();
                    let most = list.weight * frequency(f64::from(times), f64::from(shortest), average);
                    if times == 0 { 0.0 } else { most }
                };
                Listed { cursor, weight: list.weight, is_joining, most }
            })
            .filter(|list| list.most > 0.0)
            .collect();
        // Those that matter least come first: once they cannot bring a document among the best, they are only asked.
        lists.sort_by(|one, other| {
            other.is_joining.cmp(&one.is_joining).then_with(|| one.most.total_cmp(&other.most))
        });
        let joining = lists.iter().take_while(|list| list.is_joining).count();
        let sums: Vec<f64> = lists
            .iter()
            .scan(0.0, |sum, list| {
                *sum += list.most;
                Some(*sum)
            })
            .collect();
        // Documents come newest first: what one gains by its age, none behind it gains more.
        let mut most_new = 1.0 + newness(segment.at_and_length(0).0, self.now);
        let below = |first: usize| first.checked_sub(1).map_or(0.0, |before| sums[before]);
        let mut first = joining;
        // Up to which document the bounds of the blocks were looked at.
        let mut checked: Option<u32> = None;
        loop {
            let least = best.least();
            while first < lists.len() && sums[first] * most_new <= least {
                first += 1;
                checked = None;
            }
            if first == lists.len() {
                self.is_all &= first == joining;
                return;
            }
            let Some(document) = lists[first..].iter_mut().map(|list| list.cursor.document()).min() else {
                return;
            };
            if document == END {
                self.is_all &= first == joining;
                return;
            }
            if checked.is_none_or(|checked| document > checked) {
                most_new = 1.0 + newness(segment.at_and_length(document).0, self.now);
                let (mut sum, mut until) = (below(first), END - 1);
                for list in &mut lists[first..] {
                    let is_beyond = list.cursor.document() > document;
                    let (last, times, shortest) = list.cursor.skip_to(document);
                    until = until.min(last);
                    if times > 0 && (!is_beyond || list.cursor.document() <= last) {
                        sum += list.weight * frequency(f64::from(times), f64::from(shortest), average);
                    }
                }
                if sum * most_new <= least {
                    self.is_all = false;
                    if until >= END - 1 {
                        return;
                    }
                    for list in &mut lists[first..] {
                        list.cursor.seek(until + 1);
                    }
                    continue;
                }
                checked = Some(until);
            }
            let passes = !self.living.dead.has(document) && self.passes.passes(document);
            let (at, length) = segment.at_and_length(document);
            let mut score = 0.0;
            for list in &mut lists[first..] {
                if list.cursor.document() == document {
                    let times = f64::from(list.cursor.times());
                    score += list.weight * frequency(times, f64::from(length), average);
                    list.cursor.next();
                }
            }
            if !passes {
                continue;
            }
            self.seen += 1;
            let newness = 1.0 + newness(at, self.now);
            for number in (0..first).rev() {
                if (score + sums[number]) * newness <= least {
                    break;
                }
                let list = &mut lists[number];
                if list.cursor.seek(document) == document {
                    let times = f64::from(list.cursor.times());
                    score += list.weight * frequency(times, f64::from(length), average);
                }
            }
            let score = score * newness;
            if score > least {
                best.add(Candidate { score, segment: self.number, document });
            }
        }
    }
}

/// Which documents of a segment pass a filter.
struct Passes<'s> {
    segment: &'s Segment,
    filter: &'s Filter,
    is_any: bool,
    /// The author of the filter in lower case.
    author: String,
    strings: Vec<Answers>,
}

/// What is known of a string of a segment: for which fields it was compared with the filter, and which it fits. Most are never
/// asked about.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    asked: u8,
    fits: u8,
}

/// A field of a document that has a string.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Field {
    Project = 1,
    Session = 2,
    Branch = 4,
    Author = 8,
    Class = 16,
    File = 32,
}

impl<'s> Passes<'s> {
    fn new(segment: &'s Segment, filter: &'s Filter) -> Self {
        let is_any = *filter == Filter::default();
        let strings = if is_any { 0 } else { segment.strings() as usize };
        Self {
            segment,
            filter,
            is_any,
            author: filter.author.to_lowercase(),
            strings: vec![Answers::default(); strings],
        }
    }

    #[inline]
    fn passes(&mut self, document: u32) -> bool {
        self.is_any || self.look(&self.segment.record(document))
    }

    fn look(&mut self, record: &Record) -> bool {
        let filter = self.filter;
        filter.since.is_none_or(|since| record.at >= since)
            && filter.until.is_none_or(|until| record.at < until)
            && (filter.projects.is_empty() || self.fits(record.project, Field::Project))
            && (filter.session.is_empty() || self.fits(record.session, Field::Session))
            && (filter.branch.is_empty() || self.fits(record.branch, Field::Branch))
            && (filter.author.is_empty() || self.fits(record.author, Field::Author))
            && ((filter.kinds.is_empty() && filter.classes.is_empty()) || self.is_kind(record))
            && (filter.file.is_empty() || {
                let files = self.segment.details(record).files;
                files.into_iter().any(|file| self.fits(file, Field::File))
            })
    }

    fn is_kind(&mut self, record: &Record) -> bool {
        let by_kind = kind_of(record.kind).is_some_and(|kind| self.filter.kinds.contains(&kind));
        by_kind || (!self.filter.classes.is_empty() && self.fits(record.class, Field::Class))
    }

    /// Says whether a string is one that the filter lets pass.
    fn fits(&mut self, number: u32, field: Field) -> bool {
        let Some(answers) = self.strings.get_mut(number as usize) else { return false };
        let bit = field as u8;
        if answers.asked & bit == 0 {
            let (string, filter) = (self.segment.string(number), self.filter);
            let fits = match field {
                Field::Project => {
                    string.is_empty() || filter.projects.iter().any(|project| project == string)
                }
                Field::Session => string.starts_with(&filter.session),
                Field::Branch => string == filter.branch,
                Field::Author => string.to_lowercase().contains(&self.author),
                Field::Class => filter.classes.iter().any(|class| class == string),
                Field::File => is_path_of(string, &filter.file),
            };
            answers.asked |= bit;
            answers.fits |= if fits { bit } else { 0 };
        }
        answers.fits & bit != 0
    }
}

/// Says whether a path is the one that is meant: itself, its end, or a file in that folder.
fn is_path_of(path: &str, meant: &str) -> bool {
    let meant = meant.trim_start_matches("./").trim_end_matches('/');
    if meant.is_empty() {
        return false;
    }
    let is_end = path.strip_suffix(meant).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let is_folder = path.strip_prefix(meant).is_some_and(|rest| rest.starts_with('/'));
    is_end || is_folder || path.contains(&format!("/{meant}/"))
}

/// Judges documents of a segment in full; they come in order.
struct Judge<'s, 'q> {
    segment: &'s Segment,
    question: &'q Question,
    cursors: Vec<Cursor<'s>>,
    scale: Scale,
    now: u64,
    positions: Vec<Vec<u32>>,
}

/// A document with its score.
struct Judged<'s> {
    record: Record,
    key: &'s str,
    project: &'s str,
    score: f64,
    /// Of each list; of the best passage; of words near each other.
    by_list: Vec<f64>,
    passage: f64,
    near: f64,
    new: f64,
    file: f64,
}

impl<'s, 'q> Judge<'s, 'q> {
    fn new(segment: &'s Segment, question: &'q Question, scale: Scale, now: u64) -> Self {
        let cursors = question.lists.iter().map(|list| Cursor::new(segment, list)).collect();
        Self { segment, question, cursors, scale, now, positions: vec![Vec::new(); question.lists.len()] }
    }

    fn judge(&mut self, document: u32) -> Judged<'s> {
        let record = self.segment.record(document);
        let details = self.segment.details(&record);
        for (cursor, positions) in self.cursors.iter_mut().zip(&mut self.positions) {
            positions.clear();
            cursor.positions(document, positions);
        }
        let lists = &self.question.lists;
        let length = f64::from(record.length);
        let by_list: Vec<f64> = lists
            .iter()
            .zip(&self.positions)
            .map(|(list, positions)| {
                list.weight * frequency(positions.len() as f64, length, self.scale.document)
            })
            .collect();
        let whole: f64 = by_list.iter().sum();
        // A short text is a passage as a whole.
        let passage = if details.passages.is_empty() {
            whole
        } else {
            self.best_passage(&details.passages, record.length)
        };
        let near = NEAR * nearness(lists, &self.positions);
        let score = (1.0 - PASSAGE) * whole + PASSAGE * passage + near;
        let new = score * newness(record.at, self.now);
        let is_of = |file: &u32| {
            self.question.files.iter().any(|meant| is_path_of(self.segment.string(*file), meant))
        };
        let file = if details.files.iter().any(is_of) { score * SAME_FILE } else { 0.0 };
        let project = self.segment.string(record.project);
        Judged {
            record,
            key: details.key,
            project,
            score: score + new + file,
            by_list,
            passage,
            near,
            new,
            file,
        }
    }

    /// Returns the score of the best passage by itself.
    fn best_passage(&self, starts: &[u32], length: u32) -> f64 {
        let mut by_passage: Vec<(usize, usize, f64)> = Vec::new();
        for (number, positions) in self.positions.iter().enumerate() {
            for position in positions {
                let passage = starts.partition_point(|start| start <= position);
                match by_passage.last_mut() {
                    Some((of, list, times)) if *of == passage && *list == number => *times += 1.0,
                    _ => by_passage.push((passage, number, 1.0)),
                }
            }
        }
        by_passage.sort_unstable_by_key(|(passage, list, _)| (*passage, *list));
        let score = |of_passage: &[(usize, usize, f64)]| {
            let passage = of_passage[0].0;
            let start = passage.checked_sub(1).map_or(0, |before| starts[before]);
            let end = starts.get(passage).copied().unwrap_or(length);
            let words = f64::from(end.saturating_sub(start));
            let gained = |(_, list, times): &(usize, usize, f64)| {
                self.question.lists[*list].weight * frequency(*times, words, self.scale.passage)
            };
            of_passage.iter().map(gained).sum::<f64>()
        };
        by_passage.chunk_by(|one, other| one.0 == other.0).map(score).fold(0.0, f64::max)
    }
}

/// Returns how much is gained by words of the question that are neighbours there and near each other in the document.
fn nearness(lists: &[ask::List], positions: &[Vec<u32>]) -> f64 {
    let mut gained = 0.0;
    let exact: Vec<usize> = (0..lists.len()).filter(|number| lists[*number].by == By::Word).collect();
    for pair in exact.windows(2) {
        // Pairs of letters of one word are always neighbours.
        if lists[pair[0]].is_unspaced() && lists[pair[1]].is_unspaced() {
            continue;
        }
        let (one, other) = (&positions[pair[0]], &positions[pair[1]]);
        let mut least = u32::MAX;
        let mut next = 0;
        for position in one {
            while next < other.len() && other[next] <= *position {
                next += 1;
            }
            if let Some(after) = other.get(next) {
                least = least.min(after - position);
            }
            if let Some(before) = next.checked_sub(1).map(|before| other[before]) {
                // The other way round is half as good.
                least = least.min((position - before).saturating_mul(2).max(2));
            }
        }
        if least <= MAX_DISTANCE {
            let weight = lists[pair[0]].weight.min(lists[pair[1]].weight);
            gained += weight / f64::from(least * least);
        }
    }
    gained
}

impl Judged<'_> {
    /// Returns it with what its score consists of.
    fn hit(&self, question: &Question) -> Hit {
        let mut parts: Vec<(String, f64)> = Vec::new();
        for (list, gained) in question.lists.iter().zip(&self.by_list).filter(|(_, gained)| **gained > 0.0) {
            let word = &question.words[list.word].typed;
            let name = match list.by {
                By::Word | By::Joining => format!("“{word}”"),
                By::Containing => format!("words with “{word}”"),
                By::Spelling => format!("words like “{word}”"),
            };
            parts.push((name, (1.0 - PASSAGE) * gained));
        }
        let others = [
            ("best passage", PASSAGE * self.passage),
            ("words near each other", self.near),
            ("new", self.new),
            ("same file", self.file),
        ];
        let others = others.into_iter().filter(|(_, gained)| *gained > 0.0);
        parts.extend(others.map(|(name, gained)| (name.to_owned(), gained)));
        Hit {
            key: self.key.to_owned(),
            kind: kind_of(self.record.kind),
            project: self.project.to_owned(),
            at: self.record.at,
            score: self.score,
            parts,
        }
    }
}
