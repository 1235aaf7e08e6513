//! Copies of transcripts: only for a user who wants them, and without what must not be kept.

use anyhow::{Result, ensure};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::{files_with, prompt, wyren};
use crate::worker::wait_for;

const SWITCH: &str = "WYREN_CAPTURE_KEEP_TRANSCRIPTS";

/// A sandbox with a session whose transcript has an open prompt, a private one, a summary of both, and another open one.
fn ended(session: &str, switch: &str) -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let mut lines = Vec::new();
    let mut user = |id: &str, text: &str, more: &Value| {
        let mut line = json!({
            "type": "user", "uuid": format!("u-{id}-{text}"), "sessionId": session, "cwd": sandbox.project(), "promptId": id,
            "timestamp": "2026-11-18T10:00:00.000Z", "message": {"role": "user", "content": text},
        });
        line.as_object_mut()
            .into_iter()
            .for_each(|line| line.extend(more.as_object().cloned().unwrap_or_default()));
        lines.push(line.to_string());
        let answer = json!({
            "type": "assistant", "uuid": format!("a-{id}-{text}"), "sessionId": session, "cwd": sandbox.project(),
            "timestamp": "2026-11-18T10:00:01.000Z",
            "message": {"id": format!("m-{id}"), "role": "assistant", "content": [{"type": "text", "text": format!("ANSWER {id} {text}")},
                {"type": "tool_use", "id": format!("toolu_{id}"), "name": "Agent", "input": {"prompt": "look"}}]},
        });
        lines.push(answer.to_string());
    };
    user("1", &format!("OPEN-ONE with {key} and <private>PRIVATE-PART</private>"), &json!({}));
    user("2", "<private>PRIVATE-PROMPT</private>", &json!({}));
    user("3", "They spoke of PRIVATE-SUMMARY", &json!({"isCompactSummary": true}));
    user("4", "OPEN-TWO", &json!({}));
    lines.push(
        json!({"type": "queue-operation", "content": "PRIVATE-QUEUE", "sessionId": session}).to_string(),
    );
    let transcript = sandbox.folder().join("home").join(format!("{session}.jsonl"));
    fs::create_dir_all(sandbox.folder().join("home"))?;
    fs::write(&transcript, lines.join("\n") + "\n")?;
    // A subagent under each prompt, and one that a subagent started.
    for (agent, call, by) in [
        ("1", "toolu_1", "toolu_deep"),
        ("2", "toolu_2", "toolu_hidden"),
        ("3", "toolu_deep", "toolu_none"),
        ("4", "toolu_gone", "toolu_none"),
    ] {
        let folder = transcript.with_extension("").join("subagents");
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join(format!("agent-{agent}.meta.json")),
            json!({"agentType": "Explore", "toolUseId": call}).to_string(),
        )?;
        let name = if matches!(agent, "1" | "3") { "SUBAGENT" } else { "PRIVATE-SUBAGENT" };
        let line = json!({
            "type": "assistant", "uuid": format!("s-{agent}"), "sessionId": session, "cwd": sandbox.project(), "isSidechain": true, "agentId": agent,
            "timestamp": "2026-11-18T10:00:01.000Z",
            "message": {"id": format!("n-{agent}"), "role": "assistant", "content": [{"type": "text", "text": format!("{name} {agent} saw {key}")},
                {"type": "tool_use", "id": by, "name": "Agent", "input": {}}]},
        });
        fs::write(folder.join(format!("agent-{agent}.jsonl")), format!("{line}\n"))?;
    }
    prompt(&sandbox, session, "1", "do it")?;
    let call = json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": "9", "reason": "other", "hook_event_name": "SessionEnd",
        "transcript_path": transcript,
    });
    let mut command = sandbox.command("session-end");
    let command = command.env(SWITCH, switch).env("WYREN_WORKER_IDLE_SECONDS", "0");
    feed(command, call.to_string().as_bytes())?;
    work(&sandbox, switch)?;
    Ok(Some(sandbox))
}

/// Has the worker do what waits.
fn work(sandbox: &Sandbox, switch: &str) -> Result<()> {
    // The one that the hook started may still be at it.
    wait_for("a worker of our own", || {
        let mut command = sandbox.command("wyren");
        let output = feed(command.env(SWITCH, switch).args(["worker", "run", "--until-idle"]), b"")?;
        Ok(output.status.success())
    })
}

fn copies(sandbox: &Sandbox) -> Result<Vec<PathBuf>> {
    let Ok(folder) = fs::read_dir(sandbox.data().join("transcripts")) else { return Ok(Vec::new()) };
    folder.map(|entry| Ok(entry?.path())).collect()
}

