use super::*;
use crate::{PostToolUse, PreToolUse, SessionStart, Stop, ToolOutcome, UserPromptSubmit};
use serde_json::{Value, json};

fn translate<E: Event>(agent: Platform, input: &Value) -> Value {
    let translated = translated::<E>(agent, input.to_string().into_bytes().leak()).unwrap();
    // What is translated is what a hook takes.
    let event: E = serde_json::from_slice(translated).unwrap();
    assert!(E::NAMES.contains(&event.event_name().unwrap()));
    serde_json::from_slice(translated).unwrap()
}

#[test]
fn codex_differs_in_the_prompt_and_in_patches() {
    let call = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": "/r.jsonl", "cwd": "/p", "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_use_id": "c",
    });
    assert_eq!(
        translate::<PreToolUse>(Platform::Codex, &call),
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "t", "cwd": "/p", "model": "m",
            "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c",
        })
    );
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch";
    let call = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch},
        "tool_response": "Done!",
    });
    let ours = translate::<ToolOutcome>(Platform::Codex, &call);
    assert_eq!(ours["tool_name"], "Edit");
    assert_eq!(ours["tool_input"], json!({"file_path": "src/a.rs", "patch": patch}));
    assert_eq!(ours["tool_response"], "Done!");
    let call = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_response": "a\n",
    });
    assert_eq!(
        translate::<ToolOutcome>(Platform::Codex, &call)["tool_response"],
        json!({"stdout": "a\n", "status": "unknown"}),
        "Codex does not say how a command ended"
    );
}

#[test]
fn a_patch_of_codex_that_does_not_apply_has_failed() {
    let of = |response: &str| {
        let call = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "apply_patch",
            "tool_input": {"command": "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch"},
            "tool_response": response,
        });
        let ours = translate::<ToolOutcome>(Platform::Codex, &call);
        (ours["error"].clone(), ours["tool_response"].clone())
    };
    let made =
        "Exit code: 0\nWall time: 0.4 seconds\nOutput:\nSuccess. Updated the following files:\nM src/a.rs\n";
    assert_eq!(of(made), (Value::Null, json!(made)));
    let (error, _) =
        of("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nFailed to find expected lines in src/a.rs");
    assert!(error.as_str().is_some_and(|error| error.contains("Failed to find expected lines")), "{error}");
}

fn gemini(content: &str, error: Option<Value>) -> Value {
    let mut response = json!({"llmContent": content, "returnDisplay": {"originalContent": "long"}});
    if let Some(error) = error {
        response["error"] = error;
    }
    json!({
        "session_id": "s", "cwd": "/p", "hook_event_name": "AfterTool", "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_response": response,
    })
}

#[test]
fn gemini_has_names_of_its_own_for_events_and_tools() {
    let ran = gemini("<untrusted_context>\nOutput: a\nb\nProcess Group PGID: 7\n</untrusted_context>", None);
    let ours = translate::<ToolOutcome>(Platform::Gemini, &ran);
    assert_eq!(ours["hook_event_name"], "PostToolUse");
    assert_eq!((&ours["tool_name"], &ours["tool_response"]), (&json!("Bash"), &json!({"stdout": "a\nb"})));
    assert_eq!(translate::<PreToolUse>(Platform::Gemini, &ran)["hook_event_name"], "AfterTool");
    assert_eq!(translate::<PostToolUse>(Platform::Gemini, &ran)["hook_event_name"], "PostToolUse");
    let stop = json!({"session_id": "s", "hook_event_name": "AfterAgent", "prompt": "p", "prompt_response": "Done."});
    assert_eq!(translate::<Stop>(Platform::Gemini, &stop)["last_assistant_message"], "Done.");
    let server = json!({
        "session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "mcp_db_query", "tool_input": {},
        "mcp_context": {"server_name": "db", "tool_name": "query"},
    });
    assert_eq!(translate::<PreToolUse>(Platform::Gemini, &server)["tool_name"], "mcp__db__query");
}

#[test]
fn a_command_of_gemini_that_exits_with_a_code_has_failed() {
    let failed = gemini(
        "<untrusted_context>\nOutput: no such file\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>",
        None,
    );
    let ours = translate::<ToolOutcome>(Platform::Gemini, &failed);
    assert_eq!(ours["hook_event_name"], "PostToolUseFailure");
    assert_eq!((&ours["error"], &ours["tool_response"]), (&json!("Exit code 2\nno such file"), &Value::Null));
    let refused = gemini("", Some(json!({"message": "not found", "type": "file_not_found"})));
    assert_eq!(translate::<ToolOutcome>(Platform::Gemini, &refused)["error"], "not found");
    let printed = gemini("Output: Exit Code: 2\nmore\nProcess Group PGID: 7", None);
    assert_eq!(translate::<ToolOutcome>(Platform::Gemini, &printed)["error"], Value::Null);
}

