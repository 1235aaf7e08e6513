//! `session-start-recall`: what was done in one session is known in the next.

use std::fs;

use anyhow::{Context, Result};
use serde_json::json;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply, Request};

use super::{check_hook_log, check_processes, client_with_plugin, decide};

/// How an index begins.
const OPENING: &str = "Wyren: earlier work in this project, from its journal.";

/// A client whose model edits a file in the session that comes first.
fn client_that_edits() -> Result<Option<Client>> {
    let Some(client) = client_with_plugin()? else { return Ok(None) };
    let client = client.allow_tools(&["Read", "Edit"]);
    fs::write(client.project().join("auth.rs"), "fn verify_token() {\n    check();\n}\n")?;
    let path = client.project().join("auth.rs");
    let edit =
        json!({"file_path": path, "old_string": "    check();", "new_string": "    check();\n    expire();"});
    let script = [
        Reply::text("I look.").tool_use("Read", json!({"file_path": path})),
        Reply::text("I change it.").tool_use("Edit", edit),
        Reply::text("verify_token checks the expiry now."),
    ];
    client.mock().script(Lane::Main, script);
    Ok(Some(client))
}

/// Has the first session end, and everything that it started.
fn work(client: &Client) -> Result<String> {
    let turn = client.prompt("let verify_token check the expiry")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    check_processes(client)?;
    Ok(turn.session().to_owned())
}

/// Returns the line of the index about the edit.
fn line(request: &Request) -> Result<String> {
    let texts = request.texts();
    let index = texts.split(OPENING).nth(1).with_context(|| format!("no index: {texts}"))?;
    let line = index.lines().find(|line| line.contains("auth.rs"));
    line.map(str::to_owned).with_context(|| format!("no line about the edit: {index}"))
}

#[test]
fn an_edit_is_a_line_in_the_first_request_of_the_next_session_and_not_repeated_on_resume() -> Result<()> {
    let Some(client) = client_that_edits()? else { return Ok(()) };
    let first = work(&client)?;

    client.mock().script(Lane::Main, [Reply::text("I know."), Reply::text("Still.")]);
    let next = client.prompt("what did we do?")?;
    let request = next.main_request(0)?;
    assert!(line(request)?.contains("verify_token"), "{}", request.texts());
    assert_eq!(request.count(OPENING), 1, "{}", request.texts());
    assert!(!client.project().join(".wyren").exists());

    let resumed = client.prompt_resumed(&first, "and before?")?;
    assert_eq!(resumed.main_request(0)?.count(OPENING), 0, "{}", resumed.main_request(0)?.texts());
    check_hook_log(&client, "session-start-recall")?;
    check_processes(&client)
}

#[test]
fn with_a_team_memory_and_with_capture_off_the_index_comes_all_the_same() -> Result<()> {
    let Some(client) = client_that_edits()? else { return Ok(()) };
    decide(&client, "Use Postgres [session aaaaaaaa, turn 1, by Ada, 2025-11-16]")?;
    work(&client)?;

    let client = client.env("WYREN_CAPTURE", "false");
    client.mock().script(Lane::Main, [Reply::text("I know.")]);
    let next = client.prompt("what did we do?")?;
    assert!(line(next.main_request(0)?)?.contains("verify_token"));
    check_processes(&client)
}

#[test]
fn a_subagent_gets_no_index() -> Result<()> {
    let Some(client) = client_that_edits()? else { return Ok(()) };
    work(&client)?;

    let client = client.allow_tools(&["Agent"]);
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    client.mock().script(Lane::Subagent, [Reply::text("Nothing to see.")]);
    let next = client.prompt("have someone look")?;
    assert!(next.succeeded(), "{:#?}", next.output);
    let subagent = next.requests.iter().find(|request| request.lane() == Some(Lane::Subagent));
    let subagent = subagent.context("no request of a subagent")?;
    assert_eq!(subagent.count(OPENING), 0, "{}", subagent.texts());
    check_processes(&client)
}

#[test]
fn after_clear_and_compact_the_index_comes_again() -> Result<()> {
    let Some(client) = client_that_edits()? else { return Ok(()) };
    work(&client)?;
    let answers = ["The first answer.", "The second answer.", "The third answer.", "The fourth answer."];
    client.mock().script(Lane::Main, answers.map(Reply::text));
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They counted.</summary>")]);
    let before = client.mock().requests().iter().filter(|request| request.lane() == Some(Lane::Main)).count();

    let mut terminal = client.terminal()?;
    terminal.submit("the first question")?;
    terminal.wait_for("The first answer.")?;
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("The first answer."))?;
    terminal.submit("the second question")?;
    terminal.wait_for("The second answer.")?;
    terminal.submit("the third question")?;
    terminal.wait_for("The third answer.")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    terminal.submit("the fourth question")?;
    terminal.wait_for("The fourth answer.")?;
    terminal.exit()?;

    for number in [0, 1, 3] {
        let request = client.mock().wait_for(Lane::Main, before + number)?;
        assert_eq!(request.count(OPENING), 1, "{number}: {}", request.texts());
        assert!(line(&request)?.contains("verify_token"));
    }
    check_processes(&client)
}
