//! From what happened to the sections of a handoff.

use crate::bounds::{Bounds, Screen};
use crate::budget::{
    CHANGED_FILES, COMMANDS, CREATED_FILES, DEAD_ENDS, DECISIONS, ERRORS, ID_LINE_CHARS, JUDGED,
    LAST_REPLY_CHARS, OUTPUT_CHARS, PROMPT_CHARS, PROMPTS, READ_FILES, RECENT_CALLS, REMARKS, REPLIES,
    REPLY_CHARS, SAID_CHARS, SERVER_CALLS, SHORT_REPLY_WORDS, TASKS, THREAD_BYTES,
};
use crate::remark::{self, Kind};
use crate::thread::{Call, Ending, Thread, Turn};
use distiller::{Action, Anchor, Mark, Message, Part, Role, clean_cut, machinery};
use handoff::{Draft, Name, OpenTask, Origin};
use std::collections::HashSet;
use text::sanitize;
use transcript::{Act, Conversation, Scope};

/// What the transcript does not know.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub session: String,
    /// How large the window is, in tokens.
    pub window: Option<u64>,
    pub tasks: Vec<OpenTask>,
    /// The last commits, `4be19a2 subject` each.
    pub commits: Vec<String>,
    /// The issues that are worked on, a line each.
    pub issues: Vec<String>,
    /// The issues that are ready to be worked on.
    pub ready: Vec<String>,
    /// Whether the whole conversation is kept, too.
    pub with_thread: bool,
}

/// Returns the handoff of what happened; one without sections when nothing did that may be kept.
pub fn draft(thread: &Thread, around: &Around, bounds: Bounds<'_>) -> Draft {
    let mut draft = Draft { origin: Origin::Compaction, tasks: around.tasks.clone(), ..Draft::default() };
    // Without a prompt it is not known whether the calls are private.
    if thread.turns.is_empty() {
        return draft;
    }
    let goal = thread.first.as_deref().or(thread.turns.first().map(|turn| turn.asked.as_str()));
    draft.title = sanitize::one_line(goal.unwrap_or_default(), 120);
    let mut add = |name: Name, lines: Vec<String>| draft.add(name.label(), &lines.join("\n"));
    add(Name::Summary, goals(thread, around));
    add(Name::CompletedWork, completed(thread));
    let remarks = remarks(thread);
    add(Name::Decisions, decisions(thread, &remarks));
    add(
        Name::DeadEnds,
        dead_ends(recent(&thread.calls)).into_iter().chain(told(&remarks, Kind::DeadEnd)).collect(),
    );
    add(Name::Pending, pending(thread, around));
    add(Name::Context, context(thread, around));
    add(Name::Plan, thread.plan.iter().cloned().collect());
    if around.with_thread {
        add(Name::Thread, spoken(thread, bounds));
    }
    draft
}

/// What was asked, word for word, and where.
fn goals(thread: &Thread, around: &Around) -> Vec<String> {
    let asked = thread.turns.iter().map(|turn| turn.asked.as_str());
    let mut asked: Vec<&str> = thread.first.as_deref().into_iter().chain(asked).collect();
    asked.dedup();
    let left_out = asked.len().saturating_sub(PROMPTS);
    let mut lines: Vec<String> = Vec::new();
    for (at, text) in asked.iter().enumerate() {
        // The first says what it is about, the last what is wanted now.
        let is_end = at == 0 || at + 1 == asked.len();
        if is_end || at > left_out && !remark::says_nothing(text) {
            let is_whole = at == 0 || at + 1 == asked.len();
            lines.push(format!("- Asked: {}", if is_whole { below(text) } else { short(text) }));
        }
    }
    if left_out > 0 {
        lines.insert(1, format!("- {left_out} prompts in between are left out."));
    }
    lines
        .extend(thread.waiting.iter().map(|text| format!("- Asked while the model worked: {}", below(text))));
    let mut place = format!("Session {}", around.session);
    if let Some(cwd) = &thread.cwd {
        place.push_str(&format!(" in {cwd}"));
    }
    if let Some(branch) = &thread.branch {
        place.push_str(&format!(" on {branch}"));
    }
    if let Some(tokens) = window(thread, around) {
        place.push_str(&format!("; {tokens}"));
    }
    lines.push(String::new());
    lines.push(format!("{place}."));
    lines
}

