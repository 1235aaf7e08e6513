//! What another agent sends to a hook, as Claude Code would have sent it: its events, its names for tools and fields.
//!
//! Nothing here runs for Claude Code. Everything behind the protocol sees one kind of input, so lessons, records and loops
//! are the same whichever agent works. What has no meaning for Wyren is left out; so is the path of the transcript, whose
//! form no other agent shares.

mod fields;
mod tool;

pub use tool::input as canonical_input;

use crate::event::Event;
use crate::platform::{AFTER_TOOL, BEFORE_TOOL, Platform};
use fields::{Fields, Written, text};
use serde_json::value::RawValue;
use std::borrow::Cow;
use tool::Outcome;

/// The fields that mean the same everywhere, by Claude Code's name, each with the names that agents have for it. The first that
/// is there counts.
const SAME: [(&str, &[&str]); 13] = [
    ("session_id", &["conversation_id", "session_id"]),
    ("prompt_id", &["prompt_id", "turn_id", "generation_id"]),
    ("permission_mode", &["permission_mode"]),
    ("agent_id", &["agent_id"]),
    ("agent_type", &["agent_type"]),
    ("model", &["model"]),
    ("source", &["source"]),
    ("reason", &["reason"]),
    ("stop_hook_active", &["stop_hook_active"]),
    ("last_assistant_message", &["last_assistant_message", "prompt_response"]),
    ("tool_use_id", &["tool_use_id"]),
    ("is_interrupt", &["is_interrupt"]),
    // Cursor's is in milliseconds, too.
    ("duration_ms", &["duration_ms", "duration"]),
];

/// A point of a session that agents have names of their own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Start,
    Prompt,
    BeforeTool,
    AfterTool,
    Stop,
    End,
    Subagent,
}

impl Moment {
    /// The events of Codex and of the module for OpenCode have Claude Code's names.
    fn of(event: &str) -> Option<Self> {
        Some(match event {
            "SessionStart" | "sessionStart" => Self::Start,
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" => Self::Prompt,
            "PreToolUse" | BEFORE_TOOL | "preToolUse" => Self::BeforeTool,
            "PostToolUse" | "PostToolUseFailure" | AFTER_TOOL | "postToolUse" | "postToolUseFailure" => {
                Self::AfterTool
            }
            "Stop" | "AfterAgent" | "stop" => Self::Stop,
            "SessionEnd" | "sessionEnd" => Self::End,
            "SubagentStart" => Self::Subagent,
            _ => return None,
        })
    }

    /// Returns Claude Code's name for the event, as a hook for `E` takes it.
    fn name<E: Event>(self, agent: Platform, has_failed: bool) -> &'static str {
        match self {
            Self::Start => "SessionStart",
            Self::Prompt => "UserPromptSubmit",
            Self::BeforeTool if agent.takes_hints_late() => BEFORE_TOOL,
            Self::BeforeTool => "PreToolUse",
            Self::AfterTool if E::NAMES.contains(&AFTER_TOOL) => AFTER_TOOL,
            Self::AfterTool if has_failed && E::NAMES.contains(&"PostToolUseFailure") => "PostToolUseFailure",
            Self::AfterTool => "PostToolUse",
            Self::Stop => "Stop",
            Self::End => "SessionEnd",
            Self::Subagent => "SubagentStart",
        }
    }
}

/// Returns an agent's input as Claude Code would have sent it, for as long as the process lives. `None` for what is not
/// understood: the run loop says what is wrong with it.
///
/// Values are copied as they are, without being read: a tool's output may be large, and every hook has this code in it.
pub(crate) fn translated<E: Event>(agent: Platform, input: &'static [u8]) -> Option<&'static [u8]> {
    let theirs = Fields::read(std::str::from_utf8(input).ok()?)?;
    let moment = Moment::of(&theirs.text("hook_event_name")?)?;
    let mut ours = Written::new();
    // Decided when it is compiled: a hook of another event has no code for tools in it.
    let has_failed = if const { is_about_tools(E::NAMES) } {
        write_tool(&mut ours, agent, moment, &theirs)
    } else {
        false
    };
    ours.string("hook_event_name", moment.name::<E>(agent, has_failed));
    for (name, names) in SAME {
        ours.raw(name, names.iter().find_map(|name| theirs.get(name)).map(RawValue::get));
    }
    ours.raw("cwd", cwd(&theirs).as_deref());
    if let Some(prompt) = theirs.text("prompt") {
        ours.string("prompt", without_hook_context(&prompt));
    }
    // The input lives as long as the process, so the event may borrow from it.
    Some(ours.end().into_bytes().leak())
}

const fn is_about_tools(events: &[&str]) -> bool {
    matches!(events[0].as_bytes(), b"PreToolUse" | b"PostToolUse" | b"PostToolUseFailure")
}

/// Writes the fields of a tool call; returns whether the call failed.
fn write_tool(ours: &mut Written, agent: Platform, moment: Moment, theirs: &Fields<'_>) -> bool {
    let tool = tool::name(agent, theirs).unwrap_or_default();
    let outcome = match moment {
        Moment::AfterTool => Outcome::of(agent, &tool, theirs),
        _ => Outcome::default(),
    };
    if !tool.is_empty() {
        ours.string("tool_name", &tool);
    }
    let input = theirs.get("tool_input").map(|input| tool::input(&tool, input.get()));
    ours.raw("tool_input", input.as_deref());
    match &outcome.error {
        Some(error) => ours.string("error", error),
        None => ours.raw("tool_response", outcome.response.as_deref()),
    }
    outcome.error.is_some()
}

/// Returns the folder that the session works in, as JSON: the agent's, else the first of Cursor's projects.
fn cwd<'a>(theirs: &Fields<'a>) -> Option<Cow<'a, str>> {
    let named =
        theirs.get("cwd").map(RawValue::get).filter(|cwd| text(cwd).is_some_and(|cwd| !cwd.is_empty()));
    named.map(Cow::Borrowed).or_else(|| {
        let roots = theirs.get("workspace_roots")?.get();
        // A list of strings: the first ends where the second begins, or with the list.
        let first = roots.trim().strip_prefix('[')?.trim_start();
        let mut escaped = false;
        let end = first.bytes().skip(1).position(|byte| {
            let is_end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        })?;
        first.get(..end + 2).filter(|first| text(first).is_some()).map(Cow::Borrowed)
    })
}

/// Returns a prompt without what hooks said before it. Gemini puts that there when it runs without a terminal, with its angle
/// brackets escaped.
fn without_hook_context(mut prompt: &str) -> &str {
    while let Some((_, rest)) =
        prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"))
    {
        prompt = rest.trim_start();
    }
    prompt
}

#[cfg(test)]
mod tests;
