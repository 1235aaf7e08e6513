//! Codex, Gemini CLI and OpenCode from npm, each with a scripted model on the loopback interface. `cargo xtask agents` runs
//! these.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wyren_tests::agent::{Agent, Kind, LAST_WORD};
use wyren_tests::plugin;
use wyren_tests::sandbox::data_folder;

/// A line of the team's memory in `tests/data/team`.
const MEMORY: &str = "integer cents";

const REFUSAL: &str = "Frobnication is final";
const HINT: &str = "Grumbling is slow";

/// Returns a user of the agent with Wyren in it, in a project with a team's memory, and with a guard and a hint of their own.
fn wired(kind: Kind) -> Result<Option<Agent>> {
    let Some(agent) = Agent::new(kind)? else { return Ok(None) };
    let project = agent.sandbox.project();
    let git = agent.sandbox.command_for("git".as_ref()).args(["init", "--quiet"]).status()?;
    ensure!(git.success(), "git init");
    plugin::copy(&data_folder().join("team"), &project.join(".wyren"))?;
    let lessons = agent.sandbox.data().join("lessons");
    fs::create_dir_all(&lessons)?;
    for (name, kind, command, summary) in
        [("frobnicate", "guard", "touch frobnicated", REFUSAL), ("grumble", "hint", "echo grumble", HINT)]
    {
        let text = format!(
            "---\nsummary: {summary}\nkind: {kind}\ncommand: {command}\n---\nIt is.\n\n## Solution\nDo it otherwise.\n"
        );
        fs::write(lessons.join(format!("{name}.md")), text)?;
    }
    // The first call compiles the index; calls that come meanwhile would stay silent.
    let warm_up = r#"{"session_id":"w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"}}"#;
    agent.sandbox.run("lesson-inject", warm_up.as_bytes())?;
    let installed = agent.sandbox.wyren(&["install", "--agent", kind.name()])?;
    ensure!(installed.status.success(), "{installed:#?}");
    Ok(Some(agent))
}

/// Returns what was recorded of the agent's sessions.
fn recorded(agent: &Agent) -> Result<Vec<Value>> {
    let output = agent.sandbox.wyren(&["export"])?;
    ensure!(output.status.success(), "{output:#?}");
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(|line| serde_json::from_str(line).context(line.to_owned())).collect()
}

fn check_log(agent: &Agent) -> Result<()> {
    for line in agent.sandbox.hook_log()? {
        let level = line["level"].as_str().unwrap_or_default();
        assert!(!["warn", "error", "alert"].contains(&level), "{line}");
    }
    Ok(())
}

/// One session with memory, a refusal, a hint, and a command that fails three times.
fn check(kind: Kind, pauses_loops: bool) -> Result<()> {
    let Some(agent) = wired(kind)? else { return Ok(()) };
    let loops = "sh -c 'echo broken; exit 3'";
    let commands = ["touch frobnicated", "echo grumble", loops, loops, loops];
    let run = agent.prompt(&["Please frobnicate"], &commands)?;
    assert_eq!(run.requests.len(), commands.len() + 1, "{:#?}", run.output);
    assert!(run.output.stdout.contains(LAST_WORD), "{:#?}", run.output);

    assert_eq!(run.requests[0].matches(MEMORY).count(), 1, "{}", run.requests[0]);
    assert!(!run.requests[0].contains(REFUSAL));
    assert!(run.requests[1].contains(REFUSAL), "{}", run.requests[1]);
    assert!(!agent.sandbox.project().join("frobnicated").exists(), "the command was refused");
    assert!(!run.requests[1].contains(HINT) && run.requests[2].contains(HINT), "{}", run.requests[2]);
    assert_eq!(run.requests[5].contains("failed twice"), pauses_loops, "{}", run.requests[5]);

    let recorded = recorded(&agent)?;
    assert!(recorded.iter().all(|line| line["platform"] == kind.name()), "{recorded:#?}");
    let prompts: Vec<&Value> = recorded.iter().filter(|line| line["type"] == "prompt").collect();
    assert_eq!(prompts.len(), 1, "{recorded:#?}");
    let prompt = prompts[0].to_string();
    assert!(prompt.contains("Please frobnicate") && !prompt.contains(MEMORY), "{prompt}");
    let tools: Vec<&Value> = recorded.iter().filter(|line| line["type"] == "tool").collect();
    assert!(tools.iter().all(|line| line["tool"] == "Bash"), "{tools:#?}");
    let grumbles = tools.iter().filter(|line| line.to_string().contains("echo grumble")).count();
    assert_eq!(grumbles, 1, "{tools:#?}");
    assert!(!tools.iter().any(|line| line.to_string().contains("touch frobnicated")), "{tools:#?}");
    // The third attempt was refused.
    let failures = tools.iter().filter(|line| line["failed"] == true).count();
    assert_eq!(failures, if pauses_loops { 2 } else { 0 }, "{tools:#?}");
    check_log(&agent)?;

    let removed = agent.sandbox.wyren(&["uninstall", "--agent", kind.name()])?;
    ensure!(removed.status.success(), "{removed:#?}");
    let run = agent.prompt(&["Hello"], &[])?;
    assert!(!run.requests[0].contains(MEMORY), "{}", run.requests[0]);
    Ok(())
}

