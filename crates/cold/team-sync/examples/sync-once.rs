//! Adds entries to the local copy of a clone and syncs: what the tests start, and kill, in a process of its own.
//!
//! Usage: `sync-once <clone> <entries, one per line> <milliseconds>`. The exit code is 0 when they landed and 3 when they
//! are queued.

use base::{Env, files};
use place::Mode;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use team_sync::repository::{ByLine, Outgoing, Published, Team};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [clone, entries, milliseconds] = &arguments[..] else {
        return Err("three arguments are needed".into());
    };
    let deadline = Instant::now() + Duration::from_millis(milliseconds.parse()?);
    let team = Team::open(Path::new(clone), &Env::process())?;
    add_entries(&team, entries)?;
    let leave = team.leave(&Env::process())?.ok_or("the clone may not publish")?;
    let outgoing = Outgoing { session: Some("0123456789"), ..Outgoing::with(&leave) };
    let published = team.exchange(Some(&outgoing), &ByLine, deadline)?.published;
    Ok(ExitCode::from(if matches!(published, Published::Queued(_)) { 3 } else { 0 }))
}

fn add_entries(team: &Team, entries: &str) -> Result<(), Box<dyn Error>> {
    let path = team.copy_folder().join("memory.md");
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(_) if team.mode() == Mode::Branch => {
            std::fs::read_to_string(team.folder().join("memory.md")).unwrap_or_default()
        }
        Err(_) => String::new(),
    };
    for line in entries.lines().map(|entry| format!("- {entry}")) {
        if !text.lines().any(|found| found == line) {
            text.extend([&*line, "\n"]);
        }
    }
    if !entries.is_empty() {
        files::write_atomic(&path, text.as_bytes())?;
    }
    Ok(())
}
