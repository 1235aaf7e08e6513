//! The lines about a turn: what was changed, how the checks went, what was asked.

use super::change::{Change, How};
use super::run::{Outcome, Run};
use super::story::Part;
use std::collections::BTreeMap;

/// The longest title, in characters.
pub(super) const MOST_TITLE: usize = 160;
/// The longest further line, in characters.
pub(super) const MOST_LINE: usize = 320;
/// A path that is longer is shown by its last two parts.
const MOST_PATH: usize = 30;
/// How many symbols of a file are named, and how many keys: a list of those says little.
const MOST_NAMED: usize = 6;
const MOST_KEYS: usize = 3;
/// How many changed files have a phrase each, how many of more do, and how many folders are named of the others.
const MOST_FILES: usize = 12;
const FEW_FILES: usize = 6;
const MOST_FOLDERS: usize = 4;

/// Returns a path as a line shows it.
pub(super) fn shown_path(path: &str) -> String {
    if path.chars().count() <= MOST_PATH {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.reverse();
    parts.join("/")
}

/// Returns what was done to files, one phrase each. Of many, those have one that changed most, and the others one together.
pub(super) fn changes<'c>(changes: impl Iterator<Item = &'c Change>) -> Vec<String> {
    let all: Vec<&Change> = changes.collect();
    if all.len() <= MOST_FILES {
        return all.into_iter().map(change).collect();
    }
    let weight = |change: &Change| {
        let (added, removed) = change.counts();
        (
            change.is_reverted(),
            change.is_new || change.is_deleted || change.renamed_from.is_some(),
            added + removed,
        )
    };
    let mut heaviest: Vec<usize> = (0..all.len()).collect();
    heaviest.sort_by_key(|place| (std::cmp::Reverse(weight(all[*place])), *place));
    heaviest.truncate(FEW_FILES);
    let (told, others): (Vec<_>, Vec<_>) =
        all.iter().enumerate().partition(|(place, _)| heaviest.contains(place));
    let mut phrases: Vec<String> = told.into_iter().map(|(_, told)| change(told)).collect();
    phrases.push(together(&others.into_iter().map(|(_, other)| *other).collect::<Vec<_>>()));
    phrases
}

/// Returns what was done to files of which each says little: ``18 more files in crates/api, crates/queue, with `clock.now` (+36 −36)``.
fn together(changes: &[&Change]) -> String {
    let mut folders: Vec<&str> = Vec::new();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut added, mut removed) = (0, 0);
    for change in changes {
        let folder = folder(&change.path);
        if !folder.is_empty() && !folders.contains(&folder) {
            folders.push(folder);
        }
        change.words().into_iter().for_each(|word| *words.entry(word).or_default() += 1);
        let (more, less) = change.counts();
        (added, removed) = (added + more, removed + less);
    }
    let more = folders.len().saturating_sub(MOST_FOLDERS);
    folders.truncate(MOST_FOLDERS);
    let more = match more {
        0 => String::new(),
        1 => " and 1 more folder".to_owned(),
        _ => format!(" and {more} more folders"),
    };
    let place = if folders.is_empty() { String::new() } else { format!(" in {}{more}", folders.join(", ")) };
    // A word that most of them have is what the change is about.
    let shared =
        words.into_iter().filter(|(_, count)| count * 2 > changes.len()).map(|(word, _)| format!("`{word}`"));
    let shared = shared.take(2).collect::<Vec<_>>().join(", ");
    let shared = if shared.is_empty() { String::new() } else { format!(", with {shared}") };
    format!("{} more files{place}{shared}{}", changes.len(), counted(added, removed))
}

/// Returns the first two folders of a path.
fn folder(path: &str) -> &str {
    let end = path.match_indices('/').take(2).last().map_or(0, |(at, _)| at);
    &path[..end]
}

/// Returns how many lines came and went: ` (+12 −3)`.
fn counted(added: usize, removed: usize) -> String {
    match (added, removed) {
        (0, 0) => String::new(),
        (added, 0) => format!(" (+{added})"),
        (0, removed) => format!(" (−{removed})"),
        (added, removed) => format!(" (+{added} −{removed})"),
    }
}

/// Returns what was done to a file: ``auth.rs: `verify_token` (+12 −3)``.
pub(super) fn change(change: &Change) -> String {
    with_names(change, MOST_NAMED)
}

/// As [`change`], with few names.
pub(super) fn short_change(change: &Change) -> String {
    with_names(change, 2)
}

