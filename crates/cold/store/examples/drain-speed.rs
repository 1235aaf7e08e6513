//! Measures how fast a spool is drained: `drain-speed [lines]`, 100,000 by default. Prints lines per second.

use base::Timestamp;
use capture::{Data, Observation, Prompt, Spool, ToolCall};
use serde_json::value::RawValue;
use std::error::Error;
use std::io::Write as _;
use std::time::Instant;
use store::Store;
use store::observations::{self, Drain, Drained};

const LINES: u64 = 100_000;
const SESSIONS: u64 = 20;
const PROMPT_EVERY: u64 = 25;
/// About what a tool call weighs: a command and a screen of output.
const OUTPUT_BYTES: usize = 600;

fn main() -> Result<(), Box<dyn Error>> {
    let lines = std::env::args().nth(1).map_or(Ok(LINES), |lines| lines.parse())?;
    let folder = tempfile::tempdir()?;
    let spool = Spool::new(folder.path().join("spool"));
    fill(&spool, lines)?;
    let mut store = Store::open(&folder.path().join("wyren.db"), &[observations::TABLES])?;
    let started = Instant::now();
    let drained = Drain::unbounded(&spool).run(&mut store, Timestamp::now())?;
    let seconds = started.elapsed().as_secs_f64();
    let Drained::Done(progress) = drained else { return Err("someone else is draining".into()) };
    assert_eq!((progress.stored, progress.unread), (lines, 0));
    writeln!(std::io::stdout(), "{:.0} lines/s ({lines} lines in {seconds:.3} s)", lines as f64 / seconds)?;
    Ok(())
}

fn fill(spool: &Spool, lines: u64) -> Result<(), Box<dyn Error>> {
    let start = Timestamp::now().millis();
    let input = RawValue::from_string(
        r#"{"command":"cargo test --workspace","description":"Run all tests"}"#.into(),
    )?;
    let output = format!(r#"{{"stdout":"{}","stderr":""}}"#, "a line of output\\n".repeat(OUTPUT_BYTES / 18));
    let output = RawValue::from_string(output)?;
    for number in 0..lines {
        let is_prompt = (number / SESSIONS).is_multiple_of(PROMPT_EVERY);
        let id = format!("{}:toolu_01Abcdefghijklmn{number:08}", if is_prompt { "p" } else { "t" });
        let data = if is_prompt {
            let text = "please run the tests and say what fails".into();
            Data::Prompt(Prompt { text, ..Prompt::default() })
        } else {
            Data::Tool(ToolCall {
                tool: "Bash".into(),
                tool_use_id: Some(id[2..].into()),
                input: Some(&input),
                output: Some(&output),
                duration_ms: Some(12.5),
                ..ToolCall::default()
            })
        };
        let session = format!("5f0c1a52-0000-4000-8000-{:012}", number % SESSIONS);
        spool.append(&Observation {
            cwd: "/home/dev/project".into(),
            ..Observation::new(&session, id.as_str(), start + number, data)
        })?;
    }
    Ok(())
}
