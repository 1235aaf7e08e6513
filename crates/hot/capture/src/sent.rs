//! What a hook or a program sends to be recorded: one way for both, with the same rules of privacy, skipping and redaction.
//!
//! A hook makes a [`Scene`] of its event, `wyren serve` one of a request. [`Recorded::Appended`] means that the observation
//! survives the death of any process.

use crate::observation::{CLAUDE_CODE, Data, Observation, Prompt, SessionEnd, ToolCall};
use crate::record::{Error, Place, named, path, shrunk};
use crate::{Rules, Spool, Why, shrink};
use base::Timestamp;
use base::project::Repository;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;
use text::privacy;

/// What is kept of a prompt without words: the client sends those of an image alone.
const MEDIA_PROMPT: &str = "[media prompt]";

/// Where something happened.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    pub session: &'a str,
    pub cwd: PathBuf,
    pub at: Timestamp,
    /// `None` for Claude Code.
    pub platform: Option<Cow<'a, str>>,
    pub prompt_id: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub permission_mode: Option<&'a str>,
    /// The id of an observation that the sender gave none.
    pub unique_id: String,
}

/// What became of something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Recorded {
    /// It is in the spool.
    Appended,
    /// A rule keeps it out.
    Skipped(Skipped),
    /// The disk is full.
    NoRoom,
}

/// Why something is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Recording is off.
    Off,
    /// The project is excluded, or recording is paused there.
    Project,
    /// Calls of this tool are not recorded.
    Tool,
    /// A note of the client's to itself.
    ClientNotes,
    /// A prompt of the client's to itself.
    ClientPrompt,
    /// The prompt is wholly private.
    Private,
}

impl From<Skipped> for Recorded {
    fn from(why: Skipped) -> Self {
        Self::Skipped(why)
    }
}

/// A tool call and its result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tool<'a> {
    pub tool: &'a str,
    pub tool_use_id: Option<&'a str>,
    pub input: Option<&'a RawValue>,
    pub output: Option<&'a RawValue>,
    pub error: Option<&'a str>,
    pub is_interrupt: bool,
    pub duration_ms: Option<f64>,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnEnd<'a> {
    /// What the model said last.
    pub text: Option<&'a str>,
    pub error: Option<&'a str>,
    pub has_failed: bool,
    pub transcript: Option<&'a str>,
}

/// The end of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct End<'a> {
    pub reason: Option<&'a str>,
    pub transcript: Option<&'a str>,
}

/// Records a tool call.
pub fn tool(sent: &Tool<'_>, scene: &Scene<'_>, rules: &Rules, spool: Spool) -> Result<Recorded, Error> {
    let raw_input = sent.input.map(RawValue::get);
    if !rules.records_call(sent.tool, raw_input) {
        let is_of_tool = !rules.records_tool(sent.tool);
        return Ok(if is_of_tool { Skipped::Tool } else { Skipped::ClientNotes }.into());
    }
    let place = match Place::at(rules, scene, spool) {
        Ok(place) => place,
        Err(why) => return Ok(why.into()),
    };
    let input = sent.input.map(|input| shrunk(input.get())).transpose()?;
    let output = sent.output.map(|output| {
        RawValue::from_string(shrink::response(sent.tool, raw_input, output.get()).into_owned())
    });
    let output = output.transpose()?;
    let id = sent.tool_use_id.filter(|id| !id.is_empty());
    let data = Data::Tool(ToolCall {
        tool: sent.tool.into(),
        tool_use_id: id.map(Cow::from),
        input: input.as_deref(),
        output: output.as_deref(),
        error: sent.error.map(shrink::text),
        interrupted: sent.is_interrupt,
        duration_ms: sent.duration_ms,
        permission_mode: scene.permission_mode.map(Cow::from),
    });
    let id = id.map_or_else(|| scene.unique_id.clone(), |id| format!("t:{id}"));
    let observation = Observation {
        agent: scene.agent.map(Cow::from),
        agent_type: named(scene.agent_type),
        ..place.observation(id, named(scene.prompt_id), data)
    };
    append(&place.spool, &observation)
}

