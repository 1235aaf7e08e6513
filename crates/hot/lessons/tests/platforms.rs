//! What other agents are answered: by the shapes that their own sources ask for.

use base::Env;
use hook::{Host, PreToolUse, SessionStart, Silence, SubagentStart};
use lessons::{Kind, Lesson, Trigger, format, start};
use serde_json::{Value, json};

/// An agent with four lessons: `frobguard` is refused, `frobpause` once, `frobhint` gets a hint, `frobstart` is a directive.
struct Desk {
    folder: tempfile::TempDir,
    platform: &'static str,
    form: &'static str,
}

/// The values of `lessons.format`.
const FORMS: [&str; 2] = ["wyren", "lessons-learned"];

impl Desk {
    fn new(platform: &'static str) -> Self {
        Self::with_form(platform, "wyren")
    }

    fn with_form(platform: &'static str, form: &'static str) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap(), platform, form };
        for (slug, kind) in [("frobguard", Kind::Guard), ("frobpause", Kind::Pause), ("frobhint", Kind::Hint)]
        {
            let trigger = Trigger { commands: vec![slug.to_owned()], ..Trigger::default() };
            desk.write(&Lesson { trigger, ..lesson(slug, kind) });
        }
        desk.write(&lesson("frobstart", Kind::Directive));
        desk
    }

    fn write(&self, lesson: &Lesson) {
        let path = self.folder.path().join("data/lessons").join(format!("{}.md", lesson.slug));
        // A project's folder is not made by writing a file into it.
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        base::files::write_atomic(&path, format::render(lesson).as_bytes()).unwrap();
    }

    fn host(&self, hook: &'static str) -> Host {
        let folder = self.folder.path();
        let path = |name: &str| folder.join(name).into_os_string();
        Host::new(
            hook,
            Env::fixed([
                ("WYREN_DATA_DIR", path("data")),
                ("XDG_RUNTIME_DIR", path("run")),
                ("CLAUDE_PLUGIN_ROOT", path("plugin")),
                ("LESSONS_AGENT_PLATFORM", self.platform.into()),
                ("WYREN_LESSON_FORMAT", self.form.into()),
            ]),
        )
    }

    fn call(&self, call: Value) -> Value {
        let host = self.host("lesson-inject");
        let body = |call: PreToolUse, host: &Host| {
            Ok(lessons::inject::answer(&call, host, lessons::layers::compile, || true))
        };
        let response = hook::respond(call.to_string().into_bytes().leak(), &host, Silence::EmptyObject, body);
        response.claims.into_iter().for_each(hook::Claim::confirm);
        serde_json::from_slice(&response.stdout).unwrap()
    }

    /// Runs a command with the agent's own tool, event and fields.
    fn run(&self, event: &str, command: &str) -> Value {
        let (tool, input) = match self.platform {
            "codex" => ("shell", json!({"command": ["bash", "-lc", command], "workdir": "/srv"})),
            "gemini" => ("run_shell_command", json!({"command": command, "description": command})),
            _ => ("Bash", json!({"command": command})),
        };
        let mut call = json!({"session_id": "s", "cwd": "/srv", "tool_name": tool, "tool_input": input});
        if !event.is_empty() {
            call["hook_event_name"] = event.into();
        }
        self.call(call)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("data/logs/hooks.jsonl")).unwrap_or_default()
    }
}

fn lesson(slug: &str, kind: Kind) -> Lesson {
    Lesson {
        slug: slug.to_owned(),
        summary: format!("{slug} goes wrong"),
        problem: "It does.".into(),
        solution: "Do it otherwise.".into(),
        kind,
        ..Lesson::default()
    }
}

/// What each form makes of the lessons.
impl Desk {
    fn refused(&self, slug: &str) -> String {
        if self.form == "lessons-learned" {
            return format!("## Lesson: {slug} goes wrong\nIt does.\n**Fix**: Do it otherwise.");
        }
        let here =
            if self.platform == "cc" { format!("`/wyren:allow {slug}` here, or ") } else { String::new() };
        format!(
            "Wyren refused this call (guard {slug}): {slug} goes wrong. It does. Do it otherwise. If the user insists, only \
             they can lift it: {here}`wyren lessons allow {slug} --once` in a terminal."
        )
    }

    fn paused(&self, slug: &str) -> String {
        if self.form == "lessons-learned" {
            return format!(
                "{}\n\nShown once. To proceed anyway, repeat the call unchanged.",
                self.refused(slug)
            );
        }
        format!(
            "Wyren paused this call once (lesson {slug}): {slug} goes wrong. It does. Do it otherwise. If it is right, run \
             the same command again and it passes."
        )
    }

    fn hinted(&self, slug: &str, target: &str) -> String {
        if self.form == "lessons-learned" {
            let metadata = json!({"version": 1, "injected": [slug], "dropped": []});
            return format!(
                "[lessons-learned] 1 lesson matched for `{target}`\n\n{}\n\n<!-- lessonInjection: {metadata} -->",
                self.refused(slug)
            );
        }
        format!("Wyren lesson {slug}: {slug} goes wrong. Do it otherwise.")
    }
}

