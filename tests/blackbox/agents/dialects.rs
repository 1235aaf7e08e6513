//! What each agent sends to a hook and takes back, from its documentation and from recorded runs.
//!
//! `tests/data/agents/<agent>/<number>-<hook>.in.json` are fed to the hooks in their order, in one session, with
//! `--agent <agent>`; `out.json` is the answer. `UPDATE_GOLDEN=1` writes those anew.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use install::agents::AGENTS;
use serde_json::{Value, json};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, data_folder, feed};

/// What the cases have in place of the project's folder.
const PROJECT: &str = "/PROJECT";

/// Returns a sandbox with a team's memory, a guard and a hint.
fn sandbox() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    plugin::copy(&data_folder().join("team"), &sandbox.project().join(".wyren"))?;
    let lessons = sandbox.data().join("lessons");
    fs::create_dir_all(&lessons)?;
    // The words of the fences are derived from it.
    fs::write(sandbox.data().join("secret"), [b's'; 32])?;
    for (name, kind) in [("frobnicate", "guard"), ("grumble", "hint")] {
        let text = format!(
            "---\nsummary: Do not {name}\nkind: {kind}\ncommand: {name}\n---\nIt is bad.\n\n## Solution\nDo it otherwise.\n"
        );
        fs::write(lessons.join(format!("{name}.md")), text)?;
    }
    let warm_up = r#"{"session_id":"w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"}}"#;
    sandbox.run("lesson-inject", warm_up.as_bytes())?;
    Ok(Some(sandbox))
}

/// Runs a hook as the agent does.
fn run(sandbox: &Sandbox, agent: &str, hook: &str, input: &str) -> Result<String> {
    let project = sandbox.project();
    let input = input.replace(PROJECT, &project.to_string_lossy());
    let output = feed(sandbox.command(hook).args(["--agent", agent]), input.as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{hook}: {output:#?}");
    Ok(String::from_utf8(output.stdout)?.replace(&*project.to_string_lossy(), PROJECT))
}

fn cases(agent: &str) -> Result<Vec<(String, String)>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(data_folder().join("agents").join(agent))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(case) = name.strip_suffix(".in.json") {
            let (_, hook) = case.split_once('-').with_context(|| name.clone())?;
            cases.push((case.to_owned(), hook.to_owned()));
        }
    }
    cases.sort();
    Ok(cases)
}

#[test]
fn every_agent_gets_the_answers_that_its_documentation_describes() -> Result<()> {
    for agent in &AGENTS {
        let Some(sandbox) = sandbox()? else { return Ok(()) };
        let folder = data_folder().join("agents").join(agent.name);
        let cases = cases(agent.name)?;
        assert!(cases.len() >= 8, "{}", agent.name);
        for (case, hook) in cases {
            let input = fs::read_to_string(folder.join(format!("{case}.in.json")))?;
            let answer = run(&sandbox, agent.name, &hook, &input)?;
            let answer = match &*answer {
                "" => String::new(),
                text => format!("{:#}\n", serde_json::from_str::<Value>(text)?),
            };
            check_golden(&folder.join(format!("{case}.out.json")), &answer)?;
        }
        check_recorded(&sandbox, agent.name)?;
        for line in sandbox.hook_log()? {
            assert!(!["warn", "error"].contains(&line["level"].as_str().unwrap_or_default()), "{line}");
        }
    }
    Ok(())
}

fn check_golden(golden: &Path, answer: &str) -> Result<()> {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(golden, answer)?;
    }
    let expected = fs::read_to_string(golden).with_context(|| golden.display().to_string())?;
    assert_eq!(answer, expected, "{}", golden.display());
    Ok(())
}

/// What is recorded has the agent's name and Claude Code's names for tools.
fn check_recorded(sandbox: &Sandbox, agent: &str) -> Result<()> {
    let output = sandbox.wyren(&["export"])?;
    let text = String::from_utf8(output.stdout)?;
    let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert!(lines.iter().all(|line| line["platform"] == agent), "{lines:#?}");
    let of_kind = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of_kind("prompt").len(), 1, "{agent}: {lines:#?}");
    let tools = of_kind("tool");
    assert!(tools.len() >= 2, "{agent}: {lines:#?}");
    assert!(
        tools
            .iter()
            .all(|line| ["Bash", "Edit", "Read"].contains(&line["tool"].as_str().unwrap_or_default()))
    );
    assert!(
        tools.iter().any(|line| line["tool"] == "Edit" && line["input"]["file_path"].is_string()),
        "{tools:#?}"
    );
    let ends = of_kind("turn-end");
    assert_eq!(ends.len(), 1, "{agent}: {lines:#?}");
    let said = &ends[0]["data"]["text"];
    // Cursor and OpenCode do not send what the model said.
    assert_eq!(
        said,
        &if ["codex", "gemini"].contains(&agent) { json!("Done.") } else { Value::Null },
        "{agent}"
    );
    let refused = of_kind("refused");
    assert!(
        refused.iter().any(|line| line["data"]["tool"] == "Bash" && line["data"]["by"] == "guard"),
        "{agent}: {lines:#?}"
    );
    Ok(())
}

#[test]
fn a_prompt_of_another_agent_is_never_a_persons_leave() -> Result<()> {
    let Some(sandbox) = sandbox()? else { return Ok(()) };
    let prompt = r#"{"session_id":"s","cwd":"/PROJECT","hook_event_name":"UserPromptSubmit","prompt":"/wyren:trust yes"}"#;
    for agent in &AGENTS {
        let input = prompt.replace(PROJECT, &sandbox.project().to_string_lossy());
        let mut command = sandbox.command("prompt-bind");
        // As if a person had started the agent in a shell of Claude Code's.
        command
            .args(["--agent", agent.name])
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_PROJECT_DIR", "/p");
        let answer = String::from_utf8(feed(&mut command, input.as_bytes())?.stdout)?;
        assert!(answer.contains("only a person may do this"), "{}: {answer}", agent.name);
    }
    Ok(())
}

#[test]
fn a_private_prompt_of_another_agent_leaves_no_trace() -> Result<()> {
    for (agent, event, tool_event, tool) in [
        ("codex", "UserPromptSubmit", "PostToolUse", "Bash"),
        ("gemini", "BeforeAgent", "AfterTool", "run_shell_command"),
        ("cursor", "beforeSubmitPrompt", "postToolUse", "Shell"),
        ("opencode", "UserPromptSubmit", "PostToolUse", "bash"),
    ] {
        let Some(sandbox) = sandbox()? else { return Ok(()) };
        let call = |event: &str, more: &str| {
            format!(r#"{{"session_id":"s","cwd":"/PROJECT","hook_event_name":"{event}",{more}}}"#)
        };
        run(&sandbox, agent, "prompt-record", &call(event, r#""prompt":"<private>my salary</private>""#))?;
        let more =
            format!(r#""tool_name":"{tool}","tool_input":{{"command":"cat salary"}},"tool_response":"100""#);
        run(&sandbox, agent, "tool-record", &call(tool_event, &more))?;
        let exported = String::from_utf8(sandbox.wyren(&["export"])?.stdout)?;
        assert!(!exported.contains("salary"), "{agent}: {exported}");
    }
    Ok(())
}