#[test]
fn what_hooks_said_is_no_part_of_geminis_prompt() {
    let prompt = |prompt: &str| {
        let call = json!({"session_id": "s", "hook_event_name": "BeforeAgent", "prompt": prompt});
        translate::<UserPromptSubmit>(Platform::Gemini, &call)["prompt"].as_str().unwrap().to_owned()
    };
    assert_eq!(prompt("<hook_context>Team &lt;memory&gt;</hook_context>\n\nsay hello"), "say hello");
    assert_eq!(prompt("what is <hook_context>?"), "what is <hook_context>?");
}

#[test]
fn cursor_has_a_conversation_roots_and_json_in_strings() {
    let around = |mut call: Value, event: &str| {
        call["conversation_id"] = json!("c");
        call["generation_id"] = json!("g");
        call["workspace_roots"] = json!(["/p", "/q"]);
        call["hook_event_name"] = json!(event);
        call
    };
    let start =
        around(json!({"session_id": "c", "is_background_agent": false, "model": null}), "sessionStart");
    assert_eq!(
        translate::<SessionStart>(Platform::Cursor, &start),
        json!({"hook_event_name": "SessionStart", "session_id": "c", "prompt_id": "g", "cwd": "/p"})
    );
    let shell = json!({
        "tool_name": "Shell", "tool_input": {"command": "make", "working_directory": "/p"}, "cwd": "",
        "tool_output": "{\"exitCode\":2,\"stdout\":\"broken\"}", "duration": 12.5,
    });
    let ours = translate::<ToolOutcome>(Platform::Cursor, &around(shell.clone(), "postToolUse"));
    assert_eq!(
        (&ours["tool_name"], &ours["cwd"], &ours["duration_ms"]),
        (&json!("Bash"), &json!("/p"), &json!(12.5))
    );
    assert!(ours["error"].as_str().unwrap().starts_with("Exit code 2"), "{ours}");
    assert_eq!(
        translate::<PreToolUse>(Platform::Cursor, &around(shell, "preToolUse"))["hook_event_name"],
        "BeforeTool"
    );
    let failed = json!({
        "tool_name": "MCP:query", "tool_input": {}, "error_message": "timed out", "failure_type": "timeout",
        "is_interrupt": false,
    });
    let ours = translate::<ToolOutcome>(Platform::Cursor, &around(failed, "postToolUseFailure"));
    assert_eq!((&ours["tool_name"], &ours["error"]), (&json!("mcp__query"), &json!("timed out")));
    let read = around(json!({"tool_name": "Read", "tool_input": {"path": "a.rs"}}), "preToolUse");
    assert_eq!(translate::<PreToolUse>(Platform::Cursor, &read)["tool_input"], json!({"file_path": "a.rs"}));
}

#[test]
fn what_cursor_says_is_valid_whatever_is_in_its_strings() {
    for (roots, output) in [
        (json!([1]), "[error] no"),
        (json!([]), "plain"),
        (json!("/p"), "12 files"),
        (json!(["/a\\\"b"]), ""),
    ] {
        let call = json!({
            "conversation_id": "c", "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": [1],
            "workspace_roots": roots, "tool_output": output,
        });
        assert_eq!(translate::<ToolOutcome>(Platform::Cursor, &call)["tool_response"], output);
    }
}

#[test]
fn opencode_has_small_letters_and_camels() {
    let call = json!({
        "session_id": "s", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "edit",
        "tool_input": {"filePath": "/p/a", "oldString": "x", "newString": "y"},
        "tool_response": {"output": "Edited.", "metadata": {"diff": "…"}},
    });
    let ours = translate::<ToolOutcome>(Platform::OpenCode, &call);
    assert_eq!(ours["tool_name"], "Edit");
    assert_eq!(ours["tool_input"], json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}));
    assert_eq!(ours["tool_response"], "Edited.");
    let call = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "bash", "tool_input": {"command": "make"},
        "tool_response": {"output": "broken\n", "metadata": {"exit": 2}},
    });
    assert_eq!(translate::<ToolOutcome>(Platform::OpenCode, &call)["error"], "Exit code 2\nbroken");
}

#[test]
fn what_is_not_understood_is_left_to_the_run_loop() {
    for input in ["", "[]", "{}", r#"{"hook_event_name":"Nap"}"#, r#"{"hook_event_name":3}"#] {
        assert!(
            translated::<Stop>(Platform::Codex, input.to_owned().into_bytes().leak()).is_none(),
            "{input}"
        );
    }
}
