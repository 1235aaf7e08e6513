//! Plans, from what the client shows to what comes back: through the built programs.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::{export, files_with, prompt, shell, wyren};

/// How a plan comes: before the user decides, or after they accepted.
pub(crate) const SHOWN: &str = "PreToolUse";
pub(crate) const ACCEPTED: &str = "PostToolUse";

/// What the client sends about a plan.
pub(crate) fn plan_call(sandbox: &Sandbox, event: &str, session: &str, id: &str, text: &str) -> Value {
    let mut call = json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": "1", "hook_event_name": event,
        "tool_name": "ExitPlanMode", "tool_use_id": id, "permission_mode": "plan",
        "tool_input": {"plan": text, "planFilePath": "/home/user/.claude/plans/a-plan.md"},
    });
    if event == ACCEPTED {
        call["tool_response"] =
            json!({"plan": text, "isAgent": false, "filePath": "/home/user/.claude/plans/a-plan.md"});
        call["permission_mode"] = "default".into();
    }
    call
}

/// Has a hook read a call.
pub(crate) fn run(sandbox: &Sandbox, hook: &str, call: &Value) -> Result<()> {
    let output = feed(&mut sandbox.command(hook), call.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    Ok(())
}

pub(crate) fn plan(sandbox: &Sandbox, event: &str, session: &str, id: &str, text: &str) -> Result<()> {
    run(sandbox, "plan-archive", &plan_call(sandbox, event, session, id, text))
}

fn plans(sandbox: &Sandbox) -> Result<Vec<Value>> {
    Ok(export(sandbox, &[])?.into_iter().filter(|line| line["type"] == "plan").collect())
}

#[test]
fn a_plan_is_kept_whole_with_its_file_and_that_it_was_accepted() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let text = format!("# Move to cents\n\n{}", "- change one more file of many\n".repeat(1_500));
    prompt(&sandbox, "s", "1", "plan it")?;
    plan(&sandbox, SHOWN, "s", "toolu_1", &text)?;
    plan(&sandbox, ACCEPTED, "s", "toolu_1", &text)?;
    // Again, as when the plugin is wired twice.
    plan(&sandbox, ACCEPTED, "s", "toolu_1", &text)?;

    assert!(!sandbox.project().join(".wyren").exists());
    let plans = plans(&sandbox)?;
    assert_eq!(plans.len(), 2, "{plans:#?}");
    for plan in &plans {
        assert_eq!(plan["data"]["text"], text.as_str());
        assert_eq!(plan["data"]["path"], "/home/user/.claude/plans/a-plan.md");
        assert_eq!(plan["data"]["digest"], plans[0]["data"]["digest"]);
    }
    assert_eq!((&plans[0]["data"]["accepted"], &plans[1]["data"]["accepted"]), (&Value::Null, &json!(true)));
    Ok(())
}

#[test]
fn a_plan_made_under_a_private_prompt_is_not_kept_and_a_private_part_never() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    prompt(&sandbox, "s", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    plan(&sandbox, SHOWN, "s", "toolu_1", "# PRIVATE-PLAN-WORD")?;
    plan(&sandbox, ACCEPTED, "s", "toolu_1", "# PRIVATE-PLAN-WORD")?;
    assert_eq!(plans(&sandbox)?, Vec::<Value>::new());
    prompt(&sandbox, "s", "2", "now openly")?;
    plan(
        &sandbox,
        SHOWN,
        "s",
        "toolu_2",
        &format!("# Open\n<private>PRIVATE-PART-WORD</private>\nuse {key}"),
    )?;
    let text = plans(&sandbox)?[0]["data"]["text"].to_string();
    assert!(text.contains("# Open") && text.contains("use "), "{text}");
    for hidden in ["PRIVATE-", &key] {
        assert_eq!(files_with(sandbox.folder(), hidden)?, Vec::<std::path::PathBuf>::new(), "{hidden}");
    }
    Ok(())
}

