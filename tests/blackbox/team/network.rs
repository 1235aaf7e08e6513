//! A remote that hangs: no hook waits for it twice, and no process is left behind.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::{Member, Mode, Remote};

/// A member whose remote is reached by an ssh that never answers, and shrugs off a polite request to end.
fn stranded() -> Result<Option<(Member, PathBuf)>> {
    let remote = Remote::new(Mode::Side)?;
    let Some(member) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(None) };
    let ssh = member.sandbox.folder().join("hanging-ssh");
    fs::write(&ssh, "#!/bin/sh\ntrap '' TERM\nsh -c \"trap '' TERM; sleep 600\" &\nsleep 600\nsleep 600\n")?;
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
    member.git(&["remote", "set-url", "origin", "ssh://nowhere.invalid/x.git"])?;
    Ok(Some((member, ssh)))
}

fn fetch_state(member: &Member) -> Value {
    let text = fs::read(member.clone_folder().join(".wyren/state/fetch.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[test]
fn line_15_a_hanging_remote_is_waited_for_once_then_left_alone_and_leaves_no_process() -> Result<()> {
    let Some((member, ssh)) = stranded()? else { return Ok(()) };
    let prompt = |number: u32| -> Result<Duration> {
        let mut command = member.command("prompt-sync");
        command.env("GIT_SSH_COMMAND", &ssh).env("WYREN_FETCH_SECONDS", "0").env("WYREN_SYNC_SECONDS", "2");
        let event = member.event("prompt-sync", "s", &json!({"prompt": "go on"}));
        let begun = Instant::now();
        let output = feed(&mut command, event.as_bytes())?;
        ensure!(output.status.code() == Some(0), "prompt {number}: {output:?}");
        Ok(begun.elapsed())
    };
    // Not a measurement, that is `cargo xtask bench`'s: only that no hook waits for as long as the remote hangs.
    ensure!(prompt(0)? < Duration::from_secs(2));
    let later: Vec<Duration> = (1..4).map(prompt).collect::<Result<_>>()?;
    ensure!(later.iter().all(|time| *time < Duration::from_secs(1)), "{later:?}");

    let deadline = Instant::now() + Duration::from_secs(30);
    while !member.sandbox.processes().is_empty()
        || fetch_state(&member)["failures"].as_u64().unwrap_or(0) == 0
    {
        ensure!(Instant::now() < deadline, "still there: {:?}", member.sandbox.processes());
        std::thread::sleep(Duration::from_millis(50));
    }
    let failures = fetch_state(&member)["failures"].clone();
    for number in 4..8 {
        prompt(number)?;
    }
    assert!(member.sandbox.processes().is_empty(), "nothing is started while the remote is left alone");
    assert_eq!(fetch_state(&member)["failures"], failures);
    Ok(())
}
