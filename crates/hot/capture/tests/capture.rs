//! What is recorded of a call, and what is not.

use base::Env;
use hook::{
    Answer, Event, Host, PreToolUse, Refuser, SessionEnd, SessionStart, Silence, SubagentStart, ToolOutcome,
    TurnEnd, UserPromptSubmit,
};
use serde_json::{Value, json};
use std::path::Path;

struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn host(&self, hook: &'static str) -> Host {
        let folder = self.folder.path().to_str().unwrap().to_owned();
        let mut variables = self.variables.clone();
        variables.push(("WYREN_DATA_DIR".into(), format!("{folder}/data")));
        variables.push(("XDG_RUNTIME_DIR".into(), folder));
        variables.push(("HOME".into(), "/home/dev".into()));
        Host::new(hook, Env::fixed(variables))
    }

    /// Runs a hook to its end.
    fn run<E: Event>(
        &self,
        hook: &'static str,
        call: Value,
        body: impl FnOnce(E, &Host) -> hook::Outcome<E>,
    ) {
        let host = self.host(hook);
        let response = hook::respond(call.to_string().into_bytes().leak(), &host, Silence::Empty, body);
        response.afterwards.into_iter().for_each(|task| hook::finish(task, &host));
    }

    /// Has `lesson-inject` give the model a text.
    fn tell(&self, text: &str) {
        let call = json!({"session_id": "s", "cwd": "/home/dev/app", "prompt_id": "q1", "tool_name": "Bash", "tool_use_id": "toolu_1"});
        let text = text.to_owned();
        self.run("lesson-inject", call, |call: PreToolUse, host| {
            let answer = Answer::silent().with_context(text).with_lessons_seen("git-stash");
            Ok(capture::told_about_call(answer, &call, host))
        });
    }

    fn tool(&self, call: Value) {
        let body = |call: ToolOutcome, host: &Host| {
            capture::record_tool(&call, host)?;
            Ok(Answer::silent())
        };
        let input = call.to_string().into_bytes().leak();
        hook::respond(input, &self.host("tool-record"), Silence::Continue, body);
    }

    fn prompt(&self, text: &str) {
        let body = |call: UserPromptSubmit, host: &Host| {
            capture::record_prompt(&call, host)?;
            Ok(Answer::silent())
        };
        let input = json!({"session_id": "s", "cwd": "/home/dev/app", "prompt": text, "prompt_id": text.len().to_string()});
        hook::respond(
            input.to_string().into_bytes().leak(),
            &self.host("prompt-record"),
            Silence::Continue,
            body,
        );
    }

    /// Has a turn end. The transcript says "From the transcript."
    fn end_turn(&self, call: Value) {
        self.run("stop-summary", call, |call: TurnEnd, host| {
            let last_reply = |_: &Path| Ok::<_, std::io::Error>(Some("From the transcript.".to_owned()));
            capture::record_turn_end(&call, host, last_reply)?;
            Ok(Answer::silent())
        });
    }

    /// Has `lesson-inject` refuse a call.
    fn refuse(&self, call: Value) {
        self.run("lesson-inject", call, |call: PreToolUse, host| {
            let answer =
                Answer::deny(Refuser::Guard, "Use <b>git switch</b> instead").from_lessons("git-stash");
            Ok(capture::refused(answer, &call, host))
        });
    }

    fn observations(&self) -> Vec<Value> {
        let spool = capture::Spool::new(self.folder.path().join("data/spool"));
        let files = spool.files().unwrap();
        let lines = files.iter().flat_map(|file| file.read(0, 10_000, 1 << 20).unwrap().lines);
        lines.map(|line| serde_json::from_slice(&line).unwrap()).collect()
    }
}

fn bash(command: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/home/dev/app", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_response": {"stdout": "out"}, "tool_use_id": format!("toolu_{command}"),
        "duration_ms": 12,
    })
}

