//! A turn as a story: what was asked, changed, run, read, refused and answered, per project.

use super::change::{self, Change};
use super::prose;
use super::run::{self, Act, Outcome, Run};
use crate::turn::{Observed, Turn};
use outcome::Report;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use text::sanitize;

/// The most commands that an entry keeps, and how long each may be.
const MOST_COMMANDS: usize = 20;
const MOST_COMMAND_CHARS: usize = 160;
/// How many failed looks are kept.
const MOST_FAILED_LOOKS: usize = 20;

/// What happened in a turn.
#[derive(Debug, Default)]
pub(super) struct Story<'t> {
    pub(super) prompt: Option<&'t Observed>,
    /// Messages that were typed while the model worked.
    pub(super) said: Vec<&'t Observed>,
    /// How the turn ended, the last time that it did.
    pub(super) end: Option<&'t Observed>,
    /// The work per project, in the order in which it began.
    pub(super) parts: Vec<Part<'t>>,
}

/// A question of the model's to the user, with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) question: String,
    pub(super) answer: String,
}

impl Answer {
    /// Returns both as a line of at most so many characters; the answer keeps its end longer than the question.
    pub(super) fn line(&self, most: usize) -> String {
        const LEAST_QUESTION: usize = 40;
        let frame = prose::ASKED.chars().count() + prose::ANSWERED.chars().count();
        let answer = sanitize::one_line(&self.answer, most.saturating_sub(frame + LEAST_QUESTION));
        let room = most.saturating_sub(frame + answer.chars().count());
        let question = sanitize::one_line(&self.question, room);
        format!("{}{question}{}{answer}", prose::ASKED, prose::ANSWERED)
    }
}

/// What a turn did in one project.
#[derive(Debug)]
pub(super) struct Part<'t> {
    /// The observation that it begins with.
    pub(super) anchor: &'t Observed,
    pub(super) project: i64,
    /// When it ended.
    pub(super) at: u64,
    pub(super) calls: usize,
    /// By path; `order` says which was first.
    pub(super) changes: BTreeMap<String, Change>,
    pub(super) order: Vec<String>,
    pub(super) runs: Vec<Run>,
    /// What commands did besides, in their order.
    pub(super) did: Vec<String>,
    pub(super) commits: Vec<String>,
    pub(super) reads: BTreeSet<String>,
    pub(super) searches: Vec<String>,
    pub(super) pages: Vec<String>,
    /// Calls of other tools that failed, as sentences.
    pub(super) errors: Vec<String>,
    /// Edits that failed, by path, with the reason, until one is made.
    pub(super) failed_edits: BTreeMap<String, String>,
    /// Commands that failed and whose name says nothing, with what they said.
    pub(super) failed_commands: Vec<(String, String)>,
    /// Looks that failed, as sentences: no line tells them, and they can be found.
    pub(super) failed_looks: Vec<String>,
    /// Calls that were refused or interrupted, as sentences.
    pub(super) refused: Vec<String>,
    /// Questions that the model asked, with the user's answers.
    pub(super) answers: Vec<(&'t Observed, Answer)>,
    /// What subagents were for, with the beginning of what they answered.
    pub(super) agents: Vec<(String, String)>,
    /// Open tasks, by their id or place.
    pub(super) tasks: BTreeMap<String, (String, bool)>,
    pub(super) plans: Vec<String>,
    pub(super) commands: Vec<String>,
    /// Copies of files, by their path: what had been changed in the file when it was copied.
    copies: BTreeMap<String, (String, Option<Change>)>,
}

impl<'t> Part<'t> {
    fn new(anchor: &'t Observed) -> Self {
        Self {
            anchor,
            project: anchor.project,
            at: anchor.at,
            calls: 0,
            changes: BTreeMap::new(),
            order: Vec::new(),
            runs: Vec::new(),
            did: Vec::new(),
            commits: Vec::new(),
            reads: BTreeSet::new(),
            searches: Vec::new(),
            pages: Vec::new(),
            errors: Vec::new(),
            failed_edits: BTreeMap::new(),
            failed_commands: Vec::new(),
            failed_looks: Vec::new(),
            refused: Vec::new(),
            answers: Vec::new(),
            agents: Vec::new(),
            tasks: BTreeMap::new(),
            plans: Vec::new(),
            commands: Vec::new(),
            copies: BTreeMap::new(),
        }
    }