/// Returns what Codex would not take of an answer: its schema, and what its parser refuses beyond that.
///
/// After `codex-rs/hooks/schema/generated/*.output.schema.json` and `engine/output_parser.rs`, the oldest that has hooks.
fn codex_flaw(event: &str, answer: &Value) -> Option<String> {
    const TOP: [&str; 5] =
        ["continue", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput"];
    let known: &[&str] = match event {
        "PreToolUse" => &[
            "hookEventName",
            "permissionDecision",
            "permissionDecisionReason",
            "additionalContext",
            "updatedInput",
        ],
        _ => &["hookEventName", "additionalContext"],
    };
    let unknown = |object: &Value, known: &[&str]| {
        let mut names = object.as_object().into_iter().flat_map(|fields| fields.keys());
        names.find(|name| !known.contains(&name.as_str())).cloned()
    };
    if let Some(name) = unknown(answer, &TOP) {
        return Some(format!("unknown field {name}"));
    }
    for (name, refused) in [("continue", json!(false)), ("suppressOutput", json!(true))] {
        if answer[name] == refused {
            return Some(format!("{name}: {refused}"));
        }
    }
    if !answer["stopReason"].is_null() {
        return Some("stopReason".to_owned());
    }
    let specific = answer.get("hookSpecificOutput")?;
    if let Some(name) = unknown(specific, known) {
        return Some(format!("unknown field hookSpecificOutput.{name}"));
    }
    if specific["hookEventName"] != event {
        return Some(format!("hookEventName: {}", specific["hookEventName"]));
    }
    let reason = specific["permissionDecisionReason"].as_str().map(str::trim);
    match specific["permissionDecision"].as_str() {
        None => reason.map(|_| "a reason without a decision".to_owned()),
        Some("deny") => reason.is_none_or(str::is_empty).then(|| "deny without a reason".to_owned()),
        Some("allow") if specific["updatedInput"].is_object() => None,
        Some(other) => Some(format!("permissionDecision: {other}")),
    }
}

#[test]
fn the_schema_of_codex_refuses_what_codex_refuses() {
    for answer in [
        json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
        json!({"env": {"LESSONS_SEEN": "x"}}),
        json!({"hookSpecificOutput": {"additionalContext": "x"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}),
        json!({"continue": true, "suppressOutput": true}),
    ] {
        assert!(codex_flaw("PreToolUse", &answer).is_some(), "{answer}");
    }
    assert_eq!(codex_flaw("PreToolUse", &json!({})), None);
}

#[test]
fn item_8_codex_is_answered_as_its_schema_asks() {
    for form in FORMS {
        let desk = Desk::with_form("codex", form);
        let deny = |reason: String| {
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
            }})
        };
        let context = desk.hinted("frobhint", "bash -lc frobhint");
        let hint =
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": context}});
        for (command, expected) in [
            ("frobguard", deny(desk.refused("frobguard"))),
            ("frobpause", deny(desk.paused("frobpause"))),
            ("frobpause", json!({})),
            ("frobhint", hint),
            ("frobhint", json!({})),
            ("ls", json!({})),
        ] {
            let answer = desk.run("PreToolUse", command);
            assert_eq!(codex_flaw("PreToolUse", &answer), None, "{command}: {answer}");
            assert_eq!(answer, expected, "{command}");
        }
    }
}

#[test]
fn item_8_the_reproduction_is_refused() {
    // As the review tried it: no event, the command as one text.
    let desk = Desk::new("codex");
    let rm = Trigger { commands: vec!["rm -r -f /".into()], ..Trigger::default() };
    desk.write(&Lesson { trigger: rm, ..lesson("rm-of-everything", Kind::Guard) });
    let call = json!({"tool_name": "shell", "tool_input": {"command": "rm -rf /"}, "session_id": "x", "cwd": "/tmp"});
    let answer = desk.call(call);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert_eq!(codex_flaw("PreToolUse", &answer), None);
}

#[test]
fn item_8_every_tool_of_codex_that_runs_commands_or_patches_is_known() {
    let desk = Desk::new("codex");
    let inputs = [
        ("shell", json!({"command": ["frobguard"]})),
        ("local_shell", json!({"command": ["bash", "-lc", "frobguard"]})),
        ("exec_command", json!({"cmd": "frobguard", "workdir": "/srv"})),
        ("shell_command", json!({"command": "frobguard"})),
        ("Bash", json!({"command": "frobguard"})),
    ];
    for (tool, input) in inputs {
        let answer = desk.call(json!({"session_id": "s", "tool_name": tool, "tool_input": input}));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{tool}");
    }
    let trigger = Trigger {
        tools: vec!["Edit".into()],
        inputs: vec![("file_path".into(), r"\.env$".into())],
        ..Trigger::default()
    };
    desk.write(&Lesson { trigger, ..lesson("frobenv", Kind::Guard) });
    let patch = "*** Begin Patch\n*** Update File: app/.env\n@@\n-A=1\n+A=2\n*** End Patch";
    for input in
        [json!({"command": patch}), json!({"input": patch}), json!({"command": ["apply_patch", patch]})]
    {
        let answer = desk.call(json!({"session_id": "s", "tool_name": "apply_patch", "tool_input": input}));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{input}");
    }
}

