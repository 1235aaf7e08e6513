//! The model: that there is one to ask, and what may still be spent.

use super::{Check, Subject, describe};
use config::Config;
use model::{Cli, Ledger, Options};

const NAME: &str = "model";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let options = Options::of(&Config::load(subject.env, subject.paths));
    let budget = options.budget.daily;
    if options.provider == "off" || budget.micros() == 0 {
        return Check::good(NAME, "switched off; everything works without, by rule instead of by model");
    }
    let who = match reachable(subject, &options) {
        Ok(who) => who,
        Err(check) => return check,
    };
    let spent = match spent(subject) {
        Ok(spent) => spent,
        Err(error) => {
            return Check::odd(NAME, format!("{who}; its ledger: {}", describe(&error)), "wyren doctor");
        }
    };
    let left = budget.less(spent);
    if left.micros() == 0 {
        let message = format!("{who}; today's {budget} are spent, so none is asked before midnight (UTC)");
        return Check::odd(NAME, message, "wyren spend");
    }
    Check::good(NAME, format!("{who}; {left} of {budget} are left today"))
}

/// Returns who is asked, or what is missing.
fn reachable(subject: &Subject<'_>, options: &Options) -> Result<String, Check> {
    if let Some(script) = subject.env.get(model::SCRIPT_VARIABLE) {
        return Ok(format!("the script {}", script.display()));
    }
    match &*options.provider {
        "api" => match subject.env.get("ANTHROPIC_API_KEY") {
            Some(_) => Ok("the Messages API".to_owned()),
            None => Err(Check::odd(
                NAME,
                "ANTHROPIC_API_KEY is not set, so none is asked",
                "wyren config set model.provider cli",
            )),
        },
        "openai" if options.endpoint.is_empty() => {
            let message = "model.endpoint is not set, so none is asked";
            Err(Check::odd(NAME, message, "wyren config set model.endpoint http://127.0.0.1:11434/v1"))
        }
        "openai" => Ok(options.endpoint.clone()),
        _ => {
            let client = Cli::new(subject.env, &options.command, subject.paths.cache(), &options.name);
            match client.program() {
                Some(program) => Ok(program.display().to_string()),
                None => {
                    let message = "claude was not found, so none is asked; everything works without";
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
