//! Entries of a turn: one per piece of work, and one for each thing decided or found out.

use super::lines::{self, MOST_LINE, MOST_TITLE};
use super::prose::{self, Said};
use super::story::{Part, Story};
use crate::entry::{Detail, Entry, File, Kind, Source, tokens_of};
use crate::id::entry_id;
use crate::turn::{Observed, Turn};
use std::collections::BTreeSet;
use text::sanitize;

/// How many decisions, and how many discoveries, of a turn become entries.
const MOST_OF_A_KIND: usize = 4;
/// How many lines the answer of a turn may take.
const MOST_RESULTS: usize = 2;
/// How many failed commands a turn shows that has nothing else.
const MOST_FAILED_COMMANDS: usize = 2;
/// How many files of a turn an entry names.
const MOST_FILES: usize = 200;

/// What prompts and the answer of a turn say.
#[derive(Debug, Default)]
pub(super) struct Words<'t> {
    /// What was asked; empty when the prompt says nothing by itself.
    pub(super) asked: String,
    pub(super) prompt: Said,
    pub(super) answer: Said,
    /// The model's last message.
    pub(super) text: &'t str,
    /// Why the turn failed.
    pub(super) error: Option<String>,
}

impl<'t> Words<'t> {
    pub(super) fn of(story: &Story<'t>) -> Self {
        let prompt = story.prompt.map_or("", |prompt| prompt.text("text"));
        let text = story.end.map_or("", |end| end.text("text"));
        let failed = story.end.filter(|end| end.text("outcome") == "failed" || !end.text("error").is_empty());
        let error = failed.map(|end| {
            sanitize::one_line(
                [end.text("error"), text].into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
                140,
            )
        });
        let asked = match story.prompt {
            None => String::new(),
            Some(_) if prose::is_nothing(prompt) && !prompt.trim().is_empty() => String::new(),
            Some(_) => prose::asked(prompt, 220),
        };
        let is_command = prose::slash_command(prompt).is_some();
        let mut of_prompt = if is_command { Said::default() } else { prose::of_person(prompt) };
        for said in &story.said {
            let more = prose::of_person(said.text("text"));
            of_prompt.decisions.extend(more.decisions);
        }
        let answer = if error.is_some() { Said::default() } else { prose::of_model(text) };
        Self { asked, prompt: of_prompt, answer, text, error }
    }

    /// Returns whether the prompt is nothing but decisions.
    fn is_decided(&self) -> bool {
        let decided: usize = self.prompt.decisions.iter().map(|decision| decision.len()).sum();
        !self.asked.is_empty() && decided * 10 >= self.asked.len() * 8
    }
}

/// Returns the entries of a turn, each with the row of the observation that it begins with.
pub(super) fn entries(turn: &Turn, story: &Story<'_>, words: &Words<'_>) -> Vec<(i64, Entry)> {
    let mut entries = Vec::new();
    let main = main_part(story);
    for (at, part) in story.parts.iter().enumerate() {
        let is_main = Some(at) == main;
        entries.extend(work(turn, story, part, is_main, words).map(|entry| (part.anchor.row, entry)));
    }
    entries.extend(settled(turn, story, words, main));
    entries
}

/// Returns the part that the turn is about: where something was changed, else where the prompt was.
pub(super) fn main_part(story: &Story<'_>) -> Option<usize> {
    let has_prompt = |part: &Part<'_>| story.prompt.is_some_and(|prompt| prompt.project == part.project);
    let found = story.parts.iter().position(has_prompt);
    found.or((!story.parts.is_empty()).then_some(0))
}