#[test]
fn a_subagents_plan_is_kept_as_its_own_and_with_recording_off_none_is() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut call = plan_call(&sandbox, SHOWN, "s", "toolu_1", "# Of a subagent");
    call["agent_id"] = "agent-1".into();
    call["agent_type"] = "Plan".into();
    run(&sandbox, "plan-archive", &call)?;
    let off = [
        ("WYREN_CAPTURE", "false"),
        ("CLAUDE_MEM_SKIP_TOOLS", "ExitPlanMode"),
        ("WYREN_HOOKS_DISABLED", "prompt-record"),
        ("WYREN_HOOKS_DISABLED", "plan-archive"),
    ];
    for (number, (name, value)) in off.into_iter().enumerate() {
        let call = plan_call(&sandbox, SHOWN, "s", &format!("toolu_off_{number}"), "# Of none");
        feed(sandbox.command("plan-archive").env(name, value), call.to_string().as_bytes())?;
    }
    let plans = plans(&sandbox)?;
    assert_eq!(plans.len(), 1, "{plans:#?}");
    assert_eq!((&plans[0]["agent"], &plans[0]["agent_type"]), (&json!("agent-1"), &json!("Plan")));
    Ok(())
}

#[test]
fn a_forgotten_plan_is_in_no_file() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "plan it")?;
    plan(&sandbox, SHOWN, "s", "toolu_1", "# Forget FORGOTTEN-PLAN-WORD")?;
    shell(&sandbox, "s", "toolu_2", "echo kept", "KEPT-WORD")?;
    assert_eq!(plans(&sandbox)?.len(), 1);
    wyren(&sandbox, &["forget", "--query", "FORGOTTEN-PLAN-WORD", "--yes"])?;
    assert_eq!(plans(&sandbox)?, Vec::<Value>::new());
    assert_eq!(files_with(&sandbox.data(), "FORGOTTEN-PLAN-WORD")?, Vec::<std::path::PathBuf>::new());
    assert!(!files_with(&sandbox.data(), "KEPT-WORD")?.is_empty());
    Ok(())
}

/// Has a session end, as the client would.
pub(crate) fn end(sandbox: &Sandbox, session: &str, prompt_id: &str, reason: &str) -> Result<()> {
    let call = json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": prompt_id, "reason": reason,
        "hook_event_name": "SessionEnd", "transcript_path": sandbox.folder().join("none.jsonl"),
    });
    let mut command = sandbox.command("session-end");
    // The worker that it starts waits for no more work.
    let output = feed(command.env("WYREN_WORKER_IDLE_SECONDS", "0"), call.to_string().as_bytes())?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

/// Returns what the model gets at a start.
pub(crate) fn start(
    sandbox: &Sandbox,
    variables: &[(&str, &str)],
    source: &str,
    session: &str,
    prompt_id: &str,
) -> Result<String> {
    let call = json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": prompt_id, "source": source,
        "hook_event_name": "SessionStart",
    });
    let run = |hook: &str| -> Result<Value> {
        let mut command = sandbox.command(hook);
        let output = feed(command.envs(variables.iter().copied()), call.to_string().as_bytes())?;
        ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    // The client runs both at once: the start may not be recorded yet.
    let answer = run("session-start-recall")?;
    run("session-start-memory")?;
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    ensure!(text.len() <= 9_000, "{} bytes", text.len());
    Ok(text.to_owned())
}

#[test]
fn an_accepted_plan_comes_back_after_clear_whole_and_after_a_long_one_by_its_name() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let text = format!("# Move to cents\n\n{}", "- change one more file\n".repeat(20));
    prompt(&sandbox, "a", "1", "plan it")?;
    plan(&sandbox, SHOWN, "a", "toolu_1", &text)?;
    plan(&sandbox, ACCEPTED, "a", "toolu_1", &text)?;
    end(&sandbox, "a", "clear-1", "clear")?;
    // Without a database yet, and without a word from any program with time.
    let restored = start(&sandbox, &[], "clear", "b", "clear-1")?;
    assert!(restored.contains("Accepted plan, version 1: Move to cents"), "{restored}");
    assert!(restored.contains("Progress: no task was listed for it yet."), "{restored}");
    assert_eq!(restored.matches("- change one more file\n").count(), 20, "{restored}");
    // In less room, and in none.
    let named = start(&sandbox, &[("WYREN_RECALL_WORK_BYTES", "700")], "clear", "b", "clear-1")?;
    assert!(
        named.contains("read /home/user/.claude/plans/a-plan.md, or run `wyren work plans --text`."),
        "{named}"
    );
    let none = start(&sandbox, &[("WYREN_RECALL_WORK_BYTES", "0")], "clear", "b", "clear-1")?;
    assert!(!none.contains("Move to cents\n"), "{none}");
    // Another session, another start, and one without the index.
    assert!(!start(&sandbox, &[], "startup", "c", "2")?.contains("Accepted plan"));
    assert!(!start(&sandbox, &[], "clear", "c", "clear-2")?.contains("Accepted plan"));
    let alone = start(&sandbox, &[("WYREN_RECALL", "false")], "clear", "b", "clear-1")?;
    assert!(alone.contains("Accepted plan") && !alone.contains("earlier work in this project"), "{alone}");
    Ok(())
}

