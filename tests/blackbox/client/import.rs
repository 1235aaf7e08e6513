//! The real client's transcript tells what the hooks recorded.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin};

/// Returns the prompts and calls of an export by their ids: what was asked and done, and where. The client writes a subagent's
/// results as the model got them alone.
fn told(exported: &str) -> Result<BTreeMap<String, Value>> {
    let mut told = BTreeMap::new();
    for line in exported.lines() {
        let line: Value = serde_json::from_str(line)?;
        if ["prompt", "tool"].iter().any(|kind| line["type"] == *kind) {
            let fields = [
                "type",
                "session",
                "text",
                "tool",
                "input",
                "output",
                "cwd",
                "agent",
                "agent_type",
                "prompt_id",
                "number",
                "prompt",
            ];
            let is_compared = |name: &&&str| **name != "output" || line["agent"].is_null();
            let fields: Value = fields
                .iter()
                .filter(is_compared)
                .map(|name| ((*name).to_owned(), line[*name].clone()))
                .collect();
            told.insert(line["id"].as_str().context("no id")?.to_owned(), fields);
        }
    }
    Ok(told)
}

fn work(client: &Client) -> Result<()> {
    let bash = |command: &str| json!({"command": command, "description": "Try"});
    let task = json!({"description": "Look", "prompt": "look around", "subagent_type": "general-purpose"});
    client.mock().script(
        Lane::Main,
        [
            Reply::text("I try.").tool_use("Bash", bash("echo worked")),
            Reply::text("Again.").tool_use("Bash", bash("echo broken >&2; exit 3")),
            Reply::text("I ask.").tool_use("Agent", task),
            Reply::text("That is all."),
        ],
    );
    client.mock().script(
        Lane::Subagent,
        [Reply::text("I look.").tool_use("Bash", bash("echo seen")), Reply::text("Nothing to see.")],
    );
    let turn = client.prompt("try some things")?;
    ensure!(turn.succeeded(), "{:#?}", turn.output);
    Ok(())
}

#[test]
fn an_imported_transcript_equals_what_was_recorded_and_adds_nothing_to_it() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let client = client.allow_tools(&["Bash", "Agent"]);
    work(&client)?;
    let plugin = plugin::folder().context("no plugin")?;
    let recorded = told(&client.wyren(&plugin, &["export"])?)?;
    assert_eq!(recorded.len(), 5, "{recorded:#?}");

    let elsewhere = tempfile::tempdir()?;
    let run = |arguments: &[&str]| -> Result<String> {
        let mut command =
            Command::new(plugin.join("bin").join(format!("wyren{}", std::env::consts::EXE_SUFFIX)));
        command.args(arguments).current_dir(client.project()).env_clear();
        command.env("HOME", elsewhere.path()).env("CLAUDE_CONFIG_DIR", client.config());
        command.env("WYREN_DATA_DIR", elsewhere.path().join("data")).env("WYREN_WORKER_IDLE_SECONDS", "0");
        let output = command.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    run(&["import", "--transcripts"])?;
    let imported = told(&run(&["export"])?)?;
    for (id, call) in &recorded {
        assert_eq!(imported.get(id), Some(call), "{id}");
    }
    assert_eq!(imported.len(), recorded.len(), "{imported:#?}");

    client.wyren(&plugin, &["import", "--transcripts"])?;
    assert_eq!(told(&client.wyren(&plugin, &["export"])?)?, recorded);
    client.wyren(&plugin, &["worker", "stop"])?;
    check_processes(&client)
}