    /// Returns the changes that are worth a word, in the order in which they began: no generated files.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Change> {
        self.order
            .iter()
            .filter_map(|path| self.changes.get(path))
            .filter(|change| !is_generated(&change.path))
    }

    fn change(&mut self, path: String) -> &mut Change {
        if !self.order.contains(&path) {
            self.order.push(path.clone());
        }
        self.changes.entry(path.clone()).or_insert_with(|| Change::new(path))
    }
}

/// Reads a turn.
pub(super) fn of(turn: &Turn) -> Story<'_> {
    let mut story = Story::default();
    // Files that were read, so that changes in them can be named; they are no changes themselves.
    let mut seen = Seen::default();
    for observed in &turn.observed {
        match observed.kind.as_str() {
            "prompt" if story.prompt.is_none() => {
                story.prompt = Some(observed);
                story.part(observed);
            }
            "prompt" | "said" => story.said.push(observed),
            "turn-end" => {
                story.end = Some(observed);
                let at = observed.at;
                story.parts.iter_mut().for_each(|part| part.at = part.at.max(at));
            }
            "tool" => {
                let part = story.part(observed);
                part.calls += 1;
                call(part, observed, &mut seen);
            }
            "refused" => {
                let part = story.part(observed);
                part.refused.extend(refused(observed));
            }
            _ => {}
        }
    }
    story
}

impl<'t> Story<'t> {
    /// Returns the part of an observation's project; what comes later in another one begins its own.
    fn part(&mut self, observed: &'t Observed) -> &mut Part<'t> {
        let at = self.parts.iter().position(|part| part.project == observed.project);
        let at = at.unwrap_or_else(|| {
            self.parts.push(Part::new(observed));
            self.parts.len() - 1
        });
        let part = &mut self.parts[at];
        part.at = part.at.max(observed.at);
        part
    }
}

/// What was read of files.
#[derive(Debug, Default)]
struct Seen<'t> {
    /// By path: from which line on, and the text.
    texts: BTreeMap<String, Vec<(usize, &'t str)>>,
    /// The cells of notebooks, by path and id.
    cells: BTreeMap<(String, &'t str), &'t str>,
}

impl<'t> Seen<'t> {
    fn of(&self, path: &str) -> impl Iterator<Item = &(usize, &'t str)> {
        self.texts.get(path).into_iter().flatten()
    }
}

impl Part<'_> {
    /// Keeps a look that failed.
    fn miss(&mut self, what: &str, error: &str) {
        let text = format!("`{}` failed: {}", sanitize::one_line(what, MOST_COMMAND_CHARS), reason_of(error));
        if self.failed_looks.len() < MOST_FAILED_LOOKS && !self.failed_looks.contains(&text) {
            self.failed_looks.push(text);
        }
    }
}

fn call<'t>(part: &mut Part<'t>, observed: &'t Observed, seen: &mut Seen<'t>) {
    const NOTHING: &Value = &Value::Null;
    let input = observed.data.get("input").unwrap_or(NOTHING);
    let output = observed.data.get("output").unwrap_or(NOTHING);
    let has_failed = observed.failed || !observed.text("error").is_empty();
    match observed.text("tool") {
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" if !has_failed => {
            edit(part, observed, input, output, seen)
        }
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            if let Some(path) = edited_path(observed, input) {
                part.failed_edits.insert(path, reason_of(observed.text("error")));
            }
        }
        "Bash" => bash(part, observed, input, output, has_failed),
        "Read" if !has_failed => {
            let path = relative(observed, text_of(input, "file_path"));
            let file = output.get("file").unwrap_or(NOTHING);
            let start = file.get("startLine").and_then(Value::as_u64).unwrap_or(1) as usize;
            let content = text_of(file, "content");
            for cell in file.get("cells").and_then(Value::as_array).into_iter().flatten() {
                seen.cells.insert((path.clone(), text_of(cell, "cell_id")), text_of(cell, "source"));
            }
            let known = seen.texts.entry(path.clone()).or_default();
            if !content.is_empty() && !known.contains(&(start, content)) {
                known.push((start, content));
                if let Some(change) = part.changes.get_mut(&path) {
                    change.see(start, content);
                }
            }
            part.reads.insert(path);
        }
        tool @ ("Read" | "Grep" | "Glob" | "WebFetch" | "WebSearch") if has_failed => {
            let names = ["pattern", "url", "query"].iter().map(|name| text_of(input, name));
            let what = match text_of(input, "file_path") {
                "" => names.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned(),
                path => relative(observed, path),
            };
            part.miss(&format!("{tool} {what}"), observed.text("error"));
        }
        "Grep" | "Glob" if !has_failed => {
            part.searches.push(sanitize::one_line(text_of(input, "pattern"), 60))
        }
        "WebFetch" if !has_failed => part.pages.push(sanitize::one_line(text_of(input, "url"), 100)),
        "WebSearch" if !has_failed => part.searches.push(sanitize::one_line(text_of(input, "query"), 60)),
        "Agent" | "Task" => {
            let answer = output.get("content").and_then(Value::as_array).into_iter().flatten();
            let answer: Vec<&str> = answer.filter_map(|piece| piece.get("text")?.as_str()).collect();
            part.agents.push((sanitize::one_line(text_of(input, "description"), 80), answer.join("\n")));
        }
        "AskUserQuestion" => {
            part.answers.extend(answers(input, output).map(|answer| (observed, answer)));
        }
        "ExitPlanMode" if !has_failed => part.plans.extend(plan_title(text_of(input, "plan"))),
        "TodoWrite" => todo(part, input),
        "TaskCreate" => {
            let task = output.get("task").unwrap_or(NOTHING);
            part.tasks.insert(text_of(task, "id").to_owned(), (text_of(input, "subject").to_owned(), true));
        }
        "TaskUpdate" => {
            let is_open = !matches!(text_of(input, "status"), "completed" | "deleted");
            if let Some(task) = part.tasks.get_mut(text_of(input, "taskId")) {
                task.1 = is_open;
            }
        }
        tool if has_failed => part.errors.extend(failed_call(tool, observed.text("error"))),
        tool => part.did.extend(written(tool, input)),
    }
}

