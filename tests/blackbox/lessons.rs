//! Lessons under load and on bad days, through the built `lesson-inject`.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;
use wyren_tests::sandbox::{Sandbox, data_folder, feed};

/// How many calls arrive together.
const CALLS: usize = 64;

fn sandbox_with(lessons: &[(&str, &str)]) -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    let folder = sandbox.data().join("lessons");
    fs::create_dir_all(&folder)?;
    for (slug, kind) in lessons {
        let text = format!(
            "---\nsummary: {slug} goes wrong\nkind: {kind}\ncommand: frobnicate\n---\nIt does.\n\n## Solution\nDo it otherwise.\n"
        );
        fs::write(folder.join(format!("{slug}.md")), text)?;
    }
    // The first call compiles the index; calls that come meanwhile would stay silent.
    sandbox.run("lesson-inject", call("warm-up", "true").as_bytes())?;
    Ok(Some(sandbox))
}

fn call(session: &str, command: &str) -> String {
    serde_json::json!({
        "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "t1",
    })
    .to_string()
}

fn start(sandbox: &Sandbox, input: &std::path::Path) -> Result<Child> {
    let mut command = sandbox.command("lesson-inject");
    command.stdin(fs::File::open(input)?).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(command.spawn()?)
}

fn shown(stdout: &[u8]) -> Vec<String> {
    let answer: Value = serde_json::from_slice(stdout).unwrap_or_default();
    let seen = answer["env"]["LESSONS_SEEN"].as_str().unwrap_or_default();
    seen.split(',').filter(|slug| !slug.is_empty()).map(str::to_owned).collect()
}

#[test]
fn sixty_four_calls_at_once_show_each_lesson_exactly_once() -> Result<()> {
    let slugs = ["one", "two", "three", "four", "five"];
    let lessons: Vec<(&str, &str)> = slugs.iter().map(|slug| (*slug, "hint")).collect();
    let Some(sandbox) = sandbox_with(&lessons)? else { return Ok(()) };
    for round in 0..3 {
        let input = sandbox.folder().join("input.json");
        fs::write(&input, call(&format!("s{round}"), "frobnicate"))?;
        let children: Vec<Child> = (0..CALLS).map(|_| start(&sandbox, &input)).collect::<Result<_>>()?;
        let mut all = Vec::new();
        for child in children {
            all.extend(shown(&child.wait_with_output()?.stdout));
        }
        // A lesson that did not fit beside the others comes with the next call.
        for _ in 0..slugs.len() {
            all.extend(shown(&sandbox.run("lesson-inject", &fs::read(&input)?)?.stdout));
        }
        all.sort();
        let mut expected = slugs.map(str::to_owned);
        expected.sort();
        assert_eq!(all, expected, "round {round}");
    }
    Ok(())
}

#[test]
fn a_kill_at_any_moment_loses_no_lesson() -> Result<()> {
    const KILLS: u32 = 150;
    let Some(sandbox) = sandbox_with(&[("the-one", "hint")])? else { return Ok(()) };
    let started = Instant::now();
    sandbox.run("lesson-inject", call("measure", "frobnicate").as_bytes())?;
    let usual = started.elapsed().max(Duration::from_millis(1));
    let mut killed_silently = 0;
    for number in 0..KILLS {
        let session = format!("killed-{number}");
        let input = sandbox.folder().join("input.json");
        fs::write(&input, call(&session, "frobnicate"))?;
        let mut child = start(&sandbox, &input)?;
        // Spread over the whole run, and a little beyond.
        let moment = usual * number * 12 / (KILLS * 10);
        spin(moment);
        let _ = child.kill();
        let first = shown(&child.wait_with_output()?.stdout);
        let second = shown(&sandbox.run("lesson-inject", call(&session, "frobnicate").as_bytes())?.stdout);
        assert!(!first.is_empty() || second == ["the-one"], "{session}: lost");
        killed_silently += u32::from(first.is_empty());
    }
    assert!(killed_silently > 0, "no kill came in time to matter");
    Ok(())
}

/// Waits for less than a sleep could.
fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn a_pause_lets_the_second_of_two_identical_calls_through_among_others() -> Result<()> {
    let Some(sandbox) = sandbox_with(&[("think-twice", "pause")])? else { return Ok(()) };
    let input = sandbox.folder().join("input.json");
    let other = sandbox.folder().join("other.json");
    fs::write(&input, call("s", "frobnicate"))?;
    fs::write(&other, call("s", "ls -la"))?;
    let mut children = Vec::new();
    for _ in 0..8 {
        children.push(start(&sandbox, &other)?);
    }
    let pair = [start(&sandbox, &input)?, start(&sandbox, &input)?];
    let mut denials = 0;
    for child in pair {
        let answer: Value = serde_json::from_slice(&child.wait_with_output()?.stdout)?;
        denials += usize::from(answer["hookSpecificOutput"]["permissionDecision"] == "deny");
    }
    for child in children {
        assert_eq!(child.wait_with_output()?.stdout, b"{}\n");
    }
    assert_eq!(denials, 1);
    let again = sandbox.run("lesson-inject", &fs::read(&input)?)?;
    assert_eq!(again.stdout, b"{}\n");
    Ok(())
}

