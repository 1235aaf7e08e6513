//! What `precompact-handoff` saves before a compaction, what it stops, and what it leaves alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

const STOP: &str = "LESSONS_PRECOMPACT_HANDOFF";

/// A session `s` with a transcript.
struct Desk {
    sandbox: Sandbox,
    lines: Vec<Value>,
}

impl Desk {
    fn new() -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let mut desk = Self { sandbox, lines: Vec::new() };
        desk.say("Move the cart to integer cents. Do not use floats, because 0.1 + 0.2 is not 0.3.");
        desk.run("make cart", None);
        desk.run("make checkout", Some("Exit code 2\nerror: checkout.js takes euros"));
        desk.reply("The cart is done; checkout.js still takes euros.");
        Ok(Some(desk))
    }

    fn say(&mut self, text: &str) {
        self.lines.push(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn reply(&mut self, text: &str) {
        self.lines.push(json!({"type": "assistant", "message": {"role": "assistant", "id": "m", "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 150_000}}}));
    }

    fn run(&mut self, command: &str, error: Option<&str>) {
        let id = format!("toolu_{}", self.lines.len());
        self.lines.push(json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}}));
        self.lines.push(json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": error.is_some(), "content": error.unwrap_or("ok")}]}}));
    }

    /// Has the client ask before a compaction.
    fn compact(&self, trigger: &str, variables: &[(&str, &str)]) -> Result<Output> {
        let transcript = self.sandbox.folder().join("t.jsonl");
        fs::write(&transcript, self.lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        let event = json!({
            "session_id": "s", "cwd": self.sandbox.project(), "prompt_id": "p", "hook_event_name": "PreCompact",
            "trigger": trigger, "transcript_path": transcript, "custom_instructions": null,
        });
        let mut command = self.sandbox.command("precompact-handoff");
        command.env("WYREN_MODEL_PROVIDER", "off").envs(variables.iter().copied());
        feed(&mut command, event.to_string().as_bytes())
    }

    /// Returns the files of the data folder that have a text in them.
    fn files_with(&self, text: &str) -> Result<Vec<PathBuf>> {
        let (mut found, mut folders) = (Vec::new(), vec![self.sandbox.data()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)?.flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path)
                    .unwrap_or_default()
                    .windows(text.len())
                    .any(|window| window == text.as_bytes())
                {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    fn handoffs(&self) -> Vec<PathBuf> {
        let inside = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
        };
        let contexts = inside(&self.sandbox.data().join("work"));
        let mut found: Vec<PathBuf> =
            contexts.iter().flat_map(|context| inside(&context.join("handoffs"))).collect();
        found.sort();
        found
    }

    /// Returns the only handoff, all of its files together.
    fn handoff(&self) -> Result<String> {
        let found = self.handoffs();
        ensure!(found.len() == 1, "{found:?}: {:#?}", self.sandbox.hook_log()?);
        let mut text = String::new();
        for entry in fs::read_dir(&found[0])? {
            text.push_str(&fs::read_to_string(entry?.path())?);
        }
        Ok(text)
    }
}

#[track_caller]
fn check_silent(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_handoff_is_saved_and_the_compaction_goes_on_also_without_a_memory() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    for trigger in ["auto", "manual"] {
        check_silent(&desk.compact(trigger, &[])?);
        if trigger == "auto" {
            let text = desk.handoff()?;
            for part in [
                "Do not use floats, because 0.1 + 0.2 is not 0.3",
                "`make cart`",
                "`make checkout` failed: error: checkout.js takes euros",
                "checkout.js still takes euros",
                "Context: ~150k / ~200k tokens (~75%)",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(!desk.handoffs()[0].join("thread.md").exists());
            let line = desk.sandbox.read_line()?;
            assert!(line.contains("before its compaction: wyren handoff show "), "{line}");
            let name = line.split("wyren handoff show ").nth(1).context("no name")?.trim_end_matches('.');
            let shown = desk.sandbox.wyren(&["handoff", "show", name])?;
            assert!(String::from_utf8_lossy(&shown.stdout).contains("make checkout"), "{shown:?}");
        }
    }
    assert_eq!(desk.handoffs().len(), 2);
    assert!(!desk.sandbox.project().join(".wyren").exists());
    Ok(())
}

#[test]
fn with_the_variable_a_manual_compaction_is_stopped_with_the_handoff() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let output = desk.compact("manual", &[(STOP, "1")])?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stdout = String::from_utf8(output.stdout)?;
    assert!(stdout.starts_with("# [lessons-learned] Pre-Compact Handoff\n"), "{stdout}");
    for part in [
        "\nContext: ~150k / ~200k tokens (~75%)\n",
        "\nCopy this prompt to continue in a new session:\n\n```\n",
        "`make checkout` failed",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let stderr = String::from_utf8(output.stderr)?;
    let folder = desk.handoffs()[0].display().to_string();
    assert!(stderr.contains(&folder) && stderr.contains("paste: /wyren:handoff-resume "), "{stderr}");
    assert!(!desk.sandbox.read_line()?.contains("handoff"), "the client has shown it");
    // The next session finds it.
    let resumed = desk.sandbox.wyren(&["handoff", "resume"])?;
    assert!(String::from_utf8_lossy(&resumed.stdout).contains("checkout.js takes euros"), "{resumed:?}");
    Ok(())
}

#[test]
fn an_automatic_compaction_is_stopped_by_all_alone_and_saved_once_for_a_prompt() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    check_silent(&desk.compact("auto", &[(STOP, "1")])?);
    assert!(desk.sandbox.read_line()?.contains("saved a handoff"));
    for _ in 0..3 {
        let output = desk.compact("auto", &[(STOP, "all")])?;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert_eq!(desk.handoffs().len(), 1);
    Ok(())
}

#[test]
fn who_asked_for_it_hears_that_an_automatic_compaction_was_stopped_and_how_to_go_on() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    assert_eq!(desk.compact("auto", &[(STOP, "all")])?.status.code(), Some(2));
    let line = desk.sandbox.read_line()?;
    let name = line.split("/clear, then /wyren:handoff-resume ").nth(1).context("no line to paste")?;
    assert!(line.contains("stopped compacting an earlier session"), "{line}");
    let resumed = desk.sandbox.wyren(&["handoff", "resume", name.trim_end_matches('.')])?;
    assert!(String::from_utf8_lossy(&resumed.stdout).contains("checkout.js takes euros"), "{resumed:?}");
    Ok(())
}

#[test]
fn the_handoff_alone_goes_to_the_summariser_and_stops_nothing() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let output = desk.compact("manual", &[("LESSONS_HANDOFF_ONLY", "1"), (STOP, "all")])?;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.starts_with(b"# [lessons-learned] Pre-Compact Handoff"), "{output:?}");
    Ok(())
}

#[test]
fn a_model_is_asked_only_with_the_variable_and_what_was_gathered_stays() -> Result<()> {
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let script = desk.sandbox.folder().join("script.jsonl");
    let answer = json!({"summary": "Cents everywhere.", "completed_work": "The cart.", "decisions": "Integer cents.",
        "dead_ends": "Floats.", "pending": "Teach checkout.js cents, then `make checkout`."});
    fs::write(&script, format!("{}\n", json!({"do": "answer", "answer": answer})))?;
    let script = script.display().to_string();
    check_silent(&desk.compact("auto", &[("WYREN_MODEL_SCRIPT", &script)])?);
    assert!(!desk.handoff()?.contains("Teach checkout.js"));
    let output = desk.compact("manual", &[("WYREN_MODEL_SCRIPT", &script), (STOP, "1")])?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stdout = String::from_utf8(output.stdout)?;
    assert!(stdout.contains("Teach checkout.js cents") && stdout.contains("`make cart`"), "{stdout}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn the_program_of_lessons_learned_is_asked_and_its_failure_costs_nothing() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let program = desk.sandbox.folder().join("my-claude");
    let asked = desk.sandbox.folder().join("asked");
    fs::write(&program, format!("#!/bin/sh\necho asked > '{}'\nexit 1\n", asked.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let program = program.display().to_string();
    let variables = [("WYREN_MODEL_PROVIDER", "cli"), ("LESSONS_CLAUDE_BIN", &*program), (STOP, "1")];
    let output = desk.compact("manual", &variables)?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(asked.exists() && desk.handoff()?.contains("`make checkout` failed"));
    Ok(())
}

#[cfg(unix)]
#[test]
fn active_issues_of_bd_and_open_tasks_are_in_it() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(desk) = Desk::new()? else { return Ok(()) };
    let bin = desk.sandbox.folder().join("tools");
    fs::create_dir(&bin)?;
    let script = "#!/bin/sh\n[ \"$1\" = list ] && echo 'bd-a1 [P1] Cents in the cart'\n[ \"$1\" = ready ] && echo 'bd-b2 Cents in the checkout'\nexit 0\n";
    fs::write(bin.join("bd"), script)?;
    fs::set_permissions(bin.join("bd"), fs::Permissions::from_mode(0o755))?;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
    // Without its folder in the project the tracker is not asked: one above may be another user's.
    fs::create_dir(desk.sandbox.folder().join(".beads"))?;
    check_silent(&desk.compact("auto", &[("PATH", &path)])?);
    assert!(!desk.handoff()?.contains("bd-a1"));
    fs::create_dir(desk.sandbox.project().join(".beads"))?;
    let task = json!({"session_id": "s", "cwd": desk.sandbox.project(), "prompt_id": "p", "hook_event_name": "PostToolUse",
        "tool_name": "TaskCreate", "tool_use_id": "toolu_task", "tool_input": {"subject": "Teach checkout.js cents", "description": "all of it"},
        "tool_response": {"task": {"id": "1", "subject": "Teach checkout.js cents"}}});
    desk.sandbox.run("task-record", task.to_string().as_bytes())?;
    let output = desk.compact("manual", &[("PATH", &path), (STOP, "1")])?;
    let stdout = String::from_utf8(output.stdout)?;
    for part in ["bd-a1 [P1] Cents in the cart", "bd-b2 Cents in the checkout", "Teach checkout.js cents"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    Ok(())
}

#[test]
fn the_whole_conversation_is_beside_it_only_when_asked_for() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    desk.say("<private>the merger</private>");
    desk.run("grep merger-plan", None);
    desk.reply("The merger is off.");
    ensure!(desk.sandbox.wyren(&["config", "set", "handoff.thread", "true"])?.status.success());
    check_silent(&desk.compact("auto", &[])?);
    let text = desk.handoff()?;
    assert!(text.contains("**User:** Move the cart to integer cents"), "{text}");
    assert!(text.contains("**Claude:** The cart is done"), "{text}");
    assert!(!text.contains("merger"), "{text}");
    Ok(())
}

#[test]
fn under_a_private_prompt_and_with_capture_off_nothing_of_it_is_on_the_disk() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    check_silent(&desk.compact("manual", &[("WYREN_CAPTURE", "off"), (STOP, "all")])?);
    assert!(desk.handoffs().is_empty() && !desk.sandbox.data().join("work").exists());
    desk.say("<private>the merger</private>");
    desk.run("grep merger-plan", Some("error: no merger"));
    check_silent(&desk.compact("auto", &[])?);
    assert!(desk.handoff()?.contains("make cart"));
    assert_eq!(desk.files_with("merger")?, Vec::<PathBuf>::new());
    Ok(())
}

#[test]
fn what_was_forgotten_does_not_come_back_with_a_handoff() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    let of_session = |hook: &str, mut event: Value| -> Result<()> {
        event["session_id"] = json!("s");
        event["cwd"] = json!(desk.sandbox.project());
        ensure!(desk.sandbox.run(hook, event.to_string().as_bytes())?.status.success(), "{hook}");
        Ok(())
    };
    let prompt = "what would the merger cost?";
    of_session(
        "prompt-record",
        json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": "p-2"}),
    )?;
    let id = format!("toolu_{}", desk.lines.len());
    of_session(
        "tool-record",
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id, "prompt_id": "p-1",
            "tool_input": {"command": "grep merger-plan"}, "tool_response": {"stdout": "ok"}}),
    )?;
    desk.run("grep merger-plan", None);
    desk.say(prompt);
    desk.lines.last_mut().context("no line")?["promptId"] = json!("p-2");
    desk.run("cat merger-costs", None);
    desk.reply("The merger costs too much.");
    let forgotten = desk.sandbox.wyren(&["forget", "--query", "merger", "--yes"])?;
    ensure!(forgotten.status.success(), "{forgotten:?}");
    check_silent(&desk.compact("auto", &[])?);
    assert!(desk.handoff()?.contains("make cart"));
    assert_eq!(desk.files_with("merger")?, Vec::<PathBuf>::new());
    Ok(())
}
