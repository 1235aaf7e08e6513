//! Which entries a session gets to see first: those that its situation is about, and the newest.

use crate::entry::{Entry, Kind, Source};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is known about a session before its first prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    pub branch: Option<String>,
    /// Files of the work tree that have changed, relative to its top.
    pub changed: BTreeSet<String>,
    /// The subjects of open tasks.
    pub tasks: Vec<String>,
}

/// An entry that may be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Candidate {
    pub(super) entry: Entry,
    /// The rows of the session and of the prompt that it was made for.
    pub(super) turn: (i64, i64),
}

/// How entries are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By what the situation has in common with them, and by age.
    #[default]
    Relevance,
    /// By age alone.
    Newest,
}

/// After how many newer entries being new counts for half.
const HALF_LIFE: f64 = 12.0;
/// What an entry gains by being of the session's branch, and by having changed or read a file that has changed since; each
/// less, the more entries it would hold for.
const BRANCH: f64 = 0.8;
const CHANGED_FILE: f64 = 0.9;
const READ_FILE: f64 = 0.7;
/// What it gains at most by words that it shares with open tasks.
const TASKS: f64 = 0.9;
/// What a person wrote or pinned comes before everything else.
const BY_HAND: f64 = 10.0;
const PINNED: f64 = 20.0;
/// The part of that which the other entries of its turn gain, the part of it that is left one turn further, and how far it goes.
const SAME_TURN: f64 = 0.9;
const NEXT_TURN: f64 = 0.85;
const NEAR_TURNS: usize = 3;
/// What is still true long after it was found out.
const LASTING: f64 = 0.1;

/// The shortest word that says something.
const MIN_WORD_CHARS: usize = 4;

/// Returns the places of the entries in `entries`, the first to be shown first. Of entries that say the same, only the newest
/// is among them.
pub(super) fn rank(candidates: &[Candidate], situation: &Situation, order: Order) -> Vec<usize> {
    let mut newest: Vec<usize> = (0..candidates.len()).collect();
    newest.sort_by(|one, other| key(&candidates[*other]).cmp(&key(&candidates[*one])));
    let mut said = BTreeSet::new();
    newest.retain(|place| said.insert(candidates[*place].entry.title.as_str()));
    let relevance = match order {
        Order::Relevance => relevance(candidates, situation),
        Order::Newest => vec![0.0; candidates.len()],
    };
    let mut scored: Vec<(f64, usize)> = newest
        .iter()
        .enumerate()
        .map(|(age, place)| {
            let recency = HALF_LIFE / (HALF_LIFE + age as f64);
            (recency + relevance[*place] + by_hand(&candidates[*place].entry), *place)
        })
        .collect();
    // Stable, so that the newer one of two equals comes first.
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().map(|(_, place)| place).collect()
}

fn key(candidate: &Candidate) -> (u64, &str) {
    (candidate.entry.at, &candidate.entry.id)
}

/// Returns how relevant each candidate is: by itself, or because of another one of its turn or of one close to it. What was found
/// out or decided names no file, but is about those of the work around it.
pub(super) fn relevance(candidates: &[Candidate], situation: &Situation) -> Vec<f64> {
    let weights = Weights::of(candidates, situation);
    let mut turns: BTreeMap<(i64, i64), f64> = BTreeMap::new();
    let mut own = Vec::new();
    for candidate in candidates {
        let relevance = weights.of_entry(&candidate.entry, situation);
        let turn = turns.entry(candidate.turn).or_default();
        *turn = turn.max(relevance);
        own.push(relevance);
    }
    let spread = spread(&turns.into_iter().collect::<Vec<_>>());
    let of = |(candidate, own): (&Candidate, &f64)| {
        let is_lasting = matches!(&*candidate.entry.kind, Kind::DECISION | Kind::DISCOVERY | Kind::FAILURE);
        let lasting = if is_lasting { LASTING } else { 0.0 };
        own.max(spread.get(&candidate.turn).copied().unwrap_or_default()) + lasting
    };
    candidates.iter().zip(&own).map(of).collect()
}

