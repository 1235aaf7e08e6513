//! The real client's session in a repository with a team memory: one question to a model brings its entries and its summary.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client;
use wyren_tests::mock::{Lane, Reply, Request};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin, decide};
use crate::worker::wait_for;

/// How the question about a session begins.
const QUESTION: &str = "You maintain the memory of a software team.";

/// The tool through which the client answers what has a schema.
const ANSWER_TOOL: &str = "StructuredOutput";

fn answer() -> Reply {
    let operation = json!({
        "do": "add", "section": "Decisions", "text": "Prices are integer cents", "confidence": 0.9, "turns": [1],
    });
    let summary = json!({"request": "Settle how prices are kept", "completed": "Integer cents were chosen"});
    Reply::text("I see.").tool_use(ANSWER_TOOL, json!({"operations": [operation], "summary": summary}))
}

#[test]
fn a_session_with_a_team_memory_gets_entries_and_a_summary_by_one_question() -> Result<()> {
    let (Some(client), Some(plugin), Some(child)) =
        (client_with_plugin()?, plugin::folder(), client::program())
    else {
        return Ok(());
    };
    let client = client.env("WYREN_MODEL_PROVIDER", "cli").env("WYREN_MODEL_COMMAND", child);
    decide(&client, "Use Postgres for the queue")?;
    client.mock().script_with(|request| (request.count(QUESTION) > 0).then(answer));
    client.mock().script(Lane::Main, [Reply::text("Understood, integer cents it is.")]);

    let decision = "Decision: prices are integer cents from now on. We looked at decimal.js and rejected it: 40 KB for no gain.";
    let turn = client.prompt(decision)?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    // The end of the session has it distilled.
    let memory = client.project().join(".wyren/memory.md");
    wait_for("an entry", || Ok(fs::read_to_string(&memory)?.contains("Prices are integer cents")))?;
    check_processes(&client)?;
    let asked = |request: &Request| request.count(QUESTION) > 0;
    assert_eq!(client.mock().requests().iter().filter(|request| asked(request)).count(), 1);
    let spend: Value = serde_json::from_str(&client.wyren(&plugin, &["spend", "--json"])?)?;
    assert_eq!(
        (&spend["rows"][0]["job"], &spend["rows"][0]["calls"]),
        (&json!("distill"), &json!(1)),
        "{spend:#}"
    );
    assert_eq!(spend["rows"].as_array().map(Vec::len), Some(1), "{spend:#}");

    let exported = client.wyren(&plugin, &["export"])?;
    let lines: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let summaries: Vec<&Value> = lines.iter().filter(|line| line["type"] == "summary").collect();
    let [summary] = summaries.as_slice() else { panic!("{exported}") };
    assert_eq!(summary["session"], turn.session(), "{summary:#}");
    let database = rusqlite::Connection::open(client.data().join("wyren.db"))?;
    let query = "SELECT data FROM observations WHERE kind = 'summary'";
    let data: String = database.query_row(query, [], |row| row.get(0)).context("no observation")?;
    let data: Value = serde_json::from_str(&data)?;
    assert_eq!((&data["source"], &data["completed"]), (&json!("model"), &json!("Integer cents were chosen")));
    Ok(())
}
