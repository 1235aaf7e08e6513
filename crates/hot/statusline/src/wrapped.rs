//! The status line that the user had before: its command is an argument of ours, and its lines come first.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The flag before the user's own command.
pub const FLAG: &str = "--wrap";

/// The most that is taken of what it prints, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// How long it may take. Ours is shown without it then.
const LIMIT: Duration = Duration::from_secs(3);

/// How often it is looked at once its output has ended: it ends right after that, as a rule.
const POLL: Duration = Duration::from_millis(1);

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
        // With a group of its own, what it starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
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
    pub fn output(self) -> String {
        self.output_within(LIMIT)
    }

    fn output_within(mut self, limit: Duration) -> String {
        let Some((bytes, status)) = self.finish(limit) else {
            self.kill_all();
            return String::new();
        };
        let text = String::from_utf8_lossy(&bytes);
        match text.trim_end_matches('\n') {
            "" => String::new(),
            text if status.success() => format!("{text}\n"),
            _ => String::new(),
        }
    }

    /// Waits for the end of its output and its own: it may close the one and go on.
    fn finish(&mut self, limit: Duration) -> Option<(Vec<u8>, ExitStatus)> {
        let deadline = Instant::now() + limit;
        let stdout = self.0.stdout.take()?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_BYTES).read_to_end(&mut bytes).map(|_| bytes);
            let _ = sender.send(read);
        });
        let bytes = receiver.recv_timeout(limit).ok()?.ok()?;
        loop {
            if let Some(status) = self.0.try_wait().ok()? {
                return Some((bytes, status));
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(POLL);
        }
    }

    /// Ends it with all of its group. The standard library does not signal groups; a shell is there anyway.
    fn kill_all(&mut self) {
        #[cfg(unix)]
        {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("kill -s KILL -- -{}", self.0.id())]);
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        let _ = self.0.kill();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_that_goes_on_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        // The second has no output any more that would keep its reader waiting.
        for (number, close) in ["", "exec >&-;"].into_iter().enumerate() {
            let file = folder.path().join(number.to_string());
            let command = format!("echo late; {close} sleep 600 & echo $! > '{}'; wait", file.display());
            let running = Wrapped(command).start(b"{}").unwrap();
            let process: u32 = loop {
                let text = fs::read_to_string(&file).unwrap_or_default();
                match text.strip_suffix('\n') {
                    Some(process) => break process.parse().unwrap(),
                    None => thread::yield_now(),
                }
            };
            assert_eq!(running.output_within(Duration::from_millis(50)), "");
            while base::system::is_alive(process) {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn what_it_leaves_behind_in_silence_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let command = format!("sleep 600 >&- & echo $! > '{}'; echo mine", file.display());
        let running = Wrapped(command).start(b"{}").unwrap();
        assert_eq!(running.output(), "mine\n");
        let process = fs::read_to_string(&file).unwrap();
        assert!(base::system::is_alive(process.trim().parse().unwrap()));
        assert!(Command::new("kill").arg(process.trim()).status().unwrap().success());
    }
}
