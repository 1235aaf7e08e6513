//! Appends observations to a spool, as a hook would: `spool-writer <spool> <gate> <writer> <lines>`.
//!
//! Waits until no process holds the lock on the file `gate`, so that a test can let many writers go at once.

use capture::{Data, Observation, Prompt, Spool, ToolCall};
use serde_json::value::RawValue;
use std::error::Error;
use std::fs::File;

/// How many writers share a session.
const WRITERS_PER_SESSION: u64 = 10;
/// Every so many lines there is a prompt, and an observation that is too long for a line.
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
    let data = if is_prompt {
        Data::Prompt(Prompt { text: format!("please do {id}").into(), ..Prompt::default() })
    } else {
        Data::Tool(ToolCall {
            tool: "Bash".into(),
            tool_use_id: Some(id.clone().into()),
            input: Some(&input),
            output: Some(&output),
            duration_ms: Some(1.5),
            ..ToolCall::default()
        })
    };
    let session = format!("session-{}", writer / WRITERS_PER_SESSION);
    let id = if is_prompt { format!("p:{id}") } else { format!("t:{id}") };
    Ok(spool.append(&Observation {
        cwd: format!("/home/dev/project-{}", writer % 7).into(),
        ..Observation::new(&session, id, base::Timestamp::now().millis(), data)
    })?)
}
