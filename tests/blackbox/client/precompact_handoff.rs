//! `precompact-handoff` in the real client: a compaction leaves a handoff, and one that is stopped is explained on the screen.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};

use super::{check_processes, check_ran, client_with_plugin, provoke};

#[test]
fn the_client_runs_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);

    provoke(&client, "PreCompact")?;

    check_ran(&client, "precompact-handoff", "PreCompact")?;
    check_processes(&client)
}

/// Returns the folders of the handoffs that were saved.
fn handoffs(client: &Client) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let contexts = inside(client.data().join("work"));
    contexts.into_iter().flat_map(|context| inside(context.join("handoffs"))).collect()
}

fn script(client: &Client) {
    let fail = json!({"command": "echo 'error: checkout.js takes euros'; exit 2", "description": "Try"});
    let replies = [
        Reply::text("I try.").tool_use("Bash", fail),
        Reply::text("The first answer."),
        Reply::text("The second answer."),
        Reply::text("The third answer."),
    ];
    client.mock().script(Lane::Main, replies);
    client.mock().script(Lane::Compaction, [Reply::text("<summary>They tried.</summary>")]);
}

#[test]
fn a_compaction_leaves_a_handoff_and_the_next_request_has_what_was_restored() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]);
    script(&client);
    let mut terminal = client.terminal()?;
    terminal.submit("teach the checkout cents")?;
    terminal.wait_for("The first answer.")?;
    terminal.submit("go on")?;
    terminal.wait_for("The second answer.")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compacted")?;
    let found = handoffs(&client);
    ensure!(found.len() == 1, "{found:?}: {:#?}", client.hook_log()?);
    let dead_ends = fs::read_to_string(found[0].join("dead-ends.md"))?;
    assert!(dead_ends.contains("error: checkout.js takes euros"), "{dead_ends}");
    terminal.submit("what did not work?")?;
    terminal.wait_for("The third answer.")?;
    terminal.exit()?;

    let requests = client.mock().requests_of(Lane::Main);
    let last = requests.last().context("no request")?;
    assert!(last.count("failed: error: checkout.js takes euros") > 0, "{}", last.texts());
    assert!(last.count("They tried.") > 0, "{}", last.texts());
    check_processes(&client)
}

#[test]
fn a_stopped_compaction_shows_where_the_handoff_is_and_the_conversation_goes_on() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash"]).env("LESSONS_PRECOMPACT_HANDOFF", "1");
    script(&client);
    let mut terminal = client.terminal()?;
    terminal.submit("teach the checkout cents")?;
    terminal.wait_for("The first answer.")?;
    terminal.submit("go on")?;
    terminal.wait_for("The second answer.")?;
    terminal.submit("/compact")?;
    terminal.wait_for("Compaction blocked by PreCompact hook")?;
    terminal.wait_for("Wyren saved a handoff and stopped the compaction.")?;
    terminal.wait_for("/wyren:handoff-resume")?;
    assert_eq!(handoffs(&client).len(), 1);
    terminal.submit("what did not work?")?;
    terminal.wait_for("The third answer.")?;
    terminal.exit()?;

    assert!(client.mock().requests_of(Lane::Compaction).is_empty(), "nothing was summarised");
    let requests = client.mock().requests_of(Lane::Main);
    let last = requests.last().context("no request")?;
    assert!(last.count("teach the checkout cents") > 0, "{}", last.texts());
    check_processes(&client)
}
