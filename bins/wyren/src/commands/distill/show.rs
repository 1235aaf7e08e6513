//! How a distillation looks on a terminal, and as JSON.

use super::Arguments;
use crate::terminal::{self, DIM, FAILURE, STRONG, SUCCESS, WARNING};
use anyhow::Result;
use distill::{Considered, Outcome, Rehearsal, Report, Way};
use distiller::{Action, Applied, Change, Operation, Score};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use team_sync::repository::Published;
use text::sanitize;

/// The longest line of a change, in characters.
const MAX_CHARS: usize = 400;

/// Shows what a distillation would do, slice by slice.
pub(super) fn rehearsal(rehearsal: &Rehearsal, transcript: &Path, arguments: &Arguments) -> Result<()> {
    if arguments.json {
        writeln!(terminal::output(), "{:#}", rehearsal_json(rehearsal))?;
        return Ok(());
    }
    if let Some(applied) = &rehearsal.continued {
        let mut output = terminal::output();
        writeln!(output, "{STRONG}Left by an interrupted distillation{STRONG:#}")?;
        changes(&mut output, applied)?;
        writeln!(output)?;
    }
    for (at, slice) in rehearsal.slices.iter().enumerate() {
        if rehearsal.slices.len() > 1 {
            let (part, parts) = (at + 1, rehearsal.slices.len());
            let break_before = if at > 0 { "\n" } else { "" };
            writeln!(terminal::output(), "{break_before}{STRONG}Part {part} of {parts}{STRONG:#}")?;
        }
        considered(slice, transcript, arguments)?;
    }
    if let Some(message) = rehearsal.rest_after {
        writeln!(terminal::output(), "\nMessages after {message} are left to the next distillation.")?;
    }
    Ok(())
}

/// Shows the score and what would change first, then the reasons, and the prompt only where it is asked for.
fn considered(considered: &Considered, transcript: &Path, arguments: &Arguments) -> Result<()> {
    let mut output = terminal::output();
    if considered.slice.is_empty() {
        let again = if arguments.from_start { "" } else { "; --from-start reads the whole session again" };
        writeln!(output, "Nothing new since the last distillation{again}.")?;
    } else {
        let (points, needed) = (considered.score.points, considered.threshold);
        writeln!(output, "{STRONG}Score {points} ({needed} needed){STRONG:#}")?;
        result(&mut output, considered, arguments)?;
    }
    let messages = considered.slice.messages.first().zip(considered.slice.messages.last());
    let messages = messages.map_or("nothing new".to_owned(), |(first, last)| {
        format!("messages {} to {}", first.number, last.number)
    });
    let transcript = sanitize::one_line(&transcript.to_string_lossy(), MAX_CHARS);
    writeln!(output, "\n{DIM}Transcript:{DIM:#} {transcript} ({messages})")?;
    for signal in &considered.score.signals {
        let first = signal.message.map(|message| format!(", first in message {message}")).unwrap_or_default();
        writeln!(
            output,
            "  {:>3}  {} ({}×{first})",
            format!("+{}", signal.points),
            signal.category,
            signal.count
        )?;
    }
    if arguments.shows_prompt() {
        let (system, prompt) = (considered.question.system.trim_end(), considered.question.prompt.trim_end());
        writeln!(output, "\n{STRONG}Prompt{STRONG:#}\n\n{system}\n\n{prompt}")?;
    }
    Ok(())
}

fn result(output: &mut impl Write, considered: &Considered, arguments: &Arguments) -> Result<()> {
    if !considered.passes() && !arguments.force {
        writeln!(terminal::errors(), "distiller: low-signal session; skipping distillation")?;
        writeln!(output, "Nothing would be distilled; --force shows what would change otherwise.")?;
        if considered.is_summarised {
            writeln!(output, "A model would write the journal's summary, because journal.model is on.")?;
        }
        return Ok(());
    }
    match &considered.done {
        Ok((way, applied)) => {
            changes(output, applied)?;
            writeln!(output, "{DIM}{}{DIM:#}", self::way(way))?;
        }
        Err(fault) => writeln!(output, "{WARNING}{fault}{WARNING:#}; nothing would change")?,
    }
    Ok(())
}

pub(super) fn way(way: &Way) -> String {
    match way {
        Way::Model(model) => format!("Distilled by {model}."),
        Way::Extraction(why) => format!("Extracted without a model ({why})."),
    }
}

