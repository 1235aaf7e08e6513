//! What was done, decided, learned and left open: entries and summaries in the form of a note for others.
//!
//! [`recap`] sorts what one project has and touches nothing. What is noise, what a later entry replaces (of work, where that
//! was soon after) and failures that were put right since stay out; what says the same as a later line is in it once. What is
//! left to do stays open until a task is closed or a later turn of any session did what it says.

use crate::entry::{Entry, Kind, Source, Summary};
use crate::make::prose;
use crate::read::{self, is_made};
use language::content_words;
use std::collections::{BTreeMap, BTreeSet};
use store::rusqlite::params;
use store::{Error, Store};

/// How many of the words of two lines are the same before one of them stays out, in percent.
const ALIKE: usize = 75;
/// Within which time changes of the same functions are one piece of work, in milliseconds.
const SOON: u64 = 12 * 3_600_000;
/// What is between the phrases of an entry, and between the next steps of a summary that was made by rules.
const PHRASES: &str = "; ";
/// How many of the words of something left open a later turn has that did it.
const CLOSES: f64 = 0.75;
/// How the subject of a commit begins that says itself that the work is not done, in lower case.
const UNFINISHED: [&str; 10] = [
    "wip",
    "[wip]",
    "(wip)",
    "work in progress",
    "draft",
    "[draft]",
    "checkpoint",
    "tmp",
    "temp",
    "save progress",
];
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
    pub tasks: Vec<Task>,
}

/// A task of the client's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The row of the session.
    pub session: i64,
    pub subject: String,
    /// In milliseconds since 1970.
    pub changed_at: u64,
    pub is_open: bool,
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
        let summaries: Vec<(i64, Summary)> =
            summaries.into_iter().map(with_session).collect::<Result<_, Error>>()?;
        let sessions: BTreeSet<i64> = summaries.iter().map(|(session, _)| *session).collect();
        let mut tasks = Vec::new();
        for session in sessions {
            let found = work::tasks::of_sessions(store.connection(), &[session])?;
            tasks.extend(found.into_iter().map(|task| Task {
                session,
                is_open: task.is_open(),
                changed_at: task.changed_at,
                subject: task.subject,
            }));
        }
        Ok(Self { entries, summaries, tasks })
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
        let later = &entries[number + 1..];
        let part = match part(entry) {
            // Work was done, whatever it failed at for a while.
            Part::Open if !is_put_right(entry, later) => Part::Open,
            Part::Open if is_work(entry) => Part::Done,
            Part::Open => continue,
            part => part,
        };
        let line = |part: Part, text: String, about: &str| Line {
            part,
            at: entry.at,
            id: entry.id.clone(),
            kind: Some(entry.kind.clone()),
            text,
            about: about.to_owned(),
        };
        let about = match entry.source {
            Source::Rules => entry.detail.subtitle.as_str(),
            _ => "",
        };
        let failed = failed(entry).filter(|_| part == Part::Open);
        let text = [Some(entry.line()), failed.map(str::to_owned)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(PHRASES);
        lines.push(line(part, text, about));
        let still = failing(entry).filter(|_| part == Part::Done && !is_put_right(entry, later));
        lines.extend(still.map(|phrase| line(Part::Open, phrase.to_owned(), "")));
    }
    for (_, summary) in &material.summaries {
        let has_it = |entry: &&Entry| summary.source == Source::Rules && tells(entry, &summary.learned);
        if !entries.iter().any(has_it) {
            lines.extend(items(&summary.learned).map(|text| of_summary(Part::Learned, summary, text)));
        }
    }
    lines.extend(left_open(material, &entries));
    lines.sort_by_key(|line| (line.at, line.kind.is_none()));
    without_repetitions(lines)
}

fn of_summary(part: Part, summary: &Summary, text: &str) -> Line {
    let (id, text) = (summary.id.clone(), text.to_owned());
    Line { part, at: summary.at, id, kind: None, text, about: String::new() }
}

/// Returns what a text of a summary lists.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let texts = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim());
    texts.filter(|text| says_something(text))
}

