//! A folder with a team memory, a session that goes on in it, and a model that follows a script.

use base::Timestamp;
use distill::{Error, Observer, Report, Session, Settings, Step};
use fixture::Transcripts;
use schedule::Watermark;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fs;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

/// The session that is distilled.
pub(crate) const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// When everything happens: 2026-11-16.
pub(crate) const NOW: u64 = 1_794_796_001_123;

pub(crate) struct Desk {
    desk: fixture::Desk,
    transcripts: Transcripts,
    pub(crate) lines: RefCell<Vec<String>>,
}

impl Deref for Desk {
    type Target = fixture::Desk;

    fn deref(&self) -> &fixture::Desk {
        &self.desk
    }
}

impl Desk {
    /// Returns a desk whose model gives these answers, one after the other.
    pub(crate) fn new(script: &[Value]) -> Self {
        let desk = fixture::Desk::new().with("USER", "ada");
        let followed = desk.path().join("script.jsonl");
        let desk = desk.with("WYREN_MODEL_SCRIPT", followed);
        fs::create_dir_all(desk.state()).unwrap();
        let transcripts = Transcripts::new(desk.path(), &desk.app());
        let desk = Self { desk, transcripts, lines: RefCell::default() };
        fs::write(desk.memory_file(), "# Wyren Memory\n").unwrap();
        desk.follow(script);
        desk
    }

    pub(crate) fn follow(&self, script: &[Value]) {
        let lines: Vec<String> = script.iter().map(Value::to_string).collect();
        fs::write(self.script(), lines.join("\n")).unwrap();
    }

    fn script(&self) -> PathBuf {
        self.path().join("script.jsonl")
    }

    pub(crate) fn memory_file(&self) -> PathBuf {
        self.app().join(".wyren/memory.md")
    }

    pub(crate) fn memory(&self) -> String {
        fs::read_to_string(self.memory_file()).unwrap()
    }

    pub(crate) fn history(&self) -> String {
        fs::read_to_string(self.state().join("history.jsonl")).unwrap_or_default()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.app().join(".wyren/log")).unwrap_or_default()
    }

    pub(crate) fn transcript(&self, session: &str) -> PathBuf {
        self.transcripts.path(session)
    }

    pub(crate) fn say_in(&self, session: &str, text: &str) {
        self.transcripts.say(session, text);
    }

    pub(crate) fn say(&self, text: &str) {
        self.say_in(SESSION, text);
    }

    pub(crate) fn reply(&self, text: &str) {
        self.transcripts.reply(SESSION, text);
    }

    pub(crate) fn call(&self, tool: &str, input: &Value, output: &str) {
        self.transcripts.call(SESSION, tool, input, output);
    }

    /// Says enough about a decision to pass the threshold.
    pub(crate) fn decide(&self, what: &str) {
        self.say(&format!("We decided to use {what}. Agreed, that is settled on."));
        self.reply(&format!("Understood: {what} it is."));
    }

    pub(crate) fn distill(&self) -> Result<Report, Error> {
        self.distill_at(SESSION, NOW)
    }

    pub(crate) fn distill_at(&self, session: &str, now: u64) -> Result<Report, Error> {
        self.distill_watched(session, now, &Watch { desk: self, reached: &|_| {}, stops: Cell::new(false) })
    }

    /// Distills, and calls `reached` at each step.
    pub(crate) fn distill_through(&self, reached: &dyn Fn(Step)) -> Result<Report, Error> {
        self.distill_watched(SESSION, NOW, &Watch { desk: self, reached, stops: Cell::new(false) })
    }

    /// Distills while the worker is being asked to stop.
    pub(crate) fn distill_stopping(&self) -> Result<Report, Error> {
        self.distill_watched(SESSION, NOW, &Watch { desk: self, reached: &|_| {}, stops: Cell::new(true) })
    }

    /// Distills as a process that is killed at a step: nothing after it runs, and its locks are gone. Returns whether it got
    /// that far.
    pub(crate) fn distill_killed_at(&self, step: Step) -> bool {
        let kill = |reached: Step| {
            if reached == step {
                resume_unwind(Box::new(step));
            }
        };
        let killed = catch_unwind(AssertUnwindSafe(|| self.distill_through(&kill))).map(|_| ());
        killed.is_err_and(|reason| reason.downcast_ref::<Step>() == Some(&step))
    }

    fn distill_watched(&self, session: &str, now: u64, watch: &Watch<'_>) -> Result<Report, Error> {
        let (env, paths) = (self.env(), self.paths());
        Session {
            env: &env,
            paths: &paths,
            cwd: &self.app(),
            transcript: &self.transcript(session),
            id: session,
            now: Timestamp::from_millis(now),
            settings: Settings { publishes: false, ..Settings::load(&env, &paths) },
            observer: watch,
        }
        .distill()
    }

    /// Returns what the user is called here.
    pub(crate) fn author(&self) -> String {
        team_sync::Share::open(&self.app(), &self.env()).unwrap().author()
    }

    pub(crate) fn watermark(&self) -> Watermark {
        Watermark::read(&self.state())
    }

    /// Returns how often the model was asked.
    pub(crate) fn questions(&self) -> u64 {
        fs::metadata(self.script().with_added_extension("position")).map_or(0, |asked| asked.len())
    }

    pub(crate) fn intents(&self) -> usize {
        fs::read_dir(self.state().join("intents")).map_or(0, |entries| entries.count())
    }

    /// Returns the message that a session is distilled up to.
    pub(crate) fn message(&self, session: &str) -> u64 {
        self.watermark().session(session).map_or(0, |session| session.message)
    }
}

struct Watch<'a> {
    desk: &'a Desk,
    reached: &'a dyn Fn(Step),
    stops: Cell<bool>,
}

impl Observer for Watch<'_> {
    fn line(&self, line: &str) {
        self.desk.lines.borrow_mut().push(line.to_owned());
    }

    fn reached(&self, step: Step) {
        (self.reached)(step);
    }

    fn is_stopping(&self) -> bool {
        self.stops.get()
    }
}

/// Returns a line of the script: an answer with these operations.
pub(crate) fn answer(operations: &[Value]) -> Value {
    json!({"do": "answer", "answer": {"operations": operations}, "cost_usd": 0.001})
}

/// Returns an operation that adds an entry.
pub(crate) fn add(section: &str, text: &str, turn: u64) -> Value {
    json!({"do": "add", "section": section, "text": text, "confidence": 0.9, "turns": [turn]})
}

/// Returns a line of the script: something that is not JSON.
pub(crate) fn lie(text: &str) -> Value {
    json!({"do": "lie", "text": text, "cost_usd": 0.001})
}
