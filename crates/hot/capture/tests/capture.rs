//! What is recorded of a call, and what is not.

use base::Env;
use hook::{Answer, Host, Silence, ToolOutcome, UserPromptSubmit};
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

    fn events(&self) -> Vec<Value> {
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
    desk.tool(call);
    let events = desk.events();
    let event = &events[0];
    assert_eq!(event["id"], "t:toolu_ls");
    assert_eq!(event["tool_use_id"], "toolu_ls");
    assert_eq!(
        (&event["kind"], &event["tool"], &event["session"]),
        (&json!("tool"), &json!("Bash"), &json!("s"))
    );
    assert_eq!((&event["agent"], &event["agent_type"]), (&json!("a1"), &json!("Explore")));
    assert_eq!(event["input"]["command"], "ls");
    assert_eq!(event["output"]["stdout"], "out");
    assert_eq!(event["cwd"], "/home/dev/app");
}

#[test]
fn a_failed_call_is_recorded_with_its_error() {
    let desk = Desk::new();
    desk.tool(json!({
        "session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": "false"}, "tool_use_id": "t1", "error": "Exit code 1", "is_interrupt": false,
    }));
    assert_eq!(desk.events()[0]["error"], "Exit code 1");
}

#[test]
fn skipped_tools_leave_nothing() {
    let desk = Desk::new();
    for tool in ["TodoWrite", "Skill", "AskUserQuestion", "SlashCommand", "ListMcpResourcesTool"] {
        let mut call = bash("x");
        call["tool_name"] = tool.into();
        desk.tool(call);
    }
    assert!(desk.events().is_empty());
    let desk = Desk::new().with("CLAUDE_MEM_SKIP_TOOLS", "Bash, Read");
    desk.tool(bash("ls"));
    assert!(desk.events().is_empty());
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
        assert!(desk.events().is_empty(), "{name}={value}");
    }
    let desk = Desk::new();
    let conf = desk.folder.path().join("data/cache/hooks.conf");
    base::files::write_atomic(&conf, b"wyren hooks 1\ncapture.paused_projects=/home/dev\n").unwrap();
    desk.tool(bash("ls"));
    assert!(desk.events().is_empty());
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
    let events = desk.events();
    let texts: Vec<&str> = events
        .iter()
        .map(|event| event["prompt"].as_str().or(event["input"]["command"].as_str()).unwrap())
        .collect();
    assert_eq!(texts, ["open", "one", "partly  open", "three"]);
}

#[test]
fn while_prompts_are_not_seen_no_call_is_recorded() {
    let desk = Desk::new().with("WYREN_HOOKS_DISABLED", "prompt-record");
    desk.tool(bash("ls"));
    assert!(desk.events().is_empty());
}

#[test]
fn a_private_prompt_counts_wherever_the_session_goes_on() {
    let desk = Desk::new().with("CLAUDE_MEM_EXCLUDED_PROJECTS", "app");
    desk.prompt("<private>hidden</private>");
    let mut call = bash("ls");
    call["cwd"] = "/home/dev/other".into();
    desk.tool(call);
    assert!(desk.events().is_empty());
}

#[test]
fn an_unclosed_private_tag_hides_the_rest() {
    let desk = Desk::new();
    desk.prompt("<private>all of it");
    desk.tool(bash("ls"));
    assert!(desk.events().is_empty());
    desk.prompt("open <private>not this");
    assert_eq!(desk.events()[0]["prompt"].as_str().unwrap().trim(), "open");
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
    let text = Value::from(desk.events()).to_string();
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
    assert!(desk.events().is_empty());
}

#[test]
fn without_a_session_nothing_is_recorded() {
    let desk = Desk::new();
    let mut call = bash("ls");
    call["session_id"] = Value::Null;
    desk.tool(call);
    assert!(!Path::new(&desk.folder.path().join("data/spool")).exists());
}
