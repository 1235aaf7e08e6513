//! One observation: a thing that happened in a session, as hooks write it and the database keeps it.
//!
//! A line of the spool is a head, which is the same for every kind, and `data`, which is the kind's own. Reading leaves
//! `data` as it was written ([`Kept`]), so that kinds and values of later versions are kept, too. A new kind is a struct,
//! a variant of [`Data`] here, and whatever is derived from it.

mod first_version;

use crate::plan::Plan;
use crate::task::Task;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The version of a line; a reader keeps lines of a later one aside.
pub const VERSION: u32 = 2;
/// The platform of an observation that names none.
pub const CLAUDE_CODE: &str = "claude-code";

/// One thing that happened in a session. Texts and values are already cut and free of known secrets.
#[derive(Clone, Debug)]
pub struct Observation<'a> {
    /// Unique within its session: an observation that arrives twice is stored once.
    pub id: Cow<'a, str>,
    /// In milliseconds since 1970.
    pub at: u64,
    /// The session's id, as the platform gave it.
    pub session: Cow<'a, str>,
    /// The agent that the session is one of; absent for [`CLAUDE_CODE`], but for prompts, which always name it.
    pub platform: Option<Cow<'a, str>>,
    /// The folder that the session worked in; the drain finds its project.
    pub cwd: Cow<'a, str>,
    /// The prompt that it belongs to, as the client says.
    pub prompt_id: Option<Cow<'a, str>>,
    /// The subagent.
    pub agent: Option<Cow<'a, str>>,
    /// The kind of the subagent.
    pub agent_type: Option<Cow<'a, str>>,
    /// What its kind has besides.
    pub data: Data<'a>,
}

/// What each kind has of its own.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Data<'a> {
    /// The user sent a prompt.
    Prompt(Prompt<'a>),
    /// A tool ran, failed or was interrupted.
    Tool(ToolCall<'a>),
    /// A hook gave the model or the person a text.
    Told(Told<'a>),
    /// A session began, or went on.
    SessionStart(SessionStart<'a>),
    /// A session ended.
    SessionEnd(SessionEnd<'a>),
    /// A turn ended, well or not.
    TurnEnd(TurnEnd<'a>),
    /// A tool call was refused, and did not run.
    Refused(Refused<'a>),
    /// The model showed a plan.
    Plan(Plan<'a>),
    /// The client's list of tasks changed.
    Task(Task<'a>),
    /// An observation of whichever kind, as it was written.
    Kept(Kept<'a>),
}

/// What the user typed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Prompt<'a> {
    /// The prompt.
    pub text: Cow<'a, str>,
    /// `default`, `plan`, `acceptEdits`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// The branch that HEAD named; absent outside a repository and on a detached HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Cow<'a, str>>,
    /// Whether a prompt that was not recorded came before it: it answers nothing that was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_private: bool,
}

/// A call of a tool, and its result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub tool: Cow<'a, str>,
    /// The client's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// As the client sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a RawValue>,
    /// Without what the input has already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<&'a RawValue>,
    /// Why the call failed; absent when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// Whether the user interrupted it: that is no failure of the tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// How long the tool ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// `default`, `plan`, `acceptEdits`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Cow<'a, str>>,
}

/// A text that a hook gave the model or the person.
#[derive(Clone, Debug, Serialize)]
pub struct Told<'a> {
    /// The hook's name.
    pub hook: Cow<'a, str>,
    /// `context`, `block`, `allow`, `ask` or `systemMessage`.
    pub form: Cow<'a, str>,
    /// The text.
    pub text: Cow<'a, str>,
    /// The lessons in it, separated by commas; a repository's with `project:` before its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Cow<'a, str>>,
    /// The client's id of the call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<Cow<'a, str>>,
}

/// How a session began.
#[derive(Clone, Debug, Serialize)]
pub struct SessionStart<'a> {
    /// `startup`, `resume`, `clear`, `compact`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Cow<'a, str>>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Cow<'a, str>>,
}

/// How a session ended.
#[derive(Clone, Debug, Serialize)]
pub struct SessionEnd<'a> {
    /// `clear`, `logout`, `prompt_input_exit`, `other`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// The path of the client's transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Cow<'a, str>>,
}

/// How a turn ended.
#[derive(Clone, Debug, Serialize)]
pub struct TurnEnd<'a> {
    /// `done` or `failed`.
    pub outcome: Cow<'a, str>,
    /// The model's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
    /// Why the turn failed; absent when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// The path of the client's transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Cow<'a, str>>,
}

/// A call of a tool that was refused.
#[derive(Clone, Debug, Serialize)]
pub struct Refused<'a> {
    /// The tool's name.
    pub tool: Cow<'a, str>,
    /// The client's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// As the client sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a RawValue>,
    /// `guard`, `pause` or `loop`; in what is taken from a transcript also `user`, `interrupt` or `rule`.
    pub by: Cow<'a, str>,
    /// The lessons that refused it, as in [`Told`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Cow<'a, str>>,
    /// What the model read in the place of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
}

/// The data of an observation as it was written, whether or not this program knows its kind.
#[derive(Clone, Debug)]
pub struct Kept<'a> {
    /// The kind's name.
    pub kind: Cow<'a, str>,
    /// JSON; for every known kind an object.
    pub data: Cow<'a, RawValue>,
}

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data.serialize(serializer)
    }
}

