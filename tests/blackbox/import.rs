//! `wyren import` of what other systems and the client recorded: complete, once, killed and repeated, and without a private word.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use fixture::{ClaudeMem, Shape};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, data_folder, feed};

use crate::worker::wait_for;

const AT: i64 = 1_794_796_000_000;

/// Runs `wyren`, which must succeed, and returns what it printed.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let mut command = sandbox.command("wyren");
    let output = feed(command.args(arguments).env("WYREN_WORKER_IDLE_SECONDS", "0"), b"")?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

fn json_of(sandbox: &Sandbox, arguments: &[&str]) -> Result<Value> {
    let text = run(sandbox, arguments)?;
    serde_json::from_str(&text).with_context(|| text.clone())
}

fn exported(sandbox: &Sandbox) -> Result<Vec<Value>> {
    let text = run(sandbox, &["export"])?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// Waits until a worker has taken what was asked for, and none runs.
fn settle(sandbox: &Sandbox) -> Result<()> {
    let is_taken =
        || fs::read_dir(sandbox.data().join("jobs")).map_or(true, |mut jobs| jobs.next().is_none());
    wait_for("no work and no process", || Ok(is_taken() && sandbox.processes().is_empty()))
}

fn files_with(folder: &Path, text: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_with(&path, text)?);
        } else if path.is_file()
            && fs::read(&path)?.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path);
        }
    }
    Ok(found)
}

fn claude_mem(sandbox: &Sandbox) -> ClaudeMem {
    ClaudeMem::new(&sandbox.folder().join("home/.claude-mem/claude-mem.db"), Shape::Current)
}

fn stamp(second: u64) -> String {
    format!("2026-11-16T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60)
}

/// Writes a transcript of so many turns, each with a call, below the client's folder.
fn write_transcript(sandbox: &Sandbox, session: &str, turns: u64, word: &str) -> Result<PathBuf> {
    let folder = sandbox.folder().join("home/.claude/projects/-project");
    fs::create_dir_all(&folder)?;
    let cwd = sandbox.project();
    let mut lines = String::new();
    for turn in 0..turns {
        let at = |step: u64| stamp(turn * 4 + step);
        let records = [
            json!({"type": "user", "promptId": format!("{session}-{turn}"), "sessionId": session, "cwd": cwd, "timestamp": at(0),
                "message": {"content": format!("{word} {turn}")}}),
            json!({"type": "assistant", "sessionId": session, "cwd": cwd, "timestamp": at(1), "message": {"content": [
                {"type": "tool_use", "id": format!("{session}-t{turn}"), "name": "Bash", "input": {"command": format!("do {turn}")}}]}}),
            json!({"type": "user", "sessionId": session, "cwd": cwd, "timestamp": at(2), "toolUseResult": {"stdout": "ok"},
                "message": {"content": [{"type": "tool_result", "tool_use_id": format!("{session}-t{turn}"), "content": "ok"}]}}),
            json!({"type": "assistant", "sessionId": session, "cwd": cwd, "timestamp": at(3),
                "message": {"model": "claude-opus-4-8", "content": [{"type": "text", "text": format!("Done {turn}.")}]}}),
        ];
        for record in records {
            lines.push_str(&record.to_string());
            lines.push('\n');
        }
    }
    let path = folder.join(format!("{session}.jsonl"));
    fs::write(&path, lines)?;
    Ok(path)
}

#[test]
fn claude_mems_records_come_once_and_its_files_stay_as_they_are() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    claude_mem(&sandbox).fill(200, AT);
    let file = sandbox.folder().join("home/.claude-mem/claude-mem.db");
    let before = fs::read(&file)?;
    let trial = json_of(&sandbox, &["import", "--claude-mem", "--dry-run", "--json"])?;
    assert_eq!((&trial["dry_run"], &trial["observations"]["stored"]), (&json!(true), &json!(200)));
    assert!(exported(&sandbox)?.is_empty(), "a trial stores nothing");
    let first = run(&sandbox, &["import", "--claude-mem"])?;
    assert!(
        first.starts_with("Imported 200 observations, 20 summaries and 20 prompts of 4 sessions"),
        "{first}"
    );
    assert!(first.contains("Kept by name") && first.contains("project-0"), "{first}");
    assert!(first.contains("The journal is made of it"), "{first}");
    let again = json_of(&sandbox, &["import", "--claude-mem", "--json"])?;
    assert_eq!((&again["observations"]["stored"], &again["observations"]["known"]), (&json!(0), &json!(200)));
    assert_eq!(exported(&sandbox)?.len(), 4 + 200 + 20 + 20);
    assert_eq!(fs::read(&file)?, before);
    let names: BTreeSet<_> = fs::read_dir(file.parent().context("no folder")?)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<Result<_, _>>()?;
    assert_eq!(names.len(), 1, "nothing lies beside it: {names:?}");

    let folder = sandbox.folder().join("src/one");
    fs::create_dir_all(&folder)?;
    let named = format!("project-0={}", folder.display());
    let decided = json_of(&sandbox, &["import", "--claude-mem", "--project", &named, "--json"])?;
    assert_eq!(decided["unmatched"], json!([]), "{decided:#}");
    // The worker has made the journal of it, under the folder that was named.
    assert_eq!(decided["moved"], 4, "{decided:#}");
    settle(&sandbox)?;
    let database = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
    let sql =
        "SELECT count(*), count(DISTINCT key), max(key) FROM entries JOIN projects ON projects.row = project";
    let made: (u64, u64, String) =
        database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    assert_eq!(made, (200, 1, format!("path:{}", folder.display())));
    let odd = sandbox.wyren(&["import", "--claude-mem", "--project", "nonsense"])?;
    assert_eq!(odd.status.code(), Some(2), "{odd:?}");
    settle(&sandbox)
}

