//! What a transcript of the client's tells, as observations: prompts, calls, refusals, messages typed in between and the ends
//! of turns, under the ids that the hooks gave them and by the same rules. What is private, excluded or skipped stays out;
//! everything that is handed on is already cut and free of known secrets.
//!
//! One reader for three purposes: a repair, an import of transcripts ([`Wanted::Everything`]), and the look at what no event
//! told ([`Wanted::Unseen`]). It holds one turn's state and never a whole transcript.

pub(crate) mod codex;
pub(crate) mod cursor;
mod refusal;

use base::{Timestamp, files};
use capture::{Data, Kept, Observation, Prompt, Rules, ToolCall, shrink};
pub use refusal::Refusal;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use text::privacy;
use transcript::conversation::output_of;
use transcript::record::{Assistant, Block, Body, Record, ToolResult};
use transcript::{Act, Conversation, Reader, Scope, subagent};

/// How many calls may wait for their results; a model makes some at once.
const MAX_OPEN_CALLS: usize = 100;
/// What counts as the text of a prompt that only has pictures.
const MEDIA_PROMPT: &str = "[media prompt]";
/// The subagent of a record that names none: earlier clients wrote them into the session's own transcript.
const UNNAMED_AGENT: &str = "sidechain";
/// What the client writes as the branch where HEAD names none.
const DETACHED: &str = "HEAD";

/// What is taken from a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All that hooks would have recorded.
    Everything,
    /// What no event told the hooks: calls that the user refused or interrupted, and messages typed in between.
    Unseen,
}

/// A subagent: its id, and its kind.
type Agent<'a> = (&'a str, Option<&'a str>);

/// What was passed of a transcript.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    /// Where the last turn begins: reading goes on there, with nothing else to remember.
    pub(crate) last_turn: u64,
    /// How many prompts were private, or left out by hooks.
    pub(crate) private: u64,
    /// Whether the session was left out because its folder is not known, as a number.
    pub(crate) unplaced: u64,
}

/// Returns whether a transcript is one of a subagent's.
pub(crate) fn is_of_subagent(path: &Path) -> bool {
    path.parent().and_then(Path::file_name) == Some(OsStr::new("subagents"))
}

/// Reads transcripts and hands on what they tell.
pub(crate) struct Transcriber<'a> {
    rules: &'a Rules,
    wanted: Wanted,
    reader: Reader,
}

impl<'a> Transcriber<'a> {
    pub(crate) fn new(rules: &'a Rules, wanted: Wanted) -> Self {
        Self { rules, wanted, reader: Reader::new() }
    }

    /// Reads the transcript of a session from an offset on. The subagents that it started follow where everything is wanted.
    pub(crate) fn session(
        &mut self,
        path: &Path,
        offset: u64,
        put: &mut dyn FnMut(Observation<'static>),
    ) -> io::Result<Passed> {
        let mut told = Told::default();
        self.read(path, offset, None, &mut told, put)?;
        let passed = Passed { last_turn: told.turn_offset, private: told.private, unplaced: 0 };
        if self.wanted == Wanted::Unseen {
            return Ok(passed);
        }
        for subagent in subagent::of_session(path).unwrap_or_default() {
            let started_by = subagent.meta.tool_use_id.as_ref();
            if !started_by.is_some_and(|call| told.private_calls.contains(call)) {
                let agent = (subagent.id.as_str(), subagent.meta.agent_type.as_deref());
                // A transcript that cannot be read tells nothing; the others still do.
                let _ = self.read(&subagent.transcript, 0, Some(agent), &mut told, put);
            }
        }
        Ok(passed)
    }

    fn read(
        &mut self,
        path: &Path,
        offset: u64,
        agent: Option<Agent<'_>>,
        told: &mut Told,
        put: &mut dyn FnMut(Observation<'static>),
    ) -> io::Result<()> {
        let mut file = files::open_regular(path)?;
        let mut reading =
            Reading { rules: self.rules, wanted: self.wanted, told, put, calls: HashMap::new() };
        reading.told.turn_offset = offset;
        let progress = self.reader.read_file(&mut file, offset, |offset, record| {
            reading.take(offset, record, agent);
        })?;
        if progress.restarted && reading.told.turn_offset > progress.offset {
            reading.told.turn_offset = 0;
        }
        reading.end_turn();
        Ok(())
    }
}

/// What is known of a session while its transcripts are read.
#[derive(Default)]
struct Told {
    /// The prompts in order: when each came, and whether it was wholly private, or left out by hooks.
    prompts: Vec<(u64, bool)>,
    /// Calls under private prompts; the subagents that they started are private, too.
    private_calls: HashSet<String>,
    private: u64,
    /// Where the turn began.
    turn_offset: u64,
    turn: Turn,
}

/// What is known of a turn that goes on.
#[derive(Default)]
struct Turn {
    /// The client's id of its prompt, else the id of the prompt's record.
    id: Option<String>,
    prompt_id: Option<String>,
    is_private: bool,
    /// The model's last words, as it said them, and where and when.
    reply: Option<(Whereabouts, String)>,
    /// Why the client gave up.
    error: Option<String>,
}

/// What is known of a prompt besides its text.
#[derive(Default)]
struct Asked<'a> {
    /// The client's id of the prompt.
    prompt_id: Option<&'a str>,
    /// What the prompt is known by where the client gave it no id.
    record: Option<&'a str>,
    mode: Option<&'a str>,
    branch: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(record: &'a Record<'_>) -> Self {
        let mode = match &record.body {
            Body::User(user) => user.permission_mode.as_deref(),
            _ => None,
        };
        Self {
            prompt_id: record.prompt_id.as_deref(),
            record: record.uuid.as_deref(),
            mode,
            branch: record.git_branch.as_deref(),
        }
    }
}

/// A call that waits for its result.
struct Call {
    tool: String,
    input: Option<Box<RawValue>>,
}

struct Reading<'r> {
    rules: &'r Rules,
    wanted: Wanted,
    told: &'r mut Told,
    put: &'r mut dyn FnMut(Observation<'static>),
    calls: HashMap<String, Call>,
}

