//! Records observations: nothing that is private, nothing that is excluded, nothing twice.
//!
//! What needs no work to be decided is decided first: a tool that is not recorded costs no more than a silent hook.

use crate::observation::{CLAUDE_CODE, Data, Observation, Prompt, SessionEnd, SessionStart, Told, ToolCall};
use crate::{Rules, Spool, shrink};
use base::log::Level;
use base::notice;
use base::project::Repository;
use hook::{Answer, Event, Host, Keep, Platform, PreToolUse, ToolOutcome, UserPromptSubmit};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;
use text::{privacy, redact};

/// Why an observation could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spool refused.
    #[error("could not record the observation")]
    Spool(#[from] crate::Error),
    /// A value of the input is not JSON after all.
    #[error("could not keep a value of the observation")]
    Json(#[from] serde_json::Error),
}

/// Records a tool call and its result.
pub fn record_tool(call: &ToolOutcome, host: &Host) -> Result<(), Error> {
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    if !rules.records_call(tool, call.tool_input.map(RawValue::get)) {
        return Ok(());
    }
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let input = call.tool_input.map(|input| shrunk(input.get())).transpose()?;
    let output = call.tool_response.map(|output| {
        let output = shrink::response(tool, call.tool_input.map(RawValue::get), output.get());
        RawValue::from_string(output.into_owned())
    });
    let output = output.transpose()?;
    let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
    let data = Data::Tool(ToolCall {
        tool: tool.into(),
        tool_use_id: id.map(Cow::from),
        input: input.as_deref(),
        output: output.as_deref(),
        error: call.error.as_deref().map(shrink::text),
        interrupted: call.is_interrupt.unwrap_or_default(),
        duration_ms: call.duration_ms,
        permission_mode: call.permission_mode.as_deref().map(Cow::from),
    });
    let id = id.map_or_else(|| unique_id(host), |id| format!("t:{id}"));
    let observation = Observation {
        agent: call.agent_id().map(Cow::from),
        agent_type: named(call.agent_type.as_deref()),
        ..place.observation(id, named(call.prompt_id.as_deref()), data)
    };
    keep(&place.spool, &observation, host, call)
}

/// Returns whether anything about a tool call may be kept: the user excluded neither the tool nor the folder, and the
/// prompt is not private.
pub fn may_record_call(call: &ToolOutcome, host: &Host) -> bool {
    may_record(call, call.tool_name.as_deref(), call.tool_input, host)
}

/// As [`may_record_call`], before the call.
pub fn may_record_coming_call(call: &PreToolUse, host: &Host) -> bool {
    may_record(call, call.tool_name.as_deref(), call.tool_input, host)
}

fn may_record(call: &impl Event, tool: Option<&str>, input: Option<&RawValue>, host: &Host) -> bool {
    let (Some(tool), Some(session)) = (tool, call.session_id()) else { return false };
    let rules = Rules::of(host.settings(), &host.env);
    rules.records_call(tool, input.map(RawValue::get)) && Place::of(&rules, session, call, host).is_some()
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
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let branch = Repository::above(&place.cwd).and_then(|repository| repository.branch());
    let data = Data::Prompt(Prompt {
        text: shrink::text(prompt),
        permission_mode: call.permission_mode.as_deref().map(Cow::from),
        branch: branch.map(Cow::from),
    });
    let prompt_id = named(call.prompt_id.as_deref());
    let id = prompt_id.as_ref().map_or_else(|| unique_id(host), |id| format!("p:{id}"));
    let observation = Observation {
        platform: Some(place.platform.unwrap_or(CLAUDE_CODE).into()),
        agent: call.agent_id().map(Cow::from),
        agent_type: named(call.agent_type.as_deref()),
        ..place.observation(id, prompt_id, data)
    };
    keep(&place.spool, &observation, host, call)
}

/// Records that a session began, and with which model.
pub fn record_start(call: &hook::SessionStart, host: &Host) -> Result<(), Error> {
    let Some(session) = call.session_id() else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let data = Data::SessionStart(SessionStart {
        source: named(call.source.as_deref()),
        model: named(call.model.as_deref()),
    });
    let observation = place.observation(unique_id(host), named(call.prompt_id.as_deref()), data);
    keep(&place.spool, &observation, host, call)
}

/// Records that a session ended, and why.
pub fn record_end(call: &hook::SessionEnd, host: &Host) -> Result<(), Error> {
    let Some(session) = call.session_id() else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let data = Data::SessionEnd(SessionEnd { reason: named(call.reason.as_deref()) });
    let observation = place.observation(unique_id(host), named(call.prompt_id.as_deref()), data);
    keep(&place.spool, &observation, host, call)
}

/// Has the texts of an answer recorded once the client has them; a silent answer costs nothing.
#[must_use]
pub fn told<E: Event>(answer: Answer<E>, call: &E, host: &Host) -> Answer<E> {
    told_as(answer, call, host, None)
}

/// As [`told`], but `instead` is recorded in the place of the answer's texts: of a text that is made of what is stored, a copy
/// would outlive what it was made of.
#[must_use]
pub fn told_as<E: Event>(answer: Answer<E>, call: &E, host: &Host, instead: Option<&str>) -> Answer<E> {
    let texts = answer.texts();
    let (false, Some(session)) = (texts.is_empty(), call.session_id()) else { return answer };
    let rules = Rules::of(host.settings(), &host.env);
    let Some(place) = Place::of(&rules, session, call, host) else { return answer };
    let id = unique_id(host);
    let lines: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(number, (form, text))| {
            let text = instead.unwrap_or(text);
            let data = Data::Told(Told {
                hook: host.hook().into(),
                form: (*form).into(),
                text: emitted(text),
                lesson: answer.lessons().map(Cow::from),
            });
            let observation = Observation {
                agent: call.agent_id().map(Cow::from),
                ..place.observation(format!("{id}-{number}"), named(call.prompt_id()), data)
            };
            place.spool.line(&observation)
        })
        .collect();
    drop(texts);
    answer.afterwards(move || {
        for line in lines {
            match line?.append() {
                // `prompt-record` and `tool-record` say so.
                Err(crate::Error::DiskFull) => {}
                appended => appended?,
            }
        }
        Ok(())
    })
}

