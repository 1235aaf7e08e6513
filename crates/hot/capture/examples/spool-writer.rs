//! Appends events to a spool, as a hook would: `spool-writer <spool> <gate> <writer> <lines>`.
//!
//! Waits until nobody holds the lock on the file `gate`, so that a test can let many writers go at once.

use capture::{Event, Kind, Spool, VERSION};
use serde_json::value::RawValue;
use std::error::Error;
use std::fs::File;

/// How many writers share a session.
const WRITERS_PER_SESSION: u64 = 10;
/// Every so many lines there is a prompt, and an event that is too long for a line.
const PROMPT_EVERY: u64 = 20;
const LONG_EVERY: u64 = 150;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, gate, writer, lines] = arguments.as_slice() else {
        return Err("usage: spool-writer <spool> <gate> <writer> <lines>".into());
    };
    let (writer, lines): (u64, u64) = (writer.parse()?, lines.parse()?);
    let spool = Spool::new(folder.into());
    File::open(gate)?.lock_shared()?;
    for number in 0..lines {
        append(&spool, writer, number)?;
    }
    Ok(())
}

fn append(spool: &Spool, writer: u64, number: u64) -> Result<(), Box<dyn Error>> {
    let is_prompt = number.is_multiple_of(PROMPT_EVERY);
    let length = if number % LONG_EVERY == LONG_EVERY - 1 { 70_000 } else { 200 };
    let output = RawValue::from_string(format!(r#"{{"stdout":"{}"}}"#, "words ".repeat(length / 6)))?;
    let input = RawValue::from_string(format!(r#"{{"command":"echo {writer} {number}"}}"#))?;
    let id = format!("{writer}-{number}");
    let event = Event {
        version: VERSION,
        kind: if is_prompt { Kind::Prompt } else { Kind::Tool },
        id: if is_prompt { format!("p:{id}") } else { format!("t:{id}") }.into(),
        at: base::Timestamp::now().millis(),
        session: format!("session-{}", writer / WRITERS_PER_SESSION).into(),
        cwd: format!("/home/dev/project-{}", writer % 7).into(),
        agent: None,
        agent_type: None,
        prompt: is_prompt.then(|| format!("please do {id}").into()),
        tool: (!is_prompt).then(|| "Bash".into()),
        tool_use_id: (!is_prompt).then(|| id.clone().into()),
        input: (!is_prompt).then_some(&*input),
        output: (!is_prompt).then_some(&*output),
        error: None,
        duration_ms: Some(1.5),
    };
    Ok(spool.append(&event)?)
}
