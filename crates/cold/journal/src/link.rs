//! Which entry replaces which: the same done or said again, a change whose lines a later one takes out, a decision that takes
//! another's place. Work in the same file or about the same words is no reason: a link too few does less harm than a wrong one.
//!
//! An entry is replaced by the first later one of its project that [`replaces`] it. That depends on the two alone, so the result
//! is the same in whatever order turns are made. To find candidates without a look at all entries, each is filed under keys; of
//! the entries under a key, only the [`WINDOW`] next ones are compared.

use crate::entry::{Detail, Kind, Lines, Source};
use crate::make::prose;
use language::content_words;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use store::Error;
use store::rusqlite::{OptionalExtension as _, Transaction, params};

/// How many entries behind another under the same key are compared with it.
const WINDOW: usize = 4;
/// Titles that share this part of their words say the same.
const ALIKE: f64 = 0.75;
/// How much of an earlier decision's words a later one must have to take its place, besides those that it rejects.
const ABOUT_THE_SAME: f64 = 0.5;
/// How many of the lines that a change put in a later one must take out to replace it.
const TAKEN_OUT: f64 = 0.75;
/// Fewer words are too few to compare titles by.
const FEWEST_WORDS: usize = 3;
/// A title is filed under this many pairs of its words, each pair chosen by another order of all words. Titles that are
/// just alike enough share one with a probability of 96 %.
const PAIRS: u64 = 4;
/// How many bits of an entry's place come from its id; its time has the others.
const PLACE_BITS: u32 = 21;
/// How many words behind "instead of" say what is rejected.
const MOST_REJECTED: usize = 5;
/// The most keys of one sort.
const MOST_KEYS: usize = 24;

/// What decides about an entry's replacement.
#[derive(Debug)]
struct Marks {
    row: i64,
    id: String,
    project: i64,
    /// Its time, and by its id where times are equal.
    place: i64,
    kind: String,
    words: BTreeSet<String>,
    /// Numbers that are no counts: `issue 318` is another one than `issue 319`.
    figures: BTreeSet<String>,
    symbols: BTreeSet<String>,
    lines: Lines,
    /// What the words behind "instead of" or "no longer" are about.
    instead_of: BTreeSet<String>,
    /// What the user was asked, where it is the answer to a question.
    question: BTreeSet<String>,
    /// The subjects of the commits, and those of commits that were reverted.
    commits: BTreeSet<String>,
    reverts: BTreeSet<String>,
    /// Whether it can be replaced: not what a person wrote or pinned.
    is_replaceable: bool,
    is_noise: bool,
    replaced_by: Option<String>,
    is_repeated: bool,
}

impl Marks {
    fn is_decision(&self) -> bool {
        self.kind == Kind::DECISION
    }

    /// Returns the keys that it is filed under.
    fn keys(&self) -> BTreeSet<i64> {
        let mut keys = BTreeSet::new();
        if self.is_noise {
            return keys;
        }
        if self.words.len() >= FEWEST_WORDS {
            let words: Vec<u64> = self.words.iter().map(|word| hash(0, word.as_bytes())).collect();
            let least = |order: u64| {
                words.iter().map(|word| hash(order, &word.to_le_bytes())).min().unwrap_or_default()
            };
            for pair in 0..PAIRS {
                let both = [least(2 * pair + 1), least(2 * pair + 2)].map(u64::to_le_bytes).concat();
                keys.insert(hash(pair, &both) as i64);
            }
        }
        keys.extend(self.symbols.iter().take(MOST_KEYS).map(|symbol| hash(101, symbol.as_bytes()) as i64));
        if self.is_decision() {
            let words = self.words.iter().take(MOST_KEYS).chain(&self.instead_of);
            keys.extend(words.map(|word| hash(102, word.as_bytes()) as i64));
        }
        let subjects = self.commits.iter().chain(&self.reverts).take(MOST_KEYS);
        keys.extend(subjects.map(|subject| hash(103, subject.as_bytes()) as i64));
        keys
    }

    /// Returns whether another entry tells the same: with words left out or added, not with others instead.
    fn says(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        let is_alike = self.words.len() >= FEWEST_WORDS && shared as f64 >= ALIKE * all as f64;
        let has_others = shared < self.words.len() && shared < other.words.len();
        // The answer to a question is one word of many.
        let is_answer = !self.question.is_empty() || !other.question.is_empty();
        is_alike && !has_others && self.figures == other.figures && (!is_answer || self.words == other.words)
    }