impl Data<'_> {
    /// Returns the name of the kind.
    pub fn kind(&self) -> &str {
        match self {
            Self::Prompt(_) => "prompt",
            Self::Tool(_) => "tool",
            Self::Told(_) => "told",
            Self::SessionStart(_) => "session-start",
            Self::SessionEnd(_) => "session-end",
            Self::TurnEnd(_) => "turn-end",
            Self::Refused(_) => "refused",
            Self::Plan(_) => Plan::KIND,
            Self::Task(_) => Task::KIND,
            Self::Kept(kept) => &kept.kind,
        }
    }

    /// Returns the data as JSON.
    pub fn json(&self) -> Result<Cow<'_, RawValue>, serde_json::Error> {
        match self {
            Self::Kept(kept) => Ok(Cow::Borrowed(&kept.data)),
            data => serde_json::value::to_raw_value(data).map(Cow::Owned),
        }
    }
}

/// The head of a line, with data that is not looked into.
#[derive(Deserialize)]
struct Line<'a> {
    v: u32,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    ts: u64,
    #[serde(borrow)]
    session: Cow<'a, str>,
    platform: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Cow<'a, str>,
    prompt_id: Option<Cow<'a, str>>,
    agent: Option<Cow<'a, str>>,
    agent_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl<'a> Observation<'a> {
    /// Returns an observation of Claude Code's, without anything that is optional.
    pub fn new(session: &'a str, id: impl Into<Cow<'a, str>>, at: u64, data: Data<'a>) -> Self {
        Self {
            id: id.into(),
            at,
            session: session.into(),
            platform: None,
            cwd: Cow::Borrowed(""),
            prompt_id: None,
            agent: None,
            agent_type: None,
            data,
        }
    }

    /// Reads a line; `None` when it is damaged or of a later version.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let read: Line<'a> = serde_json::from_slice(line).ok()?;
        match read.v {
            1 => first_version::read(line),
            VERSION => Some(Self {
                id: read.id,
                at: read.ts,
                session: read.session,
                platform: read.platform,
                cwd: read.cwd,
                prompt_id: read.prompt_id,
                agent: read.agent,
                agent_type: read.agent_type,
                data: Data::Kept(Kept {
                    kind: read.kind,
                    data: Cow::Borrowed(read.data.unwrap_or(RawValue::NULL)),
                }),
            }),
            _ => None,
        }
    }
}

