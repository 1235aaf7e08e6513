//! Bad days: panics, hangs, races, kills, folders that cannot be written.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};

const STARTUP: &[u8] = br#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;

#[test]
fn a_panic_ends_with_exit_0_silence_and_a_line_in_the_log() -> Result<()> {
    let (Some(sandbox), Some(program)) = (Sandbox::new()?, plugin::panicking_hook()) else { return Ok(()) };
    let output = feed(&mut sandbox.command_for(&program), STARTUP)?;
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let log = sandbox.hook_log()?;
    let message = log.last().and_then(|line| line["msg"].as_str()).context("no line")?;
    assert!(message.starts_with("HOOK_PANIC at ") && message.contains("a defect in the hook"), "{message}");
    Ok(())
}

#[test]
fn a_hook_that_hangs_ends_by_itself_before_the_client_loses_patience() -> Result<()> {
    /// What the client gives all hooks at the end of a session.
    const PATIENCE: Duration = Duration::from_millis(1_500);
    let (Some(sandbox), Some(program)) = (Sandbox::new()?, plugin::hanging_hook()) else { return Ok(()) };
    // The log's folder is there after the first line that any hook writes.
    sandbox.run("session-start-reset", STARTUP)?;
    let started = Instant::now();
    let output = feed(&mut sandbox.command_for(&program), br#"{"session_id":"s","reason":"other"}"#)?;
    assert!(started.elapsed() < PATIENCE * 4, "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"{\"continue\":true,\"suppressOutput\":true}\n");
    let log = sandbox.hook_log()?;
    let last = log.last().context("no line")?;
    assert_eq!(last["hook"], "hanging-hook");
    assert!(last["msg"].as_str().is_some_and(|message| message.starts_with("HOOK_DEADLINE")), "{last}");
    assert!(last["ms"].as_f64().is_some_and(|millis| millis < 1_500.0), "{last}");
    Ok(())
}

#[test]
fn standard_input_that_never_ends_is_given_up() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let mut child =
        sandbox.command("session-start-reset").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.take();
    assert_eq!(child.wait_with_output()?.status.code(), Some(0));
    drop(input);
    Ok(())
}

#[test]
fn two_hundred_processes_race_for_one_claim_and_exactly_one_wins() -> Result<()> {
    const PROCESSES: usize = 200;
    const ROUNDS: usize = 3;
    let (Some(sandbox), Some(program)) = (Sandbox::new()?, plugin::claiming_hook()) else { return Ok(()) };
    for round in 0..ROUNDS {
        let input = format!(r#"{{"session_id":"race-{round}","source":"startup"}}"#);
        let file = sandbox.folder().join("input.json");
        fs::write(&file, &input)?;
        let mut children = Vec::new();
        for _ in 0..PROCESSES {
            let mut command = sandbox.command_for(&program);
            command.stdin(fs::File::open(&file)?).stdout(Stdio::piped()).stderr(Stdio::null());
            children.push(command.spawn()?);
        }
        let mut winners = 0;
        for child in children {
            let output = child.wait_with_output()?;
            assert_eq!(output.status.code(), Some(0));
            winners += usize::from(!output.stdout.is_empty());
        }
        assert_eq!(winners, 1, "round {round}");
    }
    Ok(())
}

#[test]
fn a_reset_lets_a_claim_be_won_again() -> Result<()> {
    let (Some(sandbox), Some(program)) = (Sandbox::new()?, plugin::claiming_hook()) else { return Ok(()) };
    let wins =
        || -> Result<bool> { Ok(!feed(&mut sandbox.command_for(&program), STARTUP)?.stdout.is_empty()) };
    let reset = |source: &str| {
        sandbox.run("session-start-reset", format!(r#"{{"session_id":"s","source":"{source}"}}"#).as_bytes())
    };
    assert!(wins()?);
    assert!(!wins()?);
    for source in ["resume", "compact"] {
        reset(source)?;
        assert!(!wins()?, "{source} keeps a claim that lasts until the window is cleared");
    }
    for source in ["startup", "clear"] {
        reset(source)?;
        assert!(wins()?, "{source} forgets all");
    }
    Ok(())
}

#[test]
fn folders_that_cannot_be_written_do_not_disable_a_hook() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("a-file");
    fs::write(&file, "")?;
    let mut command = sandbox.command("session-start-lessons");
    command.env("WYREN_DATA_DIR", file.join("data")).env("XDG_RUNTIME_DIR", &file).env("HOME", &file);
    let output = feed(&mut command, STARTUP)?;
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"{\"hookSpecificOutput\""));
    assert!(output.stderr.is_empty(), "{output:?}");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_disturb_a_hook() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    // Every write to /dev/full fails for lack of room.
    fs::create_dir_all(sandbox.data().join("logs"))?;
    std::os::unix::fs::symlink("/dev/full", sandbox.data().join("logs/hooks.jsonl"))?;
    let output = sandbox.run("session-start-lessons", STARTUP)?;
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"{\"hookSpecificOutput\""));
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_once_in_all_and_recording_goes_on_when_there_is_room() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let prompt = |text: &str| {
        let input =
            serde_json::json!({"session_id": "s", "prompt": text, "hook_event_name": "UserPromptSubmit"});
        let output = sandbox.run("prompt-record", input.to_string().as_bytes())?;
        anyhow::ensure!(output.status.success(), "{output:?}");
        anyhow::Ok(String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?)
    };
    assert!(!prompt("before")?.contains("disk"));
    let session = fs::read_dir(sandbox.data().join("spool"))?.next().context("no session")??.path();
    let recorded = fs::read_dir(&session)?.next().context("nothing is recorded")??.path();
    let hour: u64 = recorded.file_stem().and_then(|stem| stem.to_str()).context("no hour")?.parse()?;
    let aside = sandbox.folder().join("aside.jsonl");
    fs::rename(&recorded, &aside)?;
    // Every write to /dev/full fails for lack of room. The next hour may begin meanwhile.
    let files = [hour, hour + 1].map(|hour| session.join(format!("{hour}.jsonl")));
    for file in &files {
        std::os::unix::fs::symlink("/dev/full", file)?;
    }
    let words = "the disk is full; nothing is recorded until there is room";
    assert_eq!(sandbox.read_line()?, "");
    for text in ["lost", "lost as well"] {
        assert!(!prompt(text)?.contains("disk"), "prompt-sync speaks at a prompt");
    }
    assert_eq!(sandbox.read_line()?, format!("Wyren: {words}."));
    prompt("lost too")?;
    assert_eq!(sandbox.read_line()?, "", "once is enough");
    let log = sandbox.hook_log()?;
    let logged: Vec<_> = log.iter().filter(|line| line["msg"] == words).map(|line| &line["level"]).collect();
    assert_eq!(logged, ["warn", "warn", "warn"]);
    for file in &files {
        fs::remove_file(file)?;
    }
    fs::rename(&aside, &recorded)?;
    assert!(!prompt("after")?.contains("disk"));
    let exported = String::from_utf8(sandbox.wyren(&["export"])?.stdout)?;
    assert!(
        exported.contains("before") && exported.contains("after") && !exported.contains("lost"),
        "{exported}"
    );
    Ok(())
}