    /// Returns whether an earlier entry changed the same lines in the same way.
    fn changes_as(&self, earlier: &Self) -> bool {
        if self.lines.is_empty() && earlier.lines.is_empty() {
            return self.symbols == earlier.symbols;
        }
        let most = reach(&self.lines.added).min(reach(&earlier.lines.added));
        let of =
            |lines: &[u32]| -> BTreeSet<u32> { lines.iter().copied().filter(|line| *line <= most).collect() };
        let (one, other) = (of(&self.lines.added), of(&earlier.lines.added));
        let shared = one.intersection(&other).count();
        shared > 0 && shared as f64 >= ALIKE * (one.len() + other.len() - shared) as f64
    }

    /// Returns whether most lines that an earlier entry put in are taken out by this one.
    fn takes_out(&self, earlier: &Self) -> bool {
        let most = reach(&self.lines.removed).min(reach(&earlier.lines.added));
        let added: Vec<&u32> = earlier.lines.added.iter().filter(|line| **line <= most).collect();
        let gone = added.iter().filter(|line| self.lines.removed.contains(line)).count();
        let is_same_place = !earlier.symbols.is_disjoint(&self.symbols);
        is_same_place && gone > 0 && gone as f64 >= TAKEN_OUT * added.len() as f64
    }

    /// Returns whether this decision says that it holds instead of an earlier one, or answers the same question in another way.
    fn takes_back(&self, earlier: &Self) -> bool {
        if !self.is_decision() || !earlier.is_decision() {
            return false;
        }
        if earlier.question.len() >= FEWEST_WORDS && earlier.question == self.question {
            return true;
        }
        let is_named = !earlier.words.is_disjoint(&self.instead_of);
        let about: Vec<&String> = earlier.words.difference(&self.instead_of).collect();
        let shared = about.iter().filter(|word| self.words.contains(**word)).count();
        is_named && shared > 0 && shared as f64 >= ABOUT_THE_SAME * about.len() as f64
    }

    /// Returns whether the only commit of an earlier entry is reverted by this one.
    fn reverts(&self, earlier: &Self) -> bool {
        earlier.commits.len() == 1 && earlier.commits.is_subset(&self.reverts)
    }
}

/// Returns up to which number a list of hashes has all of them.
fn reach(lines: &[u32]) -> u32 {
    lines.last().copied().filter(|_| lines.len() >= Lines::MOST).unwrap_or(u32::MAX)
}

/// How a later entry takes the place of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaces {
    /// It says the same again.
    Repeats,
    Supersedes,
}

fn replaces(later: &Marks, earlier: &Marks) -> Option<Replaces> {
    let is_later = (later.place, &later.id) > (earlier.place, &earlier.id);
    if !is_later || !earlier.is_replaceable || earlier.is_noise || later.is_noise {
        return None;
    }
    if earlier.kind == later.kind && later.says(earlier) && later.changes_as(earlier) {
        return Some(Replaces::Repeats);
    }
    let is_replaced = later.takes_out(earlier) || later.takes_back(earlier) || later.reverts(earlier);
    is_replaced.then_some(Replaces::Supersedes)
}

/// Returns the hash of a line of code.
pub(crate) fn hash_of_line(line: &str) -> u32 {
    (hash(0, line.as_bytes()) >> 32) as u32
}

/// FNV-1a, with an order of its own for each seed.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash =
        bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    // The high bits of the last bytes count as much as the low ones.
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Keeps `replaced_by`, `is_repeated` and `times` of the entries right while others come and go.
pub(crate) struct Links<'t> {
    transaction: &'t Transaction<'t>,
    /// Entries that have to be compared with all that come behind them, since something went, or came between others; with the
    /// place of the first that did.
    dirty: BTreeMap<i64, i64>,
    /// The newest entries that came, by the earlier ones that they may replace: the usual case, in which nothing else changes.
    newest: BTreeMap<i64, Vec<i64>>,
    /// Entries whose number of repetitions may be another now, by their ids.
    counted: BTreeSet<String>,
    /// Entries that came, by their ids: each counts as told once until it is found to repeat another.
    fresh: HashSet<String>,
    marks: HashMap<i64, Rc<Marks>>,
}

