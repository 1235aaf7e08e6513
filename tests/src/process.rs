//! Child processes that end in time, with all their children.

use std::io::{Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How often a running child is asked whether it has ended.
const POLL: Duration = Duration::from_millis(10);

/// How often killing is tried; a killed process is gone well within one [`POLL`].
const KILL_ROUNDS: u32 = 100;

/// What a process left behind.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
}

/// Runs a command without standard input; at the deadline its whole process group is killed.
///
/// The output goes through files, so a grandchild that keeps the output open cannot hold up the caller.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> Result<Output> {
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);

    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
    let status = wait(&mut child, start + timeout)?;
    let elapsed = start.elapsed();

    let [stdout, stderr] = [&mut stdout, &mut stderr].map(|file| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        anyhow::Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let (stdout, stderr) = (stdout?, stderr?);
    let Some(status) = status else {
        bail!("{command:?} was killed after {timeout:?}\nstdout: {stdout}\nstderr: {stderr}");
    };
    Ok(Output { status, stdout, stderr, elapsed })
}

/// Waits for the end of a child; at the deadline kills its group and returns `None`.
fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            kill_group(child.id());
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Kills the process group that `leader`, a child not yet waited for, has founded.
pub(crate) fn kill_group(leader: u32) {
    #[cfg(unix)]
    if let Some(leader) = pid(leader) {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = leader;
}

/// Kills what `find` finds until it finds nothing: a process may have started another in the meantime.
pub(crate) fn kill_all(find: impl Fn() -> Vec<u32>) {
    for _ in 0..KILL_ROUNDS {
        let processes = find();
        if processes.is_empty() {
            return;
        }
        processes.into_iter().for_each(kill);
        thread::sleep(POLL);
    }
}

/// Kills one process, at once.
pub fn kill(process: u32) {
    #[cfg(unix)]
    if let Some(process) = pid(process) {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = process;
}

#[cfg(unix)]
fn pid(process: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(process).ok()?)
}

/// Returns the living processes that were started with `assignment` (`NAME=value`) in their environment.
///
/// This finds what left its process group, too. Only Linux can tell; elsewhere the list is empty.
pub(crate) fn started_with(assignment: &str) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process: &u32| {
            // A process that has ended in the meantime, or that is only waited for, has no environment.
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == assignment.as_bytes())
        })
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_hangs_is_killed_with_its_children() {
        let marker = format!("WYREN_TEST_MARKER={}", std::process::id());
        let (name, value) = marker.split_once('=').unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]).env(name, value);

        let error = run(&mut command, Duration::from_millis(200)).unwrap_err();

        assert!(error.to_string().contains("was killed after"), "{error}");
        let deadline = Instant::now() + Duration::from_secs(5);
        while !started_with(&marker).is_empty() {
            assert!(Instant::now() < deadline, "still alive: {:?}", started_with(&marker));
            thread::sleep(POLL);
        }
    }
}