#[test]
fn a_client_that_is_gone_does_not_disturb_a_hook() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("input.json");
    fs::write(&file, STARTUP)?;
    let mut command: Command = sandbox.command("session-start-lessons");
    let mut child = command.stdin(fs::File::open(&file)?).stdout(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    assert_eq!(child.wait()?.code(), Some(0));
    Ok(())
}

#[test]
fn hooks_that_run_at_once_write_whole_lines() -> Result<()> {
    const PROCESSES: usize = 64;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("input.json");
    fs::write(&file, STARTUP)?;
    let mut children = Vec::new();
    for _ in 0..PROCESSES {
        let mut command = sandbox.command("session-start-lessons");
        children.push(command.stdin(fs::File::open(&file)?).stdout(Stdio::null()).spawn()?);
    }
    for mut child in children {
        assert!(child.wait()?.success());
    }
    assert_eq!(sandbox.hook_log()?.len(), PROCESSES);
    Ok(())
}

#[test]
fn prompts_that_run_at_once_leave_one_consistent_state() -> Result<()> {
    const PROCESSES: usize = 10;
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let state = sandbox.project().join(".wyren/state");
    let memory = "# Wyren Memory\n\n## Decisions\n\n- a\n";
    fs::create_dir_all(&state)?;
    fs::write(sandbox.project().join(".wyren/memory.md"), memory)?;
    let mut children = Vec::new();
    for number in 0..PROCESSES {
        let file = sandbox.folder().join(format!("input-{number}.json"));
        fs::write(&file, format!(r#"{{"session_id":"s-{number}","prompt":"go"}}"#))?;
        let mut command = sandbox.command("prompt-sync");
        children.push(command.stdin(fs::File::open(&file)?).stdout(Stdio::piped()).spawn()?);
    }
    for child in children {
        let output = child.wait_with_output()?;
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"".as_slice()));
    }
    let ups: serde_json::Value = serde_json::from_slice(&fs::read(state.join("ups-state.json"))?)?;
    assert_eq!(ups["last_injected_hash"].as_str().map(str::len), Some(12), "{ups}");
    assert_eq!(fs::read_to_string(state.join("last-injected-memory.md"))?, memory);
    assert_eq!(fs::read_dir(state.join("sessions"))?.count(), PROCESSES);
    assert_eq!(fs::read_dir(&state)?.count(), 3);
    Ok(())
}
