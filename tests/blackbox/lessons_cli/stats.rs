//! `wyren lessons stats`: what followed when a lesson was shown, from hook to screen.

use super::{SLUG, add, frobnicate_with, lessons, lessons_json, refused};
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use wyren_tests::sandbox::Sandbox;

/// Has the hooks see a call before it runs.
fn before(sandbox: &Sandbox, id: &str, command: &str) -> Result<Value> {
    let call = json!({
        "session_id": "s", "cwd": sandbox.project(), "hook_event_name": "PreToolUse", "prompt_id": "1",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
    });
    Ok(serde_json::from_slice(&sandbox.run("lesson-inject", call.to_string().as_bytes())?.stdout)?)
}

/// Has the hooks see a call that ran.
fn ran(sandbox: &Sandbox, id: &str, command: &str) -> Result<()> {
    let call = json!({
        "session_id": "s", "cwd": sandbox.project(), "hook_event_name": "PostToolUse", "prompt_id": "1",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"stdout": "ok"},
        "tool_use_id": id,
    });
    sandbox.run("tool-record", call.to_string().as_bytes()).map(drop)
}

fn confidence_files(sandbox: &Sandbox) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(sandbox.data().join("cache/lessons"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "confidence") {
            texts.push(fs::read_to_string(path)?);
        }
    }
    Ok(texts)
}

#[test]
fn a_pause_that_is_heeded_raises_its_lesson_and_what_is_forgotten_counts_no_more() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate_with(&json!({"kind": "pause"})))?;
    assert_eq!(lessons(&sandbox, &["stats"])?, "");
    assert!(refused(&sandbox, &["stats", SLUG])?.contains("was never shown"));

    let answer = before(&sandbox, "a", "frobnicate apply")?;
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    ran(&sandbox, "b", "frobnicate apply --dry-run")?;
    let stats = lessons_json(&sandbox, &["stats", "--json"])?;
    let lesson = &stats["lessons"][0];
    let counts = ["shown", "heeded", "overruled", "failed"].map(|name| lesson[name].as_u64().unwrap_or(99));
    assert_eq!((lesson["lesson"].as_str(), counts), (Some(SLUG), [1, 1, 0, 0]), "{stats:#}");
    assert_eq!(lesson["confidence"], json!({"given": 0.8, "measured": 0.84}));
    assert_eq!(confidence_files(&sandbox)?, [format!("wyren confidence 1\n{SLUG} 84\n")]);

    // The verdict shows what it follows from.
    let stats = lessons_json(&sandbox, &["stats", SLUG, "--json"])?;
    let showing = &stats["lessons"][0]["showings"][0];
    assert_eq!(
        (&showing["verdict"], &showing["call"]["call"]),
        (&json!("heeded"), &json!("frobnicate apply"))
    );
    let following = &showing["following"][0];
    assert_eq!(
        (&following["call"], &following["result"], &following["applies"]),
        (&json!("frobnicate apply --dry-run"), &json!("succeeded"), &json!(false))
    );
    let text = lessons(&sandbox, &["stats", SLUG])?;
    assert!(text.contains("heeded") && text.contains("frobnicate apply --dry-run"), "{text}");

    let forgotten = sandbox.wyren(&["forget", "--session", "s", "--yes"])?;
    assert_eq!(forgotten.status.code(), Some(0));
    assert_eq!(confidence_files(&sandbox)?, Vec::<String>::new());
    assert_eq!(lessons_json(&sandbox, &["stats", "--json"])?["lessons"], json!([]));
    Ok(())
}

#[test]
fn a_hint_is_recorded_with_its_call_and_a_miss_or_a_private_prompt_with_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate_with(&json!({"kind": "hint"})))?;
    before(&sandbox, "a", "ls")?;
    assert!(!sandbox.data().join("spool").exists());
    before(&sandbox, "b", "frobnicate apply")?;
    ran(&sandbox, "b", "frobnicate apply")?;
    ran(&sandbox, "c", "frobnicate apply")?;
    let stats = lessons_json(&sandbox, &["stats", SLUG, "--json"])?;
    let showing = &stats["lessons"][0]["showings"][0];
    assert_eq!((&showing["as"], &showing["verdict"]), (&json!("hint"), &json!("overruled")), "{stats:#}");

    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate_with(&json!({"kind": "pause"})))?;
    let prompt = json!({
        "session_id": "s", "cwd": sandbox.project(), "hook_event_name": "UserPromptSubmit", "prompt_id": "1",
        "prompt": "<private>the acme merger</private>",
    });
    sandbox.run("prompt-record", prompt.to_string().as_bytes())?;
    before(&sandbox, "a", "frobnicate apply")?;
    ran(&sandbox, "b", "frobnicate diff")?;
    assert_eq!(lessons_json(&sandbox, &["stats", "--json"])?["lessons"], json!([]));
    Ok(())
}
