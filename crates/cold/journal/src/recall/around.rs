//! What an index has below its entries: open tasks, the last message, and the last turns, as far as no entry says the same.

use super::day::Moment;
use super::word::{MAX_FULL_CHARS, Past, Taste};
use crate::entry::Summary;
use text::sanitize;

/// The longest request, other part of a summary, and task, in characters.
const MAX_REQUEST_CHARS: usize = 100;
const MAX_PART_CHARS: usize = 140;
const MAX_TASK_CHARS: usize = 60;
/// From this length on, in bytes, a request says enough to be recognised in any line.
const TELLING: usize = 20;
/// What is between the pieces of a summary's part.
const PIECES: &str = "; ";
/// The part of the budget that summaries, tasks and the last message may take.
const AROUND_SHARE: usize = 3;
/// How many open tasks are named.
const MOST_TASKS: usize = 5;

/// Returns what is below the entries: the last turns, open tasks, and the last message. `above` is what the entries say.
pub(super) fn around(past: &Past, taste: &Taste, local: &dyn Fn(u64) -> Moment, above: &str) -> String {
    let room = taste.max_bytes / AROUND_SHARE;
    let mut parts = Vec::new();
    let mut bytes = 0;
    let mut fits = |part: &str| {
        bytes += part.len();
        !part.is_empty() && bytes <= room
    };
    let tasks = tasks(&past.tasks);
    parts.extend(fits(&tasks).then_some(tasks));
    let message = past.last_message.as_deref().filter(|_| taste.shows_last_message).unwrap_or_default();
    let message = sanitize::model_line(message, MAX_FULL_CHARS);
    let message = if message.is_empty() { message } else { format!("Last words: {message}\n") };
    parts.extend(fits(&message).then_some(message));
    let shown = past.summaries.iter().take(taste.summaries).enumerate();
    let is_whole = |age: usize| age == 0 && taste.tells_last_summary;
    let turns = shown.map(|(age, summary)| (turn(summary, is_whole(age), local, ""), age, summary));
    // The newest first while there is room, and last in the text.
    let turns = turns.take_while(|(whole, ..)| fits(whole)).map(|(whole, age, summary)| {
        let news = turn(summary, is_whole(age), local, above);
        // Never longer, so that what has room keeps it.
        if news.len() < whole.len() { news } else { whole }
    });
    let turns: Vec<String> = turns.filter(|turn| !turn.is_empty()).collect();
    if !turns.is_empty() {
        parts.push("Last turns\n".to_owned() + &turns.into_iter().rev().collect::<String>());
    }
    parts.concat()
}

fn tasks(tasks: &[String]) -> String {
    let shown: Vec<String> = tasks
        .iter()
        .take(MOST_TASKS)
        .map(|task| sanitize::model_line(task, MAX_TASK_CHARS))
        .filter(|task| !task.is_empty())
        .collect();
    let more = match tasks.len().saturating_sub(MOST_TASKS) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    if shown.is_empty() { String::new() } else { format!("Open tasks: {}{more}\n", shown.join("; ")) }
}

/// Returns the lines of a turn, without what the entries `above` say; empty when that is all of it.
fn turn(summary: &Summary, is_whole: bool, local: &dyn Fn(u64) -> Moment, above: &str) -> String {
    let request = sanitize::model_line(&summary.request, MAX_REQUEST_CHARS);
    let request = if is_above(above, &format!("asked: {request}"))
        || request.len() >= TELLING && (is_above(above, &request) || is_begun(above, &request))
    {
        String::new()
    } else {
        request
    };
    let completed = if is_whole { news(&summary.completed, above) } else { String::new() };
    let next = news(&summary.next_steps, above);
    let parts = [("asked", request), ("done", completed), ("next", next)];
    let mut turn = String::new();
    for (name, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
        let before = if turn.is_empty() {
            let moment = local(summary.at);
            format!("{} {} ", moment.day, moment.time)
        } else {
            "  ".to_owned()
        };
        turn.push_str(&format!("{before}{name}: {part}\n"));
    }
    turn
}

/// Returns a part of a summary without those of its pieces that the entries above say.
fn news(part: &str, above: &str) -> String {
    let pieces =
        part.split(PIECES).filter(|piece| !is_above(above, &sanitize::model_line(piece, MAX_PART_CHARS)));
    sanitize::model_line(&pieces.collect::<Vec<_>>().join(PIECES), MAX_PART_CHARS)
}

/// Says whether a line above that is cut ends with the beginning of what was asked.
fn is_begun(above: &str, request: &str) -> bool {
    above.lines().filter_map(|line| line.split_once('…')?.0.rsplit_once("asked: ")).any(|(_, beginning)| {
        let beginning = beginning.trim_end();
        beginning.len() >= TELLING && request.starts_with(beginning)
    })
}

/// Says whether the entries above say this; the end of a text that is cut may be missing.
fn is_above(above: &str, text: &str) -> bool {
    above.contains(text.trim_end_matches('…').trim())
}
