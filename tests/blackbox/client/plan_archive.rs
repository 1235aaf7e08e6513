//! `plan-archive` in the real client: a plan that is refused, and one that is accepted.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::client::Client;
use wyren_tests::mock::{Lane, Reply, Request};
use wyren_tests::plugin;
use wyren_tests::terminal::{Key, Terminal};

use super::{check_processes, check_ran, client_with_plugin, exported, of_type};

/// What the client asks before it lets the model leave plan mode.
pub(super) const QUESTION: &str = "Would you like to proceed?";

/// Returns a client in plan mode.
pub(super) fn planning() -> Result<Option<Client>> {
    Ok(client_with_plugin()?.map(|client| client.flag("--permission-mode").flag("plan")))
}

/// Returns the file that a request names for the plan.
fn plan_file(request: &Request) -> Option<String> {
    let texts = request.texts();
    let at = texts.find("/plans/")?;
    let start = texts[..at].rfind(|letter: char| letter.is_whitespace() || "`\"'".contains(letter))? + 1;
    let end = at + texts[at..].find(".md")? + ".md".len();
    Some(texts[start..end].to_owned())
}

/// Has the model write a plan and show it, for the prompt that ends in "plan <text>"; what `rest` says for anything else.
pub(super) fn script_plans(client: &Client, rest: impl Fn(&Request) -> Option<Reply> + Send + 'static) {
    client.mock().script_with(move |request| {
        if request.lane() != Some(Lane::Main) {
            return None;
        }
        match last_block(request) {
            Block::Typed(text) if text.contains("make plan ") => {
                let (_, rest) = text.rsplit_once("make plan ")?;
                let wanted: String = rest.chars().take_while(|letter| letter.is_alphanumeric()).collect();
                let text = format!("# Plan {wanted}\n\n1. do a of {wanted}\n2. do b of {wanted}\n");
                let input = json!({"file_path": plan_file(request)?, "content": text});
                Some(Reply::text("I write the plan.").tool_use("Write", input))
            }
            Block::Result(text) if text.contains("/plans/") && !text.contains("approved") => {
                Some(Reply::text("I show the plan.").tool_use("ExitPlanMode", json!({})))
            }
            _ => rest(request),
        }
    });
}

/// What a request ends with, besides what the client adds.
pub(super) enum Block {
    Typed(String),
    Result(String),
    None,
}

/// Returns the last result of a tool or text of the user.
pub(super) fn last_block(request: &Request) -> Block {
    let messages = request.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_user = messages.iter().rev().filter(|message| message["role"] == "user");
    for message in of_user {
        let Some(blocks) = message["content"].as_array() else {
            return Block::Typed(message["content"].as_str().unwrap_or_default().to_owned());
        };
        for block in blocks.iter().rev() {
            match (block["type"].as_str(), block["text"].as_str()) {
                (Some("tool_result"), _) => return Block::Result(block.to_string()),
                (Some("text"), Some(text)) if !text.starts_with("<system-reminder>") => {
                    return Block::Typed(text.to_owned());
                }
                _ => {}
            }
        }
    }
    Block::None
}

/// Has the model show a plan, and answers the client's question.
pub(super) fn decide_on_plan(terminal: &mut Terminal, name: &str, accept: bool) -> Result<()> {
    terminal.submit(&format!("make plan {name}"))?;
    terminal.wait_for(QUESTION)?;
    if accept {
        // The second choice: the user approves edits by hand.
        terminal.type_text("2")?;
    } else {
        terminal.press(Key::Escape)?;
    }
    terminal.wait_until("an answered question", |contents| !contents.contains(QUESTION))
}

#[test]
fn a_refused_and_an_accepted_plan_are_both_kept_and_told_apart() -> Result<()> {
    let Some(client) = planning()? else { return Ok(()) };
    script_plans(&client, |_| Some(Reply::text("That is all.")));

    let mut terminal = client.terminal()?;
    decide_on_plan(&mut terminal, "FIRST", false)?;
    decide_on_plan(&mut terminal, "SECOND", true)?;
    terminal.wait_for("That is all.")?;
    terminal.exit()?;

    check_ran(&client, "plan-archive", "PreToolUse")?;
    check_ran(&client, "plan-archive", "PostToolUse")?;
    let events = exported(&client)?;
    let plans = of_type(&events, "plan");
    let told: Vec<(bool, bool)> = plans
        .iter()
        .map(|plan| {
            let text = plan["data"]["text"].as_str().unwrap_or_default();
            (text.contains("do a of SECOND"), plan["data"]["accepted"] == Value::Bool(true))
        })
        .collect();
    assert_eq!(told, [(false, false), (true, false), (true, true)], "{plans:#?}");
    let path = plans[0]["data"]["path"].as_str().context("no path")?;
    assert!(path.contains("plans"), "{path}");
    check_processes(&client)
}

/// What a window gets that goes on with work.
const WORK: &str = "Wyren: the work that this session goes on with.";