#[test]
fn what_is_private_or_secret_in_claude_mem_is_nowhere_and_what_came_can_be_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let theirs = claude_mem(&sandbox);
    let session = theirs.session("s", "claude", "web", AT, "<private>confidential</private>");
    theirs.prompt((session, "s"), AT + 1, "<private>confidential</private>");
    theirs.prompt((session, "s"), AT + 2, &format!("look at {key}"));
    theirs.observation("s", "web", AT + 3, &format!("the merger needs {key}"), &[]);
    drop(theirs);
    run(&sandbox, &["import", "--claude-mem"])?;
    settle(&sandbox)?;
    for hidden in ["confidential", &key] {
        assert_eq!(files_with(&sandbox.data(), hidden)?, Vec::<PathBuf>::new(), "{hidden}");
    }
    assert!(!files_with(&sandbox.data(), "the merger")?.is_empty());
    run(&sandbox, &["forget", "--query", "the merger", "--yes"])?;
    settle(&sandbox)?;
    assert_eq!(files_with(&sandbox.data(), "the merger")?, Vec::<PathBuf>::new());
    let again = json_of(&sandbox, &["import", "--claude-mem", "--json"])?;
    assert_eq!((&again["observations"]["stored"], &again["forgotten"]), (&json!(0), &json!(1)), "{again:#}");
    settle(&sandbox)
}

#[test]
fn transcripts_make_the_first_day_full_and_come_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    write_transcript(&sandbox, "one", 3, "please")?;
    write_transcript(&sandbox, "two", 2, "please")?;
    let first = run(&sandbox, &["import", "--transcripts"])?;
    assert!(first.starts_with("Imported 15 observations of 2 sessions"), "{first}");
    let lines = exported(&sandbox)?;
    assert_eq!(lines.iter().filter(|line| line["type"] == "turn-end").count(), 5);
    let again = json_of(&sandbox, &["import", "--transcripts", "--json"])?;
    assert_eq!((&again["stored"], &again["unchanged"]), (&json!(0), &json!(2)), "{again:#}");
    assert_eq!(exported(&sandbox)?, lines);
    // The journal is made of it without a session.
    settle(&sandbox)?;
    let nowhere = sandbox.wyren(&["import", "--transcripts", "/nowhere"])?;
    assert!(!nowhere.status.success());
    let message = String::from_utf8(nowhere.stderr)?;
    assert!(message.contains("could not import /nowhere"), "{message}");
    Ok(())
}

#[test]
fn an_import_that_is_killed_at_any_point_is_completed_by_the_next() -> Result<()> {
    let Some(whole) = Sandbox::new()? else { return Ok(()) };
    let prepare = |sandbox: &Sandbox| -> Result<()> {
        claude_mem(sandbox).fill(1_500, AT);
        (0..10)
            .try_for_each(|number| write_transcript(sandbox, &format!("s{number}"), 150, "please").map(drop))
    };
    let sources = [["import", "--claude-mem"], ["import", "--transcripts"]];
    prepare(&whole)?;
    for source in &sources {
        run(&whole, source)?;
    }
    // Folders differ, and rows come in another order.
    let told = |sandbox: &Sandbox| -> Result<BTreeSet<String>> {
        let folder = sandbox.folder().to_string_lossy().into_owned();
        Ok(exported(sandbox)?.iter().map(|line| line.to_string().replace(&folder, "")).collect())
    };
    let expected = told(&whole)?;
    for millis in [40, 90, 160, 300] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        prepare(&sandbox)?;
        for source in &sources {
            let mut command = sandbox.command("wyren");
            let mut child = command.args(source).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            std::thread::sleep(std::time::Duration::from_millis(millis));
            child.kill()?;
            child.wait()?;
            run(&sandbox, source)?;
        }
        assert!(told(&sandbox)? == expected, "killed after {millis} ms");
    }
    Ok(())
}

