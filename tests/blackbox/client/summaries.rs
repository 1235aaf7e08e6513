//! A model's summary of a session of the real client: with a team memory by the one question that brings its entries, without one
//! only at the user's word.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tables::hooks;
use wyren_tests::client::{self, Client};
use wyren_tests::mock::{Lane, Reply, Request};
use wyren_tests::plugin;

use super::{check_processes, client_with_plugin, decide, leave_out_the_scan};
use crate::worker::wait_for;

/// How the questions about a session begin, with a team memory and without one.
const BOTH: &str = "You maintain the memory of a software team.";
const SUMMARY_ALONE: &str = "You keep the journal of a software project.";

const DECISION: &str = "Decision: prices are integer cents from now on. We looked at decimal.js and rejected it: 40 KB for no gain.";

/// The tool through which the client answers what has a schema.
const ANSWER_TOOL: &str = "StructuredOutput";

/// A user whose worker asks the model through the client, as by default.
struct Asking {
    client: Client,
    plugin: PathBuf,
}

impl Asking {
    fn new() -> Result<Option<Asking>> {
        let (Some(client), Some(plugin), Some(child)) =
            (client_with_plugin()?, plugin::folder(), client::program())
        else {
            return Ok(None);
        };
        let client = client.env("WYREN_MODEL_PROVIDER", "cli").env("WYREN_MODEL_COMMAND", child);
        leave_out_the_scan(&client)?;
        client.mock().script_with(|request| {
            (is_asked(request, BOTH) || is_asked(request, SUMMARY_ALONE)).then(answer)
        });
        client.mock().script(Lane::Main, [Reply::text("Understood, integer cents it is.")]);
        Ok(Some(Asking { client, plugin }))
    }

    fn questions(&self, question: &str) -> usize {
        self.client.mock().requests().iter().filter(|request| is_asked(request, question)).count()
    }

    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        self.client.wyren(&self.plugin, arguments)
    }

    /// Checks that there is one summary by a model, of this session, and what was called for it.
    fn check_summary(&self, session: &str, job: &str) -> Result<()> {
        let spend: Value = serde_json::from_str(&self.wyren(&["spend", "--json"])?)?;
        let row = &spend["rows"][0];
        assert_eq!((&row["job"], &row["calls"]), (&json!(job), &json!(1)), "{spend:#}");
        assert_eq!(spend["rows"].as_array().map(Vec::len), Some(1), "{spend:#}");
        let exported = self.wyren(&["export"])?;
        let lines: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let summaries: Vec<&Value> = lines.iter().filter(|line| line["type"] == "summary").collect();
        let [summary] = summaries.as_slice() else { panic!("{exported}") };
        assert_eq!(summary["session"], session, "{summary:#}");
        let database = rusqlite::Connection::open(self.client.data().join("wyren.db"))?;
        let query = "SELECT data FROM observations WHERE kind = 'summary'";
        let data: String = database.query_row(query, [], |row| row.get(0)).context("no observation")?;
        let data: Value = serde_json::from_str(&data)?;
        assert_eq!(
            (&data["source"], &data["completed"]),
            (&json!("model"), &json!("Integer cents were chosen"))
        );
        Ok(())
    }
}

fn is_asked(request: &Request, question: &str) -> bool {
    request.count(question) > 0
}

fn answer() -> Reply {
    let operation = json!({
        "do": "add", "section": "Decisions", "text": "Prices are integer cents", "confidence": 0.9, "turns": [1],
    });
    let summary = json!({"request": "Settle how prices are kept", "completed": "Integer cents were chosen"});
    Reply::text("I see.").tool_use(ANSWER_TOOL, json!({"operations": [operation], "summary": summary}))
}

#[test]
fn a_session_with_a_team_memory_gets_entries_and_a_summary_by_one_question() -> Result<()> {
    let Some(asking) = Asking::new()? else { return Ok(()) };
    let client = &asking.client;
    decide(client, "Use Postgres for the queue")?;

    let turn = client.prompt(DECISION)?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    // The end of the session has it distilled.
    let memory = client.project().join(".wyren/memory.md");
    wait_for("an entry", || Ok(fs::read_to_string(&memory)?.contains("Prices are integer cents")))?;
    check_processes(client)?;
    assert_eq!((asking.questions(BOTH), asking.questions(SUMMARY_ALONE)), (1, 0));
    asking.check_summary(turn.session(), "distill")
}

#[test]
fn a_session_without_a_team_memory_gets_a_models_summary_at_the_users_word_alone() -> Result<()> {
    if hooks::find("stop-summary").is_none() {
        return Ok(());
    }
    for is_on in [false, true] {
        let Some(asking) = Asking::new()? else { return Ok(()) };
        let client = &asking.client;
        if is_on {
            asking.wyren(&["config", "set", "journal.model", "on"])?;
        }

        let turn = client.prompt(DECISION)?;

        assert!(turn.succeeded(), "{:#?}", turn.output);
        check_processes(client)?;
        // A worker that began at the turn's end may have missed the session's.
        asking.wyren(&["worker", "run", "--until-idle"])?;
        assert_eq!((asking.questions(BOTH), asking.questions(SUMMARY_ALONE)), (0, usize::from(is_on)));
        if is_on {
            asking.check_summary(turn.session(), "summarise")?;
        }
        check_processes(client)?;
    }
    Ok(())
}