#[test]
fn a_rejected_plan_is_kept_and_does_not_come_back() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "plan it")?;
    plan(&sandbox, SHOWN, "a", "toolu_1", "# Move to floats")?;
    prompt(&sandbox, "a", "2", "no, something else")?;
    end(&sandbox, "a", "clear-1", "clear")?;
    let restored = start(&sandbox, &[], "clear", "b", "clear-1")?;
    assert!(!restored.contains("Move to floats"), "{restored}");
    assert_eq!(plans(&sandbox)?.len(), 1);
    Ok(())
}

#[test]
fn what_came_back_is_recorded_by_its_ids_and_is_gone_once_it_is_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "plan it")?;
    plan(&sandbox, ACCEPTED, "a", "toolu_1", "# Move FORGOTTEN-PLAN-WORD")?;
    end(&sandbox, "a", "clear-1", "clear")?;
    assert!(start(&sandbox, &[], "clear", "b", "clear-1")?.contains("FORGOTTEN-PLAN-WORD"));
    wyren(&sandbox, &["forget", "--query", "FORGOTTEN-PLAN-WORD", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "FORGOTTEN-PLAN-WORD")?, Vec::<std::path::PathBuf>::new());
    assert!(!start(&sandbox, &[], "clear", "c", "clear-1")?.contains("Accepted plan"));
    Ok(())
}

#[test]
fn a_private_plan_that_is_accepted_with_a_new_window_stays_private_there() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    plan(&sandbox, SHOWN, "a", "toolu_1", "# PRIVATE-PLAN-WORD")?;
    end(&sandbox, "a", "1", "clear")?;
    assert_eq!(start(&sandbox, &[], "clear", "b", "1")?, "");
    // No prompt comes: the model implements the plan.
    shell(&sandbox, "b", "toolu_2", "echo PRIVATE-CALL-WORD", "PRIVATE-OUTPUT-WORD")?;
    prompt(&sandbox, "b", "2", "now openly")?;
    shell(&sandbox, "b", "toolu_3", "echo open", "OPEN-WORD")?;
    export(&sandbox, &[])?;
    assert_eq!(files_with(sandbox.folder(), "PRIVATE-")?, Vec::<std::path::PathBuf>::new());
    assert!(!files_with(&sandbox.data(), "OPEN-WORD")?.is_empty());
    Ok(())
}

#[test]
fn a_session_that_ends_after_a_private_prompt_is_closed_and_what_it_left_comes_back_after_clear() -> Result<()>
{
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "a", "1", "move everything to cents")?;
    plan(&sandbox, ACCEPTED, "a", "toolu_1", "# Cents everywhere")?;
    prompt(&sandbox, "a", "2", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    end(&sandbox, "a", "clear-1", "clear")?;
    assert!(start(&sandbox, &[], "clear", "b", "clear-1")?.contains("Cents everywhere"));
    let lines = export(&sandbox, &[])?;
    let ended = lines.iter().find(|line| line["type"] == "session-end").expect("an end");
    assert_eq!((&ended["data"]["reason"], &ended["data"]["transcript"]), (&json!("clear"), &Value::Null));
    assert_eq!(files_with(sandbox.folder(), "PRIVATE-")?, Vec::<std::path::PathBuf>::new());
    Ok(())
}