#[test]
fn item_8_gemini_is_refused_before_a_tool_and_gets_hints_after_it() {
    for form in FORMS {
        let desk = Desk::with_form("gemini", form);
        let deny = |reason: String| {
            json!({"decision": "deny", "reason": reason, "hookSpecificOutput": {
                "hookEventName": "BeforeTool", "permissionDecision": "deny", "permissionDecisionReason": reason,
            }})
        };
        let hint = json!({
            "hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": desk.hinted("frobhint", "frobhint")},
            "env": {"LESSONS_SEEN": "frobhint"},
        });
        for (event, command, expected) in [
            ("BeforeTool", "frobguard", deny(desk.refused("frobguard"))),
            ("BeforeTool", "frobpause", deny(desk.paused("frobpause"))),
            ("BeforeTool", "frobpause", json!({})),
            ("AfterTool", "frobpause", json!({})),
            // Gemini does not read it here, so it is neither claimed nor logged as shown.
            ("BeforeTool", "frobhint", json!({})),
            ("AfterTool", "frobhint", hint),
            ("AfterTool", "frobhint", json!({})),
            // A call that was made cannot be refused.
            ("AfterTool", "frobguard", json!({})),
            ("BeforeTool", "ls", json!({})),
            ("AfterTool", "ls", json!({})),
        ] {
            let before = desk.log().matches("HOOK_OUTPUT [context]").count();
            assert_eq!(desk.run(event, command), expected, "{event} {command}");
            let is_shown = expected["hookSpecificOutput"]["additionalContext"].is_string();
            assert_eq!(desk.log().matches("HOOK_OUTPUT [context]").count() - before, usize::from(is_shown));
        }
    }
}

#[test]
fn item_8_a_spent_pause_is_a_hint_after_geminis_tool() {
    let desk = Desk::new("gemini");
    for command in ["frobpause 1", "frobpause 2", "frobpause 3"] {
        assert_eq!(desk.run("BeforeTool", command)["decision"], "deny", "{command}");
    }
    // The repeat of the third was paused before, and its text was read.
    assert_eq!(desk.run("BeforeTool", "frobpause 3"), json!({}));
    assert_eq!(desk.run("AfterTool", "frobpause 3"), json!({}));
    assert_eq!(desk.run("BeforeTool", "frobpause 4"), json!({}));
    let answer = desk.run("AfterTool", "frobpause 4");
    assert_eq!(answer["env"]["LESSONS_SEEN"], "frobpause", "{answer}");
}

#[test]
fn item_8_gemini_is_known_by_its_events_and_a_script_without_one_gets_all() {
    let unnamed = Desk { platform: "", ..Desk::new("gemini") };
    let call = json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": {"command": "frobguard"}});
    assert_eq!(unnamed.call(call)["decision"], "deny");
    // As lessons-learned was called by scripts around other agents.
    let desk = Desk::new("gemini");
    let answer = desk.run("", "frobhint");
    assert_eq!(
        answer["hookSpecificOutput"]["additionalContext"],
        desk.hinted("frobhint", "frobhint"),
        "{answer}"
    );
    assert_eq!(answer["env"]["LESSONS_SEEN"], "frobhint");
    let answer = desk.run("", "frobguard");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}

#[test]
fn claude_code_is_answered_in_the_form_of_the_setting() {
    for form in FORMS {
        let desk = Desk::with_form("cc", form);
        let hint = json!({
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": desk.hinted("frobhint", "frobhint")},
            "env": {"LESSONS_SEEN": "frobhint"},
        });
        assert_eq!(desk.run("PreToolUse", "frobhint"), hint);
        let answer = desk.run("PreToolUse", "frobguard");
        assert_eq!(
            answer,
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": desk.refused("frobguard"),
            }})
        );
    }
}

#[test]
fn item_8_the_start_of_a_session_or_subagent_has_one_shape_for_all() {
    for platform in ["cc", "codex", "gemini"] {
        let desk = Desk::new(platform);
        let input = br#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
        let host = desk.host("session-start-lessons");
        let body = |call: SessionStart, host: &Host| Ok(start::for_session(host, &call));
        let answer = hook::respond(input, &host, Silence::Empty, body).stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(codex_flaw("SessionStart", &answer), None, "{platform}: {answer}");
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.contains("frobstart goes wrong"), "{context}");
        let input = br#"{"session_id":"s","hook_event_name":"SubagentStart","agent_id":"a"}"#;
        let host = desk.host("subagent-start-lessons");
        let body =
            |call: SubagentStart, host: &Host| Ok(hook::Answer::context(start::for_subagent(host, &call)));
        let answer = hook::respond(input, &host, Silence::Empty, body).stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(codex_flaw("SubagentStart", &answer), None, "{platform}: {answer}");
    }
}
