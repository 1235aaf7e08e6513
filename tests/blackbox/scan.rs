//! Scans for lessons: `session-start-scan` asks for one, the worker and `wyren lessons scan` do it.

use crate::worker::wait_for;
use anyhow::{Context as _, Result, ensure};
use fixture::conversation::{self, Where};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;
use wyren_tests::sandbox::Sandbox;

const JOBS: &str = "> build\n$ git status\n$ cargo build --jobs-max 4\n! error: unexpected argument '--jobs-max' found\n$ cargo build --jobs 4\n= Finished\n$ cargo test\n= ok\n";

fn start(sandbox: &Sandbox, source: &str) -> Result<Output> {
    start_with(sandbox, source, &[])
}

fn start_with(sandbox: &Sandbox, source: &str, variables: &[(&str, &str)]) -> Result<Output> {
    let payload = json!({
        "session_id": "720ff4aa", "transcript_path": "/nowhere.jsonl", "cwd": sandbox.project(),
        "hook_event_name": "SessionStart", "source": source,
    });
    let mut command = sandbox.command("session-start-scan");
    // A worker without work ends at once.
    command.env("WYREN_WORKER_IDLE_SECONDS", "0").envs(variables.iter().copied());
    wyren_tests::sandbox::feed(&mut command, payload.to_string().as_bytes())
}

fn requests(sandbox: &Sandbox) -> usize {
    let entries = fs::read_dir(sandbox.data().join("jobs")).map(|entries| entries.flatten().count());
    entries.unwrap_or_default()
}

fn has_asked(sandbox: &Sandbox) -> Result<bool> {
    let listed = sandbox.wyren(&["jobs", "--all", "--json"])?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let jobs = listed["jobs"].as_array().context("no list")?;
    Ok(jobs.iter().any(|job| job["kind"] == "scan"))
}

fn say(sandbox: &Sandbox, session: &str, text: &str) -> Result<String> {
    let folder = sandbox.folder().join("transcripts/p");
    fs::create_dir_all(&folder)?;
    let cwd = sandbox.project().to_string_lossy().into_owned();
    let place = Where { session, cwd: &cwd, minute: 600 };
    fs::write(folder.join(format!("{session}.jsonl")), conversation::transcript(text, place))?;
    Ok(sandbox.folder().join("transcripts").to_string_lossy().into_owned())
}

#[test]
fn a_start_asks_for_a_scan_when_the_last_one_is_a_day_old() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let output = start(&sandbox, "startup")?;
    assert!(output.status.success() && output.stdout.is_empty());
    wait_for("a job", || has_asked(&sandbox))?;
    let stamp = sandbox.data().join("cache/lessons/scanned");
    wait_for("its end", || Ok(stamp.exists()))?;
    wait_for("no process", || Ok(sandbox.processes().is_empty()))?;

    let before = requests(&sandbox);
    start(&sandbox, "startup")?;
    assert_eq!(requests(&sandbox), before, "not due");
    assert!(sandbox.processes().is_empty());
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3_600);
    fs::File::options().write(true).open(&stamp)?.set_modified(long_ago)?;
    start_with(&sandbox, "startup", &[("LESSONS_AUTO_SCAN_INTERVAL_HOURS", "48")])?;
    assert_eq!(requests(&sandbox), before, "not due by the setting");
    // The worker was started a moment ago, so the request waits for the next one.
    start(&sandbox, "startup")?;
    assert_eq!(requests(&sandbox), before + 1, "due");
    Ok(())
}

#[test]
fn only_a_new_session_asks_and_none_where_nothing_is_recorded() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for source in ["resume", "clear", "compact"] {
        start(&sandbox, source)?;
    }
    start_with(&sandbox, "startup", &[("WYREN_CAPTURE", "false")])?;
    assert_eq!(requests(&sandbox), 0);
    assert!(!has_asked(&sandbox)?);
    Ok(())
}

#[test]
fn a_scan_finds_a_lesson_that_is_put_to_work_with_one_command() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = say(&sandbox, "one", JOBS)?;
    let scan = |flags: &[&str]| -> Result<Value> {
        let mut arguments = vec!["lessons", "scan", "--json", "--path", &folder];
        arguments.extend(flags);
        let output = sandbox.wyren(&arguments)?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let trial = scan(&["--dry-run"])?;
    assert_eq!(trial["found"][0]["commands"][0], "cargo build --jobs-max");
    assert_eq!(trial["new"], json!([]));
    let found = scan(&[])?;
    let slug = found["new"][0].as_str().context("nothing new")?.to_owned();
    let listed = sandbox.wyren(&["lessons", "review", "--json"])?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let evidence = |name: &str| -> Option<String> {
        let all = listed["candidates"][0]["evidence"].as_array()?;
        Some(all.iter().find(|fact| fact["name"] == name)?["value"].as_str()?.to_owned())
    };
    assert_eq!(evidence("failed").as_deref(), Some("cargo build --jobs-max 4"), "{listed:#}");
    assert_eq!(evidence("fixed").as_deref(), Some("cargo build --jobs 4"));
    assert_eq!(evidence("seen").as_deref(), Some("1 session in 1 project, last on 2026-11-16"));
    assert_eq!(scan(&[])?["read"], 0);
    assert_eq!(scan(&["--full"])?["new"], json!([]));
    let enabled = sandbox.wyren(&["lessons", "enable", &slug])?;
    ensure!(enabled.status.success(), "{}", String::from_utf8_lossy(&enabled.stderr));
    let tested = sandbox.wyren(&["lessons", "test", "cargo build --jobs-max 8"])?;
    assert!(String::from_utf8_lossy(&tested.stdout).contains(&slug));
    Ok(())
}

