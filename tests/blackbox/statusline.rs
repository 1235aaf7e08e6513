//! The status line, as the client runs it, and the way into the client's settings and out again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};
use wyren_tests::tree::tree;

use crate::tasks::{create, update};
use crate::worker::wait_for;

/// Returns what the client tells in the sandbox's project.
fn told(sandbox: &Sandbox) -> Result<Value> {
    let mut input: Value = serde_json::from_str(include_str!("../data/payloads/statusline.json"))?;
    input["session_id"] = json!("s");
    input["prompt_id"] = json!("p");
    input["workspace"]["current_dir"] = json!(sandbox.project());
    Ok(input)
}

/// Draws the line without colours.
fn line(sandbox: &Sandbox, columns: &str, input: &Value, arguments: &[&str]) -> Result<String> {
    let mut command = sandbox.command("wyren-statusline");
    command.args(arguments).env("COLUMNS", columns).env("NO_COLOR", "1");
    let output = feed(&mut command, input.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
    ensure!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output()?.status.success(), "{arguments:?}");
    Ok(())
}

#[test]
fn the_line_has_window_project_branch_and_model_and_soon_what_changed() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let project = sandbox.project();
    git(&project, &["init", "-q", "-b", "main"])?;
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"])?;
    fs::write(project.join("new"), "")?;
    let first = line(&sandbox, "200", &told(&sandbox)?, &[])?;
    assert!(first.starts_with("██████████ 97% left │ project ⎇ main"), "{first}");
    assert!(first.contains("Opus 4.8 (1M context)"), "{first}");
    // The first line has the rest found out in the background.
    let is_counted = || Ok(line(&sandbox, "200", &told(&sandbox)?, &[])?.contains("project ⎇ main *1 │"));
    wait_for("what changed", is_counted)?;
    let cache = fs::read_to_string(sandbox.data().join("cache/status.json"))?;
    assert!(!cache.contains(&*project.to_string_lossy()), "{cache}");
    // Another branch is not what was counted.
    git(&project, &["checkout", "-q", "-b", "other"])?;
    assert!(line(&sandbox, "200", &told(&sandbox)?, &[])?.contains("project ⎇ other │"));
    Ok(())
}

#[test]
fn what_the_cache_knows_is_shown_and_a_damaged_one_is_not() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    line(&sandbox, "200", &told(&sandbox)?, &[])?;
    let file = sandbox.data().join("cache/status.json");
    wait_for("the cache", || Ok(file.exists()))?;
    wait_for("the end of what writes it", || Ok(sandbox.processes().is_empty()))?;
    let mut status: Value = serde_json::from_slice(&fs::read(&file)?)?;
    let name = status["projects"].as_object().and_then(|all| all.keys().next()).context("a project")?.clone();
    let project = &mut status["projects"][&name];
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    project["at"] = json!(now.as_millis() as u64);
    project["news"] = json!(2);
    project["lessons"] = json!(5);
    project["context"] = json!("window");
    // The first digits of SHA-256 of `s`.
    status["tasks"] =
        json!({"043a718774c572bd": {"at": now.as_millis() as u64, "subject": "Draw\u{1b}[31m the line"}});
    status["day"] = json!("2");
    status["spent_micros"] = json!(123_456);
    fs::write(&file, status.to_string())?;
    let shown = line(&sandbox, "200", &told(&sandbox)?, &[])?;
    assert!(
        shown.ends_with("window › Draw the line │ 2 new from team │ 5 lessons │ $0.13 today\n"),
        "{shown:?}"
    );
    assert_eq!(line(&sandbox, "80", &told(&sandbox)?, &[])?.lines().count(), 2);
    for text in ["", "{", "[]", r#"{"v":99,"projects":{}}"#] {
        fs::write(&file, text)?;
        let shown = line(&sandbox, "200", &told(&sandbox)?, &[])?;
        assert!(shown.contains("97% left") && !shown.contains("lessons"), "{text}: {shown}");
        wait_for("the end of what writes it", || Ok(sandbox.processes().is_empty()))?;
    }
    Ok(())
}

