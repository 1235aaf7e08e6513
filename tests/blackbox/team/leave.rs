//! Nothing leaves a clone before its person said so once: fresh clones read along, and publish after a word.

use std::fs;
use std::process::Output;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::hooks::write_transcript;
use super::{Member, Mode, Remote};
use crate::worker::wait_for;

const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// What the transcript decides.
const DECISION: &str = "Dark by default";

/// Returns a remote with a memory that a stranger published.
fn of_a_stranger(mode: Mode) -> Result<Option<Remote>> {
    let remote = Remote::new(mode)?;
    let Some(stranger) = Member::set_up(&remote, "eve", mode)? else { return Ok(None) };
    stranger.decide("We welcome you")?;
    stranger.wyren(&["sync"])?;
    Ok(Some(remote))
}

/// Starts a session in which something is decided, and does all that the background has to do with it.
fn session(member: &Member, id: &str) -> Result<()> {
    member.start(id)?;
    distill(member, id)?;
    in_background(member)
}

fn distill(member: &Member, id: &str) -> Result<()> {
    write_transcript(member, id, &member.clone_folder())?;
    let event = member.event("stop-distill", id, &json!({"stop_hook_active": false}));
    feed(member.command("stop-distill").env("WYREN_TURNS_THRESHOLD", "1"), event.as_bytes())?;
    // The worker publishes last, and then there is nothing to do for it.
    wait_for("it is distilled", || Ok(member.memory()?.contains(DECISION)))?;
    wait_for("the worker is done", || Ok(member.sandbox.processes().is_empty()))
}

/// Syncs as hooks do.
fn in_background(member: &Member) -> Result<()> {
    member.wyren(&["sync", "--background"]).map(drop)
}

