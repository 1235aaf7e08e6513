//! What happened in the part of a transcript that a handoff is about.

use crate::bounds::{Bounds, Screen};
use crate::budget::{
    ANSWER_CHARS, BACK_BYTES, COMMAND_CHARS, FIRST_BYTES, INPUT_CHARS, LAST_REPLY_CHARS, MOST_BYTES,
    PROMPT_CHARS, TURNS, WHOLE_PROMPT_CHARS,
};
use crate::line::{self, Line};
use crate::marks::Marks;
use crate::plan::{self, Plans};
use crate::{answer, background, failure, remark};
use distiller::{clean_cut, machinery};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use transcript::record::{Body, Queue};
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
    /// What the command does, where it is one: found out when it is asked for.
    line: OnceCell<Line>,
    /// The client's id of it, where it goes on in the background.
    pub(crate) task: Option<String>,
}

impl Call {
    pub(crate) fn new(tool: &str, about: String, ending: Ending) -> Self {
        Self { tool: tool.to_owned(), about, ending, line: OnceCell::new(), task: None }
    }

    /// Returns the call of a command, of which a long one is kept in part.
    fn of_command(command: &str, ending: Ending) -> Self {
        let call = Self::new("Bash", clean_cut(command, COMMAND_CHARS), ending);
        if command.len() > COMMAND_CHARS {
            let _ = call.line.set(Line::of(command));
        }
        call
    }

    pub(crate) fn line(&self) -> &Line {
        self.line.get_or_init(|| if self.tool == "Bash" { Line::of(&self.about) } else { Line::default() })
    }

    /// Returns how a command ended.
    fn ended(&self, is_error: bool, output: &str) -> Ending {
        let may_hide = is_error || self.line.get().is_some() || Line::may_hide(&self.about);
        if may_hide { self.line().ending(is_error, output) } else { Ending::Done }
    }

    /// Returns what tells it from calls that do something else: of a command what it does, however its output is cut.
    pub(crate) fn key(&self) -> (&str, &str) {
        let key = self.line().key.as_str();
        (&self.tool, if key.is_empty() { &self.about } else { key })
    }

    /// Says whether it is a command that does more than look at what is there.
    pub(crate) fn is_work(&self) -> bool {
        self.tool == "Bash" && !self.line().is_look
    }

    /// Says whether it is of a tool that an MCP server has.
    pub(crate) fn is_of_server(&self) -> bool {
        self.tool.starts_with(SERVER)
    }
}

/// How a call ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// It runs, or the transcript ends before its result.
    Unknown,
    Done,
    /// It ended; what is known does not say how.
    Ran,
    /// It was ended from outside.
    Stopped,
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
    /// The plan that was accepted or written last.
    pub plan: Option<String>,
    /// What was asked while the model worked, and has not reached it.
    pub waiting: Vec<String>,
    /// What the user answered to questions of the model, each with its question.
    pub(crate) answers: Vec<String>,
    /// The last line that a command printed whose end is not known, with its place among the calls; of the last of them.
    pub(crate) printed: Option<(usize, String)>,
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub usage: Option<Usage>,
    pub model: Option<String>,
    /// Files that are new in a commit.
    pub(crate) created: Vec<String>,
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
        let mut thread = reader.finish();
        if start > 0 {
            thread.first = tail::first_prompt(path, FIRST_BYTES, |record, prompt| !hides(record, prompt))?
                .map(|first| clean_cut(&first, WHOLE_PROMPT_CHARS));
        }
        thread.begins_hidden = begins_hidden;
        thread.slice = Some(slice);
        Ok(thread)
    }
}

/// Returns the files that git says are new in a commit.
fn created(command: &str, output: &str) -> Vec<String> {
    if !command.contains("git commit") {
        return Vec::new();
    }
    let path =
        |line: &str| line.strip_prefix(" create mode ")?.split_once(' ').map(|(_, path)| path.to_owned());
    output.lines().filter_map(path).map(|path| clean_cut(&path, COMMAND_CHARS)).collect()
}

