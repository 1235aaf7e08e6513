//! Candidates: what a person decides about them, and takes back.

use super::{SLUG, add, frobnicate, lessons, lessons_json, refused, stdout, told};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use wyren_tests::sandbox::{Sandbox, feed};
#[cfg(unix)]
use wyren_tests::terminal::Terminal;

/// Writes a candidate about a subcommand of `frobnicate`.
fn candidate(sandbox: &Sandbox, verb: &str, confidence: &str) -> Result<String> {
    let slug = format!("frobnicate-{verb}-drops-unsaved-frobs");
    let text = format!(
        "---\nsummary: frobnicate {verb} drops unsaved frobs\nkind: hint\ncommand: frobnicate {verb}\nconfidence: {confidence}\n\
         tags: tool:frobnicate\nsource: scan\nfires: frobnicate {verb}\nfires: frobnicate {verb} now\nquiet: frobnicate list\n\
         quiet: frobnicate status\nextra.failed: frobnicate {verb} --all\nextra.fixed: frobnicate save && frobnicate {verb}\n\
         extra.seen: 3 sessions in 2 projects\n---\n\
         The {verb} of frobnicate replaces the local tree with what the {verb} server kept.\n\n\
         ## Solution\nRun `frobnicate save` first, look at what it lists with `frobnicate status`, and then run frobnicate {verb}.\n"
    );
    let folder = sandbox.data().join("lessons/candidates");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{slug}.md")), text)?;
    Ok(slug)
}

fn file(sandbox: &Sandbox, folder: &str, slug: &str) -> PathBuf {
    sandbox.data().join("lessons").join(folder).join(format!("{slug}.md"))
}

/// Reviews with these answers; returns what was printed.
fn answering(sandbox: &Sandbox, command: &str, answers: &str) -> Result<String> {
    let mut wyren = sandbox.command("wyren");
    let output = feed(wyren.args(["lessons", command]).current_dir(sandbox.project()), answers.as_bytes())?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(stdout(&output))
}

fn is_hinted(answer: &Value) -> bool {
    answer["hookSpecificOutput"]["additionalContext"].is_string()
}

#[test]
fn a_candidate_is_shown_with_its_evidence_and_promoted_with_one_key() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let slug = candidate(&sandbox, "pull", "0.7")?;
    assert!(!is_hinted(&told(&sandbox, "one", "frobnicate pull")?));
    let list = lessons_json(&sandbox, &["review", "--json"])?;
    let evidence = json!([
        {"name": "failed", "value": "frobnicate pull --all"},
        {"name": "fixed", "value": "frobnicate save && frobnicate pull"},
        {"name": "seen", "value": "3 sessions in 2 projects"},
    ]);
    assert_eq!(
        (&list["candidates"][0]["slug"], &list["candidates"][0]["evidence"]),
        (&json!(slug), &evidence)
    );

    let screen = answering(&sandbox, "review", "p\n")?;
    for part in ["1 of 1", "frobnicate pull --all", "3 sessions in 2 projects", "Promoted"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(is_hinted(&told(&sandbox, "two", "frobnicate pull")?));
    // What it was found by stays with it.
    assert!(fs::read_to_string(file(&sandbox, "", &slug))?.contains("extra.seen: 3 sessions in 2 projects"));

    lessons(&sandbox, &["review", "--undo"])?;
    assert!(!is_hinted(&told(&sandbox, "three", "frobnicate pull")?));
    assert!(file(&sandbox, "candidates", &slug).exists());
    Ok(())
}