/// Returns what each turn gains by the turns around it, and by its own entries; `turns` are in their order.
fn spread(turns: &[((i64, i64), f64)]) -> HashMap<(i64, i64), f64> {
    let mut spread = HashMap::new();
    for (place, (turn, _)) in turns.iter().enumerate() {
        let near = place.saturating_sub(NEAR_TURNS)..(place + NEAR_TURNS + 1).min(turns.len());
        let of_session = near.filter(|other| turns[*other].0.0 == turn.0);
        let gained = of_session.map(|other| {
            let distance = i32::try_from(place.abs_diff(other)).unwrap_or(i32::MAX);
            turns[other].1 * SAME_TURN * NEXT_TURN.powi(distance)
        });
        spread.insert(*turn, gained.fold(0.0, f64::max));
    }
    spread
}

fn by_hand(entry: &Entry) -> f64 {
    let pinned = if entry.is_pinned { PINNED } else { 0.0 };
    pinned + if entry.source == Source::ByHand { BY_HAND } else { 0.0 }
}

/// How much each sign counts here: one that most entries have says little.
struct Weights {
    branch: f64,
    files: BTreeMap<String, f64>,
    words: HashMap<String, f64>,
    all_words: f64,
}

impl Weights {
    fn of(candidates: &[Candidate], situation: &Situation) -> Self {
        let all = candidates.len().max(1) as f64;
        let rarity = |has: &dyn Fn(&Entry) -> bool| {
            let count = candidates.iter().filter(|candidate| has(&candidate.entry)).count();
            1.0 - count as f64 / all
        };
        let branch = situation.branch.as_deref();
        let names = |entry: &Entry, path: &str| entry.files.iter().any(|file| file.path == path);
        let files = situation.changed.iter().map(|path| (path.clone(), rarity(&|entry| names(entry, path))));
        let tasks: BTreeSet<String> = situation.tasks.iter().flat_map(|task| words(task)).collect();
        let said = candidates.iter().filter(|_| !tasks.is_empty()).map(|candidate| spoken(&candidate.entry));
        let said: Vec<HashSet<String>> = said.collect();
        let rarity_of_word =
            |word: &str| 1.0 - said.iter().filter(|words| words.contains(word)).count() as f64 / all;
        let words: HashMap<String, f64> =
            tasks.iter().map(|word| (word.clone(), rarity_of_word(word))).collect();
        Self {
            branch: rarity(&|entry| branch.is_some() && entry.branch.as_deref() == branch),
            files: files.collect(),
            all_words: words.values().sum(),
            words,
        }
    }

    fn of_entry(&self, entry: &Entry, situation: &Situation) -> f64 {
        let is_of_branch = situation.branch.is_some() && entry.branch == situation.branch;
        let branch = if is_of_branch { BRANCH * self.branch } else { 0.0 };
        let of_file = |file: &crate::File| {
            let weight = if file.is_changed { CHANGED_FILE } else { READ_FILE };
            self.files.get(&file.path).map_or(0.0, |rarity| weight * rarity)
        };
        let file = entry.files.iter().map(of_file).fold(0.0, f64::max);
        branch + file + self.of_tasks(entry)
    }

    fn of_tasks(&self, entry: &Entry) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let shared: f64 = spoken(entry).iter().filter_map(|word| self.words.get(word)).sum();
        // A few words of a task are enough: no title repeats all of them.
        TASKS * (3.0 * shared / self.all_words).min(1.0)
    }
}

