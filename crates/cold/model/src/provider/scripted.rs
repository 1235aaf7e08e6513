//! A model that follows a script, for tests of whatever asks one.
//!
//! The script is a file of JSON lines (`docs/formats.md`). Each question takes the next line, in whichever process it is
//! asked; after the last one the script begins again.

use super::{Answer, Error, Limits, Provider, Reply, Request, Usage};
use crate::money::Money;
use base::lock::Lock;
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that names a script, which then takes the place of every provider.
pub const SCRIPT_VARIABLE: &str = "WYREN_MODEL_SCRIPT";

/// How long another process may hold the position.
const PATIENCE: Duration = Duration::from_secs(10);

/// One line of a script.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    /// Answers after a while.
    Answer {
        answer: Value,
        #[serde(default)]
        after_ms: u64,
        #[serde(default)]
        input: u64,
        #[serde(default)]
        output: u64,
        cost_usd: Option<f64>,
    },
    /// Says something that is not JSON.
    Lie {
        #[serde(default)]
        text: String,
        cost_usd: Option<f64>,
    },
    /// Never answers.
    Hang,
    /// Ends without an answer.
    Crash,
    Refuse {
        reason: String,
    },
}

/// A model that follows a script.
#[derive(Debug)]
pub struct Scripted {
    script: PathBuf,
}

impl Scripted {
    /// Returns the model that follows the script in a file.
    pub fn new(script: impl Into<PathBuf>) -> Self {
        Self { script: script.into() }
    }

    fn next_line(&self) -> io::Result<Line> {
        let script = std::fs::read_to_string(&self.script)?;
        let lines: Vec<&str> = script.lines().filter(|line| !line.trim().is_empty()).collect();
        let position = take_position(&self.script.with_added_extension("position"))?;
        let count = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        let index = position.checked_rem(count).and_then(|index| usize::try_from(index).ok());
        let line = index.map_or("", |index| lines[index]);
        serde_json::from_str(line).map_err(io::Error::from)
    }
}

/// Returns the count of questions so far, and counts one more: a byte each, so that nothing has to be read back. The lock
/// keeps processes from taking the same one.
fn take_position(path: &Path) -> io::Result<u64> {
    let lock = Lock::exclusive(path, PATIENCE)?.ok_or(io::ErrorKind::WouldBlock)?;
    let position = lock.file().metadata()?.len();
    lock.file().write_all(b".")?;
    Ok(position)
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "script"
    }

    fn model(&self) -> &str {
        "haiku"
    }

    fn ask(&self, _request: &Request, limits: Limits) -> Result<Reply, Error> {
        let line = self.next_line();
        let line = line.map_err(|cause| Error::Start { program: self.script.clone(), cause })?;
        let cost = |dollars: Option<f64>| dollars.and_then(Money::from_dollars);
        match line {
            Line::Answer { answer, after_ms, input, output, cost_usd } => {
                let wait = Duration::from_millis(after_ms);
                std::thread::sleep(wait.min(limits.left()));
                if limits.left().is_zero() {
                    return Err(Error::TimedOut);
                }
                let usage = Usage { input, output, ..Usage::default() };
                Ok(Reply { answer: Answer::Value(answer), usage, cost: cost(cost_usd) })
            }
            Line::Lie { text, cost_usd } => {
                Ok(Reply { answer: Answer::Text(text), usage: Usage::default(), cost: cost(cost_usd) })
            }
            Line::Hang => {
                std::thread::sleep(limits.left());
                Err(Error::TimedOut)
            }
            Line::Crash => Err(Error::Crashed("the script says so".to_owned())),
            Line::Refuse { reason } => Err(Error::Refused { reason, bill: super::Bill::Nothing }),
        }
    }
}