#[test]
fn a_session_is_closed_with_its_reason_without_a_team_and_with_distilling_off() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for reason in ["clear", "logout", "prompt_input_exit", "other", "resume"] {
        prompt(&sandbox, reason, reason, "do it")?;
        let call = json!({
            "session_id": reason, "cwd": sandbox.project(), "prompt_id": "p", "reason": reason,
            "hook_event_name": "SessionEnd",
        });
        let mut command = sandbox.command("session-end");
        let output = feed(command.env("WYREN_DISTILL", "false"), call.to_string().as_bytes())?;
        ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    assert!(!sandbox.project().join(".wyren").exists());
    let lines = export(&sandbox, &[])?;
    let sessions: Vec<_> = lines.iter().filter(|line| line["type"] == "session").collect();
    assert_eq!(sessions.len(), 5, "{sessions:#?}");
    for session in sessions {
        assert_eq!(session["session"], session["end_reason"], "{session}");
        assert!(session["ended"].is_string(), "{session}");
    }
    Ok(())
}

#[test]
fn plans_and_tasks_are_listed_for_a_session_a_context_and_the_project() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let first = wyren(&sandbox, &["work", "plans"])?;
    assert_eq!(first, "No plans.\n");
    assert_eq!(wyren(&sandbox, &["work", "tasks"])?, "No tasks.\n");
    prompt(&sandbox, "s", "1", "plan it")?;
    plan(&sandbox, SHOWN, "s", "toolu_1", "# Use floats\n1. no")?;
    prompt(&sandbox, "s", "2", "no, cents")?;
    plan(&sandbox, SHOWN, "s", "toolu_2", "# Use cents\n1. change the schema")?;
    plan(&sandbox, ACCEPTED, "s", "toolu_2", "# Use cents\n1. change the schema")?;
    for (id, subject) in [("1", "Change the schema"), ("2", "Tell the other team")] {
        let call = json!({
            "session_id": "s", "cwd": sandbox.project(), "prompt_id": "2", "hook_event_name": "PostToolUse",
            "tool_name": "TaskCreate", "tool_use_id": format!("toolu_t{id}"), "tool_input": {"subject": subject, "description": ""},
            "tool_response": {"task": {"id": id, "subject": subject}},
        });
        run(&sandbox, "task-record", &call)?;
    }

    let listed: Value = serde_json::from_str(&wyren(&sandbox, &["work", "plans", "--json"])?)?;
    let states: Vec<(&str, &str)> = listed["plans"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|plan| (plan["status"].as_str().unwrap_or_default(), plan["text"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        states,
        [("rejected", "# Use floats\n1. no"), ("accepted", "# Use cents\n1. change the schema")]
    );
    let table = wyren(&sandbox, &["work", "plans"])?;
    assert!(table.contains("accepted") && table.contains("Use cents"), "{table}");
    assert_eq!(wyren(&sandbox, &["work", "plans", "--text"])?, "# Use cents\n1. change the schema\n");
    let rejected = listed["plans"][0]["digest"].as_str().unwrap_or_default();
    assert_eq!(wyren(&sandbox, &["work", "plans", "--text", &rejected[..8]])?, "# Use floats\n1. no\n");
    assert!(!sandbox.wyren(&["work", "plans", "--text", "zz"])?.status.success());
    let tasks = wyren(&sandbox, &["work", "tasks"])?;
    assert!(tasks.contains("Change the schema") && tasks.contains("Tell the other team"), "{tasks}");

    // A plan is found by its words, once, whatever became of it.
    let found: Value =
        serde_json::from_str(&wyren(&sandbox, &["search", "--json", "--type", "plan", "cents"])?)?;
    assert_eq!(
        (found["hits"].as_array().map(Vec::len), &found["hits"][0]["title"]),
        (Some(1), &json!("# Use cents"))
    );
    assert!(wyren(&sandbox, &["search", "--type", "plan", "floats"])?.contains("Use floats"));

    // Of a session that has none of them, and of a context.
    let mut other = sandbox.command("wyren");
    let other = feed(other.args(["work", "tasks"]).env("CLAUDE_CODE_SESSION_ID", "s"), b"")?;
    assert_eq!(String::from_utf8(other.stdout)?, tasks);
    wyren(&sandbox, &["work", "new", "another piece"])?;
    assert_eq!(wyren(&sandbox, &["work", "tasks", "another-piece"])?, "No tasks.\n");
    Ok(())
}
