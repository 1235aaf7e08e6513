//! Entries of a turn: one per piece of work, and one for each thing decided or found out.

use super::lines::{self, MOST_LINE, MOST_TITLE};
use super::offer;
use super::prose::{self, Said};
use super::story::{Part, Story};
use crate::entry::{Detail, Entry, File, Kind, Lines, Source, tokens_of};
use crate::id::entry_id;
use crate::link;
use crate::turn::{Before, Observed, Turn};
use std::collections::{BTreeSet, HashMap};
use text::sanitize;

/// How much of a prompt says what was asked, and how much of that what it answers to, in characters.
const MOST_ASKED: usize = 220;
const MOST_ABOUT_ASKED: usize = 100;
/// How many decisions, and how many discoveries, of a turn become entries.
const MOST_OF_A_KIND: usize = 4;
/// How many lines the answer of a turn may take; one more where nothing was done after so many calls.
const MOST_RESULTS: usize = 2;
const MANY_CALLS: usize = 5;
/// How many failed commands a turn shows that has nothing else.
const MOST_FAILED_COMMANDS: usize = 2;
/// How much of an answer says what a question was about, in characters.
const MOST_ABOUT: usize = 240;
/// How many files of a turn an entry names.
const MOST_FILES: usize = 200;

/// What prompts and the answer of a turn say.
#[derive(Debug, Default)]
pub(super) struct Words<'t> {
    /// What was asked; empty when the prompt says nothing by itself.
    pub(super) asked: String,
    /// Whether what was asked wants an answer, and not work.
    pub(super) is_question: bool,
    pub(super) prompt: Said,
    pub(super) answer: Said,
    /// The model's last message.
    pub(super) text: &'t str,
    /// Why the turn failed.
    pub(super) error: Option<String>,
}

impl<'t> Words<'t> {
    pub(super) fn of(story: &Story<'t>, before: &Before) -> Self {
        let prompt = story.prompt.map_or("", |prompt| prompt.text("text"));
        let text = story.end.map_or("", |end| end.text("text"));
        let failed = story.end.filter(|end| end.text("outcome") == "failed" || !end.text("error").is_empty());
        let error = failed.map(|end| {
            sanitize::one_line(
                [end.text("error"), text].into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
                140,
            )
        });
        let answered = offer::answered(prompt, before);
        let asked = match (story.prompt, &answered) {
            (None, _) => String::new(),
            (Some(_), Some(answered)) => {
                let about = prose::gist(&answered.about, MOST_ABOUT_ASKED);
                let room = MOST_ASKED - about.chars().count();
                format!("{about} → {}", prose::asked(prompt, room))
            }
            (Some(_), _) if prose::is_nothing(prompt) && !prompt.trim().is_empty() => String::new(),
            (Some(_), _) if prose::dangles(prompt) => prose::with_before(prompt, before),
            (Some(_), _) => prose::asked(prompt, MOST_ASKED),
        };
        let is_command = prose::slash_command(prompt).is_some();
        let mut of_prompt = if is_command { Said::default() } else { prose::of_person(prompt) };
        for said in &story.said {
            let more = prose::of_person(said.text("text"));
            of_prompt.decisions.extend(more.decisions);
        }
        if let Some(answered) = answered.filter(|answered| answered.is_decision) {
            of_prompt.decisions.retain(|decision| !answered.said.contains(decision.trim_end_matches('…')));
            of_prompt.decisions.insert(0, answered.text);
        }
        let answer = if error.is_some() { Said::default() } else { prose::of_model(text) };
        Self { asked, is_question: prose::wants_answer(prompt), prompt: of_prompt, answer, text, error }
    }