/// Returns a text that a hook gives without private parts and secrets. What others wrote is fenced in it and stays, unlike in
/// a prompt, where the client may have put it.
fn emitted(text: &str) -> Cow<'_, str> {
    match privacy::strip_private(text) {
        Cow::Borrowed(text) => redact::redact(text),
        Cow::Owned(text) => Cow::Owned(redact::redact(&text).into_owned()),
    }
}

/// As [`told`], for an answer to a prompt: `prompt-record` may not have noted yet that the prompt is private.
#[must_use]
pub fn told_with_prompt(
    answer: Answer<UserPromptSubmit>,
    call: &UserPromptSubmit,
    host: &Host,
) -> Answer<UserPromptSubmit> {
    let is_private = |prompt: &str| privacy::strip(prompt).wholly_private;
    if !answer.texts().is_empty() && call.prompt.as_deref().is_some_and(is_private) {
        return answer;
    }
    told(answer, call, host)
}

/// Where an observation belongs, if it is recorded at all.
struct Place<'a> {
    spool: Spool,
    session: &'a str,
    cwd: PathBuf,
    at: u64,
    /// `None` for Claude Code.
    platform: Option<&'static str>,
}

impl<'a> Place<'a> {
    /// Returns where an observation of this session belongs; `None` where nothing is recorded.
    fn of(rules: &Rules, session: &'a str, call: &impl Event, host: &Host) -> Option<Self> {
        let cwd = host.cwd(call);
        let spool = Spool::new(host.paths.spool());
        let is_recorded = rules.sees_prompts() && rules.records_in(&cwd) && !spool.is_private(session);
        let platform = host.agent().map(Platform::name);
        is_recorded.then(|| Self { spool, session, cwd, at: host.started.millis(), platform })
    }

    fn observation<'o>(
        &'o self,
        id: String,
        prompt_id: Option<Cow<'o, str>>,
        data: Data<'o>,
    ) -> Observation<'o> {
        Observation {
            cwd: self.cwd.to_string_lossy(),
            platform: self.platform.map(Cow::from),
            prompt_id,
            ..Observation::new(self.session, id, self.at, data)
        }
    }
}

/// Appends the observation. A full disk is no failure of the hook: recording pauses until there is room, and the user reads
/// so once, at the next start or prompt.
fn keep(
    spool: &Spool,
    observation: &Observation<'_>,
    host: &Host,
    call: &impl hook::Event,
) -> Result<(), Error> {
    match spool.append(observation) {
        Err(crate::Error::DiskFull) => {
            let is_left = notice::leave_disk_full(&host.paths).is_ok();
            // Not even an empty file: then this hook says it itself.
            let is_news = !is_left && host.claims(call).take_for_good("disk-full", Keep::UntilClear);
            let level = if is_news { Level::Alert } else { Level::Warn };
            host.log(level, "the disk is full; nothing is recorded until there is room");
            Ok(())
        }
        appended => Ok(appended?),
    }
}

/// Returns an id for an observation that the client gave none: no other process has it at this moment.
fn unique_id(host: &Host) -> String {
    format!("n:{}-{}", host.started.millis(), std::process::id())
}

fn named(name: Option<&str>) -> Option<Cow<'_, str>> {
    name.filter(|name| !name.is_empty()).map(Cow::from)
}

fn shrunk(value: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(shrink::json(value).into_owned())
}
