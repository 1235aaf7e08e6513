//! `wyren-mcp`: the model asks its memory.

use anyhow::{Context, Result};
use serde_json::json;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin, exported};

/// How the client calls our tools.
const PREFIX: &str = "mcp__plugin_wyren_memory__";

#[test]
fn calls_of_the_model_are_answered_and_the_answers_are_in_its_next_request() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["mcp__plugin_wyren_memory"]);
    let plugin = plugin::folder().context("no plugin")?;
    client.wyren(&plugin, &["remember", "--type", "decision", "Prices are integer cents"])?;
    let call = |name: &str, input| Reply::text("I ask.").tool_use(format!("{PREFIX}{name}"), input);
    let script = [
        call("search", json!({"query": "how are prices stored", "limit": "3"})),
        call("decisions", json!({})),
        call("remember", json!({"text": "Deploys need the VPN"})),
        call("get", json!({"ids": ["zzzzzzzz"]})),
        Reply::text("Done."),
    ];
    client.mock().script(Lane::Main, script);
    let turn = client.prompt("how are prices stored?")?;
    assert!(turn.succeeded(), "{:#?}", turn.output);
    let first = turn.main_request(0)?;
    assert!(first.texts().contains("Wyren is the memory of this project"), "{}", first.texts());
    assert!(!first.texts().contains("[truncated]"), "{}", first.texts());
    for (number, expected) in
        [(1, "Prices are integer cents"), (2, "decision"), (3, "Remembered as "), (4, "nothing has the id")]
    {
        let body = turn.main_request(number)?.body.to_string();
        assert!(body.contains(expected), "request {number} lacks {expected:?}: {body}");
    }
    check_processes(&client)?;
    let known = client.wyren(&plugin, &["search", "VPN"])?;
    assert!(known.contains("Deploys need the VPN"), "{known}");
    // What the memory answers is not recorded again.
    let recorded = exported(&client)?.iter().filter(|line| line.to_string().contains(PREFIX)).count();
    assert_eq!(recorded, 0);
    Ok(())
}
