//! What the journal knows about a file, from a drain to a Read: through the built programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::{export, files_with, prompt, wyren};

/// The moment of every entry: 16 November 2026.
const AT: u64 = 1_794_787_200_000;

/// How long a program may take to come to a place.
const PATIENCE: Duration = Duration::from_secs(20);

/// Has the spool hold an entry about files, as an import or `wyren remember` records it.
pub(crate) fn record_entry(data: &Path, cwd: &Path, id: &str, title: &str, files: &[&str]) -> Result<()> {
    let line = json!({
        "v": 2, "kind": "entry", "id": id, "ts": AT, "session": "earlier", "cwd": cwd,
        "data": {"type": "change", "title": title, "files_modified": files, "source": "by-hand"},
    });
    let folder = data.join("spool/earlier");
    fs::create_dir_all(&folder)?;
    let file = folder.join("2026-11-16T00.jsonl");
    let before = fs::read_to_string(&file).unwrap_or_default();
    Ok(fs::write(file, format!("{before}{line}\n"))?)
}

/// Returns what the model gets at a Read of a file.
fn read(sandbox: &Sandbox, session: &str, file: &str) -> Result<String> {
    read_in(sandbox, &sandbox.project(), session, file)
}

fn read_in(sandbox: &Sandbox, cwd: &Path, session: &str, file: &str) -> Result<String> {
    let call = json!({
        "session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": cwd.join(file)}, "tool_use_id": "toolu_1",
    });
    let output = feed(&mut sandbox.command("file-recall"), call.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let specific = &answer["hookSpecificOutput"];
    ensure!(specific["permissionDecision"].is_null(), "{answer}");
    Ok(specific["additionalContext"].as_str().unwrap_or_default().to_owned())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

#[test]
fn line_23_the_story_of_a_file_appears_once_per_file_and_session() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:1", "verify_token checks expiry", &["src/auth.rs"])?;
    record_entry(&sandbox.data(), &sandbox.project(), "n:2", "Prices are cents", &["b.rs"])?;
    assert_eq!(read(&sandbox, "s", "src/auth.rs")?, "", "not drained yet");
    export(&sandbox, &[])?;
    let text = read(&sandbox, "s", "src/auth.rs")?;
    assert!(text.contains("2026-11-16 ✓ verify_token checks expiry ("), "{text}");
    assert!(text.contains("complete and current") && text.chars().count() <= 1_500, "{text}");
    for _ in 0..3 {
        assert_eq!(read(&sandbox, "s", "src/auth.rs")?, "");
    }
    assert!(read(&sandbox, "s", "b.rs")?.contains("Prices are cents"));
    assert_eq!(read(&sandbox, "s", "c.rs")?, "");
    let start = json!({"session_id": "s", "cwd": sandbox.project(), "hook_event_name": "SessionStart", "source": "compact"});
    sandbox.run("session-start-reset", start.to_string().as_bytes())?;
    assert!(read(&sandbox, "s", "src/auth.rs")?.contains("verify_token"), "the window is another one");
    assert_eq!(wyren(&sandbox, &["log", "--told", "--json"])?.matches("file-recall").count(), 3);
    Ok(())
}

#[test]
fn linked_work_trees_share_the_story_and_a_repository_of_the_same_name_does_not() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (project, linked, other): (PathBuf, PathBuf, PathBuf) =
        (sandbox.project(), sandbox.folder().join("linked"), sandbox.folder().join("elsewhere/project"));
    fs::create_dir_all(&other)?;
    for folder in [&project, &other] {
        git(folder, &["init", "-q", "-b", "main"])?;
        git(folder, &["commit", "-q", "--allow-empty", "-m", "first"])?;
    }
    git(&project, &["worktree", "add", "-q", "--detach", &linked.display().to_string()])?;
    record_entry(&sandbox.data(), &project, "n:1", "verify_token checks expiry", &["a.rs"])?;
    // A session was in each of them.
    for (session, cwd) in [("linked", &linked), ("other", &other)] {
        let call = json!({
            "session_id": session, "cwd": cwd, "prompt_id": "1", "prompt": "go", "hook_event_name": "UserPromptSubmit",
        });
        sandbox.run("prompt-record", call.to_string().as_bytes())?;
    }
    export(&sandbox, &[])?;
    assert!(read_in(&sandbox, &project, "s", "a.rs")?.contains("verify_token"));
    assert!(read_in(&sandbox, &linked, "t", "a.rs")?.contains("verify_token"));
    assert_eq!(read_in(&sandbox, &other, "u", "a.rs")?, "");
    assert!(!project.join(".wyren").exists());
    Ok(())
}

