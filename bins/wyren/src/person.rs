//! What only the person at the computer may do.
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

/// Set, if only to nothing, in every shell of Claude Code.
const SHELL_OF_THE_CLIENT: &str = "CLAUDECODE";

/// In characters.
const MAX_CHARS: usize = 200;

/// Returns whether a person started this program.
pub(crate) fn is_here(env: &Env) -> bool {
    !env.is_set(SHELL_OF_THE_CLIENT)
}

/// Fails unless a person started this program; `command` is what that person would type.
pub(crate) fn must_be_here(env: &Env, command: &str) -> Result<(), Ending> {
    if is_here(env) { Ok(()) } else { Err(Ending::failed(format!("wyren: {}", refusal(command)))) }
}

/// The one text that says who may run `command`, and where.
fn refusal(command: &str) -> String {
    format!(
        "only a person may do this, not a program in Claude Code. Nothing was changed. \
         Run `{command}` in a terminal of your own, outside Claude Code."
    )
}

/// Settings that decide what refuses calls, what leaves this computer, what is recorded and what is spent, by the
/// beginning of their names.
const OF_THE_PERSON: [&str; 6] =
    ["capture.", "hooks.", "lessons.", "memory.discover", "memory.publish", "model."];

/// Returns whether only the person may change a setting.
pub(crate) fn is_persons_setting(name: &str) -> bool {
    OF_THE_PERSON.iter().any(|beginning| name.starts_with(beginning))
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
            [(vec![], true), (vec![("CLAUDECODE", "1")], false), (vec![("CLAUDECODE", "")], false)]
        {
            let env = Env::fixed(variables);
            assert_eq!((is_here(&env), must_be_here(&env, "x").is_ok()), (expected, expected));
        }
    }

    #[test]
    fn the_settings_of_the_person_exist() {
        for beginning in OF_THE_PERSON {
            assert!(KEYS.iter().any(|key| key.name.starts_with(beginning)), "{beginning}");
        }
        assert!(is_persons_setting("lessons.disabled") && is_persons_setting("memory.publish"));
        assert!(!is_persons_setting("log.level"));
    }
}
