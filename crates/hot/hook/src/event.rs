//! What the client sends: one type per event, tolerant of what is missing or new.
//!
//! A missing field is `None`, an unknown one is ignored, `null` counts as missing; a field of the wrong type makes
//! the whole input bad. The input lives as long as the process, so its strings are borrowed, not copied.

use crate::platform::AFTER_TOOL;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

/// An event of the client: its input, and what its answer may do.
pub trait Event: Deserialize<'static> {
    /// The name of the event, as the client writes it.
    const NAME: &'static str;
    /// The names of the events that a hook of this type is for; more than one only where the hook says nothing, or where
    /// another agent has names of its own.
    const NAMES: &'static [&'static str];
    /// How a hook of this event refuses.
    const BLOCK: Block;
    /// Whether the client shows a `systemMessage` of this event to the user.
    const TELLS_USER: bool;
    /// How long a hook of this event may take: less than its time-out in `hooks.json`, so that the hook ends by
    /// itself and says why.
    const DEADLINE: Duration;

    /// Returns the event's name in the input.
    fn event_name(&self) -> Option<&str>;
    /// Returns the id of the session.
    fn session_id(&self) -> Option<&str>;
    /// Returns the id of the subagent that the event happened in.
    fn agent_id(&self) -> Option<&str>;
    /// Returns the folder that the session works in.
    fn cwd(&self) -> Option<&str>;
    /// Returns the id of the prompt that the event belongs to.
    fn prompt_id(&self) -> Option<&str>;
}

/// Marks the events whose answer may carry `additionalContext` for the model.
pub trait TakesContext: Event {}

/// How a hook of an event refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// The permission decision `deny`, inside `hookSpecificOutput`.
    Deny,
    /// The permission decision object with the behaviour `deny`, inside `hookSpecificOutput`.
    DenyPermission,
    /// The top-level decision `block`.
    TopLevel,
    /// Not at all: the client has no mechanism.
    None,
}

/// A string of the input, borrowed unless it held escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// Returns the string itself.
    pub(crate) fn into_inner(self) -> Cow<'a, str> {
        self.0
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