#[test]
fn a_review_may_end_at_any_moment_and_goes_on_with_what_is_left() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (pull, push, sync) = (
        candidate(&sandbox, "pull", "0.9")?,
        candidate(&sandbox, "push", "0.8")?,
        candidate(&sandbox, "sync", "0.7")?,
    );
    // The surest comes first. The input ends after two answers.
    answering(&sandbox, "review", "s\na\nnot about our work\n")?;
    assert!(
        fs::read_to_string(file(&sandbox, "archive", &push))?
            .contains("extra.archiveReason: not about our work")
    );
    let order = |list: &Value| -> Vec<String> {
        let slugs = list["candidates"].as_array().into_iter().flatten();
        slugs.filter_map(|candidate| candidate["slug"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(order(&lessons_json(&sandbox, &["review", "--json"])?), [sync.clone(), pull.clone()]);
    // Undo within a review brings the archived one back.
    answering(&sandbox, "review", "u\nq\n")?;
    assert_eq!(order(&lessons_json(&sandbox, &["review", "--json"])?), [push, sync, pull]);
    Ok(())
}

#[test]
fn what_is_not_good_enough_or_said_already_is_not_promoted() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let slug = candidate(&sandbox, "pull", "0.7")?;
    let path = file(&sandbox, "candidates", &slug);
    let whole = fs::read_to_string(&path)?;
    fs::write(&path, whole.replace("quiet: frobnicate status", "quiet: frobnicate pull"))?;
    assert!(refused(&sandbox, &["promote", &slug])?.contains("quiet"));
    fs::write(&path, &whole)?;
    lessons(&sandbox, &["promote", &slug])?;
    // The same words under another name.
    fs::write(file(&sandbox, "candidates", "another"), &whole)?;
    assert!(refused(&sandbox, &["promote", "another"])?.contains("merge it into that one"));
    lessons(&sandbox, &["merge", "another", &slug])?;
    assert!(
        fs::read_to_string(file(&sandbox, "archive", "another"))?.contains(&format!("merged into {slug}"))
    );
    Ok(())
}

#[test]
fn merging_gives_a_lesson_the_patterns_of_a_candidate_and_undo_takes_both_back() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (pull, push) = (candidate(&sandbox, "pull", "0.7")?, candidate(&sandbox, "push", "0.7")?);
    lessons(&sandbox, &["promote", &pull])?;
    let before = fs::read_to_string(file(&sandbox, "", &pull))?;
    lessons(&sandbox, &["merge", &push, &pull])?;
    assert!(is_hinted(&told(&sandbox, "one", "frobnicate push")?));
    lessons(&sandbox, &["review", "--undo"])?;
    assert_eq!(fs::read_to_string(file(&sandbox, "", &pull))?, before);
    assert!(file(&sandbox, "candidates", &push).exists());
    assert!(!is_hinted(&told(&sandbox, "two", "frobnicate push")?));
    // A file that was changed since is not overwritten.
    lessons(&sandbox, &["archive", &push, "--reason", "no"])?;
    fs::write(file(&sandbox, "archive", &push), &before)?;
    assert!(refused(&sandbox, &["review", "--undo"])?.contains("was changed since"));
    Ok(())
}

#[test]
fn purge_archives_what_is_unsure_and_onboarding_goes_by_groups() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (pull, push, sync) = (
        candidate(&sandbox, "pull", "0.9")?,
        candidate(&sandbox, "push", "0.2")?,
        candidate(&sandbox, "sync", "0.6")?,
    );
    let dry = lessons_json(&sandbox, &["purge", "--below-confidence", "0.3", "--dry-run", "--json"])?;
    assert_eq!(dry, json!({"archived": [push], "dry_run": true}));
    assert!(file(&sandbox, "candidates", &push).exists());
    lessons(&sandbox, &["purge", "--below-confidence", "0.3"])?;
    assert!(file(&sandbox, "archive", &push).exists());

    let groups = lessons(&sandbox, &["onboard", "--dry-run"])?;
    assert!(
        groups.starts_with("tool:frobnicate\n") && groups.contains(&pull) && groups.contains(&sync),
        "{groups}"
    );
    answering(&sandbox, "onboard", "p\n")?;
    assert!(file(&sandbox, "", &pull).exists());
    Ok(())
}

#[test]
fn the_model_may_look_and_not_decide_against_a_candidate() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let slug = candidate(&sandbox, "pull", "0.2")?;
    add(&sandbox, &frobnicate())?;
    let as_model = |arguments: &[&str]| -> Result<Option<i32>> {
        let mut wyren = sandbox.command("wyren");
        wyren.arg("lessons").args(arguments).env("CLAUDECODE", "1");
        Ok(feed(&mut wyren, b"")?.status.code())
    };
    assert_eq!(as_model(&["review", "--json"])?, Some(0));
    for arguments in [
        &["review"][..],
        &["review", "--undo"],
        &["purge", "--below-confidence", "1"],
        &["merge", &slug, SLUG],
        &["archive", &slug, "--reason", "x"],
        &["onboard", "--archive-below", "1"],
    ] {
        assert_eq!(as_model(arguments)?, Some(1), "{arguments:?}");
    }
    assert!(file(&sandbox, "candidates", &slug).exists());
    Ok(())
}