/// Returns the entry about the work of one part.
fn work(turn: &Turn, story: &Story<'_>, part: &Part<'_>, is_main: bool, words: &Words<'_>) -> Option<Entry> {
    let mut phrases: Vec<String> = part.changed().map(lines::change).collect();
    phrases.extend(lines::checks(&part.runs));
    phrases.extend(part.did.iter().cloned());
    phrases.dedup();
    let has_work = !phrases.is_empty();
    let error = words.error.as_deref().filter(|_| is_main);
    let asked = if is_main { words.asked.as_str() } else { "" };
    let mut more = more(story, part, is_main, words);
    if !has_work {
        let failed = part.failed_commands.iter().rev().take(MOST_FAILED_COMMANDS).rev();
        more.extend(
            failed.map(|(script, why)| format!("`{}` failed ({why})", sanitize::one_line(script, 90))),
        );
    }
    if has_work {
        lead(part, &mut phrases);
        phrases.extend((!asked.is_empty()).then(|| format!("asked: {asked}")));
    } else {
        let reading = lines::reading(part);
        if asked.is_empty() && reading.is_empty() && more.is_empty() {
            return nothing(turn, story, part, is_main, words);
        }
        let has_answer = part.calls > 0 || !words.text.is_empty() || !more.is_empty();
        let end = [reading.as_str(), if has_answer { "no change" } else { "no answer" }];
        let end = end.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        if asked.is_empty() {
            phrases.push(end);
        } else {
            let room = MOST_TITLE.saturating_sub(end.chars().count() + "asked: ; ".len());
            let gist = prose::gist(asked, room);
            phrases.push(format!("asked: {gist}; {end}"));
            phrases.extend((gist != asked).then(|| format!("asked: {asked}")));
        }
    }
    phrases.extend(more);
    if is_main && error.is_none() {
        phrases.extend(result(words, has_work));
    }
    let mut packed = lines::packed(&phrases, MOST_TITLE, MOST_LINE).into_iter();
    let title = packed.next().unwrap_or_default();
    let kind = kind(part, words, has_work, error.is_some(), is_main);
    let mut entry = Entry {
        id: entry_id(&turn.platform, &turn.session, "work", &part.anchor.id),
        at: part.at,
        kind: kind.to_owned(),
        title: sanitize::one_line(&title, MOST_TITLE),
        detail: Detail {
            facts: packed.collect(),
            commands: part.commands.clone(),
            outcome: outcome(part, error.is_some()),
            symbols: symbols(part),
            ..Detail::default()
        },
        files: files(part),
        branch: turn.branch.clone(),
        source: Source::Rules,
        ..Entry::default()
    };
    // What was asked and not answered is kept and not recalled, and so is talk whose decisions have entries of their own.
    let is_idle =
        !has_work && part.calls == 0 && error.is_none() && part.refused.is_empty() && story.said.is_empty();
    entry.is_noise = is_idle && (words.text.is_empty() || words.is_decided());
    finish(&mut entry);
    Some(entry)
}

/// Makes the first phrase fit into a title; what does not comes behind it.
fn lead(part: &Part<'_>, phrases: &mut Vec<String>) {
    let is_long = phrases.first().is_some_and(|phrase| phrase.chars().count() > MOST_TITLE);
    if let Some(change) = part.changed().next().filter(|_| is_long) {
        phrases.insert(0, lines::short_change(change));
    }
}

/// Returns what else is to be told about a part: errors, refusals, messages in between, plans, subagents.
fn more(story: &Story<'_>, part: &Part<'_>, is_main: bool, words: &Words<'_>) -> Vec<String> {
    let error = words.error.as_deref().filter(|_| is_main);
    let mut more: Vec<String> = error.map(|error| format!("the turn failed: {error}")).into_iter().collect();
    more.extend(part.errors.iter().cloned());
    let failed = part.failed_edits.iter().filter(|(path, _)| !part.changes.contains_key(*path));
    more.extend(failed.map(|(path, why)| format!("an edit of {path} failed: {why}")));
    more.extend(part.refused.iter().cloned());
    if is_main {
        let said = story.said.iter().map(|said| prose::asked(said.text("text"), 220));
        more.extend(said.filter(|said| !said.is_empty()).map(|said| format!("said while it worked: {said}")));
    }
    more.extend(part.plans.iter().map(|plan| format!("plan accepted: {plan}")));
    more.extend(part.agents.iter().filter(|(what, _)| !what.is_empty()).map(|(what, answer)| {
        let answer = prose::gist(answer, 160);
        if answer.is_empty() { format!("subagent: {what}") } else { format!("subagent ({what}): {answer}") }
    }));
    more
}

