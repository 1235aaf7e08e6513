//! The store from outside: draining, exchanging, forgetting, repairing, migrating.

mod claude_mem;
mod codex;
mod cursor;
mod derived;
mod drain;
mod exchange;
mod forget;
mod kinds;
mod landed;
mod migrations;
mod repair;
mod transcripts;

use base::Timestamp;
use capture::{Data as Values, Kept, Observation, Prompt, Spool, ToolCall, VERSION};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;
use store::Store;
use store::observations::{self, Drain, Drained, Export, Progress};
use tempfile::TempDir;

/// A moment to count from.
const START: u64 = 1_794_796_000_000;
const HOUR: u64 = 3_600_000;

/// A data folder with a spool and a database in it.
struct Data {
    folder: TempDir,
    spool: Spool,
}

impl Data {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        Self { folder, spool }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("wyren.db")
    }

    fn store(&self) -> Store {
        Store::open(&self.database(), &[observations::TABLES]).unwrap()
    }

    fn append(&self, observation: &Observation<'_>) {
        self.spool.append(observation).unwrap();
    }

    fn drain(&self, store: &mut Store) -> Progress {
        self.drain_at(store, Timestamp::now())
    }

    fn drain_at(&self, store: &mut Store, now: Timestamp) -> Progress {
        match Drain::unbounded(&self.spool).run(store, now).unwrap() {
            Drained::Done(progress) => progress,
            Drained::Busy => panic!("no other process drains"),
        }
    }
}

fn prompt<'a>(session: &'a str, id: &'a str, at: u64, text: &'a str) -> Observation<'a> {
    let data = Values::Prompt(Prompt { text: text.into(), ..Prompt::default() });
    Observation {
        cwd: "/home/dev/project".into(),
        prompt_id: Some(id.into()),
        ..Observation::new(session, format!("p:{id}"), START + at, data)
    }
}

fn tool_call<'a>(session: &'a str, id: &'a str, at: u64, input: &'a RawValue) -> Observation<'a> {
    failed_call(session, id, at, input, None)
}

fn failed_call<'a>(
    session: &'a str,
    id: &'a str,
    at: u64,
    input: &'a RawValue,
    error: Option<&'a str>,
) -> Observation<'a> {
    let data = Values::Tool(ToolCall {
        tool: "Bash".into(),
        tool_use_id: Some(id.into()),
        input: Some(input),
        error: error.map(Cow::from),
        duration_ms: Some(1.5),
        ..ToolCall::default()
    });
    Observation {
        cwd: "/home/dev/project".into(),
        ..Observation::new(session, format!("t:{id}"), START + at, data)
    }
}

/// An observation of a kind that this version does not know.
fn dream<'a>(session: &'a str, id: &'a str, at: u64, about: &str) -> Observation<'a> {
    let data =
        RawValue::from_string(format!(r#"{{"of":"{about}","depth":3,"parts":[1,{{"x":null}}]}}"#)).unwrap();
    let kept = Kept { kind: "dream".into(), data: Cow::Owned(data) };
    Observation {
        cwd: "/home/dev/project".into(),
        ..Observation::new(session, format!("d:{id}"), START + at, Values::Kept(kept))
    }
}

fn command(text: &str) -> Box<RawValue> {
    RawValue::from_string(serde_json::json!({"command": text}).to_string()).unwrap()
}

/// Returns everything that is stored, as it is exported, one JSON line each.
fn exported(store: &Store) -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    Export::default().write(store, &mut lines).unwrap();
    String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Renders the prompts and tool calls that are stored: `number text` for prompts, `under-which command` for tool calls.
fn rendered(store: &Store) -> String {
    let lines = exported(store).into_iter().filter_map(|line| {
        let text = |field: &str| Cow::from(line[field].as_str().unwrap_or_default().to_owned());
        match &*text("type") {
            "prompt" => Some(format!("{} {}", line["number"], text("text"))),
            "tool" => Some(format!("  {} {}", line["prompt"], text("command"))),
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn count(store: &Store, sql: &str) -> i64 {
    store.connection().query_row(sql, [], |row| row.get(0)).unwrap()
}