#[test]
fn the_context_of_the_session_is_shown_by_its_name() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert!(!line(&sandbox, "200", &told(&sandbox)?, &[])?.contains("move-parser"));
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": sandbox.project(),
        "prompt": "move the parser into a crate", "prompt_id": "p"});
    sandbox.run("prompt-bind", prompt.to_string().as_bytes())?;
    let shown = line(&sandbox, "200", &told(&sandbox)?, &[])?;
    assert!(shown.contains("│ move-parser-crate"), "{shown}");
    let mut other = told(&sandbox)?;
    other["session_id"] = json!("t");
    assert!(!line(&sandbox, "200", &other, &[])?.contains("move-parser"));
    Ok(())
}

/// Has what is shown of the project found out anew.
fn make_stale(sandbox: &Sandbox) -> Result<()> {
    wait_for("the end of what writes it", || Ok(sandbox.processes().is_empty()))?;
    let file = sandbox.data().join("cache/status.json");
    let mut status: Value = serde_json::from_slice(&fs::read(&file)?)?;
    let projects = status["projects"].as_object_mut().context("projects")?;
    projects.values_mut().for_each(|project| project["at"] = json!(1));
    Ok(fs::write(&file, status.to_string())?)
}

#[test]
fn the_task_in_progress_is_shown_in_its_own_session_until_it_is_done_or_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let is_shown = |session: &str| {
        let mut input = told(&sandbox)?;
        input["session_id"] = json!(session);
        Ok(line(&sandbox, "200", &input, &[])?.contains("Teach the checkout cents"))
    };
    create(&sandbox, "s", "toolu_1", 1, &json!({"subject": "Teach the checkout cents", "description": "x"}))?;
    create(&sandbox, "s", "toolu_2", 2, &json!({"subject": "Write it down", "description": "x"}))?;
    // It makes the database.
    sandbox.wyren(&["export"])?;
    assert!(!is_shown("s")?);
    update(&sandbox, "s", "toolu_3", &json!({"taskId": "1", "status": "in_progress"}))?;
    make_stale(&sandbox)?;
    wait_for("the task", || is_shown("s"))?;
    assert!(!is_shown("t")?);

    update(&sandbox, "s", "toolu_4", &json!({"taskId": "1", "status": "completed"}))?;
    make_stale(&sandbox)?;
    wait_for("the end of the task", || Ok(!is_shown("s")?))?;

    update(&sandbox, "s", "toolu_5", &json!({"taskId": "1", "status": "in_progress"}))?;
    make_stale(&sandbox)?;
    wait_for("the task again", || is_shown("s"))?;
    let forgotten = sandbox.wyren(&["forget", "--query", "checkout", "--yes"])?;
    ensure!(forgotten.status.success(), "{forgotten:?}");
    wait_for("the end of what writes it", || Ok(sandbox.processes().is_empty()))?;
    let cache = fs::read_to_string(sandbox.data().join("cache/status.json")).unwrap_or_default();
    assert!(!cache.contains("checkout") && !is_shown("s")?, "{cache}");
    Ok(())
}

#[test]
fn what_the_client_does_not_tell_is_left_out_and_bad_input_is_silence() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for input in
        [json!([]), json!(5), json!({"model": 5}), json!({"context_window": {"context_window_size": -1}})]
    {
        assert_eq!(line(&sandbox, "200", &input, &[])?, "", "{input}");
    }
    let bare = json!({"cwd": sandbox.project(), "model": null, "context_window": {"context_window_size": 0}});
    assert_eq!(line(&sandbox, "wide", &bare, &[])?, "project\n");
    Ok(())
}

