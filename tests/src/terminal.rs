//! The interactive client, or another program, in a pseudo-terminal whose screen a test can read.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use crate::process;

/// The longest that anything on the screen is waited for.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the input box may take to become empty by itself.
const EMPTY_TIMEOUT: Duration = Duration::from_secs(3);
/// How long what was typed may take to be in the input box before it is typed anew: a client that shows another conversation may
/// drop it.
const TYPING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the client may take to leave, or to die, before it is given up.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a leaving client is asked whether it has left.
const POLL: Duration = Duration::from_millis(10);

/// Tall enough that a short conversation does not scroll.
const ROWS: u16 = 60;
const COLUMNS: u16 = 160;

/// A key that is not a letter.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// Sends what was typed, or takes the marked choice.
    Enter,
    /// Leaves a menu.
    Escape,
    /// Interrupts; pressed twice at an empty prompt, leaves the client.
    ControlC,
    /// The end of the input.
    ControlD,
    /// Deletes what was typed.
    ControlU,
}

/// A running interactive client. Dropping it kills the client and its process group.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    // Both ends of ours are closed before the reader is waited for.
    master: Option<Box<dyn MasterPty + Send>>,
    keyboard: Option<Box<dyn Write + Send>>,
    screen: Arc<Screen>,
    reader: Option<JoinHandle<()>>,
}

struct Screen {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    closed: bool,
}

impl Terminal {
    /// Starts a program in a new terminal with exactly the given environment.
    pub(crate) fn start(
        program: &Path,
        arguments: &[OsString],
        folder: &Path,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Terminal> {
        Self::start_in(program, arguments, folder, environment, COLUMNS)
    }

    /// Starts a command in a new terminal of this width, with the environment that was set for it and nothing else.
    pub fn of(command: &Command, columns: u16) -> Result<Terminal> {
        let arguments: Vec<OsString> = command.get_args().map(OsStr::to_owned).collect();
        let set = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let folder = command.get_current_dir().unwrap_or(Path::new("."));
        Self::start_in(Path::new(command.get_program()), &arguments, folder, set.collect(), columns)
    }

    fn start_in(
        program: &Path,
        arguments: &[OsString],
        folder: &Path,
        environment: Vec<(OsString, OsString)>,
        columns: u16,
    ) -> Result<Terminal> {
        let size = PtySize { rows: ROWS, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).context("could not open a pseudo-terminal")?;
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(folder);
        command.env_clear();
        for (name, value) in environment {
            command.env(name, value);
        }
        let screen = Arc::new(Screen {
            state: Mutex::new(State { parser: vt100::Parser::new(ROWS, columns, 0), closed: false }),
            changed: Condvar::new(),
        });
        let output = pair.master.try_clone_reader()?;
        let keyboard = pair.master.take_writer()?;
        let child = pair.slave.spawn_command(command).context("could not start the client")?;
        let reader = thread::spawn({
            let screen = Arc::clone(&screen);
            move || show(output, &screen)
        });
        Ok(Terminal {
            child,
            master: Some(pair.master),
            keyboard: Some(keyboard),
            screen,
            reader: Some(reader),
        })
    }

    /// Returns the text on the screen.
    pub fn contents(&self) -> String {
        self.screen.state().parser.screen().contents()
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&self, text: &str) -> Result<()> {
        self.wait_until(&format!("`{text}` to appear"), |contents| contents.contains(text))
    }

    /// Waits until what is on the screen meets a condition, which `what` names.
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> Result<()> {
        self.wait_at_most(SCREEN_TIMEOUT, what, condition)
    }

    fn wait_at_most(&self, most: Duration, what: &str, condition: impl Fn(&str) -> bool) -> Result<()> {
        let deadline = Instant::now() + most;
        let mut state = self.screen.state();
        loop {
            let contents = state.parser.screen().contents();
            if condition(&contents) {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                let why = if state.closed { "the client has left" } else { "time is up" };
                bail!("waited for {what}, but {why}; the screen shows:\n{contents}");
            }
            let waited = self.screen.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Types text, without sending it.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.send(text.as_bytes())
    }

    /// Presses a key.
    pub fn press(&mut self, key: Key) -> Result<()> {
        self.send(match key {
            Key::Enter => b"\r",
            Key::Escape => b"\x1b",
            Key::ControlC => b"\x03",
            Key::ControlD => b"\x04",
            Key::ControlU => b"\x15",
        })
    }

    /// Types a prompt or a command into the empty input box, sends it, and waits until it is taken.
    pub fn submit(&mut self, text: &str) -> Result<()> {
        let before = echoes(&self.contents(), text);
        self.enter(text)?;
        // Right after `/clear` the client may leave a sent text in the box; that it was echoed tells it was taken.
        self.wait_until(&format!("`{text}` to be taken"), |contents| {
            input(contents) != Some(text) || echoes(contents, text) > before
        })
    }

    /// Leaves the client as a user does, and waits until it has ended.
    pub fn exit(mut self) -> Result<()> {
        self.enter("/exit")?;
        let status = self.ended()?;
        ensure!(status.success(), "the client left with {status}");
        Ok(())
    }

    /// Waits until the program has ended, and returns its exit code.
    pub fn end(mut self) -> Result<u32> {
        Ok(self.ended()?.exit_code())
    }

    fn ended(&mut self) -> Result<ExitStatus> {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                bail!("the program does not leave; the screen shows:\n{}", self.contents());
            }
            thread::sleep(POLL);
        }
    }

