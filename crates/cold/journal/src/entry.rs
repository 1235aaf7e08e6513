//! What the journal consists of.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an entry is about. A name that is not listed is kept: other systems have kinds of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub String);

impl Kind {
    pub const CHANGE: &'static str = "change";
    pub const FIX: &'static str = "fix";
    pub const DISCOVERY: &'static str = "discovery";
    pub const DECISION: &'static str = "decision";
    pub const FAILURE: &'static str = "failure";
    pub const FEATURE: &'static str = "feature";
    pub const REFACTOR: &'static str = "refactor";

    /// Every kind with its glyph, in the order of the legend. The last five are claude-mem's beside ours.
    pub const ALL: [(&'static str, &'static str); 11] = [
        (Self::CHANGE, "✓"),
        (Self::FIX, "●"),
        (Self::FEATURE, "◆"),
        (Self::REFACTOR, "↻"),
        (Self::DISCOVERY, "○"),
        (Self::DECISION, "⚖"),
        (Self::FAILURE, "✗"),
        ("bugfix", "●"),
        ("security_alert", "⚠"),
        ("security_note", "⚷"),
        ("sensitive", "⊘"),
    ];

    /// Returns the kind of this name.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Returns its glyph; `·` for a kind of another system.
    pub fn glyph(&self) -> &'static str {
        Self::ALL.iter().find(|(name, _)| *name == self.0).map_or("·", |(_, glyph)| glyph)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Where an entry or summary comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Made of calls, by rules.
    #[default]
    Rules,
    /// `wyren remember`.
    ByHand,
    /// Written by a model.
    Model,
    /// Imported from claude-mem.
    ClaudeMem,
}

impl Source {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Rules, "rules"),
        (Self::ByHand, "by-hand"),
        (Self::Model, "model"),
        (Self::ClaudeMem, "claude-mem"),
    ];

    /// Returns its name in the tables and in observations.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(source, _)| *source == self).map_or("rules", |(_, name)| name)
    }

    /// Returns the source of this name.
    pub fn named(name: &str) -> Self {
        Self::NAMES.iter().find(|(_, known)| *known == name).map_or(Self::Rules, |(source, _)| *source)
    }
}

/// One piece of work, or one thing found out or decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Short enough to type.
    pub id: String,
    /// When it was finished, in milliseconds since 1970.
    pub at: u64,
    /// `change`, `fix`, …
    pub kind: String,
    /// The line that people and models read.
    pub title: String,
    /// What is shown on request.
    pub detail: Detail,
    /// Files that were read or changed; relative to the project's root.
    pub files: Vec<File>,
    /// The branch that the prompt was sent on.
    pub branch: Option<String>,
    /// About how many tokens it costs to fetch it whole.
    pub tokens: u64,
    pub source: Source,
    /// Whether it stays out of recall: it is kept all the same.
    pub is_noise: bool,
    pub is_pinned: bool,
    /// The id of a later entry that replaces it.
    pub replaced_by: Option<String>,
    /// How often it happened, with the earlier entries that it repeats; 0 counts as once.
    pub times: u64,
}

impl Entry {
    /// Returns the title, and how often it happened.
    pub fn line(&self) -> String {
        match self.times {
            0 | 1 => self.title.clone(),
            times => format!("{} ({times} times)", self.title),
        }
    }
}

/// A file of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct File {
    pub path: String,
    pub is_changed: bool,
}

/// What an entry has besides its title.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subtitle: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub narrative: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub concepts: Vec<String>,
    /// Commands that were run, as they were typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Looks that failed, with what they said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// How it ended: `passed`, `failed`, …
    #[serde(skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// The definitions that were changed, as `path#name`; `path#` for a change outside of any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// Who had it remembered, where that was not a person: `model`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    #[serde(skip_serializing_if = "Lines::is_empty")]
    pub lines: Lines,
}

/// Hashes of the lines that a change put in and took out in the end: by them a later change is known to undo it. Of many, those
/// with the smallest numbers, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lines {
    pub added: Vec<u32>,
    pub removed: Vec<u32>,
}

impl Lines {
    /// The most hashes of each sort.
    pub const MOST: usize = 48;

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// What a turn was about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub id: String,
    pub at: u64,
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_read: Vec<String>,
    pub files_edited: Vec<String>,
    pub tokens: u64,
    pub source: Source,
}

/// Returns about how many tokens a text costs: a quarter of its characters, as claude-mem counts.
pub(crate) fn tokens_of(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}
