//! A child process that ends in time, with all that it started.

use child::{Group, Orphans};
use std::io::{self, Read, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(10);

/// How long its output may stay open once everything in its group was killed.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// The most of standard error that is kept, in bytes.
const MAX_ERRORS: u64 = 4 * 1024;

/// What a child left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// All of its standard output.
    pub(crate) output: Vec<u8>,
    /// The beginning of its standard error.
    pub(crate) errors: String,
}

/// Why a child left nothing behind.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not be started.
    Start(io::Error),
    TimedOut,
    /// It said more than was wanted.
    Oversized,
    /// Something that it started has left its group and keeps the output open.
    Detached,
}

/// Runs a command with `input` on its standard input. Whatever happens, its whole group is dead afterwards; should this
/// process be killed meanwhile, the group dies as well.
pub(crate) fn run(
    command: &mut Command,
    input: Vec<u8>,
    deadline: Instant,
    max_output: usize,
) -> Result<Finished, Failure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    child::die_with_us(command);
    let mut group = Group::start(command, Orphans::EndAfter(Duration::ZERO)).map_err(Failure::Start)?;
    let said = attend(&mut group, input, deadline, max_output);
    group.kill_all();
    // The child is dead, so this does not wait long; without it a zombie would stay.
    let status = group.wait();
    let (output, errors) = said?;
    Ok(Finished { status: status.map_err(Failure::Start)?, output, errors })
}

/// Waits for the child's end and returns its output and errors; its status stays to be taken.
fn attend(
    group: &mut Group,
    input: Vec<u8>,
    deadline: Instant,
    max_output: usize,
) -> Result<(Vec<u8>, String), Failure> {
    // Each stream has a thread, since a child may wait for any of them. The threads end when the last process that has
    // the stream open does, and are not waited for: one that left the group must not hold us up.
    if let Some(mut stdin) = group.take_stdin() {
        // A child that does not read its input to the end closes the pipe; that is its right.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (Some(stdout), Some(stderr)) = (group.take_stdout(), group.take_stderr()) else {
        return Err(Failure::Start(io::ErrorKind::BrokenPipe.into()));
    };
    let errors = collect(stderr, MAX_ERRORS);
    let output = collect(stdout, max_output as u64 + 1);

    let mut received = None;
    while !group.has_ended() {
        if Instant::now() >= deadline {
            return Err(Failure::TimedOut);
        }
        match output.recv_timeout(POLL) {
            Ok(bytes) if bytes.len() > max_output => return Err(Failure::Oversized),
            Ok(bytes) => received = Some(bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // The output is complete already.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
        }
    }
    // What the child left running may keep the output open.
    group.kill_all();
    let output = match received {
        Some(bytes) => bytes,
        None => output.recv_timeout(CLOSE_PATIENCE).map_err(|_| Failure::Detached)?,
    };
    if output.len() > max_output {
        return Err(Failure::Oversized);
    }
    let errors = errors.recv_timeout(CLOSE_PATIENCE).unwrap_or_default();
    Ok((output, String::from_utf8_lossy(&errors).into_owned()))
}

/// Reads a stream in a thread of its own and sends its first `most` bytes as soon as they are complete; the rest is
/// read and dropped, so that the writer is not stopped.
fn collect(mut stream: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
        let _ = io::copy(&mut stream, &mut io::sink());
    });
    receiver
}
