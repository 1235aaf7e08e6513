//! Output that may be longer than the terminal is high: it goes through the user's pager then, as git's does.

use super::net::Net;
use anstream::AutoStream;
use std::env;
use std::io::{self, IsTerminal as _, Write};
use std::process::{Command, Stdio};

/// What shows text page by page where `PAGER` names nothing, and how: it ends by itself when everything fits, and keeps colours.
const DEFAULT: &str = "less";
const LESS: (&str, &str) = ("LESS", "FRX");

/// Writes a text to standard output; through the pager when that is a terminal with fewer lines.
pub(crate) fn page(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let mut text = Vec::new();
    let choice = AutoStream::choice(&stdout);
    write(&mut Net::new(AutoStream::new(&mut text as &mut dyn Write, choice)))?;
    let height = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    if stdout.is_terminal() && lines >= height && through_pager(&text).is_some() {
        return Ok(());
    }
    Ok(stdout.lock().write_all(&text)?)
}

/// Returns nothing where the pager could not be started.
fn through_pager(text: &[u8]) -> Option<()> {
    let named = env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let words = named.as_deref().map_or_else(|| Some(vec![DEFAULT.to_owned()]), shlex::split)?;
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if env::var_os(LESS.0).is_none() {
        command.env(LESS.0, LESS.1);
    }
    let mut child = command.spawn().ok()?;
    // A pager that is left early closes the pipe.
    let _ = child.stdin.take()?.write_all(text);
    child.wait().ok().map(drop)
}
