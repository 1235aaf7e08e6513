//! The client as the child that answers our own questions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::{self, Client};
use wyren_tests::mock::{Lane, Reply, Request};
use wyren_tests::plugin;

use super::check_processes;

/// The tool that `--json-schema` adds, through which the answer comes.
const ANSWER_TOOL: &str = "StructuredOutput";

/// A user who has installed the plugin, and a program that asks a model as the worker does.
struct Asking {
    client: Client,
    program: PathBuf,
}

impl Asking {
    fn new() -> Result<Option<Asking>> {
        let (Some(client), Some(plugin), Some(program), Some(child)) =
            (Client::new()?, plugin::folder(), plugin::asking_program(), client::program())
        else {
            return Ok(None);
        };
        let client = client.env("WYREN_MODEL_COMMAND", child);
        client.add_marketplace(&plugin)?;
        client.install_plugin("wyren@wyren")?;
        Ok(Some(Asking { client, program }))
    }

    fn ask(&self, prompt: &str) -> Result<Value> {
        let output = self.client.run(&self.program, &["distill", prompt])?;
        serde_json::from_str(&output.stdout).with_context(|| format!("{output:#?}"))
    }

    /// Returns what the child asked the model, in order.
    fn requests(&self) -> Vec<Request> {
        let mut requests = self.client.mock().requests();
        requests.retain(|request| request.lane().is_some());
        requests
    }
}

fn blue() -> Reply {
    Reply::text("I see.").tool_use(ANSWER_TOOL, json!({"colour": "blue"})).usage(1_000, 50)
}

/// Returns the files below `folder`, at any depth.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files_below(&path),
            path => vec![path],
        })
        .collect()
}

#[test]
fn the_child_runs_no_hook_gets_no_tool_and_leaves_no_session() -> Result<()> {
    let Some(asking) = Asking::new()? else { return Ok(()) };
    let client = &asking.client;
    client.mock().script(Lane::Main, [blue()]);

    let outcome = asking.ask("the sky")?;

    assert_eq!(outcome, json!({"answer": {"colour": "blue"}}));
    let requests = asking.requests();
    assert!(!requests.is_empty());
    for request in &requests {
        let tools = request.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(tools.iter().all(|tool| tool["name"] == ANSWER_TOOL), "{tools:#?}");
        assert_eq!(request.count("hook additional context"), 0, "{}", request.texts());
    }
    assert_eq!(requests[0].count("You name colours."), 1, "{}", requests[0].texts());
    assert_eq!(requests[0].count("the sky"), 1, "{}", requests[0].texts());
    assert!(client.hook_log().map_or(true, |log| log.is_empty()), "{:?}", client.hook_log());
    let sessions = client.config().join("projects");
    assert_eq!(files_below(&sessions), Vec::<PathBuf>::new());
    assert_eq!(files_below(&client.data().join("cache/model")), Vec::<PathBuf>::new());
    check_processes(client)?;

    // The same user in a session of their own: the hooks run, and the session is kept.
    assert!(client.prompt("hello")?.succeeded());
    assert!(!client.hook_log()?.is_empty());
    assert!(!files_below(&sessions).is_empty());
    check_processes(client)
}

#[test]
fn the_child_gets_nothing_that_the_user_wrote_for_sessions() -> Result<()> {
    let Some(asking) = Asking::new()? else { return Ok(()) };
    let client = &asking.client;
    // The child works below the data folder, and the client reads what is in the folders above, too.
    for folder in [client.config(), client.project(), client.data()] {
        fs::write(folder.join("CLAUDE.md"), "Always answer in verse.")?;
    }
    client.mock().script(Lane::Main, [blue()]);

    assert_eq!(asking.ask("the sky")?, json!({"answer": {"colour": "blue"}}));

    for request in asking.requests() {
        assert_eq!(request.count("in verse"), 0, "{}", request.texts());
    }
    check_processes(client)
}

#[test]
fn prose_is_asked_for_once_more_and_given_up() -> Result<()> {
    let Some(asking) = Asking::new()? else { return Ok(()) };
    let client = &asking.client;

    let outcome = asking.ask("the sky")?;

    let reason = outcome["unavailable"].as_str().with_context(|| outcome.to_string())?;
    assert!(reason.contains("it is not JSON"), "{reason}");
    let requests = asking.requests();
    let told = |request: &Request| request.count("Your last answer could not be used");
    assert_eq!(requests.first().map(told), Some(0));
    assert_eq!(requests.last().map(told), Some(1));
    assert!(client.hook_log().map_or(true, |log| log.is_empty()));
    check_processes(client)
}

/// The client itself asks again when an answer does not fit the schema; the estimate of the cost has to cover that.
#[test]
fn an_answer_that_does_not_fit_is_asked_for_twice_and_not_more() -> Result<()> {
    let Some(asking) = Asking::new()? else { return Ok(()) };
    let client = &asking.client;
    let wrong = || Reply::text("I see.").tool_use(ANSWER_TOOL, json!({"colour": 7}));
    client.mock().script_with(move |request| (request.lane() == Some(Lane::Main)).then(wrong));

    let outcome = asking.ask("the sky")?;

    assert_eq!(outcome["unavailable"], "invalid answer from the model: no answer matched the schema");
    assert_eq!(asking.requests().len(), 2);
    check_processes(client)
}
