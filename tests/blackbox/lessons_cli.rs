//! `wyren lessons` and `wyren trust`, and what the hook makes of it with the very next call.

mod allow;
mod changes;
mod commands;
mod interview;
mod review;
mod stats;
mod transfer;
mod trust;

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

/// A lesson that nothing is wrong with, about a program that no shipped lesson knows.
fn frobnicate() -> Value {
    json!({
        "summary": "frobnicate apply overwrites the local state",
        "problem": "It takes whatever the server has and drops unsaved frobs without a word.",
        "solution": "Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.",
        "commands": ["frobnicate apply"],
        "without": ["--dry-run"],
        "tags": ["tool:frobnicate"],
        "fires": ["frobnicate apply"],
        "quiet": ["frobnicate apply --dry-run", "frobnicate diff"],
    })
}

/// Returns `frobnicate` with some fields changed.
fn frobnicate_with(changes: &Value) -> Value {
    let mut lesson = frobnicate();
    for (name, value) in changes.as_object().into_iter().flatten() {
        lesson[name] = value.clone();
    }
    lesson
}

const SLUG: &str = "frobnicate-apply-overwrites-the-local-state";

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `wyren lessons` and returns what it printed; it must end well.
fn lessons(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let output = sandbox.wyren(&[&["lessons"], arguments].concat())?;
    ensure!(output.status.code() == Some(0), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    Ok(stdout(&output))
}

/// Runs `wyren lessons` and returns its complaint; it must end with 1.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let output = sandbox.wyren(&[&["lessons"], arguments].concat())?;
    ensure!(output.status.code() == Some(1), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    Ok(stderr(&output))
}

fn lessons_json(sandbox: &Sandbox, arguments: &[&str]) -> Result<Value> {
    Ok(serde_json::from_str(&lessons(sandbox, arguments)?)?)
}

fn add(sandbox: &Sandbox, lesson: &Value) -> Result<String> {
    lessons(sandbox, &["add", "--from-json", &lesson.to_string()])
}

/// Returns what the hook says to a command, in a session of its own.
fn told(sandbox: &Sandbox, session: &str, command: &str) -> Result<Value> {
    let call = json!({
        "session_id": session, "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let output = sandbox.run("lesson-inject", call.to_string().as_bytes())?;
    serde_json::from_slice(&output.stdout).with_context(|| stderr(&output))
}

/// Says whether the hook mentions a lesson about frobnicate, in a session of its own.
fn speaks(sandbox: &Sandbox, session: &str) -> Result<bool> {
    Ok(told(sandbox, session, "frobnicate apply")?.to_string().contains("frobnicate save"))
}

fn personal(sandbox: &Sandbox) -> PathBuf {
    sandbox.data().join("lessons")
}

/// Returns the names of the files in a folder, sorted, temporary ones included.
fn names_in(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn list_show_and_search_find_lessons_of_every_layer() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let project = frobnicate_with(&json!({
        "slug": "project-frob", "kind": "guard", "commands": ["projectfrob apply"], "fires": [], "quiet": [],
        "summary": "projectfrob must not be used", "problem": "Its effect on running servers is unknown to the whole team.",
    }));
    lessons(&sandbox, &["add", "--project", "--from-json", &project.to_string()])?;

    let table = lessons(&sandbox, &["list"])?;
    assert!(table.contains(SLUG) && table.contains("personal") && table.contains("shipped"), "{table}");
    assert!(table.contains("project (untrusted)"), "{table}");
    assert!(!table.contains('\u{1b}'), "{table}");
    let listed = lessons_json(&sandbox, &["list", "--layer", "personal", "--tag", "tool", "--json"])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!((&listed[0]["slug"], &listed[0]["state"]), (&json!(SLUG), &json!("active")));
    let guards = lessons_json(&sandbox, &["list", "--kind", "guard", "--json"])?;
    assert!(guards.as_array().is_some_and(|guards| guards.iter().all(|guard| guard["kind"] == "guard")));

    let shown = lessons(&sandbox, &["show", SLUG])?;
    for text in
        ["frobnicate apply", "--dry-run", "unsaved frobs", "frobnicate save", "tool:frobnicate", ".md"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(lessons_json(&sandbox, &["show", SLUG, "--json"])?["commands"], json!(["frobnicate apply"]));
    let error = refused(&sandbox, &["show", "frobnicate-apply-overwrite"])?;
    assert!(error.contains("did you mean") && error.contains(SLUG), "{error}");

    let found = lessons_json(&sandbox, &["search", "unsaved", "FROB", "--json"])?;
    assert_eq!(found[0]["slug"], SLUG);
    assert_eq!(lessons_json(&sandbox, &["search", "nothinghasthisword", "--json"])?, json!([]));
    Ok(())
}

#[test]
fn test_says_what_fires_what_nearly_does_and_why() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let fires = lessons_json(&sandbox, &["test", "cd x && frobnicate apply", "--json"])?;
    assert_eq!((&fires["outcome"], &fires["by"]), (&json!("told"), &json!([SLUG])));
    assert_eq!(fires["applying"][0]["reason"], "frobnicate apply");
    let nearly = lessons_json(&sandbox, &["test", "frobnicate apply --dry-run", "--json"])?;
    assert_eq!(nearly["outcome"], "silent");
    assert_eq!(nearly["nearly"][0]["reason"], "the command has --dry-run");
    let quiet = lessons(&sandbox, &["test", "echo 'frobnicate apply'"])?;
    assert_eq!(quiet, "Allowed, silent. No lesson matches.\n");
    assert_eq!(lessons(&sandbox, &["disable", SLUG])?, format!("Disabled {SLUG}.\n"));
    assert_eq!(refused(&sandbox, &["disable", SLUG])?, format!("wyren: {SLUG} is already disabled\n"));
    let disabled = lessons(&sandbox, &["test", "frobnicate apply"])?;
    assert!(
        disabled.starts_with("Allowed, silent. No active lesson matches.\n\nMatches, but disabled\n"),
        "{disabled}"
    );
    assert_eq!(lessons(&sandbox, &["enable", SLUG])?, format!("Enabled {SLUG}.\n"));

    let python = frobnicate_with(&json!({
        "slug": "eval-in-python", "summary": "eval in Python runs whatever it is given", "commands": [], "without": [],
        "problem": "Text of a user becomes code and does what its author wants it to.",
        "paths": ["**/*.py"], "content": ["\\beval\\("], "fires": [{"tool": "Write", "file_path": "a.py", "content": "eval(x)"}],
        "quiet": [{"tool": "Write", "file_path": "a.pyc", "content": "eval(x)"}],
    }));
    add(&sandbox, &python)?;
    let call = r#"{"tool":"Write","file_path":"src/a.py","content":"x = eval(y)"}"#;
    let written = lessons_json(&sandbox, &["test", "--json", call])?;
    assert!(written["by"].as_array().is_some_and(|by| by.contains(&json!("eval-in-python"))), "{written}");
    assert!(refused(&sandbox, &["test", r#"{"file_path":"x"}"#])?.contains("has no tool"));
    assert!(refused(&sandbox, &["test", r#"{"tool":"#])?.contains("the call is not a JSON object"));
    Ok(())
}

#[test]
fn test_tells_whether_guards_of_an_untrusted_project_would_act() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let guard = frobnicate_with(&json!({"kind": "guard"}));
    lessons(&sandbox, &["add", "--project", "--from-json", &guard.to_string()])?;
    let project = sandbox.project();
    let elsewhere = sandbox.folder().join("elsewhere");
    fs::create_dir(&elsewhere)?;
    let test = |cwd: &std::path::Path| {
        lessons_json(&sandbox, &["test", "frobnicate apply", "--json", "--cwd", &cwd.to_string_lossy()])
    };
    let untrusted = test(&project)?;
    // What is not trusted is a hint.
    assert_eq!(untrusted["outcome"], "told");
    let kept_back = untrusted["applying"][0]["kept_back"].as_str().unwrap_or_default();
    assert!(kept_back.contains("wyren trust"), "{untrusted}");
    assert_eq!(test(&elsewhere)?["applying"], json!([]));
    sandbox.wyren(&["trust", "--yes"])?;
    assert_eq!(test(&project)?["outcome"], "refused");
    Ok(())
}

#[test]
fn doctor_names_lesson_field_and_reason_and_ends_with_1() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let of_personal = ["doctor", "--layer", "personal", "--json"];
    assert_eq!(lessons_json(&sandbox, &of_personal)?["ok"], true);

    let good = fs::read_to_string(personal(&sandbox).join(format!("{SLUG}.md")))?;
    let write = |name: &str, text: &str| fs::write(personal(&sandbox).join(name), text);
    write("broken.md", "---\nkind: hnt\n---\n")?;
    write("bad-pattern.md", &good.replace("fires: frobnicate apply", "match: a(?!b)"))?;
    write("wrong-example.md", &good.replace("fires: frobnicate apply", "fires: frobnicate diff"))?;
    write(
        "unindexed.md",
        &good
            .replace("command: frobnicate apply", "match: a.c")
            .replace("fires: frobnicate apply", "fires: abc"),
    )?;
    let output = sandbox.wyren(&["lessons", "doctor", "--layer", "personal", "--json"])?;
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout)?;
    let reasons = |slug: &str| {
        let all = found["lessons"].as_array().into_iter().flatten();
        all.filter(|lesson| lesson["slug"] == slug)
            .map(|lesson| lesson["issues"].to_string())
            .collect::<String>()
    };
    assert!(reasons("broken").contains("expected one of hint"), "{found:#}");
    assert!(reasons("bad-pattern").contains("looking ahead"), "{found:#}");
    assert!(reasons("wrong-example").contains("does not fire it"), "{found:#}");
    assert!(reasons("unindexed").contains("cannot be looked up"), "{found:#}");
    assert!(reasons("wrong-example").contains("says 100 % of what"), "{found:#}");
    let text = stdout(&sandbox.wyren(&["lessons", "doctor", "--layer", "personal"])?);
    assert!(text.contains("bad-pattern (personal)") && text.contains("bad  matches"), "{text}");
    Ok(())
}

#[test]
fn every_subcommand_has_help() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let help = lessons(&sandbox, &["--help"])?;
    assert!(help.contains("Examples:"));
    for name in [
        "list", "show", "search", "test", "add", "edit", "allow", "disable", "enable", "archive", "restore",
        "doctor", "import", "export", "backup",
    ] {
        assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
        lessons(&sandbox, &[name, "--help"])?;
    }
    let output = feed(sandbox.command("wyren").args(["lessons", "list", "--kind", "hnt"]), b"")?;
    assert_eq!(output.status.code(), Some(2));
    Ok(())
}

#[test]
fn text_11_test_says_what_claude_would_meet_and_what_nearly_applies_on_demand() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let told = lessons(&sandbox, &["test", "frobnicate apply"])?;
    assert!(told.starts_with(&format!("Allowed; Claude would be told: {SLUG}.\n\nApplies\n")), "{told}");
    let silent = lessons(&sandbox, &["test", "frobnicate apply --dry-run"])?;
    assert_eq!(silent, "Allowed, silent. No lesson matches.\n");
    let verbose = lessons(&sandbox, &["test", "frobnicate apply --dry-run", "--verbose"])?;
    assert!(
        verbose.contains("\n\nNearly applies\n") && verbose.contains("but the command has --dry-run"),
        "{verbose}"
    );
    Ok(())
}

#[test]
fn c12_doctor_finds_nothing_to_do_on_a_fresh_install() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let fresh = lessons(&sandbox, &["doctor"])?;
    assert!(fresh.starts_with("No problems in ") && fresh.lines().count() == 1, "{fresh}");
    // What is the user's own is still compared with what ships.
    let shipped = lessons_json(&sandbox, &["list", "--layer", "shipped", "--kind", "hint", "--json"])?;
    let copy = frobnicate_with(&json!({"slug": "my-copy", "problem": shipped[0]["problem"]}));
    lessons(&sandbox, &["add", "--force", "--from-json", &copy.to_string()])?;
    let found = lessons(&sandbox, &["doctor"])?;
    assert!(found.starts_with("my-copy (personal)\n") && found.contains("says 100 % of what"), "{found}");
    assert!(!found.contains("(shipped)\n"), "{found}");
    Ok(())
}

#[test]
fn c14_lessons_alone_lists_them() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(lessons(&sandbox, &[])?, lessons(&sandbox, &["list"])?);
    Ok(())
}

#[test]
fn c15_a_file_that_is_not_there_is_named_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let error = refused(&sandbox, &["import", "/nope"])?;
    assert_eq!(error, "wyren: could not access /nope: No such file or directory (os error 2)\n");
    Ok(())
}
