//! Forgotten and private mean it: in every file, in every script, in every form that people type.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use wyren_tests::sandbox::{Sandbox, feed};

use crate::engine::{export, files_with, prompt, shell, wyren};

#[test]
fn after_forgetting_a_text_no_file_of_the_data_folder_has_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let data = sandbox.data();
    prompt(&sandbox, "s", "1", "about the ACME-MERGER")?;
    shell(&sandbox, "s", "toolu_1", "grep ACME-MERGER notes", "ACME-MERGER in June")?;
    shell(&sandbox, "s", "toolu_2", "date", "Monday")?;
    // Tables of the journal, and what is written beside them.
    let remembered = wyren(
        &sandbox,
        &["remember", "--json", "--file", "ACME-MERGER.md", "ACME-MERGER\nis the ACME-MERGER"],
    )?;
    let remembered: serde_json::Value = serde_json::from_str(&remembered)?;
    let entry = remembered["id"].as_str().unwrap_or_default();
    wyren(&sandbox, &["edit", entry, "--title", "the ACME-MERGER, edited"])?;
    let summary = json!({"v": 2, "type": "summary", "session": "s", "id": "m:1", "ts": "2026-11-16T02:26:41.123Z", "cwd": sandbox.project(), "data": {"request": "ACME-MERGER", "files_read": ["ACME-MERGER"], "source": "claude-mem"}});
    feed(sandbox.command("wyren").args(["import", "-"]), summary.to_string().as_bytes())?;
    ensure!(wyren(&sandbox, &["search", "merger"])?.contains("ACME-MERGER"), "else the index shows nothing");
    fs::create_dir_all(data.join("cache/drafts"))?;
    fs::write(data.join(format!("cache/drafts/entry-{entry}.md")), "title: ACME-MERGER")?;
    export(&sandbox, &[])?;
    // What earlier versions logged, and what an error may quote.
    let logged = json!({"ts": "2026-11-16T02:26:41.123Z", "level": "info", "hook": "lesson-inject", "data": {"text": "ACME-MERGER"}});
    let kept =
        json!({"ts": "2026-11-16T02:26:42.123Z", "level": "info", "hook": "lesson-inject", "msg": "kept"});
    for name in ["hooks.jsonl", "hooks.1.jsonl", "worker.jsonl", "worker.1.jsonl"] {
        let mut log = fs::OpenOptions::new().create(true).append(true).open(data.join("logs").join(name))?;
        writeln!(log, "{logged}\n{kept}\nACME-MERGER cut sh")?;
    }
    fs::create_dir_all(data.join("jobs"))?;
    let request = json!({"v": 1, "kind": "distill", "payload": {"session": "s", "transcript": "/ACME-MERGER.jsonl", "cwd": "/x"}});
    for name in ["1794796001123-00000000000000aa.json", "1794796001123-00000000000000ab.bad"] {
        fs::write(data.join("jobs").join(name), request.to_string())?;
    }
    fs::write(
        data.join("jobs/1794796001123-00000000000000ac.json"),
        json!({"v": 1, "kind": "drain"}).to_string(),
    )?;
    fs::create_dir_all(data.join("cache/long-answers"))?;
    fs::write(data.join("cache/long-answers/prompt-sync-1.txt"), "ACME-MERGER")?;
    fs::create_dir_all(data.join("cache/notices"))?;
    let notice = json!({"v": 1, "text": "Grace decided: the ACME-MERGER is off", "count": 1});
    fs::write(data.join("cache/notices/0123456789abcdef-entries"), notice.to_string())?;
    fs::write(data.join("cache/notices/all-jobs"), json!({"v": 1, "text": "1 job"}).to_string())?;
    let job = json!({"session": "t", "transcript": "/ACME-MERGER.jsonl", "cwd": "/"}).to_string();
    let added = feed(
        sandbox.command("wyren").args(["jobs", "add", "probe", &job]).env("WYREN_MODEL_PROVIDER", "off"),
        b"",
    )?;
    ensure!(added.status.success(), "{added:?}");
    wyren(&sandbox, &["worker", "stop"])?;

    wyren(&sandbox, &["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(files_with(&data, "ACME-MERGER")?, Vec::<PathBuf>::new());
    let terms = crate::search::terms(&data)?;
    // A shipped lesson names `acme.sh`, and may be in the index again by now.
    let is_of_text = |term: &&String| term.contains("merger") || term.contains("acme") && *term != "acmesh";
    assert_eq!(terms.iter().filter(is_of_text).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(sandbox.wyren(&["show", entry])?.status.code(), Some(1));
    let database = rusqlite::Connection::open(data.join("wyren.db"))?;
    let changes: i64 = database.query_row("SELECT count(*) FROM amends", [], |row| row.get(0))?;
    assert_eq!(changes, 0);
    drop(database);
    assert!(data.join("cache/notices/all-jobs").exists());
    for name in ["hooks.jsonl", "hooks.1.jsonl", "worker.jsonl", "worker.1.jsonl"] {
        let log = fs::read_to_string(data.join("logs").join(name))?;
        assert!(log.contains("\"kept\""), "{name}: {log}");
    }
    assert_eq!(
        export(&sandbox, &[])?.iter().filter_map(|line| line["id"].as_str()).collect::<Vec<_>>(),
        ["t:toolu_2"]
    );
    ensure!(sandbox.wyren(&["log", "--hooks"])?.status.success(), "the log is readable");
    Ok(())
}

#[test]
fn a_damaged_database_that_was_put_aside_is_named_and_deleted_on_request() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "about the ACME-MERGER")?;
    export(&sandbox, &[])?;
    let aside = sandbox.data().join("wyren.db.damaged-20261116T101937.577Z");
    fs::write(&aside, "ACME-MERGER")?;
    fs::write(sandbox.data().join("wyren.db.damaged-20261116T101937.577Z-wal"), "ACME-MERGER")?;
    let forgot = sandbox.wyren(&["forget", "--query", "acme-merger", "--yes"])?;
    let said = String::from_utf8(forgot.stderr)?;
    assert!(said.contains("wyren.db.damaged-") && said.contains("--damaged"), "{said}");
    assert!(aside.exists(), "it may hold what the repair could not save");
    wyren(&sandbox, &["forget", "--query", "acme-merger", "--damaged", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    Ok(())
}

/// Records `text` in a call whose payload is written as it is given, and says whether `query` finds it.
fn is_forgotten(recorded: &str, query: &str) -> Result<Option<bool>> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
    let input = format!(
        r#"{{"session_id":"s","cwd":{:?},"tool_name":"Bash","tool_use_id":"q","tool_input":{{"command":"echo {recorded}"}},"tool_response":{{"stdout":"","stderr":""}},"hook_event_name":"PostToolUse"}}"#,
        sandbox.project()
    );
    sandbox.run("tool-record", input.as_bytes())?;
    shell(&sandbox, "s", "other", "ls", "a")?;
    wyren(&sandbox, &["forget", "--query", query, "--yes"])?;
    let left: Vec<String> =
        export(&sandbox, &[])?.iter().filter_map(|line| Some(line["id"].as_str()?.to_owned())).collect();
    ensure!(left.contains(&"t:other".to_owned()), "{query:?} took everything: {left:?}");
    Ok(Some(!left.contains(&"t:q".to_owned())))
}

#[test]
fn a_text_is_found_in_any_script_whatever_its_case_and_form() -> Result<()> {
    for (recorded, query) in [
        (r"in der stra\u00dfe", "Straße"),
        ("in der Straße", "STRASSE"),
        ("in der STRASSE", "straße"),
        ("in der STRAẞE", "straße"),
        (r"\u65e5\u672c", "日本"),
        ("日本語", "日本"),
        (r"\u00e9clair", "éclair"),
        ("E\u{301}CLAIR", "éclair"),
        ("\u{e9}clair", "e\u{301}clair"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("ΟΔΟΣ", "οδος"),
        ("οδοσ", "ΟΔΟΣ"),
        ("οδος", "οδοσ"),
        ("İSTANBUL", "istanbul"),
        ("DIYARBAKIR", "dıyarbakır"),
        ("МОСКВА", "москва"),
        (r"\ud83d\ude00 smile", "😀 Smile"),
        ("\u{ff21}\u{ff23}\u{ff2d}\u{ff25}", "acme"),
        (r#"{\"who\":\"stra\\u00dfe\"}"#, "Straße"),
        ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
    ] {
        if let Some(is_forgotten) = is_forgotten(recorded, query)? {
            assert!(is_forgotten, "{query:?} does not find {recorded:?}");
        }
    }
    for (recorded, query) in [("café", "cafe"), ("resume", "résumé"), ("日本", "日木")] {
        if let Some(is_forgotten) = is_forgotten(recorded, query)? {
            assert!(!is_forgotten, "{query:?} is not {recorded:?}");
        }
    }
    Ok(())
}

/// The forms in which people mark a text as private.
const WHOLLY_PRIVATE: [&str; 16] = [
    "<private>HIDDEN-WORD</private>",
    "< private>HIDDEN-WORD</private>",
    "<private >HIDDEN-WORD</ private>",
    "<PRIVATE>HIDDEN-WORD</PRIVATE>",
    "< private >HIDDEN-WORD< /private >",
    "<private/>HIDDEN-WORD",
    "<private />HIDDEN-WORD",
    "\u{ff1c}private\u{ff1e}HIDDEN-WORD\u{ff1c}/private\u{ff1e}",
    "\u{ff1c}\u{ff50}\u{ff52}\u{ff49}\u{ff56}\u{ff41}\u{ff54}\u{ff45}\u{ff1e}HIDDEN-WORD\u{ff1c}\u{ff0f}private\u{ff1e}",
    "&lt;private&gt;HIDDEN-WORD&lt;/private&gt;",
    "&#60;private&#62;HIDDEN-WORD&#x3C;/private&#x3e;",
    "HIDDEN-WORD</private>",
    "<private><private>HIDDEN-WORD</private>HIDDEN-WORD</private>",
    "<private reason=\"a > b\">HIDDEN-WORD</private>",
    r"\<private\>HIDDEN-WORD\</private\>",
    "<private>HIDDEN-WORD",
];

#[test]
fn a_prompt_that_is_private_in_any_form_hides_itself_and_the_calls_under_it() -> Result<()> {
    for form in WHOLLY_PRIVATE {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        prompt(&sandbox, "s", "1", form)?;
        shell(&sandbox, "s", "toolu_1", "echo CALL-WORD", "OUTPUT-WORD")?;
        for text in ["HIDDEN-WORD", "CALL-WORD", "OUTPUT-WORD"] {
            assert_eq!(files_with(sandbox.folder(), text)?, Vec::<PathBuf>::new(), "{form}: {text}");
        }
    }
    Ok(())
}

#[test]
fn commands_that_run_at_the_same_moment_wait_for_each_other() -> Result<()> {
    const ROUNDS: usize = 3;
    for round in 0..ROUNDS {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        for number in 0..20 {
            let text = if number % 2 == 0 { "about the ACME-MERGER" } else { "about the weather" };
            prompt(&sandbox, "s", &number.to_string(), text)?;
        }
        let start = |arguments: &[&str]| {
            let mut command = sandbox.command("wyren");
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let mut running = Vec::new();
        for number in 0..6 {
            running.push(start(&["export"])?);
            if number == 2 {
                running.push(start(&["forget", "--query", "acme-merger", "--yes"])?);
            }
        }
        for process in running {
            let output = process.wait_with_output()?;
            assert_eq!(output.status.code(), Some(0), "round {round}: {output:?}");
        }
        assert_eq!(export(&sandbox, &[])?.len(), 11);
        assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    }
    Ok(())
}

#[test]
fn an_export_that_waits_for_its_reader_keeps_nothing_from_being_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for number in 0..30 {
        let text = format!("weather {}", "words ".repeat(2_000));
        prompt(&sandbox, "a", &number.to_string(), &text)?;
    }
    prompt(&sandbox, "b", "b", "about the ACME-MERGER")?;
    export(&sandbox, &[])?;
    // A pager that reads nothing yet: the pipe is full long before the end.
    let pager = sandbox.command("wyren").arg("export").stdout(Stdio::piped()).spawn()?;
    let began = Instant::now();
    crate::worker::wait_for("a full pipe", || Ok(began.elapsed() > Duration::from_millis(500)))?;
    let forgot = sandbox.wyren(&["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(forgot.status.code(), Some(0), "{forgot:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    let exported = pager.wait_with_output()?;
    assert!(exported.status.success());
    assert!(!String::from_utf8(exported.stdout)?.contains("ACME-MERGER"));
    Ok(())
}

#[test]
fn a_program_that_holds_old_contents_fails_the_command_and_keeps_no_other_waiting() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    prompt(&sandbox, "s", "1", "about the ACME-MERGER")?;
    prompt(&sandbox, "s", "2", "about the weather")?;
    export(&sandbox, &[])?;
    let reader = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
    reader.execute_batch("BEGIN")?;
    let rows: i64 = reader.query_row("SELECT count(*) FROM observations", [], |row| row.get(0))?;
    assert_eq!(rows, 2);
    let forget = sandbox
        .command("wyren")
        .args(["forget", "--query", "acme-merger", "--yes"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    crate::worker::wait_for("the rows are deleted", || {
        let other = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
        let left = other.query_row("SELECT count(*) FROM observations", [], |row| row.get::<_, i64>(0));
        Ok(left.is_ok_and(|left| left == 1))
    })?;
    let began = Instant::now();
    prompt(&sandbox, "s", "3", "about lunch")?;
    let lines = export(&sandbox, &[])?;
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(began.elapsed() < Duration::from_secs(8), "an export waited {:?}", began.elapsed());
    let forgot = forget.wait_with_output()?;
    assert_eq!(forgot.status.code(), Some(1), "{forgot:?}");
    let said = String::from_utf8(forgot.stderr)?;
    assert!(said.contains("Another program has the database open") && said.contains("again"), "{said}");
    drop(reader);
    wyren(&sandbox, &["forget", "--query", "acme-merger", "--yes"])?;
    assert_eq!(files_with(&sandbox.data(), "ACME-MERGER")?, Vec::<PathBuf>::new());
    Ok(())
}
