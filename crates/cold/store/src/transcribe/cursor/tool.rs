//! A call of Cursor's in Claude Code's terms.

use capture::Fields;
use hook::Platform;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Fields of inputs that its hooks do not send, and Claude Code's names for them.
const FIELDS: [(&str, &str, &str); 4] = [
    ("Write", "contents", "content"),
    ("Glob", "glob_pattern", "pattern"),
    ("WebSearch", "search_term", "query"),
    ("NotebookEdit", "target_notebook", "notebook_path"),
];
const PATCH: &str = "*** Begin Patch";

/// Returns the tool of a call by Claude Code's name, and its input as JSON.
pub(super) fn called(block: &Fields<'_>) -> Option<(String, String)> {
    let name = block.text("name").filter(|name| !name.is_empty())?;
    let raw = block.get("input").map_or("null", RawValue::get);
    let fields = Fields::read(raw).unwrap_or_default();
    let text = |name: &str| fields.text(name).filter(|text| !text.is_empty());
    match &*name {
        "Delete" => {
            let patch = format!("{PATCH}\n*** Delete File: {}\n*** End Patch", text("path")?);
            Some(patched(&patch))
        }
        "ApplyPatch" => {
            let whole = serde_json::from_str::<String>(raw).ok().map(Cow::from);
            Some(patched(&whole.or_else(|| text("patch")).or_else(|| text("input"))?))
        }
        "CallMcpTool" | "CallDynamicTool" => {
            let server = text("server").or_else(|| text("namespace"))?;
            let tool = text("toolName").or_else(|| text("tool"))?;
            let input = fields.get("arguments").map_or("null", RawValue::get);
            Some((format!("mcp__{server}__{tool}"), input.to_owned()))
        }
        name => {
            let tool = canonical(name);
            let input = hook::canonical_input(tool, raw).into_owned();
            Some((tool.to_owned(), renamed(tool, input)))
        }
    }
}

/// Returns Claude Code's name for a tool, also for the names of earlier versions.
fn canonical(name: &str) -> &str {
    match name {
        "run_terminal_cmd" | "run_terminal_command" => "Bash",
        "search_replace" => "Edit",
        "read_file" | "ReadFile" => "Read",
        "EditNotebook" => "NotebookEdit",
        name => Platform::Cursor.canonical_tool(name),
    }
}

fn patched(patch: &str) -> (String, String) {
    let input = json!({"input": patch}).to_string();
    ("Edit".to_owned(), hook::canonical_input("Edit", &input).into_owned())
}

fn renamed(tool: &str, input: String) -> String {
    let Some((_, theirs, ours)) = FIELDS.iter().find(|(name, ..)| *name == tool) else { return input };
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(&input) else { return input };
    let Some(fields) = value.as_object_mut().filter(|fields| !fields.contains_key(*ours)) else {
        return input;
    };
    let Some(taken) = fields.remove(*theirs) else { return input };
    fields.insert((*ours).to_owned(), taken);
    value.to_string()
}
