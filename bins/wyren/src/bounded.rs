//! Other programs, within a time limit.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(5);

/// How long its output may stay open once it has ended: something that it started may have it open as well.
const CLOSE_PATIENCE: Duration = Duration::from_millis(500);

/// The most of its output that is kept, in bytes.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command without input; `None` when it was ended because it took too long.
pub(crate) fn run(command: &mut Command, patience: Duration) -> io::Result<Option<Finished>> {
    let deadline = Instant::now() + patience;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take().map(collect), child.stderr.take().map(collect));
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    };
    let taken = |stream: Option<mpsc::Receiver<Vec<u8>>>| {
        stream.and_then(|stream| stream.recv_timeout(CLOSE_PATIENCE).ok()).unwrap_or_default()
    };
    Ok(Some(Finished { status, stdout: taken(stdout), stderr: taken(stderr) }))
}

fn collect(stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
        sender.send(bytes)
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let began = Instant::now();
        let ended = run(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap();
        assert!(ended.is_none() && began.elapsed() < Duration::from_secs(30));
        let finished = run(Command::new("echo").arg("hello"), Duration::from_secs(30)).unwrap().unwrap();
        assert!(finished.status.success() && finished.stderr.is_empty());
        assert_eq!(finished.stdout, b"hello\n");
    }
}
