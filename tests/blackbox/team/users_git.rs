//! The user's own git works as it would without Wyren, after every step.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::{Member, Mode, Remote, git};

/// Has another member push a commit to main that has nothing to do with the memory.
fn unrelated_push(remote: &Remote, name: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let address = format!("file://{}", remote.path().display());
    git(folder.path(), &["clone", "--quiet", &address, "other"])?;
    let other = folder.path().join("other");
    fs::write(other.join(name), "theirs\n")?;
    git(&other, &["add", "--all"])?;
    git(&other, &["-c", "user.name=Other", "-c", "user.email=other@localhost", "commit", "-qm", name])?;
    git(&other, &["push", "--quiet", "origin", "HEAD:main"])?;
    Ok(())
}

/// Plays a day with two members, and has both use their git after every step.
fn check(mode: Mode) -> Result<()> {
    let remote = Remote::new(mode)?;
    let (Some(ada), Some(bob)) =
        (Member::set_up(&remote, "ada", mode)?, Member::set_up(&remote, "bob", mode)?)
    else {
        return Ok(());
    };
    let pull = |step: &str| -> Result<()> {
        // Ada has nothing unpushed.
        ada.git(&["pull", "--quiet", "--ff-only"])?;
        assert_eq!(ada.git(&["status", "--porcelain"])?, "", "{step}");
        // Bob has, and rebases it onto whatever there is.
        fs::write(bob.clone_folder().join(step), "bob's\n")?;
        bob.git(&["add", step])?;
        bob.git(&["commit", "--quiet", "--message", step])?;
        bob.wyren(&["sync"])?;
        let log = git(&remote.path(), &["log", "--all", "--format=%s"])?;
        assert!(!log.lines().any(|subject| subject == step), "{step}: an unpushed commit was published");
        bob.git(&["pull", "--quiet", "--rebase"])?;
        bob.git(&["push", "--quiet"])?;
        assert_eq!(bob.git(&["status", "--porcelain"])?, "", "{step}");
        Ok(())
    };
    pull("at-first")?;
    ada.start("a")?;
    bob.start("b")?;
    pull("after-the-sessions-began")?;
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    pull("after-a-decision")?;
    unrelated_push(&remote, "theirs-1")?;
    bob.decide("Use spaces in Makefiles never")?;
    bob.wyren(&["sync"])?;
    ada.prompt("a")?;
    pull("after-a-race")?;
    unrelated_push(&remote, "theirs-2")?;
    bob.wyren(&["memory", "handoff", "Look at the parser next"])?;
    ada.prompt("a")?;
    bob.prompt("b")?;
    pull("after-a-handoff")?;
    for member in [&ada, &bob] {
        member.wyren(&["sync"])?;
        let memory = member.memory()?;
        for entry in ["Use tabs", "Use spaces in Makefiles never", "Look at the parser next"] {
            assert_eq!(memory.matches(entry).count(), 1, "{entry}: {memory}");
        }
    }
    Ok(())
}

#[test]
fn pull_rebase_and_push_work_after_every_step_in_side_mode() -> Result<()> {
    check(Mode::Side)
}

#[test]
fn pull_rebase_and_push_work_after_every_step_in_branch_mode() -> Result<()> {
    check(Mode::Branch)
}

#[test]
fn a_remote_that_refuses_pushes_to_main_still_syncs_in_side_mode() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let hook = remote.path().join("hooks/update");
    fs::write(
        &hook,
        "#!/bin/sh\ncase \"$1\" in refs/heads/main) echo 'main is protected' >&2; exit 1;; esac\n",
    )?;
    #[cfg(unix)]
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let (Some(ada), Some(bob)) = (Member::set_up(&remote, "ada", Mode::Side)?, Member::new(&remote, "bob")?)
    else {
        return Ok(());
    };
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    assert!(bob.start("b")?.contains("Use tabs"), "a fresh clone needs no command");
    Ok(())
}

#[test]
fn a_member_in_a_subdirectory_and_one_in_a_work_tree_share_the_memory() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(ada) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        ada.decide("Use tabs")?;
        ada.wyren(&["sync"])?;
        let deep = ada.clone_folder().join("src/deep");
        fs::create_dir_all(&deep)?;
        ada.git(&["worktree", "add", "--quiet", "../tree", "-b", "topic", "HEAD"])?;
        let tree = ada.sandbox.folder().join("tree");
        let mut places = vec![deep];
        // A work tree of another branch has what that branch has, in branch mode.
        places.extend((mode == Mode::Side).then_some(tree));
        for place in places {
            let fields = serde_json::json!({"source": "startup", "cwd": place});
            let told = ada.hook("session-start-memory", "s", &fields)?;
            assert!(told.contains("Use tabs"), "{mode:?} {}: {told}", place.display());
        }
    }
    Ok(())
}

