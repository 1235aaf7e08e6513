//! Asks `wyren handoff precompact`.

use crate::{Asked, Saved};
use base::detached;
use hook::Host;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long it may take, without a model and with one, which has 45 s. The hook itself has [`hook::Event::DEADLINE`].
const LIMIT: Duration = Duration::from_secs(20);
const LIMIT_WITH_MODEL: Duration = Duration::from_secs(52);

/// Returns the handoff that was saved; `None` where there is nothing to keep.
pub(crate) fn ask(asked: &Asked<'_>, host: &Host) -> io::Result<Option<Saved>> {
    let mut child = start(host)?;
    let question = serde_json::to_vec(asked)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&question)?;
    }
    let limit = if asked.asks_model { LIMIT_WITH_MODEL } else { LIMIT };
    let answer = read_within(&mut child, limit)?;
    let ended = child.wait()?;
    if !ended.success() {
        return Err(io::Error::other(format!("it failed ({ended})")));
    }
    Ok(if answer.trim_ascii().is_empty() { None } else { Some(serde_json::from_slice(&answer)?) })
}

fn start(host: &Host) -> io::Result<Child> {
    let mut command = Command::new(detached::beside_us("wyren")?);
    command
        .args(["handoff", "precompact"])
        // The data folder may be relative to the hook's folder.
        .env("WYREN_DATA_DIR", std::path::absolute(host.paths.data())?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn()
}

/// Reads all that a child writes, which may be more than a pipe holds.
fn read_within(child: &mut Child, limit: Duration) -> io::Result<Vec<u8>> {
    let Some(mut output) = child.stdout.take() else { return Ok(Vec::new()) };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.read_to_end(&mut answer).map(|_| answer);
        let _ = sender.send(read);
    });
    match receiver.recv_timeout(limit) {
        Ok(answer) => answer,
        Err(_) => {
            child.kill()?;
            child.wait()?;
            Err(io::Error::new(ErrorKind::TimedOut, format!("it took longer than {} s", limit.as_secs())))
        }
    }
}