/// Words in the names of tools, behind the server's name, that change something outside of the project.
const WRITING: [&str; 30] = [
    "create",
    "add",
    "update",
    "edit",
    "delete",
    "remove",
    "send",
    "post",
    "merge",
    "close",
    "assign",
    "move",
    "publish",
    "upload",
    "submit",
    "comment",
    "reply",
    "approve",
    "resolve",
    "archive",
    "rename",
    "append",
    "transition",
    "reopen",
    "cancel",
    "deploy",
    "trigger",
    "schedule",
    "link",
    "write",
];

/// The same for those that look at something: the first such word says which of both a tool does.
const LOOKING: [&str; 13] = [
    "get", "list", "search", "find", "fetch", "read", "query", "retrieve", "describe", "show", "view",
    "count", "check",
];

/// Returns what a call of a server's tool changed, with the name that its input gives: `linear create_issue "Empty label"`.
fn written(tool: &str, input: &Value) -> Option<String> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__")?;
    if !is_writing(name) {
        return None;
    }
    let named = [
        "title",
        "subject",
        "name",
        "summary",
        "id",
        "issueId",
        "issue_id",
        "issue_number",
        "number",
        "key",
        "path",
    ];
    let of_input = |name: &&str| match input.get(*name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let what = named.iter().find_map(of_input);
    let what = what.map(|what| format!(" \"{}\"", sanitize::one_line(&what, 90))).unwrap_or_default();
    Some(format!("{server} {name}{what}"))
}

/// Returns whether a tool changes something, by its name: `add_to_list` does, `list_links` does not.
fn is_writing(name: &str) -> bool {
    let words = name.split(['_', '-', '.']).flat_map(camel_words).map(str::to_lowercase);
    let known = |word: &String| WRITING.contains(&&**word) || LOOKING.contains(&&**word);
    let mut words: Vec<String> = words.filter(known).collect();
    // A method of HTTP in front of the verb: `API-post-search`.
    if words.len() > 1 && words[0] == "post" {
        words.remove(0);
    }
    words.first().is_some_and(|verb| WRITING.contains(&&**verb))
}

