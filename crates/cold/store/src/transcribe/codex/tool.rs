//! A call of Codex' in Claude Code's terms, as the hooks have it.

use super::output::strings;
use capture::Fields;
use hook::Platform;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

const PATCH: &str = "*** Begin Patch";
const PATCH_END: &str = "*** End Patch";
/// Shells whose third word is a script.
const SHELLS: [&str; 6] = ["bash", "zsh", "sh", "dash", "pwsh", "powershell.exe"];

/// A call: the tool by Claude Code's name, its input as JSON, and the folder that it names.
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) input: String,
    pub(super) folder: Option<String>,
}

impl Called {
    /// A call of a function; its arguments are JSON in a text.
    pub(super) fn function(name: &str, arguments: &str) -> Self {
        let tool = Platform::Codex.canonical_tool(name);
        let Some(fields) = Fields::read(arguments) else {
            return Self { tool: tool.to_owned(), input: json!(arguments).to_string(), folder: None };
        };
        let folder = fields.text("workdir").or_else(|| fields.text("working_directory"));
        let folder = folder.map(Cow::into_owned);
        if tool == "Bash" {
            let script = fields.get("command").or_else(|| fields.get("cmd")).map(script_of);
            return Self { folder, ..Self::script(&script.unwrap_or_default()) };
        }
        let input = hook::canonical_input(tool, arguments).into_owned();
        Self { tool: tool.to_owned(), input, folder }
    }

    /// A call whose input is a text.
    pub(super) fn custom(name: &str, input: &str) -> Self {
        let tool = Platform::Codex.canonical_tool(name);
        let input = json!({"input": input}).to_string();
        Self { tool: tool.to_owned(), input: hook::canonical_input(tool, &input).into_owned(), folder: None }
    }

    /// A call of the shell that a model has built in.
    pub(super) fn local_shell(action: Option<&RawValue>) -> Self {
        let action = action.and_then(|action| Fields::read(action.get())).unwrap_or_default();
        let folder = action.text("working_directory").map(Cow::into_owned);
        Self { folder, ..Self::script(&action.get("command").map(script_of).unwrap_or_default()) }
    }

    pub(super) fn search(query: &str) -> Self {
        Self { tool: "WebSearch".to_owned(), input: json!({"query": query}).to_string(), folder: None }
    }

    /// A command that a record tells of with its outcome.
    pub(super) fn executed(record: &Fields<'_>) -> Option<Self> {
        let script = script_of(record.get("command")?);
        Some(Self { folder: record.text("cwd").map(Cow::into_owned), ..Self::script(&script) })
    }

    /// Files that a record says were changed, as one patch.
    pub(super) fn changed(record: &Fields<'_>) -> Option<Self> {
        let changes = record.get("changes")?;
        let changes: std::collections::BTreeMap<String, &RawValue> =
            serde_json::from_str(changes.get()).ok()?;
        let mut patch = format!("{PATCH}\n");
        for (path, change) in &changes {
            patch.push_str(&file_of_patch(path, &Fields::read(change.get())?)?);
        }
        patch.push_str(PATCH_END);
        (!changes.is_empty()).then(|| Self::custom("apply_patch", &patch))
    }

    fn script(script: &str) -> Self {
        if let Some(patch) = patch_in(script) {
            return Self::custom("apply_patch", patch);
        }
        Self { tool: "Bash".to_owned(), input: json!({"command": script}).to_string(), folder: None }
    }
}

/// Returns one file of a patch, from what changed in it.
fn file_of_patch(path: &str, change: &Fields<'_>) -> Option<String> {
    Some(match change.text("type")?.as_ref() {
        "add" => {
            let content = change.text("content").unwrap_or_default();
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            format!("*** Add File: {path}\n{lines}")
        }
        "delete" => format!("*** Delete File: {path}\n"),
        "update" => {
            let target = change.text("move_path").filter(|target| !target.is_empty());
            let target = target.map(|target| format!("*** Move to: {target}\n")).unwrap_or_default();
            let diff = change.text("unified_diff").unwrap_or_default();
            let lines: String = diff.lines().filter_map(line_of_patch).collect();
            format!("*** Update File: {path}\n{target}{lines}")
        }
        _ => return None,
    })
}

/// Returns a line of a unified diff as a line of a patch; the places of hunks are not in one.
fn line_of_patch(line: &str) -> Option<String> {
    if line.starts_with("--- ") || line.starts_with("+++ ") {
        return None;
    }
    match line.strip_prefix("@@") {
        Some(rest) => {
            let context = rest.split_once("@@").map_or("", |(_, context)| context.trim());
            Some(format!("@@ {context}").trim_end().to_owned() + "\n")
        }
        None => Some(format!("{line}\n")),
    }
}

/// Returns the name of a tool with that of its server.
pub(super) fn qualified(namespace: Option<&str>, name: &str) -> String {
    match namespace.filter(|namespace| namespace.starts_with("mcp__") && !name.starts_with("mcp__")) {
        Some(namespace) => format!("{}__{name}", namespace.trim_end_matches('_')),
        None => name.to_owned(),
    }
}

/// Returns the number of the program that a call asks for more.
pub(super) fn process_of(arguments: &str) -> Option<String> {
    let process = Fields::read(arguments)?.get("session_id")?.get().trim_matches('"').to_owned();
    Some(process).filter(|process| !process.is_empty())
}

/// Returns the script that a command has: a text, or the last word of a shell's.
fn script_of(command: &RawValue) -> String {
    let words = strings(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [script] => (*script).to_owned(),
        [shell, flag, script] if is_shell(shell) && flag.starts_with(['-', '/']) => (*script).to_owned(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit(['/', '\\']).next().unwrap_or(program))
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+*".contains(&byte) || byte >= 0x80;
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// Returns the patch that a script hands to `apply_patch`.
fn patch_in(script: &str) -> Option<&str> {
    let begin = script.find(PATCH)?;
    let is_applied = script[..begin].contains("apply_patch") || script[..begin].contains("applypatch");
    let end = script[begin..].find(PATCH_END)? + begin + PATCH_END.len();
    is_applied.then(|| &script[begin..end])
}