#[test]
fn a_call_is_recorded_with_all_that_belongs_to_it() {
    let desk = Desk::new();
    let mut call = bash("ls");
    call["agent_id"] = "a1".into();
    call["agent_type"] = "Explore".into();
    call["prompt_id"] = "q1".into();
    call["permission_mode"] = "plan".into();
    desk.tool(call);
    let mut observations = desk.observations();
    observations[0].as_object_mut().unwrap().remove("ts").unwrap();
    assert_eq!(
        observations[0],
        json!({
            "v": 2, "kind": "tool", "id": "t:toolu_ls", "session": "s", "cwd": "/home/dev/app", "prompt_id": "q1",
            "agent": "a1", "agent_type": "Explore",
            "data": {
                "tool": "Bash", "tool_use_id": "toolu_ls", "input": {"command": "ls"}, "output": {"stdout": "out"},
                "duration_ms": 12.0, "permission_mode": "plan",
            },
        })
    );
}

#[test]
fn a_failed_call_is_recorded_with_its_error() {
    let desk = Desk::new();
    desk.tool(json!({
        "session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": "false"}, "tool_use_id": "t1", "error": "Exit code 1", "is_interrupt": false,
    }));
    let call = &desk.observations()[0]["data"];
    assert_eq!((&call["error"], &call["interrupted"]), (&json!("Exit code 1"), &Value::Null));
}

#[test]
fn skipped_tools_leave_nothing() {
    let desk = Desk::new();
    for tool in ["TodoWrite", "Skill", "SlashCommand", "ListMcpResourcesTool"] {
        let mut call = bash("x");
        call["tool_name"] = tool.into();
        desk.tool(call);
    }
    assert!(desk.observations().is_empty());
    let desk = Desk::new().with("CLAUDE_MEM_SKIP_TOOLS", "Bash, Read");
    desk.tool(bash("ls"));
    assert!(desk.observations().is_empty());
}