#[test]
fn the_very_next_call_shows_a_new_lesson_and_the_log_tells_when_wyren_is_missing() -> Result<()> {
    let Some(sandbox) = sandbox_with(&[("first", "hint")])? else { return Ok(()) };
    let first = sandbox.data().join("lessons/first.md");
    fs::write(first.with_file_name("second.md"), fs::read_to_string(&first)?)?;
    fs::write(first.with_file_name("broken.md"), "---\nkind: nonsense\n---\n")?;
    let input = call("a", "frobnicate");
    let output = sandbox.run("lesson-inject", input.as_bytes())?;
    let mut seen = shown(&output.stdout);
    seen.sort();
    assert_eq!(seen, ["first", "second"]);
    let log = || fs::read_to_string(sandbox.data().join("logs/hooks.jsonl"));
    assert!(log()?.contains("1 left out of the lessons"), "{}", log()?);

    // The hook alone, as after half an installation: it has the old index no more, and cannot make a new one.
    fs::write(first.with_file_name("third.md"), fs::read_to_string(&first)?)?;
    let alone = sandbox.folder().join("alone");
    fs::create_dir(&alone)?;
    let hook = alone.join("lesson-inject");
    fs::copy(sandbox.command("lesson-inject").get_program(), &hook)?;
    let output = feed(&mut sandbox.command_for(&hook), input.as_bytes())?;
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "{}");
    assert!(log()?.contains("no index for "), "{}", log()?);
    let mut seen = shown(&sandbox.run("lesson-inject", call("b", "frobnicate").as_bytes())?.stdout);
    seen.sort();
    assert_eq!(seen, ["first", "second", "third"]);
    Ok(())
}

#[test]
fn a_lesson_of_ones_own_does_not_hide_the_shipped_ones() -> Result<()> {
    let Some(sandbox) = sandbox_with(&[("mine", "hint")])? else { return Ok(()) };
    let danger = call("s", "rm -rf /");
    let answer: Value = serde_json::from_slice(&sandbox.run("lesson-inject", danger.as_bytes())?.stdout)?;
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert_eq!(shown(&sandbox.run("lesson-inject", call("s", "frobnicate").as_bytes())?.stdout), ["mine"]);
    Ok(())
}

#[test]
fn an_empty_folder_of_lessons_and_a_missing_plugin_are_no_trouble() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut command = sandbox.command("lesson-inject");
    command.env("CLAUDE_PLUGIN_ROOT", sandbox.folder().join("nowhere"));
    let output = feed(&mut command, call("s", "rm -rf /").as_bytes())?;
    assert_eq!(output.stdout, b"{}\n");
    let log = sandbox.hook_log()?;
    assert_eq!(log.last().context("no line")?["msg"], "HOOK_SILENT");
    Ok(())
}

