//! A clone with a team memory, a user with a data folder, and hooks that are called in it.

use base::Timestamp;
use base::lock::Lock;
use base::settings::Settings;
use hook::{Answer, Host, PreCompact, Response, SessionEnd, Silence, Stop};
use place::Folder;
use schedule::{Payload, Watermark};
use serde_json::{Value, json};
use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

/// When everything begins.
pub(crate) const BEGIN: u64 = 1_794_796_000_000;

pub(crate) struct Desk {
    desk: fixture::Desk,
    /// What a worker holds that runs, and never does anything.
    worker: Option<Lock>,
}

impl Deref for Desk {
    type Target = fixture::Desk;

    fn deref(&self) -> &fixture::Desk {
        &self.desk
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = fixture::Desk::new();
        let worker = Lock::exclusive(&queue::lock_file(&desk.paths()), Duration::ZERO).unwrap();
        Self { desk, worker }
    }

    /// Ends the worker; no other can be started, since its program is not beside this test.
    pub(crate) fn without_worker(mut self) -> Self {
        self.worker = None;
        self
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        Self { desk: self.desk.with(name, value), ..self }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::read(&self.env(), &self.paths().hook_settings())
    }

    pub(crate) fn found(&self) -> Folder {
        Folder::find(&self.app()).unwrap()
    }

    fn host(&self, hook: &'static str, at: u64) -> Host {
        let mut host = Host::new(hook, self.env());
        host.started = Timestamp::from_millis(at);
        host
    }

    pub(crate) fn stop_with(&self, input: &Value, at: u64) -> Response {
        let body = |call: Stop, host: &Host| {
            if let Some(folder) = schedule::folder(&call, host) {
                schedule::count(&call, host, &folder)?;
            }
            Ok(Answer::silent())
        };
        let input = input.to_string().into_bytes().leak();
        hook::respond(input, &self.host("stop-distill", at), Silence::Empty, body)
    }

    /// Ends a turn of a session, so many milliseconds after the beginning.
    pub(crate) fn stop(&self, session: &str, after: u64) {
        let response = self.stop_with(&self.input(session), BEGIN + after);
        assert!(response.stdout.is_empty() && response.stderr.is_none(), "{response:?}");
    }

    pub(crate) fn end(&self, session: &str, after: u64) {
        self.end_with(&self.input(session), after);
    }

    pub(crate) fn end_with(&self, input: &Value, after: u64) {
        let body = |call: SessionEnd, host: &Host| {
            schedule::end(&call, host)?;
            Ok(Answer::silent())
        };
        let input = input.to_string().into_bytes().leak();
        let response =
            hook::respond(input, &self.host("session-end", BEGIN + after), Silence::Continue, body);
        assert_eq!(response.stdout, b"{\"continue\":true,\"suppressOutput\":true}\n");
    }

    /// Has the window of a session compacted.
    pub(crate) fn compact(&self, session: &str, after: u64) {
        let body = |call: PreCompact, host: &Host| {
            schedule::compaction(&call, host)?;
            Ok(Answer::silent())
        };
        let input = self.input(session).to_string().into_bytes().leak();
        let host = self.host("precompact-handoff", BEGIN + after);
        assert!(hook::respond(input, &host, Silence::Empty, body).stdout.is_empty());
    }

    pub(crate) fn input(&self, session: &str) -> Value {
        json!({"session_id": session, "cwd": self.app(), "transcript_path": transcript(session)})
    }

    pub(crate) fn watermark(&self) -> Watermark {
        Watermark::read(&self.state())
    }

    pub(crate) fn raw_watermark(&self) -> Value {
        serde_json::from_slice(&fs::read(self.state().join("watermark.json")).unwrap()).unwrap()
    }

    pub(crate) fn write_watermark(&self, value: &Value) {
        fs::create_dir_all(self.state()).unwrap();
        fs::write(self.state().join("watermark.json"), value.to_string()).unwrap();
    }

    /// Returns the sessions whose distillation was asked for, oldest request first.
    pub(crate) fn requested(&self) -> Vec<String> {
        self.payloads().into_iter().map(|payload| payload.session).collect()
    }

    pub(crate) fn payloads(&self) -> Vec<Payload> {
        let read = |pending: &queue::Pending| {
            pending
                .read(|request| {
                    assert_eq!(request.kind, schedule::KIND);
                    assert!(request.project.is_some() && request.key.is_some());
                    serde_json::from_str(request.payload.unwrap().get()).unwrap()
                })
                .unwrap()
        };
        queue::pending(&self.paths()).iter().map(read).collect()
    }

    /// Does what the worker's job does at its end.
    pub(crate) fn finish_distillation(&self) {
        let mut hold = schedule::Hold::take(&self.state(), Duration::from_secs(5)).unwrap().unwrap();
        hold.watermark.clear_running();
        hold.write(Timestamp::from_millis(BEGIN)).unwrap();
        queue::pending(&self.paths()).iter().for_each(|pending| pending.remove().unwrap());
    }
}

pub(crate) fn transcript(session: &str) -> String {
    format!("/transcripts/{session}.jsonl")
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}