/// Returns the words of an entry's title and of the names of its files.
fn spoken(entry: &Entry) -> HashSet<String> {
    words(&entry.title).chain(entry.files.iter().flat_map(|file| words(&file.path))).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| word.chars().count() >= MIN_WORD_CHARS).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    /// Each is of a turn of its own.
    fn ranked(entries: &[Entry], situation: &Situation, order: Order) -> Vec<usize> {
        let candidate =
            |(place, entry): (usize, &Entry)| Candidate { entry: entry.clone(), turn: (1, place as i64) };
        rank(&entries.iter().enumerate().map(candidate).collect::<Vec<_>>(), situation, order)
    }

    fn entry(id: &str, at: u64, title: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            at,
            kind: "change".to_owned(),
            title: title.to_owned(),
            ..Entry::default()
        }
    }

    fn filler() -> Vec<Entry> {
        (0..60)
            .map(|number| entry(&format!("f{number}"), 1_000 + number, &format!("filler {number}")))
            .collect()
    }

    #[track_caller]
    fn check(chosen: Entry, situation: Situation) {
        let mut entries = filler();
        entries.insert(0, Entry { at: 1, ..chosen });
        let place = |order: Order| ranked(&entries, &situation, order).iter().position(|place| *place == 0);
        assert!(place(Order::Relevance) < Some(5), "{:?}", place(Order::Relevance));
        assert_eq!(place(Order::Newest), Some(60));
    }

    #[test]
    fn an_old_entry_of_the_branch_comes_early() {
        let old = Entry { branch: Some("fix/x".into()), ..entry("a", 1, "old") };
        check(old, Situation { branch: Some("fix/x".into()), ..Situation::default() });
    }

    #[test]
    fn what_was_found_out_in_a_turn_comes_with_what_was_changed_there() {
        let files = vec![File { path: "src/auth.rs".into(), is_changed: true }];
        let mut candidates: Vec<Candidate> = filler()
            .into_iter()
            .enumerate()
            .map(|(turn, entry)| Candidate { entry, turn: (1, turn as i64) })
            .collect();
        candidates.push(Candidate { entry: Entry { files, ..entry("a", 1, "a change") }, turn: (1, 99) });
        candidates.push(Candidate { entry: entry("b", 2, "a discovery"), turn: (1, 99) });
        let changed = BTreeSet::from(["src/auth.rs".to_owned()]);
        let order = rank(&candidates, &Situation { changed, ..Situation::default() }, Order::Relevance);
        assert!(order[..10].contains(&60) && order[..10].contains(&61), "{order:?}");
    }

    #[test]
    fn an_old_entry_about_a_changed_file_comes_early() {
        let files = vec![File { path: "src/auth.rs".into(), is_changed: false }];
        let changed = BTreeSet::from(["src/auth.rs".to_owned()]);
        check(Entry { files, ..entry("a", 1, "old") }, Situation { changed, ..Situation::default() });
    }

    #[test]
    fn an_old_entry_about_an_open_task_comes_early() {
        let old = entry("a", 1, "retry.rs: backoff doubles up to an hour");
        check(old, Situation { tasks: vec!["Cap the retry backoff".into()], ..Situation::default() });
    }

    #[test]
    fn the_branch_of_every_entry_says_nothing_and_the_newest_come_first() {
        let entries: Vec<Entry> =
            filler().into_iter().map(|entry| Entry { branch: Some("main".into()), ..entry }).collect();
        let situation = Situation { branch: Some("main".into()), ..Situation::default() };
        let order = ranked(&entries, &situation, Order::Relevance);
        assert_eq!(order, (0..60).rev().collect::<Vec<_>>());
    }

    #[test]
    fn pinned_comes_first_then_what_a_person_wrote_and_the_same_words_once() {
        let mut entries = filler();
        entries.push(Entry { is_pinned: true, ..entry("p", 1, "pinned") });
        entries.push(Entry { source: Source::ByHand, ..entry("h", 2, "by hand") });
        entries.push(entry("again", 3, "filler 59"));
        let order = ranked(&entries, &Situation::default(), Order::Relevance);
        let titles: Vec<&str> = order.iter().map(|place| entries[*place].title.as_str()).collect();
        assert_eq!(titles[..3], ["pinned", "by hand", "filler 59"]);
        assert_eq!(order.len(), 62);
        assert!(order.contains(&59) && !order.contains(&62));
    }
}
