//! What every hook owes the client, whatever it is sent; and what each hook says to golden input.
//!
//! Golden cases are pairs `<case>.in.json` and `<case>.out.json` in `tests/data/<binary>/`; an empty `out` means
//! silence. `UPDATE_GOLDEN=1` writes the `out` files anew. The project that they run in has the files of `tests/data/team`
//! as its `.wyren/`, and those of `tests/data/transcripts`
//! as `transcripts/`.

use std::fs;
use std::process::Output;

use anyhow::{Context, Result};
use serde_json::Value;
use tables::GUARDS;
use tables::hooks::{self, Silence};
use wyren_tests::plugin;
use wyren_tests::sandbox::{self, Sandbox, inputs, inputs_in};

/// Returns what a hook prints when it has nothing to say; one that is not in the table was just made.
fn silence_of(hook: &str) -> &'static str {
    hooks::find(hook).map_or(Silence::Empty, |hook| hook.silence).text()
}

#[track_caller]
fn check_valid(output: &Output, about: &str) {
    assert_eq!(output.status.code(), Some(0), "{about}: {output:?}");
    let stdout = std::str::from_utf8(&output.stdout).expect(about);
    if stdout.is_empty() {
        return;
    }
    let answer: Value =
        serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{about}: {error}: {stdout}"));
    assert!(answer.is_object() && stdout.ends_with('\n') && stdout.lines().count() == 1, "{about}: {stdout}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn every_hook_answers_every_payload_with_exit_0_and_valid_output() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    check_payloads(&sandbox)
}

/// Feeds every recorded and hand-typed payload to every hook of the sandbox.
pub(crate) fn check_payloads(sandbox: &Sandbox) -> Result<()> {
    for folder in ["payloads", "hand-typed"] {
        for (name, input) in inputs(folder)? {
            for hook in sandbox.hooks()? {
                check_valid(&sandbox.run(&hook, &input)?, &format!("{hook} < {name}"));
            }
        }
    }
    Ok(())
}

/// One hook, and in one case alone, exits with 2: `compaction::with_the_variable_a_manual_compaction_is_stopped_with_the_handoff`.
#[test]
fn no_other_hook_exits_with_2() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for (name, input) in inputs("payloads")? {
        for hook in sandbox.hooks()?.into_iter().filter(|hook| hook != "precompact-handoff") {
            let mut command = sandbox.command(&hook);
            let output = sandbox::feed(command.env("LESSONS_PRECOMPACT_HANDOFF", "all"), &input)?;
            check_valid(&output, &format!("{hook} < {name}"));
        }
    }
    Ok(())
}

#[test]
fn bad_input_gives_silence_exit_0_and_a_line_in_the_log() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    check_bad_input(&sandbox)
}

/// Feeds what is no event to every hook of the sandbox.
pub(crate) fn check_bad_input(sandbox: &Sandbox) -> Result<()> {
    let deep = "[".repeat(3_000);
    let large = "x".repeat(50 * 1024 * 1024);
    let bad: [(&str, &[u8]); 11] = [
        ("empty", b""),
        ("blank", b" \n"),
        ("null", b"null"),
        ("an array", b"[]"),
        ("a number", b"42"),
        ("a number where a string belongs", br#"{"session_id":5}"#),
        ("invalid UTF-8", b"{\"session_id\":\"\xff\"}"),
        ("a byte order mark", b"\xef\xbb\xbf{\"session_id\":\"s\"}"),
        ("truncated", br#"{"session_id":"s","#),
        ("3,000 levels", deep.as_bytes()),
        ("50 MB of text", large.as_bytes()),
    ];
    for hook in sandbox.hooks()? {
        for (name, input) in bad {
            let before = sandbox.hook_log()?.len();
            let output = sandbox.run(&hook, input)?;
            check_valid(&output, &format!("{hook} < {name}"));
            assert_eq!(stdout(&output), silence_of(&hook), "{hook} < {name}: {output:?}");
            assert!(output.stderr.is_empty(), "{hook} < {name}: {output:?}");
            let log = sandbox.hook_log()?;
            assert_eq!(log.len(), before + 1, "{hook} < {name}");
            assert_eq!(log[before]["hook"], *hook);
            assert_eq!(log[before]["level"], "warn");
        }
    }
    Ok(())
}

// Line 8 of what Wyren must do better than the Node version.
#[test]
fn with_a_guard_variable_every_hook_ends_at_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    check_guards(&sandbox)
}

/// Runs every hook of an empty sandbox inside a model call.
pub(crate) fn check_guards(sandbox: &Sandbox) -> Result<()> {
    for guard in GUARDS {
        for hook in sandbox.hooks()? {
            let output = sandbox::feed(sandbox.command(&hook).env(guard, "1"), b"{}")?;
            check_valid(&output, &format!("{hook} with {guard}"));
            assert_eq!(stdout(&output), "", "{hook} with {guard}");
        }
    }
    // What the sandbox itself wrote.
    let names: Vec<_> = std::fs::read_dir(sandbox.data())?.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["told"]);
    Ok(())
}