/// Records what the user asked; a wholly private prompt hides itself and all that is done under it.
pub fn prompt(prompt: &str, scene: &Scene<'_>, rules: &Rules, spool: Spool) -> Result<Recorded, Error> {
    let prompt = prompt.trim();
    if !rules.records_prompt(prompt) {
        return Ok(Skipped::ClientPrompt.into());
    }
    let is_private = privacy::strip(prompt).wholly_private;
    // Noted wherever the session is: it may go on in a folder that is recorded.
    let after_private = match spool.set_private(scene.session, is_private) {
        Ok(after_private) => after_private,
        Err(error) => return Err(if is_private { Error::Private(error) } else { error.into() }),
    };
    let place = match Place::at(rules, scene, spool.clone()) {
        Ok(place) => place,
        Err(why) => return leave_out(is_private, scene, &spool, why),
    };
    let branch = Repository::above(&place.cwd).and_then(|repository| repository.branch());
    let data = Data::Prompt(Prompt {
        text: if prompt.is_empty() { MEDIA_PROMPT.into() } else { shrink::text(prompt) },
        permission_mode: scene.permission_mode.map(Cow::from),
        branch: branch.map(Cow::from),
        after_private,
    });
    let prompt_id = named(scene.prompt_id);
    let id = prompt_id.as_ref().map_or_else(|| scene.unique_id.clone(), |id| format!("p:{id}"));
    let observation = Observation {
        platform: Some(place.platform.as_deref().unwrap_or(CLAUDE_CODE).into()),
        agent: scene.agent.map(Cow::from),
        agent_type: named(scene.agent_type),
        ..place.observation(id, prompt_id, data)
    };
    append(&place.spool, &observation)
}

/// Notes that a prompt is left out: its transcript may be read once another rule holds.
fn leave_out(is_private: bool, scene: &Scene<'_>, spool: &Spool, why: Skipped) -> Result<Recorded, Error> {
    let reason = match why {
        _ if is_private => Why::Private,
        Skipped::Project => Why::Project,
        _ => Why::Off,
    };
    let noted = named(scene.prompt_id).map_or(Ok(()), |id| spool.leave_out(&id, reason));
    match noted {
        Err(error) if is_private => Err(Error::Private(error)),
        Err(crate::Error::DiskFull) => Ok(Recorded::NoRoom),
        noted => Ok(noted.map(|()| why.into())?),
    }
}

/// Records that a turn ended, and what the model said last.
pub fn turn_end(
    sent: &TurnEnd<'_>,
    scene: &Scene<'_>,
    rules: &Rules,
    spool: Spool,
) -> Result<Recorded, Error> {
    let place = match Place::at(rules, scene, spool) {
        Ok(place) => place,
        Err(why) => return Ok(why.into()),
    };
    let data = Data::TurnEnd(crate::TurnEnd {
        outcome: if sent.has_failed { "failed" } else { "done" }.into(),
        text: sent.text.map(shrink::text),
        error: sent.error.map(shrink::text),
        transcript: path(sent.transcript),
    });
    let prompt_id = named(scene.prompt_id);
    // A hook may have the model go on, and then the same turn ends again.
    let id = prompt_id.as_ref().map_or_else(|| scene.unique_id.clone(), |id| format!("e:{id}-{}", place.at));
    append(&place.spool, &place.observation(id, prompt_id, data))
}

/// Records that a session ended, and why. After a private prompt, too, without the way to its transcript: plans, tasks and contexts
/// of a session that did not end would wait for it.
pub fn end(sent: &End<'_>, scene: &Scene<'_>, rules: &Rules, spool: Spool) -> Result<Recorded, Error> {
    let place = match Place::even_if_private(rules, scene, spool) {
        Ok(place) => place,
        Err(why) => return Ok(why.into()),
    };
    let transcript = sent.transcript.filter(|_| !place.spool.is_private(scene.session));
    let data = Data::SessionEnd(SessionEnd { reason: named(sent.reason), transcript: path(transcript) });
    append(&place.spool, &place.observation(scene.unique_id.clone(), named(scene.prompt_id), data))
}

pub(crate) fn append(spool: &Spool, observation: &Observation<'_>) -> Result<Recorded, Error> {
    match spool.append(observation) {
        Err(crate::Error::DiskFull) => Ok(Recorded::NoRoom),
        appended => Ok(appended.map(|()| Recorded::Appended)?),
    }
}