fn with_names(change: &Change, most: usize) -> String {
    let path = shown_path(&change.path);
    let (added, removed) = change.counts();
    if change.is_reverted() {
        let names = names(change, most);
        let names = if names.is_empty() { String::new() } else { format!(": {names}") };
        return match change.symbols.is_empty() && added + removed == 0 {
            true => format!("reverted {path}"),
            false if change.stashed.is_some() => format!("{path}{names}: changed, then stashed"),
            false => format!("{path}{names}: changed, then reverted"),
        };
    }
    if change.is_deleted {
        return format!("deleted {path}");
    }
    let counts = counted(added, removed);
    let names = names(change, most);
    let names = if names.is_empty() { String::new() } else { format!(": {names}") };
    match &change.renamed_from {
        Some(from) => format!("renamed {} to {path}{names}{counts}", shown_path(from)),
        None if change.is_new => format!("new {path}{names}{counts}"),
        None => format!("{path}{names}{counts}"),
    }
}

/// Returns the definitions that a change is about.
fn names(change: &Change, most: usize) -> String {
    let quoted = |name: &str| format!("`{name}`");
    let (mut plain, mut new, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for (name, how) in &change.symbols {
        match how {
            How::Changed => plain.push(quoted(name)),
            How::Set(value) => {
                let key = if name.ends_with(&value.key) { "" } else { &value.key };
                let key = if key.is_empty() { String::new() } else { format!("{key} ") };
                plain.push(format!("`{name}` {key}{} → {}", value.before, value.after));
            }
            How::Renamed(from) => plain.push(format!("`{from}` renamed to `{name}`")),
            How::Added if change.is_new => plain.push(quoted(name)),
            How::Added => new.push(quoted(name)),
            How::Removed => gone.push(quoted(name)),
        }
    }
    let most = if change.is_of_keys() { most.min(MOST_KEYS) } else { most };
    let list = |names: Vec<String>, before: &str| {
        if names.is_empty() {
            return None;
        }
        let more = names.len().saturating_sub(most);
        let mut text = names[..names.len().min(most)].join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        Some(format!("{before}{text}"))
    };
    let words = change.words().into_iter().map(quoted).collect();
    [list(plain, ""), list(new, "new "), list(gone, "removed "), list(words, "with ")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns how the checks of a turn went, one phrase per program, in the order in which they were first run.
pub(super) fn checks(runs: &[Run]) -> Vec<String> {
    let mut order: Vec<&str> = Vec::new();
    let mut by_name: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let known = by_name.entry(&run.name).or_default();
        if known.is_empty() {
            order.push(&run.name);
        }
        known.push(run);
    }
    let phrases = order.into_iter().filter_map(|name| check(name, &by_name[name]));
    phrases.collect()
}

fn check(name: &str, runs: &[&Run]) -> Option<String> {
    let is_worth = runs.iter().any(|run| run.is_check || run.outcome != Outcome::Passed);
    if !is_worth {
        return None;
    }
    // Runs of equal outcomes: `failed twice`, `then passed`.
    let mut groups: Vec<(Outcome, usize)> = Vec::new();
    for run in runs {
        match groups.last_mut() {
            Some((outcome, count)) if *outcome == run.outcome => *count += 1,
            _ => groups.push((run.outcome, 1)),
        }
    }
    let failed: usize =
        groups.iter().filter(|(outcome, _)| *outcome == Outcome::Failed).map(|(_, count)| count).sum();
    let last = groups.last().map_or(Outcome::Passed, |(outcome, _)| *outcome);
    let why = why(runs);
    let result = runs.last().map(|run| result(run)).unwrap_or_default();
    let text = match (failed, last) {
        (0, Outcome::Passed) => format!("passed{result}"),
        (0, Outcome::Interrupted) => "was interrupted".to_owned(),
        (0, Outcome::Background) => "went on in the background".to_owned(),
        (0, Outcome::Unknown) => "was run".to_owned(),
        (count, Outcome::Passed) => format!("failed{}{why}, then passed{result}", times(count)),
        (count, Outcome::Interrupted) => format!("failed{}{why}, then was interrupted", times(count)),
        (count, _) => {
            let first = if groups.first().is_some_and(|(outcome, _)| *outcome == Outcome::Passed) {
                "passed, then "
            } else {
                ""
            };
            let count = if count == 1 { String::new() } else { times(count) };
            format!("{first}failed{count}{why}")
        }
    };
    Some(format!("{name} {text}"))
}

fn times(count: usize) -> String {
    match count {
        0 | 1 => " once".to_owned(),
        2 => " twice".to_owned(),
        count => format!(" {count} times"),
    }
}

/// Returns what failed: names of tests, else the first error.
fn why(runs: &[&Run]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut errors: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| run.outcome == Outcome::Failed) {
        for name in &run.report.failing {
            if !names.contains(&name.as_str()) && names.len() < 3 {
                names.push(name);
            }
        }
        errors.extend(run.report.error.as_deref().or(run.report.figure.as_deref()));
    }
    if !names.is_empty() {
        return format!(" ({})", names.join(", "));
    }
    let count = runs.iter().rev().find(|run| run.outcome == Outcome::Failed && run.report.failed > 0);
    match (errors.first(), count) {
        (Some(error), _) => format!(" ({error})"),
        (None, Some(run)) => format!(" ({} failed)", run.report.failed),
        (None, None) => String::new(),
    }
}

/// Returns what a passing run counted.
fn result(run: &Run) -> String {
    let report = &run.report;
    match (&report.figure, report.passed) {
        (Some(figure), _) => format!(" ({})", figure.trim_end_matches('.')),
        (None, 0) => String::new(),
        (None, passed) => format!(" ({passed} passed)"),
    }
}

/// Puts phrases on lines of at most `most` characters each, as many as fit on each.
pub(super) fn packed(phrases: &[String], first: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut room = first;
    for phrase in phrases {
        let length = phrase.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + length <= room => {
                line.push_str("; ");
                line.push_str(phrase);
            }
            last => {
                room = if last.is_some() { most } else { first };
                lines.push(phrase.clone());
            }
        }
    }
    lines
}