    /// Types text into the empty input box and presses Enter.
    ///
    /// Typed and sent in one go, the client would take the line end for a part of pasted text.
    fn enter(&mut self, text: &str) -> Result<()> {
        let deadline = Instant::now() + SCREEN_TIMEOUT;
        let is_empty = |contents: &str| input(contents) == Some("");
        loop {
            self.wait_until("an input box", |contents| input(contents).is_some())?;
            if self.wait_at_most(EMPTY_TIMEOUT, "an empty input box", is_empty).is_err() {
                self.press(Key::ControlU)?;
                self.wait_until("an empty input box", is_empty)?;
            }
            self.type_text(text)?;
            let is_typed = |contents: &str| input(contents) == Some(text);
            match self.wait_at_most(TYPING_TIMEOUT, &format!("`{text}` to be typed"), is_typed) {
                Ok(()) => return self.press(Key::Enter),
                Err(error) if Instant::now() >= deadline || self.screen.state().closed => return Err(error),
                Err(_) => self.press(Key::ControlU)?,
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let keyboard = self.keyboard.as_mut().context("the terminal is closed")?;
        keyboard.write_all(bytes)?;
        keyboard.flush()?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let (Ok(None), Some(leader)) = (self.child.try_wait(), self.child.process_id()) {
            process::kill_group(leader);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.keyboard = None;
        self.master = None;
        // The reader ends with the last process that has the terminal open, which may have left the group.
        let deadline = Instant::now() + EXIT_TIMEOUT;
        let mut state = self.screen.state();
        while !state.closed && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = self.screen.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let closed = state.closed;
        drop(state);
        if let (true, Some(reader)) = (closed, self.reader.take()) {
            let _ = reader.join();
        }
    }
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws on the screen what comes out of the terminal, until its end.
fn show(mut output: Box<dyn Read + Send>, screen: &Screen) {
    let mut buffer = [0; 16 * 1024];
    // Linux reports the end of a pseudo-terminal as an error.
    while let Ok(length @ 1..) = output.read(&mut buffer) {
        screen.state().parser.process(&buffer[..length]);
        screen.changed.notify_all();
    }
    screen.state().closed = true;
    screen.changed.notify_all();
}

/// Returns the text of the input box: the line with the prompt sign right under a rule.
fn input(contents: &str) -> Option<&str> {
    let lines: Vec<&str> = contents.lines().collect();
    lines.windows(2).rev().find_map(|pair| match pair {
        [above, line] if above.starts_with('─') => Some(line.strip_prefix('❯')?.trim()),
        _ => None,
    })
}

/// Counts how often `text` was sent in the conversation.
fn echoes(contents: &str, text: &str) -> usize {
    let is_echo = |line: &&str| line.strip_prefix('❯').is_some_and(|sent| sent.trim() == text);
    let all = contents.lines().filter(is_echo).count();
    all - usize::from(input(contents) == Some(text))
}

#[cfg(test)]
mod tests {
    use super::{echoes, input};

    #[test]
    fn what_is_still_in_the_input_box_was_not_sent() {
        assert_eq!(echoes("────\n❯ hello\n────", "hello"), 0);
        assert_eq!(echoes("❯ hello\n\n● Hi.\n\n────\n❯ hello\n────", "hello"), 1);
        assert_eq!(echoes("❯ hello\n\n● Hi.\n\n────\n❯ \n────", "hello"), 1);
    }

    #[test]
    fn only_the_line_under_a_rule_is_the_input_box() {
        assert_eq!(
            input("❯ said before\n\n● Done.\n\n────\n❯\u{a0}typed now\n────\n  ? for shortcuts"),
            Some("typed now")
        );
        assert_eq!(input("────\n❯ \n────"), Some(""));
        assert_eq!(input("❯ said before\n\n● Done."), None);
    }
}
