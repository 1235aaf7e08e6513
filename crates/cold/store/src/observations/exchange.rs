//! Sessions, prompts and tool calls as JSON lines: what `wyren export` writes and `wyren import` reads
//! (`docs/formats.md`).

mod export;
mod import;

pub use export::{Export, ExportError};
pub use import::{BadLine, Import, Imported};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the format.
const VERSION: u32 = 1;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    Session,
    Prompt,
    Tool,
}

/// A project, as a session's line names it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ProjectRecord<'a> {
    /// The identity.
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The display name.
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// The top of the work tree where it was recorded.
    #[serde(borrow)]
    root: Cow<'a, str>,
}

/// One line. Flat, because a value that stays unparsed cannot stand in a tagged enum.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record<'a> {
    v: u32,
    #[serde(rename = "type")]
    kind: Type,
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ts: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    project: Option<ProjectRecord<'a>>,
    #[serde(default)]
    cwd: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompts: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    output: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_type: Option<Cow<'a, str>>,
}

impl<'a> Record<'a> {
    fn new(kind: Type, session: &'a str, cwd: String) -> Self {
        Self {
            v: VERSION,
            kind,
            session: session.into(),
            id: None,
            ts: None,
            project: None,
            cwd: cwd.into(),
            title: None,
            started: None,
            last: None,
            prompts: None,
            number: None,
            text: None,
            prompt: None,
            tool: None,
            tool_use_id: None,
            command: None,
            failed: None,
            input: None,
            output: None,
            error: None,
            duration_ms: None,
            agent: None,
            agent_type: None,
        }
    }
}