pub(super) fn changes(output: &mut impl Write, applied: &Applied) -> io::Result<()> {
    let line = |text: &str| sanitize::one_line(text, MAX_CHARS);
    let mut explained = Vec::new();
    for done in &applied.done {
        let section = &done.operation.section;
        let (before, after) = match &done.change {
            Change::Added { text } => (None, Some(text)),
            Change::Replaced { before, text } => (Some(before), Some(text)),
            Change::Removed { before } => (Some(before), None),
            Change::AlreadyThere => (None, None),
        };
        if let Some(before) = before {
            writeln!(output, "{FAILURE}- {section}: {}{FAILURE:#}", line(before))?;
            explained.push(before);
        }
        if let Some(after) = after {
            writeln!(output, "{SUCCESS}+ {section}: {}{SUCCESS:#}", line(after))?;
        }
        if done.change == Change::AlreadyThere {
            writeln!(output, "{DIM}= {section}: {}{DIM:#}", line(subject(&done.operation)))?;
        }
    }
    for removal in applied.removals.iter().filter(|removal| !explained.contains(&&removal.text)) {
        let (text, why) = (line(&removal.text), line(&removal.why));
        writeln!(output, "{FAILURE}- {}: {text}{FAILURE:#} {DIM}({why}){DIM:#}", removal.section)?;
    }
    for refused in &applied.refused {
        let (section, text) = (line(&refused.operation.section), line(subject(&refused.operation)));
        writeln!(output, "{WARNING}! {section}: {text}{WARNING:#} {DIM}({}){DIM:#}", refused.why)?;
    }
    if applied.done.is_empty() && applied.refused.is_empty() {
        writeln!(output, "{DIM}nothing to change{DIM:#}")?;
    }
    Ok(())
}

fn subject(operation: &Operation) -> &str {
    match &operation.action {
        Action::Add { text } | Action::Replace { text, .. } => text,
        Action::Remove { entry, .. } => entry,
    }
}

pub(super) fn report(report: &Report) -> Value {
    let (outcome, detail) = match &report.outcome {
        Outcome::Empty => ("empty", None),
        Outcome::LowSignal => ("low-signal", None),
        Outcome::BadAnswer(fault) => ("bad-answer", Some(fault.clone())),
        Outcome::Distilled(way) => ("distilled", Some(self::way(way))),
    };
    let published = report.synced.as_ref().map(|synced| match &synced.published {
        Published::Landed(commit) => json!({"state": "landed", "commit": commit}),
        Published::Nothing => json!({"state": "nothing"}),
        Published::Queued(reason) => json!({"state": "queued", "reason": reason.to_string()}),
    });
    json!({
        "outcome": outcome,
        "detail": detail,
        "score": report.score.as_ref().map(score),
        "changes": report.applied.iter().flat_map(changes_json).collect::<Vec<_>>(),
        "published": published,
    })
}

/// The fields of the first slice are also on top, where there was no list once.
fn rehearsal_json(rehearsal: &Rehearsal) -> Value {
    let slices: Vec<Value> = rehearsal.slices.iter().map(considered_json).collect();
    let mut facts = slices.first().cloned().unwrap_or_else(|| json!({}));
    facts["slices"] = json!(slices);
    facts["continued"] = json!(rehearsal.continued.as_ref().map(changes_json));
    facts["rest_after"] = json!(rehearsal.rest_after);
    facts
}

fn considered_json(considered: &Considered) -> Value {
    let (way, changes) = match &considered.done {
        Ok((way, applied)) => (self::way(way), changes_json(applied)),
        Err(fault) => (fault.clone(), Vec::new()),
    };
    json!({
        "turns": considered.slice.messages.iter().map(|message| message.number).collect::<Vec<_>>(),
        "score": score(&considered.score),
        "threshold": considered.threshold,
        "passes": considered.passes(),
        "summarised": considered.is_summarised,
        "system": considered.question.system,
        "prompt": considered.question.prompt,
        "detail": way,
        "changes": changes,
    })
}

fn score(score: &Score) -> Value {
    let signals = score.signals.iter().map(|signal| {
        json!({"category": signal.category, "count": signal.count, "points": signal.points, "turn": signal.message})
    });
    json!({"points": score.points, "signals": signals.collect::<Vec<_>>()})
}

fn changes_json(applied: &Applied) -> Vec<Value> {
    let done = applied.done.iter().map(|done| {
        let (before, after) = match &done.change {
            Change::Added { text } => (None, Some(text)),
            Change::Replaced { before, text } => (Some(before), Some(text)),
            Change::Removed { before } => (Some(before), None),
            Change::AlreadyThere => (None, None),
        };
        json!({"section": done.operation.section, "before": before, "after": after, "refused": null})
    });
    let refused = applied.refused.iter().map(|refused| {
        let text = subject(&refused.operation);
        json!({"section": refused.operation.section, "before": null, "after": text, "refused": refused.why.to_string()})
    });
    let named: Vec<&String> = applied
        .done
        .iter()
        .filter_map(|done| match &done.change {
            Change::Replaced { before, .. } | Change::Removed { before } => Some(before),
            _ => None,
        })
        .collect();
    let made_room = applied.removals.iter().filter(|removal| !named.contains(&&removal.text)).map(|removal| {
        json!({"section": removal.section, "before": removal.text, "after": null, "refused": null, "why": removal.why})
    });
    done.chain(refused).chain(made_room).collect()
}