/// Returns what sessions left to do and no later turn did, and tasks that are open. Of a session, what was named last counts:
/// what was to be done before was done, or is named again.
fn left_open(material: &Material, entries: &[&Entry]) -> Vec<Line> {
    let turns: Vec<Turn<'_>> =
        material.summaries.iter().map(|(session, summary)| Turn::of(*session, summary)).collect();
    let is_task = |item: &str| material.tasks.iter().any(|task| task.subject.trim() == item);
    let mut named: BTreeMap<i64, (usize, Vec<&str>)> = BTreeMap::new();
    let mut ended: BTreeMap<i64, &Summary> = BTreeMap::new();
    for (at, turn) in turns.iter().enumerate() {
        ended.insert(turn.session, turn.summary);
        let steps: Vec<&str> = turn.next_steps().into_iter().filter(|item| !is_task(item)).collect();
        if !steps.is_empty() {
            named.insert(turn.session, (at, steps));
        }
    }
    let done: Vec<(u64, BTreeSet<String>)> = entries
        .iter()
        .filter(|entry| part(entry) == Part::Done)
        .map(|entry| (entry.at, told_by(entry)))
        .collect();
    let mut lines = Vec::new();
    for (at, steps) in named.into_values() {
        let turn = &turns[at];
        let later = || turns[at + 1..].iter().filter(|later| later.has_work());
        let next = turns[at + 1..].iter().find(|later| later.session == turn.session);
        // `yes, go on`: the next turn did what this one offered.
        if next.is_some_and(|next| next.has_work() && prose::is_nothing(&next.summary.request)) {
            continue;
        }
        let is_closed = |item: &&str| {
            let words = content_words(item);
            let covers = |other: &BTreeSet<String>| {
                let shared = words.intersection(other).count();
                shared > 0 && shared as f64 >= CLOSES * words.len() as f64
            };
            later().any(|later| covers(&later.words))
                || done.iter().any(|(done_at, words)| *done_at > turn.summary.at && covers(words))
        };
        let open = steps.iter().filter(|item| !is_closed(item));
        lines.extend(open.map(|item| of_summary(Part::Open, turn.summary, item)));
    }
    let mut last: BTreeMap<&str, &Task> = BTreeMap::new();
    for task in &material.tasks {
        let known = last.entry(task.subject.trim()).or_insert(task);
        *known = if known.changed_at <= task.changed_at { task } else { known };
    }
    let open = last.into_iter().filter(|(subject, task)| task.is_open && !subject.is_empty());
    lines.extend(
        open.filter_map(|(subject, task)| Some(of_summary(Part::Open, ended.get(&task.session)?, subject))),
    );
    lines
}

/// A turn by its summary.
struct Turn<'s> {
    session: i64,
    summary: &'s Summary,
    /// What was asked and done.
    words: BTreeSet<String>,
}

impl<'s> Turn<'s> {
    fn of(session: i64, summary: &'s Summary) -> Self {
        let words = content_words(&[summary.request.as_str(), &summary.completed].join("\n"));
        Self { session, summary, words }
    }

    fn has_work(&self) -> bool {
        !self.summary.completed.trim().is_empty()
    }

    fn next_steps(&self) -> Vec<&'s str> {
        let steps = items(&self.summary.next_steps);
        match self.summary.source {
            Source::Rules => {
                steps.flat_map(|line| line.split(PHRASES)).filter(|item| says_something(item)).collect()
            }
            _ => steps.collect(),
        }
    }
}

