//! Whether a person gave a command, and what their command allows.
//!
//! Agents set a variable for every program in the model's shell; Claude Code does so for all that it starts. A model that was
//! misled by what it read is stopped by that; a program that runs as the user and wants to do harm is not.

use crate::exit::Ending;
use crate::terminal::{self, DIM, WARNING};
use anyhow::Result;
use base::env::{PROMPT_VARIABLE, SHELLS};
use base::settings::Settings;
use base::{Env, Paths};
use std::io::Write as _;
use std::time::{Duration, Instant};
use team_sync::Share;
use team_sync::repository::Visibility;
use text::sanitize;

/// How long to wait for the answer whether a remote is public.
const PATIENCE: Duration = Duration::from_secs(3);

/// What only a person may do and can also type in a session, with the prompt for it.
const PROMPTS: [(&str, &str); 2] = [("wyren lessons allow", "/wyren:allow"), ("wyren trust", "/wyren:trust")];

/// In characters.
const MAX_CHARS: usize = 200;

/// Returns whether a person gave the command, and not the model in its shell.
pub(crate) fn is_here(env: &Env) -> bool {
    agent(env).is_none()
}

/// Returns the agent in whose shell the command was given.
fn agent(env: &Env) -> Option<&'static str> {
    SHELLS.iter().find(|shell| env.is_set(shell.variable)).map(|shell| shell.title)
}

/// Fails unless a person gave the command.
pub(crate) fn must_be_here(env: &Env) -> Result<()> {
    let Some(agent) = agent(env) else { return Ok(()) };
    Err(Ending::failed(format!("wyren: {}", refusal(agent, &typed(std::env::args().skip(1))))).into())
}

/// Returns a command of `wyren` as a person would type it.
fn typed(arguments: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = arguments.collect();
    let words = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    format!("wyren {words}")
}

/// Returns whether the user typed the command as a prompt of a session.
pub(crate) fn is_in_prompt(env: &Env) -> bool {
    env.is_set(PROMPT_VARIABLE)
}

/// Returns a command as the user types it where they are: in a prompt of a session, or in a terminal.
pub(crate) fn command_for(env: &Env, prompt: &str, arguments: &str) -> String {
    if is_in_prompt(env) { format!("/wyren:{prompt}") } else { format!("wyren {arguments}") }
}

/// Returns a command that can be typed in a terminal alone; in a prompt with these words.
pub(crate) fn in_terminal(env: &Env, arguments: &str) -> String {
    let where_to = if is_in_prompt(env) { ", in a terminal" } else { "" };
    format!("wyren {arguments}{where_to}")
}

