//! How long a prompt waits for the remote, and how news reaches a session whose prompt did not wait.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::{Member, Mode, Remote, context};
use crate::worker::wait_for;

/// What the remote needs for an answer.
const NEEDED: Duration = Duration::from_millis(700);

/// Returns two members of a team, the second of whom has a session `s`.
fn pair() -> Result<Option<(Remote, Member, Member)>> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(grace)) =
        (Member::set_up(&remote, "Ada", Mode::Side)?, Member::set_up(&remote, "Grace", Mode::Side)?)
    else {
        return Ok(None);
    };
    ada.decide("Use Postgres for the queue")?;
    ada.wyren(&["sync"])?;
    ensure!(grace.start("s")?.contains("Use Postgres for the queue"));
    Ok(Some((remote, ada, grace)))
}

/// Publishes a decision of a teammate.
fn publish(member: &Member, decision: &str) -> Result<()> {
    member.decide(decision)?;
    member.wyren(&["sync"]).map(drop)
}

/// Runs a hook with variables; returns the context that it gives, and its time.
fn run(member: &Member, hook: &str, fields: Value, variables: &[(&str, &str)]) -> Result<(String, Duration)> {
    let mut command = member.command(hook);
    command.envs(variables.iter().copied());
    let event = member.event(hook, "s", &fields);
    let begun = Instant::now();
    let output = feed(&mut command, event.as_bytes())?;
    let elapsed = begun.elapsed();
    Ok((context(&output).with_context(|| format!("{hook}: {output:?}"))?, elapsed))
}

fn fetch_state(member: &Member) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(member.clone_folder().join(".wyren/state/fetch.json"))?)?)
}

/// Ends a tool call under the prompt `p`.
fn tool(member: &Member) -> Result<String> {
    member.hook("context-monitor", "s", &json!({"prompt_id": "p", "tool_name": "Bash"}))
}

#[test]
fn d9_six_prompts_with_a_remote_that_needs_700_ms_do_not_wait_for_it() -> Result<()> {
    let Some((remote, _ada, grace)) = pair()? else { return Ok(()) };
    // Called as git calls ssh: the last argument is what the other side is to run.
    let ssh = grace.sandbox.folder().join("ssh");
    fs::write(&ssh, "#!/bin/sh\nsleep 0.7\nfor last; do :; done\neval \"exec $last\"\n")?;
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
    grace.git(&["remote", "set-url", "origin", &format!("ssh://localhost{}", remote.path().display())])?;
    let ssh = ssh.display().to_string();
    let slow = [("GIT_SSH_COMMAND", &*ssh), ("WYREN_FETCH_SECONDS", "0")];

    let output = feed(grace.command("wyren").arg("sync").envs(slow), b"")?;
    ensure!(output.status.success(), "{output:?}");
    let measured = fetch_state(&grace)?;
    assert!(measured["took_ms"].as_u64() >= Some(NEEDED.as_millis() as u64), "{measured}");
    let mut last = measured["fetched_at"].as_u64();
    for number in 0..6 {
        let (_, elapsed) = run(&grace, "prompt-sync", json!({"prompt": "go on"}), &slow)?;
        // Not a measurement, that is `cargo xtask bench`'s: only that the prompt did not have the answer.
        ensure!(elapsed < NEEDED, "prompt {number}: {elapsed:?}");
        wait_for("the look that it began", || Ok(fetch_state(&grace)?["fetched_at"].as_u64() > last))?;
        wait_for("no process", || Ok(grace.sandbox.processes().is_empty()))?;
        last = fetch_state(&grace)?["fetched_at"].as_u64();
        assert!(fetch_state(&grace)?["took_ms"].as_u64() >= Some(NEEDED.as_millis() as u64));
    }
    Ok(())
}

#[test]
fn the_news_of_a_remote_that_was_quick_comes_with_the_very_prompt() -> Result<()> {
    let Some((_remote, ada, grace)) = pair()? else { return Ok(()) };
    grace.wyren(&["sync"])?;
    assert!(fetch_state(&grace)?["took_ms"].is_u64());
    publish(&ada, "Retry three times")?;
    // More patience than the default, since programs under test are not the ones that ship.
    let patient = [("WYREN_FETCH_SECONDS", "0"), ("WYREN_WAIT_MS", "1500")];
    let (told, _) = run(&grace, "prompt-sync", json!({"prompt": "go on"}), &patient)?;
    assert_eq!(told.matches("Retry three times").count(), 1, "{told}");
    assert_eq!(run(&grace, "prompt-sync", json!({"prompt": "go on"}), &patient)?.0, "");
    Ok(())
}

