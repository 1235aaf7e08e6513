//! What happened in the part of a transcript that a handoff is about.

use crate::bounds::{Bounds, Screen};
use crate::budget::{
    BACK_BYTES, COMMAND_CHARS, FIRST_BYTES, INPUT_CHARS, LAST_REPLY_CHARS, MOST_BYTES, PLAN_CHARS,
    PROMPT_CHARS, TURNS, WHOLE_PROMPT_CHARS,
};
use crate::marks::Marks;
use crate::{background, failure};
use distiller::{clean_cut, machinery};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use transcript::record::Body;
use transcript::{Act, Conversation, Error, Record, Scope, Slice, Usage, tail};

/// How many characters of a commit's or a subagent's output are looked through for ids.
const OUTPUT_BYTES: usize = 64 * 1024;

/// How the name of a tool begins that an MCP server has.
const SERVER: &str = "mcp__";

/// A turn that may be kept.
#[derive(Debug, Default)]
pub struct Turn {
    /// The prompt, without secrets.
    pub asked: String,
    /// What the model said, in this order.
    pub replies: Vec<String>,
    /// Whether that was the end: no call came after it.
    pub is_over: bool,
    pub is_interrupted: bool,
}

impl Turn {
    /// Returns what the model said last; nothing where it said nothing.
    pub fn reply(&self) -> &str {
        self.replies.last().map_or("", String::as_str)
    }
}

/// A call of a tool that is about a command or a file, or of one that an MCP server has.
#[derive(Debug)]
pub struct Call {
    pub tool: String,
    /// The command, the path of the file, or the MCP tool with its input.
    pub about: String,
    pub ending: Ending,
}

impl Call {
    /// Says whether it is of a tool that an MCP server has.
    pub(crate) fn is_of_server(&self) -> bool {
        self.tool.starts_with(SERVER)
    }
}

/// How a call ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// It runs, was stopped, or the transcript ends before its result.
    Unknown,
    Done,
    /// With the lines that say what went wrong.
    Failed(Vec<String>),
    /// It did not run; with what the person said about it.
    Refused(String),
}

/// What happened.
#[derive(Debug, Default)]
pub struct Thread {
    /// The first prompt of the session, when it is not among the turns.
    pub first: Option<String>,
    pub turns: Vec<Turn>,
    pub calls: Vec<Call>,
    /// The plan that was accepted last.
    pub plan: Option<String>,
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub usage: Option<Usage>,
    pub model: Option<String>,
    pub(crate) marks: Marks,
    /// What was read of the file, for those who want all of it.
    pub(crate) slice: Option<Slice>,
    /// Whether that begins under a prompt that hides what follows.
    pub(crate) begins_hidden: bool,
}

impl Thread {
    /// Reads the end of a transcript: since the last compaction, and further back where that is little.
    pub fn read(path: &Path, bounds: Bounds<'_>) -> Result<Self, Error> {
        let compaction = tail::offset_of_last_compaction(path)?;
        let start = match compaction {
            None => 0,
            Some(offset) => offset.min(tail::offset_of_turns_within(path, TURNS, BACK_BYTES)?),
        };
        let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let start = match length.saturating_sub(start) > MOST_BYTES {
            true => start.max(tail::offset_of_turns_within(path, usize::MAX, MOST_BYTES)?),
            false => start,
        };
        let mut start = start;
        let mut slice = Slice::read(path, start)?;
        if length > MOST_BYTES && slice.records().next().is_none() {
            // No turn begins there: one turn is longer than that. The line that it begins in the middle of is no record.
            start = length - MOST_BYTES;
            slice = Slice::read(path, start)?;
        }
        // What comes before the first prompt of the slice belongs to the one before.
        let hides = |record: &Record<'_>, prompt: &str| bounds.hide(record, prompt);
        let before = if start > 0 { tail::prompt_before(path, start, hides)? } else { None };
        let begins_hidden = before.as_ref().is_some_and(|(_, hides)| *hides);
        let mut reader = Reader::new(Screen::new(bounds, begins_hidden));
        if let Some((prompt, false)) = before {
            reader.begin(clean_cut(&prompt, WHOLE_PROMPT_CHARS));
        }
        for record in slice.records() {
            reader.take(&record);
        }
        let mut thread = reader.thread;
        if start > 0 {
            thread.first = tail::first_prompt(path, FIRST_BYTES, |record, prompt| !hides(record, prompt))?
                .map(|first| clean_cut(&first, WHOLE_PROMPT_CHARS));
        }
        thread.begins_hidden = begins_hidden;
        thread.slice = Some(slice);
        Ok(thread)
    }
}

