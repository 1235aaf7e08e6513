//! `task-record` in the real client.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::terminal::Terminal;

use super::plan_archive::{Block, last_block};
use super::{check_processes, check_ran, client_with_plugin, exported, of_type};

#[test]
fn the_clients_list_of_tasks_is_kept_as_it_changes() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    let task =
        |subject: &str| json!({"subject": subject, "description": "at length", "activeForm": "Doing it"});
    let update = json!({"taskId": "2", "status": "in_progress", "addBlockedBy": ["1"], "metadata": {"evidence": "seen"}});
    client.mock().script(
        Lane::Main,
        [
            Reply::text("I list.").tool_use("TaskCreate", task("Do A")),
            Reply::text("And.").tool_use("TaskCreate", task("Do B")),
            Reply::text("I begin.").tool_use("TaskUpdate", update),
            Reply::text("I drop.").tool_use("TaskUpdate", json!({"taskId": "1", "status": "deleted"})),
            Reply::text("Done."),
        ],
    );

    let turn = client.prompt("list what is to be done")?;

    assert!(turn.succeeded(), "{:#?}", turn.output);
    check_ran(&client, "task-record", "PostToolUse")?;
    let events = exported(&client)?;
    let tasks: Vec<&Value> = of_type(&events, "task").into_iter().map(|task| &task["data"]).collect();
    let told: Vec<_> = tasks.iter().map(|task| (task["task"].as_str(), task["status"].as_str())).collect();
    assert_eq!(
        told,
        [
            (Some("1"), None),
            (Some("2"), None),
            (Some("2"), Some("in_progress")),
            (Some("1"), Some("deleted"))
        ],
        "{tasks:#?}"
    );
    assert_eq!((&tasks[2]["blocked_by"], &tasks[2]["evidence"]), (&json!(["1"]), &json!("seen")));
    assert_eq!(tasks[0]["list"], turn.session());
    check_processes(&client)
}

#[test]
fn a_list_that_is_continued_after_clear_has_the_right_ids() -> Result<()> {
    let Some(client) = client_with_plugin()? else { return Ok(()) };
    client.mock().script_with(|request| {
        if request.lane() != Some(Lane::Main) {
            return None;
        }
        let create = |reply: Reply, subject: &str, metadata: Value| {
            reply.tool_use(
                "TaskCreate",
                json!({"subject": subject, "description": "at length", "metadata": metadata}),
            )
        };
        match last_block(request) {
            Block::Typed(text) if text.contains("list it") => {
                let reply = create(Reply::text("I list."), "Do A", json!({}));
                Some(create(reply, "Do B", json!({})))
            }
            // As the restored text says: with the ids, in another order.
            Block::Typed(text) if text.contains("list again") => {
                let texts = request.texts();
                let mut reply = Reply::text("I list again.");
                for (line, subject) in texts.lines().rev().filter_map(|line| line.split_once(" [pending] ")) {
                    let id = line.trim_start_matches("- ");
                    reply = create(reply, subject, json!({"persistent_id": id, "skip_persistence": true}));
                }
                Some(reply)
            }
            Block::Typed(text) if text.contains("finish it") => {
                // The first of the second list is the last of the first one.
                let update = json!({"taskId": "1", "status": "completed"});
                Some(Reply::text("I finish.").tool_use("TaskUpdate", update))
            }
            Block::Typed(text) if text.contains("tell me") => Some(Reply::text("I told.")),
            _ => Some(Reply::text("That is all.")),
        }
    });

    let mut terminal = client.terminal()?;
    terminal.submit("list it")?;
    terminal.wait_for("That is all.")?;
    clear(&mut terminal)?;
    terminal.submit("list again")?;
    terminal.wait_for("That is all.")?;
    terminal.submit("finish it")?;
    terminal.wait_until("two answers", |contents| contents.matches("That is all.").count() == 2)?;
    clear(&mut terminal)?;
    terminal.submit("tell me")?;
    terminal.wait_for("I told.")?;
    terminal.exit()?;

    let last = client.mock().requests_of(Lane::Main).pop().context("no request")?;
    let texts = last.texts();
    assert_eq!((last.count("[pending] Do A"), last.count("[pending] Do B")), (1, 0), "{texts}");
    check_processes(&client)
}

fn clear(terminal: &mut Terminal) -> Result<()> {
    terminal.submit("/clear")?;
    terminal.wait_until("an empty conversation", |contents| !contents.contains("That is all."))
}
