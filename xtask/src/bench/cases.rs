//! Which runs of each program are measured. A new hook, or a new way that a hook can go, is a row in [`CASES`].

use recall::{Contents, Entry};
use serde_json::{Value, json};

/// Returns the text of a payload that the real client sent.
macro_rules! payload {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/payloads/", $name, ".json"))
    };
}

/// One way to run a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// What the table calls this run.
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// What the program reads.
    pub(crate) payload: Payload,
    pub(crate) answer: Answer,
    /// Whether the program only parses its input and stays silent, so that the budgets of a silent hook hold.
    pub(crate) only_parses: bool,
    /// Whether each run is the first in its window to show something.
    pub(crate) is_first: bool,
    /// What it finds around it.
    pub(crate) surroundings: Surroundings,
}

/// What a program finds around it, besides its own empty folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// Nothing.
    Empty,
    /// This many lessons, two of which are about `make release`.
    Lessons(usize),
    /// A repository with a team memory, whose remote was looked at a moment ago.
    Team,
    /// The same, but hooks do not look at the remote.
    TeamWithoutPull,
    /// A transcript of about this many bytes, from a client that does not send the model's last message.
    Transcript(usize),
    /// The same, with a last line of this many bytes.
    LongLine(usize),
    /// A repository with a cache of what the journal tells about this many files, `src/part-0/file-0.rs` among them.
    FileCache(usize),
    /// A repository with this many files in git's index.
    GitIndex(usize),
    /// A repository that the status line has in its cache.
    KnownProject,
    /// A repository with a journal of this many entries.
    Journal(usize),
    /// The same with a search index of them.
    Index(usize),
    /// A context that the session is bound to.
    Context,
    /// A scan for lessons that ended just now.
    Scanned,
}

impl Case {
    /// Returns a run without arguments, of which nothing more is known.
    pub(crate) const fn plain(name: &'static str, payload: &'static str) -> Self {
        Self {
            name,
            arguments: &[],
            payload: Payload::Text(payload),
            answer: Answer::Any,
            only_parses: false,
            is_first: false,
            surroundings: Surroundings::Empty,
        }
    }

    const fn silent(self) -> Self {
        Self { answer: Answer::Silent, ..self }
    }

    const fn speaking(self) -> Self {
        Self { answer: Answer::Text, ..self }
    }

    const fn only_parsing(self) -> Self {
        Self { only_parses: true, ..self.silent() }
    }

    const fn first_in_its_window(self) -> Self {
        Self { is_first: true, ..self }
    }