/// A turn in which nothing was asked in words and nothing was done: kept, out of recall.
fn nothing(
    turn: &Turn,
    story: &Story<'_>,
    part: &Part<'_>,
    is_main: bool,
    words: &Words<'_>,
) -> Option<Entry> {
    if !is_main || story.prompt.is_none() {
        return None;
    }
    let prompt = prose::gist(story.prompt.map_or("", |prompt| prompt.text("text")), 60);
    let answer = prose::gist(words.text, 90);
    if answer.is_empty() {
        return None;
    }
    let title = format!("asked: {prompt}; answer: {answer}");
    let mut entry = Entry {
        id: entry_id(&turn.platform, &turn.session, "work", &part.anchor.id),
        at: part.at,
        kind: Kind::DISCOVERY.to_owned(),
        title: sanitize::one_line(&title, MOST_TITLE),
        branch: turn.branch.clone(),
        is_noise: true,
        ..Entry::default()
    };
    finish(&mut entry);
    Some(entry)
}

/// Returns what the model answered, without what has an entry of its own.
fn result(words: &Words<'_>, has_work: bool) -> Vec<String> {
    let settled: Vec<&str> =
        words.answer.decisions.iter().chain(&words.answer.discoveries).map(String::as_str).collect();
    // A piece may hold two sentences with a semicolon between them: it goes when most of it has an entry.
    let is_settled = |piece: &str| {
        let covered: usize = settled
            .iter()
            .filter(|text| piece.contains(text.trim_end_matches('…')))
            .map(|text| text.len())
            .sum();
        covered * 10 >= piece.len() * 7
    };
    let mark = if has_work { "result: " } else { "answer: " };
    let mut lines: Vec<String> = Vec::new();
    let pieces = prose::pieces(words.text);
    // Where nothing was done, even a short answer is all that there is.
    if let [only] = pieces.as_slice()
        && !has_work
        && is_boilerplate(only)
        && language::words(only).len() > 1
    {
        return vec![format!("{mark}{only}")];
    }
    for piece in pieces {
        if piece.ends_with(['?', '？']) || is_boilerplate(&piece) || (has_work && is_settled(&piece)) {
            continue;
        }
        let count = lines.len();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + piece.chars().count() <= MOST_LINE => {
                line.push(' ');
                line.push_str(&piece);
            }
            _ if count == MOST_RESULTS => break,
            None => lines.push(format!("{mark}{piece}")),
            Some(_) => lines.push(piece),
        }
    }
    lines
}

/// Returns whether a sentence says only that the work is done.
fn is_boilerplate(sentence: &str) -> bool {
    let words = language::words(sentence);
    let folded = language::folded(sentence);
    let openings = [
        "done",
        "all done",
        "fixed",
        "let me know",
        "great",
        "sure",
        "here's",
        "here is",
        "i've made",
        "happy to",
        "you're right",
        "perfect",
    ];
    words.len() <= 3
        || (words.len() <= 7 && openings.iter().any(|opening| folded.starts_with(opening)))
        || folded.starts_with("let me know")
}

/// Returns the kind of a part's work.
fn kind(part: &Part<'_>, words: &Words<'_>, has_work: bool, has_failed: bool, is_main: bool) -> &'static str {
    let has_changes = part.changed().any(|change| !change.is_reverted());
    if has_changes || !part.commits.is_empty() {
        let mut texts: Vec<&str> = part.commits.iter().map(String::as_str).collect();
        if is_main {
            texts.insert(0, &words.asked);
        }
        texts.push(words.text.lines().next().unwrap_or_default());
        return prose::kind_of_work(&texts);
    }
    if has_failed || outcome(part, false) == "failed" {
        return Kind::FAILURE;
    }
    if has_work { Kind::CHANGE } else { Kind::DISCOVERY }
}

/// Returns how the part's work ended: as its checks did, each the last time.
fn outcome(part: &Part<'_>, has_failed: bool) -> String {
    use super::run::Outcome;
    if has_failed {
        return "failed".to_owned();
    }
    let mut last: Vec<(&str, Outcome)> = Vec::new();
    for run in part.runs.iter().filter(|run| run.is_check) {
        last.retain(|(name, _)| *name != run.name);
        last.push((&run.name, run.outcome));
    }
    let any = |wanted: Outcome| last.iter().any(|(_, outcome)| *outcome == wanted);
    match () {
        () if any(Outcome::Failed) => "failed",
        () if any(Outcome::Interrupted) => "interrupted",
        () if any(Outcome::Passed) => "passed",
        () => "",
    }
    .to_owned()
}

