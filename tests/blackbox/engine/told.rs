//! The texts that hooks give are observations: shown, private where the prompt is, and forgotten like the others.

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use super::{export, files_with, prompt, succeed, wyren};

const WORDS: &str = "Lesson Reporting Protocol";

fn start(sandbox: &Sandbox, session: &str) -> Result<()> {
    let input = json!({
        "session_id": session, "cwd": sandbox.project(), "hook_event_name": "SessionStart", "source": "startup",
        "model": "claude-opus-4-8",
    });
    for hook in ["session-start-memory", "session-start-lessons"] {
        succeed(sandbox.run(hook, input.to_string().as_bytes())?)?;
    }
    Ok(())
}

fn told(sandbox: &Sandbox) -> Result<Vec<Value>> {
    let text = wyren(sandbox, &["log", "--told", "--json"])?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[test]
fn a_text_for_the_model_is_in_the_database_and_not_in_the_log_and_can_be_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    start(&sandbox, "s")?;
    let log = std::fs::read_to_string(sandbox.data().join("logs/hooks.jsonl"))?;
    assert!(log.contains("HOOK_OUTPUT [context]") && !log.contains(WORDS), "{log}");
    let texts = told(&sandbox)?;
    assert_eq!(texts.len(), 1);
    assert_eq!((&texts[0]["hook"], &texts[0]["form"]), (&json!("session-start-lessons"), &json!("context")));
    assert!(texts[0]["text"].as_str().is_some_and(|text| text.contains(WORDS)));
    assert!(wyren(&sandbox, &["log", "--told", "--hook", "session-start-lessons"])?.contains(WORDS));

    wyren(&sandbox, &["forget", "--query", WORDS, "--yes"])?;
    assert!(told(&sandbox)?.is_empty());
    assert!(files_with(&sandbox.data(), WORDS)?.is_empty(), "{:?}", files_with(&sandbox.data(), WORDS)?);
    Ok(())
}

#[test]
fn no_text_is_recorded_under_a_private_prompt() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "<private>all of it</private>")?;
    start(&sandbox, "s")?;
    assert!(told(&sandbox)?.is_empty());
    assert!(export(&sandbox, &[])?.is_empty());
    Ok(())
}

#[test]
fn a_session_is_exported_with_its_model_branch_and_end_without_team_memory() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    start(&sandbox, "s")?;
    prompt(&sandbox, "s", "1", "go")?;
    let end = json!({
        "session_id": "s", "cwd": sandbox.project(), "prompt_id": "1", "hook_event_name": "SessionEnd", "reason": "clear",
    });
    succeed(sandbox.run("session-end", end.to_string().as_bytes())?)?;
    assert!(!sandbox.project().join(".wyren").exists());
    let lines = export(&sandbox, &[])?;
    assert_eq!((&lines[0]["model"], &lines[0]["end_reason"]), (&json!("claude-opus-4-8"), &json!("clear")));
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(kinds, ["session", "session-start", "told", "prompt", "session-end"]);
    Ok(())
}

#[test]
fn a_refusal_is_recorded_whole_with_the_lesson_that_it_is_from() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let lessons = sandbox.project().join(".wyren/lessons");
    std::fs::create_dir_all(&lessons)?;
    let lesson = "---\nsummary: frobnicate is slow\nkind: hint\ncommand: frobnicate\n---\nIt takes an hour.\n\n## Solution\nRun it at night.\n";
    std::fs::write(lessons.join("frobnicate-is-slow.md"), lesson)?;
    for command in ["frobnicate all", "chmod -R 777 /"] {
        let input = json!({
            "session_id": "s", "cwd": sandbox.project(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command},
        });
        succeed(sandbox.run("lesson-inject", input.to_string().as_bytes())?)?;
    }
    let texts = told(&sandbox)?;
    let lessons: Vec<&Value> = texts.iter().map(|told| &told["lesson"]).collect();
    assert_eq!(
        lessons,
        [&json!("project:frobnicate-is-slow"), &json!("chmod-777-on-a-system-or-home-folder")]
    );
    // The project's words are fenced, and not taken for what the client put into a prompt.
    assert!(texts[0]["text"].as_str().is_some_and(|text| text.contains("Run it at night.")), "{texts:#?}");
    Ok(())
}