#[test]
fn what_is_forgotten_is_in_no_cache_and_the_rest_is() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:1", "about the ACME-MERGER", &["a.rs"])?;
    record_entry(&sandbox.data(), &sandbox.project(), "n:2", "Prices are cents", &["a.rs"])?;
    export(&sandbox, &[])?;
    assert!(!files_with(&sandbox.data().join("cache/recall"), "ACME-MERGER")?.is_empty());
    wyren(&sandbox, &["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    let text = read(&sandbox, "s", "a.rs")?;
    assert!(text.contains("Prices are cents") && !text.contains("MERGER"), "{text}");
    Ok(())
}

#[test]
fn forgetting_that_is_killed_between_the_caches_and_the_database_leaves_no_cache_and_can_be_repeated()
-> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:1", "about the ACME-MERGER", &["a.rs"])?;
    record_entry(&sandbox.data(), &sandbox.project(), "n:2", "Prices are cents", &["a.rs"])?;
    export(&sandbox, &[])?;
    let caches = sandbox.data().join("cache/recall");
    assert!(!files_with(&caches, "ACME-MERGER")?.is_empty());
    // While this transaction is open, forgetting waits: the caches are gone then, and the rows are not.
    let database = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
    database.execute_batch("BEGIN IMMEDIATE")?;
    let mut forget = sandbox.command("wyren");
    forget.args(["forget", "--query", "acme-merger", "--yes"]).stdin(Stdio::null());
    let mut forget = forget.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let end = Instant::now() + PATIENCE;
    while !files_with(&caches, "cents")?.is_empty() {
        ensure!(Instant::now() < end && forget.try_wait()?.is_none(), "the caches are still there");
        thread::sleep(Duration::from_millis(5));
    }
    forget.kill()?;
    forget.wait()?;
    database.execute_batch("ROLLBACK")?;
    assert_eq!(files_with(&caches, "ACME-MERGER")?, Vec::<PathBuf>::new());
    assert_eq!(read(&sandbox, "killed", "a.rs")?, "", "no cache, no story");
    // Nothing was forgotten yet: the next drain has both again, and no lock is left behind.
    export(&sandbox, &[])?;
    assert!(read(&sandbox, "drained", "a.rs")?.contains("ACME-MERGER"));
    wyren(&sandbox, &["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    let text = read(&sandbox, "repeated", "a.rs")?;
    assert!(text.contains("Prices are cents") && !text.contains("MERGER"), "{text}");
    Ok(())
}

#[test]
fn no_cache_has_what_the_database_has_forgotten_whenever_forgetting_is_killed() -> Result<()> {
    const KILLS: u32 = 12;
    // On a busy machine one run may take much longer than another.
    const MOST: u32 = 60;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:0", "Prices are cents", &["a.rs"])?;
    let mut usual = Duration::ZERO;
    let mut was_forgotten = [false; 2];
    for number in 0..=MOST {
        if number > KILLS && was_forgotten == [true; 2] {
            break;
        }
        let word = format!("MERGER-{number:02}");
        record_entry(&sandbox.data(), &sandbox.project(), &format!("n:{word}"), &word, &["a.rs"])?;
        export(&sandbox, &[])?;
        let mut forget = sandbox.command("wyren");
        forget.args(["forget", "--query", &word, "--yes"]).stdin(Stdio::null());
        let began = Instant::now();
        let mut forget = forget.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        if number > 0 {
            thread::sleep(usual * (number - 1) / KILLS);
            let _ = forget.kill();
        }
        forget.wait()?;
        usual = if number == 0 { began.elapsed() } else { usual };
        let database = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
        let count: u32 =
            database.query_row("SELECT count(*) FROM entries WHERE title = ?1", [&word], |row| row.get(0))?;
        if number > 0 {
            was_forgotten[usize::from(count == 0)] = true;
        }
        if count == 0 {
            assert_eq!(files_with(&sandbox.data().join("cache"), &word)?, Vec::<PathBuf>::new());
        }
        wyren(&sandbox, &["forget", "--query", &word, "--yes"])?;
        assert_eq!(files_with(&sandbox.data(), &word)?, Vec::<PathBuf>::new());
        assert!(read(&sandbox, &word, "a.rs")?.contains("Prices are cents"), "{word}");
    }
    assert_eq!(was_forgotten, [true; 2], "no kill came before, or none after the database had forgotten");
    Ok(())
}

#[test]
fn a_private_prompt_hides_the_story_and_leaves_no_trace_in_a_cache() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:1", "Prices are cents", &["a.rs"])?;
    prompt(&sandbox, "s", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    export(&sandbox, &[])?;
    assert_eq!(read(&sandbox, "s", "a.rs")?, "");
    assert!(files_with(&sandbox.data(), "PRIVATE-PROMPT-WORD")?.is_empty());
    prompt(&sandbox, "s", "2", "now openly")?;
    assert!(read(&sandbox, "s", "a.rs")?.contains("Prices are cents"));
    Ok(())
}

#[test]
fn a_prompt_that_names_a_file_brings_its_story_only_where_the_user_wants_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    record_entry(&sandbox.data(), &sandbox.project(), "n:1", "Prices are cents", &["src/prices.rs"])?;
    export(&sandbox, &[])?;
    let ask = || -> Result<String> {
        let call = json!({
            "session_id": "s", "cwd": sandbox.project(), "prompt": "what happened to prices.rs before?",
            "hook_event_name": "UserPromptSubmit",
        });
        let output = sandbox.run("prompt-sync", call.to_string().as_bytes())?;
        Ok(String::from_utf8(output.stdout)?)
    };
    assert_eq!(ask()?, "");
    wyren(&sandbox, &["config", "set", "recall.prompts", "true"])?;
    let text = ask()?;
    assert!(text.contains("2026-11-16 ✓ Prices are cents ("), "{text}");
    assert_eq!(ask()?, "");
    Ok(())
}
