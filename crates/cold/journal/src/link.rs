//! Which entry replaces which: near-duplicates merge, the same definition changed again, a decision that takes another's place.
//!
//! An entry is replaced by the first later one of its project that [`replaces`] it. That depends on the two alone, so the result
//! is the same in whatever order turns are made. To find candidates without a look at all entries, each is filed under keys; of
//! the entries under a key, only the [`WINDOW`] next ones are compared.

use crate::entry::{Detail, Kind, Source};
use crate::make::prose;
use language::content_words;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use store::Error;
use store::rusqlite::{OptionalExtension as _, Transaction, params};

/// How many entries behind another under the same key are compared with it.
const WINDOW: usize = 8;
/// Titles that share this part of their words say the same.
const ALIKE: f64 = 0.75;
/// How much of an earlier decision's words a later one must have to take its place.
const ABOUT_THE_SAME: f64 = 0.4;
/// Fewer words are too few to compare titles by.
const FEWEST_WORDS: usize = 3;
/// A title is filed under this many pairs of its words, each pair chosen by another order of all words. Titles that are
/// just alike enough share one with a probability of 98 %.
const PAIRS: u64 = 5;
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
    symbols: BTreeSet<String>,
    /// What the words behind "instead of" or "no longer" are about.
    instead_of: BTreeSet<String>,
    /// Whether it can be replaced: not what a person wrote or pinned.
    is_replaceable: bool,
    is_noise: bool,
    replaced_by: Option<String>,
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
        keys
    }
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
    let shared = earlier.words.intersection(&later.words).count();
    let all = earlier.words.len() + later.words.len() - shared;
    let is_alike = earlier.words.len() >= FEWEST_WORDS && shared as f64 >= ALIKE * all as f64;
    if is_alike && earlier.kind == later.kind {
        return Some(Replaces::Repeats);
    }
    let is_changed_again = !earlier.symbols.is_empty() && earlier.symbols.is_subset(&later.symbols);
    let is_about_the_same = shared >= 2 && shared as f64 >= ABOUT_THE_SAME * earlier.words.len() as f64;
    let is_taken_back = earlier.is_decision()
        && later.is_decision()
        && is_about_the_same
        && !earlier.words.is_disjoint(&later.instead_of);
    (is_changed_again || is_taken_back).then_some(Replaces::Supersedes)
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
    /// Entries whose replacement may be another now, with the place of the first entry that came or went behind them.
    dirty: BTreeMap<i64, i64>,
    /// Entries whose number of repetitions may be another now, by their ids.
    counted: BTreeSet<String>,
    marks: HashMap<i64, Rc<Marks>>,
}

impl<'t> Links<'t> {
    pub(crate) fn new(transaction: &'t Transaction<'t>) -> Self {
        Self { transaction, dirty: BTreeMap::new(), counted: BTreeSet::new(), marks: HashMap::new() }
    }

    /// Files a new entry.
    pub(crate) fn insert(&mut self, row: i64) -> Result<(), Error> {
        self.marks.remove(&row);
        let Some(marks) = self.load(row)? else { return Ok(()) };
        let mut insert =
            self.transaction.prepare_cached("INSERT OR REPLACE INTO entry_keys VALUES (?1, ?2, ?3, ?4)")?;
        for key in marks.keys() {
            insert.execute(params![marks.project, key, marks.place, row])?;
        }
        drop(insert);
        self.disturb(&marks)?;
        self.dirty.insert(row, i64::MIN);
        self.counted.insert(marks.id.clone());
        Ok(())
    }

    /// Takes note that an entry is about to be deleted.
    pub(crate) fn remove(&mut self, row: i64) -> Result<(), Error> {
        let Some(marks) = self.load(row)? else { return Ok(()) };
        self.disturb(&marks)?;
        self.counted.extend(marks.replaced_by.clone());
        let mut select = self.transaction.prepare_cached("SELECT row FROM entries WHERE replaced_by = ?1")?;
        let replaced = select.query_map([&marks.id], |row| row.get(0))?;
        for replaced in replaced {
            self.dirty.insert(replaced?, i64::MIN);
        }
        self.dirty.remove(&row);
        self.counted.remove(&marks.id);
        self.marks.remove(&row);
        Ok(())
    }

