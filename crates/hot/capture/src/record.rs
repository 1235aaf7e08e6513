//! Records observations: nothing that is private, nothing that is excluded, nothing twice.
//!
//! What needs no work to be decided is decided first: a tool that is not recorded costs no more than a silent hook.

use crate::observation::{Data, Kept, Observation, Refused, SessionStart, Told};
use crate::sent::{self, Recorded, Scene, Skipped};
use crate::write::Line;
use crate::{Rule, Rules, Spool, shrink};
use base::error::with_causes;
use base::files;
use base::log::Level;
use base::notice;
use hook::event::Source;
use hook::{Answer, Event, Host, Keep, PreToolUse, SubagentStart, ToolOutcome, UserPromptSubmit};
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use text::{privacy, redact};

/// More than the id of a context has.
const MAX_CONTEXT_BYTES: usize = 256;

/// Why an observation could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spool refused.
    #[error("could not record the observation")]
    Spool(#[from] crate::Error),
    /// It could not be noted that the prompt is private.
    #[error("could not note that the prompt is private")]
    Private(#[source] crate::Error),
    /// A value of the input is not JSON after all.
    #[error("could not keep a value of the observation")]
    Json(#[from] serde_json::Error),
}

/// Records a tool call and its result.
pub fn record_tool(call: &ToolOutcome, host: &Host) -> Result<(), Error> {
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return Ok(()) };
    let sent = sent::Tool {
        tool,
        tool_use_id: call.tool_use_id.as_deref(),
        input: call.tool_input,
        output: call.tool_response,
        error: call.error.as_deref(),
        is_interrupt: call.is_interrupt.unwrap_or_default(),
        duration_ms: call.duration_ms,
    };
    let scene = Scene {
        agent_type: call.agent_type.as_deref(),
        permission_mode: call.permission_mode.as_deref(),
        ..Scene::of(session, call, host)
    };
    let rules = Rules::of(host.settings(), &host.env);
    let recorded = sent::tool(&sent, &scene, &rules, Spool::new(host.paths.spool()))?;
    tell_if_full(recorded, host, call);
    Ok(())
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
    let scene = Scene {
        agent_type: call.agent_type.as_deref(),
        permission_mode: call.permission_mode.as_deref(),
        ..Scene::of(session, call, host)
    };
    let rules = Rules::of(host.settings(), &host.env);
    let recorded = sent::prompt(prompt, &scene, &rules, Spool::new(host.paths.spool()));
    if let Err(Error::Private(_)) = &recorded {
        host.log(
            Level::Alert,
            "could not note that the prompt is private; what is done under it may be recorded",
        );
    }
    tell_if_full(recorded?, host, call);
    Ok(())
}

/// Records that a session began, and with which model.
pub fn record_start(call: &hook::SessionStart, host: &Host) -> Result<(), Error> {
    let Some(session) = call.session_id() else { return Ok(()) };
    carry_privacy(call, session, host)?;
    let rules = Rules::of(host.settings(), &host.env);
    let (scene, spool) = (Scene::of(session, call, host), Spool::new(host.paths.spool()));
    let place = match call.source() {
        // Nothing else says which session this one goes on with.
        Source::Clear => Place::even_if_private(&rules, &scene, spool),
        _ => Place::at(&rules, &scene, spool),
    };
    let Ok(place) = place else { return Ok(()) };
    let data = Data::SessionStart(SessionStart {
        source: named(call.source.as_deref()),
        model: named(call.model.as_deref()),
    });
    let observation = place.observation(unique_id(host), named(call.prompt_id.as_deref()), data);
    keep(&place.spool, &observation, host, call)
}

/// Has a session that continues one with a private prompt be private, too: when a plan is accepted with a new window, the model
/// goes on under the old prompt, and no other comes. The end of the one session and the start of the other carry the same id.
fn carry_privacy(call: &hook::SessionStart, session: &str, host: &Host) -> Result<(), Error> {
    let (Source::Clear, Some(prompt)) = (call.source(), named(call.prompt_id.as_deref())) else {
        return Ok(());
    };
    let spool = Spool::new(host.paths.spool());
    if spool.is_private(&prompt) {
        spool.set_private(session, true)?;
        spool.set_private(&prompt, false)?;
    }
    Ok(())
}

/// Has a subagent that begins under a private prompt be private for as long as it lives: it may go on in the background when the next
/// prompt comes.
pub fn carry_privacy_to_subagent(call: &SubagentStart, host: &Host) {
    let (Some(session), Some(agent)) = (call.session_id(), call.agent_id()) else { return };
    let spool = Spool::new(host.paths.spool());
    if spool.is_private(session) && spool.set_subagent_private(agent).is_err() {
        host.log(
            Level::Alert,
            "could not note that a subagent is private; what it does after the next prompt may be recorded",
        );
    }
}

/// Records that a session ended, and why.
pub fn record_end(call: &hook::SessionEnd, host: &Host) -> Result<(), Error> {
    let Some(session) = call.session_id() else { return Ok(()) };
    let spool = Spool::new(host.paths.spool());
    if let (Some("clear"), Some(prompt)) = (call.reason.as_deref(), named(call.prompt_id.as_deref()))
        && spool.is_private(session)
    {
        spool.set_private(&prompt, true)?;
    }
    let rules = Rules::of(host.settings(), &host.env);
    let sent = sent::End { reason: call.reason.as_deref(), transcript: call.transcript_path.as_deref() };
    let recorded = sent::end(&sent, &Scene::of(session, call, host), &rules, spool)?;
    tell_if_full(recorded, host, call);
    Ok(())
}

/// Records that a turn of the main window ended, and what the model said last. `last_reply` finds that in the transcript, for
/// clients that do not send it.
pub fn record_turn_end<E: std::error::Error>(
    call: &hook::TurnEnd,
    host: &Host,
    last_reply: impl FnOnce(&Path) -> Result<Option<String>, E>,
) -> Result<(), Error> {
    let (Some(session), None) = (call.session_id(), call.agent_id()) else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    let scene = Scene::of(session, call, host);
    let spool = Spool::new(host.paths.spool());
    // Before the transcript is read, which takes longer.
    if Place::at(&rules, &scene, spool.clone()).is_err() {
        return Ok(());
    }
    let text = match &call.last_assistant_message {
        // What the client shows in the place of an answer is no message of the model's.
        _ if call.has_failed() => None,
        Some(message) => Some(Cow::Borrowed(&**message)),
        None => {
            call.transcript_path.as_deref().and_then(|path| said_last(path, host, last_reply)).map(Cow::Owned)
        }
    };
    let failure = failure(call);
    let sent = sent::TurnEnd {
        text: text.as_deref(),
        error: failure.as_deref(),
        has_failed: call.has_failed(),
        transcript: call.transcript_path.as_deref(),
    };
    let recorded = sent::turn_end(&sent, &scene, &rules, spool)?;
    tell_if_full(recorded, host, call);
    Ok(())
}

fn said_last<E: std::error::Error>(
    transcript: &str,
    host: &Host,
    last_reply: impl FnOnce(&Path) -> Result<Option<String>, E>,
) -> Option<String> {
    last_reply(Path::new(transcript)).unwrap_or_else(|error| {
        host.log(Level::Warn, &format!("could not read what the model said last: {}", with_causes(&error)));
        None
    })
}

/// Returns why a turn failed: the kind of failure, and what the client knows besides.
fn failure(call: &hook::TurnEnd) -> Option<String> {
    if !call.has_failed() {
        return None;
    }
    let parts = [&call.error, &call.error_details, &call.last_assistant_message];
    let parts: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
    Some(parts.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(": "))
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
    tell(answer, call, host, instead, None)
}

/// As [`told`], with the id of the call that the texts are about: by it `wyren lessons stats` finds what followed.
#[must_use]
pub fn told_about_call(answer: Answer<PreToolUse>, call: &PreToolUse, host: &Host) -> Answer<PreToolUse> {
    tell(answer, call, host, None, call.tool_use_id.as_deref())
}

fn tell<E: Event>(
    answer: Answer<E>,
    call: &E,
    host: &Host,
    instead: Option<&str>,
    tool_use_id: Option<&str>,
) -> Answer<E> {
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
                tool_use_id: named(tool_use_id),
            });
            let observation = Observation {
                agent: call.agent_id().map(Cow::from),
                ..place.observation(format!("{id}-{number}"), named(call.prompt_id()), data)
            };
            place.spool.line(&observation)
        })
        .collect();
    drop(texts);
    answer.afterwards(move || lines.into_iter().try_for_each(|line| append_if_room(line?)))
}