macro_rules! events {
    (@names $name:ident) => { &[stringify!($name)] };
    (@names $name:ident $($event:literal)+) => { &[$($event),+] };
    ($(
        $(#[$doc:meta])*
        $name:ident $([$($event:literal),+])?, block: $block:ident, tells_user: $tells_user:literal,
        deadline_ms: $deadline:literal, {
            $( $(#[$field_doc:meta])* $field:ident: $kind:ty, )*
        }
    )*) => {
        mod input {
            use super::{RawValue, Text};
            $(
                $(#[$doc])*
                #[derive(Clone, Debug, serde::Deserialize)]
                pub struct $name<'a> {
                    /// The event's name.
                    // One borrowed field makes the lifetime of the input known to all of them.
                    #[serde(borrow)]
                    pub hook_event_name: Option<Text<'a>>,
                    /// The session's id.
                    pub session_id: Option<Text<'a>>,
                    /// The session's transcript.
                    pub transcript_path: Option<Text<'a>>,
                    /// The folder that the session works in.
                    pub cwd: Option<Text<'a>>,
                    /// The prompt that the event belongs to.
                    pub prompt_id: Option<Text<'a>>,
                    /// `default`, `plan`, `acceptEdits`, …
                    pub permission_mode: Option<Text<'a>>,
                    /// The subagent that the event happened in.
                    pub agent_id: Option<Text<'a>>,
                    /// The kind of that subagent.
                    pub agent_type: Option<Text<'a>>,
                    $( $(#[$field_doc])* pub $field: Option<$kind>, )*
                }
            )*
        }
        $(
            $(#[$doc])*
            pub type $name = input::$name<'static>;

            impl Event for $name {
                const NAME: &'static str = Self::NAMES[0];
                const NAMES: &'static [&'static str] = events!(@names $name $($($event)+)?);
                const BLOCK: Block = Block::$block;
                const TELLS_USER: bool = $tells_user;
                const DEADLINE: Duration = Duration::from_millis($deadline);

                fn event_name(&self) -> Option<&str> {
                    self.hook_event_name.as_deref()
                }

                fn session_id(&self) -> Option<&str> {
                    self.session_id.as_deref().filter(|id| !id.is_empty())
                }

                fn agent_id(&self) -> Option<&str> {
                    self.agent_id.as_deref().filter(|id| !id.is_empty())
                }

                fn cwd(&self) -> Option<&str> {
                    self.cwd.as_deref().filter(|cwd| !cwd.is_empty())
                }

                fn prompt_id(&self) -> Option<&str> {
                    self.prompt_id.as_deref()
                }
            }
        )*
    };
}

events! {
    /// A session begins, goes on, or was cleared or compacted.
    SessionStart, block: None, tells_user: true, deadline_ms: 3_500, {
        /// `startup`, `resume`, `clear` or `compact`; see [`SessionStart::source`].
        source: Text<'a>,
        /// The model's name; not every start has one.
        model: Text<'a>,
    }
    /// The user sent a prompt.
    UserPromptSubmit, block: TopLevel, tells_user: true, deadline_ms: 2_500, {
        /// What was typed.
        prompt: Text<'a>,
    }
    /// A tool is about to run; with Gemini's second name, it has run.
    PreToolUse ["PreToolUse", "BeforeTool", "AfterTool"], block: Deny, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// The id of this call.
        tool_use_id: Text<'a>,
    }
    /// A tool ran.
    PostToolUse, block: TopLevel, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// Its output, in a shape of its own.
        tool_response: &'a RawValue,
        /// The id of this call.
        tool_use_id: Text<'a>,
        /// How long it ran.
        duration_ms: f64,
    }
    /// A tool failed.
    PostToolUseFailure, block: TopLevel, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// The id of this call.
        tool_use_id: Text<'a>,
        /// What went wrong.
        error: Text<'a>,
        /// Whether the user interrupted it.
        is_interrupt: bool,
        /// How long it ran.
        duration_ms: f64,
    }
    /// A tool ran or failed: for hooks that only take note of it.
    ToolOutcome ["PostToolUse", "PostToolUseFailure"], block: None, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// Its output, in a shape of its own; absent when it failed.
        tool_response: &'a RawValue,
        /// The id of this call.
        tool_use_id: Text<'a>,
        /// What went wrong; absent when it ran.
        error: Text<'a>,
        /// Whether the user interrupted it.
        is_interrupt: bool,
        /// How long it ran.
        duration_ms: f64,
    }
    /// A tool is about to run, or ran: for hooks that only take note of it.
    AroundTool ["PreToolUse", "PostToolUse"], block: None, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// Its output, in a shape of its own; absent before it ran.
        tool_response: &'a RawValue,
        /// The id of this call.
        tool_use_id: Text<'a>,
    }
    /// The model finished its turn.
    Stop, block: TopLevel, tells_user: true, deadline_ms: 4_500, {
        /// Whether a hook already made the model go on.
        stop_hook_active: bool,
        /// The model's last words.
        last_assistant_message: Text<'a>,
    }
    /// The turn ended because the request to the model failed.
    StopFailure, block: None, tells_user: false, deadline_ms: 4_500, {
        /// The kind of failure: `invalid_request`, `rate_limit`, `unknown`, …
        error: Text<'a>,
        /// What the API answered.
        error_details: Text<'a>,
        /// What the client shows in the place of an answer.
        last_assistant_message: Text<'a>,
    }
    /// The turn ended, well or not: for hooks that only take note of it.
    TurnEnd ["Stop", "StopFailure"], block: None, tells_user: false, deadline_ms: 4_500, {
        /// The model's last words; when the turn failed, what the client shows in their place.
        last_assistant_message: Text<'a>,
        /// The kind of failure; absent when the turn did not fail.
        error: Text<'a>,
        /// What the API answered.
        error_details: Text<'a>,
    }
    /// A subagent begins.
    SubagentStart, block: None, tells_user: true, deadline_ms: 4_500, {}
    /// A subagent finished.
    SubagentStop, block: TopLevel, tells_user: true, deadline_ms: 4_500, {
        /// Whether a hook already made the subagent go on.
        stop_hook_active: bool,
        /// The subagent's own transcript.
        agent_transcript_path: Text<'a>,
        /// The subagent's last words.
        last_assistant_message: Text<'a>,
    }
    /// The conversation is about to be compacted.
    PreCompact, block: TopLevel, tells_user: false, deadline_ms: 55_000, {
        /// `manual` or `auto`.
        trigger: Text<'a>,
        /// What the user typed after `/compact`.
        custom_instructions: Text<'a>,
    }
    /// A session ends. The client gives all hooks 1.5 s together.
    SessionEnd, block: None, tells_user: false, deadline_ms: 1_200, {
        /// `clear`, `logout`, `prompt_input_exit`, `other`, …
        reason: Text<'a>,
    }
    /// The client shows the user a notification.
    Notification, block: None, tells_user: true, deadline_ms: 4_500, {
        /// Its text.
        message: Text<'a>,
        /// Its title.
        title: Text<'a>,
        /// Its kind.
        notification_type: Text<'a>,
    }
    /// The client is about to ask the user for permission.
    PermissionRequest, block: DenyPermission, tells_user: true, deadline_ms: 4_500, {
        /// The tool.
        tool_name: Text<'a>,
        /// Its input, as sent.
        tool_input: &'a RawValue,
        /// What the client would offer to remember.
        permission_suggestions: &'a RawValue,
    }
}

impl TakesContext for SessionStart {}
impl TakesContext for UserPromptSubmit {}
impl TakesContext for PreToolUse {}
impl TakesContext for PostToolUse {}
impl TakesContext for PostToolUseFailure {}
impl TakesContext for Stop {}
impl TakesContext for SubagentStart {}
impl TakesContext for SubagentStop {}
impl TakesContext for Notification {}

impl PreToolUse {
    /// Says whether the tool has run already, which Gemini reports to the same program.
    pub fn has_run(&self) -> bool {
        self.hook_event_name.as_deref() == Some(AFTER_TOOL)
    }
}

impl AroundTool {
    /// Says whether the tool has run already.
    pub fn has_run(&self) -> bool {
        self.hook_event_name.as_deref() == Some(PostToolUse::NAME)
    }
}

impl TurnEnd {
    /// Says whether the request to the model failed.
    pub fn has_failed(&self) -> bool {
        self.hook_event_name.as_deref() == Some(StopFailure::NAME)
    }
}

/// Why a session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A new session; also when the input does not say.
    Startup,
    /// An old session goes on: the window still holds what was injected.
    Resume,
    /// The window was cleared.
    Clear,
    /// The window was compacted.
    Compact,
}

impl SessionStart {
    /// Returns why the session starts. A fork carries its window along, as a resumed session does.
    pub fn source(&self) -> Source {
        match self.source.as_deref() {
            Some("resume" | "fork") => Source::Resume,
            Some("clear") => Source::Clear,
            Some("compact") => Source::Compact,
            _ => Source::Startup,
        }
    }
}