    /// Notes the entries before one that may be replaced by it, or by another now that it goes.
    fn disturb(&mut self, marks: &Marks) -> Result<(), Error> {
        let mut select = self.transaction.prepare_cached(
            "SELECT entry FROM entry_keys WHERE project = ?1 AND key = ?2 AND place <= ?3 ORDER BY place DESC LIMIT ?4",
        )?;
        for key in marks.keys() {
            let near =
                select.query_map(params![marks.project, key, marks.place, WINDOW + 1], |row| row.get(0))?;
            for row in near {
                let first = self.dirty.entry(row?).or_insert(marks.place);
                *first = marks.place.min(*first);
            }
        }
        Ok(())
    }

    /// Decides anew about every entry that may be concerned.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        for (row, first) in std::mem::take(&mut self.dirty) {
            let Some(marks) = self.load(row)? else { continue };
            // What comes behind the replacement changes nothing.
            if let Some(by) = &marks.replaced_by
                && self.at(by)?.is_some_and(|at| place(at, by) < first)
            {
                continue;
            }
            let found = self.replacement(&marks)?;
            let (by, is_repeated) = match &found {
                Some((later, how)) => (Some(later.id.as_str()), *how == Replaces::Repeats),
                None => (None, false),
            };
            let changed = self
                .transaction
                .prepare_cached(
                    "UPDATE entries SET replaced_by = ?2, is_repeated = ?3
                     WHERE row = ?1 AND (replaced_by IS NOT ?2 OR is_repeated <> ?3)",
                )?
                .execute(params![row, by, is_repeated])?;
            if changed > 0 {
                self.counted.extend(marks.replaced_by.clone());
                self.counted.extend(by.map(str::to_owned));
            }
        }
        self.count()
    }

    fn replacement(&mut self, marks: &Rc<Marks>) -> Result<Option<(Rc<Marks>, Replaces)>, Error> {
        let mut candidates: BTreeSet<i64> = BTreeSet::new();
        if !marks.is_replaceable {
            return Ok(None);
        }
        let mut select = self.transaction.prepare_cached(
            "SELECT entry FROM entry_keys WHERE project = ?1 AND key = ?2 AND place >= ?3 ORDER BY place LIMIT ?4",
        )?;
        for key in marks.keys() {
            let near =
                select.query_map(params![marks.project, key, marks.place, WINDOW + 1], |row| row.get(0))?;
            for row in near {
                candidates.insert(row?);
            }
        }
        drop(select);
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

    /// Counts how often each entry was told, from the earliest on: an entry that repeats another counts that one's, too.
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
            "SELECT id, project, at, kind, title, detail, source, is_pinned, is_noise, replaced_by FROM entries WHERE row = ?1",
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
            // A change outside of any definition is not undone by the next one.
            let is_named = detail.symbols.iter().all(|symbol| !symbol.ends_with('#'));
            Ok(Marks {
                row,
                place: place(at, &id),
                id,
                project: found.get(1)?,
                kind,
                words: words(&title),
                symbols: if is_named { detail.symbols.into_iter().collect() } else { BTreeSet::new() },
                instead_of: content_words(&instead_of).into_iter().take(4).collect(),
                is_replaceable: !is_pinned && source != Source::ByHand,
                is_noise: found.get(8)?,
                replaced_by: found.get(9)?,
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
fn place(at: i64, id: &str) -> i64 {
    (at << 21) | (hash(0, id.as_bytes()) & 0x1f_ffff) as i64
}

/// Returns the words of a title, without figures: what was done again has others.
fn words(title: &str) -> BTreeSet<String> {
    let mut words = content_words(title);
    words.retain(|word| word.chars().any(char::is_alphabetic));
    words
}
