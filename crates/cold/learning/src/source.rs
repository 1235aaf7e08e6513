//! The two sources of what happened.

pub mod observations;
pub mod transcripts;

use crate::change;
use crate::detect::FILE_TOOLS;
use crate::failure;
use crate::happening::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tools that run a line of shell.
const SHELLS: [&str; 1] = ["Bash"];
/// How the result of a call begins that a hook refused: no other result begins so.
const BY_HOOK: [&str; 3] = ["Wyren ", "PreToolUse:", "[lessons-learned]"];

/// The longest input of a tool that is looked at, in bytes.
const MAX_INPUT: usize = 8_000;
/// How much of an error is kept of its beginning and of its end, in bytes.
const MAX_ERROR: usize = 1_500;

/// Returns what a call was to run, from its input as JSON.
fn command(tool: &str, input: Option<&str>) -> Option<String> {
    #[derive(Deserialize)]
    struct Input {
        command: Option<String>,
        #[serde(default)]
        run_in_background: Value,
    }
    let input = input.filter(|_| SHELLS.contains(&tool))?;
    let Input { command, run_in_background } = serde_json::from_str(input).ok()?;
    let command = command.filter(|command| !command.trim().is_empty())?;
    // As the shell writes it: behind a text of several lines that might mean something else.
    let is_sent_back =
        run_in_background == true && !command.contains('\n') && !command.trim_end().ends_with('&');
    Some(if is_sent_back { format!("{} &", command.trim_end()) } else { command })
}

/// Returns the result of a call that the client says has succeeded: of a line whose last program only passes on what the others
/// print (`cargo test --nocapture | tail`), their refusal shows in the output alone.
fn succeeded(command: Option<&str>, output: impl FnOnce() -> String) -> Outcome {
    const PASSING: [&str; 6] = ["cat", "echo", "head", "tail", "tee", "true"];
    // Most lines have neither, and reading one takes longer.
    let Some(command) = command.filter(|command| command.contains(['|', ';'])) else {
        return Outcome::Succeeded;
    };
    let commands = shell::commands(command);
    let is_passed =
        commands.len() > 1 && commands.last().is_some_and(|last| PASSING.contains(&last.program()));
    // What only shows something may show such a text.
    if !is_passed || change::is_look(command) {
        return Outcome::Succeeded;
    }
    let output = output();
    let programs = commands.iter().map(shell::Command::program).filter(|program| !PASSING.contains(program));
    if failure::is_refusal(&output, programs) { failed(&output) } else { Outcome::Succeeded }
}

/// Returns what another tool was given, as JSON.
fn input(tool: &str, input: Option<&str>) -> Option<String> {
    #[derive(Deserialize, Serialize)]
    struct File {
        file_path: String,
    }
    let input = input.filter(|_| !SHELLS.contains(&tool))?;
    if input.len() <= MAX_INPUT {
        return Some(input.to_owned());
    }
    // Of a long text that is written, only where.
    let file: File = serde_json::from_str(input).ok().filter(|_| FILE_TOOLS.contains(&tool))?;
    serde_json::to_string(&file).ok()
}

/// Returns the result of a call that gave an error.
fn failed(error: &str) -> Outcome {
    if BY_HOOK.iter().any(|beginning| error.starts_with(beginning)) {
        return Outcome::Refused;
    }
    // A program prints what went wrong first or last; between them may be megabytes.
    let (start, end) = (
        error.floor_char_boundary(MAX_ERROR),
        error.ceil_char_boundary(error.len().saturating_sub(MAX_ERROR)),
    );
    let kept = if end > start { format!("{}\n{}", &error[..start], &error[end..]) } else { error.to_owned() };
    Outcome::Failed(kept)
}