/// The one text that says who may run `command`, and where.
fn refusal(agent: &str, command: &str) -> String {
    let command = sanitize::one_line(command, MAX_CHARS);
    // Only Claude Code says that a person typed a prompt.
    let prompts = PROMPTS.iter().filter(|_| agent == SHELLS[0].title);
    let prompt = prompts.into_iter().find(|(beginning, _)| command.starts_with(beginning));
    let or_prompt =
        prompt.map(|(_, prompt)| format!(", or type `{prompt}` in a session")).unwrap_or_default();
    format!(
        "only a person may do this, not a program in {agent}. Nothing was changed. \
         Run `{command}` in a terminal of your own, outside {agent}{or_prompt}."
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

/// What a command means for publishing from a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Publishing {
    /// Nothing changed: the clone published before, or the model runs the command.
    AsBefore,
    /// There is no remote. Leave is not taken in advance: the remote may turn out to be public.
    NoRemote,
    /// The person has just let the clone publish, to these addresses.
    Begins { where_to: String, visibility: Visibility },
    /// The remote is public, and the person did not agree to that.
    Declined { where_to: String },
}

/// Takes a person's command for their leave that this clone publishes, and says once what it means. The model's commands
/// publish only where a person gave leave before.
pub(crate) fn allow_publishing(share: &Share, env: &Env, command: &str) -> Result<()> {
    describe(&let_publish(share, env, command, false)?, env)
}

/// Takes a person's command for their leave to publish. Asks first where the remote is public, unless they agreed to that.
pub(crate) fn let_publish(share: &Share, env: &Env, command: &str, is_agreed: bool) -> Result<Publishing> {
    if !is_here(env) {
        return Ok(Publishing::AsBefore);
    }
    let Some(team) = share.team().filter(|team| !team.destinations().is_empty()) else {
        return Ok(Publishing::NoRemote);
    };
    let where_to = named(&team.destinations());
    let mut visibility = Visibility::NotPublic;
    if share.leave()?.is_none() {
        let spinner = terminal::spinner("checking whether the remote is public");
        visibility = team.visibility(Instant::now() + PATIENCE);
        spinner.finish_and_clear();
        if visibility == Visibility::Public && !is_agreed && !agrees_to_public()? {
            return Ok(Publishing::Declined { where_to });
        }
    }
    match share.give_leave(command)? {
        true => Ok(Publishing::Begins { where_to, visibility }),
        false => Ok(Publishing::AsBefore),
    }
}

fn agrees_to_public() -> Result<bool> {
    let question = "This repository is public: anyone can read its memory. Publish it?";
    Ok(terminal::confirm(question)?.unwrap_or(false))
}

/// Says what a command means for publishing, on standard error.
pub(crate) fn describe(publishing: &Publishing, env: &Env) -> Result<()> {
    let mut errors = terminal::errors();
    match publishing {
        Publishing::AsBefore | Publishing::NoRemote => {}
        Publishing::Begins { where_to, visibility } => {
            let how = if publishes_by_itself(env) {
                let stop = in_terminal(env, "config set memory.publish false");
                format!(", also in the background. To stop that: {stop}")
            } else {
                format!(" when you run {} (memory.publish is off).", in_terminal(env, "sync"))
            };
            writeln!(
                errors,
                "{DIM}From now on Wyren publishes the team memory of this clone to {where_to}{how}{DIM:#}"
            )?;
            if let Some(warning) = who_can_read(*visibility) {
                writeln!(errors, "{WARNING}{warning}{WARNING:#}")?;
            }
        }
        Publishing::Declined { where_to } => writeln!(
            errors,
            "{WARNING}Not published{WARNING:#}: {where_to} is public, and anyone could read the memory there. It stays on \
             this machine. To publish it: {}",
            command_for(env, "init --public", "sync --public")
        )?,
    }
    Ok(())
}

/// Returns what to say about the readers of a remote.
pub(crate) fn who_can_read(visibility: Visibility) -> Option<&'static str> {
    match visibility {
        Visibility::Public => Some("The repository is public: anyone can read its memory."),
        Visibility::Unknown => Some(
            "Wyren could not find out whether the repository is public. If it is, anyone can read its memory.",
        ),
        Visibility::NotPublic => None,
    }
}

/// Returns whether the background publishes where it may.
pub(crate) fn publishes_by_itself(env: &Env) -> bool {
    Settings::read(env, &Paths::of(env).hook_settings()).is_on("memory.publish")
}

fn named(destinations: &[String]) -> String {
    let is_named = |destination: &&String| !destination.starts_with("address:");
    let named: Vec<&str> = destinations.iter().filter(is_named).map(String::as_str).collect();
    let where_to = if named.is_empty() { "its remote".to_owned() } else { named.join(", ") };
    sanitize::one_line(&where_to, MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::MODEL_VARIABLE;
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
    fn the_shell_of_every_agent_is_known_and_named() {
        for shell in SHELLS {
            let error = must_be_here(&Env::fixed([(shell.variable, "1")])).unwrap_err().to_string();
            assert!(error.contains(&format!("outside {}", shell.title)), "{error}");
        }
        assert!(!refusal("Codex", "wyren trust --yes").contains("/wyren:trust"));
    }

    #[test]
    fn a_refusal_repeats_what_was_typed_as_a_shell_takes_it() {
        let words = ["lessons", "disable", "my lesson", "--json"].map(str::to_owned);
        assert_eq!(typed(words.into_iter()), "wyren lessons disable 'my lesson' --json");
    }

    #[test]
    fn a_refusal_names_the_prompt_where_there_is_one() {
        assert!(
            refusal("Claude Code", "wyren trust --yes")
                .ends_with("outside Claude Code, or type `/wyren:trust` in a session.")
        );
        assert!(refusal("Claude Code", "wyren lessons allow x").contains("`/wyren:allow`"));
        assert!(refusal("Claude Code", "wyren forget --all").ends_with("outside Claude Code."));
        let in_prompt = Env::fixed([(PROMPT_VARIABLE, "1")]);
        assert_eq!(command_for(&in_prompt, "trust yes", "trust --yes"), "/wyren:trust yes");
        assert_eq!(in_terminal(&in_prompt, "sync"), "wyren sync, in a terminal");
        let in_shell = Env::fixed([("A", "b")]);
        assert_eq!(command_for(&in_shell, "trust yes", "trust --yes"), "wyren trust --yes");
        assert_eq!(in_terminal(&in_shell, "sync"), "wyren sync");
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
