//! What was done, decided, learned and left open: entries and summaries in the form of a note for others.
//!
//! [`recap`] sorts what one project has and touches nothing. What is noise, what a later entry replaces (of work, where that
//! was soon after) and what was put right since stays out; what says the same as a later line is in it once.

use crate::entry::{Entry, Kind, Source, Summary};
use crate::read::{self, is_made};
use std::collections::{BTreeMap, BTreeSet};
use store::rusqlite::params;
use store::{Error, Store};

/// How many of the words of two lines are the same before one of them stays out, in percent.
const ALIKE: usize = 75;
/// Within which time changes of the same functions are one piece of work, in milliseconds.
const SOON: u64 = 12 * 3_600_000;
/// What is between the phrases of an entry.
const PHRASES: &str = "; ";
/// The shortest word that counts for that, in characters.
const WORD: usize = 3;

/// What a line of a recap is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Done,
    Decided,
    Learned,
    Open,
}

impl Part {
    /// Every part, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Done, Self::Decided, Self::Learned, Self::Open];
}

/// A line of a recap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub part: Part,
    /// In milliseconds since 1970.
    pub at: u64,
    /// Of the entry or summary that it is from.
    pub id: String,
    /// The type of the entry; `None` for a line of a summary.
    pub kind: Option<String>,
    pub text: String,
    /// What the work was about, for people; empty where the text says it.
    pub about: String,
}

/// What a recap is made of.
#[derive(Clone, Debug, Default)]
pub struct Material {
    pub entries: Vec<Entry>,
    /// With the row of the session.
    pub summaries: Vec<(i64, Summary)>,
}

impl Material {
    /// Returns what a project has between two moments, the second one excluded, in the order in which it happened.
    pub fn of(store: &Store, project: i64, since: u64, until: u64) -> Result<Self, Error> {
        if !is_made(store, "journal")? {
            return Ok(Self::default());
        }
        let range = params![project, as_row(since), as_row(until)];
        let condition = "e.project = ?1 AND e.at >= ?2 AND e.at < ?3 ORDER BY e.at, e.id";
        let entries = read::entries_where(store, condition, range)?;
        let condition = "s.project = ?1 AND s.at >= ?2 AND s.at < ?3 ORDER BY s.at, s.id";
        let summaries = read::summaries_where(store, condition, range)?;
        let mut select = store.connection().prepare_cached("SELECT session FROM summaries WHERE id = ?1")?;
        let with_session =
            |summary: Summary| Ok((select.query_row([&summary.id], |row| row.get(0))?, summary));
        let summaries = summaries.into_iter().map(with_session).collect::<Result<_, Error>>()?;
        Ok(Self { entries, summaries })
    }
}

fn as_row(moment: u64) -> i64 {
    i64::try_from(moment).unwrap_or(i64::MAX)
}

