//! The distiller from outside: slices, scores, questions, answers, what is applied, and how good it is.

mod answers;
mod applying;
mod asking;
mod evaluating;
mod extracting;
mod leaving;
mod months;
mod properties;
mod scoring;
mod slicing;

use std::path::{Path, PathBuf};

use base::Timestamp;
use distiller::{Action, Applied, Clearance, Context, Evidence, Operation, Reason, Slice, Source, apply};
use memory::Memory;
use serde_json::{Value, json};

const SESSION: &str = "ab12cd34-0000-4000-8000-000000000000";

/// A transcript that is written line by line.
struct Transcript {
    folder: tempfile::TempDir,
    lines: Vec<String>,
}

impl Transcript {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), lines: Vec::new() }
    }

    /// Adds a record as it is, with the uuid `u<number of the line>`.
    fn record(mut self, mut record: Value) -> Self {
        let number = self.lines.len() + 1;
        record["uuid"] = json!(format!("u{number}"));
        record["sessionId"] = json!(SESSION);
        self.lines.push(record.to_string());
        self
    }

    fn raw(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }

    fn user(self, text: &str) -> Self {
        self.record(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    fn assistant(self, text: &str) -> Self {
        let content = json!([{"type": "text", "text": text}]);
        self.record(json!({"type": "assistant", "message": {"role": "assistant", "content": content}}))
    }

    fn tool(self, name: &str, input: Value, output: &str, is_error: bool) -> Self {
        let id = format!("t{}", self.lines.len());
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}]);
        self.record(json!({"type": "assistant", "message": {"role": "assistant", "content": call}}))
            .record(json!({"type": "user", "message": {"role": "user", "content": result}}))
    }

    fn path(&self) -> PathBuf {
        let path = self.folder.path().join("session.jsonl");
        std::fs::write(&path, self.lines.join("\n") + "\n").unwrap();
        path
    }

    fn slice(&self) -> Slice {
        Slice::read(&self.path(), None).unwrap()
    }
}

/// Returns a conversation in which a person and the model speak in turns, beginning with the person.
fn conversation(said: &[&str]) -> Transcript {
    said.iter().enumerate().fold(Transcript::new(), |transcript, (at, text)| {
        if at % 2 == 0 { transcript.user(text) } else { transcript.assistant(text) }
    })
}

/// Returns the memory with a title and the given sections, each a name and the lines below it.
fn memory(sections: &[(&str, &[&str])]) -> Memory {
    let mut text = String::from("# Wyren Memory\n");
    for (name, lines) in sections {
        text.push_str(&format!("\n## {name}\n\n"));
        lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    Memory::parse(&text)
}

/// Returns every entry as `Section: text`.
fn entries(memory: &Memory) -> Vec<String> {
    memory.entries().map(|(section, entry)| format!("{section}: {}", entry.text())).collect()
}

/// Returns the id of the entry that says `text`.
fn id(memory: &Memory, text: &str) -> String {
    let found = memory.entries().find(|(_, entry)| entry.text() == text);
    let (section, entry) = found.unwrap_or_else(|| panic!("no entry says {text:?}"));
    distiller::id_of(section, entry)
}

fn operation(action: Action, section: &str, turns: &[u64]) -> Operation {
    Operation {
        action,
        section: section.to_owned(),
        confidence: 0.9,
        turns: turns.to_vec(),
        source: Source::Model,
    }
}

fn add(section: &str, text: &str, turns: &[u64]) -> Operation {
    operation(Action::Add { text: text.to_owned() }, section, turns)
}

fn replace(section: &str, entry: &str, text: &str, turns: &[u64]) -> Operation {
    let action =
        Action::Replace { entry: entry.to_owned(), text: text.to_owned(), why: "changed".to_owned() };
    operation(action, section, turns)
}

fn remove(section: &str, entry: &str, turns: &[u64]) -> Operation {
    let action =
        Action::Remove { entry: entry.to_owned(), reason: Reason::Resolved, by: "the release".to_owned() };
    operation(action, section, turns)
}

/// The morning of 16 November 2026.
const NOW: &str = "2026-11-16T09:00:00Z";

/// Applies operations as Ada does then.
fn apply_to(memory: &Memory, slice: &Slice, operations: &[Operation]) -> Applied {
    let evidence = Evidence::of(slice);
    let when: Timestamp = NOW.parse().unwrap();
    let context = Context {
        session: &slice.session,
        author: "Ada",
        when,
        evidence: &evidence,
        clearance: Clearance::default(),
    };
    let applied = apply(memory, operations, &context);
    let again = apply(&applied.memory, operations, &context);
    assert_eq!(again.memory.render(), applied.memory.render(), "applying twice is applying once");
    applied
}

fn data_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/distiller")
}
