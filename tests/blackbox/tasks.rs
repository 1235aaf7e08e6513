//! Tasks, from the client's tools to what comes back: through the built programs.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Child, Stdio};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::{export, files_with, prompt};
use crate::plans::{end, run, start};

/// What the client sends after a call of a task tool.
pub(crate) fn task_call(
    sandbox: &Sandbox,
    session: &str,
    id: &str,
    tool: &str,
    input: &Value,
    output: &Value,
) -> Value {
    json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": "1", "hook_event_name": "PostToolUse",
        "tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": output, "duration_ms": 2,
    })
}

/// Has the client's list get a task with this number.
pub(crate) fn create(sandbox: &Sandbox, session: &str, id: &str, number: u32, input: &Value) -> Result<()> {
    let output = json!({"task": {"id": number.to_string(), "subject": input["subject"]}});
    run(sandbox, "task-record", &task_call(sandbox, session, id, "TaskCreate", input, &output))
}

/// Has the client's list change.
pub(crate) fn update(sandbox: &Sandbox, session: &str, id: &str, input: &Value) -> Result<()> {
    let output = json!({"success": true, "taskId": input["taskId"]});
    run(sandbox, "task-record", &task_call(sandbox, session, id, "TaskUpdate", input, &output))
}

fn tasks(sandbox: &Sandbox) -> Result<Vec<Value>> {
    Ok(export(sandbox, &[])?.into_iter().filter(|line| line["type"] == "task").collect())
}

#[test]
fn every_change_of_the_list_is_kept_without_a_folder_of_the_team() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "do it")?;
    create(&sandbox, "s", "toolu_1", 1, &json!({"subject": "Do A", "description": "at length"}))?;
    update(
        &sandbox,
        "s",
        "toolu_2",
        &json!({"taskId": "1", "status": "completed", "metadata": {"evidence": "tests pass"}}),
    )?;
    let todos = json!({"todos": [{"content": "Do B", "status": "pending", "activeForm": "Doing B"}]});
    run(&sandbox, "task-record", &task_call(&sandbox, "s", "toolu_3", "TodoWrite", &todos, &json!({})))?;
    // A tool that is none of them.
    run(
        &sandbox,
        "task-record",
        &task_call(&sandbox, "s", "toolu_4", "TaskList", &json!({}), &json!({"tasks": []})),
    )?;
    let mut shared = task_call(
        &sandbox,
        "s",
        "toolu_5",
        "TaskUpdate",
        &json!({"taskId": "1", "status": "pending"}),
        &json!({}),
    );
    shared["agent_id"] = "agent-1".into();
    feed(
        sandbox.command("task-record").env("CLAUDE_CODE_TASK_LIST_ID", "ours"),
        shared.to_string().as_bytes(),
    )?;

    assert!(!sandbox.project().join(".wyren").exists());
    let tasks = tasks(&sandbox)?;
    let data: Vec<&Value> = tasks.iter().map(|task| &task["data"]).collect();
    assert_eq!(data.len(), 4, "{data:#?}");
    assert_eq!(
        (&data[0]["task"], &data[0]["subject"], &data[0]["list"]),
        (&json!("1"), &json!("Do A"), &json!("s"))
    );
    assert_eq!((&data[1]["status"], &data[1]["evidence"]), (&json!("completed"), &json!("tests pass")));
    assert_eq!(data[2]["todos"], todos["todos"]);
    assert_eq!((&data[3]["list"], &tasks[3]["agent"]), (&json!("ours"), &json!("agent-1")));
    Ok(())
}

#[test]
fn under_a_private_prompt_or_with_recording_off_no_task_is_kept() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    create(&sandbox, "s", "toolu_1", 1, &json!({"subject": "PRIVATE-TASK-WORD"}))?;
    prompt(&sandbox, "s", "2", "now openly")?;
    let off = [("WYREN_CAPTURE", "false"), ("WYREN_HOOKS_DISABLED", "task-record")];
    for (number, (name, value)) in off.into_iter().enumerate() {
        let (input, output) = (json!({"subject": "PRIVATE-OFF-WORD"}), json!({"task": {"id": "2"}}));
        let call = task_call(&sandbox, "s", &format!("toolu_off_{number}"), "TaskCreate", &input, &output);
        feed(sandbox.command("task-record").env(name, value), call.to_string().as_bytes())?;
    }
    create(&sandbox, "s", "toolu_3", 3, &json!({"subject": "Open <private>PRIVATE-PART-WORD</private>"}))?;
    let tasks = tasks(&sandbox)?;
    assert_eq!(tasks.len(), 1, "{tasks:#?}");
    assert_eq!(files_with(sandbox.folder(), "PRIVATE-")?, Vec::<std::path::PathBuf>::new());
    Ok(())
}

/// Returns the ids of the tasks in a restored list, in its order.
fn ids(restored: &str) -> Vec<String> {
    let lines = restored.lines().filter_map(|line| line.strip_prefix("- t-"));
    lines.filter_map(|line| line.split(' ').next()).map(|id| format!("t-{id}")).collect()
}

