//! Prints how many bytes of the spool a tool call takes, with and without what its input has already:
//! `bytes-per-call [folder of payloads]`, by default the recorded ones and an edit of a file of 8 KiB.

use capture::{Data, Fields, Observation, ToolCall, shrink};
use serde_json::value::RawValue;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;

const PAYLOADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/payloads");

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from(PAYLOADS), PathBuf::from);
    let (mut calls, mut before, mut after) = (0, 0, 0);
    for path in base::files::files_in(&folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("PostToolUse.") {
            let (all, kept) = measure(&std::fs::read_to_string(&path)?)?;
            show(&name, all, kept)?;
            (calls, before, after) = (calls + 1, before + all, after + kept);
        }
    }
    show(&format!("mean of {calls} recorded calls"), before / calls.max(1), after / calls.max(1))?;
    let file = "a line of forty characters in a file....\n".repeat(200);
    let edit = serde_json::json!({"session_id": "s", "tool_name": "Edit", "tool_use_id": "toolu_1",
        "tool_input": {"file_path": "/p/a", "old_string": "one line", "new_string": "another line"},
        "tool_response": {"filePath": "/p/a", "oldString": "one line", "newString": "another line",
            "originalFile": file, "structuredPatch": [{"lines": ["-one line", "+another line"]}]}});
    let write = serde_json::json!({"session_id": "s", "tool_name": "Write", "tool_use_id": "toolu_2",
        "tool_input": {"file_path": "/p/a", "content": file},
        "tool_response": {"type": "update", "filePath": "/p/a", "content": file, "originalFile": file,
            "structuredPatch": []}});
    for (name, call) in [("edit in a file of 8 KiB", edit), ("write of a file of 8 KiB", write)] {
        let (all, kept) = measure(&call.to_string())?;
        show(name, all, kept)?;
    }
    Ok(())
}

fn show(name: &str, before: usize, after: usize) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{name:50} {before:7} {after:7}")
}

/// Returns the bytes of a call's line with all of its response, and as it is recorded.
fn measure(payload: &str) -> Result<(usize, usize), Box<dyn Error>> {
    let call = Fields::read(payload).ok_or("not an object")?;
    let tool = call.text("tool_name").unwrap_or_default();
    let (Some(input), Some(output)) = (call.get("tool_input"), call.get("tool_response")) else {
        return Err("neither input nor response".into());
    };
    let kept = shrink::response(&tool, Some(input.get()), output.get());
    Ok((line(&tool, input, &shrink::json(output.get()))?, line(&tool, input, &kept)?))
}

fn line(tool: &str, input: &RawValue, output: &str) -> Result<usize, Box<dyn Error>> {
    let (input, output) = (compact(input.get())?, compact(output)?);
    let data = Data::Tool(ToolCall {
        tool: tool.into(),
        input: Some(&input),
        output: Some(&output),
        ..ToolCall::default()
    });
    Ok(serde_json::to_vec(&Observation::new("s", "t:1", 0, data))?.len())
}

/// Returns a value as the client sends it; recorded payloads are indented.
fn compact(json: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(serde_json::from_str::<serde_json::Value>(json)?.to_string())
}