/// Takes `createIssue` apart.
fn camel_words(name: &str) -> impl Iterator<Item = &str> {
    let starts = name.char_indices().filter(|(_, character)| character.is_uppercase()).map(|(at, _)| at);
    let starts: Vec<usize> = std::iter::once(0).chain(starts.filter(|at| *at > 0)).collect();
    let ends: Vec<usize> = starts.iter().copied().skip(1).chain([name.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &name[start..end])
}

/// Returns what failed, for a call of a tool that is no file and no command.
fn failed_call(tool: &str, error: &str) -> Option<String> {
    let name = tool.strip_prefix("mcp__").unwrap_or(tool).replace("__", " ");
    let error = sanitize::one_line(error.trim_start_matches("Error: "), 140);
    (!error.is_empty()).then(|| format!("{name} failed: {error}"))
}

fn text_of<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what the user answered to each question of a call, with a note that they added.
fn answers<'v>(input: &'v Value, output: &'v Value) -> impl Iterator<Item = Answer> {
    let of = |name: &str| output.get(name).or(input.get(name));
    let notes = of("annotations");
    let answers = of("answers").and_then(Value::as_object);
    answers.into_iter().flatten().filter_map(move |(question, answer)| {
        let answer = match answer {
            Value::String(answer) => answer.clone(),
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            _ => String::new(),
        };
        let note = notes.and_then(|notes| notes.get(question)).map_or("", |note| text_of(note, "notes"));
        let note = if note.trim().is_empty() { String::new() } else { format!(" ({})", note.trim()) };
        let is_answered = !answer.trim().is_empty();
        is_answered.then(|| Answer { question: question.clone(), answer: format!("{}{note}", answer.trim()) })
    })
}

fn todo(part: &mut Part<'_>, input: &Value) {
    part.tasks.clear();
    let list = input.get("todos").and_then(Value::as_array).into_iter().flatten();
    for (place, item) in list.enumerate() {
        let is_open = text_of(item, "status") != "completed";
        part.tasks.insert(format!("{place:04}"), (text_of(item, "content").to_owned(), is_open));
    }
}

fn plan_title(plan: &str) -> Option<String> {
    let line =
        plan.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.trim().is_empty())?;
    Some(sanitize::one_line(line.strip_prefix("Plan:").unwrap_or(line), 120))
}

fn edit<'t>(part: &mut Part<'t>, observed: &Observed, input: &'t Value, output: &Value, seen: &mut Seen<'t>) {
    if let Some(patch) = input.get("patch").and_then(Value::as_str) {
        return patched(part, observed, patch, seen);
    }
    let Some(path) = edited_path(observed, input) else { return };
    if path.contains("/.claude/plans/") {
        return;
    }
    let is_first = !part.changes.contains_key(&path);
    let change = part.change(path.clone());
    if is_first {
        seen.of(&path).for_each(|(start, text)| change.see(*start, text));
    }
    let hunks = change::of_patch(output.get("structuredPatch").unwrap_or(&Value::Null));
    if let Some(cell) = input.get("new_source").and_then(Value::as_str) {
        return change.apply(&cell_of(path, input, cell, seen));
    }
    let content = text_of(input, "content");
    if !hunks.is_empty() {
        change.apply(&hunks);
    } else if !content.is_empty() {
        change.is_new |= is_first && text_of(output, "type") != "update";
        change.is_deleted = false;
        change.apply(&change::whole(content));
    } else if let Some(edits) = input.get("edits").and_then(Value::as_array) {
        for edit in edits {
            change.apply(&change::between(text_of(edit, "old_string"), text_of(edit, "new_string")));
        }
    } else {
        change.apply(&change::between(text_of(input, "old_string"), text_of(input, "new_string")));
    }
}

/// Returns what an edit of a notebook's cell changed: what the cell was is known where the notebook was read.
fn cell_of<'t>(path: String, input: &'t Value, after: &'t str, seen: &mut Seen<'t>) -> Vec<change::Hunk> {
    let key = (path, text_of(input, "cell_id"));
    match text_of(input, "edit_mode") {
        // Its id is that of the cell before it.
        "insert" => change::between("", after),
        "delete" => change::between(seen.cells.remove(&key).unwrap_or_default(), ""),
        _ => change::between(seen.cells.insert(key, after).unwrap_or_default(), after),
    }
}

fn edited_path(observed: &Observed, input: &Value) -> Option<String> {
    let paths = ["file_path", "notebook_path", "path"].iter().map(|name| text_of(input, name));
    paths.into_iter().find(|path| !path.is_empty()).map(|path| relative(observed, path))
}