#[derive(Debug)]
struct Reader<'b> {
    thread: Thread,
    conversation: Conversation,
    screen: Screen<'b>,
    /// The calls without a result, by id: their place among the calls.
    open: HashMap<String, usize>,
    /// Plans and subagents without a result.
    plans: HashMap<String, String>,
    agents: HashMap<String, String>,
    /// The commands that went on in the background, by the client's id of them: their place among the calls.
    background: HashMap<String, usize>,
    /// Looks at them without a result, by id.
    looks: HashMap<String, String>,
    /// The call that was refused without a word: the next prompt says why.
    unexplained: Option<usize>,
}

impl<'b> Reader<'b> {
    fn new(screen: Screen<'b>) -> Self {
        Self {
            thread: Thread::default(),
            conversation: Conversation::new(Scope::Main),
            screen,
            open: HashMap::new(),
            plans: HashMap::new(),
            agents: HashMap::new(),
            background: HashMap::new(),
            looks: HashMap::new(),
            unexplained: None,
        }
    }

    fn take(&mut self, record: &Record<'_>) {
        if record.is_sidechain {
            return;
        }
        for notice in background::notices(record) {
            if let (false, Some(task)) = (self.screen.is_hidden, background::task_of(&notice)) {
                self.settle(task, &notice);
            }
        }
        for step in self.conversation.steps(record) {
            let is_admitted = self.screen.admits(record, &step.act);
            if let (Act::ToolUse { .. }, false, Some(turn)) =
                (&step.act, self.screen.is_hidden, self.thread.turns.last_mut())
            {
                turn.is_over = false;
            }
            if is_admitted {
                self.hear(&step.act);
            } else if step.act.starts_turn() {
                // Only the very next prompt says why.
                self.unexplained = None;
            }
        }
        self.place(record);
    }

    /// Notes where the session is, and how full its window.
    fn place(&mut self, record: &Record<'_>) {
        let is_left_out = self.screen.leaves_out(record);
        let thread = &mut self.thread;
        for (known, said) in [(&mut thread.cwd, &record.cwd), (&mut thread.branch, &record.git_branch)] {
            let is_new = |said: &&str| !said.is_empty() && known.as_deref() != Some(*said);
            if let (false, Some(said)) = (is_left_out, said.as_deref().filter(is_new)) {
                *known = Some(said.to_owned());
            }
        }
        if let Body::Assistant(assistant) = &record.body
            && !assistant.is_synthetic()
            && let Some(usage) = assistant.usage
        {
            thread.usage = Some(usage);
            if let Some(model) =
                assistant.model.as_deref().filter(|model| thread.model.as_deref() != Some(model))
            {
                thread.model = Some(model.to_owned());
            }
        }
    }

    fn hear(&mut self, act: &Act<'_>) {
        match act {
            Act::Prompt { text, .. } => self.begin(clean_cut(text, WHOLE_PROMPT_CHARS)),
            Act::Command { name, is_prompt: true, .. } if machinery::is_our_command(name) => {
                self.unexplained = None;
            }
            Act::Command { name, arguments, is_prompt: true } => {
                self.begin(clean_cut(format!("{name} {arguments}").trim_end(), WHOLE_PROMPT_CHARS));
            }
            Act::Shell(command) if !machinery::runs_us(command) => {
                self.add("Bash", clean_cut(command, COMMAND_CHARS), Ending::Unknown);
            }
            Act::Reply(text) => {
                if let Some(turn) = self.thread.turns.last_mut() {
                    turn.replies.push(clean_cut(text, LAST_REPLY_CHARS));
                    turn.is_over = true;
                }
            }
            Act::Interruption => {
                if let Some(turn) = self.thread.turns.last_mut() {
                    turn.is_interrupted = true;
                }
            }
            Act::ToolUse { id, name, input } => self.call(id, name, input.unwrap_or("{}")),
            Act::ToolResult { tool_use_id, is_error, output } => self.end(tool_use_id, *is_error, output),
            _ => {}
        }
    }