/// As [`script_plans`]: an accepted plan gets two tasks, of which the first is completed.
fn script_tasks(client: &Client) {
    script_plans(client, |request| match last_block(request) {
        Block::Result(result) if result.contains("approved") => Some(
            Reply::text("I list.")
                .tool_use("TaskCreate", json!({"subject": "Do a of SECOND", "description": "the first"}))
                .tool_use("TaskCreate", json!({"subject": "Do b of SECOND", "description": "the second"})),
        ),
        Block::Result(result) if result.contains("Do b of SECOND") || result.contains("#2") => Some(
            Reply::text("I finish.").tool_use("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        ),
        Block::Typed(text) if text.contains("continue") => Some(Reply::text("I continue.")),
        _ => Some(Reply::text("That is all.")),
    });
}

#[test]
fn a_new_session_that_is_asked_to_continue_gets_the_plan_and_the_open_tasks() -> Result<()> {
    let Some(client) = planning()? else { return Ok(()) };
    script_tasks(&client);
    let mut terminal = client.terminal()?;
    decide_on_plan(&mut terminal, "SECOND", true)?;
    terminal.wait_for("That is all.")?;
    terminal.exit()?;

    let mut terminal = client.terminal()?;
    terminal.submit("continue")?;
    terminal.wait_for("I continue.")?;
    terminal.exit()?;

    let first = client.mock().wait_for(Lane::Main, 0)?;
    let after = client.mock().requests_of(Lane::Main).pop().context("no request")?;
    assert_ne!(first.session(), after.session());
    for part in [
        WORK,
        "Accepted plan, version 1: Plan SECOND",
        "Progress: 1 of 2 tasks completed.",
        "1. do a of SECOND\n2. do b of SECOND",
        "[pending] Do b of SECOND",
    ] {
        assert_eq!(after.count(part), 1, "{part}: {}", after.texts());
    }
    check_processes(&client)
}

#[test]
fn an_accepted_plan_and_the_open_tasks_are_in_the_first_request_after_clear() -> Result<()> {
    let Some(client) = planning()? else { return Ok(()) };
    script_tasks(&client);

    let mut terminal = client.terminal()?;
    decide_on_plan(&mut terminal, "FIRST", false)?;
    decide_on_plan(&mut terminal, "SECOND", true)?;
    terminal.wait_for("That is all.")?;
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("That is all."))?;
    terminal.submit("continue")?;
    terminal.wait_for("I continue.")?;
    terminal.exit()?;

    let after = client.mock().requests_of(Lane::Main).pop().context("no request")?;
    assert_eq!(after.count(WORK), 1, "{}", after.texts());
    for part in [
        "Accepted plan, version 2: Plan SECOND",
        "Progress: 1 of 2 tasks completed.",
        "1. do a of SECOND\n2. do b of SECOND",
        "[pending] Do b of SECOND",
    ] {
        assert_eq!(after.count(part), 1, "{part}: {}", after.texts());
    }
    for part in ["do a of FIRST", "Do a of SECOND\n"] {
        assert_eq!(after.count(part), 0, "{part}: {}", after.texts());
    }
    // Refused, and kept.
    let events = exported(&client)?;
    let kept = of_type(&events, "plan").iter().any(|plan| plan.to_string().contains("do a of FIRST"));
    assert!(kept, "{events:#?}");
    check_processes(&client)
}

#[test]
fn a_plan_that_was_refused_before_clear_is_marked_and_neither_restored_nor_taken_up() -> Result<()> {
    let (Some(client), Some(plugin)) = (planning()?, plugin::folder()) else { return Ok(()) };
    script_plans(&client, |_| Some(Reply::text("That is all.")));

    let mut terminal = client.terminal()?;
    decide_on_plan(&mut terminal, "FIRST", false)?;
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("make plan FIRST"))?;
    terminal.submit("something else")?;
    terminal.wait_for("That is all.")?;
    terminal.exit()?;

    let after = client.mock().requests_of(Lane::Main).pop().context("no request")?;
    assert_eq!((after.count(WORK), after.count("do a of FIRST")), (0, 0), "{}", after.texts());
    let plans = client.wyren(&plugin, &["work", "plans", "--json"])?;
    assert!(plans.contains("\"status\": \"rejected\""), "{plans}");
    let contexts = client.wyren(&plugin, &["work", "list", "--json"])?;
    assert!(contexts.contains("-plan-first\"") && !contexts.contains("\"artifact\""), "{contexts}");
    check_processes(&client)
}

#[test]
fn a_plan_that_is_accepted_with_a_new_window_is_known_as_accepted() -> Result<()> {
    let Some(client) = planning()? else { return Ok(()) };
    let client = client.flag("--settings").flag(r#"{"showClearContextOnPlanAccept": true}"#);
    script_plans(&client, |_| Some(Reply::text("I implement it.")));

    let mut terminal = client.terminal()?;
    terminal.submit("make plan FIRST")?;
    terminal.wait_for("clear context")?;
    terminal.type_text("1")?;
    terminal.wait_for("I implement it.")?;
    terminal.exit()?;

    let first = client.mock().wait_for(Lane::Main, 0)?;
    let after = client.mock().requests_of(Lane::Main).pop().context("no request")?;
    assert_ne!(first.session(), after.session());
    assert_eq!(after.count("Accepted plan, version 1: Plan FIRST"), 1, "{}", after.texts());
    assert_eq!(after.count("It is in the first message of this session."), 1, "{}", after.texts());
    // The client's own copy, and no second one.
    assert_eq!(after.count("1. do a of FIRST"), 1, "{}", after.texts());
    check_processes(&client)
}