#[test]
fn golden_input_gives_golden_output() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    check_golden(&sandbox)
}

/// Compares every hook's answers with its golden cases.
pub(crate) fn check_golden(sandbox: &Sandbox) -> Result<()> {
    plugin::copy(&sandbox::data_folder().join("team"), &sandbox.project().join(".wyren"))?;
    plugin::copy(&sandbox::data_folder().join("transcripts"), &sandbox.project().join("transcripts"))?;
    // The words of the fences are derived from it.
    fs::create_dir_all(sandbox.data())?;
    fs::write(sandbox.data().join("secret"), [b's'; 32])?;
    for hook in sandbox.hooks()? {
        let mut cases = 0;
        for (name, input) in inputs_in(&sandbox.cases().join(&hook))? {
            let Some(case) = name.strip_suffix(".in.json") else { continue };
            cases += 1;
            let output = stdout(&sandbox.run(&hook, &input)?);
            let golden = sandbox.cases().join(&hook).join(format!("{case}.out.json"));
            let pretty = match output.as_str() {
                "" => String::new(),
                text => format!("{:#}\n", serde_json::from_str::<Value>(text)?),
            };
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(&golden, &pretty)?;
            }
            let expected = fs::read_to_string(&golden).with_context(|| golden.display().to_string())?;
            assert_eq!(pretty, expected, "{hook}/{case}");
        }
        assert!(cases > 0, "tests/data/{hook} holds no golden case");
    }
    Ok(())
}

#[test]
fn the_same_input_gives_the_same_bytes() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = br#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
    let first = sandbox.run("session-start-lessons", input)?.stdout;
    assert!(!first.is_empty());
    assert_eq!(sandbox.run("session-start-lessons", input)?.stdout, first);
    Ok(())
}

#[test]
fn a_disabled_hook_stays_silent() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = br#"{"session_id":"s","source":"startup"}"#;
    assert!(sandbox.wyren(&["config", "set", "hooks.disabled", "session-start-lessons"])?.status.success());
    assert_eq!(stdout(&sandbox.run("session-start-lessons", input)?), "");
    assert!(sandbox.wyren(&["config", "unset", "hooks.disabled"])?.status.success());
    assert_ne!(stdout(&sandbox.run("session-start-lessons", input)?), "");
    Ok(())
}

#[test]
fn every_answer_is_in_the_log() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    sandbox.run("session-start-lessons", br#"{"session_id":"s-1","source":"startup"}"#)?;
    sandbox.run("session-start-lessons", br#"{"session_id":"s-1","source":"resume"}"#)?;
    let log = sandbox.hook_log()?;
    let [said, silent] = log.as_slice() else { panic!("{log:?}") };
    let message = said["msg"].as_str().context("a message")?;
    assert!(message.starts_with("HOOK_OUTPUT [context] ") && message.ends_with(" chars"), "{message}");
    assert!(said["data"].is_null(), "the log holds no text: {said}");
    assert_eq!(said["session"], "s-1");
    assert_eq!(said["event"], "SessionStart");
    assert!(said["ts"].as_str().is_some_and(|stamp| stamp.ends_with('Z')));
    assert!(said["ms"].as_f64().is_some_and(|millis| millis >= 0.0));
    assert_eq!((&silent["level"], &silent["msg"]), (&"debug".into(), &"HOOK_SILENT".into()));
    Ok(())
}