    fn begin(&mut self, asked: String) {
        let unexplained = self.unexplained.take();
        if !asked.is_empty() {
            let refused = unexplained.and_then(|at| self.thread.calls.get_mut(at));
            if let Some(Ending::Refused(comment)) = refused.map(|call| &mut call.ending) {
                comment.clone_from(&asked);
            }
            self.thread.turns.push(Turn { asked, ..Turn::default() });
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &str) {
        let is_known = matches!(
            name,
            "Bash"
                | "Read"
                | "Edit"
                | "MultiEdit"
                | "Write"
                | "NotebookEdit"
                | "ExitPlanMode"
                | "Agent"
                | "Task"
        );
        let is_of_server = name.starts_with(SERVER) && !name.contains("wyren");
        if !(is_known || is_of_server || background::LOOKS.contains(&name)) {
            return;
        }
        if is_of_server {
            self.open.insert(id.to_owned(), self.thread.calls.len());
            return self.add(name, clean_cut(&format!("{name} {input}"), INPUT_CHARS), Ending::Unknown);
        }
        let Ok(input) = serde_json::from_str::<Value>(input) else { return };
        let text = |field: &str| input[field].as_str().filter(|text| !text.is_empty());
        match name {
            "Bash" => {
                if let Some(command) = text("command") {
                    self.open.insert(id.to_owned(), self.thread.calls.len());
                    self.add(name, clean_cut(command, COMMAND_CHARS), Ending::Unknown);
                }
            }
            "ExitPlanMode" => {
                if let Some(plan) = text("plan") {
                    self.plans.insert(id.to_owned(), clean_cut(plan, PLAN_CHARS));
                }
            }
            _ if background::LOOKS.contains(&name) => {
                let task = background::IDS.iter().find_map(|field| text(field));
                self.looks.extend(task.map(|task| (id.to_owned(), task.to_owned())));
            }
            "Agent" | "Task" => {
                self.agents.insert(id.to_owned(), clean_cut(text("description").unwrap_or("?"), 80));
            }
            _ => {
                if let Some(path) = text("file_path").or_else(|| text("notebook_path")) {
                    self.open.insert(id.to_owned(), self.thread.calls.len());
                    self.add(name, clean_cut(path, COMMAND_CHARS), Ending::Unknown);
                }
            }
        }
    }

    fn add(&mut self, tool: &str, about: String, ending: Ending) {
        self.thread.calls.push(Call { tool: tool.to_owned(), about, ending });
    }

    fn end(&mut self, id: &str, is_error: bool, output: &str) {
        let refused = machinery::refusal(is_error, output);
        if let Some(plan) = self.plans.remove(id)
            && !is_error
        {
            self.thread.plan = Some(plan);
        }
        let head = &output[..output.floor_char_boundary(OUTPUT_BYTES)];
        if let Some(description) = self.agents.remove(id)
            && !is_error
        {
            self.thread.marks.of_agent(&description, &clean_cut(head, OUTPUT_BYTES));
        }
        if let Some(task) = self.looks.remove(id) {
            return self.settle(&task, head);
        }
        let Some(at) = self.open.remove(id) else { return };
        let Some(call) = self.thread.calls.get_mut(at) else { return };
        let task = background::begun(output).filter(|_| call.tool == "Bash" && !is_error);
        let failed = || is_error || (call.tool == "Bash" && failure::is_hidden(&call.about, head));
        call.ending = match refused {
            Some(comment) => Ending::Refused(clean_cut(comment, PROMPT_CHARS)),
            None if failed() => Ending::Failed(failure::telling_lines(&clean_cut(head, OUTPUT_BYTES))),
            None if task.is_some() => Ending::Unknown,
            None => Ending::Done,
        };
        if matches!(&call.ending, Ending::Refused(comment) if comment.is_empty()) {
            self.unexplained = Some(at);
        }
        let command = call.about.clone();
        if let Some(task) = task {
            self.thread.marks.of_background(task, &command);
            self.background.insert(task.to_owned(), at);
        } else if call.tool == "Bash" && call.ending == Ending::Done {
            self.thread.marks.of_command(&command, head);
        }
    }

    /// Notes how a command in the background goes, by what the client says of it.
    fn settle(&mut self, task: &str, said: &str) {
        let call = self.background.get(task).and_then(|at| self.thread.calls.get_mut(*at));
        let Some(call) = call else { return };
        let said = clean_cut(said, OUTPUT_BYTES);
        match background::ended(&said) {
            Some(background::End::Well) => call.ending = Ending::Done,
            Some(background::End::Badly(output)) => {
                call.ending = Ending::Failed(failure::telling_lines(output));
            }
            None => {}
        }
    }
}
