//! `probe`: asks the model for one word, to see whether it can be reached, answers as told, and is metered.

use crate::handler::{Context, Handler, Progress};
use base::{Env, Paths};
use config::Config;
use model::{Asker, Options, Outcome, Reason, Request, Schema};
use serde_json::json;
use store::jobs::Failure;

/// The most tokens of an answer of one word.
const MAX_OUTPUT: u32 = 50;

pub(super) struct Probe;

impl Handler for Probe {
    fn kind(&self) -> &'static str {
        "probe"
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        match ask(&context.env, &context.paths, context.job.project.as_deref().unwrap_or_default()) {
            Outcome::Answered(_) => Ok(Progress::Done),
            Outcome::Unavailable { reason } if reason.may_pass() => Err(Failure::Again(reason.to_string())),
            Outcome::Unavailable { reason } => Err(Failure::Final(reason.to_string())),
        }
    }
}

/// Asks the model for one word, within the budget.
pub fn ask(env: &Env, paths: &Paths, project: &str) -> Outcome {
    let options = Options::of(&Config::load(env, paths));
    match question(project) {
        Ok(question) => Asker::new(env, paths, options).ask(question),
        Err(error) => Outcome::Unavailable { reason: Reason::BadAnswer(error) },
    }
}

fn question(project: &str) -> Result<Request, String> {
    let schema = json!({
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": false,
    });
    Ok(Request {
        job: "probe".to_owned(),
        project: project.to_owned(),
        system: "You are asked to see whether you can be reached.".to_owned(),
        prompt: "Answer with the word pong.".to_owned(),
        schema: Schema::new(schema).map_err(|error| error.to_string())?,
        model: None,
        max_output: MAX_OUTPUT,
    })
}
