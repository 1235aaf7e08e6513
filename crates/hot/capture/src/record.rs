//! Records prompts and tool calls: nothing that is private, nothing that was excluded, nothing twice.
//!
//! What can be decided without work is decided first: a tool that is not recorded costs no more than a hook that has
//! nothing to say.

use crate::{Event, Kind, Rules, Spool, shrink};
use base::log::Level;
use base::settings;
use hook::{Event as _, Host, Keep, ToolOutcome, UserPromptSubmit};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;
use text::privacy;

/// Why an event could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spool refused.
    #[error("could not record the event")]
    Spool(#[from] crate::Error),
    /// A value of the input is not JSON after all.
    #[error("could not keep a value of the event")]
    Json(#[from] serde_json::Error),
}

/// Records what a tool was asked and what came of it.
pub fn record_tool(call: &ToolOutcome, host: &Host) -> Result<(), Error> {
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return Ok(()) };
    if !may_record_call(call, host) {
        return Ok(());
    }
    let cwd = host.cwd(call);
    let spool = Spool::new(host.paths.spool());
    let input = call.tool_input.map(shrunk).transpose()?;
    let output = call.tool_response.map(shrunk).transpose()?;
    let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
    let event = Event {
        kind: Kind::Tool,
        id: id.map_or_else(|| unique_id(host), |id| format!("t:{id}")).into(),
        tool: Some(tool.into()),
        tool_use_id: id.map(Cow::from),
        input: input.as_deref(),
        output: output.as_deref(),
        error: call.error.as_deref().map(shrink::text),
        duration_ms: call.duration_ms,
        ..event(host, session, &cwd, call.agent_id(), call.agent_type.as_deref())
    };
    keep(&spool, &event, host, call)
}

/// Returns whether anything about a tool call may be kept: the user excluded neither the tool nor the folder, and the
/// prompt is not private.
pub fn may_record_call(call: &ToolOutcome, host: &Host) -> bool {
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return false };
    let rules = Rules::of(host.settings(), &host.env);
    if !rules.records_call(tool, call.tool_input.map(RawValue::get)) || !rules.records_in(&host.cwd(call)) {
        return false;
    }
    // Whether the last prompt was private is known only while prompts are seen.
    let sees_prompts =
        !settings::list(&host.settings().get("hooks.disabled")).any(|hook| hook == "prompt-record");
    sees_prompts && !Spool::new(host.paths.spool()).is_private(session)
}

/// Records what the user asked; a wholly private prompt hides itself and all that is done under it.
pub fn record_prompt(call: &UserPromptSubmit, host: &Host) -> Result<(), Error> {
    let (Some(prompt), Some(session)) = (call.prompt.as_deref(), call.session_id()) else { return Ok(()) };
    let prompt = prompt.trim();
    let rules = Rules::of(host.settings(), &host.env);
    if !rules.records_prompt(prompt) {
        return Ok(());
    }
    let spool = Spool::new(host.paths.spool());
    let is_private = privacy::strip(prompt).wholly_private;
    // Noted wherever the session is: it may go on in a folder that is recorded.
    if let Err(error) = spool.set_private(session, is_private) {
        if is_private {
            host.log(
                Level::Alert,
                "could not note that the prompt is private; what is done under it may be recorded",
            );
        }
        return Err(error.into());
    }
    let cwd = host.cwd(call);
    if is_private || !rules.records_in(&cwd) {
        return Ok(());
    }
    let id = call.prompt_id.as_deref().filter(|id| !id.is_empty());
    let event = Event {
        kind: Kind::Prompt,
        id: id.map_or_else(|| unique_id(host), |id| format!("p:{id}")).into(),
        prompt: Some(shrink::text(prompt)),
        ..event(host, session, &cwd, call.agent_id(), call.agent_type.as_deref())
    };
    keep(&spool, &event, host, call)
}

/// Appends the event. A full disk is no failure of the hook: recording pauses until there is room, and the user is told
/// once.
fn keep(spool: &Spool, event: &Event<'_>, host: &Host, call: &impl hook::Event) -> Result<(), Error> {
    match spool.append(event) {
        Err(crate::Error::DiskFull) => {
            let is_news = host.claims(call).take_for_good("disk-full", Keep::UntilClear);
            let level = if is_news { Level::Alert } else { Level::Warn };
            host.log(level, "the disk is full; nothing is recorded until there is room");
            Ok(())
        }
        appended => Ok(appended?),
    }
}

fn event<'a>(
    host: &Host,
    session: &'a str,
    cwd: &'a Path,
    agent: Option<&'a str>,
    agent_type: Option<&'a str>,
) -> Event<'a> {
    Event {
        version: crate::VERSION,
        kind: Kind::Prompt,
        id: Cow::Borrowed(""),
        at: host.started.millis(),
        session: session.into(),
        cwd: cwd.to_string_lossy(),
        agent: agent.map(Cow::from),
        agent_type: agent_type.filter(|kind| !kind.is_empty()).map(Cow::from),
        prompt: None,
        tool: None,
        tool_use_id: None,
        input: None,
        output: None,
        error: None,
        duration_ms: None,
    }
}

/// Returns an id for an event that the client gave none: no other process has it at this moment.
fn unique_id(host: &Host) -> String {
    format!("n:{}-{}", host.started.millis(), std::process::id())
}

fn shrunk(value: &RawValue) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(shrink::json(value.get()).into_owned())
}