/// Returns how full the window is: `Context: ~144k / ~200k tokens (~72%)`.
pub fn window(thread: &Thread, around: &Around) -> Option<String> {
    let used = thread.usage?.context_tokens();
    let thousand = |tokens: u64| tokens.saturating_add(500) / 1_000;
    let all = around.window.filter(|all| *all > 0)?;
    let percent = used.saturating_mul(100) / all;
    Some(format!("Context: ~{}k / ~{}k tokens (~{percent}%)", thousand(used), thousand(all)))
}

fn completed(thread: &Thread) -> Vec<String> {
    // What the model said before it went on is no report, an acknowledgement neither; its last words count as such.
    let last_turn = thread.turns.last();
    let ends_with_words =
        |turn: &Turn| last_turn.is_some_and(|last| std::ptr::eq(last, turn)) && !turn.reply().contains('\n');
    let is_report =
        |turn: &&Turn| turn.is_over && !is_acknowledgement(turn.reply()) && !ends_with_words(turn);
    let told: Vec<&Turn> = thread.turns.iter().filter(is_report).collect();
    let from = told.len().saturating_sub(REPLIES);
    let mut lines: Vec<String> =
        told[from..].iter().map(|turn| format!("- {}", cut(&one_line(turn.reply()), REPLY_CHARS))).collect();
    let changes = || thread.calls.iter().filter(|call| changes_file(call) && call.ending == Ending::Done);
    for path in last(changes(), CHANGED_FILES) {
        let count = changes().filter(|call| call.about == path).count();
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        lines.push(format!("- Changed {path}{times}"));
    }
    // What a command made, as a migration: no call names it.
    let is_new = |path: &&String| !changes().any(|call| call.about.ends_with(path.as_str()));
    let created: Vec<&String> = thread.created.iter().filter(is_new).collect();
    let from = created.len().saturating_sub(CREATED_FILES);
    lines.extend(created[from..].iter().map(|path| format!("- Created {path}")));
    lines
}

/// Says whether a reply is so short that it says no more than that the prompt was understood.
fn is_acknowledgement(reply: &str) -> bool {
    let has_detail = reply.chars().any(|c| c.is_ascii_digit() || matches!(c, '`' | '/' | '_'));
    !has_detail && reply.split_whitespace().count() <= SHORT_REPLY_WORDS
}

/// What the model said between its calls and is worth keeping, the last of it.
fn remarks(thread: &Thread) -> Vec<(Kind, String)> {
    let last = thread.turns.len().saturating_sub(1);
    let between = thread.turns.iter().enumerate().flat_map(|(at, turn)| {
        // The end of a turn counts as what was done, or as the model's last words.
        let is_shown = turn.is_over || at == last;
        &turn.replies[..turn.replies.len().saturating_sub(usize::from(is_shown))]
    });
    let between: Vec<&String> = between.collect();
    let from = between.len().saturating_sub(JUDGED);
    let mut found: Vec<(Kind, String)> = Vec::new();
    for remark in between[from..].iter().flat_map(|said| remark::remarks(said)) {
        if !found.contains(&remark) {
            found.push(remark);
        }
    }
    let from = found.len().saturating_sub(REMARKS);
    found.split_off(from)
}

fn told(remarks: &[(Kind, String)], wanted: Kind) -> impl Iterator<Item = String> + '_ {
    remarks.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, text)| format!("- {text}"))
}

fn changes_file(call: &Call) -> bool {
    matches!(call.tool.as_str(), "Edit" | "MultiEdit" | "Write" | "NotebookEdit")
}

/// What was decided: what the user answered, and what people and the model said, by the rules of distillation; and what the
/// model found out and chose between its calls.
fn decisions(thread: &Thread, remarks: &[(Kind, String)]) -> Vec<String> {
    let said = thread.turns.iter().flat_map(|turn| {
        let replies = turn.replies.iter().map(|reply| (Role::Assistant, reply));
        std::iter::once((Role::User, &turn.asked)).chain(replies)
    });
    let said: Vec<(Role, &String)> = said.collect();
    let from = said.len().saturating_sub(JUDGED);
    // The prompt that opens a session says what is wanted; a later one decides more often.
    let first = if thread.first.is_some() || from > 0 { 2 } else { 1 };
    let message = |(number, (role, text)): (u64, &(Role, &String))| Message {
        number,
        role: *role,
        parts: vec![Part::Said((*text).clone())],
    };
    let messages = (first..).zip(&said[from..]).map(message).collect();
    let slice = distiller::Slice {
        session: String::new(),
        messages,
        left_out: 0,
        has_more: false,
        bad_lines: 0,
        anchor: Anchor::Start,
        next: Mark::default(),
        prompt_id: None,
        ended_at: None,
    };
    let found = distiller::extract(&slice).into_iter().filter_map(|operation| match operation.action {
        Action::Add { text } => Some(format!("- {}", one_line(&text))),
        _ => None,
    });
    let is_shown = |line: &String| {
        let text = line.trim_start_matches("- ").to_lowercase();
        remarks.iter().any(|(_, remark)| remark.to_lowercase().contains(&text))
    };
    let found: Vec<String> = found.filter(|line| !is_shown(line)).collect();
    let from = found.len().saturating_sub(DECISIONS);
    let answers = thread.answers.iter().map(|answer| format!("- {}", one_line(answer)));
    answers.chain(found[from..].to_vec()).chain(told(remarks, Kind::Finding)).collect()
}

