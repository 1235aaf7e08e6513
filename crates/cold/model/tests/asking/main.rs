//! Questions to providers that answer, lie, hang, crash and die.

#[cfg(unix)]
mod children;
mod script;
mod servers;

use base::{Env, Timestamp};
use model::{Asker, Budget, Ledger, Money, Options, Outcome, Provider, Reason, Request, Schema};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// 2026-11-16, noon.
const NOON: Timestamp = Timestamp::from_millis(1_794_830_400_000);

/// A user with a ledger and a budget of a dollar.
struct User {
    folder: TempDir,
    timeout: Duration,
    budget: Budget,
}

impl User {
    fn new() -> Self {
        let dollar = Money::from_micros(1_000_000);
        Self {
            folder: tempfile::tempdir().unwrap(),
            timeout: Duration::from_secs(30),
            budget: Budget { daily: dollar, project: dollar },
        }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("wyren.db")
    }

    fn asker(&self, provider: impl Provider + 'static) -> Asker {
        let options = Options {
            is_unannounced: false,
            provider: String::new(),
            command: String::new(),
            name: String::new(),
            endpoint: String::new(),
            budget: self.budget,
            timeout: self.timeout,
        };
        Asker::with_provider(Some(Box::new(provider)), options, self.database()).clock(|| NOON)
    }

    /// Returns how many calls the ledger has, and what they cost.
    fn spent(&self) -> (u64, Money) {
        let totals = Ledger::open(&self.database()).unwrap().totals(NOON, 1).unwrap();
        (totals.iter().map(|total| total.calls).sum(), totals.iter().map(|total| total.spent).sum())
    }
}

fn request(prompt: &str) -> Request {
    Request {
        job: "distill".to_owned(),
        project: "git:example.org/a".to_owned(),
        system: "You name colours.".to_owned(),
        prompt: prompt.to_owned(),
        schema: schema(),
        model: None,
        max_output: 500,
    }
}

fn schema() -> Schema {
    Schema::new(json!({
        "type": "object",
        "properties": {"colour": {"type": "string", "maxLength": 20}},
        "required": ["colour"],
        "additionalProperties": false,
    }))
    .unwrap()
}

fn no_env() -> Env {
    Env::fixed::<String, String>([])
}

#[track_caller]
fn answer(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Answered(answer) => answer,
        Outcome::Unavailable { reason } => panic!("unavailable: {reason}"),
    }
}

#[track_caller]
fn reason(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Answered(answer) => panic!("answered: {answer}"),
        Outcome::Unavailable { reason } => reason,
    }
}