/// Has recorded what was left of the main window when an answer warned about it, in percent, and at which threshold: for the
/// context that the session works on, as the session's file says. A session without one has nothing recorded.
#[must_use]
pub fn left_of_window<E: Event>(
    answer: Answer<E>,
    call: &E,
    host: &Host,
    left: u64,
    threshold: u64,
) -> Answer<E> {
    let Some(session) = call.session_id().filter(|_| call.agent_id().is_none()) else { return answer };
    let Ok(context) = files::read_text_capped(&host.paths.binding_file(session), MAX_CONTEXT_BYTES) else {
        return answer;
    };
    let rules = Rules::of(host.settings(), &host.env);
    let Some(place) = Place::of(&rules, session, call, host) else { return answer };
    let data =
        json!({"context": context, "action": "window", "remaining_pct": left, "warnings_fired": [threshold]});
    let line = serde_json::value::to_raw_value(&data).map_err(crate::Error::from).and_then(|data| {
        let data = Data::Kept(Kept { kind: "work".into(), data: Cow::Owned(data) });
        place.spool.line(&place.observation(format!("{}-w", unique_id(host)), named(call.prompt_id()), data))
    });
    answer.afterwards(move || append_if_room(line?))
}

/// Has the call that an answer refuses recorded, once the client has the answer; any other answer costs nothing.
#[must_use]
pub fn refused(answer: Answer<PreToolUse>, call: &PreToolUse, host: &Host) -> Answer<PreToolUse> {
    let Some((by, reason)) = answer.refusal() else { return answer };
    let (Some(tool), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return answer };
    let rules = Rules::of(host.settings(), &host.env);
    if !rules.records_call(tool, call.tool_input.map(RawValue::get)) {
        return answer;
    }
    let Some(place) = Place::of(&rules, session, call, host) else { return answer };
    let place = place.into_owned();
    let (by, reason) = (by.name(), emitted(reason).into_owned());
    let lesson = answer.lessons().map(str::to_owned);
    let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
    let id = id.map_or_else(|| unique_id(host), |id| format!("r:{id}"));
    // Its input is kept as it is until then: to look through it takes as long as it is large.
    let call = call.clone();
    answer.afterwards(move || {
        let input = call.tool_input.map(|input| shrunk(input.get())).transpose()?;
        let data = Data::Refused(Refused {
            tool: call.tool_name.as_deref().unwrap_or_default().into(),
            tool_use_id: named(call.tool_use_id.as_deref()),
            input: input.as_deref(),
            by: by.into(),
            lesson: lesson.map(Cow::from),
            reason: Some(reason.into()),
        });
        let observation = Observation {
            agent: call.agent_id().map(Cow::from),
            agent_type: named(call.agent_type.as_deref()),
            ..place.observation(id, named(call.prompt_id.as_deref()), data)
        };
        append_if_room(place.spool.line(&observation)?)
    })
}

