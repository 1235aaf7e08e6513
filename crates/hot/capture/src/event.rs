//! One event, as it stands in a line of the spool.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the format; a reader passes over lines of a later one and keeps them.
pub const VERSION: u32 = 1;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The user sent a prompt.
    Prompt,
    /// A tool ran, failed or was refused.
    Tool,
}

/// One event of one session. Texts and values are already cut and free of known secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event<'a> {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// What happened.
    pub kind: Kind,
    /// What makes the event itself within its session: the same event, delivered twice, is stored once.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// When, in milliseconds since 1970.
    #[serde(rename = "ts")]
    pub at: u64,
    /// The session.
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    /// The folder that the session worked in; the project is found when the spool is drained.
    #[serde(borrow, default)]
    pub cwd: Cow<'a, str>,
    /// The subagent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Cow<'a, str>>,
    /// The kind of the subagent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<Cow<'a, str>>,
    /// What the user typed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Cow<'a, str>>,
    /// The tool.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    /// The client's id of the call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The tool's input.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a RawValue>,
    /// The tool's output.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output: Option<&'a RawValue>,
    /// Why the tool failed; absent when it did not.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// How long the tool ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// A line that says where its event is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pointer<'a> {
    /// The version of the format.
    #[serde(rename = "v")]
    pub(crate) version: u32,
    /// The name of the file in `bulk/`.
    #[serde(borrow)]
    pub(crate) bulk: Cow<'a, str>,
}