impl<'t> Links<'t> {
    pub(crate) fn new(transaction: &'t Transaction<'t>) -> Self {
        Self {
            transaction,
            dirty: BTreeMap::new(),
            newest: BTreeMap::new(),
            counted: BTreeSet::new(),
            fresh: HashSet::new(),
            marks: HashMap::new(),
        }
    }

    /// Files a new entry.
    pub(crate) fn insert(&mut self, row: i64) -> Result<(), Error> {
        self.marks.remove(&row);
        let Some(marks) = self.load(row)? else { return Ok(()) };
        let near = self.near(&marks)?;
        if self.is_newest(&marks)? {
            near.into_iter().for_each(|earlier| self.newest.entry(earlier).or_default().push(row));
        } else {
            self.disturb(near, marks.place);
            self.dirty.insert(row, i64::MIN);
        }
        let mut insert =
            self.transaction.prepare_cached("INSERT OR REPLACE INTO entry_keys VALUES (?1, ?2, ?3, ?4)")?;
        for key in marks.keys() {
            insert.execute(params![marks.project, key, marks.place, row])?;
        }
        self.fresh.insert(marks.id.clone());
        Ok(())
    }

    /// Takes note that an entry is about to be deleted.
    pub(crate) fn remove(&mut self, row: i64) -> Result<(), Error> {
        let Some(marks) = self.load(row)? else { return Ok(()) };
        let near = self.near(&marks)?;
        self.disturb(near, marks.place);
        self.counted.extend(marks.replaced_by.clone());
        let mut select = self.transaction.prepare_cached("SELECT row FROM entries WHERE replaced_by = ?1")?;
        let replaced = select.query_map([&marks.id], |row| row.get(0))?;
        for replaced in replaced {
            self.dirty.insert(replaced?, i64::MIN);
        }
        self.dirty.remove(&row);
        self.newest.remove(&row);
        self.counted.remove(&marks.id);
        self.fresh.remove(&marks.id);
        self.marks.remove(&row);
        Ok(())
    }

    fn disturb(&mut self, rows: BTreeSet<i64>, place: i64) {
        for row in rows {
            let first = self.dirty.entry(row).or_insert(place);
            *first = place.min(*first);
        }
    }