/// Returns the words of an entry.
fn told_by(entry: &Entry) -> BTreeSet<String> {
    let texts = [entry.title.as_str(), entry.detail.subtitle.as_str()];
    let facts = entry.detail.facts.iter().map(String::as_str).filter(|fact| !fact.starts_with("left open: "));
    content_words(&texts.into_iter().chain(facts).collect::<Vec<_>>().join("\n"))
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
/// functions were changed again, unless that was soon after; what an entry outside of the recap replaces was still so.
fn is_for_recap(entry: &Entry, times: &BTreeMap<&str, u64>) -> bool {
    let replaced_at = entry.replaced_by.as_deref().and_then(|by| times.get(by));
    let is_replaced = replaced_at.is_some_and(|at| !is_work(entry) || at.saturating_sub(entry.at) < SOON);
    !entry.is_noise && !is_replaced && !entry.title.trim().is_empty()
}

fn is_work(entry: &Entry) -> bool {
    matches!(entry.kind.as_str(), Kind::CHANGE | Kind::FIX | Kind::FEATURE | Kind::REFACTOR)
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

/// Returns the phrases of an entry; none of one that a person wrote.
fn phrases(entry: &Entry) -> impl Iterator<Item = &str> {
    let lines = std::iter::once(&entry.title).chain(&entry.detail.facts);
    lines.filter(|_| entry.source != Source::ByHand).flat_map(|line| line.split(PHRASES))
}

/// Returns what failed, where the title of an entry that was made by rules does not say it.
fn failed(entry: &Entry) -> Option<&str> {
    let says = |part: &&str| part.contains(" failed");
    let says_so = entry.title.split(PHRASES).any(|part| says(&part));
    let mut parts = entry.detail.facts.iter().flat_map(|fact| fact.split(PHRASES));
    let is_its = entry.source == Source::Rules && entry.detail.outcome == "failed" && !says_so;
    parts.find(says).filter(|_| is_its)
}

/// Returns what failed in the end, where work was committed all the same.
fn failing(entry: &Entry) -> Option<&str> {
    phrases(entry)
        .find(|phrase| check_that_fails(phrase).is_some())
        .filter(|_| entry.detail.outcome == "failed")
}

/// Returns the name of a check that failed the last time: `cargo test` of `cargo test passed, then failed (expired)`.
fn check_that_fails(phrase: &str) -> Option<&str> {
    let (name, rest) = phrase.split_once(" failed")?;
    // As `lines::checks` words it, and not a sentence of the model's.
    let is_report = rest.is_empty()
        || [" (", " twice", " once", ", then"].iter().any(|begin| rest.starts_with(begin))
        || rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) && rest.contains(" times");
    let name = name.strip_suffix(" passed, then").unwrap_or(name);
    let is_name = !name.is_empty() && !name.contains(": ");
    (is_report && is_name && !rest.contains(", then passed")).then_some(name)
}

/// Returns whether a phrase says that a check passed in the end.
fn says_passed(phrase: &str, name: &str) -> bool {
    let Some(rest) = phrase.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')) else { return false };
    rest.contains(", then passed") || rest.starts_with("passed") && !rest.contains(", then ")
}

/// Returns whether the work was committed, whatever failed on the way; a commit that calls itself unfinished does not count.
fn is_committed(entry: &Entry) -> bool {
    let committed = phrases(entry).filter_map(|phrase| phrase.strip_prefix("committed "));
    let is_finished = |commit: &str| {
        let subject = commit.split_once('"').map_or("", |(_, subject)| subject).to_lowercase();
        let is_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
        !UNFINISHED.iter().any(|mark| subject.strip_prefix(mark).is_some_and(is_end))
    };
    entry.source == Source::Rules && committed.last().is_some_and(is_finished)
}

/// Returns whether a later entry succeeded with what this one failed at: the same checks or command; where it does not say
/// which, a change of the same file.
fn is_put_right(failed: &Entry, later: &[&Entry]) -> bool {
    fn changed(entry: &Entry) -> impl Iterator<Item = &str> {
        entry.files.iter().filter(|file| file.is_changed).map(|file| file.path.as_str())
    }
    let files: BTreeSet<&str> = changed(failed).collect();
    let checks: Vec<&str> = phrases(failed).filter_map(check_that_fails).collect();
    let is_same_file = |entry: &Entry| changed(entry).any(|path| files.contains(path));
    let is_same_command =
        |entry: &Entry| entry.detail.commands.iter().any(|command| failed.detail.commands.contains(command));
    // The tests of one package say nothing about those of another.
    let is_about = |entry: &Entry| {
        let is_whole = entry.detail.commands.iter().any(|command| !is_of_a_part(command));
        is_whole || is_same_command(entry) || is_same_file(entry) || failed.detail.commands.is_empty()
    };
    let has_passed = |name: &&str| {
        later.iter().any(|entry| phrases(entry).any(|phrase| says_passed(phrase, name)) && is_about(entry))
    };
    if !checks.is_empty() && checks.iter().all(has_passed) {
        return true;
    }
    later.iter().filter(|entry| part(entry) == Part::Done).any(|entry| {
        let is_passed = entry.detail.outcome == "passed" || entry.kind == Kind::FIX;
        let is_taken_back = entry.title.starts_with("reverted") && is_same_file(entry);
        is_taken_back || is_passed && (is_same_command(entry) || is_same_file(entry) && checks.is_empty())
    })
}

/// Returns whether a command runs some of the checks alone: `cargo test -p gate`, `pytest tests/test_gate.py`.
fn is_of_a_part(command: &str) -> bool {
    const CHOOSES: [&str; 12] = [
        "-p",
        "--package",
        "--test",
        "--lib",
        "--bin",
        "-k",
        "-t",
        "-g",
        "-run",
        "--filter",
        "--testNamePattern",
        "--project",
    ];
    let words: Vec<&str> = command.split_whitespace().collect();
    words.iter().any(|word| {
        let is_file =
            word.contains('/') && !word.starts_with(['.', '/', '&', '2', '>']) || word.contains("::");
        CHOOSES.contains(word) || is_file
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
    // Most pairs differ in how many words they have.
    let (fewer, more) = (one.len().min(other.len()), one.len().max(other.len()));
    if more == 0 || fewer * 100 < more * ALIKE {
        return false;
    }
    let shared = one.intersection(other).count();
    shared * 100 >= (fewer + more - shared) * ALIKE
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
        let material = Material { entries, ..Material::default() };
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
            ..Material::default()
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
        let material = |title: &str| Material { entries: vec![failed(title)], ..Material::default() };
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
        let material = |entry: Entry| Material { entries: vec![entry], ..Material::default() };
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
        let material = |entry: Entry| Material {
            entries: vec![entry],
            summaries: vec![(1, summary.clone())],
            ..Material::default()
        };
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
        let material = |entries: Vec<Entry>| Material { entries, ..Material::default() };
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
        let material = Material { entries, summaries, ..Material::default() };
        assert_eq!(texts(&material, Part::Open), ["rename the carrier", "deploy to staging", "tell Bert"]);
        assert_eq!(texts(&material, Part::Learned), ["The queue retries forever, for ever"]);
    }

    fn of(entries: Vec<Entry>) -> Material {
        Material { entries, ..Material::default() }
    }

    /// An entry whose checks failed.
    fn red(at: u64, kind: &str, title: &str, command: &str) -> Entry {
        let commands = vec![command.to_owned()];
        let detail = Detail { commands, outcome: "failed".into(), ..Detail::default() };
        Entry { detail, ..entry(at, kind, title) }
    }

    fn green(at: u64, kind: &str, title: &str, command: &str) -> Entry {
        let mut green = red(at, kind, title, command);
        green.detail.outcome = "passed".into();
        green
    }

    #[test]
    fn a_commit_that_calls_itself_unfinished_leaves_red_work_open() {
        for (subject, is_done) in [
            ("WIP", false),
            ("wip: retry", false),
            ("WIP retry, tests red", false),
            ("[WIP] Retry", false),
            ("Draft of the retry", false),
            ("checkpoint", false),
            ("Wipe the cache", true),
            ("Retry twice", true),
            ("Temper the retries", true),
        ] {
            let title = format!("a.rs (+1); cargo test failed (retries); committed 1a2b3c4 \"{subject}\"");
            let material = of(vec![red(1, "feature", &title, "cargo test")]);
            let (done, open) = (texts(&material, Part::Done), texts(&material, Part::Open));
            let expected = if is_done { "cargo test failed (retries)" } else { title.as_str() };
            assert_eq!((done.len(), open), (usize::from(is_done), vec![expected.to_owned()]), "{subject}");
        }
    }

    #[test]
    fn work_that_failed_for_a_while_was_done_and_a_check_that_still_fails_is_open() {
        let file = |entry: Entry, path: &str| Entry {
            files: vec![File { path: path.into(), is_changed: true }],
            ..entry
        };
        let first = || {
            file(
                red(1, "feature", "a.rs: `retry` (+9); cargo test failed (retries)", "cargo test -p gate"),
                "a.rs",
            )
        };
        for (later, is_open) in [
            (
                file(
                    green(2, "fix", "a.rs: `retry` (+1); cargo test passed (9 passed)", "cargo test -p gate"),
                    "a.rs",
                ),
                false,
            ),
            (green(2, "change", "cargo test failed (retries), then passed (9 passed)", "cargo test"), false),
            (file(green(2, "change", "a.rs (+1); cargo clippy passed", "cargo clippy"), "a.rs"), true),
            (file(green(2, "change", "b.rs (+1); cargo test passed", "cargo test -p web"), "b.rs"), true),
            (green(2, "change", "cargo test passed, then failed (retries)", "cargo test"), true),
            (green(2, "change", "pushed to origin", "git push"), true),
        ] {
            let title = later.title.clone();
            let material = of(vec![first(), later]);
            let open = texts(&material, Part::Open).iter().any(|text| text.contains("a.rs: `retry` (+9)"));
            let done = texts(&material, Part::Done).iter().any(|text| text.contains("a.rs: `retry` (+9)"));
            assert_eq!((open, done), (is_open, !is_open), "{title}");
        }
    }

    #[test]
    fn a_year_of_work_is_one_recap() {
        let work = |at: u64| {
            let files =
                (0..5).map(|file| File { path: format!("src/{at}/{file}.rs"), is_changed: true }).collect();
            Entry {
                files,
                ..green(at, "change", &format!("src/{at}.rs: change {at}word"), &format!("make {at}"))
            }
        };
        assert_eq!(texts(&of((0..3_000).map(work).collect()), Part::Done).len(), 3_000);
    }

    #[test]
    fn what_an_entry_outside_of_the_recap_replaces_is_in_it() {
        let replaced =
            |kind: &str| Entry { replaced_by: Some("9".into()), ..entry(1, kind, "the queue is full") };
        for kind in ["failure", "decision", "discovery", "change"] {
            assert_eq!(recap(&of(vec![replaced(kind)])).len(), 1, "{kind}");
        }
    }

    #[test]
    fn what_a_session_left_open_stays_until_a_later_turn_does_it() {
        let step = |at: u64, request: &str, completed: &str, next_steps: &str| Summary {
            id: format!("s{at}"),
            at,
            request: request.into(),
            completed: completed.into(),
            next_steps: next_steps.into(),
            ..Summary::default()
        };
        let left = || {
            (
                1,
                step(
                    10,
                    "Add the refund endpoint",
                    "refund.rs (+40)",
                    "rate limit the refund endpoint; tell ops about the key",
                ),
            )
        };
        let both = ["rate limit the refund endpoint", "tell ops about the key"];
        for (later, expected) in [
            (vec![], &both[..]),
            // The session went on with something else.
            (vec![(1, step(20, "Which branch is this?", "", ""))], &both),
            (vec![(1, step(20, "Commit it", "committed 1a2b3c4 \"Refunds\"", ""))], &both),
            // Another session did a part of it, or something near.
            (vec![(2, step(20, "Write docs for the refund endpoint", "docs/refund.md (+9)", ""))], &both),
            (
                vec![(2, step(20, "Please rate limit the refund endpoint now", "limit.rs (+12)", ""))],
                &both[1..],
            ),
            (vec![(1, step(20, "yes, go on", "limit.rs (+12)", ""))], &[]),
            // What is named last in a session counts.
            (
                vec![(1, step(20, "And the docs", "docs/refund.md (+9)", "translate the docs"))],
                &["translate the docs"],
            ),
        ] {
            let summaries: Vec<(i64, Summary)> = [vec![left()], later].concat();
            let shown = format!("{:?}", summaries.last());
            let material = Material { summaries, ..Material::default() };
            assert_eq!(texts(&material, Part::Open), expected, "{shown}");
        }
    }

    #[test]
    fn tasks_are_open_until_they_are_closed_in_whatever_turn() {
        let summary = |at: u64, next_steps: &str| Summary {
            id: format!("s{at}"),
            at,
            completed: "a.rs (+1)".into(),
            next_steps: next_steps.into(),
            ..Summary::default()
        };
        let task = |session: i64, subject: &str, changed_at: u64, is_open: bool| Task {
            session,
            subject: subject.into(),
            changed_at,
            is_open,
        };
        let material = Material {
            entries: Vec::new(),
            summaries: vec![
                (1, summary(10, "Write the test; Fix the parser")),
                (1, summary(20, "")),
                (2, summary(30, "")),
            ],
            tasks: vec![
                task(1, "Write the test", 20, false),
                task(1, "Fix the parser", 10, true),
                task(1, "Tell Bert", 10, true),
                task(2, "Tell Bert", 30, false),
            ],
        };
        assert_eq!(texts(&material, Part::Open), ["Fix the parser"]);
    }
}
