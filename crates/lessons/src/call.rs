//! A tool call, whichever agent makes it, as lessons see it.

use base::bytes;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Which agent's names and fields a call comes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Claude Code.
    #[default]
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Platform {
    /// Returns the platform that `LESSONS_AGENT_PLATFORM` names; an unknown one is Claude Code.
    pub fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            _ => Self::ClaudeCode,
        }
    }

    /// Returns Claude Code's name for a tool of this platform.
    fn canonical(self, tool: &str) -> &str {
        match (self, tool) {
            (Self::Codex, "shell" | "local_shell" | "exec_command" | "container.exec")
            | (Self::Gemini, "run_shell_command") => "Bash",
            (Self::Codex | Self::Gemini, "read_file") => "Read",
            (Self::Codex, "apply_patch") | (Self::Gemini, "replace_in_file" | "replace") => "Edit",
            (Self::Codex | Self::Gemini, "write_file") => "Write",
            (Self::Codex | Self::Gemini, "find_files") | (Self::Gemini, "glob") => "Glob",
            (Self::Gemini, "search_file_content") => "Grep",
            (Self::Gemini, "web_fetch") => "WebFetch",
            // The client calls it by either name.
            (Self::ClaudeCode, "Task") => "Agent",
            _ => tool,
        }
    }
}

/// A tool call.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    /// The tool, by Claude Code's name.
    pub tool: Cow<'a, str>,
    /// What a shell is to run.
    pub command: Option<Cow<'a, str>>,
    /// The files, relative to the project where they are in it.
    pub paths: Vec<String>,
    /// The texts that are written.
    pub contents: Vec<Cow<'a, str>>,
    /// Every other field of the input as text.
    pub fields: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    lower_contents: OnceCell<Vec<String>>,
}

/// The fields that name a file.
const PATH_FIELDS: [&str; 5] = ["file_path", "notebook_path", "path", "absolute_path", "filePath"];
/// The fields that hold what is written.
const CONTENT_FIELDS: [&str; 4] = ["content", "new_string", "new_source", "newString"];

impl<'a> Call<'a> {
    /// Reads a call: its tool, and its input as the agent sent it. What is not understood is left out.
    pub fn read(tool: &'a str, input: Option<&'a RawValue>, platform: Platform, project: &Path) -> Self {
        let fields = input.map(fields).unwrap_or_default();
        let mut call = Call { tool: platform.canonical(tool).into(), fields, ..Call::default() };
        call.command = call.fields.get("command").or_else(|| call.fields.get("cmd")).cloned();
        for name in PATH_FIELDS {
            call.paths.extend(call.fields.get(name).map(|path| relative(path, project)));
        }
        for name in CONTENT_FIELDS {
            // Moved, not copied: it may be large.
            call.contents.extend(call.fields.remove(name));
        }
        if let Some(edits) = call.fields.get("edits") {
            call.contents.extend(edited(edits).into_iter().map(Cow::Owned));
        }
        if let Some(patch) = ["patch", "input"].iter().find_map(|name| call.fields.get(*name)) {
            call.take_patch(&patch.clone(), project);
        }
        call
    }

    /// Returns the texts that are written, in lower case; made once, when first asked for.
    pub(crate) fn lower_contents(&self) -> &[String] {
        self.lower_contents
            .get_or_init(|| self.contents.iter().map(|content| content.to_ascii_lowercase()).collect())
    }

    /// Says whether the call is for a shell.
    pub fn is_shell(&self) -> bool {
        self.tool == "Bash" && self.command.is_some()
    }

    /// Takes files and added lines out of a patch in Codex' form.
    fn take_patch(&mut self, patch: &str, project: &Path) {
        const HEADS: [&str; 4] =
            ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
        let mut added = String::new();
        for line in patch.lines() {
            if let Some(path) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
                self.paths.push(relative(path.trim(), project));
            } else if let Some(text) = line.strip_prefix('+') {
                added.push_str(text);
                added.push('\n');
            }
        }
        if !added.is_empty() && !self.paths.is_empty() {
            self.contents.push(Cow::Owned(added));
        }
    }
}

/// Returns the fields of an input as text: strings as they are, lists of words as a shell would need them, the rest as
/// JSON.
fn fields(input: &RawValue) -> BTreeMap<Cow<'_, str>, Cow<'_, str>> {
    let raw: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(input.get()).unwrap_or_default();
    raw.into_iter().map(|(name, value)| (name, text(value))).collect()
}

fn text(value: &RawValue) -> Cow<'_, str> {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'"') => unescape(raw.get(1..raw.len() - 1).unwrap_or_default()),
        Some(b'[') => match serde_json::from_str::<Vec<String>>(raw) {
            Ok(words) => Cow::Owned(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            Err(_) => Cow::Borrowed(raw),
        },
        _ => Cow::Borrowed(raw),
    }
}

