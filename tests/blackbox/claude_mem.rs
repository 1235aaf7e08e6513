//! What Wyren does better than claude-mem: the lines of the list that programs show, a test named after each.
//!
//! Those that are figures are held by `cargo xtask bench --check`: `xtask/src/bench/budgets.rs` has a test for each.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tables::hooks::{self, HOOKS};
use wyren_tests::sandbox::{Sandbox, data_folder, feed};

use crate::engine::{export, files_with, prompt, shell, wyren};

/// Keys of the usual kinds, put together here so that no scanner takes this file for a leak.
fn keys() -> [String; 2] {
    [
        ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat(),
        ["sk-ant-api03-", "R2D2c3po_R2D2c3po_R2D2c3po_R2D2c3po_R2D2c3po_AA"].concat(),
    ]
}

/// Returns a sandbox in which a guard refuses `frobnicate`.
fn guarded() -> Result<Option<Sandbox>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    for folder in ["home", "tmp", "data/lessons"] {
        fs::create_dir_all(sandbox.folder().join(folder))?;
    }
    let lesson = "---\nsummary: Do not frobnicate\nkind: guard\ncommand: frobnicate\n---\nIt is bad.\n\n## Solution\nDo it otherwise.\n";
    fs::write(sandbox.data().join("lessons/frobnicate.md"), lesson)?;
    Ok(Some(sandbox))
}

/// Has a call refused, as the client would.
fn refuse(sandbox: &Sandbox, id: &str, command: &str) -> Result<()> {
    let input = json!({
        "session_id": "s", "cwd": sandbox.project(), "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": command}, "hook_event_name": "PreToolUse",
    });
    let answer = String::from_utf8(sandbox.run("lesson-inject", input.to_string().as_bytes())?.stdout)?;
    assert!(answer.contains(r#""permissionDecision":"deny""#), "{answer}");
    Ok(())
}

/// Has a call fail, as the client would.
fn fail(sandbox: &Sandbox, id: &str, command: &str, error: &str) -> Result<()> {
    let input = json!({
        "session_id": "s", "cwd": sandbox.project(), "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": command}, "error": error, "hook_event_name": "PostToolUseFailure",
    });
    sandbox.run("tool-record", input.to_string().as_bytes()).map(drop)
}

/// Has a turn end, as the client would: with its last message, or with an error.
fn end_turn(sandbox: &Sandbox, event: &str, message: &str) -> Result<()> {
    let input = json!({
        "session_id": "s", "cwd": sandbox.project(), "prompt_id": "1", "hook_event_name": event,
        "transcript_path": sandbox.folder().join("none.jsonl"), "last_assistant_message": message, "error": "unknown",
    });
    sandbox.run("stop-summary", input.to_string().as_bytes()).map(drop)
}

/// Checks that texts are in no file of the sandbox, now and once everything is in the database.
fn check_nowhere(sandbox: &Sandbox, hidden: &[&str]) -> Result<()> {
    for when in ["before", "after"] {
        for text in hidden {
            let found = files_with(sandbox.folder(), text)?;
            assert_eq!(found, Vec::<PathBuf>::new(), "{text} {when} the drain");
        }
        export(sandbox, &[])?;
    }
    Ok(())
}

/// Returns the exported lines of a kind.
fn of_kind(sandbox: &Sandbox, kind: &str) -> Result<Vec<Value>> {
    Ok(export(sandbox, &[])?.into_iter().filter(|line| line["type"] == kind).collect())
}