    /// Returns the entries before one that it may replace.
    fn near(&self, marks: &Marks) -> Result<BTreeSet<i64>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT entry FROM entry_keys WHERE project = ?1 AND key = ?2 AND place <= ?3 ORDER BY place DESC LIMIT ?4",
        )?;
        let mut near = BTreeSet::new();
        for key in marks.keys() {
            let rows = select.query_map(params![marks.project, key, marks.place, WINDOW + 1], |row| {
                row.get::<_, i64>(0)
            })?;
            for row in rows {
                near.insert(row?);
            }
        }
        near.remove(&marks.row);
        Ok(near)
    }

    fn is_newest(&self, marks: &Marks) -> Result<bool, Error> {
        let mut select = self
            .transaction
            .prepare_cached("SELECT at, id FROM entries WHERE project = ?1 AND at >= ?2 AND row <> ?3")?;
        let mut rows = select.query(params![marks.project, marks.place >> PLACE_BITS, marks.row])?;
        while let Some(row) = rows.next()? {
            if place(row.get(0)?, row.get_ref(1)?.as_str().unwrap_or_default()) >= marks.place {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Decides anew about every entry that may be concerned.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        for (row, newest) in std::mem::take(&mut self.newest) {
            let Some(marks) = self.load(row)? else { continue };
            // What comes behind the replacement changes nothing.
            if marks.replaced_by.is_none() && !self.dirty.contains_key(&row) {
                let found = self.first(&marks, newest)?;
                self.decide(&marks, found.as_ref())?;
            }
        }
        for (row, place_of_first) in std::mem::take(&mut self.dirty) {
            let Some(marks) = self.load(row)? else { continue };
            if let Some(by) = &marks.replaced_by
                && self.at(by)?.is_some_and(|at| place(at, by) < place_of_first)
            {
                continue;
            }
            let candidates = self.candidates(&marks)?;
            let found = self.first(&marks, candidates)?;
            self.decide(&marks, found.as_ref())?;
        }
        self.count()
    }

    fn decide(&mut self, marks: &Marks, found: Option<&(Rc<Marks>, Replaces)>) -> Result<(), Error> {
        let by = found.map(|(later, _)| later.id.as_str());
        let is_repeated = found.is_some_and(|(_, how)| *how == Replaces::Repeats);
        let is_changed = marks.replaced_by.as_deref() != by || marks.is_repeated != is_repeated;
        if is_changed {
            self.transaction
                .prepare_cached("UPDATE entries SET replaced_by = ?2, is_repeated = ?3 WHERE row = ?1")?
                .execute(params![marks.row, by, is_repeated])?;
            self.counted.extend(marks.replaced_by.clone());
        }
        let by = by.filter(|by| is_changed || self.fresh.contains(*by)).map(str::to_owned);
        self.counted.extend(by);
        Ok(())
    }

    /// Returns the entries behind one that may replace it.
    fn candidates(&self, marks: &Marks) -> Result<Vec<i64>, Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT entry FROM entry_keys WHERE project = ?1 AND key = ?2 AND place >= ?3 ORDER BY place LIMIT ?4",
        )?;
        let mut candidates: BTreeSet<i64> = BTreeSet::new();
        for key in marks.keys() {
            let rows = select.query_map(params![marks.project, key, marks.place, WINDOW + 1], |row| {
                row.get::<_, i64>(0)
            })?;
            for row in rows {
                candidates.insert(row?);
            }
        }
        Ok(candidates.into_iter().collect())
    }

    /// Returns the first of some entries that replaces this one.
    fn first(&mut self, marks: &Marks, candidates: Vec<i64>) -> Result<Option<(Rc<Marks>, Replaces)>, Error> {
        let mut first: Option<(Rc<Marks>, Replaces)> = None;
        for row in candidates {
            let Some(later) = self.load(row)? else { continue };
            let is_sooner =
                first.as_ref().is_none_or(|(known, _)| (later.place, &later.id) < (known.place, &known.id));
            if is_sooner && let Some(how) = replaces(&later, marks) {
                first = Some((later, how));
            }
        }
        Ok(first)
    }

    /// Counts how often each entry happened, from the earliest on: an entry that repeats another counts that one's, too.
    fn count(&self) -> Result<(), Error> {
        let mut waiting: BTreeSet<(i64, String)> = BTreeSet::new();
        for id in &self.counted {
            let at = self.at(id)?;
            waiting.extend(at.map(|at| (at, id.clone())));
        }
        while let Some((_, id)) = waiting.pop_first() {
            let changed: Option<Option<String>> = self
                .transaction
                .prepare_cached(
                    "UPDATE entries SET times = 1 + (SELECT coalesce(sum(e.times), 0) FROM entries AS e
                         WHERE e.replaced_by = ?1 AND e.is_repeated = 1)
                     WHERE id = ?1 RETURNING CASE is_repeated WHEN 1 THEN replaced_by END",
                )?
                .query_row([&id], |row| row.get(0))
                .optional()?;
            if let Some(next) = changed.flatten()
                && let Some(at) = self.at(&next)?
            {
                waiting.insert((at, next));
            }
        }
        Ok(())
    }

    fn at(&self, id: &str) -> Result<Option<i64>, Error> {
        let mut select = self.transaction.prepare_cached("SELECT at FROM entries WHERE id = ?1")?;
        Ok(select.query_row([id], |row| row.get(0)).optional()?)
    }

    fn load(&mut self, row: i64) -> Result<Option<Rc<Marks>>, Error> {
        if let Some(marks) = self.marks.get(&row) {
            return Ok(Some(Rc::clone(marks)));
        }
        let mut select = self.transaction.prepare_cached(
            "SELECT id, project, at, kind, title, detail, source, is_pinned, is_noise, replaced_by, is_repeated FROM entries
             WHERE row = ?1",
        )?;
        let marks = select.query_row([row], |found| {
            let (id, at, title): (String, i64, String) = (found.get(0)?, found.get(2)?, found.get(4)?);
            let kind: String = found.get(3)?;
            let detail: Detail =
                serde_json::from_str(found.get_ref(5)?.as_str().unwrap_or("{}")).unwrap_or_default();
            let source = Source::named(found.get_ref(6)?.as_str().unwrap_or_default());
            let is_pinned: bool = found.get(7)?;
            let is_decision = kind == Kind::DECISION;
            let instead_of = if is_decision { prose::superseded(&title) } else { None }.unwrap_or_default();
            // What comes behind it is about something else: `instead of Redis, one service less`.
            let instead_of = instead_of.split([',', ';', '.', ':', '(']).next().unwrap_or_default();
            let instead_of: Vec<&str> = instead_of.split_whitespace().take(MOST_REJECTED).collect();
            // The title may have the question cut, the fact below it has more.
            let whole = detail
                .facts
                .first()
                .filter(|fact| title.starts_with(prose::ASKED) && fact.starts_with(prose::ASKED));
            let whole = whole.unwrap_or(&title);
            let answered = whole.strip_prefix(prose::ASKED).and_then(|rest| rest.split_once(prose::ANSWERED));
            let (question, said) = match answered.filter(|_| is_decision) {
                // What two questions differ in may be where they are cut.
                Some((question, _)) if question.ends_with('…') => (BTreeSet::new(), String::new()),
                Some((question, answer)) => (content_words(question), format!("{question} {answer}")),
                None => (BTreeSet::new(), without_counts(&title)),
            };
            let (words, figures) =
                content_words(&said).into_iter().partition(|word| word.chars().any(char::is_alphabetic));
            let subjects: Vec<&str> =
                std::iter::once(&title).chain(&detail.facts).flat_map(|line| subjects(line)).collect();
            let reverted = subjects.iter().filter_map(|subject| reverted(subject));
            Ok(Marks {
                row,
                place: place(at, &id),
                id,
                project: found.get(1)?,
                kind,
                words,
                figures,
                question,
                commits: subjects.iter().map(|subject| (*subject).to_owned()).collect(),
                reverts: reverted.map(str::to_owned).collect(),
                symbols: detail.symbols.into_iter().collect(),
                lines: detail.lines,
                instead_of: content_words(&instead_of.join(" ")),
                is_replaceable: !is_pinned && source != Source::ByHand,
                is_noise: found.get(8)?,
                replaced_by: found.get(9)?,
                is_repeated: found.get(10)?,
            })
        });
        let marks = marks.optional()?.map(Rc::new);
        if let Some(marks) = &marks {
            self.marks.insert(marks.row, Rc::clone(marks));
        }
        Ok(marks)
    }
}