/// Returns what was changed, as `path#name`.
fn symbols(part: &Part<'_>) -> Vec<String> {
    let mut symbols: Vec<String> = Vec::new();
    for change in part.changed() {
        symbols.extend(change.symbols.iter().map(|(name, _)| format!("{}#{name}", change.path)));
        if change.symbols.is_empty() {
            symbols.push(format!("{}#", change.path));
        }
    }
    symbols.sort();
    symbols.dedup();
    symbols
}

fn files(part: &Part<'_>) -> Vec<File> {
    let changed: BTreeSet<&String> = part.changes.keys().collect();
    let mut files: Vec<File> =
        changed.iter().map(|path| File { path: (*path).clone(), is_changed: true }).collect();
    let read = part.reads.iter().filter(|path| !changed.contains(path));
    files.extend(read.map(|path| File { path: path.clone(), is_changed: false }));
    files.truncate(MOST_FILES);
    files
}

/// Returns an entry for each thing that a turn decided or found out.
fn settled(turn: &Turn, story: &Story<'_>, words: &Words<'_>, main: Option<usize>) -> Vec<(i64, Entry)> {
    let part = main.map(|at| &story.parts[at]);
    let has_work = part.is_some_and(|part| {
        part.calls > 0
            && (part.changed().next().is_some()
                || !part.runs.is_empty()
                || !part.did.is_empty()
                || !part.commits.is_empty())
    });
    let mut found: Vec<(&Observed, &str, &str)> = Vec::new();
    let prompt = story.prompt.or(story.said.first().copied());
    if let Some(prompt) = prompt {
        found.extend(
            words
                .prompt
                .decisions
                .iter()
                .take(MOST_OF_A_KIND)
                .map(|text| (prompt, Kind::DECISION, text.as_str())),
        );
        found.extend(
            words.prompt.discoveries.iter().take(1).map(|text| (prompt, Kind::DISCOVERY, text.as_str())),
        );
    }
    for part in &story.parts {
        found.extend(part.answers.iter().map(|(observed, text)| (*observed, Kind::DECISION, text.as_str())));
    }
    // The answer to a question is a discovery as a whole; it has its line.
    if let Some(end) = story.end.filter(|_| has_work) {
        found.extend(
            words
                .answer
                .discoveries
                .iter()
                .take(MOST_OF_A_KIND)
                .map(|text| (end, Kind::DISCOVERY, text.as_str())),
        );
    }
    if let Some(end) = story.end {
        found.extend(
            words
                .answer
                .decisions
                .iter()
                .take(MOST_OF_A_KIND)
                .map(|text| (end, Kind::DECISION, text.as_str())),
        );
    }
    let mut entries: Vec<(i64, Entry)> = Vec::new();
    for (observed, kind, text) in found {
        let title = sanitize::one_line(text, MOST_TITLE);
        if entries.iter().any(|(_, entry)| entry.title == title) {
            continue;
        }
        let facts = if title == text { Vec::new() } else { vec![text.to_owned()] };
        let mut entry = Entry {
            id: entry_id(&turn.platform, &turn.session, &format!("{kind} {text}"), &observed.id),
            at: observed.at,
            kind: kind.to_owned(),
            title,
            detail: Detail { facts, ..Detail::default() },
            files: part.map(files).unwrap_or_default().into_iter().filter(|file| file.is_changed).collect(),
            branch: turn.branch.clone(),
            ..Entry::default()
        };
        finish(&mut entry);
        entries.push((observed.row, entry));
    }
    entries
}

/// Cuts and sanitises the lines of an entry and counts its tokens.
fn finish(entry: &mut Entry) {
    for fact in &mut entry.detail.facts {
        *fact = sanitize::one_line(fact, MOST_LINE);
    }
    entry.detail.facts.dedup();
    entry.tokens =
        tokens_of(&entry.title) + entry.detail.facts.iter().map(|fact| tokens_of(fact)).sum::<u64>();
}
