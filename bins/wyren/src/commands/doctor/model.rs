//! The model: configured, within budget, and with `--model` one that answers.

use super::{Check, Subject, describe};
use config::Config;
use model::{Cli, Ledger, Options, Outcome};
use text::sanitize;

const NAME: &str = "model";

/// In characters.
const MAX_CHARS: usize = 300;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let options = Options::of(&Config::load(subject.env, subject.paths));
    let budget = options.budget.daily;
    if options.provider == "off" || budget.micros() == 0 {
        return Check::good(NAME, "off; rule-based extraction is used instead");
    }
    let who = match reachable(subject, &options) {
        Ok(who) => who,
        Err(check) => return check,
    };
    let spent = match spent(subject) {
        Ok(spent) => spent,
        Err(error) => {
            return Check::odd(
                NAME,
                format!("{who}; could not read the ledger: {}", describe(&error)),
                "wyren doctor",
            );
        }
    };
    let left = budget.less(spent);
    if left.micros() == 0 {
        let message = format!("{who}; today's budget of {budget} is spent; no calls until midnight UTC");
        return Check::odd(NAME, message, "wyren spend");
    }
    if subject.is_to_ask
        && let Outcome::Unavailable { reason } = runner::kinds::ask_model(subject.env, subject.paths, "")
    {
        let reason = sanitize::one_line(&reason.to_string(), MAX_CHARS);
        let message = format!("{who} gave no answer, so rule-based extraction is used instead: {reason}");
        return Check::bad(NAME, message, "wyren config list, for the settings that begin with model.");
    }
    let answered = if subject.is_to_ask { " answered" } else { "" };
    Check::good(NAME, format!("{who}{answered}; {left} of {budget} left today"))
}

fn reachable(subject: &Subject<'_>, options: &Options) -> Result<String, Check> {
    if let Some(script) = subject.env.get(model::SCRIPT_VARIABLE) {
        return Ok(format!("the script {}", script.display()));
    }
    match &*options.provider {
        "api" => match subject.env.get("ANTHROPIC_API_KEY") {
            Some(_) => Ok("the Messages API".to_owned()),
            None => Err(Check::odd(
                NAME,
                "ANTHROPIC_API_KEY is not set; rule-based extraction is used instead",
                "wyren config set model.provider cli",
            )),
        },
        "openai" if options.endpoint.is_empty() => {
            let message = "model.endpoint is not set; rule-based extraction is used instead";
            Err(Check::odd(NAME, message, "wyren config set model.endpoint http://127.0.0.1:11434/v1"))
        }
        "openai" => Ok(options.endpoint.clone()),
        _ => {
            let client = Cli::new(subject.env, &options.command, subject.paths.cache(), &options.name);
            match client.program() {
                Some(program) => Ok(program.display().to_string()),
                None => {
                    let message = "claude was not found; rule-based extraction is used instead";
                    Err(Check::odd(NAME, message, "wyren config set model.command /path/to/claude"))
                }
            }
        }
    }
}

fn spent(subject: &Subject<'_>) -> Result<model::Money, store::Error> {
    if !subject.paths.database().exists() {
        return Ok(model::Money::ZERO);
    }
    Ledger::open(&subject.paths.database())?.spent(subject.now, None)
}