/// Runs `wyren` as the model does: in its shell.
fn by_model(member: &Member, arguments: &[&str]) -> Result<Output> {
    feed(member.command("wyren").args(arguments).env("CLAUDECODE", "1"), b"a note\n")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns what a hook tells the user; empty for nothing.
fn told(member: &Member, hook: &str, id: &str) -> Result<String> {
    let fields = json!({"source": "startup", "prompt": "go on"});
    let output = feed(&mut member.command(hook), member.event(hook, id, &fields).as_bytes())?;
    ensure!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok(answer["systemMessage"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_session_in_a_strangers_repository_reads_along_and_publishes_nothing_until_its_person_syncs() -> Result<()>
{
    for mode in [Mode::Side, Mode::Branch] {
        let Some(remote) = of_a_stranger(mode)? else { return Ok(()) };
        let before = remote.memory(mode);
        let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
        let started = ada.start(SESSION)?;
        assert!(started.contains("We welcome you"), "{mode:?}: the memory is read at once: {started}");
        session(&ada, SESSION)?;
        assert_eq!(remote.memory(mode), before, "{mode:?}");
        // Others go on, and what they publish arrives.
        let Some(bob) = Member::set_up(&remote, "bob", mode)? else { return Ok(()) };
        bob.decide("Bob was here")?;
        bob.wyren(&["sync"])?;
        in_background(&ada)?;
        assert!(ada.memory()?.contains("Bob was here") && ada.memory()?.contains(DECISION), "{mode:?}");
        assert!(!remote.memory(mode).contains(DECISION), "{mode:?}");

        let output = ada.try_wyren(&["sync"])?;
        assert!(output.status.success(), "{output:?}");
        let published = remote.memory(mode);
        for entry in [DECISION, "Bob was here", "We welcome you"] {
            assert!(published.contains(entry), "{mode:?}: {published}");
        }
    }
    Ok(())
}

#[test]
fn what_the_model_runs_is_no_leave_and_what_a_person_runs_is() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    let before = remote.memory(Mode::Side);
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let init = by_model(&ada, &["init"])?;
    assert!(init.status.success() && stderr(&init).contains("This clone does not publish yet"), "{init:?}");
    session(&ada, SESSION)?;
    for (arguments, code) in [
        (&["sync"][..], 3),
        (&["sync", "--json"], 3),
        (&["memory", "handoff", "-"], 3),
        (&["unbroadcast", "none"], 1),
        (&["distill", "--push", "--force"], 0),
        (&["init", "--always-for", "file.example/all"], 1),
        (&["config", "set", "memory.publish_for", "/"], 1),
    ] {
        let output = by_model(&ada, arguments)?;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert_eq!(remote.memory(Mode::Side), before, "{arguments:?}");
    }
    let kept = by_model(&ada, &["sync"])?;
    assert!(stderr(&kept).contains("run `wyren sync` here in a terminal"), "{kept:?}");
    assert!(ada.memory()?.contains("a note"), "the handoff is in the memory here");

    // A note by the person is their word; from then on the background publishes, too, and so may the model.
    let said = ada.try_wyren(&["memory", "handoff", "mine"])?;
    assert!(said.status.success() && stderr(&said).contains("From now on Wyren publishes"), "{said:?}");
    let published = remote.memory(Mode::Side);
    for entry in [DECISION, "a note", "mine"] {
        assert!(published.contains(entry), "{entry}: {published}");
    }
    let again = by_model(&ada, &["memory", "handoff", "by the model"])?;
    assert!(again.status.success() && stderr(&again).is_empty(), "{again:?}");
    assert!(remote.memory(Mode::Side).contains("by the model"));
    Ok(())
}

#[test]
fn every_command_of_a_person_that_changes_the_memory_is_their_word() -> Result<()> {
    for command in ["init", "edit", "handoff", "broadcast", "sync"] {
        let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
        let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
        session(&ada, SESSION)?;
        assert!(!remote.memory(Mode::Side).contains(DECISION), "{command}");
        match command {
            "init" => drop(ada.wyren(&["init"])?),
            "edit" => ada.decide("by hand")?,
            "handoff" => drop(ada.wyren(&["memory", "handoff", "go on"])?),
            "sync" => drop(ada.wyren(&["sync"])?),
            _ => {
                fs::write(ada.clone_folder().join("review.md"), "Review\n")?;
                ada.wyren(&["broadcast-skill", "review.md"])?;
            }
        }
        in_background(&ada)?;
        assert!(remote.memory(Mode::Side).contains(DECISION), "{command}");
    }
    Ok(())
}

#[test]
fn a_standing_yes_covers_the_clones_of_an_owner() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let owner = remote.path().parent().map(|owner| owner.display().to_string()).unwrap_or_default();
    for refused in ["github.com", "https://github.com/", "", "a,b/c"] {
        let output = ada.try_wyren(&["init", "--always-for", refused])?;
        assert_eq!(output.status.code(), Some(2), "{refused}: {output:?}");
    }
    // Outside a repository nothing else is done.
    let mut command = ada.command("wyren");
    command.current_dir(ada.sandbox.folder());
    let output =
        feed(command.args(["init", "--always-for", "git@GitHub.com:acme", "--always-for", &owner]), b"")?;
    assert!(output.status.success(), "{output:?}");
    assert!(!ada.sandbox.folder().join(".wyren").exists());
    assert_eq!(
        ada.wyren(&["config", "get", "memory.publish_for"])?.trim(),
        format!("github.com/acme,{owner}")
    );
    session(&ada, SESSION)?;
    assert!(remote.memory(Mode::Side).contains(DECISION), "{}", remote.memory(Mode::Side));
    assert_eq!(
        told(&ada, "prompt-sync", SESSION)?,
        "Wyren: learned 3 entries from this session, pushed to origin."
    );
    assert_eq!(told(&ada, "prompt-sync", SESSION)?, "");
    Ok(())
}

#[test]
fn the_user_reads_once_that_something_stays_here_and_status_and_doctor_say_it_too() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let found = told(&ada, "session-start-memory", SESSION)?;
    assert!(found.contains("found a team memory on origin: 1 entry by eve;"), "{found}");
    assert!(ada.wyren(&["doctor"])?.contains("read only"), "{}", ada.wyren(&["doctor"])?);
    distill(&ada, SESSION)?;
    let notice = told(&ada, "prompt-sync", SESSION)?;
    assert!(notice.contains("stay on this machine") && notice.contains("wyren sync"), "{notice}");
    assert_eq!(notice.lines().count(), 1, "{notice}");
    in_background(&ada)?;
    for (hook, id) in
        [("prompt-sync", SESSION), ("session-start-memory", SESSION), ("session-start-memory", "b")]
    {
        assert_eq!(told(&ada, hook, id)?, "", "{hook}");
    }
    let status = ada.wyren(&["status"])?;
    assert!(status.contains("Publishing: not allowed yet, to "), "{status}");
    assert!(status.contains("; 3 changes stay on this machine; to allow it: wyren sync"), "{status}");
    let facts: Value = serde_json::from_str(&ada.wyren(&["status", "--json"])?)?;
    assert_eq!((&facts["publishing"], &facts["kept"]), (&json!(false), &json!(3)));
    let doctor = ada.try_wyren(&["doctor"])?;
    assert!(
        String::from_utf8_lossy(&doctor.stdout).contains("you have not let this clone publish"),
        "{doctor:?}"
    );

    ada.wyren(&["sync"])?;
    let facts: Value = serde_json::from_str(&ada.wyren(&["status", "--json"])?)?;
    assert_eq!((&facts["publishing"], &facts["kept"]), (&json!(true), &json!(0)));
    assert!(!ada.wyren(&["status"])?.contains("Publishing:"));
    let said = ada.try_wyren(&["sync"])?;
    assert!(!stderr(&said).contains("From now on"), "said once: {said:?}");
    Ok(())
}

#[test]
fn with_publishing_off_the_background_publishes_nothing_whatever_was_allowed() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    ada.wyren(&["config", "set", "memory.publish", "false"])?;
    let said = ada.try_wyren(&["init"])?;
    assert!(String::from_utf8_lossy(&said.stdout).contains("memory.publish is off"), "{said:?}");
    session(&ada, SESSION)?;
    assert!(!remote.memory(Mode::Side).contains(DECISION));
    let notice = told(&ada, "prompt-sync", SESSION)?;
    assert_eq!(notice, "Wyren: learned 3 entries from this session, kept here.", "the user decided that");
    ada.wyren(&["sync"])?;
    assert!(remote.memory(Mode::Side).contains(DECISION));
    Ok(())
}

