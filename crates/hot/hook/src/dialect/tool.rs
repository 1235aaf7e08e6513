//! A tool call of another agent in Claude Code's terms: names, fields, and whether it failed.

use super::fields::{Fields, Written, quoted, text};
use crate::platform::Platform;
use serde_json::value::RawValue;
use std::borrow::Cow;

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

/// The fields that a patch may be in, how one in Codex' form begins, and its lines that name a file.
const PATCH_FIELDS: [&str; 3] = ["command", "input", "patchText"];
const PATCH: &str = "*** Begin Patch";
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// How Cursor's names for the tools of servers begin.
const CURSOR_MCP: &str = "MCP:";

/// How the lines begin that Gemini puts below the output of a command.
const BELOW_OUTPUT: [&str; 4] = [EXIT_CODE, "Signal: ", "Background PIDs: ", "Process Group PGID: "];
const EXIT_CODE: &str = "Exit Code: ";

/// Returns Claude Code's name for the tool of a call. Gemini names the server of a tool beside the name for both.
pub(super) fn name(agent: Platform, call: &Fields<'_>) -> Option<String> {
    let tool = call.text("tool_name")?;
    let server = call.get("mcp_context").and_then(|context| Fields::read(context.get()));
    let of_server =
        server.and_then(|context| Some((context.text("server_name")?, context.text("tool_name")?)));
    Some(match (of_server, tool.strip_prefix(CURSOR_MCP)) {
        (Some((server, tool)), _) => ["mcp__", &server, "__", &tool].concat(),
        (None, Some(tool)) if agent == Platform::Cursor => ["mcp__", tool].concat(),
        (None, _) => agent.canonical_tool(&tool).to_owned(),
    })
}

/// Returns an input of a tool, by Claude Code's name, with Claude Code's names for its fields.
pub fn input<'a>(tool: &str, input: &'a str) -> Cow<'a, str> {
    let Some(fields) = Fields::read(input) else { return Cow::Borrowed(input) };
    let is_file_tool = FILE_TOOLS.contains(&tool);
    let has = |name: &str| fields.get(name).is_some();
    let (mut ours, mut is_changed) = (Written::new(), false);
    for (name, value) in &fields.0 {
        let renamed = FIELDS.iter().find(|(theirs, ours)| **theirs == **name && !has(ours));
        let patch = Some(value)
            .filter(|_| is_file_tool && PATCH_FIELDS.contains(&&**name))
            .and_then(|value| text(value.get()))
            .filter(|text| text.trim_start().starts_with(PATCH));
        let name = match (renamed, &patch) {
            (_, Some(patch)) => {
                let mut lines = patch.lines();
                let file = lines.find_map(|line| PATCHED.iter().find_map(|head| line.strip_prefix(head)));
                ours.string("file_path", file.unwrap_or_default().trim());
                "patch"
            }
            (Some((_, renamed)), None) => renamed,
            (None, None) if is_file_tool && &**name == "path" && !has("file_path") => "file_path",
            (None, None) => name,
        };
        is_changed |= renamed.is_some() || patch.is_some() || name == "file_path";
        ours.raw(name, Some(value.get()));
    }
    if is_changed { Cow::Owned(ours.end()) } else { Cow::Borrowed(input) }
}

/// How a call ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What the tool gave back, as JSON.
    pub(super) response: Option<String>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

impl Outcome {
    /// Reads how a call of a tool, by Claude Code's name, ended.
    pub(super) fn of(agent: Platform, tool: &str, call: &Fields<'_>) -> Self {
        let error = call.text("error").or_else(|| call.text("error_message")).map(Cow::into_owned);
        // Cursor's is JSON in a string.
        let output = call.text("tool_output");
        let Some(raw) = call.get("tool_response").map(RawValue::get).or(output.as_deref()) else {
            return Self { response: None, error };
        };
        let is_shell = tool == "Bash";
        let fields = Fields::read(raw).unwrap_or(Fields(Vec::new()));
        let content = match agent {
            Platform::Gemini => fields.get("llmContent").map_or(raw, RawValue::get),
            Platform::OpenCode => fields.get("output").map_or(raw, RawValue::get),
            _ => raw,
        };
        let printed = text(content).filter(|_| is_shell);
        let (printed, code) = match &printed {
            Some(printed) if agent == Platform::Gemini => command_output(printed),
            Some(printed) => (&**printed, exit_code(&fields)),
            None => ("", exit_code(&fields).filter(|_| is_shell)),
        };
        // Codex says how a patch ended, and of a command only what it printed.
        let whole = text(content).filter(|_| agent == Platform::Codex && !is_shell);
        let code = code.or_else(|| whole.as_deref().and_then(patch_code).map(Cow::Borrowed));
        let printed = if is_shell { printed } else { whole.as_deref().unwrap_or_default() };
        let is_unknown = agent == Platform::Codex && is_shell && code.is_none();
        let code = code.filter(|code| code != "0");
        let failed = || {
            let failure = fields.get("error")?.get();
            text(failure).or_else(|| Fields::read(failure)?.text("message")).map(Cow::into_owned)
        };
        let exited = || Some(["Exit code ", &*code?, "\n", printed.trim()].concat().trim_end().to_owned());
        let response = match text(content).filter(|_| is_shell) {
            Some(_) if is_unknown => ["{\"stdout\":", &quoted(printed), ",\"status\":\"unknown\"}"].concat(),
            Some(_) => ["{\"stdout\":", &quoted(printed), "}"].concat(),
            None if serde_json::from_str::<&RawValue>(content).is_ok() => content.to_owned(),
            // No JSON after all.
            None => quoted(content),
        };
        Self { response: Some(response), error: error.or_else(failed).or_else(exited) }
    }
}

/// Returns the code that a command ended with, as OpenCode or Cursor names it.
fn exit_code<'a>(response: &Fields<'a>) -> Option<Cow<'a, str>> {
    let metadata = response.get("metadata").and_then(|metadata| Fields::read(metadata.get()));
    let code = metadata.and_then(|metadata| metadata.get("exit")).or_else(|| response.get("exitCode"));
    code.map(|code| Cow::Borrowed(code.get()))
}

/// Returns the code in what Codex says about a patch: `Exit code: 1`, the time that it took, and what was printed.
fn patch_code(text: &str) -> Option<&str> {
    text.strip_prefix("Exit code: ")?.lines().next().map(str::trim).filter(|code| !code.is_empty())
}

/// Takes what Gemini says about a command apart: its output, and its exit code where that is not 0.
fn command_output(text: &str) -> (&str, Option<Cow<'_, str>>) {
    let text = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
    let text = text.strip_suffix("\n</untrusted_context>").unwrap_or(text);
    let (mut output, mut code) = (text.split_once("Output: ").map_or(text, |(_, output)| output), None);
    while let Some((above, last)) = output.rsplit_once('\n')
        && BELOW_OUTPUT.iter().any(|beginning| last.starts_with(beginning))
    {
        code = last.strip_prefix(EXIT_CODE).map(|code| Cow::Borrowed(code.trim())).or(code);
        output = above;
    }
    (if output == "(empty)" { "" } else { output }, code)
}