impl Reading<'_> {
    fn take(&mut self, offset: u64, record: &Record<'_>, agent: Option<Agent<'_>>) {
        let agent = match agent {
            None if record.is_sidechain => Some((record.agent_id.as_deref().unwrap_or(UNNAMED_AGENT), None)),
            agent => agent,
        };
        let scope = if agent.is_some() { Scope::Subagent } else { Scope::Main };
        let Some(place) = Whereabouts::of(record, agent) else { return };
        let is_recorded = self.rules.records_in(Path::new(&place.cwd));
        // Most of a transcript, and mostly copies: the text beside a structured result is not looked at unless it counts.
        let results = results_of(record);
        for result in results.iter().filter(|_| is_recorded) {
            self.result(&place, record, result);
        }
        if !results.is_empty()
            && matches!(&record.body, Body::User(user) if user.content.blocks().len() == results.len())
        {
            return;
        }
        for step in Conversation::new(scope).steps(record) {
            match step.act {
                _ if !is_recorded && !step.act.starts_turn() => {}
                Act::Prompt { text, .. } if matches!(record.body, Body::Attachment(_)) => {
                    self.said(&place, record.uuid.as_deref(), &text, is_recorded);
                }
                Act::Prompt { text, .. } if scope == Scope::Main => {
                    let text = if text.trim().is_empty() { MEDIA_PROMPT.into() } else { text };
                    self.prompt(offset, &place, &Asked::of(record), &text, is_recorded);
                }
                Act::Command { name, arguments, is_prompt: true } if scope == Scope::Main => {
                    let text = format!("{name} {arguments}");
                    self.prompt(offset, &place, &Asked::of(record), text.trim(), is_recorded);
                }
                Act::Interruption if scope == Scope::Main => self.interrupted(&place),
                Act::Reply(text) if scope == Scope::Main && self.keeps_replies() => {
                    self.told.turn.reply = Some((place.clone(), text.into_owned()));
                }
                Act::ToolUse { id, name, input } => self.call(id, name, input),
                _ => {}
            }
        }
        if let (Body::Assistant(assistant), Scope::Main, true) = (&record.body, scope, is_recorded) {
            self.gave_up(&place, assistant);
        }
    }

    fn prompt(&mut self, offset: u64, place: &Whereabouts, asked: &Asked<'_>, text: &str, is_recorded: bool) {
        let after_private = self.told.turn.is_private;
        self.end_turn();
        let is_private = privacy::strip(text).wholly_private || self.rules.left_out(asked.prompt_id);
        self.told.prompts.push((place.at, is_private));
        self.told.private += u64::from(is_private);
        self.told.turn_offset = offset;
        // What waits for a result was never answered.
        self.calls.clear();
        let prompt_id = asked.prompt_id.map(str::to_owned);
        let id = prompt_id.clone().or_else(|| asked.record.map(str::to_owned));
        self.told.turn = Turn { id, prompt_id, is_private, ..Turn::default() };
        let is_wanted = self.wanted == Wanted::Everything && is_recorded && !is_private;
        if !is_wanted || !self.rules.records_prompt(text) {
            return;
        }
        // Without an id of the client's, the record's own says which prompt it is.
        let id = match (&self.told.turn.prompt_id, asked.record) {
            (Some(id), _) => format!("p:{id}"),
            (None, Some(record)) => format!("u:{record}"),
            (None, None) => return,
        };
        let branch = asked.branch.filter(|branch| !branch.is_empty() && *branch != DETACHED);
        let data = Data::Prompt(Prompt {
            text: shrink::text(text.trim()),
            permission_mode: asked.mode.map(Cow::from),
            branch: branch.map(Cow::from),
            after_private,
        });
        if let Ok(data) = data.json() {
            let platform = Some(place.platform.unwrap_or(capture::CLAUDE_CODE).into());
            let observation =
                place.observation(id, self.told.turn.prompt_id.clone(), "prompt", data.into_owned());
            (self.put)(Observation { platform, ..observation });
        }
    }

    /// Takes a message that was typed while the model worked. It belongs to the turn, and lifts no privacy.
    fn said(&mut self, place: &Whereabouts, record: Option<&str>, text: &str, is_recorded: bool) {
        if privacy::strip(text).wholly_private {
            self.told.turn.is_private = true;
            self.told.prompts.push((place.at, true));
            self.told.turn.reply = None;
        }
        let is_hidden = self.told.turn.is_private || !is_recorded;
        let (false, Some(record)) = (is_hidden, record) else { return };
        self.put(place, format!("q:{record}"), "said", &json!({"text": shrink::text(text.trim())}));
    }

    fn call(&mut self, id: &str, tool: &str, input: Option<&str>) {
        if self.calls.len() >= MAX_OPEN_CALLS {
            self.calls.clear();
        }
        let input = input.and_then(|input| RawValue::from_string(shrink::json(input).into_owned()).ok());
        self.calls.insert(id.to_owned(), Call { tool: tool.to_owned(), input });
    }

    /// Takes a call that has ended out of those that wait; nothing where it is private or not recorded.
    fn ended_call(&mut self, place: &Whereabouts, id: &str) -> Option<Call> {
        let call = self.calls.remove(id)?;
        if self.is_private(place) {
            self.told.private_calls.insert(id.to_owned());
            return None;
        }
        self.rules.records_call(&call.tool, call.input.as_deref().map(RawValue::get)).then_some(call)
    }

    fn result(&mut self, place: &Whereabouts, record: &Record<'_>, result: &ToolResult<'_>) {
        let (id, is_error) = (&*result.tool_use_id, result.is_error);
        let Some(call) = self.ended_call(place, id) else { return };
        let structured = match &record.body {
            Body::User(user) if user.content.blocks().len() == 1 => user.tool_use_result,
            _ => None,
        };
        let output = if is_error || structured.is_none() { output_of(result) } else { "".into() };
        match Refusal::of(is_error, structured, &output) {
            Some(refusal) => self.refused(place, record.prompt_id.as_deref(), id, &call, &refusal),
            None if self.wanted == Wanted::Everything => {
                let prompt_id = record.prompt_id.as_deref();
                self.tool_call(place, prompt_id, id, &call, (is_error, structured), &output);
            }
            None => {}
        }
    }

    fn refused(
        &mut self,
        place: &Whereabouts,
        prompt_id: Option<&str>,
        id: &str,
        call: &Call,
        refusal: &Refusal<'_>,
    ) {
        let mut data = json!({"tool": call.tool, "tool_use_id": id, "by": refusal.by});
        if let Some(input) =
            call.input.as_deref().and_then(|input| serde_json::from_str::<Value>(input.get()).ok())
        {
            data["input"] = input;
        }
        if let Some(reason) = refusal.reason {
            data["reason"] = shrink::text(reason).into();
        }
        self.put_with(place, format!("r:{id}"), prompt_id.map(str::to_owned), "refused", &data);
    }

    fn tool_call(
        &mut self,
        place: &Whereabouts,
        prompt_id: Option<&str>,
        id: &str,
        call: &Call,
        (is_error, structured): (bool, Option<&str>),
        output: &str,
    ) {
        let text = || serde_json::to_string(output).ok();
        let result = structured.map(Cow::from).or_else(|| text().map(Cow::from)).filter(|_| !is_error);
        let input = call.input.as_deref();
        let result = result.and_then(|result| {
            let kept = shrink::response(&call.tool, input.map(RawValue::get), &result);
            RawValue::from_string(kept.into_owned()).ok()
        });
        let data = Data::Tool(ToolCall {
            tool: call.tool.as_str().into(),
            tool_use_id: Some(id.into()),
            input,
            output: result.as_deref(),
            error: is_error.then(|| shrink::text(output)),
            ..ToolCall::default()
        });
        let Ok(data) = data.json() else { return };
        let prompt_id = prompt_id.map(str::to_owned).or_else(|| self.told.turn.prompt_id.clone());
        (self.put)(place.observation(format!("t:{id}"), prompt_id, "tool", data.into_owned()));
    }

    /// Says whether what happened here belongs to a private prompt: the last one before it, for subagents as well.
    fn is_private(&self, place: &Whereabouts) -> bool {
        if place.agent.is_none() {
            return self.told.turn.is_private;
        }
        let last = self.told.prompts.iter().rev().find(|(at, _)| *at <= place.at);
        last.is_some_and(|(_, is_private)| *is_private)
    }

    fn keeps_replies(&self) -> bool {
        self.wanted == Wanted::Everything && !self.told.turn.is_private
    }

    /// The user stopped the model: no event says so.
    fn interrupted(&mut self, place: &Whereabouts) {
        let turn = std::mem::take(&mut self.told.turn);
        if let Some(id) = turn.id.as_deref().filter(|_| !turn.is_private) {
            let mut data = json!({"outcome": "interrupted"});
            if let Some((_, text)) = &turn.reply {
                data["text"] = shrink::text(text).into();
            }
            let id = format!("e:{id}-{}", place.at);
            self.put_with(place, id, turn.prompt_id.clone(), "turn-end", &data);
        }
        // It has its end; what still comes belongs to it all the same.
        self.told.turn = Turn { id: None, reply: None, error: None, ..turn };
    }

    /// Notes a message that the client made up because no model answered.
    fn gave_up(&mut self, place: &Whereabouts, assistant: &Assistant<'_>) {
        let turn = &mut self.told.turn;
        if self.wanted != Wanted::Everything || turn.is_private {
            return;
        }
        if !assistant.is_synthetic() {
            turn.error = None;
            return;
        }
        let text = assistant.content.text();
        if text.starts_with("API Error") {
            turn.error = Some(shrink::text(&text).into_owned());
            turn.reply.get_or_insert_with(|| (place.clone(), String::new()));
        }
    }

    /// Hands on how the turn ended: with the last words before the next prompt.
    fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.told.turn);
        let (Some(id), Some((place, text))) = (&turn.id, &turn.reply) else { return };
        // A call that still waits for its result says that the turn goes on.
        if !self.calls.is_empty() && turn.error.is_none() {
            return;
        }
        let text = shrink::text(text);
        let data = match &turn.error {
            None => json!({"outcome": "done", "text": text}),
            Some(error) => json!({"outcome": "failed", "text": text, "error": error}),
        };
        let id = format!("e:{id}");
        self.put_with(place, id, turn.prompt_id.clone(), "turn-end", &data);
    }

    fn put(&mut self, place: &Whereabouts, id: String, kind: &str, data: &Value) {
        let prompt_id = self.told.turn.prompt_id.clone();
        self.put_with(place, id, prompt_id, kind, data);
    }

    fn put_with(
        &mut self,
        place: &Whereabouts,
        id: String,
        prompt_id: Option<String>,
        kind: &str,
        data: &Value,
    ) {
        if let Ok(data) = RawValue::from_string(data.to_string()) {
            (self.put)(place.observation(id, prompt_id, kind, data));
        }
    }
}

