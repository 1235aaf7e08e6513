//! What hooks record reaches the database by itself: the end of a turn or session starts the worker, with and without a
//! team memory.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::worker::{examine, wait_for};

/// The hooks that start the worker, with the event that they are for.
const NUDGING: [(&str, &str); 2] = [("stop-distill", "Stop"), ("session-end", "SessionEnd")];

/// Runs a hook whose worker does not wait for more work.
fn run(sandbox: &Sandbox, hook: &str, input: Value, variables: &[(&str, &str)]) -> Result<()> {
    let mut command = sandbox.command(hook);
    command.env("WYREN_WORKER_IDLE_SECONDS", "0").envs(variables.iter().copied());
    let output = feed(&mut command, input.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{hook}: {output:?}");
    Ok(())
}

/// Records a prompt and a tool call of a session.
fn record(sandbox: &Sandbox, prompt: &str, variables: &[(&str, &str)]) -> Result<()> {
    let base = json!({"session_id": "s", "cwd": sandbox.project()});
    let mut asked = base.clone();
    asked["hook_event_name"] = json!("UserPromptSubmit");
    asked["prompt"] = json!(prompt);
    run(sandbox, "prompt-record", asked, variables)?;
    let mut called = base;
    called["hook_event_name"] = json!("PostToolUse");
    called["tool_name"] = json!("Bash");
    called["tool_input"] = json!({"command": "cargo test"});
    called["tool_response"] = json!({"stdout": "ok"});
    called["tool_use_id"] = json!("t");
    run(sandbox, "tool-record", called, variables)
}

/// Ends a turn, or the session.
fn end(
    sandbox: &Sandbox,
    (hook, event): (&str, &str),
    more: Value,
    variables: &[(&str, &str)],
) -> Result<()> {
    let mut input = json!({"session_id": "s", "cwd": sandbox.project(), "hook_event_name": event});
    let fields = more.as_object().context("no fields")?.clone();
    input.as_object_mut().context("no object")?.extend(fields);
    run(sandbox, hook, input, variables)
}

/// Waits until no process is left, and checks that the spool holds nothing that the database does not.
fn check_drained(sandbox: &Sandbox) -> Result<()> {
    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
    ensure!(sandbox.data().join("wyren.db").exists(), "no database");
    ensure!(!sandbox.data().join("worker.due").exists(), "work is left");
    let (_, checks) = examine(&mut sandbox.command("wyren"))?;
    assert_eq!(checks["spool"]["message"], "empty: everything is in the database", "{checks:#}");
    let exported = String::from_utf8(sandbox.wyren(&["export"])?.stdout)?;
    assert!(exported.contains("cargo test") && exported.contains("run the tests"), "{exported}");
    Ok(())
}

/// Checks that no worker was ever started.
fn check_not_started(sandbox: &Sandbox) -> Result<()> {
    assert!(!sandbox.data().join("worker.started").exists());
    assert_eq!(sandbox.processes(), Vec::<u32>::new());
    Ok(())
}

#[test]
fn the_end_of_a_turn_or_session_drains_the_spool_in_any_folder() -> Result<()> {
    for ending in NUDGING {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        record(&sandbox, "run the tests", &[])?;
        check_not_started(&sandbox)?;
        end(&sandbox, ending, json!({}), &[])?;
        check_drained(&sandbox)?;
    }
    Ok(())
}

#[test]
fn the_end_of_a_turn_or_session_drains_the_spool_beside_a_team_memory() -> Result<()> {
    for ending in NUDGING {
        // Also where conversations are not distilled.
        for variables in [&[][..], &[("WYREN_DISTILL", "false")]] {
            let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
            ensure!(sandbox.wyren(&["init"])?.status.success());
            record(&sandbox, "run the tests", &[])?;
            end(&sandbox, ending, json!({}), variables)?;
            check_drained(&sandbox)?;
        }
    }
    Ok(())
}

#[test]
fn a_turn_soon_after_a_worker_began_starts_no_other() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record(&sandbox, "run the tests", &[])?;
    end(&sandbox, NUDGING[0], json!({}), &[])?;
    check_drained(&sandbox)?;
    let started = || Ok::<_, anyhow::Error>(fs::metadata(sandbox.data().join("worker.started"))?.modified()?);
    let first = started()?;
    record(&sandbox, "and again", &[])?;
    end(&sandbox, NUDGING[0], json!({}), &[])?;
    assert_eq!(started()?, first);
    Ok(())
}

#[test]
fn where_nothing_is_recorded_no_worker_starts() -> Result<()> {
    for ending in NUDGING {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let off = [("WYREN_CAPTURE", "false")];
        record(&sandbox, "run the tests", &off)?;
        end(&sandbox, ending, json!({}), &off)?;
        check_not_started(&sandbox)?;

        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        record(&sandbox, "<private>the merger</private>", &[])?;
        end(&sandbox, ending, json!({}), &[])?;
        check_not_started(&sandbox)?;
    }
    Ok(())
}

#[test]
fn a_subagent_a_guarded_session_and_a_disabled_hook_start_no_worker() -> Result<()> {
    for ending in NUDGING {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        record(&sandbox, "run the tests", &[])?;
        end(&sandbox, ending, json!({"agent_id": "a"}), &[])?;
        end(&sandbox, ending, json!({}), &[("WYREN_INTERNAL", "1")])?;
        end(&sandbox, ending, json!({}), &[("WYREN_HOOKS_DISABLED", ending.0)])?;
        check_not_started(&sandbox)?;
        // The turn that the subagent belongs to does.
        end(&sandbox, ending, json!({}), &[])?;
        check_drained(&sandbox)?;
    }
    Ok(())
}
