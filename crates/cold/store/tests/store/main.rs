//! The store from outside: draining, exchanging, forgetting, repairing, migrating.

mod drain;
mod exchange;
mod forget;
mod migrations;
mod repair;

use base::Timestamp;
use capture::{Event, Kind, Spool, VERSION};
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

    fn append(&self, event: &Event<'_>) {
        self.spool.append(event).unwrap();
    }

    fn drain(&self, store: &mut Store) -> Progress {
        self.drain_at(store, Timestamp::now())
    }

    fn drain_at(&self, store: &mut Store, now: Timestamp) -> Progress {
        match Drain::unbounded(&self.spool).run(store, now).unwrap() {
            Drained::Done(progress) => progress,
            Drained::Busy => panic!("nobody else drains"),
        }
    }
}

fn prompt<'a>(session: &'a str, id: &'a str, at: u64, text: &'a str) -> Event<'a> {
    Event {
        version: VERSION,
        kind: Kind::Prompt,
        id: format!("p:{id}").into(),
        at: START + at,
        session: session.into(),
        cwd: "/home/dev/project".into(),
        agent: None,
        agent_type: None,
        prompt: Some(text.into()),
        tool: None,
        tool_use_id: None,
        input: None,
        output: None,
        error: None,
        duration_ms: None,
    }
}

fn tool_call<'a>(session: &'a str, id: &'a str, at: u64, input: &'a RawValue) -> Event<'a> {
    Event {
        kind: Kind::Tool,
        id: format!("t:{id}").into(),
        prompt: None,
        tool: Some("Bash".into()),
        tool_use_id: Some(id.into()),
        input: Some(input),
        duration_ms: Some(1.5),
        ..prompt(session, id, at, "")
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

/// Renders the events that are stored: `number text` for prompts, `under-which command` for tool calls.
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
