//! What Codex' rollouts tell, as observations with the ids that its hooks give.
//!
//! A rollout is a JSONL file of one session. Four generations of it are read:
//!
//! | generation | its lines |
//! |---|---|
//! | first | a line about the session, then bare items (`message`, `function_call` …) without times; the folder is in a message |
//! | second | `{timestamp, type, payload}`: `session_meta`, `turn_context`, `response_item`, and `event_msg` with what the user typed |
//! | third | besides, turns have ids, and `task_started`, `task_complete` and `turn_aborted` say where they begin and end |
//! | fourth | besides, what a script of the model's ran is in `item_completed` and `patch_apply_end` |
//!
//! Codex sends more as the user than the user typed: its environment, AGENTS.md, notes about skills and turns. Where an event
//! says what was typed, that counts; elsewhere a message that is wholly inside of a tag, or begins as AGENTS.md does, is no prompt.

mod calls;
mod find;
mod output;
mod tool;
mod turns;

pub(crate) use find::find;

use super::{Passed, Reading, Told, Wanted, Whereabouts};
use crate::transcripts::Agent;
use base::{Timestamp, files};
use capture::{Fields, Observation, Rules};
use output::Output;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use tool::Called;
use transcript::stream;

/// A rollout of a subagent: where it is, and who wrote it.
#[derive(Debug)]
pub(crate) struct Helper {
    pub(crate) path: std::path::PathBuf,
    pub(crate) id: String,
    pub(crate) kind: Option<String>,
}