#[test]
fn what_a_review_keeps_goes_when_something_is_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let slug = candidate(&sandbox, "pull", "0.9")?;
    lessons(&sandbox, &["promote", &slug])?;
    let journal = sandbox.data().join("cache/drafts/review.json");
    assert!(fs::read_to_string(&journal)?.contains("3 sessions in 2 projects"));
    sandbox.wyren(&["forget", "--session", "s", "--yes"])?;
    assert!(!journal.exists());
    Ok(())
}

#[test]
fn doctor_names_what_fails_often_and_has_no_lesson_and_a_scope_that_is_no_project() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for number in 0..12 {
        let call = json!({
            "session_id": format!("s{}", number % 3), "cwd": sandbox.project(), "prompt_id": "1",
            "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
            "tool_input": {"command": "frobnicate apply"}, "error": "exit code 1",
        });
        sandbox.run("tool-record", call.to_string().as_bytes())?;
    }
    lessons(&sandbox, &["stats"])?;
    let coverage =
        |diagnosis: &Value| diagnosis["store"].to_string().contains("frobnicate failed 12 of 12 times");
    let diagnosis = lessons_json(&sandbox, &["doctor", "--json"])?;
    assert!(coverage(&diagnosis), "{diagnosis:#}");
    add(&sandbox, &super::frobnicate_with(&json!({"scope": "/nowhere/at/all"})))?;
    let diagnosis = lessons_json(&sandbox, &["doctor", "--json"])?;
    assert!(!coverage(&diagnosis), "{diagnosis:#}");
    assert!(diagnosis["lessons"].to_string().contains("no project is known as"), "{diagnosis:#}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_candidate_is_edited_within_the_review_and_a_bad_draft_changes_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let slug = candidate(&sandbox, "pull", "0.7")?;
    let path = file(&sandbox, "candidates", &slug);
    let edit = |change: &str, answers: &str| -> Result<()> {
        let script = sandbox.folder().join("editor.sh");
        fs::write(&script, format!("sed '{change}' \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"\n"))?;
        let mut wyren = sandbox.command("wyren");
        wyren
            .args(["lessons", "review"])
            .env("EDITOR", format!("sh {}", script.display()))
            .env_remove("VISUAL");
        let output = feed(&mut wyren, answers.as_bytes())?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    };
    let before = fs::read_to_string(&path)?;
    edit("s/^quiet: frobnicate status/quiet: frobnicate pull/", "e\nq\n")?;
    assert_eq!(fs::read_to_string(&path)?, before);
    edit("s/^kind: hint/kind: pause/", "e\np\n")?;
    let promoted = fs::read_to_string(file(&sandbox, "", &slug))?;
    assert!(
        promoted.contains("kind: pause") && promoted.contains("extra.seen: 3 sessions in 2 projects"),
        "{promoted}"
    );
    Ok(())
}

#[cfg(unix)]
#[test]
fn on_a_terminal_one_key_decides() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (pull, push) = (candidate(&sandbox, "pull", "0.9")?, candidate(&sandbox, "push", "0.8")?);
    let mut wyren = sandbox.command("wyren");
    wyren.args(["lessons", "review"]).current_dir(sandbox.project());
    let mut terminal = Terminal::of(&wyren, 120)?;
    terminal.wait_for("1 of 2")?;
    terminal.type_text("p")?;
    terminal.wait_for(&format!("Promoted {pull}."))?;
    terminal.wait_for("2 of 2")?;
    // A reason is a line, which the terminal shows while it is typed.
    terminal.type_text("a")?;
    terminal.wait_for("Reason")?;
    terminal.type_text("too narrow\r")?;
    terminal.wait_for(&format!("Archived {push}."))?;
    assert!(terminal.contents().contains("too narrow"), "{}", terminal.contents());
    assert_eq!(terminal.end()?, 0);
    assert!(fs::read_to_string(file(&sandbox, "archive", &push))?.contains("too narrow"));
    Ok(())
}
