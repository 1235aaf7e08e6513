//! The warning that little of the window is left, as the built hooks give it.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

/// Has the model of session `s` use this many tokens.
fn use_tokens(sandbox: &Sandbox, tokens: u64) -> Result<()> {
    let line = json!({"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": tokens}}});
    Ok(fs::write(sandbox.folder().join("t.jsonl"), format!("{line}\n"))?)
}

/// Ends a tool call in session `s`; returns what the model reads.
fn call(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Result<String> {
    let event = json!({
        "session_id": "s", "cwd": sandbox.project(), "prompt_id": "p", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "transcript_path": sandbox.folder().join("t.jsonl"),
    });
    let mut command = sandbox.command("context-monitor");
    let output = feed(command.envs(variables.iter().copied()), event.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
}

fn start(sandbox: &Sandbox, source: &str, model: Option<&str>) -> Result<()> {
    let event =
        json!({"session_id": "s", "hook_event_name": "SessionStart", "source": source, "model": model});
    let output = sandbox.run("session-start-reset", event.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    Ok(())
}

#[test]
fn without_a_memory_the_model_is_warned_once_and_again_after_a_compaction() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    use_tokens(&sandbox, 100_000)?;
    assert_eq!(call(&sandbox, &[])?, "");
    use_tokens(&sandbox, 150_000)?;
    assert!(call(&sandbox, &[])?.contains("25% of the context window is left"));
    assert_eq!(call(&sandbox, &[])?, "");
    start(&sandbox, "compact", None)?;
    assert!(call(&sandbox, &[])?.contains("25% of the context window is left"));
    assert!(!sandbox.project().join(".wyren").exists());
    Ok(())
}

#[test]
fn the_model_that_a_session_starts_with_says_how_large_its_window_is() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    start(&sandbox, "startup", Some("claude-opus-4-8[1m]"))?;
    use_tokens(&sandbox, 190_000)?;
    assert_eq!(call(&sandbox, &[])?, "");
    start(&sandbox, "resume", None)?;
    let text = call(&sandbox, &[])?;
    assert!(text.contains("190k of 200k") && text.contains("continued session"), "{text}");
    Ok(())
}

#[test]
fn the_warning_is_recorded_but_not_under_a_private_prompt_or_with_capture_off() -> Result<()> {
    for (prompt, capture, is_recorded) in
        [("go on", "true", true), ("<private>the merger</private>", "true", false), ("go on", "false", false)]
    {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let variables = [("WYREN_CAPTURE", capture)];
        let event = json!({
            "session_id": "s", "cwd": sandbox.project(), "prompt_id": "p", "prompt": prompt,
            "hook_event_name": "UserPromptSubmit",
        });
        feed(sandbox.command("prompt-record").envs(variables), event.to_string().as_bytes())?;
        use_tokens(&sandbox, 190_000)?;
        let text = call(&sandbox, &variables)?;
        assert!(text.contains("Stop here"), "{prompt}: {text}");
        let exported = String::from_utf8(sandbox.wyren(&["export"])?.stdout)?;
        assert_eq!(exported.contains("5% of the context window"), is_recorded, "{prompt}: {exported}");
    }
    Ok(())
}

#[test]
fn line_5_what_was_left_of_the_window_and_the_warning_survive_the_end_of_the_session() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let run = |hook: &str, event: &str, mut data: Value| -> Result<()> {
        data["session_id"] = json!("s");
        data["cwd"] = json!(sandbox.project());
        data["hook_event_name"] = json!(event);
        ensure!(sandbox.run(hook, data.to_string().as_bytes())?.status.success(), "{hook}");
        Ok(())
    };
    run(
        "prompt-bind",
        "UserPromptSubmit",
        json!({"prompt": "move the parser into a crate", "prompt_id": "p"}),
    )?;
    use_tokens(&sandbox, 150_000)?;
    assert!(call(&sandbox, &[])?.contains("25% of the context window is left"));
    std::thread::sleep(std::time::Duration::from_millis(2));
    run("session-end", "SessionEnd", json!({"reason": "prompt_input_exit", "prompt_id": "q"}))?;
    let mut show = sandbox.command("wyren");
    let shown = show.args(["work", "show", "parser", "--json"]).current_dir(sandbox.project()).output()?;
    let shown: Value = serde_json::from_slice(&shown.stdout)?;
    let last = &shown["last_session"];
    assert_eq!(last["save_reason"], "prompt_input_exit", "{shown:#}");
    assert_eq!((&last["context_remaining_pct"], &last["context_warnings_fired"]), (&json!(25), &json!([30])));
    Ok(())
}

#[test]
fn a_setting_turns_the_warning_off() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    use_tokens(&sandbox, 190_000)?;
    ensure!(sandbox.wyren(&["config", "set", "window.warn", "false"])?.status.success());
    assert_eq!(call(&sandbox, &[])?, "");
    Ok(())
}

#[test]
fn a_directive_comes_again_once_per_threshold_where_a_person_reads_along() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.data().join("lessons");
    fs::create_dir_all(&folder)?;
    let directive = "---\nkind: directive\npriority: 8\nsummary: Ask before a migration\n---\n\n## Problem\n\nMigrations were run unasked.\n\n## Solution\n\nAsk first.\n";
    fs::write(folder.join("ask-first.md"), directive)?;
    let event = json!({"session_id": "s", "cwd": sandbox.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let output = sandbox.run("session-start-lessons", event.to_string().as_bytes())?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains("Ask first."), "{output:?}");

    use_tokens(&sandbox, 50_000)?;
    assert_eq!(call(&sandbox, &[])?, "");
    use_tokens(&sandbox, 65_000)?;
    assert_eq!(call(&sandbox, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")])?, "", "no person reads along");
    let text = call(&sandbox, &[])?;
    assert!(text.contains("Ask first.") && text.len() < 900, "{text}");
    assert_eq!(call(&sandbox, &[])?, "");
    use_tokens(&sandbox, 110_000)?;
    assert_eq!(call(&sandbox, &[("LESSONS_REINJECT_THRESHOLDS", "90")])?, "");
    ensure!(sandbox.wyren(&["config", "set", "lessons.again_at", ""])?.status.success());
    assert_eq!(call(&sandbox, &[])?, "");
    ensure!(sandbox.wyren(&["config", "unset", "lessons.again_at"])?.status.success());
    assert!(call(&sandbox, &[])?.contains("Ask first."));
    Ok(())
}
