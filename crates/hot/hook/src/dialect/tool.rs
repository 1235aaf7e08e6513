//! A tool call of another agent in Claude Code's terms: names, fields, and whether it failed.

use crate::platform::Platform;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Fields of inputs, and Claude Code's names for them.
const FIELDS: [(&str, &str); 5] = [
    ("absolute_path", "file_path"),
    ("filePath", "file_path"),
    ("newString", "new_string"),
    ("oldString", "old_string"),
    ("target_file", "file_path"),
];

/// The tools whose `path` is a file.
const FILE_TOOLS: [&str; 3] = ["Edit", "Read", "Write"];

/// How a patch in Codex' form begins, and its lines that name a file.
const PATCH: &str = "*** Begin Patch";
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// How Cursor's names for the tools of servers begin.
const CURSOR_MCP: &str = "MCP:";

/// How the lines begin that Gemini puts below the output of a command.
const BELOW_OUTPUT: [&str; 4] = [EXIT_CODE, "Signal: ", "Background PIDs: ", "Process Group PGID: "];
const EXIT_CODE: &str = "Exit Code: ";

type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Returns Claude Code's name for a tool.
pub(super) fn name(agent: Platform, tool: &str) -> Cow<'_, str> {
    match tool.strip_prefix(CURSOR_MCP) {
        Some(tool) if agent == Platform::Cursor => Cow::Owned(format!("mcp__{tool}")),
        _ => Cow::Borrowed(agent.canonical_tool(tool)),
    }
}

/// Returns an input with Claude Code's names for its fields.
pub(super) fn input<'a>(tool: &str, input: &'a RawValue) -> Cow<'a, RawValue> {
    renamed(tool, input).map_or(Cow::Borrowed(input), Cow::Owned)
}

fn renamed(tool: &str, input: &RawValue) -> Option<Box<RawValue>> {
    let mut fields: Fields<'_> = serde_json::from_str(input.get()).ok()?;
    let is_file_tool = FILE_TOOLS.contains(&tool);
    let path = is_file_tool.then_some(("path", "file_path"));
    let mut is_changed = false;
    for (theirs, ours) in FIELDS.into_iter().chain(path) {
        if !fields.contains_key(ours)
            && let Some(value) = fields.remove(theirs)
        {
            fields.insert(ours.into(), value);
            is_changed = true;
        }
    }
    let file;
    let patch = ["command", "input", "patchText"].into_iter().find_map(|name| Some((name, patch(fields.get(name)?)?)));
    if let Some((name, patch)) = patch.filter(|_| is_file_tool) {
        let raw = fields.remove(name)?;
        fields.insert("patch".into(), raw);
        let first = patch.lines().find_map(|line| PATCHED.iter().find_map(|head| line.strip_prefix(head)));
        file = to_raw_value(first.unwrap_or_default().trim()).ok()?;
        fields.entry("file_path".into()).or_insert(&file);
        is_changed = true;
    }
    if !is_changed {
        return None;
    }
    to_raw_value(&fields).ok()
}

fn patch(value: &RawValue) -> Option<String> {
    let text: String = serde_json::from_str(value.get()).ok()?;
    text.trim_start().starts_with(PATCH).then_some(text)
}

/// How a call ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What the tool gave back.
    pub(super) response: Option<Box<RawValue>>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

/// What Claude Code's shell gives back.
#[derive(Serialize)]
struct Shell<'a> {
    stdout: &'a str,
}

/// A response with the fields of those that have some.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    /// Gemini's, for the model.
    #[serde(borrow, rename = "llmContent")]
    for_model: Option<&'a RawValue>,
    /// Gemini's.
    error: Option<Failure>,
    /// OpenCode's.
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    metadata: Metadata,
    /// Cursor's.
    #[serde(rename = "exitCode")]
    exit_code: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    exit: Option<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Failure {
    Text(String),
    Object { message: String },
    Other(serde::de::IgnoredAny),
}

impl Outcome {
    /// Reads how a call of a tool, by Claude Code's name, ended. `output` is a response that is JSON in a string.
    pub(super) fn of(agent: Platform, tool: &str, response: Option<&RawValue>, output: Option<&str>) -> Self {
        let is_shell = tool == "Bash";
        let Some(raw) = response.map(RawValue::get).or(output) else { return Self::default() };
        let read: Response<'_> = serde_json::from_str(raw).unwrap_or_default();
        let content = match agent {
            Platform::Gemini => read.for_model.map_or(raw, RawValue::get),
            Platform::OpenCode => read.output.map_or(raw, RawValue::get),
            _ => raw,
        };
        let text: Option<String> = serde_json::from_str(content).ok();
        let (text, exit) = match text {
            Some(text) if is_shell && agent == Platform::Gemini => command_output(&text),
            text => (text, read.metadata.exit.or(read.exit_code).filter(|_| is_shell)),
        };
        let failed = match read.error {
            Some(Failure::Text(message) | Failure::Object { message }) => Some(message),
            Some(Failure::Other(_)) | None => None,
        };
        let exited = exit.filter(|code| *code != 0).map(|code| {
            let output = text.as_deref().unwrap_or_default().trim();
            format!("Exit code {code}\n{output}").trim_end().to_owned()
        });
        let response = match &text {
            Some(text) if is_shell => to_raw_value(&Shell { stdout: text }).ok(),
            _ => RawValue::from_string(content.to_owned()).or_else(|_| to_raw_value(content)).ok(),
        };
        Self { response, error: failed.or(exited) }
    }
}

/// Takes what Gemini says about a command apart: its output, and its exit code where that is not 0.
fn command_output(text: &str) -> (Option<String>, Option<i64>) {
    let text = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
    let text = text.strip_suffix("\n</untrusted_context>").unwrap_or(text);
    let (mut output, mut code) = (text.split_once("Output: ").map_or(text, |(_, output)| output), None);
    while let Some((above, last)) = output.rsplit_once('\n')
        && BELOW_OUTPUT.iter().any(|beginning| last.starts_with(beginning))
    {
        code = last.strip_prefix(EXIT_CODE).and_then(|code| code.trim().parse().ok()).or(code);
        output = above;
    }
    let output = if output == "(empty)" { "" } else { output };
    (Some(output.to_owned()), code)
}
