//! When a window's end is near, and by which size.

use base::Env;
use hook::event::Source;
use hook::{Host, PostToolUse, SessionStart, Silence};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use window::Notes;
use window::notes::{Start, Told};

const MODEL: &str = "claude-opus-4-8";

/// A session with its transcript, home and project.
struct World {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let variables = vec![
            ("WYREN_DATA_DIR", path("data")),
            ("XDG_RUNTIME_DIR", path("run")),
            ("HOME", path("home")),
            ("CLAUDE_PROJECT_DIR", path("project")),
        ];
        for name in ["home/.claude", "project/.claude", "run", "t/subagents"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder, variables }
    }

    fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn host(&self) -> Host {
        Host::new("context-monitor", Env::fixed(self.variables.clone()))
    }

    /// Has the model use this many tokens in a window.
    fn use_tokens(&self, agent: Option<&str>, model: &str, tokens: u64) {
        let name = agent.map_or("t.jsonl".to_owned(), |agent| format!("t/subagents/agent-{agent}.jsonl"));
        let is_sidechain = agent.is_some();
        let mut line =
            format!(r#"{{"isSidechain":{is_sidechain},"message":{{"id":"m","model":"{model}","content":[],"#);
        writeln!(line, r#""usage":{{"input_tokens":{tokens}}}}},"type":"assistant"}}"#).unwrap();
        fs::write(self.path(&name), line).unwrap();
    }

    /// Ends a call; returns what the model reads.
    fn call(&self, agent: Option<&str>) -> String {
        let agent = agent.map(|agent| format!(r#""agent_id":"{agent}","#)).unwrap_or_default();
        let transcript = self.path("t.jsonl").display().to_string().replace('\\', "\\\\");
        let event =
            format!(r#"{{"session_id":"s",{agent}"transcript_path":"{transcript}","tool_name":"Bash"}}"#);
        let host = self.host();
        let body = |call: PostToolUse, host: &Host| {
            let last = window::last_usage(&call, host);
            Ok(window::warn(&call, host, last.as_ref()).unwrap_or(hook::Answer::silent()))
        };
        let response = hook::respond(event.leak().as_bytes(), &host, Silence::Empty, body);
        response.claims.into_iter().for_each(hook::Claim::confirm);
        String::from_utf8(response.stdout).unwrap()
    }

    /// Uses this many tokens in the main window; returns what the model reads.
    fn used(&self, tokens: u64) -> String {
        self.use_tokens(None, MODEL, tokens);
        self.call(None)
    }

    /// Starts the session as `session-start-reset` does.
    fn start(&self, source: &str, model: Option<&str>) {
        let model = model.map(|model| format!(r#","model":"{model}""#)).unwrap_or_default();
        let event = format!(r#"{{"session_id":"s","source":"{source}"{model}}}"#);
        let event: SessionStart = serde_json::from_slice(event.leak().as_bytes()).unwrap();
        let claims = self.host().claims(&event);
        match event.source() {
            Source::Startup | Source::Clear => claims.forget_all().unwrap(),
            Source::Compact => claims.forget_compacted().unwrap(),
            Source::Resume => {}
        }
        Notes::beside(&claims).begin(&event).unwrap();
    }

    fn notes(&self) -> Notes {
        let event: SessionStart = serde_json::from_str(r#"{"session_id":"s"}"#).unwrap();
        Notes::beside(&self.host().claims(&event))
    }

    fn tell(&self, size: u64, model: &str) {
        self.notes().tell(&Told { size, model: model.to_owned() }).unwrap();
    }
}

#[track_caller]
fn check(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
    assert!(said.chars().count() < 600, "{said}");
}

#[test]
fn each_threshold_is_shown_once_and_says_what_to_do() {
    let world = World::new();
    assert_eq!(world.used(139_000), "");
    check(
        &world.used(141_000),
        &["29% of the context window is left: 141k of 200k", "Finish the current step"],
    );
    assert_eq!(world.used(150_000), "");
    check(&world.used(160_000), &["20% of", "/wyren:handoff"]);
    assert_eq!(world.used(161_000), "");
    check(&world.used(185_000), &["7% of", "Stop here", "/compact"]);
    assert_eq!(world.used(199_000), "");
}

#[test]
fn the_most_urgent_threshold_alone_is_shown() {
    let world = World::new();
    check(&world.used(190_000), &["5% of", "Stop here"]);
    // A rewound conversation has more room than before.
    for tokens in [165_000, 145_000, 190_000] {
        assert_eq!(world.used(tokens), "", "{tokens}");
    }
}

#[test]
fn after_a_compaction_and_in_a_new_session_it_is_shown_again() {
    for source in ["compact", "clear", "startup"] {
        let world = World::new();
        check(&world.used(145_000), &["27% of"]);
        assert_eq!(world.used(145_000), "");
        world.start(source, None);
        check(&world.used(145_000), &["27% of"]);
    }
    let resumed = World::new();
    check(&resumed.used(145_000), &["27% of"]);
    resumed.start("resume", None);
    assert_eq!(resumed.used(145_000), "", "a continued session still has it");
}

#[test]
fn without_a_transcript_or_when_it_is_turned_off_the_hook_is_silent() {
    let world = World::new();
    assert_eq!(world.call(None), "");
    let off = World::new().with("WYREN_WINDOW_WARN", "false");
    assert_eq!(off.used(199_000), "");
}

#[test]
fn what_the_status_line_got_comes_first() {
    let world = World::new().with("ANTHROPIC_MODEL", "sonnet");
    world.start("startup", Some(MODEL));
    world.tell(1_000_000, "claude-opus-4-8[1m]");
    assert_eq!(world.used(600_000), "");
    check(&world.used(750_000), &["25% of", "750k of 1M", "(size: told by the client to the status line)"]);
    // A model of another maker may have less than an ordinary window.
    let small = World::new();
    small.tell(128_000, "local");
    check(&small.used(100_000), &["21% of", "100k of 128k"]);
}

#[test]
fn the_model_of_the_start_comes_second() {
    let world = World::new().with("ANTHROPIC_MODEL", "sonnet");
    world.start("startup", Some("claude-opus-4-8[1m]"));
    assert_eq!(world.used(180_000), "");
    check(&world.used(710_000), &["29% of", "by the model of the session's start, claude-opus-4-8[1m])"]);
    world.start("startup", Some(MODEL));
    check(&world.used(150_000), &["25% of", "by the model of the session's start, claude-opus-4-8)"]);
}

#[test]
fn after_a_change_of_the_model_the_size_is_the_new_ones() {
    let world = World::new().with("ANTHROPIC_MODEL", "opus[1m]");
    world.start("startup", Some("claude-opus-4-8[1m]"));
    let used = |model: &str, tokens| {
        world.use_tokens(None, model, tokens);
        world.call(None)
    };
    assert_eq!(used("claude-opus-4-8", 150_000), "");
    check(&used("claude-sonnet-4-5", 150_000), &["25% of", "150k of 200k", "assumed for claude-sonnet-4-5"]);
    let settings = world.path("home/.claude/settings.json");
    fs::write(&settings, r#"{"model":"sonnet[1m]"}"#).unwrap();
    assert_eq!(used("claude-sonnet-4-5", 185_000), "");
    fs::write(&settings, r#"{"model":"sonnet"}"#).unwrap();
    check(&used("claude-sonnet-4-5", 185_000), &["7% of", "by `model` in ~/.claude/settings.json"]);
    // Other names of the same model.
    for name in ["opus[1m]", "us.anthropic.claude-opus-4-8-v1:0[1m]", "claude-opus-4-8-20260101[1M]"] {
        let world = World::new();
        world.start("startup", Some(name));
        assert_eq!(world.used(190_000), "", "{name}");
    }
}

#[test]
fn a_continued_session_has_an_ordinary_window_and_forgets_what_came_before() {
    let world = World::new().with("ANTHROPIC_MODEL", "opus[1m]");
    world.tell(1_000_000, "claude-opus-4-8[1m]");
    assert_eq!(world.used(300_000), "");
    world.start("resume", None);
    assert_eq!((world.notes().told(), world.notes().start()), (None, Start::Continued));
    check(&world.used(150_000), &["25% of", "150k of 200k", "assumed, as for every continued session"]);
    // The client that goes on with a status line tells it again.
    world.tell(1_000_000, "claude-opus-4-8[1m]");
    assert_eq!(world.used(190_000), "");
}

#[test]
fn the_environment_comes_third_and_the_clients_settings_after_it() {
    check(&World::new().with("ANTHROPIC_MODEL", "sonnet").used(150_000), &["(size: by ANTHROPIC_MODEL)"]);
    assert_eq!(World::new().with("ANTHROPIC_MODEL", "sonnet[1M]").used(150_000), "");
    let off = World::new().with("ANTHROPIC_MODEL", "opus[1m]").with("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1");
    check(&off.used(150_000), &["by CLAUDE_CODE_DISABLE_1M_CONTEXT"]);

    let world = World::new();
    let (of_user, of_project) =
        (world.path("home/.claude/settings.json"), world.path("project/.claude/settings.json"));
    fs::write(&of_user, r#"{"env":{},"model":"opus[1m]"}"#).unwrap();
    assert_eq!(world.used(150_000), "");
    check(&world.used(720_000), &["28% of", "by `model` in ~/.claude/settings.json"]);
    fs::write(&of_project, r#"{"model":"sonnet"}"#).unwrap();
    world.start("startup", None);
    check(&world.used(150_000), &["of 200k", "project/.claude/settings.json"]);
}

#[test]
fn settings_that_are_no_settings_are_ignored() {
    for text in ["", "{", "[]", r#"{"model":5}"#, r#"{"model":""}"#, r#"{"model":null}"#] {
        let world = World::new();
        fs::write(world.path("home/.claude/settings.json"), text).unwrap();
        check(&world.used(150_000), &["(size: assumed; with `wyren install --statusline`"]);
    }
}

#[test]
fn use_above_200k_shows_a_large_window_also_later() {
    let world = World::new();
    check(&world.used(190_000), &["of 200k"]);
    // Warnings about a smaller window do not count for the larger one.
    assert_eq!(world.used(300_000), "");
    world.start("compact", None);
    assert_eq!(world.used(190_000), "");
    check(&world.used(720_000), &["28% of", "of 1M", "because more than 200k were in use"]);
    let named = World::new().with("ANTHROPIC_MODEL", "sonnet");
    assert_eq!(named.used(250_000), "", "what is in use fits");
}

#[test]
fn a_window_that_the_client_compacts_early_counts_as_that_large() {
    let world = World::new().with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "120000");
    world.tell(1_000_000, "opus[1m]");
    check(&world.used(85_000), &["29% of", "85k of 120k", "by CLAUDE_CODE_AUTO_COMPACT_WINDOW"]);
    assert_eq!(World::new().with("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "0").used(85_000), "");
}

#[test]
fn a_subagent_has_a_window_of_its_own() {
    let world = World::new();
    world.use_tokens(None, MODEL, 190_000);
    world.use_tokens(Some("a1"), MODEL, 20_000);
    assert_eq!(world.call(Some("a1")), "");
    world.use_tokens(Some("a1"), MODEL, 185_000);
    check(&world.call(Some("a1")), &["7% of", "Stop here and report"]);
    assert_eq!(world.call(Some("a1")), "");
    check(&world.call(None), &["5% of", "ask the user"]);
    // One without a transcript, and an id that could lead elsewhere.
    assert_eq!(world.call(Some("a2")), "");
    assert_eq!(world.call(Some("../../t")), "");
}

#[test]
fn a_subagent_has_the_size_of_its_parent_with_the_same_model_alone() {
    let world = World::new();
    world.tell(1_000_000, "claude-opus-4-8[1m]");
    world.use_tokens(Some("a1"), MODEL, 190_000);
    assert_eq!(world.call(Some("a1")), "");
    world.use_tokens(Some("a2"), "claude-haiku-4-5", 190_000);
    check(&world.call(Some("a2")), &["190k of 200k", "assumed for claude-haiku-4-5"]);
    world.use_tokens(Some("a3"), "claude-sonnet-4-5", 250_000);
    assert_eq!(world.call(Some("a3")), "");
}

#[test]
fn notes_of_others_are_ignored() {
    let world = World::new();
    world.tell(1_000_000, "m");
    let note = world.path("run/wyren");
    let files: Vec<PathBuf> = walk(&note).into_iter().filter(|file| file.ends_with("size")).collect();
    assert_eq!(files.len(), 1);
    for text in ["", "x", "0 m\n", "12", "1000000 m", "-5 m\n"] {
        fs::write(&files[0], text).unwrap();
        assert_eq!(world.notes().told(), None, "{text:?}");
    }
    world.tell(5, "a\nb \u{1b}[31m");
    assert_eq!(fs::read_to_string(&files[0]).unwrap().lines().count(), 1);
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

impl World {
    /// Ends a call; says whether standing lessons are to be said again.
    fn is_time_to_repeat(&self, agent: Option<&str>) -> bool {
        let agent = agent.map(|agent| format!(r#""agent_id":"{agent}","#)).unwrap_or_default();
        let transcript = self.path("t.jsonl").display().to_string().replace('\\', "\\\\");
        let event =
            format!(r#"{{"session_id":"s",{agent}"transcript_path":"{transcript}","tool_name":"Bash"}}"#);
        let call: PostToolUse = serde_json::from_slice(event.leak().as_bytes()).unwrap();
        let host = self.host();
        window::is_time_to_repeat(&call, &host, window::last_usage(&call, &host).as_ref())
    }

    fn repeats_at(&self, tokens: u64) -> bool {
        self.use_tokens(None, MODEL, tokens);
        self.is_time_to_repeat(None)
    }
}

#[test]
fn reminders_come_again_once_per_threshold_and_after_a_compaction() {
    let world = World::new();
    assert!(!world.repeats_at(50_000));
    assert!(world.repeats_at(61_000) && !world.repeats_at(62_000), "30 %");
    // The most urgent alone.
    assert!(world.repeats_at(141_000) && !world.repeats_at(142_000), "70 %");
    assert!(!world.repeats_at(110_000), "52 % is over");
    world.start("compact", None);
    assert!(world.repeats_at(61_000), "a compaction starts anew");
    let world = World::new().with("LESSONS_REINJECT_THRESHOLDS", "10");
    assert!(world.repeats_at(20_000) && !world.repeats_at(190_000));
}

#[test]
fn reminders_come_by_the_size_of_the_window_and_not_to_a_subagent() {
    let world = World::new();
    world.tell(1_000_000, MODEL);
    assert!(!world.repeats_at(150_000));
    assert!(world.repeats_at(301_000));
    world.use_tokens(Some("a"), MODEL, 150_000);
    assert!(!world.is_time_to_repeat(Some("a")));
}

#[test]
fn where_the_use_is_unknown_calls_bring_reminders_again() {
    let world = World::new().with("LESSONS_REINJECT_TOOL_COUNT", "4");
    let repeated: Vec<usize> = (1..=40).filter(|_| world.is_time_to_repeat(None)).collect();
    assert_eq!(repeated, [4, 8, 12]);
    let world = World::new().with("LESSONS_REINJECT_TOOL_COUNT", "0");
    assert!((0..40).all(|_| !world.is_time_to_repeat(None)));
}
