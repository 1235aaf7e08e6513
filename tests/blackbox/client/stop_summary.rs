//! `stop-summary` in the real client: how a turn ended; and what `lesson-inject` records of a call that it refused.

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};

use super::lessons::{personal, write_lesson};
use super::{check_processes, check_ran, client_with_plugin, exported, of_type, provoke};

fn bash(command: &str) -> Reply {
    Reply::text("I try.").tool_use("Bash", json!({"command": command, "description": "Try"}))
}

/// Returns the data of what was recorded of a kind.
fn recorded(client: &Client, kind: &str) -> Result<Vec<Value>> {
    Ok(of_type(&exported(client)?, kind).into_iter().map(|event| event["data"].clone()).collect())
}

#[test]
fn a_turns_end_is_recorded_with_the_last_message_and_its_prompt() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    client.mock().script(Lane::Main, [bash("echo worked"), Reply::text("It works now.")]);

    let turn = client.prompt("make it work")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    assert!(!client.project().join(".wyren").exists());
    check_ran(&client, "stop-summary", "Stop")?;
    let events = exported(&client)?;
    let (ends, prompts) = (of_type(&events, "turn-end"), of_type(&events, "prompt"));
    assert_eq!((ends.len(), prompts.len()), (1, 1), "{events:#?}");
    let data = &ends[0]["data"];
    assert_eq!((&data["outcome"], &data["text"]), (&json!("done"), &json!("It works now.")), "{events:#?}");
    assert_eq!((&ends[0]["prompt_id"], &ends[0]["prompt"]), (&prompts[0]["prompt_id"], &json!(1)));
    let transcript = data["transcript"].as_str().unwrap_or_default();
    assert!(std::fs::read_to_string(transcript)?.contains("It works now."), "{transcript}");
    let last = of_type(&events, "session-end");
    assert_eq!(last[0]["data"]["transcript"], transcript, "{events:#?}");
    check_processes(&client)
}

#[test]
fn a_turn_whose_request_fails_is_recorded_as_failed() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };

    provoke(&client, "StopFailure")?;

    check_ran(&client, "stop-summary", "StopFailure")?;
    let ends = recorded(&client, "turn-end")?;
    assert_eq!(ends.len(), 1, "{ends:#?}");
    assert_eq!((&ends[0]["outcome"], &ends[0]["text"]), (&json!("failed"), &Value::Null), "{ends:#?}");
    assert!(
        ends[0]["error"].as_str().is_some_and(|error| error.contains("scripted bad request")),
        "{ends:#?}"
    );
    check_processes(&client)
}

#[test]
fn a_call_that_a_guard_a_pause_or_the_end_of_a_loop_refuses_is_recorded_as_refused() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    write_lesson(&personal(&client), "frobnicating", "guard", "frobnicate", 5)?;
    write_lesson(&personal(&client), "touching-things", "pause", "touch", 5)?;
    let fails = "cat no-such-file";
    let calls = ["frobnicate all", "touch made", fails, fails, fails];
    client.mock().script(Lane::Main, calls.map(bash));

    let turn = client.prompt("try all of it")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    let refused = recorded(&client, "refused")?;
    let told: Vec<Value> = refused
        .iter()
        .map(|data| json!([data["by"], data["lesson"], data["tool"], data["input"]["command"]]))
        .collect();
    let expected = [
        json!(["guard", "frobnicating", "Bash", "frobnicate all"]),
        json!(["pause", "touching-things", "Bash", "touch made"]),
        json!(["loop", null, "Bash", fails]),
    ];
    assert_eq!(told, expected, "{refused:#?}");
    for (data, reason) in
        refused.iter().zip(["frobnicating is known", "touching-things is known", "failed twice"])
    {
        assert!(data["reason"].as_str().is_some_and(|text| text.contains(reason)), "{data:#}");
        assert!(data["tool_use_id"].is_string(), "{data:#}");
    }
    // Those that ran are there as well, and nothing is there twice.
    assert_eq!(of_type(&exported(&client)?, "tool").len(), 2);
    check_processes(&client)
}

#[test]
fn a_subagents_end_is_not_the_turns() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "Stop")?;

    let ends = recorded(&client, "turn-end")?;
    assert_eq!(ends.iter().map(|end| &end["text"]).collect::<Vec<_>>(), ["Done."], "{ends:#?}");
    check_processes(&client)
}

#[test]
fn with_capture_off_or_under_a_private_prompt_neither_ends_nor_refusals_are_recorded() -> Result<()> {
    for (variable, prompt) in [("off", "frobnicate"), ("on", "<private>frobnicate</private>")] {
        let Some(client) = client_with_plugin()? else { return Ok(()) };
        let client = client.allow_tools(&["Bash"]).env("WYREN_CAPTURE", variable);
        write_lesson(&personal(&client), "frobnicating", "guard", "frobnicate", 5)?;
        client.mock().script(Lane::Main, [bash("frobnicate all"), Reply::text("I could not.")]);

        let turn = client.prompt(prompt)?;

        assert!(turn.succeeded(), "{:#?}", turn.output);
        check_ran(&client, "stop-summary", "Stop")?;
        let events = exported(&client)?;
        for kind in ["turn-end", "refused"] {
            assert!(of_type(&events, kind).is_empty(), "{variable}: {events:#?}");
        }
        check_processes(&client)?;
    }
    Ok(())
}