/// Returns the projects that have entries or summaries between two moments: their rows with their keys.
pub fn projects(store: &Store, since: u64, until: u64) -> Result<BTreeMap<i64, String>, Error> {
    if !is_made(store, "journal")? {
        return Ok(BTreeMap::new());
    }
    let mut select = store.connection().prepare_cached(
        "SELECT row, key FROM projects WHERE EXISTS (SELECT 1 FROM entries WHERE project = projects.row AND at >= ?1 AND at < ?2)
             OR EXISTS (SELECT 1 FROM summaries WHERE project = projects.row AND at >= ?1 AND at < ?2)",
    )?;
    let rows = select.query_map([as_row(since), as_row(until)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the lines of a recap, in the order in which things happened.
pub fn recap(material: &Material) -> Vec<Line> {
    let times: BTreeMap<&str, u64> =
        material.entries.iter().map(|entry| (entry.id.as_str(), entry.at)).collect();
    let entries: Vec<&Entry> = material.entries.iter().filter(|entry| is_for_recap(entry, &times)).collect();
    let mut lines = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let part = match part(entry) {
            Part::Open if is_put_right(entry, &entries[number + 1..]) => continue,
            part => part,
        };
        let (id, kind) = (entry.id.clone(), Some(entry.kind.clone()));
        let about = match entry.source {
            Source::Rules => entry.detail.subtitle.clone(),
            _ => String::new(),
        };
        let failed = failed(entry).filter(|_| part == Part::Open);
        let text = [Some(entry.line()), failed.map(str::to_owned)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ");
        lines.push(Line { part, at: entry.at, id, kind, text, about });
    }
    let last: BTreeMap<i64, u64> =
        material.summaries.iter().map(|(session, summary)| (*session, summary.at)).collect();
    for (session, summary) in &material.summaries {
        let mut add = |part: Part, text: &str| {
            let texts = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim());
            lines.extend(texts.filter(|text| says_something(text)).map(|text| Line {
                part,
                at: summary.at,
                id: summary.id.clone(),
                kind: None,
                text: text.to_owned(),
                about: String::new(),
            }));
        };
        let has_it = |entry: &&Entry| summary.source == Source::Rules && tells(entry, &summary.learned);
        if !entries.iter().any(has_it) {
            add(Part::Learned, &summary.learned);
        }
        // What was to be done next was done, or is named again, in the turns that followed.
        if last.get(session) == Some(&summary.at) {
            add(Part::Open, &summary.next_steps);
        }
    }
    lines.sort_by_key(|line| (line.at, line.kind.is_none()));
    without_repetitions(lines)
}

/// Returns whether an entry says what was learned by a summary that rules made: as a discovery, or as the answer to a question.
fn tells(entry: &Entry, learned: &str) -> bool {
    let said = match entry.kind.as_str() {
        Kind::DISCOVERY if entry.detail.subtitle.is_empty() => &entry.title,
        _ => &entry.detail.subtitle,
    };
    let said = said.trim_end_matches(['…', '.', '。']);
    !said.is_empty() && learned.contains(said)
}

/// Returns whether a line of a summary is for a recap: not what only leads to a list, or the client's own errors.
fn says_something(text: &str) -> bool {
    const ERRORS: [&str; 2] = ["API Error", "Prompt is too long"];
    !text.is_empty() && !text.ends_with(':') && !ERRORS.iter().any(|error| text.starts_with(error))
}

/// Returns whether an entry is for a recap at all; `times` are those of the entries by their ids. Work was done although its
/// functions were changed again, unless that was soon after.
fn is_for_recap(entry: &Entry, times: &BTreeMap<&str, u64>) -> bool {
    let is_replaced = entry.replaced_by.as_deref().is_some_and(|by| {
        let is_work =
            matches!(entry.kind.as_str(), Kind::CHANGE | Kind::FIX | Kind::FEATURE | Kind::REFACTOR);
        !is_work || times.get(by).is_some_and(|at| at.saturating_sub(entry.at) < SOON)
    });
    !entry.is_noise && !is_replaced && !entry.title.trim().is_empty()
}

fn part(entry: &Entry) -> Part {
    match entry.kind.as_str() {
        Kind::DECISION => Part::Decided,
        Kind::FAILURE => Part::Open,
        Kind::DISCOVERY | "security_alert" | "security_note" | "sensitive" => Part::Learned,
        _ if entry.detail.outcome == "failed" && !is_committed(entry) => Part::Open,
        _ => Part::Done,
    }
}

/// Returns what failed, where the title of an entry that was made by rules does not say it.
fn failed(entry: &Entry) -> Option<&str> {
    let says = |part: &&str| part.contains(" failed");
    let says_so = entry.title.split(PHRASES).any(|part| says(&part));
    let mut parts = entry.detail.facts.iter().flat_map(|fact| fact.split(PHRASES));
    let is_its = entry.source == Source::Rules && entry.detail.outcome == "failed" && !says_so;
    parts.find(says).filter(|_| is_its)
}

/// Returns whether the work was committed, whatever failed on the way.
fn is_committed(entry: &Entry) -> bool {
    let mut lines = std::iter::once(&entry.title).chain(&entry.detail.facts);
    entry.source == Source::Rules
        && lines.any(|line| line.split(PHRASES).any(|part| part.starts_with("committed ")))
}

/// Returns whether a later entry succeeded with what this one failed at: the same command, or a change of the same file.
fn is_put_right(failed: &Entry, later: &[&Entry]) -> bool {
    let changed = |entry: &Entry| -> BTreeSet<String> {
        entry.files.iter().filter(|file| file.is_changed).map(|file| file.path.clone()).collect()
    };
    let files = changed(failed);
    later.iter().filter(|entry| part(entry) == Part::Done).any(|entry| {
        let is_same_command =
            entry.detail.commands.iter().any(|command| failed.detail.commands.contains(command));
        let is_passed = entry.detail.outcome == "passed" || entry.kind == Kind::FIX;
        let is_taken_back = entry.title.starts_with("reverted");
        (is_passed || is_taken_back) && (is_same_command || !files.is_disjoint(&changed(entry)))
    })
}

/// Takes out lines that say the same as another one of their part: the entry stays, then the later line.
fn without_repetitions(lines: Vec<Line>) -> Vec<Line> {
    let words: Vec<BTreeSet<String>> = lines.iter().map(|line| words(&line.text)).collect();
    let mut is_kept = vec![true; lines.len()];
    for at in (0..lines.len()).rev() {
        let says_the_same = |other: usize| {
            let is_prior = (lines[other].kind.is_some(), other) > (lines[at].kind.is_some(), at);
            is_kept[other]
                && is_prior
                && lines[other].part == lines[at].part
                && alike(&words[other], &words[at])
        };
        is_kept[at] = !(0..lines.len()).any(says_the_same);
    }
    lines.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(line, _)| line).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= WORD);
    words.map(str::to_lowercase).collect()
}

