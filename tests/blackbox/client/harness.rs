//! The client and the mock work together as the other cases expect. No plugin is needed.

use anyhow::Result;
use serde_json::json;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};

use super::check_processes;

#[test]
fn an_allowed_tool_runs_and_its_result_reaches_the_model() -> Result<()> {
    let Some(client) = Client::new()? else {
        return Ok(());
    };
    let client = client.allow_tools(&["Bash(pwd:*)", "Read"]);
    let look = Reply::text("I look.").tool_use("Bash", json!({"command": "pwd", "description": "Look"}));
    client.mock().script(Lane::Main, [look, Reply::text("I have looked.")]);

    let turn = client.prompt("where are you?")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.text(), "I have looked.");
    let result = &turn.main_request(1)?.body["messages"];
    assert!(result.to_string().contains("tool_result"), "{result}");
    let texts = turn.main_request(1)?.texts();
    assert!(texts.lines().any(|line| line == client.project().to_string_lossy()), "{texts}");
    check_processes(&client)
}

#[test]
fn a_tool_that_is_not_allowed_does_not_run() -> Result<()> {
    let Some(client) = Client::new()? else {
        return Ok(());
    };
    let write = json!({"command": "touch made", "description": "Write"});
    client.mock().script(Lane::Main, [Reply::text("I write.").tool_use("Bash", write)]);

    let turn = client.prompt("write something")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert!(!client.project().join("made").exists());
    check_processes(&client)
}

#[test]
fn a_subagent_talks_in_a_lane_of_its_own() -> Result<()> {
    let Some(client) = Client::new()? else {
        return Ok(());
    };
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask a subagent.").tool_use("Agent", task)]);
    client.mock().script(Lane::Subagent, [Reply::text("Nothing to see.")]);

    let turn = client.prompt("hello")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let subagent = client.mock().wait_for(Lane::Subagent, 0)?;
    assert_eq!(subagent.count("look around"), 1, "{}", subagent.texts());
    assert_eq!(turn.main_request(1)?.count("Nothing to see."), 1);
    check_processes(&client)
}

#[test]
fn a_dropped_terminal_takes_the_client_with_it() -> Result<()> {
    let Some(client) = Client::new()? else {
        return Ok(());
    };
    let mut terminal = client.terminal()?;
    terminal.submit("a question")?;
    terminal.wait_for("Done.")?;
    // Only Linux can tell which processes are the client's.
    assert!(!cfg!(target_os = "linux") || !client.processes().is_empty());

    drop(terminal);

    check_processes(&client)
}
