//! Many writers and a drain that is killed: everything arrives, and once.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wyren_tests::plugin;
use wyren_tests::sandbox::Sandbox;

use super::{export, succeed};

const WRITERS: usize = 500;
const LINES_PER_WRITER: usize = 200;
const KILLS: u32 = 50;

#[test]
fn five_hundred_writers_and_a_drain_that_is_killed_fifty_times_lose_nothing() -> Result<()> {
    let (Some(sandbox), Some(writer), Some(drainer)) =
        (Sandbox::new()?, plugin::spool_writer(), plugin::spool_drainer())
    else {
        return Ok(());
    };
    fs::create_dir_all(sandbox.data())?;
    let gate = sandbox.folder().join("gate");
    let closed = File::create(&gate)?;
    closed.lock()?;
    let writers = start_writers(&sandbox, &writer, &gate)?;
    closed.unlock()?;
    for round in 0..KILLS {
        kill_while_draining(&sandbox, &drainer, round)?;
    }
    for writer in writers {
        succeed(writer.wait_with_output()?)?;
    }

    let facts = succeed(sandbox.command_for(&drainer).arg(sandbox.data()).arg("--once").output()?)?;
    let facts: Value = serde_json::from_str(&facts)?;
    assert_eq!(facts["integrity"], "ok");
    assert_eq!(facts["unread_lines"], 0);
    assert_eq!(facts["prompts"].as_u64().zip(facts["tool_calls"].as_u64()), Some((5_000, 95_000)), "{facts}");

    let lines = export(&sandbox, &[])?;
    let events = lines.iter().filter(|line| line["type"] != "session");
    let ids: HashSet<&str> = events.filter_map(|line| line["id"].as_str()).collect();
    assert_eq!(ids.len(), WRITERS * LINES_PER_WRITER);
    check_numbers(&lines)
}

fn start_writers(sandbox: &Sandbox, program: &Path, gate: &Path) -> Result<Vec<Child>> {
    let spool = sandbox.data().join("spool");
    (0..WRITERS)
        .map(|number| {
            let mut command = sandbox.command_for(program);
            command.arg(&spool).arg(gate).arg(number.to_string()).arg(LINES_PER_WRITER.to_string());
            Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
        })
        .collect()
}

/// Starts a drain and kills it somewhere in a step, after some that it completed.
fn kill_while_draining(sandbox: &Sandbox, program: &Path, round: u32) -> Result<()> {
    let mut child = sandbox.command_for(program).arg(sandbox.data()).stdout(Stdio::piped()).spawn()?;
    let mut steps = BufReader::new(child.stdout.take().context("no standard output")?).lines();
    for _ in 0..=round % 3 {
        steps.next().context("the drain ended by itself")??;
    }
    // The next step has begun by now; each round lets it come a little further.
    std::thread::sleep(Duration::from_micros(u64::from(round) * 97));
    ensure!(child.try_wait()?.is_none(), "the drain ended by itself");
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Checks that the prompts of each session are numbered without gaps, and its tool calls stand under the last one.
fn check_numbers(lines: &[Value]) -> Result<()> {
    let mut number = 0;
    for line in lines {
        match line["type"].as_str().context("no type")? {
            "session" => number = 0,
            "prompt" => {
                number += 1;
                assert_eq!(line["number"], number, "{line}");
            }
            _ => assert_eq!(line["prompt"], number, "{line}"),
        }
    }
    Ok(())
}
