//! Asks one question by the user's settings and prints what became of it, for the black-box tests: `ask JOB PROMPT`.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use base::{Env, Paths};
use config::Config;
use model::{Asker, Options, Outcome, Request, Schema};
use serde_json::json;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let env = Env::process();
    let paths = Paths::of(&env);
    let request = Request {
        job: arguments.next().ok_or("no job")?,
        project: "path:/example".to_owned(),
        system: "You name colours.".to_owned(),
        prompt: arguments.next().ok_or("no prompt")?,
        schema: Schema::new(json!({
            "type": "object",
            "properties": {"colour": {"type": "string", "maxLength": 20}},
            "required": ["colour"],
            "additionalProperties": false,
        }))?,
        model: None,
        max_output: 500,
    };
    let options = Options::of(&Config::load(&env, &paths));
    let outcome = match Asker::new(&env, &paths, options).ask(request) {
        Outcome::Answered(answer) => json!({"answer": answer}),
        Outcome::Unavailable { reason } => json!({"unavailable": reason.to_string()}),
    };
    println!("{outcome}");
    Ok(())
}
