//! Contexts: pieces of work with an id, a summary, notes, the sessions that they were done in, and what waits in them.
//!
//! [`fold`] makes contexts of observations and touches nothing; [`tables`] keeps the database in step; [`read`] answers
//! questions; [`write`] appends what a person or a prompt wants.

pub mod fold;
pub mod id;
pub mod plan;
pub mod read;
mod tables;
pub mod write;

pub use fold::fold;
pub use tables::Contexts;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a context is at: the words of aiwcli, in the generation that tells plans and handoffs apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing was done in it yet, or only in plan mode.
    #[default]
    Idle,
    /// An accepted plan waits for a session.
    HasPlan,
    /// A handoff waits for a session.
    HasHandoff,
    /// A session works on it.
    Active,
}

impl Mode {
    /// Returns the name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::HasPlan => "has_plan",
            Self::HasHandoff => "has_handoff",
            Self::Active => "active",
        }
    }

    /// Returns whether something waits in the context.
    pub fn is_staged(self) -> bool {
        matches!(self, Self::HasPlan | Self::HasHandoff)
    }
}

/// A session: ids of two platforms may be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId {
    pub platform: String,
    pub id: String,
}

/// A session that worked on a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    #[serde(flatten)]
    pub session: SessionId,
    /// When it was bound first, in milliseconds since 1970.
    pub at: i64,
    /// Whether the session is bound to this context still.
    pub is_current: bool,
    /// When it worked on this context and on no other, in their order.
    #[serde(default)]
    pub spans: Vec<Span>,
}

/// A time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: i64,
    /// `None` while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
}

impl Span {
    /// Says whether this moment is in it.
    pub fn has(self, at: i64) -> bool {
        self.from <= at && self.to.is_none_or(|to| at < to)
    }
}

/// What one session leaves for the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub kind: ArtifactKind,
    /// When it was accepted or written.
    pub at: i64,
    /// What names it, wherever it is seen.
    pub digest: String,
    /// What a prompt that carries the plan is recognised by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<plan::Marks>,
    /// The file of it, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether a session took it up.
    pub is_consumed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    Plan,
    Handoff,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub at: i64,
    pub text: String,
}

/// What the repository was like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Git {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Files with changes that are not committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// How the last session of a context ended. What is known of it is added up: a later observation without a field keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSession {
    pub session_id: String,
    pub saved_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save_reason: Option<String>,
    /// What was left of the window, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_remaining_pct: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_warnings_fired: Vec<Value>,
}

/// A piece of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    pub id: String,
    pub summary: String,
    pub tags: Vec<String>,
    /// How it came about: `auto-created` by a prompt, `manual` by a command, or what an import says.
    pub method: String,
    pub mode: Mode,
    pub is_done: bool,
    pub created_at: i64,
    pub last_active: i64,
    /// When the artifact was staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged_at: Option<i64>,
    /// Whether what is staged was offered to a session.
    #[serde(default)]
    pub is_offered: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// In the order they were bound.
    pub sessions: Vec<Binding>,
    pub notes: Vec<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_session: Option<LastSession>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// What an import brought besides; their texts are in the observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// What an import brought that this program has no name for.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The row of its project.
    #[serde(skip)]
    pub project: Option<i64>,
}

/// What an observation does to a context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Makes it.
    New {
        summary: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        method: String,
        /// Whether the observation's session works on it from now on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        bind: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<String>,
    },
    /// The observation's session works on it from now on.
    Bind {
        /// What led to it: `caret`, `plan`, `resume`, `command`, `link` or `import`.
        via: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<String>,
    },
    Edit {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
    },
    Note {
        text: String,
    },
    Done,
    Reopen,
    /// A session was shown that something waits in it.
    Offered,
    /// A handoff was written for the next session.
    Handoff(Box<Handoff>),
    /// The observation's session goes on from a handoff, and works on the context from now on.
    Resumed {
        /// The handoff's.
        digest: String,
    },
    /// What the window had left, and which warnings were shown.
    Window {
        remaining_pct: i64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings_fired: Vec<Value>,
    },
    /// What another system knew about it.
    Import(Box<Imported>),
}

/// What a session leaves for the next, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// Of the context, the id and the texts.
    pub digest: String,
    /// Relative to the context's folder, with `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `YYYY-MM-DD-HHMM`, with a number where a minute has several; the name of its folder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "Origin::is_asked")]
    pub origin: Origin,
    /// Without private parts and secrets; empty in what is derived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// The tasks that were open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<OpenTask>,
    /// What the repository was like; `git` is the branch alone, as in every observation about a context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Git>,
}

impl Handoff {
    /// Returns the text of a section; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        let section = self.sections.iter().find(|section| section.name == name);
        section.map_or("", |section| &section.text)
    }
}

/// The names of the sections that a session gets without asking for them.
pub const DEAD_ENDS: &str = "dead ends";
pub const PENDING: &str = "pending";

/// A named part of a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    pub name: String,
    pub text: String,
}

/// A task that was open when a handoff was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTask {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub subject: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
}

/// What a handoff was written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A person wants another session to go on.
    #[default]
    Asked,
    /// The window of the session was compacted: the session itself goes on, and nothing waits for another.
    Compaction,
    /// A compaction was stopped, and another session shall go on. What a person asked for comes first.
    Stopped,
    /// Another system wrote it.
    Import,
}

impl Origin {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_asked(&self) -> bool {
        *self == Self::Asked
    }

    /// Says whether a program saved it by itself.
    pub fn is_automatic(self) -> bool {
        matches!(self, Self::Compaction | Self::Stopped)
    }
}

/// After how many days a handoff is old.
pub const STALE_DAYS: u64 = 7;

/// Says whether a handoff is old at a moment, or beside work of that moment; both in milliseconds since 1970.
pub fn is_stale(saved: i64, at: i64) -> bool {
    at.saturating_sub(saved) > STALE_DAYS as i64 * 24 * 60 * 60 * 1000
}

/// A context of another system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    pub mode: Mode,
    #[serde(default)]
    pub is_done: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_session: Option<LastSession>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A file of another system's context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Relative to the context's folder, with `/`.
    pub path: String,
    /// Of the text, in bytes.
    pub size: usize,
    /// Without private parts and secrets; empty in a context.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The data of an observation about a context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    pub context: String,
    #[serde(flatten)]
    pub action: Action,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
}

/// The name of the kind of these observations.
pub const KIND: &str = "work";

/// The contexts that were made of observations, by id.
pub type ById = BTreeMap<String, Context>;