/// Makes a clone as one is at an update: the user worked and synced there, and no word about publishing is on record.
fn of_before(remote: &Remote) -> Result<Option<Member>> {
    let Some(ada) = Member::set_up(remote, "ada", Mode::Side)? else { return Ok(None) };
    let prompt = ada.event("prompt-sync", SESSION, &json!({"prompt": "go on"}));
    feed(&mut ada.command("prompt-record"), prompt.as_bytes())?;
    ada.wyren(&["sync"])?;
    feed(ada.command("wyren").args(["export"]), b"")?;
    fs::remove_dir_all(ada.sandbox.data().join("publish"))?;
    ada.git(&["update-ref", "-d", "refs/wyren/clone"])?;
    Ok(Some(ada))
}

#[test]
fn a_clone_that_was_published_from_before_the_update_goes_on_without_a_word() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    let Some(ada) = of_before(&remote)? else { return Ok(()) };
    session(&ada, "another")?;
    assert!(remote.memory(Mode::Side).contains(DECISION), "{}", remote.memory(Mode::Side));
    let known = fs::read_to_string(ada.sandbox.data().join("publish/known"))?;
    assert!(known.starts_with("wyren publish 1\nsince ") && known.ends_with("end\n"), "{known}");
    Ok(())
}

#[test]
fn references_and_state_that_came_with_an_archive_are_no_word() -> Result<()> {
    let Some(remote) = of_a_stranger(Mode::Side)? else { return Ok(()) };
    // The archive is of a clone that was published from, on a machine of another user.
    let (Some(eve), Some(ada)) = (of_before(&remote)?, Member::new(&remote, "ada")?) else { return Ok(()) };
    fs::remove_dir_all(ada.clone_folder())?;
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(eve.clone_folder())
        .arg(ada.clone_folder())
        .status()?;
    ensure!(copied.success(), "could not unpack");
    session(&ada, SESSION)?;
    // A later session finds the first one in the database.
    session(&ada, "later")?;
    assert!(!remote.memory(Mode::Side).contains(DECISION), "{}", remote.memory(Mode::Side));
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_model_is_asked_with_the_users_login_only_after_a_session_said_so_or_the_user_chose_it() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for (is_read, is_chosen) in [(false, false), (true, false), (false, true)] {
        let remote = Remote::new(Mode::Side)?;
        let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
        let (claude, asked) = (ada.sandbox.folder().join("claude"), ada.sandbox.folder().join("asked"));
        fs::write(&claude, format!("#!/bin/sh\necho asked >> '{}'\nexit 1\n", asked.display()))?;
        fs::set_permissions(&claude, fs::Permissions::from_mode(0o755))?;
        fs::remove_dir_all(ada.sandbox.data().join("told"))?;
        if is_chosen {
            ada.wyren(&["config", "set", "model.provider", "cli"])?;
        }
        if is_read {
            assert!(told(&ada, "session-start-memory", SESSION)?.contains("are on; data is in "));
        }
        write_transcript(&ada, SESSION, &ada.clone_folder())?;
        let event = ada.event("stop-distill", SESSION, &json!({"stop_hook_active": false}));
        let mut stop = ada.command("stop-distill");
        stop.env("WYREN_TURNS_THRESHOLD", "1").env("WYREN_MODEL_PROVIDER", "cli");
        stop.env("WYREN_MODEL_COMMAND", &claude);
        feed(&mut stop, event.as_bytes())?;
        wait_for("it is distilled", || Ok(ada.memory()?.contains(DECISION)))?;
        wait_for("the worker is done", || Ok(ada.sandbox.processes().is_empty()))?;
        let log = fs::read_to_string(ada.clone_folder().join(".wyren/log"))?;
        assert_eq!(asked.exists(), is_read || is_chosen, "{log}");
        let words = "model=none (no session has told you yet that a model is asked with your login)";
        assert_eq!(log.contains(words), !asked.exists(), "{log}");
    }
    Ok(())
}