#[test]
fn line_12_a_list_that_is_continued_in_a_second_session_has_the_right_ids() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "do it")?;
    for (number, subject) in [(1, "Do A"), (2, "Do B"), (3, "Do C")] {
        create(&sandbox, "a", &format!("toolu_{number}"), number, &json!({"subject": subject}))?;
    }
    update(&sandbox, "a", "toolu_4", &json!({"taskId": "1", "status": "completed"}))?;
    end(&sandbox, "a", "clear-1", "clear")?;
    let restored = start(&sandbox, &[], "clear", "b", "clear-1")?;
    let first = ids(&restored);
    assert_eq!(first.len(), 2, "{restored}");
    assert!(restored.contains("[pending] Do B") && !restored.contains("Do A"), "{restored}");
    assert!(restored.contains("\"skip_persistence\": true"), "{restored}");
    // As the text says: in its order, with its ids; the client numbers from 1 again.
    for (number, id) in [(1, &first[0]), (2, &first[1])] {
        let metadata = json!({"persistent_id": id, "skip_persistence": true});
        let input = json!({"subject": format!("again {number}"), "metadata": metadata});
        create(&sandbox, "b", &format!("toolu_b{number}"), number, &input)?;
    }
    update(&sandbox, "b", "toolu_b3", &json!({"taskId": "1", "status": "completed"}))?;
    create(&sandbox, "b", "toolu_b4", 3, &json!({"subject": "Do D"}))?;
    end(&sandbox, "b", "clear-2", "clear")?;
    let restored = start(&sandbox, &[], "clear", "c", "clear-2")?;
    let second = ids(&restored);
    assert_eq!((second.len(), &second[0]), (2, &first[1]), "{restored}");
    assert!(restored.contains("[pending] Do C") && restored.contains("[pending] Do D"), "{restored}");
    Ok(())
}

#[test]
fn after_compaction_the_open_tasks_are_named_and_not_to_be_added_again() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "do it")?;
    create(&sandbox, "a", "toolu_1", 1, &json!({"subject": "Do A"}))?;
    let restored = start(&sandbox, &[], "compact", "a", "1")?;
    assert!(restored.contains("[pending] Do A") && restored.contains("do not add them again"), "{restored}");
    let shared = [("CLAUDE_CODE_TASK_LIST_ID", "ours")];
    let output = json!({"task": {"id": "1"}});
    let call = task_call(&sandbox, "a", "toolu_2", "TaskCreate", &json!({"subject": "Do B"}), &output);
    feed(sandbox.command("task-record").envs(shared), call.to_string().as_bytes())?;
    end(&sandbox, "a", "clear-1", "clear")?;
    let restored = start(&sandbox, &shared, "clear", "b", "clear-1")?;
    // The one of the session's own list is lost to the client.
    assert!(restored.contains("[pending, in the list of this session] Do B"), "{restored}");
    assert!(
        restored.contains("[pending] Do A") && restored.contains("that the task list of this session lacks"),
        "{restored}"
    );
    Ok(())
}

/// Starts a hook with this input, and does not wait for it.
fn spawn(sandbox: &Sandbox, call: &Value) -> Result<Child> {
    let mut command = sandbox.command("task-record");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    // One that was killed meanwhile reads no more.
    let _ = input.write_all(call.to_string().as_bytes());
    Ok(child)
}

#[test]
fn line_02_of_50_updates_at_once_with_drains_and_kills_in_between_every_one_that_ended_is_there() -> Result<()>
{
    const UPDATES: u32 = 50;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "do it")?;
    for number in 1..=UPDATES {
        create(
            &sandbox,
            "a",
            &format!("toolu_{number}"),
            number,
            &json!({"subject": format!("Step {number}.")}),
        )?;
    }
    let update = |number: u32, id: &str, status: &str| {
        let input = json!({"taskId": number.to_string(), "status": status, "metadata": {"evidence": format!("seen {number}")}});
        task_call(&sandbox, "a", id, "TaskUpdate", &input, &json!({"success": true}))
    };
    let mut running = Vec::new();
    for number in 1..=UPDATES {
        running.push(spawn(&sandbox, &update(number, &format!("toolu_u{number}"), "completed"))?);
        // One more for every fifth, which is killed at once: it is there whole, or not at all.
        if number % 5 == 0 {
            let mut killed = spawn(&sandbox, &update(number, &format!("toolu_k{number}"), "completed"))?;
            killed.kill()?;
            killed.wait()?;
        }
        if number % 20 == 0 {
            let mut drain = sandbox.command("wyren");
            let mut drain = drain.arg("export").stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            drain.kill()?;
            drain.wait()?;
        }
    }
    for mut child in running {
        ensure!(child.wait()?.success());
    }
    let tasks = tasks(&sandbox)?;
    for number in 1..=UPDATES {
        let is_it = |task: &&Value| task["id"] == format!("t:toolu_u{number}");
        let found = tasks.iter().find(is_it).with_context(|| format!("no update {number}"))?;
        assert_eq!(found["data"]["evidence"], format!("seen {number}"));
    }
    // What was killed left the state before it or the one after it; both are the same here, and no line is damaged.
    assert!(tasks.iter().all(|task| task["data"]["task"].is_string()), "{tasks:#?}");
    create(&sandbox, "a", "toolu_last", UPDATES + 1, &json!({"subject": "Step last."}))?;
    end(&sandbox, "a", "clear-1", "clear")?;
    let restored = start(&sandbox, &[], "clear", "b", "clear-1")?;
    assert_eq!(ids(&restored).len(), 1, "{restored}");
    Ok(())
}