    /// Returns whether the prompt is nothing but decisions.
    fn is_decided(&self) -> bool {
        let decided: usize = self.prompt.decisions.iter().map(|decision| decision.len()).sum();
        !self.asked.is_empty() && decided * 10 >= self.asked.len() * 7
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
    let of_prompt = story.parts.iter().position(has_prompt);
    let at_work = of_prompt.filter(|at| has_work(&story.parts[*at]));
    let at_work = at_work.or_else(|| story.parts.iter().position(has_work));
    at_work.or(of_prompt).or((!story.parts.is_empty()).then_some(0))
}

/// Returns the row that an entry about an observation is filed under: words in another project than the turn is about belong there.
pub(super) fn anchor_of(observed: &Observed, main: Option<&Part<'_>>) -> i64 {
    main.filter(|part| part.project != observed.project).map_or(observed.row, |part| part.anchor.row)
}

/// Returns the entry about the work of one part.
fn work(turn: &Turn, story: &Story<'_>, part: &Part<'_>, is_main: bool, words: &Words<'_>) -> Option<Entry> {
    let has_work = works(part, is_main, words);
    let mut phrases: Vec<String> = lines::changes(part.changed());
    let checks = lines::checks(&part.runs);
    // What a mere look ran into comes behind what was asked.
    let (checks, troubles) = if has_work { (checks, Vec::new()) } else { (Vec::new(), checks) };
    phrases.extend(checks);
    phrases.extend(part.did.iter().cloned());
    phrases.dedup();
    let error = words.error.as_deref().filter(|_| is_main);
    let asked = if is_main { words.asked.as_str() } else { "" };
    let mut more = more(story, part, is_main, words);
    more.extend(troubles);
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
            let answer = if is_main && error.is_none() { answer(words) } else { String::new() };
            phrases.push(if answer.is_empty() { end } else { continued(&reading, &answer) });
        } else {
            phrases.extend(question(asked, &end, words, is_main && error.is_none()));
        }
    }
    phrases.extend(more);
    if is_main && error.is_none() {
        phrases.extend(left_open(words));
        let most = if !has_work && part.calls >= MANY_CALLS { MOST_RESULTS + 1 } else { MOST_RESULTS };
        phrases = result(phrases, words, has_work, most);
    }
    let is_answered = is_main && error.is_none();
    let subtitle = match has_work {
        true => about(part, asked, words, is_answered),
        false if is_answered => prose::cut(&answer(words), MOST_ABOUT),
        false => String::new(),
    };
    let mut packed = lines::packed(&phrases, MOST_TITLE, MOST_LINE).into_iter();
    let title = packed.next().unwrap_or_default();
    let kind = kind(part, words, has_work, error.is_some(), is_main);
    let mut entry = Entry {
        id: entry_id(&turn.platform, &turn.session, "work", &part.anchor.id),
        at: part.at,
        kind: kind.to_owned(),
        title: sanitize::one_line(&title, MOST_TITLE),
        detail: Detail {
            subtitle,
            facts: packed.collect(),
            commands: part.commands.clone(),
            failed: part.failed_looks.clone(),
            outcome: outcome(part, error.is_some()),
            symbols: symbols(part),
            lines: lines_of(part),
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
    // Files that were read, and no word about why.
    let is_bare =
        !has_work && asked.is_empty() && entry.detail.facts.is_empty() && entry.detail.subtitle.is_empty();
    entry.is_noise |= is_bare && error.is_none() && part.errors.is_empty() && part.refused.is_empty();
    finish(&mut entry);
    Some(entry)
}

/// Returns whether a part counts as work. What was only run to answer a question counts as its answer.
fn works(part: &Part<'_>, is_main: bool, words: &Words<'_>) -> bool {
    let is_answer = is_main && words.is_question && !words.text.is_empty() && words.error.is_none();
    has_work(part) && !(is_answer && part.changed().next().is_none() && part.did.is_empty())
}

/// Returns whether a part did something that lasts, or checked something.
fn has_work(part: &Part<'_>) -> bool {
    let has_checks = part.runs.iter().any(|run| run.is_check);
    part.changed().next().is_some() || !part.did.is_empty() || has_checks
}

/// Returns the title for a question, with the beginning of its answer, and the whole question where the title has a part of it.
fn question(asked: &str, end: &str, words: &Words<'_>, is_answered: bool) -> Vec<String> {
    const MOST_ASKED: usize = 72;
    /// Less of an answer says nothing.
    const LEAST_ANSWER: usize = 24;
    let answer = if is_answered { answer(words) } else { String::new() };
    let gist =
        |text: &str, most: usize| prose::gist(text, most).trim_end_matches(['.', '。', ';']).to_owned();
    let part = gist(asked, MOST_ASKED);
    let read = if end == "no change" { String::new() } else { format!("; {end}") };
    let taken = part.chars().count() + read.chars().count() + "asked: ; answer: ".len();
    let room = MOST_TITLE.saturating_sub(taken);
    let title = if answer.is_empty() || room < LEAST_ANSWER.min(answer.chars().count()) {
        format!(
            "asked: {}; {end}",
            gist(asked, MOST_TITLE.saturating_sub(end.chars().count() + "asked: ; ".len()))
        )
    } else {
        format!("asked: {part}{read}; answer: {}", gist(&answer, room))
    };
    let is_whole = title.starts_with(&format!("asked: {};", asked.trim_end_matches(['.', '。', ';'])));
    let whole = (!is_whole).then(|| format!("asked: {asked}"));
    [title].into_iter().chain(whole).collect()
}

/// Returns the title for a look that goes on with what was asked before, with the beginning of its answer.
fn continued(reading: &str, answer: &str) -> String {
    let reading = if reading.is_empty() { String::new() } else { format!("{reading}; ") };
    let room = MOST_TITLE.saturating_sub(reading.chars().count() + "answer: ".len());
    format!("{reading}answer: {}", prose::gist(answer, room).trim_end_matches(['.', '。', ';']))
}

/// Returns what work was about, in a sentence for people: what the answer says first about it, else the subject of a commit, else
/// what was asked. What was found out and decided has entries of its own.
fn about(part: &Part<'_>, asked: &str, words: &Words<'_>, is_answered: bool) -> String {
    let is_settled = |piece: &String| {
        let bare = piece.trim_end_matches(['.', '。', '!']);
        words.answer.discoveries.iter().chain(&words.answer.decisions).any(|settled| settled.contains(bare))
    };
    let says = |piece: &String| !piece.ends_with(['?', '？', ':']) && !is_boilerplate(piece);
    // A commit has the better words for work that was done before.
    let is_of_commit = part.changed().next().is_none() && !part.commits.is_empty();
    let answered = prose::pieces(words.text).into_iter().filter(|_| is_answered && !is_of_commit).find(says);
    let answered = answered.filter(|piece| !is_settled(piece));
    let about = answered.or_else(|| part.commits.first().cloned()).unwrap_or_else(|| asked.to_owned());
    prose::gist(&about, MOST_TITLE)
}

/// Returns the beginning of the answer to a question: what was found out, else the first sentence that says something.
fn answer(words: &Words<'_>) -> String {
    words.answer.discoveries.first().cloned().unwrap_or_else(|| prose::first_of_answer(words.text))
}

/// Returns what the answer says that is left to do.
fn left_open(words: &Words<'_>) -> Option<String> {
    let left = words.answer.next.join("; ");
    (!left.is_empty())
        .then(|| format!("left open: {}", sanitize::one_line(&left, MOST_LINE - "left open: ".len())))
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

/// Adds what the model answered to a turn's phrases, without what has an entry of its own or is among them already: `most` lines at most,
/// the first of them what is left of the last line.
fn result(mut phrases: Vec<String>, words: &Words<'_>, has_work: bool, most: usize) -> Vec<String> {
    let of_entries = words.answer.decisions.iter().chain(&words.answer.discoveries).filter(|_| has_work);
    let settled: Vec<&str> = of_entries.chain(&words.answer.next).map(String::as_str).collect();
    // A piece may hold two sentences with a semicolon between them: it goes when most of it has an entry.
    let is_settled = |piece: &str| {
        let bare = piece.trim_end_matches(['.', '。', '!']);
        let parts = settled.iter().filter(|text| piece.contains(text.trim_end_matches('…')));
        let covered: usize = parts.map(|text| text.len()).sum();
        covered * 10 >= piece.len() * 7 || settled.iter().any(|text| text.contains(bare))
    };
    let mark = if has_work { "result: " } else { "answer: " };
    let title = phrases.first().cloned().unwrap_or_default();
    let is_in_title = |piece: &str| title.ends_with(piece.trim_end_matches(['.', '。', '!']));
    let pieces = prose::pieces(words.text);
    // Where nothing was done, even a short answer is all that there is.
    if let [only] = pieces.as_slice()
        && !has_work
        && is_boilerplate(only)
        && language::words(only).len() > 1
        && !is_in_title(only)
    {
        phrases.push(format!("{mark}{only}"));
        return phrases;
    }
    let so_far = lines::packed(&phrases, MOST_TITLE, MOST_LINE);
    let last = so_far.last().filter(|_| so_far.len() > 1).map_or(MOST_LINE, |line| line.chars().count());
    let mut room = MOST_LINE.saturating_sub(last + "; ".len());
    let mut told: Vec<String> = Vec::new();
    for piece in pieces {
        if piece.ends_with(['?', '？']) || is_boilerplate(&piece) || is_settled(&piece) {
            continue;
        }
        let piece = without_end(piece, &settled);
        let length = piece.chars().count();
        let count = told.len();
        match told.last_mut() {
            None => {
                room = if mark.len() + length <= room { room } else { MOST_LINE };
                told.push(format!("{mark}{piece}"));
            }
            Some(line) if line.chars().count() + 1 + length <= room => {
                line.push(' ');
                line.push_str(&piece);
            }
            Some(_) if count == most => break,
            Some(_) => {
                told.push(piece);
                room = MOST_LINE;
            }
        }
    }
    // A title with the whole answer needs no line that says it again.
    let is_repeated = told.len() == 1 && !has_work && is_in_title(told[0].trim_start_matches(mark));
    phrases.extend(told.into_iter().filter(|_| !is_repeated));
    phrases
}

/// Returns a sentence without the end that has a line of its own, where enough is left.
fn without_end(piece: String, settled: &[&str]) -> String {
    let bare = piece.trim_end_matches(['.', '。']);
    let start = settled.iter().find_map(|text| bare.strip_suffix(*text));
    let start = start.map(|start| start.trim_end_matches([' ', ';', ',', '-', '–', '—', ':']));
    match start.filter(|start| language::words(start).len() > 3) {
        Some(start) => format!("{start}."),
        None => piece,
    }
}

/// Returns whether a sentence says only that the work is done.
pub(super) fn is_boilerplate(sentence: &str) -> bool {
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
        "found and fixed",
        "found it",
        "i found it",
        "it's done",
        "everything is done",
        "erledigt",
        "fertig",
        "ist erledigt",
        "c'est fait",
        "c'est corrigé",
        "corrigé",
        "listo",
        "hecho",
        "готово",
        "已经修好",
        "已修复",
        "已完成",
        "修好了",
        "完了しました",
        "修正しました。",
    ];
    words.len() <= 3
        || prose::only_announces(sentence)
        || (words.len() <= 7 && openings.iter().any(|opening| folded.starts_with(opening)))
        || folded.starts_with("let me know")
        || (words.len() <= 10 && ["is complete", "are complete"].iter().any(|end| folded.contains(end)))
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
    // What failed may be the answer to a question.
    if has_failed || (has_work && outcome(part, false) == "failed") {
        return Kind::FAILURE;
    }
    if has_work { Kind::CHANGE } else { Kind::DISCOVERY }
}

/// Returns how the part's work ended: as its checks did, each the last time.
fn outcome(part: &Part<'_>, has_failed: bool) -> String {
    use super::run::{self, Outcome, Run};
    if has_failed {
        return "failed".to_owned();
    }
    let mut last: Vec<&Run> = Vec::new();
    for run in part.runs.iter().filter(|run| run.is_check) {
        last.retain(|failed| !run::settles(run, failed));
        last.push(run);
    }
    let any = |wanted: Outcome| last.iter().any(|run| run.outcome == wanted);
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

/// Returns the lines that came and went, without those that only moved.
fn lines_of(part: &Part<'_>) -> Lines {
    let mut net: HashMap<&str, i64> = HashMap::new();
    for change in part.changed().filter(|change| !change.is_reverted() && !change.is_deleted) {
        for (line, count) in change.lines() {
            *net.entry(line.trim()).or_default() += count;
        }
    }
    let says_something = |line: &str| line.chars().any(char::is_alphanumeric);
    let of = |sign: i64| -> Vec<u32> {
        let lines = net.iter().filter(|(line, count)| **count * sign > 0 && says_something(line));
        let hashes: BTreeSet<u32> = lines.map(|(line, _)| link::hash_of_line(line)).collect();
        hashes.into_iter().take(Lines::MOST).collect()
    };
    Lines { added: of(1), removed: of(-1) }
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
    let has_work = part.is_some_and(|part| part.calls > 0 && works(part, true, words));
    let answers = story.parts.iter().flat_map(|part| &part.answers);
    // People have amended and pinned these under ids of plainer words, which hold for as long as there are entries.
    let answers: Vec<(&Observed, String, String, String)> = answers
        .map(|(observed, answer)| {
            let named = format!("{} → {}", answer.question, answer.answer);
            (*observed, answer.line(MOST_LINE), answer.line(MOST_TITLE), named)
        })
        .collect();
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
    found.extend(answers.iter().map(|(observed, text, ..)| (*observed, Kind::DECISION, text.as_str())));
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
        let answered = answers.iter().find(|(_, whole, ..)| whole == text);
        let title = answered.map_or_else(
            || prose::cut(&sanitize::one_line(text, MOST_LINE), MOST_TITLE),
            |(.., title, _)| title.clone(),
        );
        let named = answered.map_or(text, |(.., named)| named);
        if entries.iter().any(|(_, entry)| entry.title == title) {
            continue;
        }
        let facts = if title == text { Vec::new() } else { vec![text.to_owned()] };
        let mut entry = Entry {
            id: entry_id(&turn.platform, &turn.session, &format!("{kind} {named}"), &observed.id),
            at: observed.at,
            kind: kind.to_owned(),
            title,
            detail: Detail { facts, ..Detail::default() },
            files: part.map(files).unwrap_or_default().into_iter().filter(|file| file.is_changed).collect(),
            branch: turn.branch.clone(),
            ..Entry::default()
        };
        finish(&mut entry);
        entries.push((anchor_of(observed, part), entry));
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
