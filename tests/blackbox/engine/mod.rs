//! The engine from outside: what the hooks record, what becomes of it, and that nothing is lost on the way.

mod exchange;
mod forget;
mod privacy;
mod repair;
mod spool;
mod told;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::Sandbox;

/// Sends a prompt, as the client would.
pub(crate) fn prompt(sandbox: &Sandbox, session: &str, id: &str, text: &str) -> Result<()> {
    let input = json!({
        "session_id": session, "cwd": sandbox.project(), "prompt_id": id, "prompt": text,
        "hook_event_name": "UserPromptSubmit",
    });
    succeed(sandbox.run("prompt-record", input.to_string().as_bytes())?).map(drop)
}

/// Reports a shell command and its output, as the client would.
pub(crate) fn shell(sandbox: &Sandbox, session: &str, id: &str, command: &str, stdout: &str) -> Result<()> {
    let input = json!({
        "session_id": session, "cwd": sandbox.project(), "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": command}, "tool_response": {"stdout": stdout, "stderr": ""}, "duration_ms": 12,
        "hook_event_name": "PostToolUse",
    });
    succeed(sandbox.run("tool-record", input.to_string().as_bytes())?).map(drop)
}

/// Runs `wyren` and returns what it printed.
pub(crate) fn wyren(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    succeed(sandbox.wyren(arguments)?)
}

/// Returns the lines of `wyren export`.
pub(crate) fn export(sandbox: &Sandbox, arguments: &[&str]) -> Result<Vec<Value>> {
    let text = wyren(sandbox, &[&["export"], arguments].concat())?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

fn succeed(output: Output) -> Result<String> {
    ensure!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the files below `folder` that contain `text`. A worker may remove one meanwhile.
pub(crate) fn files_with(folder: &Path, text: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_with(&path, text)?);
            continue;
        }
        match fs::read(&path) {
            Ok(bytes) if bytes.windows(text.len()).any(|window| window == text.as_bytes()) => {
                found.push(path)
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(found)
}