/// Returns the calls that are looked through for what failed: the last ones.
fn recent(calls: &[Call]) -> &[Call] {
    &calls[calls.len().saturating_sub(RECENT_CALLS)..]
}

/// What failed or was refused, and what became of it: one line for each command or file. A look that found nothing is none.
fn dead_ends(calls: &[Call]) -> Vec<String> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    let is_refused = |call: &Call| matches!(call.ending, Ending::Refused(_));
    let is_failed = |call: &Call| matches!(call.ending, Ending::Failed(_)) && !call.line().is_look;
    for call in calls.iter().filter(|call| is_failed(call) || is_refused(call)).rev() {
        let key = call.key();
        if told.len() < DEAD_ENDS && !told.contains(&key) {
            told.push(key);
        }
    }
    told.into_iter().rev().map(|key| dead_end(calls, key)).collect()
}

fn dead_end(calls: &[Call], key: (&str, &str)) -> String {
    let same: Vec<(usize, &Call)> = calls.iter().enumerate().filter(|(_, call)| call.key() == key).collect();
    let same = || same.iter().copied();
    let mut errors: Vec<&String> = Vec::new();
    let (mut failures, mut refusals, mut last_failure) = (0, Vec::new(), 0);
    let mut shown = None;
    for (at, call) in same() {
        match &call.ending {
            Ending::Failed(lines) => {
                failures += 1;
                last_failure = at;
                shown = Some(call);
                errors.extend(lines);
            }
            Ending::Refused(comment) => {
                refusals.push(comment);
                shown = shown.or(Some(call));
            }
            _ => {}
        }
    }
    let Some(call) = shown else { return String::new() };
    let (tool, about) = (call.tool.as_str(), call.about.as_str());
    let mut unique: Vec<&String> = Vec::new();
    for error in errors {
        if !unique.contains(&error) && unique.len() < 2 * ERRORS {
            unique.push(error);
        }
    }
    let is_code = tool == "Bash" || call.is_of_server();
    let name = if is_code { code(about) } else { format!("{tool} {about}") };
    let mut line = format!("- {name}");
    if failures > 0 {
        let times = if failures == 1 { String::new() } else { format!(" {failures} times") };
        let errors: Vec<&str> = unique.into_iter().map(String::as_str).collect();
        line.push_str(&format!(" failed{times}: {}", errors.join(" | ")));
        if let Some((passed, _)) = same().find(|(at, call)| *at > last_failure && call.ending == Ending::Done)
        {
            let mut fixes: Vec<&str> = Vec::new();
            let first =
                same().find(|(_, call)| matches!(call.ending, Ending::Failed(_))).map_or(0, |(at, _)| at);
            for call in
                calls[first..passed].iter().filter(|call| changes_file(call) && call.ending == Ending::Done)
            {
                if !fixes.contains(&call.about.as_str()) {
                    fixes.push(&call.about);
                }
            }
            match fixes.as_slice() {
                [] => line.push_str("; it passed later"),
                fixes => line.push_str(&format!("; it passed after changes to {}", fixes.join(", "))),
            }
        }
    }
    for comment in refusals {
        let comment = if comment.is_empty() { String::new() } else { format!(": {}", short(comment)) };
        line.push_str(&format!(" was refused{comment}"));
    }
    line
}