#[test]
fn news_that_a_prompt_did_not_wait_for_comes_with_the_next_tool_result() -> Result<()> {
    let Some((_remote, ada, grace)) = pair()? else { return Ok(()) };
    publish(&ada, "Retry three times")?;
    let impatient = [("WYREN_FETCH_SECONDS", "0"), ("WYREN_WAIT_MS", "0")];
    let (told, _) = run(&grace, "prompt-sync", json!({"prompt": "go on"}), &impatient)?;
    assert_eq!(told, "");
    wait_for("the sync", || Ok(grace.memory()?.contains("Retry three times")))?;
    wait_for("no process", || Ok(grace.sandbox.processes().is_empty()))?;
    let told = tool(&grace)?;
    assert_eq!(told.matches("Retry three times").count(), 1, "{told}");
    assert_eq!((tool(&grace)?, grace.prompt("s")?), Default::default());
    Ok(())
}

#[test]
fn the_end_of_a_turn_has_the_news_ready_for_the_next_prompt() -> Result<()> {
    let Some((_remote, ada, grace)) = pair()? else { return Ok(()) };
    publish(&ada, "Retry three times")?;
    // Nothing that was recorded waits for the worker, which would be started instead.
    fs::remove_dir_all(grace.sandbox.data().join("spool"))?;
    let turn = json!({"stop_hook_active": false});
    run(&grace, "stop-distill", turn, &[("WYREN_FETCH_SECONDS", "0")])?;
    wait_for("the sync", || Ok(grace.memory()?.contains("Retry three times")))?;
    let (told, _) = run(&grace, "prompt-sync", json!({"prompt": "go on"}), &[("WYREN_SKIP_PULL", "1")])?;
    assert_eq!(told.matches("Retry three times").count(), 1, "{told}");
    assert_eq!(tool(&grace)?, "");
    Ok(())
}

/// Has a decision arrive, ends a tool call with `variables`; returns what was recorded about it.
fn recorded(prompt: &str, variables: &[(&str, &str)]) -> Result<Option<(String, String)>> {
    let Some((_remote, ada, grace)) = pair()? else { return Ok(None) };
    run(&grace, "prompt-record", json!({"prompt": prompt, "prompt_id": "p"}), variables)?;
    publish(&ada, "Retry three times")?;
    grace.wyren(&["sync"])?;
    let fields = json!({"prompt_id": "p", "tool_name": "Bash"});
    let (told, _) = run(&grace, "context-monitor", fields, variables)?;
    Ok(Some((told, grace.wyren(&["export"])?)))
}

#[test]
fn what_a_tool_call_shows_is_recorded_as_what_a_prompt_shows() -> Result<()> {
    let Some((told, exported)) = recorded("go on", &[])? else { return Ok(()) };
    assert!(told.contains("Retry three times"), "{told}");
    let lines: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let is_it = |line: &&Value| line.to_string().contains("context-monitor");
    let line = lines.iter().find(is_it).with_context(|| exported.clone())?;
    assert!(line.to_string().contains("Retry three times"), "{line}");
    Ok(())
}

#[test]
fn under_a_private_prompt_and_with_capture_off_news_is_shown_and_not_recorded() -> Result<()> {
    for (prompt, variables) in
        [("<private>the merger</private>", &[][..]), ("go on", &[("WYREN_CAPTURE", "false")])]
    {
        let Some((told, exported)) = recorded(prompt, variables)? else { return Ok(()) };
        assert!(told.contains("Retry three times"), "{prompt}: {told}");
        assert!(!exported.contains("Retry three times"), "{prompt}: {exported}");
    }
    Ok(())
}

#[test]
fn a_subagent_and_a_folder_without_a_memory_are_not_told() -> Result<()> {
    let Some((_remote, ada, grace)) = pair()? else { return Ok(()) };
    publish(&ada, "Retry three times")?;
    grace.wyren(&["sync"])?;
    let elsewhere = grace.sandbox.folder().join("home");
    for fields in [json!({"agent_id": "agent"}), json!({"cwd": elsewhere})] {
        assert_eq!(grace.hook("context-monitor", "s", &fields)?, "", "{fields}");
    }
    assert!(tool(&grace)?.contains("Retry three times"));
    Ok(())
}