/// Returns where an entry is among the others: by its time, and by its id where times are equal.
pub(crate) fn place(at: i64, id: &str) -> i64 {
    (at << PLACE_BITS) | (hash(0, id.as_bytes()) & ((1 << PLACE_BITS) - 1)) as i64
}

/// Returns a title without what is in brackets, what was read, and what the model said about the result: who does the same again
/// has other counts.
fn without_counts(title: &str) -> String {
    let mut depth = 0_usize;
    let outside = title.chars().filter(|character| {
        let is_outside = depth == 0;
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_outside && *character != '('
    });
    let outside: String = outside.collect();
    let phrases = outside.split("; ").filter(|phrase| !phrase.starts_with("read "));
    phrases.take_while(|phrase| !phrase.starts_with("result: ")).collect::<Vec<_>>().join("; ")
}

/// Returns the subjects of the commits that a line tells of: `committed 1a2b3c4 "Check expiry"`.
fn subjects(line: &str) -> impl Iterator<Item = &str> {
    let phrases = line.split("; ").filter_map(|phrase| phrase.strip_prefix("committed "));
    phrases.filter_map(|phrase| phrase.split_once('"')?.1.strip_suffix('"'))
}

/// Returns the subject of the commit that one with this subject reverts, as git words it.
fn reverted(subject: &str) -> Option<&str> {
    subject.strip_prefix("Revert \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_results_are_no_part_of_what_was_done() {
        for (title, expected) in [
            ("a.rs: `f` (+1 −2); cargo test passed (12 passed)", "a.rs: `f` ; cargo test passed "),
            ("asked: where is it?; read 4 files; no change", "asked: where is it?; no change"),
            ("ran it; result: 12 rows; asked: run", "ran it"),
            ("`f((1))` is slow", "`f is slow"),
        ] {
            let found = without_counts(title);
            assert_eq!(found.replace('`', ""), expected.replace('`', ""), "{title}");
        }
    }

    #[test]
    fn a_revert_names_the_commit_that_it_takes_back() {
        let line = "a.rs (+1); committed 1a2b3c4 \"Retry twice\"; pushed to origin";
        assert_eq!(subjects(line).collect::<Vec<_>>(), ["Retry twice"]);
        assert_eq!(reverted("Revert \"Retry twice\""), Some("Retry twice"));
        assert_eq!(reverted("Revert the retry"), None);
    }
}