#[test]
fn what_is_forgotten_leaves_no_candidate() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = say(&sandbox, "one", JOBS)?;
    sandbox.wyren(&["lessons", "scan", "--path", &folder])?;
    let candidates =
        || fs::read_dir(sandbox.data().join("lessons/candidates")).map(|it| it.count()).unwrap_or(0);
    assert_eq!(candidates(), 1);
    let mut forget = sandbox.command("wyren");
    forget.args(["forget", "--session", "one", "--yes"]);
    let forgotten = forget.output()?;
    ensure!(forgotten.status.success(), "{}", String::from_utf8_lossy(&forgotten.stderr));
    assert_eq!(candidates(), 0);
    Ok(())
}

#[test]
fn private_prompts_leave_nothing_of_their_calls() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = say(&sandbox, "one", &JOBS.replace("> build", "> <private>build</private>"))?;
    sandbox.wyren(&["lessons", "scan", "--path", &folder])?;
    for (path, (_, bytes)) in wyren_tests::tree::tree(&sandbox.data())? {
        assert!(!bytes.windows(8).any(|part| part == b"jobs-max"), "{}", path.display());
    }
    Ok(())
}

#[test]
fn a_model_words_a_candidate_only_where_the_user_wants_that_and_gives_a_good_answer() -> Result<()> {
    let answer = json!({
        "summary": "cargo build knows no --jobs-max", "problem": "cargo build stops at once, since --jobs-max is no flag of it.",
        "solution": "Limit the number of parallel jobs with `cargo build --jobs 4`; the short form is `-j 4`.",
    });
    let good = json!({"do": "answer", "answer": answer, "input": 300, "output": 80, "cost_usd": 0.001});
    let short = json!({"do": "answer", "answer": {"summary": "x", "problem": "y", "solution": "z"}});
    let lie = json!({"do": "lie", "text": "no JSON"});
    for (setting, line, is_worded, is_asked) in [
        ("on", &good, true, true),
        ("on", &short, false, true),
        ("on", &lie, false, true),
        ("off", &good, false, false),
    ] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let folder = say(&sandbox, "one", JOBS)?;
        let script = sandbox.folder().join("script");
        fs::write(&script, format!("{line}\n"))?;
        let set = sandbox.wyren(&["config", "set", "lessons.model", setting])?;
        ensure!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
        let mut scan = sandbox.command("wyren");
        scan.args(["lessons", "scan", "--json", "--path", &folder]).env("WYREN_MODEL_SCRIPT", &script);
        let output = scan.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let slug = report["new"][0].as_str().context("nothing new")?;
        assert_eq!(report["worded"].as_array().map(Vec::len), Some(usize::from(is_worded)), "{line}");
        assert_eq!(script.with_added_extension("position").exists(), is_asked, "{setting}: {line}");
        let text = fs::read_to_string(sandbox.data().join(format!("lessons/candidates/{slug}.md")))?;
        assert_eq!(text.contains("summary: cargo build knows no --jobs-max"), is_worded, "{text}");
        // What it is about is not the model's.
        assert!(
            text.contains("command: cargo build --jobs-max") && text.contains("quiet: cargo test"),
            "{text}"
        );
        let spent = String::from_utf8_lossy(&sandbox.wyren(&["spend", "--json"])?.stdout).into_owned();
        assert_eq!(spent.contains("lessons"), is_asked, "{spent}");
    }
    Ok(())
}

#[test]
fn a_fact_about_a_project_is_proposed_for_its_memory_and_not_written() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let report = "> where?\n$ ls\n= src\n< #lesson\n  problem: Prices are in data/prices.csv, not in the database.\n  solution: Change the file, then run the importer.\n  scope: project\n  #/lesson\n";
    let folder = say(&sandbox, "one", report)?;
    let memory = sandbox.project().join(".wyren/memory.md");
    fs::create_dir_all(sandbox.project().join(".wyren"))?;
    fs::write(&memory, "# Memory\n")?;
    let review = |flag: &str| -> Result<String> {
        let mut wyren = sandbox.command("wyren");
        let output = wyren.args(["lessons", "review", flag]).current_dir(sandbox.project()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    sandbox.wyren(&["lessons", "scan", "--path", &folder])?;
    assert_eq!(fs::read_to_string(&memory)?, "# Memory\n");
    let facts = |text: &str| -> Result<Value> { Ok(serde_json::from_str::<Value>(text)?["facts"].clone()) };
    let fact = "Prices are in data/prices.csv, not in the database. Change the file, then run the importer";
    assert_eq!(facts(&review("--json")?)?, json!([fact]));
    fs::write(&memory, format!("# Memory\n\n## Facts\n- {fact}\n"))?;
    assert_eq!(facts(&review("--json")?)?, json!([]));
    sandbox.wyren(&["forget", "--session", "one", "--yes"])?;
    fs::write(&memory, "# Memory\n")?;
    assert_eq!(facts(&review("--json")?)?, json!([]));
    Ok(())
}

#[test]
fn nothing_is_scanned_while_recording_is_off() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = say(&sandbox, "5e55-off", JOBS)?;
    let mut command = sandbox.command("wyren");
    command.args(["lessons", "scan", "--path", &folder]).env("WYREN_CAPTURE", "false");
    let output = command.output()?;
    ensure!(output.status.code() == Some(2), "{output:?}");
    ensure!(String::from_utf8_lossy(&output.stderr).contains("recording is off"), "{output:?}");
    // What it did not look at is still new.
    let output = sandbox.wyren(&["lessons", "scan", "--path", &folder])?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains("1 new candidate"), "{output:?}");
    Ok(())
}
