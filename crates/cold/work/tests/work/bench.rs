//! A spool and a database for one test.

use base::Timestamp;
use capture::{CLAUDE_CODE, Observation, Spool};
use serde_json::{Value, json};
use store::observations::{Drain, Selection};
use store::{Derived, Store};
use work::plans::Plan;
use work::tasks::Task;
use work::{line, plans, tasks};

const DERIVED: &[&dyn Derived] = &[&work::WorkObservations, &work::contexts::Contexts];

/// 15 January 2027.
pub(crate) const AT: u64 = 1_800_000_000_000;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    spool: Spool,
    pub(crate) store: Store,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let store = Store::open(&folder.path().join("wyren.db"), store::TABLES).unwrap().deriving(DERIVED);
        Self { folder, spool, store }
    }

    pub(crate) fn with(lines: &[Value]) -> Self {
        let mut bench = Self::new();
        lines.iter().for_each(|line| bench.line(line));
        bench.drain();
        bench
    }

    /// Appends a line as a hook would.
    pub(crate) fn line(&self, line: &Value) {
        let line = line.to_string();
        self.spool.append(&Observation::read(line.as_bytes()).unwrap()).unwrap();
    }

    pub(crate) fn drain(&mut self) {
        Drain::unbounded(&self.spool).run(&mut self.store, Timestamp::now()).unwrap();
    }

    pub(crate) fn forget(&mut self, selection: &Selection) {
        let notes = self.folder.path().join("forgotten");
        selection.forget(&mut self.store, &self.spool, &notes, Timestamp::now()).unwrap();
    }

    pub(crate) fn row(&self, session: &str) -> Option<i64> {
        line::row_of(self.store.connection(), CLAUDE_CODE, session).unwrap()
    }

    /// Returns the ids of the sessions around one.
    pub(crate) fn around(&self, session: &str) -> Vec<String> {
        let connection = self.store.connection();
        let rows = line::around(connection, self.row(session).unwrap()).unwrap();
        let id = |row: i64| {
            connection.query_row("SELECT id FROM sessions WHERE row = ?1", [row], |row| row.get(0)).unwrap()
        };
        rows.into_iter().map(id).collect()
    }

    pub(crate) fn state(&self, session: &str) -> (Vec<Plan>, Vec<Task>) {
        let Some(row) = self.row(session) else { return (Vec::new(), Vec::new()) };
        let connection = self.store.connection();
        (plans::of_line(connection, row).unwrap(), tasks::of_line(connection, row).unwrap())
    }
}

/// Returns a line of the spool.
pub(crate) fn observed(at: u64, session: &str, kind: &str, prompt: &str, data: Value) -> Value {
    json!({
        "v": 2, "kind": kind, "id": format!("{kind}:{at}"), "ts": AT + at * 1_000, "session": session,
        "cwd": "/home/dev/shop", "prompt_id": prompt, "data": data,
    })
}

pub(crate) fn plan(at: u64, session: &str, prompt: &str, text: &str, accepted: bool) -> Value {
    let data = json!({
        "text": text, "digest": capture::plan::digest(text), "path": "/plans/p.md",
        "tool_use_id": format!("toolu_{prompt}"), "accepted": accepted,
    });
    observed(at, session, "plan", prompt, data)
}

pub(crate) fn task(at: u64, session: &str, data: &Value) -> Value {
    let mut all = json!({"list": session});
    all.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
    observed(at, session, "task", "1", all)
}

pub(crate) fn end(at: u64, session: &str, prompt: &str, reason: &str) -> Value {
    observed(at, session, "session-end", prompt, json!({"reason": reason}))
}

pub(crate) fn start(at: u64, session: &str, prompt: &str, source: &str) -> Value {
    observed(at, session, "session-start", prompt, json!({"source": source}))
}

pub(crate) fn prompt(at: u64, session: &str, id: &str) -> Value {
    observed(at, session, "prompt", id, json!({"text": "go on"}))
}

/// Has a session begin the context of all tests, or take it up.
pub(crate) fn works(at: u64, session: &str, begins: bool) -> Value {
    let mut data = json!({"context": "261118-0905-cents", "action": "bind", "via": "caret"});
    if begins {
        data = json!({"context": "261118-0905-cents", "action": "new", "summary": "cents", "method": "auto-created", "bind": true});
    }
    observed(at, session, "work", "1", data)
}
