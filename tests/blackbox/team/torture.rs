//! Eight members write at once, each fifty entries, while hooks, workers, commands and git are killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use wyren_tests::process::kill;

use super::{Member, Mode, Remote, git};
use crate::torture::Random;

const MEMBERS: u64 = 8;
const ENTRIES: u64 = 50;
/// How many entries are written in one go.
const BATCH: u64 = 5;
/// How often a batch is tried: a killed editor has written nothing.
const MOST_TRIES: u32 = 40;
/// The longest pause between two kills.
const KILL_PAUSE_MILLIS: u64 = 150;
/// What the members' machines do not run: killing the server's half would be another story.
const OF_THE_SERVER: [&str; 4] = ["receive-pack", "upload-pack", "unpack-objects", "index-pack"];

fn entry(member: u64, number: u64) -> String {
    format!("Use part {number} of member {member}")
}

/// Runs a program to its end, however that comes; returns its exit code.
fn run(command: &mut Command, input: &str) -> Result<Option<i32>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // One that is killed does not read to the end.
    let _ = child.stdin.take().context("no standard input")?.write_all(input.as_bytes());
    Ok(child.wait()?.code())
}

/// Writes all entries of a member, a few at a time, with hooks in between and syncs that may be killed.
fn write_entries(member: &Member, number: u64) -> Result<()> {
    let session = format!("session-{number}");
    for first in (0..ENTRIES).step_by(BATCH as usize) {
        let entries: Vec<String> =
            (first..first + BATCH).map(|entry_number| entry(number, entry_number)).collect();
        let mut tries = 0;
        while run(&mut member.editing(&entries)?, "")? != Some(0) {
            tries += 1;
            ensure!(tries < MOST_TRIES, "the editor of member {number} failed {tries} times");
        }
        for (hook, fields) in [
            ("session-start-memory", json!({"source": "startup"})),
            ("prompt-sync", json!({"prompt": "go on"})),
            ("stop-distill", json!({"stop_hook_active": false})),
        ] {
            let mut command = member.command(hook);
            command.env("WYREN_FETCH_SECONDS", "0").env("WYREN_TURNS_THRESHOLD", "2");
            run(&mut command, &member.event(hook, &session, &fields))?;
        }
        run(member.command("wyren").arg("sync"), "")?;
    }
    Ok(())
}

/// Kills whatever the members run, one process after the other, until told to stop.
fn kill_at_random(
    members: &[Member],
    is_over: &AtomicBool,
    kills: &Mutex<BTreeMap<String, usize>>,
    mut random: Random,
) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.below(KILL_PAUSE_MILLIS)));
        let processes: Vec<u32> = members.iter().flat_map(|member| member.sandbox.processes()).collect();
        let Some(victim) = processes.get(random.below(processes.len().max(1) as u64) as usize) else {
            continue;
        };
        let line = fs::read(format!("/proc/{victim}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.is_empty() || OF_THE_SERVER.iter().any(|part| line.contains(part)) {
            continue;
        }
        let name =
            line.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        kill(*victim);
        *kills.lock().expect("no thread panics with the list").entry(name).or_default() += 1;
    }
}

/// Returns the entries that are not in a memory exactly once.
fn flaws(memory: &str) -> Vec<String> {
    let entries = (0..MEMBERS).flat_map(|member| (0..ENTRIES).map(move |number| entry(member, number)));
    let count = |entry: &str| {
        // The tag says where an entry comes from, and is no part of it.
        let texts = memory.lines().map(|line| line.split_once(" [").map_or(line, |(text, _)| text));
        texts.filter(|text| text.strip_prefix("- ") == Some(entry)).count()
    };
    entries
        .map(|entry| (count(&entry), entry))
        .filter(|(count, _)| *count != 1)
        .map(|(count, entry)| format!("{count} × {entry}"))
        .collect()
}

fn check(mode: Mode) -> Result<()> {
    let remote = Remote::new(mode)?;
    let mut members = Vec::new();
    for number in 0..MEMBERS {
        let Some(member) = Member::set_up(&remote, &format!("member{number}"), mode)? else { return Ok(()) };
        // Half of them have work that is not pushed, in a commit and in the index.
        if number % 2 == 1 {
            fs::write(member.clone_folder().join("work"), format!("of {number}\n"))?;
            member.git(&["add", "work"])?;
            member.git(&["commit", "--quiet", "--message", "not pushed"])?;
            fs::write(member.clone_folder().join("staged"), "half done\n")?;
            member.git(&["add", "staged"])?;
        }
        members.push(member);
    }
    let before: Vec<_> = members.iter().map(Member::footprint).collect::<Result<_>>()?;
    let (is_over, kills) = (AtomicBool::new(false), Mutex::default());
    thread::scope(|scope| {
        let writers: Vec<_> = members
            .iter()
            .zip(0..)
            .map(|(member, number)| scope.spawn(move || write_entries(member, number)))
            .collect();
        scope.spawn(|| kill_at_random(&members, &is_over, &kills, Random::new(1)));
        let written = writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"));
        is_over.store(true, Ordering::Relaxed);
        written
    })?;

    // In peace again: what is queued lands, then everybody gets what the others had.
    crate::worker::wait_for("no process", || {
        Ok(members.iter().all(|member| member.sandbox.processes().is_empty()))
    })?;
    // The remote's end of a connection runs on this machine, and may have been killed with a lock in its hands.
    let folder = remote.path().display().to_string();
    Command::new("find").args([&*folder, "-name", "*.lock", "-delete"]).status()?;
    for _ in 0..2 {
        for member in &members {
            member.wyren(&["sync"])?;
        }
    }
    assert_eq!(flaws(&remote.memory(mode)), [""; 0], "on the remote");
    for (member, before) in members.iter().zip(before) {
        assert_eq!(flaws(&member.memory()?), [""; 0]);
        assert_eq!(member.footprint()?, before);
    }
    let mut branches = vec!["refs/heads/main".to_owned()];
    branches.extend((mode == Mode::Side).then(|| "refs/heads/wyren/memory".to_owned()));
    assert_eq!(remote.branches()?, branches);
    let subjects = git(&remote.path(), &["log", "--all", "--format=%s"])?;
    assert!(!subjects.contains("not pushed"), "{subjects}");
    assert_eq!(git(&remote.path(), &["fsck", "--strict", "--no-dangling"])?, "");

    for (member, number) in members.iter().zip(0_u64..) {
        if number % 2 == 0 {
            member.git(&["pull", "--quiet", "--ff-only"])?;
        } else {
            member.git(&["rm", "--quiet", "--cached", "staged"])?;
            member.git(&["pull", "--quiet", "--rebase"])?;
        }
    }
    let killed = kills.into_inner()?;
    assert!(killed.values().sum::<usize>() > 0, "nothing was killed");
    // Not `println`: the figures are worth seeing when the test passes, too.
    writeln!(io::stderr(), "{MEMBERS} members, {ENTRIES} entries each, {mode:?}: killed {killed:?}")?;
    Ok(())
}

#[test]
fn eight_members_in_side_mode_lose_nothing_whatever_is_killed() -> Result<()> {
    check(Mode::Side)
}

#[test]
fn eight_members_in_branch_mode_lose_nothing_whatever_is_killed() -> Result<()> {
    check(Mode::Branch)
}