/// Reads the rollout of a session, then those of the subagents that it started.
pub(crate) fn session(
    rules: &Rules,
    (path, id): (&Path, &str),
    helpers: &[Helper],
    put: &mut dyn FnMut(Observation<'static>),
) -> io::Result<Passed> {
    let mut told = Told::default();
    let is_placed = read(rules, path, id, None, &mut told, put)?;
    let passed = Passed { private: told.private, unplaced: u64::from(!is_placed), ..Passed::default() };
    for helper in helpers {
        let agent = Some((helper.id.clone(), helper.kind.clone()));
        // A rollout that cannot be read tells nothing; the others still do.
        let _ = read(rules, &helper.path, id, agent, &mut told, put);
    }
    Ok(passed)
}

/// Reads a rollout; returns whether it says where its session was.
fn read(
    rules: &Rules,
    path: &Path,
    session: &str,
    agent: Option<(String, Option<String>)>,
    told: &mut Told,
    put: &mut dyn FnMut(Observation<'static>),
) -> io::Result<bool> {
    let mut file = files::open_regular(path)?;
    let reading = Reading { rules, wanted: Wanted::Everything, told, put, calls: HashMap::new() };
    let mut rollout = Rollout::new(reading, session, agent);
    stream::read_lines(&mut file, 0, |offset, line| rollout.take(offset, line))?;
    rollout.end();
    Ok(!rollout.cwd.is_empty())
}

/// What the user seems to have asked, until the next record tells.
struct Pending {
    text: String,
    has_media: bool,
    offset: u64,
    at: u64,
    /// Whether Codex says that the user typed it.
    is_typed: bool,
}

/// A program that went on when its call was answered.
struct Running {
    call: String,
    printed: String,
}

struct Rollout<'r> {
    reading: Reading<'r>,
    agent: Option<(String, Option<String>)>,
    session: String,
    /// The session that this one is a copy of, else itself: prompts without ids are known by it.
    root: String,
    cwd: String,
    branch: Option<String>,
    has_meta: bool,
    at: u64,
    turn_id: Option<String>,
    /// Whether the turn has its prompt; what the user types after it is a message in between.
    has_prompt: bool,
    /// Whether the turn has begun and not ended; of turns without a beginning that is not known.
    is_open: bool,
    /// Whether Codex says what the user types.
    has_typed: bool,
    pending: Option<Pending>,
    prompts: u64,
    said: u64,
    searches: u64,
    /// The calls of the turn: a later record may tell of them once more.
    seen: HashSet<String>,
    /// The folders of calls that name one.
    folders: HashMap<String, String>,
    /// By Codex' number of the program.
    running: BTreeMap<String, Running>,
    /// Calls that ask a program for more, with its number.
    polls: HashMap<String, String>,
}

impl<'r> Rollout<'r> {
    fn new(reading: Reading<'r>, session: &str, agent: Option<(String, Option<String>)>) -> Self {
        Self {
            reading,
            agent,
            session: session.to_owned(),
            root: session.to_owned(),
            cwd: String::new(),
            branch: None,
            has_meta: false,
            at: 0,
            turn_id: None,
            has_prompt: false,
            is_open: false,
            has_typed: false,
            pending: None,
            prompts: 0,
            said: 0,
            searches: 0,
            seen: HashSet::new(),
            folders: HashMap::new(),
            running: BTreeMap::new(),
            polls: HashMap::new(),
        }
    }

    fn take(&mut self, offset: u64, line: &str) {
        let Some(fields) = Fields::read(line) else { return };
        let at = fields.text("timestamp").and_then(|at| at.parse::<Timestamp>().ok());
        let at = at.map(Timestamp::millis).filter(|at| i64::try_from(*at).is_ok());
        self.at = at.unwrap_or(self.at.saturating_add(1));
        let payload = fields.get("payload").and_then(|payload| Fields::read(payload.get()));
        match (fields.text("type").as_deref(), payload) {
            (Some("session_meta"), Some(meta)) => self.meta(&meta),
            (Some("turn_context"), Some(context)) => self.context(&context),
            (Some("response_item"), Some(item)) => self.item(offset, &item),
            (Some("event_msg"), Some(event)) => self.event(offset, &event),
            (Some(_), None) => self.item(offset, &fields),
            (None, None) if fields.get("id").is_some() => self.meta(&fields),
            _ => {}
        }
    }

    /// Takes what a rollout says about its session. A copy has that of the session it was copied from, too, below its own.
    fn meta(&mut self, meta: &Fields<'_>) {
        if std::mem::replace(&mut self.has_meta, true) {
            return;
        }
        if let Some(root) = meta.text("forked_from_id").filter(|root| !root.is_empty()) {
            self.root = root.into_owned();
        }
        if let Some(cwd) = meta.text("cwd") {
            self.cwd = cwd.into_owned();
        }
        let git = meta.get("git").and_then(|git| Fields::read(git.get()));
        self.branch = git.and_then(|git| Some(git.text("branch")?.into_owned()));
    }

    fn context(&mut self, context: &Fields<'_>) {
        if let Some(cwd) = context.text("cwd").filter(|cwd| !cwd.is_empty()) {
            self.cwd = cwd.into_owned();
        }
        self.turn(context);
    }

    fn turn(&mut self, fields: &Fields<'_>) {
        let id = fields.text("turn_id").filter(|id| !id.is_empty());
        if let Some(id) = id.filter(|id| self.turn_id.as_deref() != Some(&**id)) {
            self.turn_id = Some(id.into_owned());
            self.has_prompt = false;
        }
    }

    fn item(&mut self, offset: u64, item: &Fields<'_>) {
        let id = item.text("call_id").or_else(|| item.text("id"));
        let id = id.as_deref().unwrap_or_default();
        match item.text("type").as_deref().unwrap_or_default() {
            "message" if item.text("role").as_deref() == Some("user") => self.message(offset, item),
            "message" if item.text("role").as_deref() == Some("assistant") => {
                self.ask();
                self.reply(&output::content(item.get("content")));
            }
            "function_call" => {
                let (name, arguments) = (item.text("name"), item.text("arguments"));
                let (name, arguments) = (name.unwrap_or_default(), arguments.unwrap_or_default());
                if name == "write_stdin" {
                    self.ask();
                    let process = tool::process_of(&arguments);
                    self.polls.extend(process.map(|process| (id.to_owned(), process)));
                } else {
                    let name = tool::qualified(item.text("namespace").as_deref(), &name);
                    self.call(id, Called::function(&name, &arguments));
                }
            }
            "custom_tool_call" => {
                let (name, input) = (item.text("name"), item.text("input"));
                self.call(id, Called::custom(&name.unwrap_or_default(), &input.unwrap_or_default()));
            }
            "local_shell_call" => self.call(id, Called::local_shell(item.get("action"))),
            "function_call_output" | "custom_tool_call_output" => self.result(id, item.get("output")),
            "web_search_call" => self.search(item),
            _ => {}
        }
    }

    fn event(&mut self, offset: u64, event: &Fields<'_>) {
        let message = || event.text("message").unwrap_or_default();
        match event.text("type").as_deref().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.ask();
                self.turn(event);
                (self.is_open, self.has_typed) = (true, false);
            }
            "user_message" => {
                if self.pending.as_ref().is_some_and(|pending| pending.is_typed) {
                    self.ask();
                }
                self.has_typed = true;
                let has_media = ["images", "local_images"]
                    .iter()
                    .any(|name| event.get(name).is_some_and(|list| !matches!(list.get(), "null" | "[]")));
                let text = message().into_owned();
                self.pending = Some(Pending { text, has_media, offset, at: self.at, is_typed: true });
            }
            "agent_message" => {
                self.ask();
                self.reply(&message());
            }
            "task_complete" | "turn_complete" => {
                self.ask();
                if let Some(text) =
                    event.text("last_agent_message").filter(|_| self.reading.told.turn.reply.is_none())
                {
                    self.reply(&text);
                }
                self.finish();
            }
            "turn_aborted" => self.aborted(event.text("reason").as_deref()),
            "error" => self.failed(&message()),
            "exec_command_end" => self.told_again(event, Called::executed(event), Output::of_command(event)),
            "patch_apply_end" => self.told_again(event, Called::changed(event), Output::of_change(event)),
            "item_completed" => {
                let Some(item) = event.get("item").and_then(|item| Fields::read(item.get())) else { return };
                match item.text("type").as_deref() {
                    Some("CommandExecution") => {
                        self.told_again(&item, Called::executed(&item), Output::of_command(&item));
                    }
                    Some("FileChange") => {
                        self.told_again(&item, Called::changed(&item), Output::of_change(&item))
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn place(&self, at: u64, folder: Option<String>) -> Whereabouts {
        let folder = folder.filter(|folder| Path::new(folder).is_absolute());
        Whereabouts {
            platform: Some(Agent::Codex.name()),
            session: self.session.clone(),
            cwd: folder.unwrap_or_else(|| self.cwd.clone()),
            at,
            agent: self.agent.clone(),
        }
    }

    /// Says whether something is recorded there. Without a folder it cannot be known to be outside of those that the user excluded.
    fn is_recorded(&self, place: &Whereabouts) -> bool {
        !self.cwd.is_empty()
            && self.reading.rules.records_in(Path::new(&self.cwd))
            && self.reading.rules.records_in(Path::new(&place.cwd))
    }
}