impl Serialize for Observation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'o> {
            v: u32,
            kind: &'o str,
            id: &'o str,
            ts: u64,
            session: &'o str,
            #[serde(skip_serializing_if = "Option::is_none")]
            platform: Option<&'o str>,
            cwd: &'o str,
            #[serde(skip_serializing_if = "Option::is_none")]
            prompt_id: Option<&'o str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            agent: Option<&'o str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            agent_type: Option<&'o str>,
            data: &'o Data<'o>,
        }
        Written {
            v: VERSION,
            kind: self.data.kind(),
            id: &self.id,
            ts: self.at,
            session: &self.session,
            platform: self.platform.as_deref(),
            cwd: &self.cwd,
            prompt_id: self.prompt_id.as_deref(),
            agent: self.agent.as_deref(),
            agent_type: self.agent_type.as_deref(),
            data: &self.data,
        }
        .serialize(serializer)
    }
}

/// The fields of a JSON object, in their order, with values that are not looked into.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads an object; `None` for any other value.
    pub fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| *value)
    }

    /// Returns the value of a field that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        serde_json::from_str::<Text<'a>>(self.get(name)?.get()).ok().map(|text| text.0)
    }

    /// Takes a field out.
    pub fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    /// Keeps the fields that `wanted` wants.
    pub fn retain(&mut self, mut wanted: impl FnMut(&str, &'a RawValue) -> bool) {
        self.0.retain(|(name, value)| wanted(name, value));
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the fields apart: those that `wanted` wants, and the rest.
    pub fn partition(self, mut wanted: impl FnMut(&str, &'a RawValue) -> bool) -> (Self, Self) {
        let (taken, rest) = self.0.into_iter().partition(|(name, value)| wanted(name, value));
        (Self(taken), Self(rest))
    }

    /// Returns the object as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }

    /// Returns the object as JSON, with each value as `change` returns it.
    pub fn json_with<'v>(&self, change: impl Fn(&'a str) -> Cow<'v, str>) -> String {
        let mut json = String::from("{");
        for (name, value) in &self.0 {
            let comma = if json.len() > 1 { "," } else { "" };
            let name = serde_json::to_string(name).unwrap_or_default();
            json.extend([comma, &name, ":", &change(value.get())]);
        }
        json.push('}');
        json
    }

    /// Adds the fields of another object.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some((name, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    fields.push((name.0, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_as_it_was_written_whatever_its_kind_and_values() {
        let lines = [
            r#"{"v":2,"kind":"told","id":"n:1","ts":5,"session":"s","cwd":"/p","prompt_id":"q","data":{"hook":"h","form":"context","text":"a\"b"}}"#,
            r#"{"v":2,"kind":"dream","id":"d:1","ts":5,"session":"s","platform":"other","cwd":"","agent":"a","agent_type":"t","data":[1.50,{"of": "sheep"}]}"#,
        ];
        for line in lines {
            let observation = Observation::read(line.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&observation).unwrap(), line);
        }
    }

    #[test]
    fn lines_of_a_later_version_and_damaged_ones_are_not_read() {
        for line in [
            r#"{"v":3,"kind":"prompt","id":"p:1","ts":5,"session":"s","data":{"text":"x"}}"#,
            r#"{"v":2,"kind":"prompt","ts":5,"session":"s"}"#,
            "nonsense",
        ] {
            assert!(Observation::read(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn fields_keep_their_order_and_their_values_as_written() {
        let text = r#"{"b":1.50,"a":"x\ny","b2":{"c": [ ]}}"#;
        let mut fields = Fields::read(text).unwrap();
        assert_eq!(fields.json(), text);
        assert_eq!(fields.text("a").as_deref(), Some("x\ny"));
        fields.take("b");
        assert_eq!(fields.json(), r#"{"a":"x\ny","b2":{"c": [ ]}}"#);
        assert!(Fields::read("[1]").is_none());
    }
}