/// Returns the results of calls that a record has.
fn results_of<'r, 'a>(record: &'r Record<'a>) -> Vec<&'r ToolResult<'a>> {
    let blocks = match &record.body {
        Body::User(user) if !record.is_meta => user.content.blocks(),
        _ => &[],
    };
    let result = |block: &'r Block<'a>| match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    };
    blocks.iter().filter_map(result).collect()
}

/// Where and when something happened.
#[derive(Clone)]
struct Whereabouts {
    /// The agent; nothing for Claude Code.
    platform: Option<&'static str>,
    session: String,
    cwd: String,
    at: u64,
    agent: Option<(String, Option<String>)>,
}

impl Whereabouts {
    fn of(record: &Record<'_>, agent: Option<Agent<'_>>) -> Option<Self> {
        let at: Timestamp = record.timestamp.as_deref()?.parse().ok()?;
        i64::try_from(at.millis()).ok()?;
        Some(Self {
            platform: None,
            session: record.session_id.as_deref().filter(|session| !session.is_empty())?.to_owned(),
            cwd: record.cwd.as_deref().unwrap_or_default().to_owned(),
            at: at.millis(),
            agent: agent.map(|(id, kind)| (id.to_owned(), kind.map(str::to_owned))),
        })
    }

    fn observation(
        &self,
        id: String,
        prompt_id: Option<String>,
        kind: &str,
        data: Box<RawValue>,
    ) -> Observation<'static> {
        let agent = self.agent.clone();
        Observation {
            id: id.into(),
            at: self.at,
            session: self.session.clone().into(),
            platform: self.platform.map(Cow::from),
            cwd: self.cwd.clone().into(),
            prompt_id: prompt_id.map(Cow::from),
            agent: agent.as_ref().map(|(id, _)| id.clone().into()),
            agent_type: agent.and_then(|(_, kind)| kind.map(Cow::from)),
            data: Data::Kept(Kept { kind: kind.to_owned().into(), data: Cow::Owned(data) }),
        }
    }
}
