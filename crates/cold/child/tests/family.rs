//! Children and what they started, on every system: `cargo xtask cross` runs these tests for Windows, too.

use child::{Group, Orphans};
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the path of an example, which cargo builds with the tests.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

/// Waits until both members of a family are ready.
fn ready(output: impl Read) -> BufReader<impl Read> {
    let mut output = BufReader::new(output);
    for _ in 0..2 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
    }
    output
}

/// Waits until every process that has the output open has ended.
#[track_caller]
fn closed(mut output: impl Read + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        sender.send(text)
    });
    assert_eq!(receiver.recv_timeout(PATIENCE).expect("the output stays open"), "");
}

#[test]
fn when_we_are_killed_the_child_and_its_child_end() {
    let mut victim = Command::new(example("guarded"));
    victim.args(["0".as_ref(), example("family").as_os_str(), "forever".as_ref()]).stdout(Stdio::piped());
    let mut victim = victim.spawn().unwrap();
    let output = ready(victim.stdout.take().unwrap());
    victim.kill().unwrap();
    victim.wait().unwrap();
    closed(output);
}

#[test]
fn kill_all_ends_a_running_child_and_its_child() {
    let mut command = Command::new(example("family"));
    command.arg("forever").stdout(Stdio::piped());
    let mut group = Group::start(&mut command, Orphans::Live).unwrap();
    let output = ready(group.take_stdout().unwrap());
    assert!(!group.has_ended());
    group.kill_all();
    closed(output);
    assert!(!group.wait().unwrap().success());
}

#[test]
fn what_a_child_left_behind_ends_and_the_childs_status_stays() {
    let mut command = Command::new(example("family"));
    command.arg("7").stdout(Stdio::piped());
    let mut group = Group::start(&mut command, Orphans::EndAfter(Duration::ZERO)).unwrap();
    let output = ready(group.take_stdout().unwrap());
    let deadline = Instant::now() + PATIENCE;
    while !group.has_ended() {
        assert!(Instant::now() < deadline, "the child does not end");
        thread::sleep(Duration::from_millis(2));
    }
    group.ask_to_end();
    group.kill_all();
    closed(output);
    assert_eq!(group.wait().unwrap().code(), Some(7));
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let started = Group::start(&mut Command::new(example("no-such-program")), Orphans::Live);
    assert_eq!(started.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
