//! Lessons of a team: one is shared, arrives as data, and what became of it adds up.

use super::{Member, Mode, Remote, git};
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use wyren_tests::sandbox::feed;

const SLUG: &str = "frobnicate-apply-overwrites-the-local-state";

const LESSON: &str = "---\nsummary: frobnicate apply overwrites the local state\nkind: pause\ncommand: frobnicate apply\n\
    without: --dry-run\nscope: /somewhere/of/mine\ntags: tool:frobnicate\nfires: frobnicate apply\nquiet: frobnicate diff\n\
    extra.failed: cd acme-merger && frobnicate apply\n---\n\
    It takes whatever the server has and drops unsaved frobs without a word.\n\n## Solution\n\
    Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.\n";

fn share(member: &Member) -> Result<String> {
    let folder = member.sandbox.data().join("lessons");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{SLUG}.md")), LESSON)?;
    member.wyren(&["lessons", "share", SLUG])
}

/// Has the hooks see a call before it runs, or after.
fn call(member: &Member, hook: &str, id: &str, command: &str) -> Result<Value> {
    let event = if hook == "tool-record" { "PostToolUse" } else { "PreToolUse" };
    let input = json!({
        "session_id": "s", "cwd": member.clone_folder(), "hook_event_name": event, "prompt_id": "1", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id, "tool_response": {"stdout": "ok"},
    });
    let output = feed(&mut member.command(hook), input.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn a_shared_lesson_reaches_teammates_as_data_without_what_it_was_found_by() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(bob)) = (Member::new(&remote, "ada")?, Member::new(&remote, "bob")?) else {
        return Ok(());
    };
    ada.wyren(&["init"])?;
    let told = share(&ada)?;
    assert!(told.contains("Published to the team."), "{told}");
    assert!(ada.sandbox.data().join(format!("lessons/archive/{SLUG}.md")).exists());
    bob.wyren(&["init"])?;
    bob.wyren(&["sync"])?;
    let text = fs::read_to_string(bob.clone_folder().join(format!(".wyren/lessons/{SLUG}.md")))?;
    assert!(!text.contains("acme-merger") && !text.contains("/somewhere/of/mine"), "{text}");
    // A pause of others is a hint until it is trusted.
    let answer = call(&bob, "lesson-inject", "a", "frobnicate apply")?;
    assert!(answer["hookSpecificOutput"]["permissionDecision"].is_null(), "{answer}");
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(context.contains("project lesson"), "{answer}");
    Ok(())
}

#[test]
fn with_a_memory_on_the_users_branch_a_shared_lesson_is_theirs_to_commit() -> Result<()> {
    let remote = Remote::new(Mode::Branch)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Branch)? else { return Ok(()) };
    let told = share(&ada)?;
    assert!(told.contains("commit the file and push it") && !told.contains("Published"), "{told}");
    assert!(ada.clone_folder().join(format!(".wyren/lessons/{SLUG}.md")).exists());
    Ok(())
}

#[test]
fn a_lesson_with_a_secret_is_not_shared() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    ada.wyren(&["init"])?;
    let folder = ada.sandbox.data().join("lessons");
    fs::create_dir_all(&folder)?;
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    fs::write(folder.join(format!("{SLUG}.md")), LESSON.replace("unsaved frobs", &format!("token {key}")))?;
    let output = ada.try_wyren(&["lessons", "share", SLUG])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        folder.join(format!("{SLUG}.md")).exists() && !ada.clone_folder().join(".wyren/lessons").exists()
    );
    Ok(())
}

#[test]
fn what_became_of_a_lesson_adds_up_and_leaves_a_clone_as_counts_alone() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(bob)) = (Member::new(&remote, "ada")?, Member::new(&remote, "bob")?) else {
        return Ok(());
    };
    ada.wyren(&["init"])?;
    share(&ada)?;
    bob.wyren(&["init"])?;
    bob.wyren(&["sync"])?;
    for member in [&ada, &bob] {
        call(member, "lesson-inject", "a", "frobnicate apply")?;
        call(member, "tool-record", "a", "frobnicate apply")?;
        call(member, "tool-record", "b", "frobnicate apply --dry-run")?;
        call(member, "tool-record", "c", "frobnicate apply --dry-run")?;
        call(member, "tool-record", "d", "frobnicate apply --dry-run")?;
        member.wyren(&["jobs", "add", "drain"])?;
        member.wyren(&["worker", "run", "--until-idle"])?;
        member.wyren(&["sync"])?;
    }
    ada.wyren(&["sync"])?;
    let stats: Value = serde_json::from_str(&ada.wyren(&["lessons", "stats", SLUG, "--json"])?)?;
    let lesson = &stats["lessons"][0];
    assert_eq!((&lesson["shown"], &lesson["heeded"]), (&json!(1), &json!(1)), "{stats:#}");
    assert_eq!(lesson["team"], json!({"shown": 1, "heeded": 1, "overruled": 0, "failed": 0}), "{stats:#}");

    let listed = git(&remote.path(), &["ls-tree", "-r", "--name-only", "wyren/memory"])?;
    let counts: Vec<&str> = listed.lines().filter(|path| path.contains("lessons/counts/")).collect();
    assert_eq!(counts.len(), 2, "{listed}");
    for path in counts {
        let text = git(&remote.path(), &["show", &format!("wyren/memory:{path}")])?;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2, "wyren counts 1"), "{text}");
        assert!(lines[1].starts_with(SLUG) && lines[1].ends_with(" 1 0 0 0 0"), "{text}");
        let name = path.rsplit('/').next().unwrap_or_default();
        assert!(!name.contains("ada") && !name.contains("bob"), "{path}");
    }
    Ok(())
}