/// When a commit by plain git was written.
const PUSHED: &str = "2026-01-02T03:04:05Z";

/// Has another member change the tracked memory by plain git, as the Node version does.
fn plain_push(remote: &Remote, name: &str, change: impl Fn(&str) -> String) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let address = format!("file://{}", remote.path().display());
    git(folder.path(), &["clone", "--quiet", &address, "other"])?;
    let file = folder.path().join("other/.wyren/memory.md");
    fs::write(&file, change(&fs::read_to_string(&file)?))?;
    let (user, email) = (format!("user.name={name}"), format!("user.email={name}@localhost"));
    let subject = "[wyren] memory update (session aaaaaaaa)";
    let other = folder.path().join("other");
    let commit = ["commit", "--quiet", "--all", "--date", PUSHED, "--message", subject];
    git(&other, &[&["-c", &user, "-c", &email], &commit[..]].concat())?;
    git(&other, &["push", "--quiet", "origin", "HEAD:main"]).map(|_| ())
}

/// How Wyren comes to look at what the user has pulled.
const WAYS: [&str; 4] = ["sync", "background", "session start", "prompt"];

fn look(member: &Member, way: &str) -> Result<()> {
    match way {
        "sync" => drop(member.wyren(&["sync"])?),
        "background" => drop(member.wyren(&["sync", "--background"])?),
        "session start" => drop(member.start("s")?),
        _ => {
            let event = member.event("prompt-sync", "s", &json!({"prompt": "go on"}));
            // However recent the last fetch is.
            let mut prompt = member.command("prompt-sync");
            ensure!(feed(prompt.env("WYREN_FETCH_SECONDS", "0"), event.as_bytes())?.status.success());
        }
    }
    crate::worker::wait_for("no process", || Ok(member.sandbox.processes().is_empty()))
}

#[test]
fn d1_a_pull_of_the_user_is_no_edit_of_theirs_however_wyren_comes_to_see_it() -> Result<()> {
    for way in WAYS {
        let remote = Remote::new(Mode::Branch)?;
        let (Some(bob), Some(cyd)) =
            (Member::set_up(&remote, "bob", Mode::Branch)?, Member::set_up(&remote, "cyd", Mode::Branch)?)
        else {
            return Ok(());
        };
        bob.decide("Two")?;
        bob.wyren(&["sync"])?;
        plain_push(&remote, "ada", |text| text.replace("- Two\n", "") + "- Four\n")?;
        bob.git(&["pull", "--quiet", "--ff-only"])?;
        // What came with the pull is removed, and what it took away is restored.
        cyd.wyren(&["sync"])?;
        let mut editing = cyd.command("wyren");
        editing.args(["memory", "edit"]).env("EDITOR", "sed -i /Four/d");
        ensure!(feed(&mut editing, b"")?.status.success());
        cyd.decide("Two")?;
        cyd.wyren(&["sync"])?;
        let before = (remote.memory(Mode::Branch), git(&remote.path(), &["rev-parse", "main"])?);
        look(&bob, way)?;
        assert_eq!(
            (remote.memory(Mode::Branch), git(&remote.path(), &["rev-parse", "main"])?),
            before,
            "{way}"
        );
        let memory = bob.memory()?;
        assert!(memory.contains("- Two") && !memory.contains("Four"), "{way}: {memory}");
        let history = bob.wyren(&["memory", "history", "Four"])?;
        assert!(history.contains("cyd") && !history.contains("by hand"), "{way}: {history}");
    }
    Ok(())
}

#[test]
fn d1_the_history_names_the_author_and_the_day_of_a_removal_that_came_with_a_pull() -> Result<()> {
    let remote = Remote::new(Mode::Branch)?;
    let Some(bob) = Member::set_up(&remote, "bob", Mode::Branch)? else { return Ok(()) };
    bob.decide("Two")?;
    bob.wyren(&["sync"])?;
    plain_push(&remote, "ada", |text| text.replace("- Two", "- Three"))?;
    bob.git(&["pull", "--quiet", "--ff-only"])?;
    for _ in 0..2 {
        // At once, and after a sync.
        let history: Value = serde_json::from_str(&bob.wyren(&["memory", "history", "Two", "--json"])?)?;
        let removals = history["removals"].as_array().context("no list")?;
        assert_eq!(removals.len(), 1, "{history:#}");
        assert_eq!(removals[0]["by"], "ada");
        let when = removals[0]["when"].as_str().context("no time")?;
        assert!(when.starts_with(PUSHED.trim_end_matches('Z')), "{when}");
        bob.wyren(&["sync"])?;
    }
    Ok(())
}
