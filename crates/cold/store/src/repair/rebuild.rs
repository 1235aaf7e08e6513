//! Makes prompts and tool calls again from the client's transcripts, under the ids that the hooks gave them, and by the
//! same rules: what is private, excluded or skipped stays out.

use crate::observations::{self, Projects, Writer};
use crate::open::{Error, Store};
use base::Timestamp;
use capture::{Data, Kept, Observation, Prompt, Rules, ToolCall, shrink};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use text::privacy;
use transcript::record::{Body, Record};
use transcript::{Act, Conversation, Reader, Scope, subagent, tree};

/// Stores what the transcripts below `folder` tell and the database does not know; returns how many observations.
pub(super) fn from_transcripts(
    store: &mut Store,
    folder: &Path,
    rules: &Rules,
    forgotten: &HashSet<String>,
) -> Result<u64, Error> {
    // Without transcripts there is nothing to store.
    let Ok(tree) = tree::walk(folder) else { return Ok(0) };
    let mut known = known_ids(store)?;
    let mut projects = Projects::default();
    let mut stored = 0;
    let sessions = tree.transcripts.iter().filter(|path| !is_of_subagent(path));
    for path in sessions {
        let transcribed = Transcribed::by(path, rules);
        store.write(|transaction| {
            let mut writer = Writer::new(transaction, &mut projects);
            for observation in &transcribed.observations {
                // A session that goes on under another id repeats earlier messages.
                if !is_among(forgotten, observation) && known.insert(observation.id.to_string()) {
                    stored += u64::from(writer.put(observation)?);
                }
            }
            writer.finish()
        })?;
    }
    Ok(stored)
}

fn is_of_subagent(path: &Path) -> bool {
    path.parent().and_then(Path::file_name) == Some(OsStr::new("subagents"))
}