/// Appends a line once the answer is written. `prompt-record` and `tool-record` say when the disk is full.
fn append_if_room(line: Line) -> Result<(), Box<dyn std::error::Error>> {
    match line.append() {
        Err(crate::Error::DiskFull) => Ok(()),
        appended => Ok(appended?),
    }
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

impl<'a> Scene<'a> {
    /// Returns where an event of the client happened.
    pub(crate) fn of(session: &'a str, call: &'a impl Event, host: &Host) -> Self {
        Self {
            session,
            cwd: host.cwd(call),
            at: host.started,
            platform: host.agent().map(|agent| agent.name().into()),
            prompt_id: call.prompt_id(),
            agent: call.agent_id(),
            agent_type: None,
            permission_mode: None,
            unique_id: unique_id(host),
        }
    }
}

/// Where an observation belongs, if it is recorded at all.
pub(crate) struct Place<'a> {
    pub(crate) spool: Spool,
    session: Cow<'a, str>,
    pub(crate) cwd: PathBuf,
    pub(crate) at: u64,
    /// `None` for Claude Code.
    pub(crate) platform: Option<Cow<'a, str>>,
}

impl<'a> Place<'a> {
    /// Returns where an observation of this session belongs; `None` where nothing is recorded.
    pub(crate) fn of(rules: &Rules, session: &'a str, call: &'a impl Event, host: &Host) -> Option<Self> {
        Self::at(rules, &Scene::of(session, call, host), Spool::new(host.paths.spool())).ok()
    }

