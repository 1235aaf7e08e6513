//! What a session gets through the real hooks, the background sync and a real remote.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::{Member, Mode, Remote};
use crate::worker::wait_for;

/// Prompts until the session gets a text, or the time is up.
fn next_news(member: &Member, session: &str) -> Result<String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let told = member.prompt(session)?;
        if !told.is_empty() {
            return Ok(told);
        }
        ensure!(Instant::now() < deadline, "no news in ten seconds");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn pair(mode: Mode) -> Result<Option<(Remote, Member, Member)>> {
    let remote = Remote::new(mode)?;
    let (Some(ada), Some(bob)) =
        (Member::set_up(&remote, "ada", mode)?, Member::set_up(&remote, "bob", mode)?)
    else {
        return Ok(None);
    };
    Ok(Some((remote, ada, bob)))
}

#[test]
fn a_decision_in_one_clone_reaches_the_others_next_prompt_once() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let Some((_remote, ada, bob)) = pair(mode)? else { return Ok(()) };
        ada.start("a")?;
        bob.start("b")?;
        ada.decide("Use Postgres for the queue")?;
        ada.wyren(&["sync"])?;
        // The last look at the remote may be a moment old; the prompt after that looks again.
        let told = next_news(&bob, "b")?;
        assert!(told.starts_with("# Wyren live update"), "{told}");
        assert_eq!(told.matches("Use Postgres for the queue").count(), 1, "{told}");
        assert_eq!(bob.prompt("b")?, "", "{mode:?}: nothing is shown twice");
    }
    Ok(())
}