/// Starts a subagent with these variables; returns what it gets.
fn start_subagent(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Result<String> {
    let input = json!({
        "session_id": "s", "cwd": sandbox.project(), "prompt_id": "1", "agent_id": "a", "agent_type": "Explore",
        "hook_event_name": "SubagentStart",
    });
    let mut command = sandbox.command("subagent-start-lessons");
    let output = feed(command.envs(variables.iter().copied()), input.to_string().as_bytes())?;
    let text = succeed(output)?;
    let answer: Value = if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? };
    Ok(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_subagents_memory_is_recorded_unless_the_prompt_is_private_or_recording_is_off() -> Result<()> {
    let decide = |sandbox: &Sandbox| -> Result<()> {
        let folder = sandbox.project().join(".wyren");
        std::fs::create_dir_all(&folder)?;
        Ok(std::fs::write(folder.join("memory.md"), "# Wyren Memory\n\n## Decisions\n\n- Use Postgres\n")?)
    };
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(start_subagent(&sandbox, &[])?, "", "without a memory");
    assert!(!sandbox.project().join(".wyren").exists());
    decide(&sandbox)?;
    for variables in [&[][..], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]] {
        assert!(start_subagent(&sandbox, variables)?.contains("- Use Postgres\n"), "{variables:?}");
    }
    let texts = told(&sandbox)?;
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().all(|told| told["hook"] == "subagent-start-lessons"), "{texts:#?}");
    // It is the session's, not the subagent's, to say what was seen.
    assert!(!sandbox.project().join(".wyren/state").exists());

    let Some(private) = Sandbox::new()? else { return Ok(()) };
    decide(&private)?;
    prompt(&private, "s", "1", "<private>all of it</private>")?;
    assert!(start_subagent(&private, &[])?.contains("- Use Postgres\n"));
    assert!(told(&private)?.is_empty());

    let Some(off) = Sandbox::new()? else { return Ok(()) };
    decide(&off)?;
    assert!(start_subagent(&off, &[("WYREN_CAPTURE", "false")])?.contains("- Use Postgres\n"));
    assert!(told(&off)?.is_empty());
    Ok(())
}

#[test]
fn review_9_the_guides_command_silences_the_memory_in_every_hook() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.project().join(".wyren");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("memory.md"), "# Wyren Memory\n\n## Decisions\n\n- Use Postgres\n")?;
    assert!(start_subagent(&sandbox, &[])?.contains("Use Postgres"));
    let before = told(&sandbox)?.len();
    let guide = include_str!("../../../docs/guides/team-memory.md");
    let row = guide.lines().find(|line| line.starts_with("| silence it everywhere |")).unwrap_or_default();
    let command =
        row.split('`').nth(1).and_then(|command| command.strip_prefix("wyren ")).unwrap_or_default();
    wyren(&sandbox, &command.split(' ').collect::<Vec<_>>())?;
    start(&sandbox, "s")?;
    let prompt = json!({
        "session_id": "s", "cwd": sandbox.project(), "prompt_id": "1", "hook_event_name": "UserPromptSubmit",
        "prompt": "go",
    });
    assert_eq!(succeed(sandbox.run("prompt-sync", prompt.to_string().as_bytes())?)?, "");
    assert_eq!(start_subagent(&sandbox, &[])?, "");
    let texts = told(&sandbox)?;
    let silenced = texts.iter().skip(before).all(|told| told["hook"] == "session-start-lessons");
    assert!(silenced, "{texts:#?}");
    Ok(())
}

#[test]
fn the_last_session_of_the_project_is_shown_whole_and_all_of_them_on_request() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let notice = json!({"v": 1, "text": "gave up 1 background job; see wyren jobs"});
    std::fs::create_dir_all(sandbox.data().join("cache/notices"))?;
    std::fs::write(sandbox.data().join("cache/notices/all-jobs"), notice.to_string())?;
    start(&sandbox, "early")?;
    start(&sandbox, "late")?;
    let all = wyren(&sandbox, &["log", "--told", "--all"])?;
    assert!(all.contains("session early") && all.contains("session late"), "{all}");
    let line = "session-start-memory systemMessage, for you, session early";
    assert!(
        all.contains(line) && all.contains("    Wyren: gave up 1 background job; see wyren jobs."),
        "{all}"
    );
    let last = wyren(&sandbox, &["log", "--told"])?;
    assert!(last.contains("context, for model, session late") && !last.contains("session early"), "{last}");
    let given = told(&sandbox)?[0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(given.lines().all(|line| last.contains(&format!("    {line}\n"))), "{last}");
    assert!(wyren(&sandbox, &["log", "--told", "--session", "early"])?.contains("session early"));
    Ok(())
}