#[test]
fn line_04_no_hook_exits_2_or_blocks_by_its_own_failure() -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(4);
    for hook in HOOKS {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        // Nowhere to write, nothing to start, no home.
        fs::remove_dir_all(sandbox.data())?;
        fs::write(sandbox.data(), "a file, and no folder")?;
        for event in hook.events {
            let payload = hooks::event(event).context("no such event")?.payload;
            let input = fs::read(data_folder().join(format!("payloads/{payload}.json")))?;
            for input in [&input[..], &input[..input.len() / 2], b"", b"\xff"] {
                let mut command = sandbox.command(hook.name);
                // Below a file, where not even root makes a folder.
                let nowhere = sandbox.data().join("none");
                command
                    .env("XDG_RUNTIME_DIR", &nowhere)
                    .env("TMPDIR", &nowhere)
                    .env("HOME", &nowhere)
                    .env("PATH", "");
                let started = Instant::now();
                let output = feed(&mut command, input)?;
                assert_eq!(output.status.code(), Some(0), "{}: {output:?}", hook.name);
                assert!(started.elapsed() < PATIENCE, "{} took {:?}", hook.name, started.elapsed());
                let answer = String::from_utf8(output.stdout)?;
                for refusal in [r#""decision""#, r#""deny""#, r#""continue":false"#] {
                    assert!(!answer.contains(refusal), "{}: {answer}", hook.name);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn line_13_a_private_prompt_leaves_no_byte_nor_do_the_calls_refusals_and_the_answer_under_it() -> Result<()> {
    let Some(sandbox) = guarded()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    shell(&sandbox, "s", "toolu_1", "echo PRIVATE-CALL-WORD", "PRIVATE-OUTPUT-WORD")?;
    fail(&sandbox, "toolu_2", "cat PRIVATE-FAILED-WORD", "no PRIVATE-ERROR-WORD")?;
    refuse(&sandbox, "toolu_3", "frobnicate PRIVATE-REFUSED-WORD")?;
    end_turn(&sandbox, "Stop", "I did PRIVATE-ANSWER-WORD.")?;
    end_turn(&sandbox, "StopFailure", "API Error: PRIVATE-FAILURE-WORD")?;
    check_nowhere(&sandbox, &["PRIVATE-"])?;
    assert!(export(&sandbox, &[])?.iter().all(|line| line["type"] == "session"));
    // The next prompt is open again.
    prompt(&sandbox, "s", "2", "now openly")?;
    end_turn(&sandbox, "Stop", "I did it openly.")?;
    assert_eq!(of_kind(&sandbox, "turn-end")?[0]["data"]["text"], "I did it openly.");
    Ok(())
}

#[test]
fn line_14_an_unclosed_private_tag_hides_the_rest_and_planted_keys_go_before_anything_is_written()
-> Result<()> {
    let Some(sandbox) = guarded()? else { return Ok(()) };
    let planted = keys().join(" then ");
    prompt(&sandbox, "s", "1", &format!("use {planted} <private>and HIDDEN-PROMPT-WORD"))?;
    shell(&sandbox, "s", "toolu_1", "cat .env", &format!("KEY={planted} <private>HIDDEN-OUTPUT-WORD"))?;
    fail(&sandbox, "toolu_2", "curl", &format!("{planted} is wrong <private>HIDDEN-ERROR-WORD"))?;
    refuse(&sandbox, "toolu_3", &format!("frobnicate --key {planted} <private>HIDDEN-INPUT-WORD"))?;
    end_turn(&sandbox, "Stop", &format!("The keys are {planted} <private>HIDDEN-ANSWER-WORD"))?;
    end_turn(&sandbox, "StopFailure", &format!("API Error: {planted} <private>HIDDEN-FAILURE-WORD"))?;
    let [one, other] = keys();
    check_nowhere(&sandbox, &[&one, &other, "HIDDEN-"])?;
    // What is beside them is there.
    for (kind, words) in [
        ("prompt", "use "),
        ("tool", "cat .env"),
        ("refused", "frobnicate --key"),
        ("turn-end", "The keys are"),
    ] {
        let lines = of_kind(&sandbox, kind)?;
        assert!(lines.iter().any(|line| line.to_string().contains(words)), "{kind}: {lines:#?}");
    }
    Ok(())
}

#[test]
fn line_15_logs_hold_no_command_lines_and_rotate_at_a_fixed_size() -> Result<()> {
    const MAX_BYTES: u64 = 20_000;
    let Some(sandbox) = guarded()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "run LOGGED-PROMPT-WORD")?;
    shell(&sandbox, "s", "toolu_1", "echo LOGGED-COMMAND-WORD", "LOGGED-OUTPUT-WORD")?;
    fail(&sandbox, "toolu_2", "cat LOGGED-FAILED-WORD", "no LOGGED-ERROR-WORD")?;
    refuse(&sandbox, "toolu_3", "frobnicate LOGGED-REFUSED-WORD")?;
    end_turn(&sandbox, "Stop", "LOGGED-ANSWER-WORD")?;
    export(&sandbox, &[])?;
    let logs = sandbox.data().join("logs");
    assert!(sandbox.hook_log()?.len() >= 5);
    assert_eq!(files_with(&logs, "LOGGED-")?, Vec::<PathBuf>::new());

    wyren(&sandbox, &["config", "set", "log.max_bytes", &MAX_BYTES.to_string()])?;
    for number in 0..300 {
        shell(&sandbox, "s", &format!("toolu_n{number}"), "true", "")?;
    }
    let sizes: Vec<u64> = fs::read_dir(&logs)?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("hooks."))
        .map(|entry| entry.metadata().map(|metadata| metadata.len()))
        .collect::<Result<_, _>>()?;
    assert_eq!(sizes.len(), 2, "{sizes:?}");
    // The line that finds the log full is written to the next one.
    assert!(sizes.iter().all(|size| *size < MAX_BYTES + 1_000), "{sizes:?}");
    Ok(())
}

#[test]
fn line_21_an_output_of_6_mb_is_kept_elided_with_a_digest_and_images_are_named() -> Result<()> {
    const BYTES: usize = 6 * 1024 * 1024;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut output = String::from("It begins here. ");
    output.push_str(&"one of very many lines ".repeat(BYTES / 23));
    output.push_str("It ends here.");
    shell(&sandbox, "s", "toolu_1", "cat large", &output)?;
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(100_000);
    let read = json!({
        "session_id": "s", "cwd": sandbox.project(), "tool_name": "Read", "tool_use_id": "toolu_2",
        "tool_input": {"file_path": "/p/shot.png"}, "hook_event_name": "PostToolUse",
        "tool_response": {"type": "image", "file": {"base64": image, "type": "image/png", "originalSize": 1_800_000}},
    });
    sandbox.run("tool-record", read.to_string().as_bytes())?;

    let calls = of_kind(&sandbox, "tool")?;
    let kept = calls[0]["output"]["stdout"].as_str().context("no output")?;
    assert!(kept.starts_with("It begins here.") && kept.ends_with("It ends here."), "{kept}");
    let mark = format!("[cut: {} bytes, xxh3 ", output.len());
    let digest = kept.split_once(&mark).and_then(|(_, rest)| rest.split_once(']')).context("no digest")?.0;
    assert!(digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    assert!(kept.len() < 20_000, "{}", kept.len());
    let named = calls[1]["output"]["file"]["base64"].as_str().context("no image")?;
    assert!(named.starts_with(&format!("[binary: {} bytes, xxh3 ", image.len())), "{named}");
    assert_eq!(calls[1]["output"]["file"]["type"], "image/png");
    Ok(())
}

#[test]
fn line_22_denied_and_failed_calls_are_recorded_and_can_be_found() -> Result<()> {
    let Some(sandbox) = guarded()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "try it")?;
    refuse(&sandbox, "toolu_1", "frobnicate the ZEPPELIN")?;
    fail(&sandbox, "toolu_2", "cat notes", "cat: ZEPPELIN: No such file or directory")?;

    let refused = of_kind(&sandbox, "refused")?;
    assert_eq!(refused.len(), 1, "{refused:#?}");
    assert_eq!((&refused[0]["id"], &refused[0]["data"]["by"]), (&json!("r:toolu_1"), &json!("guard")));
    assert_eq!(refused[0]["data"]["input"]["command"], "frobnicate the ZEPPELIN");
    let failed = of_kind(&sandbox, "tool")?;
    assert_eq!((&failed[0]["failed"], &failed[0]["id"]), (&json!(true), &json!("t:toolu_2")));
    let facts = crate::search::search(&sandbox, &["zeppelin"])?;
    let found = facts["hits"].to_string();
    assert!(found.contains("frobnicate the ZEPPELIN"), "{facts:#}");
    let found = crate::search::search(&sandbox, &["notes", "no such file"])?["hits"].to_string();
    assert!(found.contains("cat: ZEPPELIN: No such file"), "a mere look that failed: {found}");
    prompt(&sandbox, "s", "2", "run the tests")?;
    fail(&sandbox, "toolu_3", "cargo test -p hangar", "error: the HANGAR doors are closed")?;
    let facts = crate::search::search(&sandbox, &["hangar", "doors"])?;
    assert!(facts["hits"].to_string().contains("the HANGAR doors are closed"), "{facts:#}");
    let found = wyren(&sandbox, &["forget", "--query", "zeppelin", "--dry-run"])?;
    for shown in ["refused Bash {\"command\":\"frobnicate the ZEPPELIN\"}", "r:toolu_1", "t:toolu_2"] {
        assert!(found.contains(shown), "{shown}: {found}");
    }
    Ok(())
}

/// Reading the file from its beginning would take longer than a hook may: almost all of it is a hole.
#[cfg(unix)]
#[test]
fn line_30_stop_reads_only_the_tail_of_a_transcript() -> Result<()> {
    use std::io::{Seek as _, SeekFrom, Write as _};
    const HOLE_BYTES: u64 = 256 * 1024 * 1024 * 1024;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let transcript = sandbox.folder().join("transcript.jsonl");
    let mut file = fs::File::create(&transcript)?;
    file.set_len(HOLE_BYTES)?;
    file.seek(SeekFrom::End(0))?;
    let stop = json!({
        "session_id": "s", "cwd": sandbox.project(), "hook_event_name": "Stop", "transcript_path": transcript,
    });
    let stop = || sandbox.run("stop-summary", stop.to_string().as_bytes());
    // Nothing to be found, and the search ends all the same.
    stop()?;
    let reply =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "From the tail."}]}});
    write!(file, "\n{reply}\n")?;
    stop()?;
    drop(file);
    fs::remove_file(&transcript)?;
    let ends = of_kind(&sandbox, "turn-end")?;
    let texts: Vec<&Value> = ends.iter().map(|end| &end["data"]["text"]).collect();
    assert_eq!(texts, [&Value::Null, &json!("From the tail.")], "{ends:#?}");
    Ok(())
}
