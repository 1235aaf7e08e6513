//! Children and what they started, ended by us or by the guard.
#![cfg(unix)]

use child::{Group, Orphans};
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long the scripts would run.
const FOREVER: &str = "600";

/// Says so when it is asked to end. It starts nothing that could miss the signal between fork and exec.
const POLITE: &str = "trap 'echo asked; exit' TERM; echo ready; while :; do sleep 0.05; done";

/// Ignores the question, as does what it starts.
const STUBBORN: &str = "trap '' TERM; sleep 600 & echo ready; wait";

/// Starts `examples/guarded.rs`, which cargo builds with the tests, and waits until its script is ready.
fn guarded(arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/guarded");
    let (grace, rest) = arguments.split_first().unwrap();
    let (script, with_us) = rest.split_first().unwrap();
    let arguments = [&[*grace], with_us, &["sh", "-c", *script]].concat();
    let mut victim = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(victim.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (victim, output)
}

fn kill(mut victim: Child) {
    victim.kill().unwrap();
    victim.wait().unwrap();
}

/// Returns the rest of the output, once every writer has ended.
#[track_caller]
fn rest(mut output: impl Read + Send + 'static) -> String {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        sender.send(text)
    });
    receiver.recv_timeout(PATIENCE).expect("the output stays open")
}

#[test]
fn when_we_are_killed_the_group_is_asked_to_end() {
    let (victim, output) = guarded(&["20000", POLITE]);
    kill(victim);
    assert_eq!(rest(output), "asked\n");
}

#[test]
fn who_does_not_end_in_the_grace_is_killed() {
    let (victim, output) = guarded(&["300", STUBBORN]);
    let start = Instant::now();
    kill(victim);
    assert_eq!(rest(output), "");
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
}

#[test]
fn without_grace_the_group_is_killed_unasked() {
    let (victim, output) = guarded(&["0", POLITE]);
    kill(victim);
    assert_eq!(rest(output), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_that_dies_with_us_needs_no_guard() {
    let (victim, output) = guarded(&["0", "echo ready; exec sleep 600", "with-us"]);
    let children = format!("/proc/{0}/task/{0}/children", victim.id());
    let children = std::fs::read_to_string(children).unwrap();
    let is_guard = |process: &&str| {
        std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name == "guarded\n")
    };
    let guards: Vec<&str> = children.split_whitespace().filter(is_guard).collect();
    assert_eq!(guards.len(), 1, "{children}");
    assert!(Command::new("kill").args(["-9", guards[0]]).status().unwrap().success());
    kill(victim);
    assert_eq!(rest(output), "");
}

#[test]
fn a_child_that_is_killed_has_the_signal_as_its_status() {
    let mut command = Command::new("sleep");
    command.arg(FOREVER);
    let mut group = Group::start(&mut command, Orphans::EndAfter(Duration::ZERO)).unwrap();
    assert!(!group.has_ended());
    group.kill_all();
    assert_eq!(group.wait().unwrap().signal(), Some(9));
}

#[test]
fn what_a_child_left_behind_is_killed_after_its_end_and_its_status_stays() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' TERM; sleep 600 & exit 7"]).stdout(Stdio::piped());
    let mut child = Group::start(&mut command, Orphans::Live).unwrap();
    let output = child.take_stdout().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !child.has_ended() {
        assert!(Instant::now() < deadline, "the child does not end");
        thread::sleep(Duration::from_millis(2));
    }
    child.ask_to_end();
    child.kill_all();
    assert_eq!(rest(output), "");
    assert_eq!(child.wait().unwrap().code(), Some(7));
}
