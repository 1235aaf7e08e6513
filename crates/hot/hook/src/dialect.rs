//! What another agent sends to a hook, as Claude Code would have sent it: its events, its names for tools and fields.
//!
//! Nothing here runs for Claude Code. Everything behind the protocol sees one kind of input, so lessons, records and loops
//! are the same whichever agent works. What has no meaning for Wyren is left out; so is the path of the transcript, whose
//! form no other agent shares.

mod tool;

use crate::event::{Event, Text};
use crate::platform::{AFTER_TOOL, BEFORE_TOOL, Platform};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tool::Outcome;

/// What agents send, whichever it is.
#[derive(Deserialize)]
struct Theirs<'a> {
    #[serde(borrow)]
    hook_event_name: Option<Text<'a>>,
    session_id: Option<Text<'a>>,
    /// Cursor's session.
    conversation_id: Option<Text<'a>>,
    /// Codex' prompt.
    turn_id: Option<Text<'a>>,
    /// Cursor's prompt.
    generation_id: Option<Text<'a>>,
    prompt_id: Option<Text<'a>>,
    cwd: Option<Text<'a>>,
    /// Cursor's projects; the first is the one that the session works in.
    workspace_roots: Option<Vec<Text<'a>>>,
    permission_mode: Option<Text<'a>>,
    agent_id: Option<Text<'a>>,
    agent_type: Option<Text<'a>>,
    model: Option<Text<'a>>,
    source: Option<Text<'a>>,
    reason: Option<Text<'a>>,
    prompt: Option<Text<'a>>,
    stop_hook_active: Option<bool>,
    last_assistant_message: Option<Text<'a>>,
    /// Gemini's last message.
    prompt_response: Option<Text<'a>>,
    tool_name: Option<Text<'a>>,
    tool_input: Option<&'a RawValue>,
    tool_use_id: Option<Text<'a>>,
    tool_response: Option<&'a RawValue>,
    /// Cursor's response: JSON in a string.
    tool_output: Option<Text<'a>>,
    error: Option<Text<'a>>,
    /// Cursor's error.
    error_message: Option<Text<'a>>,
    is_interrupt: Option<bool>,
    duration_ms: Option<f64>,
    /// Cursor's, in milliseconds.
    duration: Option<f64>,
    /// The server and the tool behind Gemini's name for both.
    mcp_context: Option<Mcp<'a>>,
}

#[derive(Deserialize)]
struct Mcp<'a> {
    #[serde(borrow)]
    server_name: Option<Text<'a>>,
    tool_name: Option<Text<'a>>,
}

/// What Claude Code would have sent.
#[derive(Serialize)]
struct Ours<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_hook_active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_assistant_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_interrupt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
}

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
pub(crate) fn translated<E: Event>(agent: Platform, input: &'static [u8]) -> Option<&'static [u8]> {
    let theirs: Theirs<'static> = serde_json::from_slice(input).ok()?;
    let moment = Moment::of(theirs.hook_event_name.as_deref()?)?;
    let mcp = theirs.mcp_context.as_ref().and_then(|mcp| {
        Some(format!("mcp__{}__{}", mcp.server_name.as_deref()?, mcp.tool_name.as_deref()?))
    });
    let named = theirs.tool_name.as_deref();
    let tool = mcp.or_else(|| named.map(|tool| tool::name(agent, tool).into_owned()));
    let tool = tool.as_deref();
    let input = theirs.tool_input.map(|input| tool::input(tool.unwrap_or_default(), input));
    let mut outcome = Outcome::default();
    if moment == Moment::AfterTool {
        let output = theirs.tool_output.as_deref();
        outcome = Outcome::of(agent, tool.unwrap_or_default(), theirs.tool_response, output);
        let error = theirs.error.or(theirs.error_message);
        outcome.error = error.map(|error| error.to_string()).or(outcome.error);
    }
    let first_root = theirs.workspace_roots.as_ref().and_then(|roots| roots.first());
    let is_set = |text: &&str| !text.is_empty();
    let ours = Ours {
        hook_event_name: moment.name::<E>(agent, outcome.error.is_some()),
        session_id: theirs.conversation_id.as_deref().or(theirs.session_id.as_deref()),
        prompt_id: [&theirs.prompt_id, &theirs.turn_id, &theirs.generation_id]
            .into_iter()
            .find_map(Option::as_deref),
        cwd: theirs.cwd.as_deref().filter(is_set).or(first_root.map(|root| &**root)),
        permission_mode: theirs.permission_mode.as_deref(),
        agent_id: theirs.agent_id.as_deref(),
        agent_type: theirs.agent_type.as_deref(),
        model: theirs.model.as_deref(),
        source: theirs.source.as_deref(),
        reason: theirs.reason.as_deref(),
        prompt: theirs.prompt.as_deref().map(without_hook_context),
        stop_hook_active: theirs.stop_hook_active,
        last_assistant_message: theirs.last_assistant_message.as_deref().or(theirs.prompt_response.as_deref()),
        tool_name: tool,
        tool_input: input.as_deref(),
        tool_use_id: theirs.tool_use_id.as_deref(),
        tool_response: outcome.response.as_deref().filter(|_| outcome.error.is_none()),
        error: outcome.error.as_deref(),
        is_interrupt: theirs.is_interrupt,
        duration_ms: theirs.duration_ms.or(theirs.duration),
    };
    // The input lives as long as the process, so the event may borrow from it.
    Some(serde_json::to_vec(&ours).ok()?.leak())
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