/// Returns how much was read: `read 4 files`.
pub(super) fn reading(part: &Part<'_>) -> String {
    let files = part.reads.len();
    let mut parts = Vec::new();
    match files {
        0 => {}
        1 => parts.push(format!("read {}", shown_path(part.reads.iter().next().map_or("", String::as_str)))),
        files => parts.push(format!("read {files} files")),
    }
    if files == 0 && !part.searches.is_empty() {
        parts.push(format!("searched for `{}`", part.searches[0]));
    }
    if !part.pages.is_empty() {
        parts.push(format!(
            "read {} web page{}",
            part.pages.len(),
            if part.pages.len() == 1 { "" } else { "s" }
        ));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Report;

    fn run(outcome: Outcome, failing: &[&str], passed: u64) -> Run {
        let report = Report {
            failing: failing.iter().map(ToString::to_string).collect(),
            passed,
            ..Report::default()
        };
        Run { name: "cargo test".into(), outcome, report, is_check: true }
    }

    #[test]
    fn a_sequence_of_runs_is_one_phrase() {
        use Outcome::{Failed, Passed};
        let checked = |runs: &[Run]| checks(runs).join("; ");
        assert_eq!(
            checked(&[run(Failed, &["expired"], 0), run(Failed, &["expired"], 0), run(Passed, &[], 12)]),
            "cargo test failed twice (expired), then passed (12 passed)"
        );
        assert_eq!(checked(&[run(Passed, &[], 0), run(Failed, &[], 0)]), "cargo test passed, then failed");
        assert_eq!(checked(&[run(Passed, &[], 0)]), "cargo test passed");
        assert_eq!(checked(&[]), "");
    }

    #[test]
    fn many_files_have_one_phrase() {
        let changed = |count: usize| -> Vec<Change> {
            let change = |number: usize| {
                let mut change = Change::new(format!("crates/c{}/src/f{number}.rs", number % 3));
                let now = "    let now = clock.now_utc();\n".repeat(if number == 7 { 9 } else { 1 });
                change.apply(&crate::make::change::between("    let now = 1;\n", &now));
                change
            };
            (0..count).map(change).collect()
        };
        assert_eq!(changes(changed(12).iter()).len(), 12);
        let phrases = changes(changed(20).iter());
        assert_eq!(phrases.len(), 7, "{phrases:?}");
        assert!(phrases.iter().any(|phrase| phrase.contains("f7.rs")), "the largest: {phrases:?}");
        assert_eq!(
            phrases[6],
            "14 more files in crates/c2, crates/c0, crates/c1, with `clock.now_utc` (+14 −14)"
        );
    }

    #[test]
    fn phrases_are_packed_and_none_is_lost() {
        let phrases: Vec<String> = ["aaaa", "bbbb", "cccc", "dddd"].map(str::to_owned).to_vec();
        assert_eq!(packed(&phrases, 10, 22), ["aaaa; bbbb", "cccc; dddd"]);
        assert_eq!(packed(&phrases, 4, 100), ["aaaa", "bbbb; cccc; dddd"]);
    }
}
