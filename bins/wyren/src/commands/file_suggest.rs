//! `wyren file-suggest`: the files that the client suggests after `@`.

use crate::terminal;
use anyhow::Result;
use base::{Env, Paths};
use clap::Args;
use journal::suggest::Asked;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The most that the client tells, in bytes.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

/// How long files may be looked for that git's index does not have, and how many bytes of their names are taken.
const LOOK: Duration = Duration::from_millis(300);
const MAX_NAME_BYTES: u64 = 1024 * 1024;
/// The most files and folders that are looked at outside of a repository, and how deep.
const MOST_ENTRIES: usize = 20_000;
const DEEPEST: usize = 8;
/// Folders of what is made and fetched, which a repository ignores.
const MADE: [&str; 6] = ["__pycache__", "build", "dist", "node_modules", "target", "venv"];

const EXAMPLES: &str = "\
Examples:
  wyren install --file-suggest                 have Claude Code ask Wyren for files
  echo '{\"query\":\"auth\"}' | wyren file-suggest     what it would show for @auth";

/// Reads what Claude Code tells on standard input; prints up to 15 paths.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

pub(crate) fn run(env: &Env, paths: &Paths) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut input)?;
    let input: Value = serde_json::from_slice(&input).unwrap_or_default();
    let cwd = match input["cwd"].as_str().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => PathBuf::from(cwd),
        None => std::env::current_dir()?,
    };
    let others = |root: Option<&Path>| match root {
        Some(root) => untracked(root).unwrap_or_default(),
        None => files_below(&cwd, Instant::now() + LOOK),
    };
    let home = base::system::home(env);
    let asked = Asked {
        query: input["query"].as_str().unwrap_or_default(),
        cwd: &cwd,
        session: input["session_id"].as_str().filter(|session| !session.is_empty()),
        home: home.as_deref(),
    };
    let files = journal::suggest::suggest(asked, paths, others);
    let lines: String = files.iter().map(|file| format!("{file}\n")).collect();
    Ok(terminal::exact_output().write_all(lines.as_bytes())?)
}

/// Returns the files of a work tree that git neither has nor ignores, unless that takes too long.
fn untracked(root: &Path) -> io::Result<Vec<String>> {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.fsmonitor=false", "ls-files", "--others", "--exclude-standard", "-z"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    let output = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut names = Vec::new();
        let read = output.map(|output| output.take(MAX_NAME_BYTES).read_to_end(&mut names));
        let _ = sender.send(read.transpose().map(|_| names));
    });
    let names = receiver.recv_timeout(LOOK);
    // It has ended, has more than is wanted, or is late.
    child.kill()?;
    child.wait()?;
    let names = names.map_err(io::Error::other)??;
    Ok(whole_names(&names))
}

/// Returns the names that end with a zero: behind the last one, there may be half a name.
fn whole_names(names: &[u8]) -> Vec<String> {
    let end = names.iter().rposition(|byte| *byte == 0).unwrap_or_default();
    let names = names[..end].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
}

/// Returns the files below a folder, those near it first, without hidden ones.
fn files_below(folder: &Path, deadline: Instant) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = VecDeque::from([(folder.to_owned(), String::new(), 0)]);
    let mut seen = 0;
    while let Some((folder, prefix, depth)) = folders.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES || Instant::now() > deadline {
                return files;
            }
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_file() {
                files.push(format!("{prefix}{name}"));
            } else if kind.is_dir() && depth < DEEPEST && !MADE.contains(&&*name) {
                folders.push_back((entry.path(), format!("{prefix}{name}/"), depth + 1));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_name_is_none() {
        for (names, expected) in [
            ("", &[][..]),
            ("src/ma", &[]),
            ("src/main.rs\0", &["src/main.rs"]),
            ("a\0b/c\0b/d", &["a", "b/c"]),
        ] {
            assert_eq!(whole_names(names.as_bytes()), expected, "{names:?}");
        }
    }
}