    const fn reading(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    const fn among(self, lessons: usize) -> Self {
        Self { surroundings: Surroundings::Lessons(lessons), ..self }
    }

    const fn with_files(self, files: usize) -> Self {
        Self { surroundings: Surroundings::FileCache(files), ..self }
    }

    const fn in_a_team(self) -> Self {
        Self { surroundings: Surroundings::Team, ..self }
    }

    const fn in_a_team_without_pull(self) -> Self {
        Self { surroundings: Surroundings::TeamWithoutPull, ..self }
    }

    const fn after(self, transcript: usize) -> Self {
        Self { surroundings: Surroundings::Transcript(transcript), ..self }
    }

    const fn after_a_line(self, bytes: usize) -> Self {
        Self { surroundings: Surroundings::LongLine(bytes), ..self }
    }

    const fn known(self) -> Self {
        Self { surroundings: Surroundings::KnownProject, ..self }
    }

    const fn indexing(self, files: usize) -> Self {
        Self { surroundings: Surroundings::GitIndex(files), ..self }
    }

    const fn recalling(self, entries: usize) -> Self {
        Self { surroundings: Surroundings::Journal(entries), ..self }
    }

    const fn bound(self) -> Self {
        Self { surroundings: Surroundings::Context, ..self }
    }

    const fn searching(self, entries: usize) -> Self {
        Self { surroundings: Surroundings::Index(entries), ..self }
    }

    const fn scanned(self) -> Self {
        Self { surroundings: Surroundings::Scanned, ..self }
    }

    const fn with(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }
}

/// What a program reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload {
    /// A text.
    Text(&'static str),
    /// A `PostToolUse` of a shell whose output has this many bytes.
    Output(usize),
    /// A `Stop` whose last message has this many bytes.
    Message(usize),
    /// A `PreToolUse` that writes a file of this many bytes.
    Write(usize),
    /// A `PreToolUse` of a shell with a script of this many bytes.
    Script(usize),
}

impl Payload {
    /// Returns the text.
    pub(crate) fn text(self) -> String {
        let filled =
            |bytes: usize| "let total = items.iter().map(Item::price).sum();\n".repeat(bytes / 49 + 1);
        match self {
            Self::Text(text) => text.to_owned(),
            Self::Output(bytes) => {
                let mut event: Value = serde_json::from_str(payload!("PostToolUse.Bash")).unwrap_or_default();
                event["tool_response"]["stdout"] = filled(bytes).into();
                event.to_string()
            }
            Self::Message(bytes) => {
                let mut event: Value = serde_json::from_str(payload!("Stop")).unwrap_or_default();
                event["last_assistant_message"] = filled(bytes).into();
                event.to_string()
            }
            Self::Write(bytes) => {
                let mut event: Value = serde_json::from_str(payload!("PreToolUse.Write")).unwrap_or_default();
                event["tool_input"]["content"] = filled(bytes).into();
                event.to_string()
            }
            Self::Script(bytes) => {
                let mut event: Value = serde_json::from_str(payload!("PreToolUse.Bash")).unwrap_or_default();
                event["tool_input"]["command"] = script(bytes).into();
                event.to_string()
            }
        }
    }
}

/// Returns an ordinary shell script of about this many bytes: functions, loops, pipes, quotes, a here-document.
fn script(bytes: usize) -> String {
    const PART: &str = r#"# Build and check component @.
component_@() {
  local name="component-@" out="$BUILD_DIR/component-@"
  mkdir -p "$out" && cd "src/$name" || return 1
  if [[ -f package.json ]]; then
    npm ci --silent 2>&1 | tee "$out/install.log" | tail -n 5
  elif [ -f Cargo.toml ]; then
    cargo build --release --manifest-path "$PWD/Cargo.toml" >"$out/build.log" 2>&1
  fi
  for file in "$out"/*.log; do
    grep -n -i 'error\|warning' "$file" | sort | uniq -c | head -n 20 || true
  done
  version=$(git describe --tags --always | sed 's/^v//')
  cat >"$out/summary.txt" <<SUMMARY
component: $name
version: ${version:-unknown}
files: $(find . -type f -name '*.rs' | wc -l)
SUMMARY
  case "$1" in
    test) timeout 60 make test ARGS="--quick --jobs 2" ;;
    *) echo "component @: $(date -u +%FT%TZ) done" >>"$LOG" ;;
  esac
}
component_@ "${1:-build}" && printf '%s\n' "@ is ready" || exit 1

"#;
    let mut script = String::from("#!/usr/bin/env bash\nset -euo pipefail\n");
    for number in 0.. {
        if script.len() >= bytes {
            break;
        }
        script.push_str(&PART.replace('@', &number.to_string()));
    }
    script
}

/// What a program must print for the run to count: a hook that fails is quick, and must not pass for a fast one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing, or one of the answers that say nothing.
    Silent,
    /// Something to read.
    Text,
    /// Whatever it likes.
    Any,
}

impl Answer {
    /// Says whether what a program printed is such an answer.
    pub(crate) fn allows(self, printed: &str) -> bool {
        let silent = matches!(printed.trim(), "" | "{}" | r#"{"continue":true,"suppressOutput":true}"#);
        match self {
            Self::Silent => silent,
            Self::Text => !silent,
            Self::Any => true,
        }
    }
}

/// A call that no lesson is about, one that two are about (without a session, so that they are shown every time; and with one,
/// so that they are recorded), and a tool that is not recorded.
const MISS: &str = r#"{"session_id":"s","cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo build --release && ls -la target/release | head -n 20","description":"Build it and look at what came out"},"tool_use_id":"toolu_1"}"#;
const TWO_HITS: &str = r#"{"cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make release && ls -la target/release | head -n 20","description":"Build it and look at what came out"},"tool_use_id":"toolu_1"}"#;
const TWO_HITS_RECORDED: &str = r#"{"session_id":"s","cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make release && ls -la target/release | head -n 20","description":"Build it and look at what came out"},"tool_use_id":"toolu_1"}"#;
const SKIPPED: &str = r#"{"session_id":"s","cwd":"/home/dev/project","hook_event_name":"PostToolUse","tool_name":"TodoWrite","tool_input":{"todos":[{"content":"Measure","status":"in_progress"}]},"tool_response":{"ok":true},"tool_use_id":"toolu_1","duration_ms":3}"#;
/// A Read of a file that the journal knows nothing about, and one of a file that it does (without a session, so that it is
/// shown every time).
const READ_MISS: &str = r#"{"session_id":"s","cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"src/part-1/unknown.rs"},"tool_use_id":"toolu_1"}"#;
const READ_HIT: &str = r#"{"cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"src/part-0/file-0.rs"},"tool_use_id":"toolu_1"}"#;
/// The end of a session of which nothing is recorded: it has no id.
const END: &str = r#"{"cwd":"/home/dev/project","hook_event_name":"SessionEnd","reason":"other"}"#;
const KIB: usize = 1024;
const MIB: usize = 1024 * 1024;

/// What is measured of each program in `bin/`, in the order of the table.
const CASES: &[(&str, Case)] = &[
    ("lesson-inject", Case::plain("miss, 100", MISS).silent().among(100)),
    ("lesson-inject", Case::plain("miss, 10000", MISS).silent().among(10_000)),
    ("lesson-inject", Case::plain("2 hits, 10000", TWO_HITS).speaking().among(10_000)),
    (
        "lesson-inject",
        Case::plain("2 hits, recorded", TWO_HITS_RECORDED).speaking().among(10_000).first_in_its_window(),
    ),
    (
        "lesson-inject",
        Case::plain("55 KB script", "").reading(Payload::Script(55 * KIB)).silent().among(10_000),
    ),
    ("lesson-inject", Case::plain("1 MB Write", "").reading(Payload::Write(MIB)).silent().among(10_000)),
    ("file-recall", Case::plain("no journal", READ_MISS).silent()),
    ("file-recall", Case::plain("miss, 100", READ_MISS).silent().with_files(100)),
    ("file-recall", Case::plain("miss, 10000", READ_MISS).silent().with_files(10_000)),
    ("file-recall", Case::plain("hit, 10000", READ_HIT).speaking().with_files(10_000)),
    ("prompt-sync", Case::plain("no team", payload!("UserPromptSubmit")).silent()),
    ("prompt-sync", Case::plain("nothing new", payload!("UserPromptSubmit")).silent().in_a_team()),
    ("prompt-record", Case::plain("prompt", payload!("UserPromptSubmit")).silent()),
    ("session-start-lessons", Case::plain("resume", payload!("SessionStart.resume")).silent()),
    ("session-start-lessons", Case::plain("startup", payload!("SessionStart.startup")).speaking()),
    (
        "session-start-memory",
        Case::plain("no pull", payload!("SessionStart.startup")).speaking().in_a_team_without_pull(),
    ),
    ("session-start-recall", Case::plain("no history", payload!("SessionStart.startup")).silent()),
    (
        "session-start-recall",
        Case::plain("1000", payload!("SessionStart.startup")).speaking().recalling(1_000),
    ),
    (
        "session-start-recall",
        Case::plain("100000", payload!("SessionStart.startup")).speaking().recalling(100_000),
    ),
    ("session-start-reset", Case::plain("resume", payload!("SessionStart.resume")).silent()),
    ("session-start-reset", Case::plain("startup", payload!("SessionStart.startup")).silent()),
    ("subagent-start-lessons", Case::plain("no team", payload!("SubagentStart")).silent()),
    ("subagent-start-lessons", Case::plain("memory", payload!("SubagentStart")).speaking().in_a_team()),
    ("stop-distill", Case::plain("counting", payload!("Stop")).silent().in_a_team()),
    ("stop-summary", Case::plain("1 KB", "").reading(Payload::Message(KIB)).silent()),
    ("stop-summary", Case::plain("200 KB transcript", payload!("Stop")).silent().after(200 * KIB)),
    ("stop-summary", Case::plain("52 MB transcript", payload!("Stop")).silent().after(52 * MIB)),
    ("tool-record", Case::plain("1 KB", "").reading(Payload::Output(KIB)).silent()),
    ("tool-record", Case::plain("skipped", SKIPPED).silent()),
    ("prompt-bind", Case::plain("bound", payload!("UserPromptSubmit")).only_parsing().bound()),
    ("session-end", Case::plain("nothing to do", END).silent()),
    ("session-end", Case::plain("end", payload!("SessionEnd.other")).silent()),
    ("context-monitor", Case::plain("no news", payload!("PostToolUse.Bash")).silent()),
    ("plan-archive", Case::plain("shown", payload!("PreToolUse.ExitPlanMode")).silent()),
    ("plan-archive", Case::plain("accepted", payload!("PostToolUse.ExitPlanMode.accepted")).silent()),
    ("task-record", Case::plain("update", payload!("PostToolUse.TaskUpdate.addBlockedBy")).silent()),
    ("task-record", Case::plain("TodoWrite", payload!("PostToolUse.TodoWrite")).silent()),
    ("session-start-scan", Case::plain("not due", payload!("SessionStart.startup")).silent().scanned()),
    (
        "context-monitor",
        Case::plain("200 KB transcript", payload!("PostToolUse.Bash")).silent().after(200 * KIB),
    ),
    (
        "context-monitor",
        Case::plain("200 MB transcript", payload!("PostToolUse.Bash")).silent().after(200 * MIB),
    ),
    (
        "context-monitor",
        Case::plain("10 MB last line", payload!("PostToolUse.Bash")).silent().after_a_line(10 * MIB),
    ),
    ("wyren-mcp", Case::plain("initialize", INITIALIZE).speaking()),
    ("wyren-statusline", Case::plain("known project", payload!("statusline")).speaking().known()),
    (
        "wyren",
        Case::plain("file-suggest, 100000", r#"{"query":"file-4711"}"#)
            .with(&["file-suggest"])
            .speaking()
            .indexing(100_000),
    ),
    ("precompact-handoff", Case::plain("PreCompact", payload!("PreCompact.auto")).silent()),
    ("wyren", Case::plain("--version", "").with(&["--version"]).speaking()),
    (
        "wyren",
        Case::plain("search, 100000", "{}")
            .with(&["search", "step_4711", "checks", "input", "--all-projects"])
            .speaking()
            .searching(100_000),
    ),
];

/// What a client sends first; the server ends when nothing follows.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n"
);

/// What the yardsticks and the programs of `--against` find on their standard input.
pub(crate) const DEFAULT_PAYLOAD: &str = payload!("SessionStart.startup");

/// Returns what is measured of a program.
pub(crate) fn of(binary: &str) -> Vec<Case> {
    CASES.iter().filter(|(name, _)| *name == binary).map(|(_, case)| *case).collect()
}

/// Returns a manifest of `count` lessons in lessons-learned's form: most about one command, some about a text, and two
/// about `make release`.
pub(crate) fn manifest(count: usize) -> String {
    let lesson = |number: usize| {
        let expression = match number {
            0 => r"\bmake\s+release\b".to_owned(),
            1 => r"\bmake\b.*\brelease\b".to_owned(),
            _ if number.is_multiple_of(4) => format!(r"--flag{number}\s+value"),
            _ => format!(r"\btool{number}\s+run\b"),
        };
        let text = "What goes wrong, described in a sentence or two, as long as they usually are.";
        json!({
            "slug": format!("lesson-{number}"), "type": "hint", "priority": 5, "toolNames": ["Bash"],
            "commandRegexSources": [{"source": expression, "flags": ""}], "commandMatchTarget": "executable",
            "message": text, "summary": format!("Lesson {number}"), "problem": text, "solution": text,
        })
    };
    let lessons: serde_json::Map<String, Value> =
        (0..count).map(|number| (format!("{number:08}"), lesson(number))).collect();
    json!({"type": "lessons-learned-manifest", "version": 1, "lessons": lessons}).to_string()
}

/// Returns a journal that tells about `count` files: five entries each, each about five files.
pub(crate) fn journal(count: usize) -> Contents {
    let entry = |number: usize| Entry {
        session: format!("session-{}", number / 10),
        id: format!("{number:08}"),
        day: "2026-11-16".to_owned(),
        glyph: "✓".to_owned(),
        title: format!(
            "file-{number}.rs: `check_{number}` handles case {number} (+12 −3); cargo test failed, then passed"
        ),
    };
    let path = |number: usize| format!("src/part-{}/file-{number}.rs", number / 100);
    let about = |number: usize| (0..5).map(|step| ((number + step * 7) % count) as u32).collect();
    Contents {
        entries: (0..count).map(entry).collect(),
        files: (0..count).map(|number| (path(number), about(number))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;
    use std::fs;
    use tables::hooks;

    #[test]
    fn every_row_names_a_program_that_exists() {
        let binaries = crate::workspace::binaries().unwrap();
        for (binary, case) in CASES {
            assert!(binaries.iter().any(|name| name == binary), "{binary} {}", case.name);
        }
    }

    #[test]
    fn every_event_has_a_payload_of_its_own() {
        for event in hooks::EVENTS {
            let file = root().join(format!("tests/data/payloads/{}.json", event.payload));
            let payload: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            assert_eq!(payload["hook_event_name"], event.name);
        }
    }

    #[test]
    fn an_answer_that_says_nothing_is_silent() {
        assert!(Answer::Silent.allows(""));
        assert!(Answer::Silent.allows("{}\n"));
        assert!(!Answer::Silent.allows(r#"{"hookSpecificOutput":{}}"#));
        assert!(!Answer::Text.allows("{}"));
        assert!(Answer::Text.allows("wyren 0.1.0"));
    }
}
