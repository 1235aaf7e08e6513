//! What the real client does is recorded: prompts, tool calls, failures, subagents; and what is private is not.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::mock::{Lane, Reply};

use super::{check_hook_log, check_processes, client_with_plugin, exported, leave_out_the_scan, of_type};

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "Try"})
}

#[test]
fn a_prompt_and_its_tool_calls_are_recorded_failures_too() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let script = [
        Reply::text("I try.").tool_use("Bash", bash("echo worked")),
        Reply::text("Again.").tool_use("Bash", bash("echo broken >&2; exit 3")),
        Reply::text("That is all."),
    ];
    client.mock().script(Lane::Main, script);

    let turn = client.prompt("try two things")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let events = exported(&client)?;
    let prompts = of_type(&events, "prompt");
    assert_eq!(prompts.len(), 1, "{events:#?}");
    assert_eq!((&prompts[0]["text"], &prompts[0]["number"]), (&json!("try two things"), &json!(1)));
    let calls = of_type(&events, "tool");
    let commands: Vec<&Value> = calls.iter().map(|call| &call["command"]).collect();
    assert_eq!(commands, ["echo worked", "echo broken >&2; exit 3"]);
    assert!(calls.iter().all(|call| call["tool_use_id"].is_string() && call["session"] == turn.session()));
    assert!(calls[0]["error"].is_null() && calls[1]["error"].is_string(), "{calls:#?}");
    let sessions = of_type(&events, "session");
    assert_eq!(sessions[0]["title"], "try two things");
    check_hook_log(&client, "tool-record")?;
    check_hook_log(&client, "prompt-record")?;
    check_processes(&client)
}

#[test]
fn a_private_prompt_and_what_is_done_under_it_leave_no_trace() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    let script = [Reply::text("I try.").tool_use("Bash", bash("echo confidential")), Reply::text("Done.")];
    client.mock().script(Lane::Main, script);

    let turn = client.prompt("<private>the merger</private>")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    check_hook_log(&client, "tool-record")?;
    assert!(of_type(&exported(&client)?, "tool").is_empty());
    // A worker makes and removes files.
    check_processes(&client)?;
    for text in ["the merger", "confidential"] {
        let found = files_with(&client.data(), text.as_bytes())?;
        assert!(found.is_empty(), "{text} is in {found:?}");
    }
    check_processes(&client)
}

#[test]
fn in_a_folder_without_a_memory_calls_reach_the_database_by_themselves() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    leave_out_the_scan(&client)?;
    client.mock().script(
        Lane::Main,
        [Reply::text("I try.").tool_use("Bash", bash("echo drained")), Reply::text("Done.")],
    );

    let turn = client.prompt("try something")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert!(!client.project().join(".wyren").exists());
    check_processes(&client)?;
    // Before any command: `wyren` would drain the spool itself.
    let database = rusqlite::Connection::open(client.data().join("wyren.db"))?;
    let stored = |kind: &str| -> Result<u64> {
        let query = "SELECT count(*) FROM observations WHERE kind = ?1";
        Ok(database.query_row(query, [kind], |row| row.get(0))?)
    };
    assert_eq!((stored("prompt")?, stored("tool")?), (1, 1));
    drop(database);
    let events = exported(&client)?;
    assert_eq!(of_type(&events, "prompt").len(), 1, "{events:#?}");
    assert_eq!(of_type(&events, "tool")[0]["command"], "echo drained", "{events:#?}");
    check_processes(&client)
}

#[test]
fn a_subagents_calls_carry_its_name() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    let looking = Reply::text("I look.").tool_use("Bash", bash("echo seen"));
    client.mock().script(Lane::Subagent, [looking, Reply::text("Seen.")]);

    let turn = client.prompt("have someone look")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let events = exported(&client)?;
    let calls = of_type(&events, "tool");
    let look = calls.iter().find(|call| call["command"] == "echo seen").context("the subagent's call")?;
    assert_eq!(look["agent_type"], "general-purpose");
    assert!(look["agent"].is_string());
    let ask = calls.iter().find(|call| call["tool"] == "Agent").context("the call of the subagent")?;
    assert!(ask["agent"].is_null());
    check_processes(&client)
}

/// Returns the files below `folder` that contain `text`.
fn files_with(folder: &std::path::Path, text: &[u8]) -> Result<Vec<std::path::PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_with(&path, text)?);
        } else if std::fs::read(&path)?.windows(text.len()).any(|window| window == text) {
            found.push(path);
        }
    }
    Ok(found)
}