#[test]
fn an_import_names_its_source_and_goes_by_the_rules_of_recording() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for arguments in
        [&["import"][..], &["import", "file", "--transcripts"], &["import", "-", "--project", "a=b"]]
    {
        assert_eq!(sandbox.wyren(arguments)?.status.code(), Some(2), "{arguments:?}");
    }
    let missing = sandbox.wyren(&["import", "--claude-mem"])?;
    let message = String::from_utf8(missing.stderr)?;
    assert!(!missing.status.success() && message.contains("claude-mem.db"), "{message}");
    write_transcript(&sandbox, "one", 1, "please")?;
    let mut off = sandbox.command("wyren");
    let off = off.args(["import", "--transcripts"]).env("WYREN_CAPTURE", "false").output()?;
    assert_eq!(off.status.code(), Some(2), "{off:?}");
    assert!(exported(&sandbox)?.is_empty());
    Ok(())
}

/// Writes a session of Codex' that added a line to `a.rs`, below the folder that `CODEX_HOME` names.
fn write_rollout(sandbox: &Sandbox, secret: &str) -> Result<PathBuf> {
    let home = sandbox.folder().join("codex");
    let folder = home.join("sessions/2026/06/01");
    fs::create_dir_all(&folder)?;
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-fn old() {}\n+fn fresh() {}\n*** End Patch";
    let lines = [
        (
            "session_meta",
            json!({"id": "019f0000-0000-7000-8000-000000000001", "cwd": sandbox.project(), "source": "cli"}),
        ),
        (
            "response_item",
            json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>\n<shell>fish</shell>\n</environment_context>"}]}),
        ),
        ("event_msg", json!({"type": "task_started", "turn_id": "t1"})),
        (
            "event_msg",
            json!({"type": "user_message", "message": format!("rename old to fresh \u{1b}[31m{secret}")}),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_1", "input": patch}),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "Success."}),
        ),
        ("event_msg", json!({"type": "task_complete", "last_agent_message": "Renamed."})),
        ("event_msg", json!({"type": "task_started", "turn_id": "t2"})),
        ("event_msg", json!({"type": "user_message", "message": "<private>confidential</private>"})),
        ("event_msg", json!({"type": "task_complete", "last_agent_message": "confidential, too"})),
    ];
    let lines = lines.iter().enumerate().map(|(second, (kind, payload))| {
        json!({"timestamp": stamp(second as u64), "type": kind, "payload": payload}).to_string() + "\n"
    });
    let path = folder.join("rollout-2026-06-01T00-00-00-019f0000-0000-7000-8000-000000000001.jsonl");
    fs::write(&path, lines.collect::<String>())?;
    Ok(home)
}

