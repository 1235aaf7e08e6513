//! Removed entries with the reason: one JSON object per line, appended at removal, merged as a set.
//!
//! ```json
//! {"v":1,"when":"2026-11-16T02:26:41.123Z","by":"Ada","why":"distilled","section":"Decisions","text":"Use X","replaced_by":"Use Y"}
//! ```
//!
//! Readers skip what they cannot read and keep it when they write; unknown keys stay where they are.

use std::collections::{BTreeMap, HashSet};

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{redact, sanitize};

use crate::delta::Delta;
use crate::identity::identity;
use crate::provenance::Provenance;

/// The version that is written.
const VERSION: u32 = 1;

/// The longest text in what people are shown, in characters.
const MAX_SHOWN_CHARS: usize = 400;

/// An entry that left the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The version of the format.
    #[serde(rename = "v", default)]
    pub version: u32,
    /// When it left, in RFC 3339.
    pub when: String,
    #[serde(default)]
    pub by: String,
    /// Why: what removed it, in a few words.
    #[serde(default)]
    pub why: String,
    pub section: String,
    pub text: String,
    /// The tag that said where it came from; empty when there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provenance: String,
    /// What took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// What later versions say about it.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// Everything that left, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The entries that left.
    pub removals: Vec<Removal>,
    /// The lines that are no removal, as they are.
    pub unreadable: Vec<String>,
}

/// Returns what `delta` removed or reworded, for the history. Secrets do not go with it.
pub fn removals(delta: &Delta, when: Timestamp, by: &str, why: &str) -> Vec<Removal> {
    let clean = |text: &str| redact::redact(text).into_owned();
    let removal =
        |section: &str, text: &str, provenance: Option<Provenance>, replaced_by: Option<String>| Removal {
            version: VERSION,
            when: when.to_string(),
            by: by.to_owned(),
            why: clean(why),
            section: section.to_owned(),
            text: clean(text),
            provenance: provenance.unwrap_or_default().to_string(),
            replaced_by,
            other: BTreeMap::new(),
        };
    let mut removals = Vec::new();
    for section in &delta.sections {
        for entry in &section.removed {
            removals.push(removal(&section.section, &entry.text(), Some(entry.provenance()), None));
        }
        for edit in &section.edited {
            let after = clean(&edit.after.text());
            let before = &edit.before;
            removals.push(removal(&section.section, &before.text(), Some(before.provenance()), Some(after)));
        }
        for line in &section.prose_removed {
            removals.push(removal(&section.section, line, None, None));
        }
    }
    removals
}

/// Returns the removals as lines to append.
pub fn to_lines(removals: &[Removal]) -> String {
    let mut lines = String::new();
    // A removal is strings and values that were read as JSON, so writing it cannot fail.
    for line in removals.iter().filter_map(|removal| serde_json::to_string(removal).ok()) {
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

impl History {
    /// Reads the lines of a history. Torn and unknown lines are kept aside.
    pub fn parse(text: &str) -> Self {
        let mut history = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str(line) {
                Ok(removal) => history.removals.push(removal),
                Err(_) => history.unreadable.push(line.to_owned()),
            }
        }
        history
    }

    /// Returns what either history holds, the oldest first, each line once.
    pub fn merge(self, other: Self) -> Self {
        let mut known = HashSet::new();
        let mut lines: Vec<(String, String, Removal)> = Vec::new();
        for removal in self.removals.into_iter().chain(other.removals) {
            let line = to_lines(std::slice::from_ref(&removal));
            if known.insert(line.clone()) {
                lines.push((removal.when.clone(), line, removal));
            }
        }
        lines.sort_by(|one, two| (&one.0, &one.1).cmp(&(&two.0, &two.1)));
        let mut unreadable: Vec<String> = self.unreadable.into_iter().chain(other.unreadable).collect();
        unreadable.sort_unstable();
        unreadable.dedup();
        Self { removals: lines.into_iter().map(|(.., removal)| removal).collect(), unreadable }
    }

    /// Returns the lines of the whole history.
    pub fn render(&self) -> String {
        let mut text = to_lines(&self.removals);
        for line in &self.unreadable {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// Returns the removals that contain every word of `query`, the newest first; all of them without a word.
    pub fn search(&self, query: &str) -> Vec<&Removal> {
        let query = if query.trim().is_empty() { String::new() } else { identity(query) };
        let words: Vec<&str> = query.split_whitespace().collect();
        let contains = |removal: &&Removal| {
            let replaced_by = removal.replaced_by.as_deref().unwrap_or_default();
            let parts =
                [&removal.text, replaced_by, &removal.section, &removal.by, &removal.why, &removal.when];
            let text = parts.map(identity).join("\n");
            words.iter().all(|word| text.contains(word))
        };
        let mut found: Vec<&Removal> = self.removals.iter().filter(contains).collect();
        found.sort_by(|one, two| two.when.cmp(&one.when));
        found
    }
}

/// Returns removals for people: one paragraph each, safe for a terminal.
pub fn render_for_people(removals: &[&Removal]) -> String {
    let line = |text: &str| sanitize::one_line(text, MAX_SHOWN_CHARS);
    let mut text = String::new();
    for removal in removals {
        let by = if removal.by.is_empty() { String::new() } else { format!(" by {}", line(&removal.by)) };
        let why = if removal.why.is_empty() { String::new() } else { format!(" ({})", line(&removal.why)) };
        text.push_str(&format!(
            "{}{by}{why}\n  {}: {}",
            line(&removal.when),
            line(&removal.section),
            line(&removal.text)
        ));
        if !removal.provenance.is_empty() {
            text.push_str(&format!(" {}", line(&removal.provenance)));
        }
        if let Some(after) = &removal.replaced_by {
            text.push_str(&format!("\n  → {}", line(after)));
        }
        text.push('\n');
    }
    text
}
