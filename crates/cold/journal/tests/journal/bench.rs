//! A spool and a database for one test.

use base::settings::Settings;
use base::{Env, Timestamp};
use capture::{Observation, Rules, Spool};
use journal::{Entry, Summary, read};
use serde_json::{Value, json};
use std::path::Path;
use store::Store;
use store::observations::Drain;

/// What is recorded where a person has set nothing.
pub(crate) fn default_rules() -> Rules {
    let env = Env::fixed::<&str, &str>([]);
    Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env)
}

pub(crate) struct Bench {
    _folder: tempfile::TempDir,
    pub(crate) spool: Spool,
    pub(crate) store: Store,
    at: u64,
    number: u64,
    session: String,
    cwd: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let store =
            Store::open(&folder.path().join("wyren.db"), store::TABLES).unwrap().deriving(journal::DERIVED);
        Self {
            _folder: folder,
            spool,
            store,
            at: 1_800_000_000_000,
            number: 0,
            session: "s".to_owned(),
            cwd: "/home/dev/shop".to_owned(),
        }
    }

    /// Appends a line as a hook would.
    pub(crate) fn line(&self, line: &str) {
        let observation =
            Observation::read(line.as_bytes()).unwrap_or_else(|| panic!("no observation: {line}"));
        self.spool.append(&observation).unwrap();
    }

    /// Appends a line of a recording, unless it is of a tool that is not recorded by default.
    pub(crate) fn line_of_hook(&self, line: &str) {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let tool = recorded["data"]["tool"].as_str().filter(|_| recorded["kind"] == "tool");
        if tool.is_none_or(|tool| default_rules().records_tool(tool)) {
            self.line(line);
        }
    }

    /// Goes on in another session.
    pub(crate) fn session(&mut self, session: &str) -> &mut Self {
        session.clone_into(&mut self.session);
        self
    }

    /// Goes on in another folder.
    pub(crate) fn in_folder(&mut self, cwd: &str) -> &mut Self {
        cwd.clone_into(&mut self.cwd);
        self
    }

    /// Appends an observation: of session `s` in `/home/dev/shop`, unless another was named.
    pub(crate) fn put(&mut self, kind: &str, data: Value) -> &mut Self {
        self.number += 1;
        self.at += 1_000;
        let line = json!({
            "v": 2, "kind": kind, "id": format!("{kind}:{}", self.number), "ts": self.at, "session": self.session,
            "cwd": self.cwd, "data": data,
        });
        self.line(&line.to_string());
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Self {
        self.put("prompt", json!({"text": text, "branch": "main"}))
    }

    pub(crate) fn bash(&mut self, command: &str, stdout: &str) -> &mut Self {
        self.put("tool", json!({"tool": "Bash", "input": {"command": command}, "output": {"stdout": stdout, "stderr": ""}}))
    }

    pub(crate) fn bash_fails(&mut self, command: &str, output: &str) -> &mut Self {
        let error = format!("Exit code 1\n{output}");
        self.put("tool", json!({"tool": "Bash", "input": {"command": command}, "error": error}))
    }

    /// An edit whose patch has these lines.
    pub(crate) fn edit(&mut self, path: &str, lines: &[&str]) -> &mut Self {
        let patch = json!([{"oldStart": 10, "oldLines": 1, "newStart": 10, "newLines": 1, "lines": lines}]);
        self.put(
            "tool",
            json!({
                "tool": "Edit", "input": {"file_path": format!("/home/dev/shop/{path}"), "old_string": "a", "new_string": "b"},
                "output": {"filePath": path, "structuredPatch": patch},
            }),
        )
    }

    /// A question to the user, as the client reports it with the answer.
    pub(crate) fn answered(&mut self, question: &str, answer: impl Into<Value>) -> &mut Self {
        let questions =
            json!([{"question": question, "header": "Choice", "options": [], "multiSelect": false}]);
        let output = json!({"questions": questions, "answers": {question: answer.into()}, "annotations": {}});
        self.put(
            "tool",
            json!({"tool": "AskUserQuestion", "input": {"questions": questions}, "output": output}),
        )
    }

    pub(crate) fn read(&mut self, path: &str, content: &str) -> &mut Self {
        let file = json!({"filePath": path, "content": content, "startLine": 1});
        self.put(
            "tool",
            json!({"tool": "Read", "input": {"file_path": format!("/home/dev/shop/{path}")}, "output": {"type": "text", "file": file}}),
        )
    }

    pub(crate) fn done(&mut self, text: &str) -> &mut Self {
        self.put("turn-end", json!({"outcome": "done", "text": text}))
    }

    pub(crate) fn drain(&mut self) {
        Drain::unbounded(&self.spool).run(&mut self.store, Timestamp::now()).unwrap();
    }

    pub(crate) fn entries(&mut self) -> Vec<Entry> {
        self.drain();
        read::entries_where(&self.store, "1 ORDER BY e.at, e.id", []).unwrap()
    }

    pub(crate) fn summaries(&mut self) -> Vec<Summary> {
        self.drain();
        read::summaries_where(&self.store, "1 ORDER BY s.at, s.id", []).unwrap()
    }

    /// Returns every line that recall may show, without kinds.
    pub(crate) fn plain_lines(&mut self) -> Vec<String> {
        let entries = self.entries().into_iter().filter(|entry| !entry.is_noise);
        entries.flat_map(|entry| [vec![entry.title], entry.detail.facts].concat()).collect()
    }

    /// Returns every line that recall may show: `kind: title`, and facts indented below.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for entry in self.entries().into_iter().filter(|entry| !entry.is_noise) {
            lines.push(format!("{}: {}", entry.kind, entry.title));
            lines.extend(entry.detail.facts.iter().map(|fact| format!("  {fact}")));
        }
        lines
    }
}