#[test]
fn excluded_and_paused_projects_leave_nothing() {
    for (name, value) in [
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", "~/ap*"),
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", "other,app"),
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/**"),
        ("WYREN_CAPTURE", "off"),
    ] {
        let desk = Desk::new().with(name, value);
        desk.tool(bash("ls"));
        desk.prompt("hello");
        assert!(desk.observations().is_empty(), "{name}={value}");
    }
    let desk = Desk::new();
    let conf = desk.folder.path().join("data/cache/hooks.conf");
    base::files::write_atomic(&conf, b"wyren hooks 1\ncapture.paused_projects=/home/dev\n").unwrap();
    desk.tool(bash("ls"));
    assert!(desk.observations().is_empty());
}

#[test]
fn the_last_prompt_decides() {
    let desk = Desk::new();
    desk.prompt("open");
    desk.tool(bash("one"));
    desk.prompt("<private>hidden</private> ");
    desk.tool(bash("two"));
    desk.prompt("partly <private>hidden</private> open");
    desk.tool(bash("three"));
    let observations = desk.observations();
    let texts: Vec<&str> = observations
        .iter()
        .map(|event| event["data"]["text"].as_str().or(event["data"]["input"]["command"].as_str()).unwrap())
        .collect();
    assert_eq!(texts, ["open", "one", "partly  open", "three"]);
    desk.prompt("go on");
    let marks: Vec<bool> = desk
        .observations()
        .iter()
        .filter(|event| event["kind"] == "prompt")
        .map(|event| event["data"]["after_private"] == true)
        .collect();
    assert_eq!(marks, [false, true, false], "what an answer cannot be about");
}

#[test]
fn while_prompts_are_not_seen_no_call_is_recorded() {
    let desk = Desk::new().with("WYREN_HOOKS_DISABLED", "prompt-record");
    desk.tool(bash("ls"));
    assert!(desk.observations().is_empty());
}

#[test]
fn a_subagent_of_a_private_turn_stays_private_when_it_outlasts_the_turn() {
    let desk = Desk::new();
    let begin = |agent: &str| {
        let call = json!({"session_id": "s", "cwd": "/home/dev/app", "agent_id": agent});
        desk.run("subagent-start-lessons", call, |call: SubagentStart, host| {
            capture::carry_privacy_to_subagent(&call, host);
            Ok(Answer::silent())
        });
    };
    let by = |agent: &str, command: &str| {
        let mut call = bash(command);
        call["agent_id"] = agent.into();
        desk.tool(call);
    };
    desk.prompt("<private>hidden</private>");
    begin("a1");
    desk.prompt("open");
    begin("a2");
    by("a1", "hidden");
    by("a2", "shown");
    let seen = desk.observations();
    assert_eq!(seen.len(), 2, "{seen:#?}");
    assert_eq!((&seen[0]["kind"], &seen[1]["agent"]), (&json!("prompt"), &json!("a2")));
}

#[test]
fn a_prompt_that_is_left_out_is_known_by_its_id_and_no_other() {
    for (variable, value) in
        [("WYREN_CAPTURE", "off"), ("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/dev/*"), ("NONE", "")]
    {
        let desk = Desk::new().with(variable, value);
        let text = if variable == "NONE" { "<private>hidden</private>" } else { "open" };
        desk.prompt(text);
        let spool = capture::Spool::new(desk.folder.path().join("data/spool"));
        let rules = capture::Rules::default().knowing(&spool);
        let id = text.len().to_string();
        assert!(
            rules.left_out(Some(&id)) && !rules.left_out(Some("1")) && !rules.left_out(None),
            "{variable}"
        );
        assert_eq!(rules.keeps_from_team(Some(&id)), variable != "WYREN_CAPTURE");
        // What transcripts are known by must not change with each prompt.
        assert_eq!(format!("{rules:?}"), format!("{:?}", capture::Rules::default()));
    }
    let desk = Desk::new();
    desk.prompt("open");
    assert!(!desk.folder.path().join("data/spool/.unrecorded").exists());
}

#[test]
fn a_private_prompt_counts_wherever_the_session_goes_on() {
    let desk = Desk::new().with("CLAUDE_MEM_EXCLUDED_PROJECTS", "app");
    desk.prompt("<private>hidden</private>");
    let mut call = bash("ls");
    call["cwd"] = "/home/dev/other".into();
    desk.tool(call);
    assert!(desk.observations().is_empty());
}

#[test]
fn an_unclosed_private_tag_hides_the_rest() {
    let desk = Desk::new();
    desk.prompt("<private>all of it");
    desk.tool(bash("ls"));
    assert!(desk.observations().is_empty());
    desk.prompt("open <private>not this");
    assert_eq!(desk.observations()[0]["data"]["text"].as_str().unwrap().trim(), "open");
}

#[test]
fn secrets_go_before_anything_is_written() {
    let key = concat!("sk-", "ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKKLLLL");
    let commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    let desk = Desk::new();
    desk.prompt(&format!("use {key} for {commit}"));
    let mut call = bash(&format!("curl -H 'x-api-key: {key}' at {commit}"));
    call["tool_use_id"] = "t1".into();
    call["tool_response"]["stdout"] = format!("{{\"key\":\"{key}\"}}").into();
    desk.tool(call);
    let text = Value::from(desk.observations()).to_string();
    assert!(!text.contains(key) && text.matches(commit).count() == 2, "{text}");
}

#[test]
fn the_clients_own_texts_are_not_the_users() {
    let desk = Desk::new();
    desk.prompt("<task-notification>\n<task-id>1</task-id>\n</task-notification>");
    let mut call = bash("x");
    call["tool_name"] = "Edit".into();
    call["tool_input"] = json!({"file_path": "/home/dev/.claude/session-memory/notes.md", "new_string": "x"});
    desk.tool(call);
    assert!(desk.observations().is_empty());
}

#[test]
fn without_a_session_nothing_is_recorded() {
    let desk = Desk::new();
    let mut call = bash("ls");
    call["session_id"] = Value::Null;
    desk.tool(call);
    assert!(!Path::new(&desk.folder.path().join("data/spool")).exists());
}

#[test]
fn an_interrupted_call_says_so() {
    let desk = Desk::new();
    let mut call = bash("sleep 100");
    call["hook_event_name"] = "PostToolUseFailure".into();
    call["is_interrupt"] = true.into();
    desk.tool(call);
    assert_eq!(desk.observations()[0]["data"]["interrupted"], true);
}

#[test]
fn a_prompt_carries_branch_platform_and_mode() {
    let desk = Desk::new();
    let project = desk.folder.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/feature/one\n").unwrap();
    let call = json!({
        "session_id": "s", "cwd": project, "prompt": "go", "prompt_id": "q1", "permission_mode": "acceptEdits",
    });
    desk.run("prompt-record", call, |call: UserPromptSubmit, host| {
        capture::record_prompt(&call, host)?;
        Ok(Answer::silent())
    });
    let prompt = &desk.observations()[0];
    assert_eq!((&prompt["id"], &prompt["prompt_id"]), (&json!("p:q1"), &json!("q1")));
    assert_eq!(prompt["platform"], "claude-code");
    let expected = json!({"text": "go", "permission_mode": "acceptEdits", "branch": "feature/one"});
    assert_eq!(prompt["data"], expected);
}

#[test]
fn a_sessions_start_and_end_are_recorded() {
    let desk = Desk::new();
    let start = json!({"session_id": "s", "cwd": "/home/dev/app", "source": "startup", "model": "opus"});
    desk.run("session-start-memory", start, |call: SessionStart, host| {
        capture::record_start(&call, host)?;
        Ok(Answer::silent())
    });
    let end = json!({
        "session_id": "s", "cwd": "/home/dev/app", "prompt_id": "q9", "reason": "clear", "transcript_path": "/t/s.jsonl",
    });
    desk.run("session-end", end, |call: SessionEnd, host| {
        capture::record_end(&call, host)?;
        Ok(Answer::silent())
    });
    let observations = desk.observations();
    let (start, end) = (&observations[0], &observations[1]);
    assert_eq!(
        (&start["kind"], &start["data"]),
        (&json!("session-start"), &json!({"source": "startup", "model": "opus"}))
    );
    let expected = json!({"reason": "clear", "transcript": "/t/s.jsonl"});
    assert_eq!((&end["kind"], &end["data"]), (&json!("session-end"), &expected));
    assert_eq!(end["prompt_id"], "q9");
}

#[test]
fn a_prompt_without_words_is_one_of_media() {
    let desk = Desk::new();
    desk.prompt("");
    desk.prompt(" \n");
    let observations = desk.observations();
    assert_eq!(observations.len(), 2);
    assert!(
        observations.iter().all(|prompt| prompt["data"]["text"] == "[media prompt]"),
        "{observations:#?}"
    );
}

const TRANSCRIPT: &str =
    "/home/dev/.claude/projects/-home-dev-app/720ff4aa-05f9-4e05-aad8-0d889a82ec5a.jsonl";

fn stop() -> Value {
    json!({
        "session_id": "s", "cwd": "/home/dev/app", "hook_event_name": "Stop", "prompt_id": "q1",
        "transcript_path": TRANSCRIPT, "stop_hook_active": false, "last_assistant_message": "All done.",
    })
}

#[test]
fn a_turns_end_is_recorded_with_the_models_last_message() {
    let desk = Desk::new();
    desk.end_turn(stop());
    let end = &desk.observations()[0];
    assert_eq!((&end["kind"], &end["prompt_id"]), (&json!("turn-end"), &json!("q1")));
    assert_eq!(end["id"], format!("e:q1-{}", end["ts"]));
    assert_eq!(end["data"], json!({"outcome": "done", "text": "All done.", "transcript": TRANSCRIPT}));
}

#[test]
fn only_a_client_that_does_not_send_the_last_message_has_its_transcript_read() {
    let desk = Desk::new();
    let mut old = stop();
    old.as_object_mut().unwrap().remove("last_assistant_message");
    desk.end_turn(old.clone());
    assert_eq!(desk.observations()[0]["data"]["text"], "From the transcript.");

    let desk = Desk::new();
    old["transcript_path"] = Value::Null;
    desk.end_turn(old);
    let mut silent = stop();
    silent["last_assistant_message"] = "".into();
    silent["prompt_id"] = "q2".into();
    desk.end_turn(silent);
    let texts: Vec<Value> = desk.observations().iter().map(|end| end["data"]["text"].clone()).collect();
    assert_eq!(texts, [Value::Null, "".into()]);
}

#[test]
fn a_failed_turn_says_why() {
    let desk = Desk::new();
    desk.end_turn(json!({
        "session_id": "s", "cwd": "/home/dev/app", "hook_event_name": "StopFailure", "prompt_id": "q1",
        "error": "unknown", "last_assistant_message": "API Error: 400 scripted bad request",
    }));
    let expected = json!({"outcome": "failed", "error": "unknown: API Error: 400 scripted bad request"});
    assert_eq!(desk.observations()[0]["data"], expected);
}

#[test]
fn a_turn_that_a_hook_prolongs_ends_twice() {
    let desk = Desk::new();
    desk.end_turn(stop());
    let first = desk.host("x").started;
    while desk.host("x").started == first {}
    desk.end_turn(stop());
    let observations = desk.observations();
    assert_eq!(observations.len(), 2);
    assert_ne!(observations[0]["id"], observations[1]["id"]);
}

#[test]
fn the_ends_of_subagents_private_and_excluded_turns_leave_nothing() {
    let desk = Desk::new();
    let mut subagent = stop();
    subagent["agent_id"] = "a1".into();
    desk.end_turn(subagent);
    desk.prompt("<private>hidden</private>");
    desk.end_turn(stop());
    assert!(desk.observations().is_empty());
    for (name, value) in [
        ("WYREN_CAPTURE", "off"),
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", "app"),
        ("WYREN_HOOKS_DISABLED", "prompt-record"),
    ] {
        let desk = Desk::new().with(name, value);
        desk.end_turn(stop());
        assert!(desk.observations().is_empty(), "{name}");
    }
}

#[test]
fn a_turns_end_has_no_private_parts_and_no_secrets_and_is_cut() {
    let key = concat!("sk-", "ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKKLLLL");
    let desk = Desk::new();
    let mut end = stop();
    let text = format!("use {key} <private>my salary</private> {}", "long ".repeat(10_000));
    end["last_assistant_message"] = text.into();
    desk.end_turn(end);
    let mut failed = stop();
    failed["hook_event_name"] = "StopFailure".into();
    failed["error_details"] = format!("bad key {key} <private>my salary").into();
    desk.end_turn(failed);
    let text = Value::from(desk.observations()).to_string();
    assert_eq!(desk.observations().len(), 2);
    assert!(!text.contains(key) && !text.contains("salary") && text.contains("[cut: "), "{text}");
    assert!(text.len() < 20_000);
}

#[test]
fn a_refused_call_is_recorded_with_what_refused_it() {
    let desk = Desk::new();
    let mut call = bash("git stash -u");
    call["agent_id"] = "a1".into();
    call["prompt_id"] = "q1".into();
    call["tool_use_id"] = "toolu_1".into();
    call["hook_event_name"] = "PreToolUse".into();
    desk.refuse(call);
    let mut observations = desk.observations();
    observations[0].as_object_mut().unwrap().remove("ts").unwrap();
    assert_eq!(
        observations[0],
        json!({
            "v": 2, "kind": "refused", "id": "r:toolu_1", "session": "s", "cwd": "/home/dev/app", "prompt_id": "q1",
            "agent": "a1",
            "data": {
                "tool": "Bash", "tool_use_id": "toolu_1", "input": {"command": "git stash -u"}, "by": "guard",
                "lesson": "git-stash", "reason": "Use <b>git switch</b> instead",
            },
        })
    );
}

#[test]
fn a_refused_call_leaves_nothing_where_the_call_would_not() {
    let call = || {
        let mut call = bash("git stash");
        call["hook_event_name"] = "PreToolUse".into();
        call
    };
    let desk = Desk::new();
    desk.prompt("<private>hidden</private>");
    desk.refuse(call());
    assert!(desk.observations().is_empty());
    for (name, value) in
        [("WYREN_CAPTURE", "off"), ("CLAUDE_MEM_SKIP_TOOLS", "Bash"), ("CLAUDE_MEM_EXCLUDED_PROJECTS", "app")]
    {
        let desk = Desk::new().with(name, value);
        desk.refuse(call());
        assert!(desk.observations().is_empty(), "{name}");
    }
    // A hint is no refusal.
    let desk = Desk::new();
    desk.run("lesson-inject", call(), |call: PreToolUse, host| {
        Ok(capture::refused(Answer::silent().with_context("careful"), &call, host))
    });
    assert!(desk.observations().is_empty());

    let key = concat!("sk-", "ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKKLLLL");
    let mut secret = call();
    secret["tool_input"]["command"] = format!("curl -H 'x-api-key: {key}' <private>my salary").into();
    desk.refuse(secret);
    let text = Value::from(desk.observations()).to_string();
    assert!(text.contains("refused") && !text.contains(key) && !text.contains("salary"), "{text}");
}

#[test]
fn a_text_for_the_model_is_an_observation() {
    let desk = Desk::new();
    desk.tell("untracked files stay behind <private>but not this</private>");
    let observations = desk.observations();
    assert_eq!((observations.len(), &observations[0]["kind"]), (1, &json!("told")));
    let expected = json!({
        "hook": "lesson-inject", "form": "context", "text": "untracked files stay behind ", "lesson": "git-stash",
        "tool_use_id": "toolu_1",
    });
    assert_eq!(observations[0]["data"], expected);
    assert_eq!(observations[0]["prompt_id"], "q1");
}

#[test]
fn no_text_is_recorded_that_was_not_given_or_must_not_be() {
    let silent = Desk::new();
    silent.tell("");
    assert!(!silent.folder.path().join("data/spool").exists());

    let private = Desk::new();
    private.prompt("<private>all of it</private>");
    private.tell("about the private call");
    assert!(private.observations().is_empty());

    let off = Desk::new().with("WYREN_CAPTURE", "off");
    off.tell("text");
    assert!(off.observations().is_empty());

    // `prompt-sync` may run before `prompt-record` has noted that the prompt is private.
    let first = Desk::new();
    let call = json!({"session_id": "s", "cwd": "/home/dev/app", "prompt": "<private>x</private>", "prompt_id": "q1"});
    first.run("prompt-sync", call, |call: UserPromptSubmit, host| {
        Ok(capture::told_with_prompt(Answer::context("the team says"), &call, host))
    });
    assert!(first.observations().is_empty());
}

#[test]
fn a_file_tools_response_keeps_nothing_that_its_input_has() {
    let desk = Desk::new();
    desk.tool(json!({
        "session_id": "s", "cwd": "/home/dev/app", "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "1",
        "tool_input": {"file_path": "a", "old_string": "one", "new_string": "two"},
        "tool_response": {"filePath": "a", "oldString": "one", "newString": "two", "originalFile": "one\n",
            "structuredPatch": [{"lines": ["-one", "+two"]}], "content": "not the input's"},
    }));
    desk.tool(json!({
        "session_id": "s", "cwd": "/home/dev/app", "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_use_id": "2",
        "tool_input": {"file_path": "a", "content": "one\n"},
        "tool_response": {"type": "create", "filePath": "a", "content": "one\n", "structuredPatch": [], "originalFile": null},
    }));
    let observations = desk.observations();
    let expected = json!({"filePath": "a", "structuredPatch": [{"lines": ["-one", "+two"]}], "content": "not the input's"});
    assert_eq!(observations[0]["data"]["output"], expected);
    let expected = json!({"type": "create", "filePath": "a", "structuredPatch": []});
    assert_eq!(observations[1]["data"]["output"], expected);
    assert_eq!(observations[1]["data"]["input"]["content"], "one\n");
}
