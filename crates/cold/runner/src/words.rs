//! Asks a model for the words of candidates, where the user has switched that on, within their budget.

use base::{Env, Paths};
use config::{Config, Source};
use learning::keep::Error;
use learning::words::{self, ANSWER_TOKENS, Question};
use lessons_admin::catalogue::Places;
use model::{Asker, Options, Outcome, Request, Schema};
use serde_json::Value;

/// What it is in the ledger.
const JOB: &str = "lessons";

/// Returns whether the user's own file has a model word candidates. Neither a repository nor a variable may spend their money.
fn is_wanted(paths: &Paths) -> bool {
    let config = Config::load(&Env::fixed::<String, String>([]), paths);
    config
        .get("lessons.model")
        .is_ok_and(|setting| setting.value == "on" && matches!(setting.source, Source::User(_)))
}

/// Has a model word the surest of these candidates; returns their names. Without `lessons.model`, a budget or an answer they keep
/// the words that they have.
pub fn improve(places: &Places, slugs: &[String]) -> Result<Vec<String>, Error> {
    if slugs.is_empty() || !is_wanted(&places.paths) {
        return Ok(Vec::new());
    }
    let config = Config::load(&places.env, &places.paths);
    let name = config.get("lessons.model_name").ok().map(|setting| setting.value.clone());
    let name = name.filter(|name| !name.is_empty());
    let mut asker = Asker::new(&places.env, &places.paths, Options::of(&config)).once();
    let mut ask = |question: Question| -> Option<Value> {
        let request = Request {
            job: JOB.to_owned(),
            project: question.project,
            system: question.system.to_owned(),
            prompt: question.prompt,
            schema: Schema::new(question.schema).ok()?,
            model: name.clone(),
            max_output: ANSWER_TOKENS,
        };
        match asker.ask(request) {
            Outcome::Answered(answer) => Some(answer),
            Outcome::Unavailable { .. } => None,
        }
    };
    words::improve(places, slugs, &mut ask)
}
