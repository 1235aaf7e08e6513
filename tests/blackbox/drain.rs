//! What hooks record reaches the database by itself: the end of a turn or session starts the worker, with and without a
//! team memory.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

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
    // A process that is just being started does not show yet.
    wait_for("a database", || Ok(sandbox.data().join("wyren.db").exists()))?;
    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
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
    }
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record(&sandbox, "<private>the merger</private>", &[])?;
    end(&sandbox, NUDGING[0], json!({}), &[])?;
    check_not_started(&sandbox)
}

#[test]
fn after_a_private_prompt_the_end_of_the_session_alone_is_recorded() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record(&sandbox, "<private>the merger</private>", &[])?;
    end(&sandbox, NUDGING[1], json!({"reason": "clear"}), &[])?;
    wait_for("a database", || Ok(sandbox.data().join("wyren.db").exists()))?;
    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
    let exported = String::from_utf8(sandbox.wyren(&["export"])?.stdout)?;
    let lines: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(kinds, ["session", "session-end"]);
    assert!(!exported.contains("merger") && !exported.contains("cargo test"), "{exported}");
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

/// Makes a file look as if it had been written so many minutes ago.
fn age(path: &Path, minutes: u64) -> Result<()> {
    let file = File::options().append(true).open(path).with_context(|| path.display().to_string())?;
    Ok(file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60))?)
}

#[test]
fn the_end_of_a_session_drains_what_was_recorded_since_the_last_worker() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record(&sandbox, "run the tests", &[])?;
    end(&sandbox, NUDGING[0], json!({}), &[])?;
    check_drained(&sandbox)?;
    record(&sandbox, "and again", &[])?;
    age(&sandbox.data().join("worker.started"), 1)?;
    end(&sandbox, NUDGING[1], json!({"reason": "other"}), &[])?;
    check_drained(&sandbox)?;
    // Draining the spool by hand would show it in any case.
    let log = fs::read_to_string(sandbox.data().join("logs/worker.jsonl"))?;
    assert_eq!(log.matches(r#""msg":"began""#).count(), 2, "{log}");
    Ok(())
}

#[test]
fn what_is_drained_already_starts_no_worker_while_its_file_stays() -> Result<()> {
    for (ending, is_new) in NUDGING.into_iter().flat_map(|ending| [(ending, false), (ending, true)]) {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        record(&sandbox, "run the tests", &[])?;
        end(&sandbox, NUDGING[0], json!({}), &[])?;
        check_drained(&sandbox)?;
        let started = sandbox.data().join("worker.started");
        age(&started, 30)?;
        age(&sandbox.data().join("worker.lock"), 30)?;
        let mut spooled = 0;
        for session in fs::read_dir(sandbox.data().join("spool"))? {
            for file in fs::read_dir(session?.path()).into_iter().flatten() {
                age(&file?.path(), if is_new { 20 } else { 40 })?;
                spooled += 1;
            }
        }
        ensure!(spooled > 0, "the drained file is gone");
        let before = fs::metadata(&started)?.modified()?;
        // What a session records at its end is new.
        end(&sandbox, ending, json!({}), &[("WYREN_CAPTURE", "false")])?;
        assert_eq!(fs::metadata(&started)?.modified()? != before, is_new, "{ending:?}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn at_one_stop_one_program_is_started_whatever_waits() -> Result<()> {
    let Some(plugin) = wyren_tests::plugin::folder() else { return Ok(()) };
    for (ending, turns) in NUDGING.into_iter().flat_map(|ending| [(ending, "1"), (ending, "100")]) {
        let bin = tempfile::tempdir()?;
        for hook in [NUDGING[0].0, NUDGING[1].0, "prompt-record", "tool-record"] {
            fs::copy(plugin.join("bin").join(hook), bin.path().join(hook))?;
        }
        // Neither ends by itself before it has left a trace, nor holds a lock that keeps others out.
        let trace = bin.path().join("trace");
        for program in ["wyren", "wyren-worker"] {
            let file = bin.path().join(program);
            fs::write(&file, format!("#!/bin/sh\necho {program} >> '{}'\n", trace.display()))?;
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        }
        let sandbox = Sandbox::of(bin.path(), &wyren_tests::sandbox::data_folder())?;
        record(&sandbox, "run the tests", &[])?;
        let state = sandbox.project().join(".wyren/state");
        fs::create_dir_all(&state)?;
        fs::write(sandbox.project().join(".wyren/memory.md"), "# Wyren Memory\n")?;
        // A remote that is due to be looked at, too.
        fs::create_dir_all(sandbox.project().join(".git/info"))?;
        fs::write(sandbox.project().join(".git/HEAD"), "ref: refs/heads/main\n")?;
        fs::write(sandbox.project().join(".git/info/exclude"), "/.wyren/\n")?;
        fs::write(sandbox.project().join(".git/config"), "[remote \"origin\"]\n\turl = /nowhere/x.git\n")?;
        let left = json!({"id": "left", "turns": 3, "last_turn_at": 1, "transcript": "/t/left.jsonl"});
        fs::write(state.join("watermark.json"), json!({"sessions": {"left": left}}).to_string())?;
        fs::create_dir_all(sandbox.data().join("jobs"))?;
        fs::write(sandbox.data().join("jobs/0000000000001-a.json"), r#"{"v":1,"kind":"drain"}"#)?;
        fs::write(sandbox.data().join("worker.due"), "0\n")?;
        let transcript = sandbox.folder().join("s.jsonl");
        fs::write(&transcript, "{}\n")?;
        let variables = [("WYREN_TURNS_THRESHOLD", turns)];
        end(&sandbox, ending, json!({"transcript_path": transcript}), &variables)?;
        wait_for("a trace", || Ok(trace.exists()))?;
        wait_for("no process", || Ok(sandbox.processes().is_empty()))?;
        assert_eq!(fs::read_to_string(&trace)?, "wyren-worker\n", "{ending:?}, {turns}");
        // A turn for which no worker is started looks at the remote.
        if ending == NUDGING[0] {
            end(&sandbox, ending, json!({"session_id": "other"}), &[])?;
            wait_for("a look", || Ok(fs::read_to_string(&trace)? == "wyren-worker\nwyren\n"))?;
        }
    }
    Ok(())
}
