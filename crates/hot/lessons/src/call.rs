//! A tool call, whichever agent makes it, as lessons see it.

use crate::escaped::{self, Content, Members};
use crate::path_class::Folders;
use base::Paths;
use hook::Platform;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

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
    pub contents: Vec<Content<'a>>,
    /// Every other field of the input as text.
    pub fields: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    /// Where it is made.
    pub folders: Folders<'a>,
    lower_contents: OnceCell<Vec<String>>,
}

/// The fields that name a file.
const PATH_FIELDS: [&str; 5] = ["file_path", "notebook_path", "path", "absolute_path", "filePath"];
/// The fields that hold what is written.
const CONTENT_FIELDS: [&str; 4] = ["content", "new_string", "new_source", "newString"];

/// What lessons call the data folder, and how its path ends where that holds anyway.
const USUAL_DATA_FOLDER: &str = "~/.local/share/wyren/";
const USUAL_ENDS: [&str; 2] = ["/share/wyren", "/Application Support/wyren"];

impl<'a> Call<'a> {
    /// Reads a call: its tool, and its input as the agent sent it. What is not understood is left out.
    ///
    /// The call is made in the project's folder, unless [`Self::at`] says otherwise.
    pub fn read(tool: &'a str, input: Option<&'a RawValue>, platform: Platform, project: &'a Path) -> Self {
        let folders = Folders::new(project, project, None);
        let mut call = Call { tool: platform.canonical_tool(tool).into(), folders, ..Call::default() };
        for member in Members::of(input.map_or("", RawValue::get)) {
            let name = escaped::resolve(member.name);
            match escaped::string(member.value) {
                Some(content) if CONTENT_FIELDS.contains(&&*name) => {
                    call.contents.push(Content::escaped(content, member.is_plain))
                }
                _ => drop(call.fields.insert(name, text(member.value))),
            }
        }
        call.command = call.fields.get("command").or_else(|| call.fields.get("cmd")).cloned();
        for name in PATH_FIELDS {
            call.paths.extend(call.fields.get(name).map(|path| relative(path, project)));
        }
        if let Some(edits) = call.fields.get("edits") {
            call.contents.extend(edited(edits).into_iter().map(Content::from));
        }
        // Codex hands a patch to its hooks as the command of `apply_patch`.
        let patch =
            if call.tool == "Edit" { &["patch", "input", "command"][..] } else { &["patch", "input"] };
        if let Some(patch) = patch.iter().find_map(|name| call.fields.get(*name)) {
            call.take_patch(&patch.clone(), project);
        }
        call
    }

    /// Says where the call is made, and where the user's home is.
    pub fn at(self, current: &'a Path, home: Option<&'a Path>) -> Self {
        Self { folders: self.folders.at(current, home), ..self }
    }

    /// Calls the user's data folder by its usual name, so that the shipped lessons about it hold wherever it is.
    pub fn name_data_folder(&mut self, paths: &Paths) {
        let is_moved = |folder: &&str| !USUAL_ENDS.iter().any(|end| folder.ends_with(end));
        let folder = Some(paths.data()).filter(|folder| folder.is_absolute()).and_then(Path::to_str);
        let Some(folder) = folder.filter(is_moved) else { return };
        let folder = format!("{folder}/");
        for text in self.command.iter_mut().filter(|text| text.contains(&folder)) {
            *text = Cow::Owned(text.replace(&folder, USUAL_DATA_FOLDER));
        }
        for path in self.paths.iter_mut().filter(|path| path.starts_with(&folder)) {
            *path = path.replacen(&folder, USUAL_DATA_FOLDER, 1);
        }
    }

    /// Returns the texts that are written, in lower case; made once, when first asked for.
    pub(crate) fn lower_contents(&self) -> &[String] {
        self.lower_contents.get_or_init(|| {
            self.contents.iter().map(|content| content.whole().to_ascii_lowercase()).collect()
        })
    }

    /// Says whether the call is for a shell.
    pub fn is_shell(&self) -> bool {
        self.tool == "Bash" && self.command.is_some()
    }

    /// Says whether the client itself runs the call in the background.
    pub(crate) fn is_background(&self) -> bool {
        self.fields.get("run_in_background").is_some_and(|value| value == "true")
    }

    /// Takes files and added lines out of a patch in Codex' form.
    fn take_patch(&mut self, patch: &str, project: &Path) {
        const HEADS: [&str; 4] =
            ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
        let mut added = String::new();
        for line in patch.lines() {
            if let Some(path) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
                let path = path.trim();
                self.paths.push(relative(path, project));
                self.fields.entry("file_path".into()).or_insert_with(|| Cow::Owned(path.to_owned()));
            } else if let Some(text) = line.strip_prefix('+') {
                added.push_str(text);
                added.push('\n');
            }
        }
        if !added.is_empty() && !self.paths.is_empty() {
            self.contents.push(Content::from(added));
        }
    }
}

/// Returns a field of an input as text: a string as it is, a list of words as a shell would need it, the rest as JSON.
fn text(raw: &str) -> Cow<'_, str> {
    if let Some(string) = escaped::string(raw) {
        return escaped::resolve(string);
    }
    match raw.as_bytes().first() {
        Some(b'[') => match serde_json::from_str::<Vec<String>>(raw) {
            Ok(words) => Cow::Owned(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            Err(_) => Cow::Borrowed(raw),
        },
        _ => Cow::Borrowed(raw),
    }
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
        assert_eq!(edit.contents[0].whole(), "a\nb");
        let edits =
            r#"{"file_path":"b","edits":[{"old_string":"x","new_string":"one"},{"new_string":"two"}]}"#;
        let contents = read("MultiEdit", edits, Platform::ClaudeCode).contents;
        assert_eq!(contents.iter().map(Content::whole).collect::<Vec<_>>(), ["one", "two"]);
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
        assert_eq!(patch.contents[0].whole(), "new\n");
        let gemini = read("run_shell_command", r#"{"command":"ls"}"#, Platform::Gemini);
        assert!(gemini.is_shell());
        assert_eq!(read("shell", "{}", Platform::ClaudeCode).tool, "shell");
    }
}