/// Resolves the escapes of a JSON string. It may be a large file's contents, so what stands between two escapes is copied
/// in one piece, and only once.
fn unescape(escaped: &str) -> Cow<'_, str> {
    let Some(mut at) = bytes::find(b'\\', escaped.as_bytes()) else { return Cow::Borrowed(escaped) };
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    loop {
        text.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let simple = match escape {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'u' => {
                // Rare, and in pairs for what lies beyond 16 bits: that is left to the parser.
                let end = unicode_end(rest, at);
                let character: String =
                    serde_json::from_str(&format!("\"{}\"", &rest[at..end])).unwrap_or_default();
                text.push_str(&character);
                rest = &rest[end..];
                None
            }
            other => Some(char::from(other)),
        };
        if let Some(character) = simple {
            text.push(character);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        match bytes::find(b'\\', rest.as_bytes()) {
            Some(next) => at = next,
            None => break,
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns where a run of `\\u` escapes that begins at `at` ends.
fn unicode_end(text: &str, at: usize) -> usize {
    const ESCAPE_BYTES: usize = 6;
    let mut end = at;
    while text.get(end..).is_some_and(|rest| rest.starts_with("\\u"))
        && text.is_char_boundary(end + ESCAPE_BYTES)
    {
        end += ESCAPE_BYTES;
    }
    end.max(at + 2)
}

/// Writes a word so that a shell reads it as one.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Returns the new texts of a list of edits.
fn edited(edits: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Edit {
        new_string: Option<String>,
    }
    let edits: Vec<Edit> = serde_json::from_str(edits).unwrap_or_default();
    edits.into_iter().filter_map(|edit| edit.new_string).collect()
}

fn relative(path: &str, project: &Path) -> String {
    let inside = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str);
    inside.unwrap_or(path).replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &'static str, input: &str, platform: Platform) -> Call<'static> {
        let raw = RawValue::from_string(input.to_owned()).unwrap();
        Call::read(tool, Some(Box::leak(raw)), platform, Path::new("/home/dev/app"))
    }

    #[test]
    fn the_fields_of_claude_code() {
        let bash = read("Bash", r#"{"command":"ls -la","timeout":5}"#, Platform::ClaudeCode);
        assert!(bash.is_shell());
        assert_eq!(bash.command.as_deref(), Some("ls -la"));
        assert_eq!(bash.fields["timeout"], "5");
        let edit = read(
            "Edit",
            r#"{"file_path":"/home/dev/app/src/a.py","new_string":"a\nb"}"#,
            Platform::ClaudeCode,
        );
        assert_eq!(edit.paths, ["src/a.py"]);
        assert_eq!(edit.contents, ["a\nb"]);
        let edits =
            r#"{"file_path":"b","edits":[{"old_string":"x","new_string":"one"},{"new_string":"two"}]}"#;
        assert_eq!(read("MultiEdit", edits, Platform::ClaudeCode).contents, ["one", "two"]);
    }

    proptest::proptest! {
        #[test]
        fn escapes_are_resolved_as_the_parser_does(text in ".{0,80}", escaped in proptest::bool::ANY) {
            let mut json = serde_json::to_string(&text).unwrap();
            if escaped {
                json = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                json = format!("\"{json}\"");
            }
            let raw = RawValue::from_string(json).unwrap();
            proptest::prop_assert_eq!(super::text(&raw), text);
        }
    }

    #[test]
    fn what_is_odd_is_tolerated() {
        assert_eq!(read("Bash", r#"{"command":42}"#, Platform::ClaudeCode).command.as_deref(), Some("42"));
        assert_eq!(read("Bash", "null", Platform::ClaudeCode).command, None);
        assert_eq!(read("Bash", "[1]", Platform::ClaudeCode).command, None);
        assert_eq!(Call::read("Bash", None, Platform::ClaudeCode, Path::new("/")).command, None);
    }

    #[test]
    fn codex_and_gemini_are_understood() {
        let shell = read("shell", r#"{"command":["bash","-lc","pytest -x"]}"#, Platform::Codex);
        assert_eq!((&*shell.tool, shell.command.as_deref()), ("Bash", Some("bash -lc 'pytest -x'")));
        let patch =
            r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch"}"#;
        let patch = read("apply_patch", patch, Platform::Codex);
        assert_eq!((&*patch.tool, patch.paths), ("Edit", vec!["src/a.rs".to_owned()]));
        assert_eq!(patch.contents, ["new\n"]);
        let gemini = read("run_shell_command", r#"{"command":"ls"}"#, Platform::Gemini);
        assert!(gemini.is_shell());
        assert_eq!(read("shell", "{}", Platform::ClaudeCode).tool, "shell");
    }
}