#[test]
fn a_session_that_plans_has_a_badge_until_the_next_prompt_says_otherwise() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = told(&sandbox)?;
    assert!(!line(&sandbox, "200", &input, &[])?.contains("Planning"));
    let hook = |hook: &str, event: &str, mode: &str, prompt: &str| {
        let event = json!({
            "session_id": "s", "cwd": sandbox.project(), "prompt_id": prompt, "permission_mode": mode, "prompt": "go",
            "hook_event_name": event, "tool_name": "ExitPlanMode",
        });
        sandbox.run(hook, event.to_string().as_bytes())
    };
    hook("prompt-sync", "UserPromptSubmit", "plan", "p")?;
    assert!(line(&sandbox, "200", &input, &[])?.starts_with("Planning │ "));
    // A later prompt whose mode is not known yet.
    let mut later = input.clone();
    later["prompt_id"] = json!("q");
    assert!(!line(&sandbox, "200", &later, &[])?.contains("Planning"));
    hook("context-monitor", "PostToolUse", "default", "p")?;
    assert!(!line(&sandbox, "200", &input, &[])?.contains("Planning"));
    Ok(())
}

#[test]
fn the_window_that_the_client_tells_the_line_is_the_one_of_the_warning() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let transcript = sandbox.folder().join("t.jsonl");
    let message = json!({"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 190_000}}});
    fs::write(&transcript, format!("{message}\n"))?;
    line(&sandbox, "200", &told(&sandbox)?, &[])?;
    let event = json!({"session_id": "s", "hook_event_name": "PostToolUse", "transcript_path": transcript});
    assert_eq!(sandbox.run("context-monitor", event.to_string().as_bytes())?.stdout, b"");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_line_of_the_users_comes_first_and_gets_what_the_client_tells() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = told(&sandbox)?;
    let wrapped = |command: &str| line(&sandbox, "60", &input, &["--wrap", command]);
    let shown = wrapped("printf 'mine '; grep -o '\"session_id\":\"s\"'")?;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "mine \"session_id\":\"s\"", "{shown}");
    assert!(lines.len() == 2 && lines[1].contains("97% left"), "{shown}");
    // One that fails, does not read, prints nothing or does not end costs its own line alone.
    for command in ["echo gone; exit 1", "exec true", "no-such-program", "echo late; exec sleep 60"] {
        let shown = wrapped(command)?;
        assert!(shown.lines().count() == 1 && shown.contains("97% left"), "{command}: {shown}");
    }
    Ok(())
}

#[test]
fn it_is_written_into_the_settings_and_comes_out_byte_for_byte() -> Result<()> {
    let texts = [
        None,
        Some("{\n  \"model\": \"opus\"\n}\n"),
        Some(
            "{\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"~/line.sh 'a'\", \"padding\": 1},\n\t\"x\": []\n}",
        ),
    ];
    for text in texts {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let folder = sandbox.folder().join("home/.claude");
        fs::create_dir_all(&folder)?;
        let file = folder.join("settings.json");
        text.map_or(Ok(()), |text| fs::write(&file, text))?;
        fs::write(folder.join("kept"), "")?;
        let before = tree(&folder)?;
        let wyren = |arguments: &[&str]| -> Result<String> {
            let output = sandbox.wyren(arguments)?;
            ensure!(output.status.success(), "{arguments:?}: {output:?}");
            Ok(String::from_utf8(output.stdout)?)
        };
        assert!(wyren(&["install", "--statusline", "--dry-run"])?.contains("wyren-statusline"));
        assert_eq!(tree(&folder)?, before);
        assert!(wyren(&["install", "--statusline"])?.contains("Wrote statusLine to ~/.claude/settings.json"));
        assert!(wyren(&["install", "--statusline"])?.contains("already"));
        let settings: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        let command = settings["statusLine"]["command"].as_str().context("a command")?;
        assert!(command.contains("bin/wyren-statusline"), "{command}");
        assert_eq!(
            command.contains("--wrap"),
            text.is_some_and(|text| text.contains("line.sh")),
            "{command}"
        );
        wyren(&["uninstall"])?;
        assert_eq!(tree(&folder)?, before, "{text:?}");
    }
    Ok(())
}

#[test]
fn what_is_printed_to_paste_is_what_is_written() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let printed = sandbox.wyren(&["statusline", "--print"])?.stdout;
    ensure!(sandbox.wyren(&["install", "--statusline"])?.status.success());
    let written = fs::read(sandbox.folder().join("home/.claude/settings.json"))?;
    let values: [Value; 2] = [serde_json::from_slice(&printed)?, serde_json::from_slice(&written)?];
    assert_eq!(values[0], values[1]);
    Ok(())
}