#[test]
fn line_10_the_first_prompt_repeats_nothing_and_shows_what_came_in_between() -> Result<()> {
    let Some((_remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    assert!(bob.start("b")?.contains("Use tabs"));
    ada.decide("Use four of them")?;
    ada.wyren(&["sync"])?;
    let told = next_news(&bob, "b")?;
    assert!(told.contains("Use four of them") && !told.contains("Use tabs"), "{told}");
    Ok(())
}

#[test]
fn line_9_two_sessions_in_one_clone_each_get_every_change_once() -> Result<()> {
    let Some((_remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    bob.start("one")?;
    bob.start("two")?;
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    for session in ["one", "two"] {
        assert_eq!(next_news(&bob, session)?.matches("Use tabs").count(), 1);
        assert_eq!(bob.prompt(session)?, "");
    }
    Ok(())
}

#[test]
fn line_18_a_broadcast_reaches_a_running_session_and_can_be_taken_back() -> Result<()> {
    let Some((remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    bob.start("b")?;
    let skill = ada.sandbox.folder().join("releasing.md");
    fs::write(&skill, "Tag first, then publish.\n")?;
    let said = ada.wyren(&["broadcast-skill", &skill.display().to_string()])?;
    assert!(said.contains("Broadcast: .wyren/broadcast/skills/releasing.md"), "{said}");
    assert!(said.contains("Pushed to remote."), "{said}");
    assert!(next_news(&bob, "b")?.contains("Tag first, then publish."));
    let fresh = Member::new(&remote, "eve")?;
    let told = fresh.map(|eve| eve.start("e")).transpose()?.unwrap_or_default();
    assert!(told.contains("Wyren: files that this team shares with every session."), "{told}");
    assert!(told.contains("Tag first, then publish.") && !told.contains("Acknowledge"), "{told}");
    ada.wyren(&["unbroadcast", "releasing.md"])?;
    assert!(next_news(&bob, "b")?.contains("releasing.md"));
    assert!(!bob.clone_folder().join(".wyren/broadcast/skills/releasing.md").exists());
    Ok(())
}

#[test]
fn line_7_a_key_in_a_hand_written_memory_is_not_pushed_and_the_block_is_reported() -> Result<()> {
    let Some((remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let file = ada.clone_folder().join(".wyren/memory.md");
    let mut text = fs::read_to_string(&file)?;
    text.push_str(&format!("\n## Decisions\n- The token is {key}\n- Use tabs\n"));
    fs::write(&file, text)?;
    let output = ada.try_wyren(&["sync"])?;
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory.md"), "{output:?}");
    assert!(remote.memory(Mode::Side).contains("Use tabs"));
    let all = super::git(&remote.path(), &["log", "--all", "--patch"])?;
    assert!(!all.contains(&key), "the key is on the remote");
    assert!(bob.start("b")?.contains("Use tabs"));
    assert!(fs::read_to_string(&file)?.contains(&key), "the user's own file is theirs");
    Ok(())
}

#[test]
fn a_rewritten_memory_is_warned_of_first_and_what_vanished_can_be_brought_back() -> Result<()> {
    let Some((remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    bob.start("b")?;
    // A member starts the branch anew.
    let tree = super::git(&remote.path(), &["hash-object", "-t", "tree", "-w", "/dev/null"])?;
    let identity = ["-c", "user.name=Eve", "-c", "user.email=eve@localhost"];
    let commit =
        super::git(&remote.path(), &[&identity[..], &["commit-tree", &tree, "-m", "anew"]].concat())?;
    super::git(&remote.path(), &["update-ref", "refs/heads/wyren/memory", &commit])?;
    let told = next_news(&bob, "b")?;
    assert!(told.starts_with("⚠️ Wyren: remote memory.md was force-pushed"), "{told}");
    assert!(bob.memory()?.contains("Use tabs"), "what vanished is kept");
    bob.wyren(&["sync", "--restore"])?;
    assert!(remote.memory(Mode::Side).contains("Use tabs"), "and is back");
    Ok(())
}

/// Writes the transcript of a session in which dark mode is decided, as it happened in `cwd`.
pub(super) fn write_transcript(member: &Member, session: &str, cwd: &Path) -> Result<()> {
    let transcript = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/distiller/web-theme.jsonl");
    let mut text = String::new();
    for line in fs::read_to_string(transcript)?.lines() {
        let mut record: Value = serde_json::from_str(line)?;
        if record["cwd"].is_string() {
            record["cwd"] = json!(cwd);
        }
        text.push_str(&format!("{record}\n"));
    }
    fs::write(member.sandbox.folder().join(format!("{session}.jsonl")), text)?;
    Ok(())
}

#[test]
fn a_watermark_that_came_with_a_repository_reads_no_other_project_and_writes_to_none() -> Result<()> {
    let Some((remote, ada, bob)) = pair(Mode::Side)? else { return Ok(()) };
    // The one names a session in another project, the other a clone that is not its own.
    write_transcript(&ada, "private", &bob.clone_folder())?;
    write_transcript(&ada, "hostile", &ada.clone_folder())?;
    let file = |session: &str| ada.sandbox.folder().join(format!("{session}.jsonl"));
    let planted = json!({"sessions": {
        "0000000000000001": {"id": "private", "turns": 9, "last_turn_at": 1, "transcript": file("private"), "cwd": ada.clone_folder()},
        "0000000000000002": {"id": "hostile", "turns": 9, "last_turn_at": 2, "transcript": file("hostile"), "cwd": bob.clone_folder()},
    }});
    fs::write(ada.clone_folder().join(".wyren/state/watermark.json"), planted.to_string())?;
    let before = bob.memory()?;
    ada.hook("stop-distill", "own", &json!({"stop_hook_active": false}))?;
    let log = || fs::read_to_string(ada.clone_folder().join(".wyren/log")).unwrap_or_default();
    wait_for("both were looked at", || {
        Ok(log().contains("private.jsonl happened here")
            && remote.memory(Mode::Side).contains("Dark by default"))
    })?;
    // This clone distills what happened here, whatever the watermark says, and it goes nowhere else.
    let tags = remote.memory(Mode::Side);
    assert!(tags.contains("[session hostile") && !tags.contains("[session private"), "{tags}");
    assert_eq!(bob.memory()?, before);
    Ok(())
}

#[test]
fn line_12_the_last_turns_of_a_session_are_distilled_when_the_next_one_begins() -> Result<()> {
    let Some((remote, ada, _bob)) = pair(Mode::Side)? else { return Ok(()) };
    write_transcript(&ada, "old", &ada.clone_folder())?;
    // One turn, and then the client is gone without a word.
    ada.hook("stop-distill", "old", &json!({"stop_hook_active": false}))?;
    let event = ada.event("session-start-memory", "new", &json!({"source": "startup"}));
    feed(ada.command("session-start-memory").env("WYREN_IDLE_MS", "0"), event.as_bytes())?;
    wait_for("it is distilled", || Ok(remote.memory(Mode::Side).contains("Dark by default")))
}

#[test]
fn line_8_with_a_guard_set_every_hook_ends_at_once_and_touches_nothing() -> Result<()> {
    let Some((_remote, ada, _bob)) = pair(Mode::Side)? else { return Ok(()) };
    let state = || -> Result<Vec<String>> {
        let mut files = Vec::new();
        let mut folders = vec![ada.clone_folder().join(".wyren"), ada.sandbox.data()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                }
                files.push(format!("{:?} {:?}", entry.path(), entry.metadata()?.modified()?));
            }
        }
        files.sort();
        Ok(files)
    };
    let before = state()?;
    for hook in ["session-start-memory", "prompt-sync", "stop-distill", "session-end"] {
        for guard in tables::GUARDS {
            let event = ada.event(hook, "s", &json!({}));
            let output = feed(ada.command(hook).env(guard, "1"), event.as_bytes())?;
            assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{hook} {guard}");
        }
    }
    assert_eq!(state()?, before);
    Ok(())
}
