//! The status line that the user had before: its command is an argument of ours, and its lines come first.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The flag before the user's own command.
pub const FLAG: &str = "--wrap";

/// The most that is taken of what it prints, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// How long it may take. Ours is shown without it then.
const LIMIT: Duration = Duration::from_secs(3);

/// What fits into a pipe on every system.
const PIPE_BYTES: usize = 16 * 1024;

/// The user's own command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped(String);

/// The command while it runs.
#[derive(Debug)]
pub struct Running(Child);

impl Wrapped {
    /// Returns the command that is wrapped, if there is one.
    pub fn of_arguments(arguments: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut arguments = arguments.into_iter().skip(1);
        match (arguments.next().as_deref(), arguments.next()) {
            (Some(FLAG), Some(command)) if !command.trim().is_empty() => Some(Self(command)),
            _ => None,
        }
    }

    /// Starts it as the client would, in a shell, with what the client told.
    pub fn start(&self, input: &[u8]) -> Option<Running> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.0]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        // What the client tells is short enough for a pipe, so this does not wait for a command that does not read.
        if let Some(mut stdin) = child.stdin.take().filter(|_| input.len() <= PIPE_BYTES) {
            let _ = stdin.write_all(input);
        }
        Some(Running(child))
    }
}

impl Running {
    /// Waits for its end; returns what it printed, as whole lines. Nothing if it failed, as in the client, or takes too long.
    pub fn output(mut self) -> String {
        let Some(stdout) = self.0.stdout.take() else { return String::new() };
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_BYTES).read_to_end(&mut bytes).map(|_| bytes);
            let _ = sender.send(read);
        });
        let Ok(Ok(bytes)) = receiver.recv_timeout(LIMIT) else {
            let _ = self.0.kill();
            return String::new();
        };
        let is_good = self.0.wait().is_ok_and(|status| status.success());
        let text = String::from_utf8_lossy(&bytes);
        match text.trim_end_matches('\n') {
            "" => String::new(),
            text if is_good => format!("{text}\n"),
            _ => String::new(),
        }
    }
}