fn known_ids(store: &Store) -> Result<HashSet<String>, Error> {
    let mut select = store.connection().prepare("SELECT id FROM observations")?;
    let ids = select.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// What a transcript tells, already cut and free of what is private or secret.
struct Transcribed {
    observations: Vec<Observation<'static>>,
    /// The prompts in order: when each came, and whether it was wholly private.
    prompts: Vec<(u64, bool)>,
    /// Calls under private prompts; the subagents that they started are private, too.
    private_calls: HashSet<String>,
}

fn is_among(forgotten: &HashSet<String>, observation: &Observation<'_>) -> bool {
    forgotten.contains(&observations::observation_digest(&observation.session, &observation.id))
        || observations::id_digest(&observation.id).is_some_and(|digest| forgotten.contains(&digest))
}

/// A call that waits for its result.
struct Call {
    tool: String,
    input: Option<Box<RawValue>>,
}

impl Transcribed {
    /// Reads the transcript of a session, and those of the subagents that it started.
    fn by(path: &Path, rules: &Rules) -> Self {
        let mut transcribed =
            Self { observations: Vec::new(), prompts: Vec::new(), private_calls: HashSet::new() };
        transcribed.read(path, Scope::Main, None, rules);
        for subagent in subagent::of_session(path).unwrap_or_default() {
            let is_private = subagent
                .meta
                .tool_use_id
                .as_ref()
                .is_some_and(|call| transcribed.private_calls.contains(call));
            if !is_private {
                let kind = subagent.meta.agent_type.as_deref();
                transcribed.read(&subagent.transcript, Scope::Subagent, Some((&subagent.id, kind)), rules);
            }
        }
        transcribed
    }

    fn read(&mut self, path: &Path, scope: Scope, agent: Option<(&str, Option<&str>)>, rules: &Rules) {
        let mut conversation = Conversation::new(scope);
        let mut calls: HashMap<String, Call> = HashMap::new();
        // A transcript that cannot be read tells nothing; the others still do.
        let _ = Reader::new().read(path, 0, |_, record| {
            let Some(place) = Place::of(record, agent, rules) else { return };
            for step in conversation.steps(record) {
                match step.act {
                    Act::Prompt { text, .. } if scope == Scope::Main => self.prompt(&place, record, &text),
                    Act::Command { name, arguments, is_prompt: true } if scope == Scope::Main => {
                        self.prompt(&place, record, format!("{name} {arguments}").trim());
                    }
                    Act::ToolUse { id, name, input } => {
                        let input = input.and_then(shrunk);
                        calls.insert(id.to_owned(), Call { tool: name.to_owned(), input });
                    }
                    Act::ToolResult { tool_use_id, is_error, output } => {
                        let is_recorded = |call: &Call| {
                            rules.records_call(&call.tool, call.input.as_deref().map(RawValue::get))
                        };
                        if let Some(call) = calls.remove(tool_use_id).filter(is_recorded) {
                            self.tool_call(&place, record, tool_use_id, call, is_error, &output);
                        }
                    }
                    _ => {}
                }
            }
        });
    }

    fn prompt(&mut self, place: &Place<'_>, record: &Record<'_>, text: &str) {
        let is_private = privacy::strip(text).wholly_private;
        self.prompts.push((place.at, is_private));
        // Without an id it cannot be known whether it is stored already.
        if let Some(id) = record.prompt_id.as_deref().filter(|_| !is_private) {
            let data = Data::Prompt(Prompt { text: shrink::text(text.trim()), ..Prompt::default() });
            self.observations.extend(place.observation(format!("p:{id}"), Some(id), &data));
        }
    }

    fn tool_call(
        &mut self,
        place: &Place<'_>,
        record: &Record<'_>,
        id: &str,
        call: Call,
        is_error: bool,
        output: &str,
    ) {
        // The last prompt decides, for subagents as well.
        let is_private = self
            .prompts
            .iter()
            .rev()
            .find(|(at, _)| *at <= place.at)
            .is_some_and(|(_, is_private)| *is_private);
        if is_private {
            self.private_calls.insert(id.to_owned());
            return;
        }
        let structured = match &record.body {
            Body::User(user) if user.content.blocks().len() == 1 => user.tool_use_result,
            _ => None,
        };
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
        let prompt_id = record.prompt_id.as_deref();
        self.observations.extend(place.observation(format!("t:{id}"), prompt_id, &data));
    }
}

/// Where and when something happened, if it is to be recorded at all.
struct Place<'r> {
    session: &'r str,
    cwd: &'r str,
    at: u64,
    agent: Option<(&'r str, Option<&'r str>)>,
}

impl<'r> Place<'r> {
    fn of(record: &'r Record<'_>, agent: Option<(&'r str, Option<&'r str>)>, rules: &Rules) -> Option<Self> {
        let at: Timestamp = record.timestamp.as_deref()?.parse().ok()?;
        let session = record.session_id.as_deref()?;
        let cwd = record.cwd.as_deref().unwrap_or_default();
        rules.records_in(Path::new(cwd)).then_some(Self { session, cwd, at: at.millis(), agent })
    }

    fn observation(
        &self,
        id: String,
        prompt_id: Option<&str>,
        data: &Data<'_>,
    ) -> Option<Observation<'static>> {
        let kept =
            Kept { kind: data.kind().to_owned().into(), data: Cow::Owned(data.json().ok()?.into_owned()) };
        Some(Observation {
            id: id.into(),
            at: self.at,
            session: self.session.to_owned().into(),
            platform: None,
            cwd: self.cwd.to_owned().into(),
            prompt_id: prompt_id.map(|id| id.to_owned().into()),
            agent: self.agent.map(|(id, _)| id.to_owned().into()),
            agent_type: self.agent.and_then(|(_, kind)| kind.map(|kind| kind.to_owned().into())),
            data: Data::Kept(kept),
        })
    }
}

fn shrunk(raw: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(shrink::json(raw).into_owned()).ok()
}
