//! The form of lessons-learned, byte for byte: headings, a list of what was shown as JSON in a comment.

use super::{Shown, fenced, with_command};
use crate::choose::{Applying, Subject};
use crate::index::Entry;
use std::fmt::Write as _;
use text::sanitize::DATA_NOTE;

/// What ends the reason of a pause.
const PAUSED: &str = "Shown once. To proceed anyway, repeat the call unchanged.";
/// How much of a problem and a solution a citation keeps.
const CITED_CHARS: usize = 200;

/// Returns all that a lesson says.
pub(super) fn full_text(lesson: &Applying<'_>, command: &str) -> String {
    let Entry { summary, problem, solution, instead, .. } = &lesson.entry;
    let mut text = format!("## Lesson: {summary}\n{problem}\n**Fix**: {solution}");
    if !instead.is_empty() {
        let _ = write!(text, "\n**Instead**: `{instead}`");
    }
    with_command(text, command)
}

pub(super) fn citation(lesson: &Applying<'_>) -> String {
    let first_line =
        |text: &str| text.lines().next().unwrap_or_default().chars().take(CITED_CHARS).collect::<String>();
    let Entry { summary, problem, solution, .. } = &lesson.entry;
    format!(
        "**Lesson**: {summary}\n**Problem**: {}\n**Solution**: {}",
        first_line(problem),
        first_line(solution)
    )
}

pub(super) fn context(shown: &Shown<'_>, target: &str) -> String {
    let count = shown.texts.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut context = format!("[lessons-learned] {count} lesson{plural} matched for {target}\n\n");
    context.push_str(&noted(shown.shared > 0, shown.texts.join("\n\n")));
    let metadata = serde_json::json!({"version": 1, "injected": shown.own, "dropped": shown.dropped});
    let _ = write!(context, "\n\n<!-- lessonInjection: {metadata} -->");
    context
}

pub(super) fn guard(guard: &Applying<'_>, call: Subject<'_>) -> String {
    noted(guard.is_shared, refusal(guard, call))
}

pub(super) fn pauses(pauses: &[&Applying<'_>], call: Subject<'_>) -> String {
    let reasons: Vec<String> = pauses.iter().map(|pause| refusal(pause, call)).collect();
    let has_shared = pauses.iter().any(|pause| pause.is_shared);
    noted(has_shared, format!("{}\n\n{PAUSED}", reasons.join("\n\n")))
}

fn refusal(lesson: &Applying<'_>, call: Subject<'_>) -> String {
    let text = full_text(lesson, call.command);
    if lesson.is_shared { fenced(lesson, call, &text) } else { text }
}

/// Puts the sentence about fences before a text that has one.
fn noted(has_fence: bool, text: String) -> String {
    if has_fence { format!("{DATA_NOTE}\n\n{text}") } else { text }
}