fn alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let all = one.union(other).count();
    all > 0 && one.intersection(other).count() * 100 >= all * ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Detail, File};

    fn entry(at: u64, kind: &str, title: &str) -> Entry {
        Entry { id: at.to_string(), at, kind: kind.to_owned(), title: title.to_owned(), ..Entry::default() }
    }

    fn texts(material: &Material, part: Part) -> Vec<String> {
        recap(material).into_iter().filter(|line| line.part == part).map(|line| line.text).collect()
    }

    #[test]
    fn entries_are_sorted_by_what_they_are_about_and_noise_stays_out() {
        let entries = vec![
            entry(1, "change", "auth.rs: checks expiry"),
            entry(2, "decision", "Prices are integer cents"),
            entry(3, "discovery", "The queue retries for ever"),
            entry(4, "failure", "deploy: permission denied"),
            Entry { is_noise: true, ..entry(5, "change", "looked around") },
            Entry { replaced_by: Some("7".into()), ..entry(6, "change", "half of it") },
            entry(7, "change", "all of it"),
        ];
        let material = Material { entries, summaries: Vec::new() };
        assert_eq!(texts(&material, Part::Done), ["auth.rs: checks expiry", "all of it"]);
        assert_eq!(texts(&material, Part::Decided), ["Prices are integer cents"]);
        assert_eq!(texts(&material, Part::Learned), ["The queue retries for ever"]);
        assert_eq!(texts(&material, Part::Open), ["deploy: permission denied"]);
    }

    #[test]
    fn work_was_done_although_its_functions_were_changed_again_days_later() {
        let replaced =
            |kind: &str| Entry { replaced_by: Some(SOON.to_string()), ..entry(0, kind, "the first") };
        let material = |kind: &str| Material {
            entries: vec![replaced(kind), entry(SOON, kind, "a later one")],
            summaries: Vec::new(),
        };
        assert_eq!(texts(&material("feature"), Part::Done), ["the first", "a later one"]);
        assert_eq!(texts(&material("decision"), Part::Decided), ["a later one"], "it holds no longer");
    }

    #[test]
    fn what_was_committed_is_done_whatever_failed_on_the_way() {
        let failed = |title: &str| Entry {
            detail: Detail { outcome: "failed".into(), ..Detail::default() },
            ..entry(1, "fix", title)
        };
        let material = |title: &str| Material { entries: vec![failed(title)], summaries: Vec::new() };
        assert_eq!(texts(&material("a.rs (+1); helm diff failed"), Part::Open).len(), 1);
        assert_eq!(
            texts(&material("a.rs (+1); helm diff failed; committed 1a2b3c4 \"Fix it\""), Part::Done).len(),
            1
        );
    }

    #[test]
    fn what_is_left_open_says_what_failed() {
        let facts =
            vec!["pip install x failed (none found); asked: start".to_owned(), "lint failed".to_owned()];
        let entry = Entry {
            detail: Detail { outcome: "failed".into(), facts, ..Detail::default() },
            ..entry(1, "change", "new router.py (+3)")
        };
        let material = |entry: Entry| Material { entries: vec![entry], summaries: Vec::new() };
        assert_eq!(
            texts(&material(entry.clone()), Part::Open),
            ["new router.py (+3); pip install x failed (none found)"]
        );
        let told = Entry { title: "new router.py (+3); pytest failed".into(), ..entry };
        assert_eq!(texts(&material(told), Part::Open), ["new router.py (+3); pytest failed"]);
    }

    #[test]
    fn an_answer_that_an_entry_tells_comes_once() {
        let question = |subtitle: &str| Entry {
            detail: Detail { subtitle: subtitle.into(), ..Detail::default() },
            ..entry(1, "discovery", "asked: Where are labels?; answer: Labels are in S3")
        };
        let summary = Summary {
            at: 1,
            learned: "Labels are in S3. The key is in a table.".into(),
            ..Summary::default()
        };
        let material =
            |entry: Entry| Material { entries: vec![entry], summaries: vec![(1, summary.clone())] };
        assert_eq!(texts(&material(question("Labels are in S3.")), Part::Learned).len(), 1);
        assert_eq!(texts(&material(question("Receipts are in a table.")), Part::Learned).len(), 2);
    }

    #[test]
    fn a_failure_that_was_put_right_is_not_open() {
        let detail = |outcome: &str| Detail {
            commands: vec!["cargo test".into()],
            outcome: outcome.into(),
            ..Detail::default()
        };
        let failed = Entry { detail: detail("failed"), ..entry(1, "failure", "cargo test fails") };
        let passed = Entry { detail: detail("passed"), ..entry(2, "change", "tests pass") };
        let material = |entries: Vec<Entry>| Material { entries, summaries: Vec::new() };
        assert_eq!(texts(&material(vec![failed.clone(), passed]), Part::Open), [""; 0]);
        assert_eq!(
            texts(&material(vec![failed.clone(), entry(2, "change", "other")]), Part::Open),
            ["cargo test fails"]
        );
        let files = vec![File { path: "a.rs".into(), is_changed: true }];
        let broken = Entry { files: files.clone(), ..entry(1, "failure", "a.rs does not build") };
        let fixed = Entry { files, ..entry(2, "fix", "a.rs: builds again") };
        assert_eq!(texts(&material(vec![broken, fixed]), Part::Open), [""; 0]);
    }

    #[test]
    fn only_the_last_next_steps_of_a_session_are_open_and_repetitions_come_once() {
        let summary = |at: u64, next_steps: &str, learned: &str| Summary {
            id: format!("s{at}"),
            at,
            next_steps: next_steps.into(),
            learned: learned.into(),
            ..Summary::default()
        };
        let summaries = vec![
            (1, summary(10, "write the test", "")),
            (1, summary(20, "- deploy to staging\n- tell Bert", "the queue retries forever, for ever")),
            (2, summary(15, "rename the carrier", "")),
        ];
        let entries = vec![entry(12, "discovery", "The queue retries forever, for ever")];
        let material = Material { entries, summaries };
        assert_eq!(texts(&material, Part::Open), ["rename the carrier", "deploy to staging", "tell Bert"]);
        assert_eq!(texts(&material, Part::Learned), ["The queue retries forever, for ever"]);
    }
}
