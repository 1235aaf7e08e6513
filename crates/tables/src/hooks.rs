//! The hooks, and everything that is generated from their table.

use crate::GUARDS;
use crate::document::{Mode, table};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// One hook: a program in `bins/`, wired to one event or more.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// The name of the program.
    pub name: &'a str,
    /// Names in [`EVENTS`].
    pub events: &'a [&'a str],
    /// The tools it runs for, as a regular expression; `None`: every one.
    pub matcher: Option<&'a str>,
    /// After this many seconds the client ends it.
    pub timeout: u64,
    /// What it may cost and link.
    pub weight: Weight,
    /// What it answers when it has nothing to say.
    pub silence: Silence,
    /// What it does, for a table: one line of Markdown.
    pub job: &'a str,
}

/// What a hook may cost and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Runs so often that it must finish before `/bin/true` does.
    Hot,
    /// Links nothing of `crates/cold`, but may take longer than `/bin/true`.
    Light,
    /// May link `crates/cold`.
    Heavy,
}

/// What a hook answers when it has nothing to say; the variants are those of `hook::Silence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing at all.
    Empty,
    /// An empty object.
    EmptyObject,
    /// An object that lets the client go on.
    Continue,
}

impl Silence {
    /// Returns what the hook prints, without the end of the line.
    pub fn text(self) -> &'static str {
        match self {
            Self::Empty => "",
            Self::EmptyObject => "{}",
            Self::Continue => r#"{"continue":true,"suppressOutput":true}"#,
        }
    }
}

/// An event of the client that `crates/hot/hook` has a type of the same name for.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The client's name for it.
    pub name: &'static str,
    /// Which clients know it.
    pub since: Since,
    /// Whether it happens with every prompt or tool call.
    pub is_frequent: bool,
    /// A recorded payload in `tests/data/payloads`, without the ending.
    pub payload: &'static str,
}

/// The first client that knows an event. One unknown name disables its whole file, so each has a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Every client with plugins.
    Plugins,
    /// 2.1.0.
    V2_1_0,
    /// 2.1.78.
    V2_1_78,
}

impl Since {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::Plugins, Self::V2_1_0, Self::V2_1_78];

    /// Returns the file in `hooks/` that wires such events.
    pub fn file(self) -> &'static str {
        match self {
            Self::Plugins => "hooks.json",
            Self::V2_1_0 => "extra.json",
            Self::V2_1_78 => "later.json",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Plugins => {
                "Wyren: a memory that a whole team shares. Each hook is one small native program in bin/."
            }
            Self::V2_1_0 => {
                "Wyren: events that clients before 2.1.0 do not know. An unknown name disables its whole file, so they have one of their own."
            }
            Self::V2_1_78 => {
                "Wyren: events that clients before 2.1.78 do not know. An unknown name disables its whole file, so they have one of their own."
            }
        }
    }
}

/// The events that a hook can be wired to, in the order of a session.
pub const EVENTS: [Event; 13] = [
    Event {
        name: "SessionStart",
        since: Since::Plugins,
        is_frequent: false,
        payload: "SessionStart.startup",
    },
    Event { name: "UserPromptSubmit", since: Since::Plugins, is_frequent: true, payload: "UserPromptSubmit" },
    Event { name: "PreToolUse", since: Since::Plugins, is_frequent: true, payload: "PreToolUse.Bash" },
    Event {
        name: "PermissionRequest",
        since: Since::V2_1_0,
        is_frequent: false,
        payload: "PermissionRequest.Bash",
    },
    Event { name: "PostToolUse", since: Since::Plugins, is_frequent: true, payload: "PostToolUse.Bash" },
    Event {
        name: "PostToolUseFailure",
        since: Since::V2_1_0,
        is_frequent: true,
        payload: "PostToolUseFailure.Bash",
    },
    Event {
        name: "Notification",
        since: Since::Plugins,
        is_frequent: false,
        payload: "Notification.permission_prompt",
    },
    Event { name: "SubagentStart", since: Since::V2_1_0, is_frequent: false, payload: "SubagentStart" },
    Event { name: "SubagentStop", since: Since::Plugins, is_frequent: false, payload: "SubagentStop" },
    Event { name: "Stop", since: Since::Plugins, is_frequent: true, payload: "Stop" },
    Event { name: "StopFailure", since: Since::V2_1_78, is_frequent: false, payload: "StopFailure" },
    Event { name: "PreCompact", since: Since::Plugins, is_frequent: false, payload: "PreCompact.auto" },
    Event { name: "SessionEnd", since: Since::Plugins, is_frequent: false, payload: "SessionEnd.other" },
];