/// Runs a call through the hooks around it: asks before, and reports how it ended. Returns why it was refused.
fn attempt(sandbox: &Sandbox, command: &str, error: Option<&str>) -> Result<Option<String>> {
    let mut call: Value = serde_json::from_str(&call("s", command))?;
    call["prompt_id"] = "p".into();
    call["cwd"] = sandbox.project().to_string_lossy().into();
    let before: Value =
        serde_json::from_slice(&sandbox.run("lesson-inject", call.to_string().as_bytes())?.stdout)?;
    if before["hookSpecificOutput"]["permissionDecision"] == "deny" {
        return Ok(before["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned));
    }
    call["hook_event_name"] = if error.is_some() { "PostToolUseFailure" } else { "PostToolUse" }.into();
    match error {
        Some(error) => call["error"] = error.into(),
        None => call["tool_response"] = serde_json::json!({"stdout": ""}),
    }
    let after = sandbox.run("tool-record", call.to_string().as_bytes())?;
    assert_eq!(after.stdout, b"{\"continue\":true,\"suppressOutput\":true}\n");
    Ok(None)
}

#[test]
fn the_third_identical_failing_call_pauses_once_and_a_change_starts_over() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let error = Some("Exit code 1\nno such target");
    let fails = |command: &str| attempt(&sandbox, command, error);
    assert_eq!((fails("frobnicate x")?, fails("frobnicate x")?), (None, None));
    let reason = fails("frobnicate x")?.context("the third attempt pauses")?;
    assert!(reason.starts_with("Wyren paused this call once: it failed twice"), "{reason}");
    assert!(reason.contains("frobnicate x") && reason.contains("no such target"), "{reason}");
    assert_eq!((fails("frobnicate x")?, fails("frobnicate x")?), (None, None), "once");
    assert_eq!(attempt(&sandbox, "frobnicate --fix", None)?, None);
    assert_eq!((fails("frobnicate x")?, fails("frobnicate x")?), (None, None));
    assert!(fails("frobnicate x")?.is_some(), "a new loop");
    Ok(())
}

#[test]
fn a_loop_ends_neither_under_a_private_prompt_nor_with_the_recording_hook_disabled() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let error = Some("Exit code 1\nmy private business");
    let prompt = serde_json::json!({
        "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "<private>look</private>",
    });
    sandbox.run("prompt-record", prompt.to_string().as_bytes())?;
    for _ in 0..4 {
        assert_eq!(attempt(&sandbox, "frobnicate x", error)?, None);
    }
    let Some(other) = Sandbox::new()? else { return Ok(()) };
    other.wyren(&["config", "set", "hooks.disabled", "tool-record"])?;
    for _ in 0..4 {
        assert_eq!(attempt(&other, "frobnicate x", error)?, None);
    }
    other.wyren(&["config", "set", "hooks.disabled", ""])?;
    other.wyren(&["config", "set", "lessons.loops", "false"])?;
    for _ in 0..4 {
        assert_eq!(attempt(&other, "frobnicate x", error)?, None);
    }
    Ok(())
}

#[test]
fn another_call_pauses_again_and_the_fourth_is_a_hint() -> Result<()> {
    let Some(sandbox) = sandbox_with(&[("think-twice", "pause")])? else { return Ok(()) };
    for command in ["frobnicate a", "frobnicate b", "frobnicate c"] {
        let reason = attempt(&sandbox, command, None)?.context("paused")?;
        assert!(reason.ends_with("If it is right, run the same command again and it passes."), "{reason}");
        assert_eq!(attempt(&sandbox, command, None)?, None);
    }
    assert_eq!(
        shown(&sandbox.run("lesson-inject", call("s", "frobnicate d").as_bytes())?.stdout),
        ["think-twice"]
    );
    Ok(())
}

#[test]
fn forgetting_takes_the_note_about_a_failure_along() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let error = Some("Exit code 1\nno such target");
    for _ in 0..2 {
        assert_eq!(attempt(&sandbox, "frobnicate x", error)?, None);
    }
    let forgotten = sandbox.wyren(&["forget", "--session", "s", "--yes"])?;
    assert!(forgotten.status.success(), "{forgotten:?}");
    assert_eq!(attempt(&sandbox, "frobnicate x", error)?, None, "nothing is known of the failures");
    Ok(())
}

#[test]
fn the_form_of_lessons_learned_is_as_it_was_byte_for_byte() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    // As version 0.1 answered, before there was another form.
    let golden = data_folder().join("lessons-learned/golden");
    for case in ["guard", "pause-1", "pause-2", "hint", "hints"] {
        let input = fs::read(data_folder().join(format!("lesson-inject/{case}.in.json")))?;
        let mut command = sandbox.command("lesson-inject");
        let output = feed(command.env("WYREN_LESSON_FORMAT", "lessons-learned"), &input)?;
        let expected = fs::read_to_string(golden.join(format!("{case}.jsonl")))?;
        assert_eq!(String::from_utf8(output.stdout)?, expected, "{case}");
    }
    Ok(())
}

#[test]
fn of_many_calls_at_once_one_passes_with_leave_for_one() -> Result<()> {
    let Some(sandbox) = sandbox_with(&[("never", "guard")])? else { return Ok(()) };
    let input = sandbox.folder().join("input.json");
    for round in 0..3 {
        fs::write(&input, call(&format!("s{round}"), "frobnicate"))?;
        sandbox.run("lesson-inject", &fs::read(&input)?)?;
        let allowed = sandbox.wyren(&["lessons", "allow", "never", "--session-id", &format!("s{round}")])?;
        assert!(allowed.status.success(), "{allowed:?}");
        let children: Vec<Child> = (0..16).map(|_| start(&sandbox, &input)).collect::<Result<_>>()?;
        let mut passed = 0;
        for child in children {
            let answer: Value = serde_json::from_slice(&child.wait_with_output()?.stdout)?;
            passed += usize::from(answer["hookSpecificOutput"]["permissionDecision"] != "deny");
        }
        assert_eq!(passed, 1, "round {round}");
    }
    Ok(())
}