/// `tests/data/agents/codex-recorded`: one session of Codex 0.169.0, as it told its hooks and as it wrote it down; long texts of its
/// own are cut.
#[test]
fn a_rollout_that_codex_wrote_equals_what_its_hooks_recorded() -> Result<()> {
    let (Some(hooked), Some(imported)) = (Sandbox::new()?, Sandbox::new()?) else { return Ok(()) };
    let recorded = data_folder().join("agents/codex-recorded");
    let import = |sandbox: &Sandbox| -> Result<Value> {
        let home = sandbox.folder().join("codex");
        let folder = home.join("sessions/2026/11/18");
        fs::create_dir_all(&folder)?;
        let name = "rollout-2026-11-18T21-01-40-01a1f077-1cf6-7a23-a858-6e74bd9144dc.jsonl";
        fs::write(folder.join(name), placed(&recorded.join("rollout.jsonl"), sandbox)?)?;
        let mut command = sandbox.command("wyren");
        command.args(["import", "--transcripts", "--agent", "codex", "--json"]);
        let output = feed(command.env("CODEX_HOME", &home).env("WYREN_WORKER_IDLE_SECONDS", "0"), b"")?;
        ensure!(output.status.success(), "{output:?}");
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    for call in placed(&recorded.join("hooks.jsonl"), &hooked)?.lines() {
        let event: Value = serde_json::from_str(call)?;
        let hook = match event["hook_event_name"].as_str() {
            Some("UserPromptSubmit") => "prompt-record",
            Some("PostToolUse") => "tool-record",
            Some("Stop") => "stop-summary",
            _ => continue,
        };
        let output = feed(hooked.command(hook).args(["--agent", "codex"]), call.as_bytes())?;
        ensure!(output.status.success(), "{hook}: {output:?}");
    }
    let told = |sandbox: &Sandbox| -> Result<Vec<Value>> {
        let is_of_turn =
            |line: &Value| ["prompt", "tool", "turn-end"].iter().any(|kind| line["type"] == *kind);
        // The end of a turn has an id of its own where a hook told it.
        let of = |line: Value| {
            let id = if line["type"] == "turn-end" { Value::Null } else { line["id"].clone() };
            json!([
                line["type"],
                id,
                line["prompt_id"],
                line["tool"],
                line["input"],
                line["text"],
                line["data"]["text"]
            ])
        };
        let mut told: Vec<Value> = exported(sandbox)?.into_iter().filter(is_of_turn).map(of).collect();
        // What happened in one millisecond has no order.
        told.sort_by_key(Value::to_string);
        Ok(told)
    };
    let by_hooks = told(&hooked)?;
    assert_eq!(by_hooks.len(), 6, "{by_hooks:#?}");
    assert_eq!(import(&hooked)?["stored"], 0, "nothing comes twice");
    assert_eq!(told(&hooked)?, by_hooks);
    assert_eq!(import(&imported)?["stored"], 6);
    assert_eq!(told(&imported)?, by_hooks);
    // Codex tells its hooks what a command printed, and not how it ended.
    let failed = |sandbox: &Sandbox| -> Result<usize> {
        Ok(exported(sandbox)?.iter().filter(|line| line["failed"] == true).count())
    };
    assert_eq!((failed(&hooked)?, failed(&imported)?), (0, 1));
    let status = exported(&hooked)?.into_iter().filter(|line| line["output"]["status"] == "unknown").count();
    assert_eq!(status, 3);
    settle(&hooked)?;
    settle(&imported)
}

/// Returns a recorded file with the sandbox's project in place of the one that it was recorded in.
fn placed(file: &Path, sandbox: &Sandbox) -> Result<String> {
    Ok(fs::read_to_string(file)?.replace("/home/dev/app", &sandbox.project().to_string_lossy()))
}

#[test]
fn sessions_of_codex_and_cursor_are_in_the_journal_and_answer_why() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let home = write_rollout(&sandbox, &key)?;
    let codex = |more: &[&str]| -> Result<Value> {
        let mut command = sandbox.command("wyren");
        command.args(["import", "--transcripts", "--agent", "codex", "--json"]).args(more);
        let output = feed(command.env("CODEX_HOME", &home).env("WYREN_WORKER_IDLE_SECONDS", "0"), b"")?;
        ensure!(output.status.success(), "{output:?}");
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    assert_eq!(codex(&["--dry-run"])?["stored"], 3);
    let first = codex(&[])?;
    assert_eq!(
        (&first["stored"], &first["private"], &first["unplaced"]),
        (&json!(3), &json!(1), &json!(0)),
        "{first:#}"
    );
    settle(&sandbox)?;
    assert_eq!(codex(&[])?["unchanged"], 1);
    for hidden in ["confidential", &key, "environment_context"] {
        assert_eq!(files_with(&sandbox.data(), hidden)?, Vec::<PathBuf>::new(), "{hidden}");
    }
    fs::write(sandbox.project().join("a.rs"), "fn fresh() {}\n")?;
    let why = run(&sandbox, &["why", "a.rs:1"])?;
    assert!(why.contains("rename old to fresh") && !why.contains('\u{1b}'), "{why:?}");
    let recap = run(&sandbox, &["recap", "--since", "2026-11-15"])?;
    assert!(recap.contains("a.rs") && recap.contains("fresh") && !recap.contains("\u{1b}[31m"), "{recap:?}");

    let folder = sandbox.folder().join("home/.cursor/projects/some-name/agent-transcripts");
    fs::create_dir_all(&folder)?;
    let note = json!({"workspacePath": sandbox.project()}).to_string();
    fs::write(sandbox.folder().join("home/.cursor/projects/some-name/.workspace-trusted"), note)?;
    let typed = json!({"role": "user", "message": {"content": "<user_query>paint it green</user_query>"}});
    let answer = json!({"role": "assistant", "message": {"content": "It is green."}});
    fs::write(folder.join("c1.jsonl"), format!("{typed}\n{answer}\n"))?;
    let output = run(&sandbox, &["import", "--transcripts", "--agent", "cursor"])?;
    assert!(output.starts_with("Imported 2 observations of 1 session"), "{output}");
    let other = sandbox.wyren(&["import", "--transcripts", "--agent", "emacs"])?;
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    let message = String::from_utf8(other.stderr)?;
    assert!(message.contains("claude, codex, cursor"), "{message}");
    settle(&sandbox)
}
