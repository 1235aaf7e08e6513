//! Entries and summaries that came whole: by hand, from a model, or from claude-mem.

use super::Made;
use super::lines::MOST_TITLE;
use crate::entry::{Detail, Entry, File, Source, Summary, tokens_of};
use crate::id::entry_id;
use crate::turn::{Observed, Turn};

pub(super) fn make(turn: &Turn) -> Made {
    let mut made = Made::default();
    for observed in &turn.observed {
        match observed.kind.as_str() {
            "entry" => made.entries.push((observed.row, entry(turn, observed))),
            "summary" => made.summaries.push((observed.row, summary(turn, observed))),
            _ => {}
        }
    }
    made
}

fn entry(turn: &Turn, observed: &Observed) -> Entry {
    let file = |is_changed: bool| move |path: String| File { path, is_changed };
    let mut files: Vec<File> = observed.list("files_modified").into_iter().map(file(true)).collect();
    files.extend(observed.list("files_read").into_iter().map(file(false)));
    files.sort_by(|one, other| (&one.path, !one.is_changed).cmp(&(&other.path, !other.is_changed)));
    files.dedup_by(|one, other| one.path == other.path);
    let detail = Detail {
        subtitle: observed.text("subtitle").to_owned(),
        narrative: observed.text("narrative").to_owned(),
        facts: observed.list("facts"),
        concepts: observed.list("concepts"),
        ..Detail::default()
    };
    let title = observed.text("title").to_owned();
    let tokens = [&title, &detail.subtitle, &detail.narrative].into_iter().chain(&detail.facts);
    Entry {
        id: entry_id(&turn.platform, &turn.session, "entry", &observed.id),
        at: observed.at,
        kind: observed.text("type").to_owned(),
        tokens: tokens.map(|text| tokens_of(text)).sum(),
        title,
        detail,
        files,
        branch: turn.branch.clone(),
        source: Source::named(observed.text("source")),
        is_pinned: observed.data.get("pinned").and_then(serde_json::Value::as_bool).unwrap_or_default(),
        ..Entry::default()
    }
}

fn summary(turn: &Turn, observed: &Observed) -> Summary {
    let text = |name: &str| observed.text(name).to_owned();
    Summary {
        id: entry_id(&turn.platform, &turn.session, "summary", &observed.id),
        at: observed.at,
        request: text("request"),
        investigated: text("investigated"),
        learned: text("learned"),
        completed: text("completed"),
        next_steps: text("next_steps"),
        notes: text("notes"),
        files_read: observed.list("files_read"),
        files_edited: observed.list("files_edited"),
        tokens: ["request", "investigated", "learned", "completed", "next_steps", "notes"]
            .map(|name| tokens_of(observed.text(name)))
            .iter()
            .sum(),
        source: Source::named(observed.text("source")),
    }
}

/// Gives entries the better titles that a summary has for them.
pub(super) fn retitle(turn: &Turn, entries: &mut [(i64, Entry)]) {
    for observed in turn.observed.iter().filter(|observed| observed.kind == "summary") {
        let titles = observed.data.get("entries").and_then(serde_json::Value::as_object);
        for (id, title) in titles.into_iter().flatten() {
            let entry = entries.iter_mut().map(|(_, entry)| entry).find(|entry| entry.id == *id);
            if let (Some(entry), Some(title)) =
                (entry, title.as_str().filter(|title| !title.trim().is_empty()))
            {
                let earlier =
                    std::mem::replace(&mut entry.title, text::sanitize::one_line(title, MOST_TITLE));
                entry.detail.facts.insert(0, earlier);
                entry.source = Source::Model;
            }
        }
    }
}
