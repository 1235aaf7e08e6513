//! The summary of a turn, by rules.

use super::lines;
use super::prose;
use super::story::{Part, Story};
use super::work::{self, Words};
use crate::entry::{Source, Summary, tokens_of};
use crate::id::entry_id;
use crate::turn::Turn;
use text::sanitize;

/// The longest field, in characters.
const MOST_CHARS: usize = 600;
/// How many files a field names.
const MOST_NAMED: usize = 8;

/// Returns the summary of a turn, with the row of the observation that it begins with; nothing for a turn without content.
pub(super) fn of(turn: &Turn, story: &Story<'_>, words: &Words<'_>) -> Option<(i64, Summary)> {
    let anchor = story.prompt.or(story.parts.first().map(|part| part.anchor))?;
    let has_calls = story.parts.iter().any(|part| part.calls > 0 || !part.refused.is_empty());
    if words.text.is_empty() && !has_calls && words.error.is_none() {
        return None;
    }
    if words.asked.is_empty() && !has_calls && words.error.is_none() {
        return None;
    }
    let joined = |parts: Vec<String>, mark: &str| sanitize::one_line(&parts.join(mark), MOST_CHARS);
    let request = match words.asked.as_str() {
        "" => prose::gist(story.prompt.map_or("", |prompt| prompt.text("text")), 60),
        asked => asked.to_owned(),
    };
    let mut files_read: Vec<String> =
        story.parts.iter().flat_map(|part| part.reads.iter().cloned()).collect();
    let mut files_edited: Vec<String> =
        story.parts.iter().flat_map(|part| part.changes.keys().cloned()).collect();
    files_read.retain(|path| !files_edited.contains(path));
    files_edited.dedup();
    let mut summary = Summary {
        id: entry_id(&turn.platform, &turn.session, "summary", &anchor.id),
        at: story.parts.iter().map(|part| part.at).max().unwrap_or(anchor.at),
        request,
        investigated: joined(investigated(story), "; "),
        learned: joined(words.answer.discoveries.clone(), ". "),
        completed: joined(story.parts.iter().flat_map(completed).collect(), "; "),
        next_steps: joined(next(story, words), "; "),
        notes: joined(notes(story, words), "; "),
        files_read,
        files_edited,
        tokens: 0,
        source: Source::Rules,
    };
    if summary.learned.is_empty() && summary.completed.is_empty() {
        let said = prose::gist(words.text, 300);
        summary.learned = if work::is_boilerplate(&said) { String::new() } else { said };
    }
    let fields = [
        &summary.request,
        &summary.investigated,
        &summary.learned,
        &summary.completed,
        &summary.next_steps,
        &summary.notes,
    ];
    summary.tokens = fields.map(|field| tokens_of(field)).iter().sum();
    let main = work::main_part(story).map(|at| &story.parts[at]);
    Some((work::anchor_of(anchor, main), summary))
}

fn investigated(story: &Story<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for part in &story.parts {
        let names: Vec<String> =
            part.reads.iter().take(MOST_NAMED).map(|path| lines::shown_path(path)).collect();
        if !names.is_empty() {
            let more = part.reads.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            found.push(format!("read {}{more}", names.join(", ")));
        }
        let searches: Vec<String> =
            part.searches.iter().take(3).map(|pattern| format!("`{pattern}`")).collect();
        if !searches.is_empty() {
            found.push(format!("searched for {}", searches.join(", ")));
        }
        found.extend(part.pages.iter().take(3).map(|page| format!("read {page}")));
    }
    found
}

fn completed(part: &Part<'_>) -> Vec<String> {
    let mut done: Vec<String> = lines::changes(part.changed());
    done.extend(lines::checks(&part.runs));
    done.extend(part.did.iter().cloned());
    done
}

fn next(story: &Story<'_>, words: &Words<'_>) -> Vec<String> {
    let mut next = words.answer.next.clone();
    for part in &story.parts {
        next.extend(part.tasks.values().filter(|(_, is_open)| *is_open).map(|(task, _)| task.clone()));
    }
    next
}

fn notes(story: &Story<'_>, words: &Words<'_>) -> Vec<String> {
    let mut notes: Vec<String> =
        words.error.iter().map(|error| format!("the turn failed: {error}")).collect();
    notes.extend(words.prompt.decisions.iter().chain(&words.answer.decisions).cloned());
    notes.extend(story.parts.iter().flat_map(|part| part.refused.iter().cloned()));
    notes.extend(
        story
            .said
            .iter()
            .map(|said| format!("said while it worked: {}", prose::gist(said.text("text"), 160))),
    );
    notes
}