/// Returns the first line of an error, without the client's tags, and without the exit code where there is more.
fn reason_of(error: &str) -> String {
    let error = error.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let is_code = first.strip_prefix("Exit code ").is_some_and(|code| code.parse::<u32>().is_ok());
    sanitize::one_line(lines.next().filter(|_| is_code).unwrap_or(first), 140)
}

fn patched(part: &mut Part<'_>, observed: &Observed, patch: &str, seen: &Seen<'_>) {
    for file in change::of_codex(patch) {
        let path = relative(observed, file.path);
        let change = part.change(path.clone());
        seen.of(&path).for_each(|(start, text)| change.see(*start, text));
        change.is_new |= file.is_new;
        change.is_deleted = file.is_deleted;
        change.apply(&file.hunks);
        if let Some(target) = file.moved_to {
            moved(part, path, relative(observed, target));
        }
    }
}

fn moved(part: &mut Part<'_>, from: String, to: String) {
    let mut change = part.changes.remove(&from).unwrap_or_else(|| Change::new(to.clone()));
    part.order.retain(|path| *path != from && *path != to);
    part.order.push(to.clone());
    change.path = to.clone();
    let first = change.renamed_from.take().unwrap_or(from);
    change.renamed_from = (first != to && !change.is_new).then_some(first);
    part.changes.insert(to, change);
}

fn bash(part: &mut Part<'_>, observed: &Observed, input: &Value, output: &Value, has_failed: bool) {
    let script = text_of(input, "command");
    let is_interrupted = observed.data.get("interrupted").and_then(Value::as_bool) == Some(true)
        || output.get("interrupted").and_then(Value::as_bool) == Some(true);
    let outcome = if is_interrupted {
        Outcome::Interrupted
    } else if has_failed {
        Outcome::Failed
    } else if output.get("backgroundTaskId").is_some_and(|id| !id.is_null()) {
        Outcome::Background
    } else if output.is_null() || text_of(output, "status") == "unknown" {
        Outcome::Unknown
    } else {
        Outcome::Passed
    };
    let printed = match output {
        Value::String(text) => text.clone(),
        _ => [text_of(output, "stdout"), text_of(output, "stderr"), observed.text("error")].join("\n"),
    };
    let ran = run::of(script, &printed, outcome);
    let is_quiet = ran.runs.is_empty() && ran.acts.iter().all(|act| matches!(act, Act::Read(_)));
    if !is_quiet && part.commands.len() < MOST_COMMANDS {
        part.commands.push(sanitize::one_line(script, MOST_COMMAND_CHARS));
    }
    part.failed_commands.retain(|(known, _)| known != script);
    // Exit code 1 is how many programs answer: nothing found, files differ. They say nothing about an error then.
    let error = observed.text("error");
    let has_code_1 = error.lines().next() == Some("Exit code 1");
    let is_answer = error.is_empty() || (has_code_1 && Report::of(error).error.is_none());
    if outcome == Outcome::Failed && ran.runs.is_empty() && !is_answer {
        part.miss(script, error);
        part.failed_commands.push((script.to_owned(), reason_of(error)));
    }
    part.runs.extend(ran.runs);
    for act in ran.acts {
        done(part, observed, act);
    }
}

