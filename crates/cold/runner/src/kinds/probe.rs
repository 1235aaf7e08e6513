//! `probe`: asks the model for one word, to see whether it can be reached, answers as told, and is metered.

use crate::handler::{Context, Handler, Progress};
use config::Config;
use model::{Asker, Options, Outcome, Request, Schema};
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
        let options = Options::of(&Config::load(&context.env, &context.paths));
        let mut asker = Asker::new(&context.env, &context.paths, options);
        match asker.ask(question(context)?) {
            Outcome::Answered(_) => Ok(Progress::Done),
            Outcome::Unavailable { reason } if reason.may_pass() => Err(Failure::Again(reason.to_string())),
            Outcome::Unavailable { reason } => Err(Failure::Final(reason.to_string())),
        }
    }
}

fn question(context: &Context) -> Result<Request, Failure> {
    let schema = json!({
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": false,
    });
    Ok(Request {
        job: "probe".to_owned(),
        project: context.job.project.clone().unwrap_or_default(),
        system: "You are asked to see whether you can be reached.".to_owned(),
        prompt: "Answer with the word pong.".to_owned(),
        schema: Schema::new(schema).map_err(|error| Failure::Final(error.to_string()))?,
        model: None,
        max_output: MAX_OUTPUT,
    })
}