/// Types the command that leaves a handoff note: its words must reach the model.
fn check_handoff(kind: Kind, prompt: &[&str]) -> Result<()> {
    let Some(agent) = wired(kind)? else { return Ok(()) };
    // Without a terminal, Gemini puts what the hooks of a start say before the prompt, which is no command then.
    let silent = agent.sandbox.wyren(&[
        "config",
        "set",
        "hooks.disabled",
        "session-start-lessons,session-start-memory",
    ])?;
    ensure!(silent.status.success(), "{silent:#?}");
    let run = agent.prompt(prompt, &[])?;
    let request = run.requests.first().context("no request")?;
    assert!(request.contains("memory handoff - <<"), "{request}");
    check_log(&agent)
}

/// Types a command that Wyren answers itself: nothing must reach the model.
fn check_command(kind: Kind, shown: &str) -> Result<()> {
    let Some(agent) = wired(kind)? else { return Ok(()) };
    let run = agent.prompt(&["/wyren:status"], &[])?;
    assert!(run.requests.is_empty(), "{:#?}", run.requests);
    assert!(format!("{}{}", run.output.stdout, run.output.stderr).contains(shown), "{:#?}", run.output);
    assert!(!recorded(&agent)?.iter().any(|line| line["type"] == "prompt"));
    check_log(&agent)
}

#[test]
fn codex_gets_memory_refusals_and_hints_and_is_recorded() -> Result<()> {
    check(Kind::Codex, false)
}

#[test]
fn gemini_gets_memory_refusals_and_hints_and_is_recorded() -> Result<()> {
    check(Kind::Gemini, true)
}

#[test]
fn opencode_gets_memory_refusals_and_hints_and_is_recorded() -> Result<()> {
    check(Kind::OpenCode, true)
}

#[test]
fn codex_has_the_handoff_as_a_skill() -> Result<()> {
    check_handoff(Kind::Codex, &["$wyren-handoff the tests are green"])
}

#[test]
fn gemini_has_the_handoff_as_a_command() -> Result<()> {
    check_handoff(Kind::Gemini, &["/wyren-handoff the tests are green"])
}

#[test]
fn opencode_has_the_handoff_as_a_command() -> Result<()> {
    check_handoff(Kind::OpenCode, &["--command", "wyren-handoff", "the tests are green"])
}

#[test]
fn codex_answers_a_command_of_wyren_without_the_model() -> Result<()> {
    // It shows the answer in its terminal; without one, that it blocked the prompt.
    check_command(Kind::Codex, "UserPromptSubmit Blocked")
}

#[test]
fn gemini_answers_a_command_of_wyren_without_the_model() -> Result<()> {
    check_command(Kind::Gemini, "Team memory")
}