fn done(part: &mut Part<'_>, observed: &Observed, act: Act) {
    match act {
        Act::Did(what) => part.did.push(sanitize::one_line(&what, 140)),
        Act::Committed(hash, subject) => {
            part.commits.push(subject.clone());
            let hash = if hash.is_empty() { String::new() } else { format!(" {hash}") };
            part.did.push(format!("committed{hash} \"{subject}\""));
        }
        Act::Moved(from, to) => {
            let (from, to) =
                (relative(observed, &from), into_folder(&relative(observed, &from), relative(observed, &to)));
            if !part.put_copy_back(&from, &to) {
                moved(part, from, to);
            }
        }
        Act::Copied(from, to) => {
            let (from, to) =
                (relative(observed, &from), into_folder(&relative(observed, &from), relative(observed, &to)));
            if !part.put_copy_back(&from, &to) {
                part.copies.insert(to.clone(), (from.clone(), part.changes.get(&from).cloned()));
                if run::is_source(&to) {
                    part.change(to).replace();
                }
            }
        }
        Act::Replaced(path) => part.change(relative(observed, &path)).replace(),
        Act::Staged(paths) => part.each_at(observed, &paths, |change| change.is_staged = true),
        Act::Settled(all) => {
            let any = part.changes.values().any(|change| change.is_staged);
            let is_settled = |change: &Change| !any || change.is_staged || all && !change.is_new;
            for change in part.changes.values_mut() {
                if is_settled(change) { change.settle() } else { change.pass_by() }
            }
        }
        Act::Stashed(paths, with_new) => part.each_at(observed, &paths, |change| change.stash(with_new)),
        Act::Unstashed => part.changes.values_mut().for_each(Change::unstash),
        Act::Dropped => part.changes.values_mut().for_each(|change| change.stashed = None),
        Act::Cleaned(paths) => {
            part.each_at(observed, &paths, |change| change.is_deleted |= change.is_untracked())
        }
        Act::Reverted => part.changes.values_mut().for_each(Change::revert),
        Act::Undone => part.changes.values_mut().for_each(Change::undo),
        Act::PutBack(paths) if !paths.is_empty() => part.each_at(observed, &paths, Change::restore),
        Act::PutBack(_) => {}
        Act::Removed(path) => part.change(relative(observed, &path)).is_deleted = true,
        Act::Wrote(path) => {
            part.change(relative(observed, &path));
        }
        Act::RestoredAll => {
            part.tell_put_back();
            part.changes.values_mut().for_each(Change::restore);
        }
        Act::Restored(paths) if paths.is_empty() => {
            part.tell_put_back();
            part.each_at(observed, &[".".to_owned()], Change::restore);
        }
        Act::Restored(paths) => {
            for path in paths {
                let whole = relative(observed, &path);
                if !whole.contains('*') && !part.changes.keys().any(|known| is_at(known, &whole)) {
                    part.change(whole).is_restored = true;
                }
                part.each_at(observed, &[path], Change::restore);
            }
        }
        Act::Read(path) => {
            part.reads.insert(relative(observed, &path));
        }
    }
}

/// Returns where a file is that is moved or copied to a path, which may be a folder.
fn into_folder(from: &str, to: String) -> String {
    let (name, last) = (from.rsplit('/').next().unwrap_or(from), to.rsplit('/').next().unwrap_or_default());
    let is_folder = to.ends_with('/') || !last.contains('.');
    if is_folder && name.contains('.') { format!("{}/{name}", to.trim_end_matches('/')) } else { to }
}