    /// Returns where an observation of this scene belongs, or why nothing is recorded.
    pub(crate) fn at(rules: &Rules, scene: &Scene<'a>, spool: Spool) -> Result<Self, Skipped> {
        let place = Self::even_if_private(rules, scene, spool)?;
        // A subagent that began under a private prompt may outlast its turn.
        let is_private = place.spool.is_private(scene.session)
            || scene.agent.is_some_and(|agent| place.spool.is_private(agent));
        if is_private { Err(Skipped::Private) } else { Ok(place) }
    }

    /// As [`Self::at`], under a private prompt, too: for what has nothing of it and was not done for it.
    pub(crate) fn even_if_private(rules: &Rules, scene: &Scene<'a>, spool: Spool) -> Result<Self, Skipped> {
        if !rules.sees_prompts() {
            return Err(Skipped::Off);
        }
        match rules.against(&scene.cwd) {
            Some(Rule::Off) => return Err(Skipped::Off),
            Some(Rule::Excluded(_) | Rule::Paused(_)) => return Err(Skipped::Project),
            None => {}
        }
        Ok(Self {
            spool,
            session: scene.session.into(),
            cwd: scene.cwd.clone(),
            at: scene.at.millis(),
            platform: scene.platform.clone(),
        })
    }

    fn into_owned(self) -> Place<'static> {
        Place {
            spool: self.spool,
            session: self.session.into_owned().into(),
            cwd: self.cwd,
            at: self.at,
            platform: self.platform.map(|platform| platform.into_owned().into()),
        }
    }

    pub(crate) fn observation<'o>(
        &'o self,
        id: String,
        prompt_id: Option<Cow<'o, str>>,
        data: Data<'o>,
    ) -> Observation<'o> {
        Observation {
            cwd: self.cwd.to_string_lossy(),
            platform: self.platform.as_deref().map(Cow::from),
            prompt_id,
            ..Observation::new(&self.session, id, self.at, data)
        }
    }
}

/// Appends the observation. A full disk is no failure of the hook: recording pauses until there is room, and the user reads
/// so once, at the next start or prompt.
pub(crate) fn keep(
    spool: &Spool,
    observation: &Observation<'_>,
    host: &Host,
    call: &impl hook::Event,
) -> Result<(), Error> {
    tell_if_full(sent::append(spool, observation)?, host, call);
    Ok(())
}

fn tell_if_full(recorded: Recorded, host: &Host, call: &impl hook::Event) {
    if recorded != Recorded::NoRoom {
        return;
    }
    let is_left = notice::leave_disk_full(&host.paths).is_ok();
    // Not even an empty file: then this hook says it itself.
    let is_news = !is_left && host.claims(call).take_for_good("disk-full", Keep::UntilClear);
    let level = if is_news { Level::Alert } else { Level::Warn };
    host.log(level, "the disk is full; nothing is recorded until there is room");
}

/// Returns an id for an observation that the client gave none: no other process has it at this moment.
pub(crate) fn unique_id(host: &Host) -> String {
    format!("n:{}-{}", host.started.millis(), std::process::id())
}

pub(crate) fn named(name: Option<&str>) -> Option<Cow<'_, str>> {
    name.filter(|name| !name.is_empty()).map(Cow::from)
}

pub(crate) fn path(path: Option<&str>) -> Option<Cow<'_, str>> {
    path.filter(|path| !path.is_empty()).map(shrink::text)
}

pub(crate) fn shrunk(value: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(shrink::json(value).into_owned())
}
