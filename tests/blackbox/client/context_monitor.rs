//! `context-monitor` in the real client: what a teammate decides during a turn is in the request after the next tool call.

use std::fs;
use std::thread;

use anyhow::{Result, anyhow};
use serde_json::json;
use wyren_tests::client::{Client, Turn};
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::team::client_in_clone;
use super::{check_hook_log, check_processes, check_ran, client_with_plugin, provoke};
use crate::team::{Member, Mode, Remote};

#[test]
fn the_client_runs_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "PostToolUse")?;

    check_ran(&client, "context-monitor", "PostToolUse")?;
    check_processes(&client)
}

/// Returns a tool call that ends once a file of that name is in the project.
fn wait_for_file(name: &str) -> Reply {
    let command = format!("until [ -e {name} ]; do sleep 0.05; done; echo {name}");
    Reply::text("I wait.").tool_use("Bash", json!({"command": command, "description": "Wait"}))
}

/// Publishes a decision, has a sync bring it to the client's clone, and lets the tool call end that waits for `file`.
fn arrive(ada: &Member, client: &Client, decision: &str, file: &str) -> Result<()> {
    ada.decide(decision)?;
    ada.wyren(&["sync"])?;
    if let Some(plugin) = plugin::folder() {
        client.wyren(&plugin, &["sync", "--background"])?;
    }
    Ok(fs::write(client.project().join(file), "")?)
}

/// Runs a turn, and `meanwhile` beside it.
fn turn_with(client: &Client, prompt: &str, meanwhile: impl FnOnce() -> Result<()>) -> Result<Turn> {
    thread::scope(|scope| {
        let turn = scope.spawn(|| client.prompt(prompt));
        let happened = meanwhile();
        let turn = turn.join().map_err(|_| anyhow!("the client's thread ended early"))?;
        happened.and(turn)
    })
}

/// Returns a member with a decision on the remote, and a client in a clone of it.
fn member_and_client(remote: &Remote) -> Result<Option<(Member, Client)>> {
    let Some(ada) = Member::set_up(remote, "Ada", Mode::Side)? else { return Ok(None) };
    ada.decide("Use Postgres for the queue")?;
    ada.wyren(&["sync"])?;
    Ok(client_in_clone(remote)?.map(|client| (ada, client.allow_tools(&["Bash", "Agent"]))))
}

#[test]
fn a_decision_that_arrives_during_a_turn_is_in_the_request_after_the_next_tool_call_once() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some((ada, client)) = member_and_client(&remote)? else { return Ok(()) };
    let replies = [wait_for_file("one"), wait_for_file("two"), Reply::text("Done.")];
    client.mock().script(Lane::Main, replies);

    let turn = turn_with(&client, "wait for news", || {
        client.mock().wait_for(Lane::Main, 0)?;
        arrive(&ada, &client, "Retry three times", "one")?;
        client.mock().wait_for(Lane::Main, 1)?;
        arrive(&ada, &client, "Name branches by ticket", "two")
    })?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert_eq!(turn.main_request(0)?.count("Retry three times"), 0);
    let request = turn.main_request(1)?;
    assert_eq!(request.count("Retry three times"), 1, "{}", request.texts());
    // A turn gets news once; the rest comes with the next prompt.
    let request = turn.main_request(2)?;
    assert_eq!(request.count("Retry three times"), 1, "{}", request.texts());
    assert_eq!(request.count("Name branches by ticket"), 0, "{}", request.texts());
    let next = client.prompt_continued("go on")?;
    let request = next.main_request(0)?;
    assert_eq!(request.count("Name branches by ticket"), 1, "{}", request.texts());
    assert_eq!(request.count("Retry three times"), 1, "{}", request.texts());
    check_hook_log(&client, "context-monitor")?;
    check_processes(&client)
}

#[test]
fn a_decision_that_arrives_while_a_subagent_works_reaches_the_main_window_alone() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some((ada, client)) = member_and_client(&remote)? else { return Ok(()) };
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(Lane::Main, [Reply::text("I ask.").tool_use("Agent", task), Reply::text("Done.")]);
    client.mock().script(Lane::Subagent, [wait_for_file("one"), Reply::text("Seen.")]);

    let turn = turn_with(&client, "have a subagent look", || {
        client.mock().wait_for(Lane::Subagent, 0)?;
        arrive(&ada, &client, "Retry three times", "one")
    })?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let inside = client.mock().requests_of(Lane::Subagent);
    assert_eq!(inside.len(), 2);
    for request in inside {
        assert_eq!(request.count("Retry three times"), 0, "{}", request.texts());
    }
    let request = turn.main_request(1)?;
    assert_eq!(request.count("Retry three times"), 1, "{}", request.texts());
    check_processes(&client)
}
