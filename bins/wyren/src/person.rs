//! Whether a person gave a command, and what their command allows.
//!
//! Claude Code sets a variable for every program that it starts, those of the model's shell included. A model that was
//! misled by what it read is stopped by that; a program that runs as the user and wants to do harm is not.

use crate::exit::Ending;
use crate::terminal::{self, DIM};
use anyhow::Result;
use base::settings::Settings;
use base::{Env, Paths};
use std::io::Write as _;
use team_sync::Share;
use text::sanitize;

/// Set by the client, if only to nothing, for what the model runs.
const MODEL_VARIABLE: &str = "CLAUDECODE";

/// In characters.
const MAX_CHARS: usize = 200;

/// Returns whether a person gave the command, and not the model in its shell.
pub(crate) fn is_here(env: &Env) -> bool {
    !env.is_set(MODEL_VARIABLE)
}

/// Fails unless a person gave the command.
pub(crate) fn must_be_here(env: &Env) -> Result<()> {
    if is_here(env) {
        return Ok(());
    }
    Err(Ending::failed(format!("wyren: {}", refusal(&typed(std::env::args().skip(1))))).into())
}

/// Returns a command of `wyren` as a person would type it.
fn typed(arguments: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = arguments.collect();
    let words = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    format!("wyren {words}")
}

/// The one text that says who may run `command`, and where.
fn refusal(command: &str) -> String {
    let command = sanitize::one_line(command, MAX_CHARS);
    format!(
        "only a person may do this, not a program in Claude Code. Nothing was changed. \
         Run `{command}` in a terminal of your own, outside Claude Code."
    )
}

/// Settings that decide what refuses calls, what leaves this computer, what is recorded, spent and read, by the
/// beginning of their names.
const SETTINGS: [&str; 9] = [
    "capture.",
    "distill.",
    "hooks.",
    "lessons.",
    "memory.discover",
    "memory.publish",
    "memory.pull",
    "model.",
    "ui.",
];

/// Fails unless a person gave the command, where it changes a setting that is theirs.
pub(crate) fn must_be_here_to_set(env: &Env, setting: &str) -> Result<()> {
    let is_theirs = SETTINGS.iter().any(|beginning| setting.starts_with(beginning));
    if is_theirs { must_be_here(env) } else { Ok(()) }
}

/// Takes a person's command for their leave that this clone publishes, and says once what it means. The model's commands
/// publish only where a person gave leave before.
pub(crate) fn allow_publishing(share: &Share, env: &Env, command: &str) -> Result<()> {
    if !is_here(env) || !share.give_leave(command)? {
        return Ok(());
    }
    let destinations = share.team().map(|team| team.destinations()).unwrap_or_default();
    if destinations.is_empty() {
        return Ok(());
    }
    let is_named = |destination: &&String| !destination.starts_with("address:");
    let named: Vec<&str> = destinations.iter().filter(is_named).map(String::as_str).collect();
    let where_to = if named.is_empty() { "its remote".to_owned() } else { named.join(", ") };
    let where_to = sanitize::one_line(&where_to, MAX_CHARS);
    let settings = Settings::read(env, &Paths::of(env).hook_settings());
    let how = if settings.is_on("memory.publish") {
        ", also in the background. To stop that: wyren config set memory.publish false"
    } else {
        " when you run `wyren sync` (memory.publish is off)."
    };
    Ok(writeln!(
        terminal::errors(),
        "{DIM}From now on Wyren publishes the team memory of this clone to {where_to}{how}{DIM:#}"
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::settings::KEYS;

    #[test]
    fn a_variable_without_a_value_is_still_that_of_the_client() {
        for (variables, expected) in
            [(vec![], true), (vec![(MODEL_VARIABLE, "1")], false), (vec![(MODEL_VARIABLE, "")], false)]
        {
            let env = Env::fixed(variables);
            assert_eq!((is_here(&env), must_be_here(&env).is_ok()), (expected, expected));
        }
    }

    #[test]
    fn a_refusal_repeats_what_was_typed_as_a_shell_takes_it() {
        let words = ["lessons", "disable", "my lesson", "--json"].map(str::to_owned);
        assert_eq!(typed(words.into_iter()), "wyren lessons disable 'my lesson' --json");
    }

    #[test]
    fn the_settings_of_the_person_exist() {
        for beginning in SETTINGS {
            assert!(KEYS.iter().any(|key| key.name.starts_with(beginning)), "{beginning}");
        }
        let model = Env::fixed([(MODEL_VARIABLE, "1")]);
        assert!(must_be_here_to_set(&model, "memory.publish_for").is_err());
        assert!(must_be_here_to_set(&model, "log.level").is_ok());
    }
}