/// The hooks that may be [`Weight::Heavy`], built or not. Adding a name here is a decision of the design.
pub const MAY_BE_HEAVY: [&str; 1] = ["session-start-recall"];

/// How long a matcher may be to stay on one line of the table, in bytes.
const SHORT_MATCHER: usize = 80;

/// Every hook. `cargo xtask new-hook` adds a row at the end.
pub const HOOKS: &[Hook] = &[
    Hook {
        name: "session-start-reset",
        events: &["SessionStart"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "lets texts be shown again that the window no longer holds: all after startup and `/clear`, some after compaction, none on resume",
    },
    Hook {
        name: "session-start-lessons",
        events: &["SessionStart"],
        matcher: None,
        timeout: 5,
        weight: Weight::Light,
        silence: Silence::Empty,
        job: "shows the directives that are about this project and asks for lessons, once per window; nothing in `claude -p`",
    },
    Hook {
        name: "session-start-memory",
        events: &["SessionStart"],
        matcher: None,
        timeout: 4,
        weight: Weight::Light,
        silence: Silence::Empty,
        job: "records the session's start; fetches for 1.5 s at most, then shows the team's memory and broadcasts, on resume only what changed",
    },
    Hook {
        name: "prompt-sync",
        events: &["UserPromptSubmit"],
        matcher: None,
        timeout: 3,
        weight: Weight::Light,
        silence: Silence::Empty,
        job: "shows what the team changed since the last prompt; with `recall.prompts`, journal entries about what the prompt names; fetches in the background",
    },
    Hook {
        name: "prompt-record",
        events: &["UserPromptSubmit"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Continue,
        job: "records the prompt, without private text and secrets",
    },
    Hook {
        name: "lesson-inject",
        events: &["PreToolUse"],
        matcher: Some(
            "^(Bash|Read|Edit|Write|MultiEdit|NotebookEdit|Glob|Grep|WebFetch|WebSearch|Agent|Task|ExitPlanMode)$|^mcp__",
        ),
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::EmptyObject,
        job: "shows the lessons about this call; a pause refuses it once, a guard every time; pauses a call that keeps failing",
    },
    Hook {
        name: "tool-record",
        events: &["PostToolUse", "PostToolUseFailure"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Continue,
        job: "records the call with its result or error",
    },
    Hook {
        name: "subagent-start-lessons",
        events: &["SubagentStart"],
        matcher: None,
        timeout: 5,
        weight: Weight::Light,
        silence: Silence::Empty,
        job: "shows a subagent the team's memory and your directives, in 2,000 characters at most",
    },
    Hook {
        name: "stop-distill",
        events: &["Stop"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "counts the turn; every few turns, queues a distillation; starts the worker when something waits, else fetches in the background",
    },
    Hook {
        name: "session-end",
        events: &["SessionEnd"],
        matcher: None,
        timeout: 5,
        weight: Weight::Light,
        silence: Silence::Continue,
        job: "records the session's end; queues the distillation of the remaining turns; starts the worker when something waits",
    },
    Hook {
        name: "prompt-bind",
        events: &["UserPromptSubmit"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "answers `/wyren:status` and the other commands of Wyren without a model; binds the session to a context, and answers `^`",
    },
    Hook {
        name: "context-monitor",
        events: &["PostToolUse"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "warns the model when 30, 20 and 10 % of the window are left, once each; repeats the directives when 30, 52 and 70 % are used; else shows what the team changed during the turn, once per turn",
    },
    Hook {
        name: "stop-summary",
        events: &["Stop", "StopFailure"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "records how the turn ended and the model's last message",
    },
    Hook {
        name: "file-recall",
        events: &["PreToolUse"],
        matcher: Some("^Read$"),
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "shows what was done and learned in this file before, once per file and window",
    },
    Hook {
        name: "session-start-recall",
        events: &["SessionStart"],
        matcher: None,
        timeout: 5,
        weight: Weight::Heavy,
        silence: Silence::Empty,
        job: "shows the accepted plan and the open tasks after `/clear` and compaction, and an index of earlier work in the project: what is recent and what the branch, changed files and open tasks are about; nothing on resume",
    },
    Hook {
        name: "plan-archive",
        events: &["PreToolUse", "PostToolUse"],
        matcher: Some("^ExitPlanMode$"),
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "keeps every plan that the model shows, and which ones the user accepts",
    },
    Hook {
        name: "task-record",
        events: &["PostToolUse"],
        matcher: Some("^(TaskCreate|TaskUpdate|TodoWrite)$"),
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "mirrors the client's task list, so that open tasks come back after `/clear`",
    },
    Hook {
        name: "session-start-scan",
        events: &["SessionStart"],
        matcher: None,
        timeout: 5,
        weight: Weight::Hot,
        silence: Silence::Empty,
        job: "queues a scan for lessons at startup, when the last one is older than `lessons.scan_interval_hours`",
    },
    Hook {
        name: "precompact-handoff",
        events: &["PreCompact"],
        matcher: None,
        timeout: 60,
        weight: Weight::Light,
        silence: Silence::Empty,
        job: "saves what the window holds before it is compacted: goal, decisions, commands, paths, ids, dead ends and open tasks; queues a distillation",
    },
];

/// Returns the hook of this name.
pub fn find(name: &str) -> Option<&'static Hook<'static>> {
    HOOKS.iter().find(|hook| hook.name == name)
}

/// Returns the event of this name.
pub fn event(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.name == name)
}

/// Compares everything that is generated from the table of hooks, below the root of a checkout, or writes it.
pub fn settle(mode: Mode, root: &Path, hooks: &[Hook]) -> io::Result<()> {
    for since in Since::ALL {
        mode.file(&root.join("hooks").join(since.file()), &wiring(since, hooks))?;
    }
    mode.block(&root.join("README.md"), "hooks", &jobs(hooks))?;
    mode.block(&root.join("ARCHITECTURE.md"), "hooks", &programs(hooks))?;
    mode.block(&root.join("docs/cli.md"), "hooks", &silences(hooks))?;
    mode.block(&root.join("docs/guides/wiring.md"), "wiring", &by_hand(hooks))?;
    mode.block(&root.join("docs/cli.md"), "guards", &GUARDS.map(|guard| format!("`{guard}`")).join(", "))
}

/// Returns a file of `hooks/`: the events of some clients.
fn wiring(since: Since, hooks: &[Hook]) -> String {
    let events = EVENTS.iter().filter(|event| event.since == since);
    let events: Vec<String> = events.filter_map(|event| wired_to(event, hooks)).collect();
    let description = since.description();
    let (start, end) =
        (format!("{{\n  \"description\": \"{description}\",\n  \"hooks\": {{\n"), "\n  }\n}\n");
    start + &events.join(",\n") + end
}

/// Returns what a person writes into a `settings.json` instead of installing the plugin.
fn by_hand(hooks: &[Hook]) -> String {
    let events: Vec<String> = EVENTS.iter().filter_map(|event| wired_to(event, hooks)).collect();
    let events = events.join(",\n").replace("${CLAUDE_PLUGIN_ROOT}", "/path/to/wyren");
    format!("```json\n{{\n  \"hooks\": {{\n{events}\n  }}\n}}\n```")
}

fn wired_to(event: &Event, hooks: &[Hook]) -> Option<String> {
    let mut groups: Vec<(Option<&str>, Vec<String>)> = Vec::new();
    for hook in hooks.iter().filter(|hook| hook.events.contains(&event.name)) {
        let (name, timeout) = (hook.name, hook.timeout);
        let line = format!(
            r#"          {{ "type": "command", "command": "${{CLAUDE_PLUGIN_ROOT}}/bin/{name}", "args": [], "timeout": {timeout} }}"#
        );
        match groups.iter_mut().find(|(matcher, _)| *matcher == hook.matcher) {
            Some((_, lines)) => lines.push(line),
            None => groups.push((hook.matcher, vec![line])),
        }
    }
    let groups: Vec<String> = groups
        .into_iter()
        .map(|(matcher, lines)| {
            let matcher = matcher.map(|matcher| format!("        \"matcher\": \"{}\",\n", escaped(matcher)));
            let lines = lines.join(",\n");
            format!(
                "      {{\n{}        \"hooks\": [\n{lines}\n        ]\n      }}",
                matcher.unwrap_or_default()
            )
        })
        .collect();
    (!groups.is_empty()).then(|| format!("    \"{}\": [\n{}\n    ]", event.name, groups.join(",\n")))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the hooks in the order of a session.
fn in_order<'a>(hooks: &'a [Hook<'a>]) -> Vec<&'a Hook<'a>> {
    let mut hooks: Vec<&Hook> = hooks.iter().collect();
    hooks.sort_by_key(|hook| EVENTS.iter().position(|event| hook.events.first() == Some(&event.name)));
    hooks
}

fn jobs(hooks: &[Hook]) -> String {
    let row = |hook: &Hook| vec![hook.events.join(", "), format!("`{}`", hook.name), hook.job.to_owned()];
    table(&["event", "hook", "what it does"], in_order(hooks).into_iter().map(row))
}

fn programs(hooks: &[Hook]) -> String {
    let row = |hook: &Hook| {
        let weight = match hook.weight {
            Weight::Hot => "hot",
            Weight::Light => "light",
            Weight::Heavy => "heavy",
        };
        let (name, timeout) = (format!("`{}`", hook.name), format!("{} s", hook.timeout));
        vec![hook.events.join(", "), name, hook.job.to_owned(), weight.to_owned(), timeout]
    };
    table(&["event", "program", "job", "weight", "time-out"], in_order(hooks).into_iter().map(row))
}

fn silences(hooks: &[Hook]) -> String {
    let hooks = in_order(hooks);
    let row = |silence: Silence| {
        let names: Vec<String> = hooks
            .iter()
            .filter(|hook| hook.silence == silence)
            .map(|hook| format!("`{}`", hook.name))
            .collect();
        let text =
            if silence.text().is_empty() { "nothing".to_owned() } else { format!("`{}`", silence.text()) };
        vec![names.join(", "), text]
    };
    let silences = [Silence::Empty, Silence::EmptyObject, Silence::Continue];
    table(&["hook", "silent answer"], silences.map(row))
}

impl Hook<'_> {
    /// Returns the row as it is written in the source of [`HOOKS`].
    pub fn source(&self) -> String {
        let Self { name, events, matcher, timeout, weight, silence, job } = self;
        let mut row = format!("    Hook {{\n        name: {name:?},\n        events: &{events:?},\n");
        let matcher = match matcher {
            None => "None".to_owned(),
            // As rustfmt breaks it.
            Some(matcher) if matcher.len() <= SHORT_MATCHER => format!("Some({matcher:?})"),
            Some(matcher) => format!("Some(\n            {matcher:?},\n        )"),
        };
        let _ = writeln!(row, "        matcher: {matcher},\n        timeout: {timeout},");
        let _ = writeln!(row, "        weight: Weight::{weight:?},\n        silence: Silence::{silence:?},");
        let _ = writeln!(row, "        job: {job:?},\n    }},");
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn wiring_and_documents_are_those_of_the_table() {
        settle(Mode::Check, root(), HOOKS).unwrap();
    }

    #[test]
    fn a_changed_row_shows_in_every_file() {
        let mut hooks = HOOKS.to_vec();
        hooks[0].timeout += 1;
        assert!(settle(Mode::Check, root(), &hooks).unwrap_err().to_string().contains("hooks.json"));
        for change in [jobs, programs, silences] {
            let before = change(&hooks);
            let mut changed = hooks.clone();
            changed[0].name = "another-name";
            assert_ne!(change(&changed), before);
        }
    }

    #[test]
    fn the_source_of_the_table_is_made_of_rows_as_new_hook_writes_them() {
        for hook in HOOKS {
            assert!(include_str!("hooks.rs").contains(&hook.source()), "{}", hook.source());
        }
    }

    #[test]
    fn every_row_is_consistent() {
        for (index, hook) in HOOKS.iter().enumerate() {
            assert!(HOOKS[..index].iter().all(|other| other.name != hook.name), "{} twice", hook.name);
            assert!(!hook.events.is_empty() && hook.events.iter().all(|name| event(name).is_some()));
            assert!(hook.weight != Weight::Heavy || MAY_BE_HEAVY.contains(&hook.name), "{}", hook.name);
            assert!(!hook.name.starts_with("wyren"), "{}: taken for a program", hook.name);
        }
    }

    #[test]
    fn hooks_with_different_matchers_get_groups_of_their_own() {
        let hook = |name, matcher| Hook { name, matcher, events: &["Stop"], ..HOOKS[0] };
        let hooks = [hook("a", None), hook("b", Some(r"\d")), hook("c", None)];
        let json = wiring(Since::Plugins, &hooks);
        assert_eq!(json.matches("\"hooks\": [").count(), 2, "{json}");
        assert!(json.contains(r#""matcher": "\\d","#), "{json}");
        assert!(json.find("bin/c").unwrap() < json.find("bin/b").unwrap(), "{json}");
    }
}
