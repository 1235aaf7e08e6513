//! Asks `wyren work bind`.

use crate::{Asked, Bound};
use base::{detached, system};
use hook::Host;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a command that begins with `^` may take. The hook itself has [`hook::Event::DEADLINE`], which passes an ordinary
/// prompt on.
const LIMIT: Duration = Duration::from_millis(2_200);
/// How often such a command is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Returns what is to be done about a prompt.
pub(crate) fn ask(asked: &Asked<'_>, is_caret: bool, host: &Host) -> io::Result<Bound> {
    let mut child = start(host)?;
    let question = serde_json::to_vec(asked)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&question)?;
    }
    if is_caret {
        wait(&mut child)?;
    }
    let mut answer = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_end(&mut answer)?;
    }
    let ended = child.wait()?;
    if !ended.success() {
        return Err(io::Error::other(format!("it failed ({ended})")));
    }
    Ok(if answer.trim_ascii().is_empty() { Bound::default() } else { serde_json::from_slice(&answer)? })
}

fn start(host: &Host) -> io::Result<Child> {
    let mut command = Command::new(detached::beside_us("wyren")?);
    command
        .args(["work", "bind"])
        // The data folder may be relative to the hook's folder.
        .env("WYREN_DATA_DIR", std::path::absolute(host.paths.data())?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // Bound half-way would be bound to nothing.
    system::outlive_us(&mut command);
    command.spawn()
}

/// Waits for the end of a child. Its answer is smaller than what a pipe holds.
fn wait(child: &mut Child) -> io::Result<()> {
    let deadline = Instant::now() + LIMIT;
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            child.kill()?;
            return Err(io::Error::new(
                ErrorKind::TimedOut,
                format!("it took longer than {} s", LIMIT.as_secs()),
            ));
        }
        thread::sleep(POLL);
    }
    Ok(())
}