/// What is open: tasks, the last call that failed, and where the session is.
fn pending(thread: &Thread, around: &Around) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for task in &around.tasks {
        lines.push(format!("- Task {} [{}] {}", task.id, task.status, task.subject));
    }
    lines.extend(around.issues.iter().map(|issue| format!("- Issue {issue}")));
    lines.extend(around.ready.iter().map(|issue| format!("- Ready: {issue}")));
    lines.extend(thread.waiting.iter().map(|text| format!("- Not begun: {}", short(text))));
    // What was refused did not run, and a look leaves nothing to go on with.
    let commands = || {
        recent(&thread.calls)
            .iter()
            .filter(|call| call.is_work() && !matches!(call.ending, Ending::Refused(_)))
    };
    let last = commands().next_back();
    if let Some(last) = last {
        let ended = match &last.ending {
            Ending::Done => "It passed.".to_owned(),
            Ending::Failed(_) => "It failed.".to_owned(),
            Ending::Stopped => "It was stopped.".to_owned(),
            Ending::Ran => {
                match thread.printed.as_ref().filter(|(at, _)| std::ptr::eq(&thread.calls[*at], last)) {
                    Some((_, line)) if !line.is_empty() => format!("It was run, and printed last: {line}"),
                    _ => "It was run.".to_owned(),
                }
            }
            Ending::Refused(_) | Ending::Unknown => "It had not ended.".to_owned(),
        };
        lines.push(format!("- Last command: {} {ended}", code(&last.about)));
    }
    let is_last = |call: &&Call| last.is_some_and(|last| std::ptr::eq(last, *call));
    let running = commands().filter(|call| call.task.is_some() && call.ending == Ending::Unknown);
    for call in running.filter(|call| !is_last(call)) {
        let task = call.task.as_deref().unwrap_or_default();
        lines.push(format!("- Runs in the background: {} ({task})", code(&call.about)));
    }
    // A command that failed last and never passed is what to try next. One that passed in another form has been tried.
    let (mut keys, mut names) = (HashSet::new(), HashSet::new());
    let mut open = None;
    for call in commands().rev() {
        let (is_new, name) = (keys.insert(call.key()), call.line().name.as_str());
        if is_new && matches!(call.ending, Ending::Failed(_)) && !names.contains(name) {
            open = Some(call);
            break;
        }
        if matches!(call.ending, Ending::Done | Ending::Ran) && !name.is_empty() {
            names.insert(name);
        }
    }
    if let Some(failing) = open.filter(|call| !is_last(call)) {
        lines.push(format!("- Did not pass: {}", code(&failing.about)));
    }
    if let Some(turn) = thread.turns.last() {
        if turn.is_interrupted {
            lines.push(format!("- The user stopped the model at: {}", short(&turn.asked)));
        } else if !turn.is_over {
            lines.push(format!("- Not finished: {}", short(&turn.asked)));
        }
        if !turn.reply().is_empty() {
            lines.push(String::new());
            lines.push(format!("The model's last words: {}", cut(turn.reply(), LAST_REPLY_CHARS)));
        }
    }
    lines
}

/// The exact commands, the files that were only read, ids, and the last commits.
fn context(thread: &Thread, around: &Around) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut block = |title: &str, found: Vec<String>| {
        if !found.is_empty() {
            lines.push(format!("### {title}\n"));
            lines.extend(found);
            lines.push(String::new());
        }
    };
    block(
        "Commands",
        commands(&thread.calls).into_iter().map(|command| format!("- {}", code(command))).collect(),
    );
    let of_servers = last(thread.calls.iter().filter(|call| call.is_of_server()), SERVER_CALLS);
    block("Calls of MCP tools", of_servers.iter().map(|call| format!("- {}", code(call))).collect());
    let is_done = |call: &&Call| call.ending == Ending::Done;
    let changed: HashSet<&str> = thread
        .calls
        .iter()
        .filter(is_done)
        .filter(|call| changes_file(call))
        .map(|call| &*call.about)
        .collect();
    let is_only_read = |call: &&Call| call.tool == "Read" && !changed.contains(&*call.about);
    let read = last(thread.calls.iter().filter(is_done).filter(is_only_read), READ_FILES);
    block("Files that were read", read.iter().map(|path| format!("- {path}")).collect());
    block("Ids", thread.marks.lines().into_iter().chain(tasks(&thread.calls)).collect());
    block("Last commits", around.commits.iter().map(|commit| format!("- {commit}")).collect());
    lines
}

/// Returns the last commands that did something, each once in its last form. One that was only refused is a dead end.
fn commands(calls: &[Call]) -> Vec<&str> {
    let mut known = HashSet::new();
    let is_shown = |call: &&Call| call.is_work() && !matches!(call.ending, Ending::Refused(_));
    let last = calls.iter().rev().filter(is_shown).filter(|call| known.insert(call.key()));
    let mut found: Vec<&str> = last.map(|call| call.about.as_str()).take(COMMANDS).collect();
    found.reverse();
    found
}