#[derive(Debug)]
struct Reader<'b> {
    thread: Thread,
    conversation: Conversation,
    screen: Screen<'b>,
    /// The calls without a result, by id: their place among the calls.
    open: HashMap<String, usize>,
    /// Proposed plans, questions and subagents without a result.
    proposals: HashMap<String, String>,
    questions: HashSet<String>,
    agents: HashMap<String, String>,
    plans: Plans,
    /// Files that may be a plan, with what is written to them, by the id of the call.
    files: HashMap<String, (String, Value)>,
    /// What the last command printed whose end is not known.
    printed: Option<(usize, String)>,
    /// What waits for the model; nothing of what may not be kept but its place.
    queue: VecDeque<Option<String>>,
    /// Whether the last record that names a folder is of one that is left out.
    is_elsewhere: bool,
    /// The commands that went on in the background, by the client's id of them: their place among the calls.
    background: HashMap<String, usize>,
    /// Looks at them without a result, by id: whose, and whether it stops them.
    looks: HashMap<String, (String, bool)>,
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
            proposals: HashMap::new(),
            questions: HashSet::new(),
            agents: HashMap::new(),
            plans: Plans::default(),
            files: HashMap::new(),
            printed: None,
            queue: VecDeque::new(),
            is_elsewhere: false,
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
        let result = match &record.body {
            Body::Queue(queue) => return self.wait(record, queue),
            Body::User(user) => user.tool_use_result,
            _ => None,
        };
        for step in self.conversation.steps(record) {
            let is_admitted = self.screen.admits(record, &step.act);
            if let (Act::ToolUse { .. }, false, Some(turn)) =
                (&step.act, self.screen.is_hidden, self.thread.turns.last_mut())
            {
                turn.is_over = false;
            }
            if is_admitted {
                self.hear(&step.act, result);
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
        if record.cwd.is_some() {
            self.is_elsewhere = is_left_out;
        }
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

    fn hear(&mut self, act: &Act<'_>, result: Option<&str>) {
        match act {
            Act::Prompt { text, .. } => {
                let asked = self.plans.continued(text);
                self.begin(asked.unwrap_or_else(|| clean_cut(text, WHOLE_PROMPT_CHARS)));
            }
            Act::Command { name, is_prompt: true, .. } if machinery::is_our_command(name) => {
                self.unexplained = None;
            }
            Act::Command { name, arguments, is_prompt: true } => {
                self.begin(clean_cut(format!("{name} {arguments}").trim_end(), WHOLE_PROMPT_CHARS));
            }
            Act::Shell(command) if !machinery::runs_us(command) => {
                self.thread.calls.push(Call::of_command(command, Ending::Ran));
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
            Act::ToolResult { tool_use_id, is_error, output } => {
                self.end(tool_use_id, *is_error, output, result);
            }
            _ => {}
        }
    }

    fn begin(&mut self, asked: String) {
        let unexplained = self.unexplained.take();
        if !asked.is_empty() {
            let refused = unexplained.and_then(|at| self.thread.calls.get_mut(at));
            let explained = refused.filter(|call| remark::is_about(&asked, call));
            if let Some(Ending::Refused(comment)) = explained.map(|call| &mut call.ending) {
                comment.clone_from(&asked);
            }
            self.queue.retain(|waiting| waiting.as_ref() != Some(&asked));
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
                | plan::PROPOSES
                | answer::ASKS
                | "Agent"
                | "Task"
        );
        let is_of_server = name.starts_with(SERVER) && !name.contains("wyren");
        let is_about_task = background::LOOKS.contains(&name) || background::STOPS.contains(&name);
        if !(is_known || is_of_server || is_about_task) {
            return;
        }
        match name {
            answer::ASKS => {
                self.questions.insert(id.to_owned());
                return;
            }
            plan::PROPOSES => {
                self.proposals.insert(id.to_owned(), input.to_owned());
                return;
            }
            _ => {}
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
                    self.thread.calls.push(Call::of_command(command, Ending::Unknown));
                }
            }
            _ if is_about_task => {
                let task = background::IDS.iter().find_map(|field| text(field));
                let is_stop = background::STOPS.contains(&name);
                self.looks.extend(task.map(|task| (id.to_owned(), (task.to_owned(), is_stop))));
            }
            "Agent" | "Task" => {
                self.agents.insert(id.to_owned(), clean_cut(text("description").unwrap_or("?"), 80));
            }
            _ => {
                if let Some(path) = text("file_path").or_else(|| text("notebook_path")) {
                    self.open.insert(id.to_owned(), self.thread.calls.len());
                    self.add(name, clean_cut(path, COMMAND_CHARS), Ending::Unknown);
                    if Plans::may_be(path) && name != "Read" {
                        let path = path.to_owned();
                        self.files.insert(id.to_owned(), (path, input));
                    }
                }
            }
        }
    }

    fn add(&mut self, tool: &str, about: String, ending: Ending) {
        self.thread.calls.push(Call::new(tool, about, ending));
    }

    fn end(&mut self, id: &str, is_error: bool, output: &str, result: Option<&str>) {
        let refused = machinery::refusal(is_error, output);
        if let Some(input) = self.proposals.remove(id) {
            match refused {
                None if !is_error => self.plans.accept(&input, output, result),
                Some(comment) if !comment.is_empty() => {
                    let comment = clean_cut(comment, PROMPT_CHARS);
                    self.thread.answers.push(format!("The plan was not accepted: {comment}"));
                }
                _ => {}
            }
        }
        if self.questions.remove(id) && !is_error {
            self.thread.answers.extend(answer::answers(output, result, ANSWER_CHARS));
        }
        if let Some((path, input)) = self.files.remove(id)
            && !is_error
        {
            self.plans.written(&path, &input);
        }
        let head = &output[..output.floor_char_boundary(OUTPUT_BYTES)];
        if let Some(description) = self.agents.remove(id)
            && !is_error
        {
            self.thread.marks.of_agent(&description, &clean_cut(head, OUTPUT_BYTES));
        }
        if let Some((task, is_stop)) = self.looks.remove(id) {
            match is_stop {
                true if !is_error => self.stop(&task),
                true => {}
                false => self.settle(&task, head),
            }
            return;
        }
        let Some(at) = self.open.remove(id) else { return };
        let Some(call) = self.thread.calls.get_mut(at) else { return };
        let is_command = call.tool == "Bash";
        let task = background::begun(output).filter(|_| is_command && !is_error);
        call.ending = match refused {
            Some(comment) => Ending::Refused(clean_cut(comment, PROMPT_CHARS)),
            None if task.is_some() => Ending::Unknown,
            None if is_command => call.ended(is_error, output),
            None if is_error => Ending::Failed(failure::telling_lines(&clean_cut(head, OUTPUT_BYTES))),
            None => Ending::Done,
        };
        if matches!(&call.ending, Ending::Refused(comment) if comment.is_empty()) {
            self.unexplained = Some(at);
        }
        if call.ending == Ending::Ran {
            self.printed = Some((at, output.to_owned()));
        }
        let command = call.about.clone();
        if let Some(task) = task {
            call.task = Some(task.to_owned());
            self.background.insert(task.to_owned(), at);
        } else if is_command && matches!(call.ending, Ending::Done | Ending::Ran) {
            self.thread.marks.of_command(&command, head);
            self.thread.created.extend(created(&command, head));
        } else if is_command && matches!(call.ending, Ending::Failed(_)) {
            self.thread.marks.of_failure(&command, head);
            self.thread.created.extend(created(&command, head));
        }
    }

    /// Notes how a command in the background goes, by what the client says of it.
    fn settle(&mut self, task: &str, said: &str) {
        let call = self.background.get(task).and_then(|at| self.thread.calls.get_mut(*at));
        let Some(call) = call else { return };
        let said = failure::plain(said);
        match background::ended(&said) {
            // What was seen of its output is not unsaid by a notice without one.
            Some(background::End::Well(output))
                if output.is_empty() && matches!(call.ending, Ending::Failed(_)) => {}
            Some(background::End::Well(output)) => call.ending = call.ended(false, &output),
            Some(background::End::Badly(output)) => {
                call.ending = Ending::Failed(failure::telling_lines(&clean_cut(&output, OUTPUT_BYTES)));
            }
            Some(background::End::Stopped) => self.stop(task),
            None => {}
        }
    }

    fn stop(&mut self, task: &str) {
        let call = self.background.get(task).and_then(|at| self.thread.calls.get_mut(*at));
        if let Some(call) = call.filter(|call| call.ending == Ending::Unknown) {
            call.ending = Ending::Stopped;
        }
    }

    /// Notes what waits for the model: a message that was typed while it works is not in the conversation until it is read.
    fn wait(&mut self, record: &Record<'_>, queue: &Queue<'_>) {
        let content = queue.content.as_deref();
        match &*queue.operation {
            "enqueue" => {
                let typed = content.map(str::trim).filter(|typed| !typed.is_empty()).unwrap_or_default();
                let name = typed.split_whitespace().next().unwrap_or_default();
                let is_left_out = typed.is_empty()
                    || background::is_notice(typed)
                    || machinery::is_our_command(name)
                    || self.is_elsewhere
                    || self.screen.is_hidden
                    || self.screen.hides(record, typed);
                self.queue.push_back((!is_left_out).then(|| clean_cut(typed, WHOLE_PROMPT_CHARS)));
            }
            "popAll" => self.queue.clear(),
            "dequeue" => drop(self.queue.pop_front()),
            _ => {
                let cleaned = content.map(|content| clean_cut(content, WHOLE_PROMPT_CHARS));
                let at = self.queue.iter().position(|waiting| cleaned.is_some() && *waiting == cleaned);
                self.queue.remove(at.unwrap_or(0));
            }
        }
    }

    fn finish(self) -> Thread {
        let waiting = self.queue.into_iter().flatten().filter(|waiting| !waiting.is_empty()).collect();
        let printed = self.printed.map(|(at, output)| (at, line::last_line(&output)));
        Thread { waiting, printed, plan: self.plans.last(), ..self.thread }
    }
}
