//! A user with a project and a journal about it.

use base::{Env, Paths, files};
use hook::{Event, Host, Outcome, PreToolUse, Silence, UserPromptSubmit};
use recall::{Contents, Entry, cache_file};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

pub(crate) fn entry(id: &str, title: &str) -> Entry {
    Entry {
        session: "earlier".into(),
        id: id.into(),
        day: "2026-11-16".into(),
        glyph: "✓".into(),
        title: title.into(),
    }
}

/// Returns contents with entries of these titles for each file.
pub(crate) fn contents(files: &[(&str, &[&str])]) -> Contents {
    let mut contents = Contents::default();
    for (path, titles) in files {
        for title in *titles {
            let number = contents.entries.len() as u32;
            contents.entries.push(entry(&format!("id{number}"), title));
            contents.files.entry((*path).to_owned()).or_default().push(number);
        }
    }
    contents
}

pub(crate) struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Desk {
    /// Returns a user whose journal has these titles about files of the project.
    pub(crate) fn new(files: &[(&str, &[&str])]) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() };
        fs::create_dir_all(desk.project().join(".git")).unwrap();
        fs::write(desk.project().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        desk.write(&contents(files));
        desk
    }

    pub(crate) fn with(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    pub(crate) fn write(&self, contents: &Contents) {
        files::write_atomic(&cache_file(&self.paths(), &self.project()), &contents.build(1)).unwrap();
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn paths(&self) -> Paths {
        Paths::of(&Env::fixed([("WYREN_DATA_DIR", self.folder.path().join("data"))]))
    }

    /// Returns what the model gets at a Read of a file of the project.
    pub(crate) fn read(&self, session: &str, file: &str) -> String {
        self.read_with(json!({"session_id": session, "tool_input": {"file_path": self.project().join(file)}}))
    }

    pub(crate) fn read_with(&self, fields: Value) -> String {
        let mut call = json!({"cwd": self.project(), "hook_event_name": "PreToolUse", "tool_name": "Read"});
        merge(&mut call, fields);
        let answer = self.run("file-recall", &call, |call: PreToolUse, host| {
            let answer = recall::file::answer(&call, host);
            Ok(capture::told(answer, &call, host))
        });
        assert!(answer["hookSpecificOutput"]["permissionDecision"].is_null(), "{answer}");
        context(&answer)
    }

    /// Returns what the model gets at a prompt, besides something that it gets anyway.
    pub(crate) fn prompt(&self, session: &str, prompt: &str) -> String {
        let call = json!({
            "session_id": session, "cwd": self.project(), "hook_event_name": "UserPromptSubmit", "prompt": prompt,
        });
        let answer = self.run("prompt-sync", &call, |call: UserPromptSubmit, host| {
            Ok(recall::prompt::beside(hook::Answer::context("News."), &call, host))
        });
        context(&answer).strip_prefix("News.").unwrap().trim_start().to_owned()
    }

    fn run<E: Event>(
        &self,
        hook: &'static str,
        call: &Value,
        body: impl FnOnce(E, &Host) -> Outcome<E>,
    ) -> Value {
        let folder = self.folder.path().to_str().unwrap();
        let mut variables = self.variables.clone();
        variables.push(("WYREN_DATA_DIR", format!("{folder}/data")));
        variables.push(("XDG_RUNTIME_DIR", folder.to_owned()));
        variables.push(("CLAUDE_PLUGIN_ROOT", format!("{folder}/plugin")));
        let host = Host::new(hook, Env::fixed(variables));
        let response = hook::respond(call.to_string().into_bytes().leak(), &host, Silence::EmptyObject, body);
        response.claims.into_iter().for_each(hook::Claim::confirm);
        response.afterwards.into_iter().for_each(|task| hook::finish(task, &host));
        serde_json::from_slice(&response.stdout).unwrap()
    }
}

fn merge(call: &mut Value, fields: Value) {
    if let (Value::Object(call), Value::Object(fields)) = (call, fields) {
        call.extend(fields);
    }
}

fn context(answer: &Value) -> String {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}