fn text(copy: &PathBuf) -> Result<String> {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(copy)?).read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_copy_has_what_is_open_and_neither_private_prompts_nor_what_is_under_them_nor_secrets() -> Result<()> {
    let Some(sandbox) = ended("11111111-2222-4333-8444-555555555555", "true")? else { return Ok(()) };
    let copies = copies(&sandbox)?;
    ensure!(copies.len() == 1, "{copies:?}");
    let text = text(&copies[0])?;
    for open in ["OPEN-ONE", "ANSWER 1", "OPEN-TWO", "ANSWER 4", "SUBAGENT 1", "SUBAGENT 3"] {
        assert!(text.contains(open), "{open}: {text}");
    }
    for hidden in ["PRIVATE-", "ghp_16C7", "ANSWER 2"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    Ok(())
}

#[test]
fn without_the_setting_there_is_no_copy() -> Result<()> {
    let Some(sandbox) = ended("11111111-2222-4333-8444-555555555555", "false")? else { return Ok(()) };
    assert_eq!(copies(&sandbox)?, Vec::<PathBuf>::new());
    Ok(())
}

#[test]
fn forgetting_a_project_reaches_a_copy_when_its_folder_is_gone() -> Result<()> {
    let Some(sandbox) = ended("11111111-2222-4333-8444-555555555555", "true")? else { return Ok(()) };
    let projects = wyren(&sandbox, &["export"])?;
    let session: Value = serde_json::from_str(projects.lines().next().unwrap_or_default())?;
    let key = session["project"]["key"].as_str().unwrap_or_default().to_owned();
    // What the folder was: the key is another one now.
    let moved = sandbox.folder().join("moved");
    fs::create_dir_all(&moved)?;
    fs::remove_dir_all(sandbox.project())?;
    fs::create_dir_all(sandbox.project().join(".git"))?;
    fs::write(sandbox.project().join(".git/HEAD"), "ref: refs/heads/main\n")?;
    fs::write(
        sandbox.project().join(".git/config"),
        "[remote \"origin\"]\n\turl = https://example.org/ada/other.git\n",
    )?;
    fs::create_dir_all(sandbox.project().join(".git/objects"))?;
    fs::create_dir_all(sandbox.project().join(".git/refs"))?;
    let mut command = sandbox.command("wyren");
    let output = feed(command.current_dir(&moved).args(["forget", "--project", &key, "--yes"]), b"")?;
    ensure!(output.status.success(), "{output:?}");
    assert_eq!(fs::metadata(&copies(&sandbox)?[0])?.len(), 0);
    Ok(())
}

#[test]
fn a_session_of_which_something_was_forgotten_is_not_copied_when_it_ends() -> Result<()> {
    let session = "11111111-2222-4333-8444-555555555555";
    let Some(sandbox) = ended(session, "false")? else { return Ok(()) };
    wyren(&sandbox, &["config", "set", "capture.keep_transcripts", "true"])?;
    // Its reply alone had it, which the transcript has as well.
    prompt(&sandbox, session, "4", "OPEN-TWO")?;
    let call = json!({"session_id": session, "cwd": sandbox.project(), "prompt_id": "4", "hook_event_name": "Stop",
        "last_assistant_message": "ANSWER 4 OPEN-TWO"});
    feed(&mut sandbox.command("stop-summary"), call.to_string().as_bytes())?;
    wyren(&sandbox, &["forget", "--query", "ANSWER 4", "--yes"])?;
    let call = json!({"session_id": session, "cwd": sandbox.project(), "prompt_id": "9", "reason": "other",
        "hook_event_name": "SessionEnd", "transcript_path": sandbox.folder().join("home").join(format!("{session}.jsonl"))});
    let mut command = sandbox.command("session-end");
    feed(command.env("WYREN_WORKER_IDLE_SECONDS", "0"), call.to_string().as_bytes())?;
    work(&sandbox, "true")?;
    let copies = copies(&sandbox)?;
    assert!(copies.len() == 1 && fs::metadata(&copies[0])?.len() == 0, "{copies:?}");
    Ok(())
}

#[test]
fn forgetting_reaches_a_copy_and_it_is_not_made_again() -> Result<()> {
    let session = "11111111-2222-4333-8444-555555555555";
    for what in [["--query", "OPEN-TWO"], ["--session", session], ["--project", "."]] {
        let Some(sandbox) = ended(session, "true")? else { return Ok(()) };
        wyren(&sandbox, &["forget", "--query", "NOT-IN-ANY", "--yes"])?;
        assert!(!text(&copies(&sandbox)?[0])?.is_empty());
        let mut command = sandbox.command("wyren");
        let arguments = [&["forget"][..], &what, &["--yes"]].concat();
        let output = feed(command.current_dir(sandbox.project()).args(arguments), b"")?;
        ensure!(output.status.success(), "{what:?}: {output:?}");
        work(&sandbox, "true")?;
        let copy = &copies(&sandbox)?[0];
        assert_eq!(fs::metadata(copy)?.len(), 0, "{what:?}");
        assert_eq!(files_with(&sandbox.data(), "OPEN-TWO")?, Vec::<PathBuf>::new());
    }
    Ok(())
}