/// Returns whether a file is what a path names: the file, a folder around it, or a pattern with `*`.
fn is_at(file: &str, path: &str) -> bool {
    match path.split_once('*') {
        Some((before, behind)) => {
            let end = behind.rsplit('*').next().unwrap_or(behind);
            file.starts_with(before) && file.ends_with(end)
        }
        None => file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

impl Part<'_> {
    /// Does something to the changes at these paths; to those in the folder of the call where there are none.
    fn each_at(&mut self, observed: &Observed, paths: &[String], mut action: impl FnMut(&mut Change)) {
        let root = observed.root.to_string_lossy();
        let tidied = |path: &String| {
            let path = relative(observed, path);
            let path = path.trim_end_matches("/.").trim_end_matches('/').to_owned();
            if path == root.trim_end_matches('/') || path == "." { String::new() } else { path }
        };
        let paths: Vec<String> = paths.iter().map(tidied).collect();
        for (known, change) in &mut self.changes {
            if paths.is_empty() || paths.iter().any(|path| path.is_empty() || is_at(known, path)) {
                action(change);
            }
        }
    }

    /// Notes that files were put back, where no change of the turn shows it.
    fn tell_put_back(&mut self) {
        if self.changes.is_empty() {
            self.did.push("put back the last commit's files".to_owned());
        }
    }

    /// Puts a file back whose copy comes to its place; returns whether it is one.
    fn put_copy_back(&mut self, from: &str, to: &str) -> bool {
        let Some((_, before)) = self.copies.get(from).filter(|(file, _)| file == to).cloned() else {
            return false;
        };
        if let Some(change) = self.changes.get_mut(to) {
            match before {
                Some(before) => *change = before,
                None => change.undo(),
            }
        }
        self.changes.remove(from);
        self.order.retain(|path| path != from);
        true
    }
}

fn refused(observed: &Observed) -> Option<String> {
    let input = observed.data.get("input").unwrap_or(&Value::Null);
    let what = ["command", "file_path", "url", "pattern", "description", "plan"]
        .iter()
        .map(|name| text_of(input, name))
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let tool = observed.text("tool");
    if tool == "AskUserQuestion" && observed.text("by") == "user" {
        let questions = input.get("questions").and_then(Value::as_array).into_iter().flatten();
        let questions: Vec<&str> = questions.map(|question| text_of(question, "question")).collect();
        return Some(format!(
            "the user did not answer \"{}\"",
            sanitize::one_line(&questions.join(" "), 160)
        ));
    }
    let what = match tool {
        "Bash" => format!("`{}`", sanitize::one_line(what, 90)),
        "ExitPlanMode" => format!("the plan \"{}\"", plan_title(what).unwrap_or_default()),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => format!("an edit of {}", relative(observed, what)),
        _ => format!("{tool} {}", sanitize::one_line(what, 80)).trim().to_owned(),
    };
    let lesson = observed.text("lesson");
    let reason = observed.text("reason");
    let reason = if lesson.is_empty() { reason } else { what_goes_wrong(reason) };
    let reason = sanitize::one_line(reason, 110);
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Some(match observed.text("by") {
        "user" => format!("the user refused {what}{reason}"),
        "interrupt" => format!("the user interrupted {what}"),
        "rule" => format!("a permission rule refused {what}{reason}"),
        "loop" => format!("paused {what} after repeated failures"),
        by if !lesson.is_empty() => format!("{by} `{lesson}` refused {what}{reason}"),
        by => format!("{by} refused {what}{reason}"),
    })
}

/// Returns what a lesson says goes wrong, out of the text that it refused a call with: not that Wyren did, and not what to do.
fn what_goes_wrong(refusal: &str) -> &str {
    let said = match refusal.strip_prefix("Wyren ") {
        Some(ours) => ours.split_once("): ").map_or("", |(_, said)| said),
        None => refusal,
    };
    said.split_once(". ").map_or(said, |(sentence, _)| sentence).trim_end_matches('.')
}

/// Returns a path relative to the project's root, with `/`; absolute outside of it.
pub(super) fn relative(observed: &Observed, path: &str) -> String {
    let slashed = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let is_absolute = path.starts_with('/') || path.get(1..2) == Some(":");
    let whole = if is_absolute { Path::new(path).to_path_buf() } else { Path::new(&observed.cwd).join(path) };
    let whole = slashed(&whole).replace("/./", "/");
    let root = slashed(&observed.root);
    let inside = whole.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    inside.filter(|_| !root.is_empty()).unwrap_or(&whole).to_owned()
}

/// Returns whether a file is made by a program: its changes follow from others.
pub(super) fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_lock = matches!(
        name,
        "Cargo.lock"
            | "package-lock.json"
            | "yarn.lock"
            | "pnpm-lock.yaml"
            | "poetry.lock"
            | "Gemfile.lock"
            | "composer.lock"
            | "go.sum"
            | "uv.lock"
            | "bun.lockb"
            | "bun.lock"
            | "flake.lock"
            | "Pipfile.lock"
            | "mix.lock"
            | ".DS_Store"
    );
    let is_made = name.ends_with(".min.js")
        || name.ends_with(".min.css")
        || name.ends_with(".map")
        || name.ends_with(".snap")
        || name.ends_with(".pyc");
    let folders = ["node_modules", "target", "dist", "build", ".next", "__pycache__", "vendor", "coverage"];
    let is_inside = path.split('/').any(|part| part != name && folders.contains(&part));
    is_lock || is_made || is_inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_refusal_what_goes_wrong_is_kept() {
        let one = "Wyren paused this call once (lesson hard-reset): git reset --hard drops changes. Stash them. If it is right, run it again.";
        assert_eq!(what_goes_wrong(one), "git reset --hard drops changes");
        assert_eq!(what_goes_wrong("Wyren paused this call once (lessons a, b).\n\na: it fails."), "");
        assert_eq!(what_goes_wrong("pushes to main"), "pushes to main");
    }

    #[test]
    fn the_verb_in_a_tools_name_says_whether_it_writes() {
        for name in
            ["createIssue", "add_card_to_list", "API-post-page", "API-patch-and-update", "issue_write"]
        {
            assert!(is_writing(name), "{name}");
        }
        for name in [
            "get_merge_request",
            "API-post-search",
            "API-retrieve-a-comment",
            "list_archive",
            "getShareLink",
            "issue_read",
            "browse",
        ] {
            assert!(!is_writing(name), "{name}");
        }
    }
}
