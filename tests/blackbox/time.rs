//! Time for people: local in what they read, and understood as they write it.

use std::fs;
use std::process::Output;

use anyhow::Result;
use wyren_tests::sandbox::{Sandbox, feed};

/// Two hours ahead of UTC, in a form that needs no time zone database.
const EAST: &str = "EAST-2";

fn wyren(sandbox: &Sandbox, zone: &str, arguments: &[&str]) -> Result<Output> {
    feed(sandbox.command("wyren").args(arguments).env("TZ", zone), b"")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn forget_says_which_moment_it_understood_before_it_does_anything() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let bounds = |before: &str| -> Result<String> {
        let output = wyren(&sandbox, EAST, &["forget", "--before", before, "--dry-run"])?;
        assert!(output.status.success(), "{output:?}");
        Ok(text(&output.stderr))
    };
    let midnight = "Before 2026-11-16 00:00:00 +02:00 (2026-11-15T22:00:00.000Z)\n";
    assert_eq!(bounds("2026-11-16")?, midnight);
    assert_eq!(bounds("2026-11-16 00:00")?, midnight);
    assert_eq!(bounds("2026-11-15T22:00:00Z")?, midnight);
    for relative in ["yesterday", "today", "30m", "2h", "3d"] {
        assert!(bounds(relative)?.contains(" +02:00 ("), "{relative}");
    }
    Ok(())
}

#[test]
fn a_day_that_does_not_exist_is_refused_and_nothing_is_forgotten() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = br#"{"session_id":"s","prompt":"keep me","hook_event_name":"UserPromptSubmit"}"#;
    sandbox.run("prompt-record", input)?;
    for command in [&["forget", "--yes", "--before", "2999-02-31"][..], &["export", "--since", "2026-02-31"]]
    {
        let output = wyren(&sandbox, EAST, command)?;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("-02-31 does not exist"), "{output:?}");
    }
    let unclear = wyren(&sandbox, EAST, &["export", "--since", "soon"])?;
    assert!(text(&unclear.stderr).contains("yesterday, 2h, 2026-11-16"), "{unclear:?}");
    assert!(text(&wyren(&sandbox, EAST, &["export"])?.stdout).contains("keep me"));
    Ok(())
}

#[test]
fn an_export_since_an_hour_ago_holds_what_happened_just_now() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let input = br#"{"session_id":"s","prompt":"just now","hook_event_name":"UserPromptSubmit"}"#;
    sandbox.run("prompt-record", input)?;
    for since in ["1h", "today", "yesterday"] {
        let exported = text(&wyren(&sandbox, EAST, &["export", "--since", since])?.stdout);
        // Within the first second of a local day, `today` may begin after the prompt.
        assert!(exported.contains("just now") || since == "today", "{since}: {exported}");
    }
    let later = text(&wyren(&sandbox, EAST, &["export", "--since", "2999-01-01"])?.stdout);
    assert!(!later.contains("just now"), "{later}");
    Ok(())
}

#[test]
fn logs_and_reports_show_local_time_and_json_stays_utc() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let line = r#"{"ts":"2026-11-16T22:00:00.123Z","level":"info","hook":"tool-record","msg":"done"}"#;
    fs::create_dir_all(sandbox.data().join("logs"))?;
    fs::write(sandbox.data().join("logs/hooks.jsonl"), format!("{line}\n"))?;
    let shown = text(&wyren(&sandbox, EAST, &["log", "--hooks"])?.stdout);
    assert!(shown.starts_with("2026-11-17 00:00:00.123  info"), "{shown}");
    let json = text(&wyren(&sandbox, EAST, &["log", "--hooks", "--json"])?.stdout);
    assert!(json.contains("2026-11-16T22:00:00.123Z"), "{json}");
    let doctor = text(&wyren(&sandbox, EAST, &["doctor"])?.stdout);
    assert!(doctor.contains("most recently at 2026-11-17 00:00:00"), "{doctor}");

    let failed = line.replace("info", "error").replace("tool-record", "wyren-worker");
    fs::write(sandbox.data().join("logs/worker.jsonl"), format!("{failed}\n"))?;
    let worker = text(&wyren(&sandbox, EAST, &["worker"])?.stdout);
    assert!(worker.contains("last error 2026-11-17 00:00:00: done"), "{worker}");
    Ok(())
}

#[test]
fn an_entry_of_a_team_memory_is_of_the_day_that_was_written_in_every_zone() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.project().join(".wyren");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("memory.md"), "# M\n\n## Decisions\n- [2026-11-16] Prices are integer CENTS\n")?;
    for zone in ["WEST+8", "UTC0", EAST] {
        let found = |arguments: &[&str]| -> Result<String> {
            let output = wyren(&sandbox, zone, &[&["search", "cents"], arguments].concat())?;
            assert!(output.status.success(), "{output:?}");
            Ok(text(&output.stdout))
        };
        let shown = found(&["--since", "2026-11-16", "--until", "2026-11-17"])?;
        assert!(shown.contains("  2026-11-16        memory/decision"), "{zone}: {shown}");
        let id = shown.split_whitespace().next().unwrap_or_default();
        let whole = text(&wyren(&sandbox, zone, &["show", id])?.stdout);
        assert!(whole.contains("memory/decision, 2026-11-16\n"), "{zone}: {whole}");
        for other in [["--since", "2026-11-17"], ["--until", "2026-11-16"]] {
            assert!(found(&other)?.starts_with("Nothing found."), "{zone}: {other:?}");
        }
    }
    Ok(())
}