/// Returns what went on in the background, by the client's ids, and how it ended.
fn tasks(calls: &[Call]) -> Vec<String> {
    let line = |call: &Call| {
        let ended = match call.ending {
            Ending::Done => ", passed",
            Ending::Failed(_) => ", failed",
            Ending::Stopped => ", stopped",
            Ending::Ran => ", ended",
            Ending::Unknown | Ending::Refused(_) => "",
        };
        let about = sanitize::one_line(&call.about, ID_LINE_CHARS);
        call.task.as_ref().map(|task| format!("- {task}: in the background{ended}: {about}"))
    };
    let mut found: Vec<String> = calls.iter().rev().filter_map(line).take(TASKS).collect();
    found.reverse();
    found
}

/// Returns what the last calls are about, each once, in the order of the last time.
fn last<'t>(calls: impl DoubleEndedIterator<Item = &'t Call>, most: usize) -> Vec<&'t str> {
    let mut known = HashSet::new();
    let about = calls.rev().map(|call| call.about.as_str());
    let mut found: Vec<&str> = about.filter(|about| known.insert(*about)).take(most).collect();
    found.reverse();
    found
}

/// Returns the whole conversation, for those who asked for it.
pub fn spoken(thread: &Thread, bounds: Bounds<'_>) -> Vec<String> {
    let Some(slice) = &thread.slice else { return Vec::new() };
    let mut conversation = Conversation::new(Scope::Main);
    let mut screen = Screen::new(bounds, thread.begins_hidden);
    let mut lines: Vec<String> = Vec::new();
    for record in slice.records() {
        for step in conversation.steps(&record) {
            if !screen.admits(&record, &step.act) {
                continue;
            }
            let line = match &step.act {
                Act::Prompt { text, .. } => format!("**User:** {}", clean_cut(text, SAID_CHARS)),
                Act::Command { name, arguments, .. } if !machinery::is_our_command(name) => {
                    format!("**User:** {}", clean_cut(&format!("{name} {arguments}"), SAID_CHARS))
                }
                Act::Reply(text) => format!("**Claude:** {}", clean_cut(text, SAID_CHARS)),
                Act::ToolUse { name, input, .. } => {
                    format!("**{name}:** {}", clean_cut(input.unwrap_or("{}"), OUTPUT_CHARS))
                }
                Act::ToolResult { is_error, output, .. } => {
                    let word = if *is_error { "Error" } else { "Result" };
                    format!("**{word}:** {}", clean_cut(output, OUTPUT_CHARS))
                }
                _ => continue,
            };
            lines.push(line);
            lines.push(String::new());
        }
    }
    // The end is what goes on.
    let mut bytes = 0;
    let kept = lines.iter().rev().take_while(|line| {
        bytes += line.len() + 1;
        bytes <= THREAD_BYTES
    });
    let from = lines.len() - kept.count();
    lines.drain(..from);
    lines
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a prompt, on one line.
fn short(text: &str) -> String {
    cut(&one_line(text), PROMPT_CHARS)
}

/// Returns a text word for word, with its further lines below an item of a list.
fn below(text: &str) -> String {
    let mut lines = text.lines().map(str::trim_end);
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| if line.is_empty() { text + "\n" } else { text + "\n  " + line })
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a command as code, exactly as it was run.
fn code(command: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for character in command.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let pad = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    if command.contains('\n') {
        let fence = "`".repeat((longest + 1).max(3));
        let body = command.replace('\n', "\n  ");
        return format!("\n  {fence}sh\n  {body}\n  {fence}\n ");
    }
    format!("{fence}{pad}{command}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_exactly() {
        assert_eq!(code("ls -l"), "`ls -l`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
        assert_eq!(code("cat <<E\na\nE"), "\n  ```sh\n  cat <<E\n  a\n  E\n  ```\n ");
    }

    #[test]
    fn a_failure_says_what_made_it_pass() {
        let call = |tool: &str, about: &str, ending| Call::new(tool, about.to_owned(), ending);
        let failed = |line: &str| Ending::Failed(vec![line.to_owned()]);
        let calls = [
            call("Bash", "make", failed("error: a")),
            call("Edit", "/p/a.c", Ending::Done),
            call("Bash", "make", failed("error: b")),
            call("Edit", "/p/b.c", Ending::Failed(vec!["String to replace not found".to_owned()])),
            call("Bash", "make", Ending::Done),
            call("Bash", "rm -r x", Ending::Refused("keep it".to_owned())),
        ];
        assert_eq!(
            dead_ends(&calls),
            [
                "- `make` failed 2 times: error: a | error: b; it passed after changes to /p/a.c",
                "- Edit /p/b.c failed: String to replace not found",
                "- `rm -r x` was refused: keep it",
            ]
        );
    }
}
