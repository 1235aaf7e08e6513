//! Whether a person gave a command, and what their command allows.
//!
//! Agents set a variable for every program in the model's shell; Claude Code does so for all that it starts. A model that was
//! misled by what it read is stopped by that; a program that runs as the user and wants to do harm is not.

use crate::exit::Ending;
use crate::terminal::{self, DIM, WARNING};
use anyhow::Result;
use base::env::{PROMPT_VARIABLE, SHELLS};
use base::paths::with_tilde;
use base::settings::Settings;
use base::{Env, Paths, files};
use install::link;
use std::io::Write as _;
use std::path::{Path, PathBuf};
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

/// Returns what to type for this program in a terminal: another `wyren`, or none, may be on the PATH.
pub(crate) fn wyren(env: &Env) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "wyren".into());
    let is_this = |at: &Path| link::leads_to_wyren(at) || files::canonical(at) == files::canonical(&program);
    if first_on_path(env).is_some_and(|first| is_this(&first)) {
        return "wyren".to_owned();
    }
    let linked = base::system::home(env).map(|home| link::place(&home)).filter(|at| link::leads_to_wyren(at));
    let place = linked.unwrap_or(program);
    // A shell takes `~` for the home only outside quotes.
    let quoted = shlex::try_quote(place.to_str().unwrap_or_default()).map(|quoted| quoted.into_owned());
    match quoted {
        Ok(quoted) if cfg!(unix) && quoted != place.to_string_lossy() => quoted,
        _ => with_tilde(&place, env),
    }
}

/// Returns the name of this program, or what to type for it where another program of that name comes first on the PATH.
pub(crate) fn name(env: &Env) -> String {
    if first_on_path(env).is_some() { wyren(env) } else { "wyren".to_owned() }
}

/// Returns the program that a terminal runs for `wyren`.
pub(crate) fn first_on_path(env: &Env) -> Option<PathBuf> {
    let path = env.get("PATH").unwrap_or_default();
    let names = [format!("wyren{}", std::env::consts::EXE_SUFFIX), link::NAME.to_owned()];
    let programs =
        std::env::split_paths(&path).flat_map(|folder| names.each_ref().map(|name| folder.join(name)));
    programs.filter(|program| program.is_absolute()).find(|program| program.is_file())
}

/// Returns a command as the user types it where they are: in a prompt of a session, or in a terminal.
pub(crate) fn command_for(env: &Env, prompt: &str, arguments: &str) -> String {
    if is_in_prompt(env) { format!("/wyren:{prompt}") } else { format!("{} {arguments}", name(env)) }
}

/// Returns a command that can be typed in a terminal alone; in a prompt with these words.
pub(crate) fn in_terminal(env: &Env, arguments: &str) -> String {
    let where_to = if is_in_prompt(env) { ", in a terminal" } else { "" };
    format!("{} {arguments}{where_to}", name(env))
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

/// Settings that decide what refuses calls, what leaves this computer, what is recorded, kept, spent and read, by the
/// beginning of their names.
const SETTINGS: [&str; 10] = [
    "capture.",
    "distill.",
    "hooks.",
    "journal.",
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

    #[cfg(unix)]
    #[test]
    fn what_to_type_runs_this_program_whatever_comes_first_on_the_path() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let program = std::env::current_exe().unwrap();
        let env = |path: &str| Env::fixed([("HOME", home.to_path_buf()), ("PATH", home.join(path))]);
        for name in ["first", "other", "empty", ".local/bin", "plugin/bin", "plugin/hooks"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        symlink(&program, home.join("first/wyren")).unwrap();
        std::fs::write(home.join("other/wyren"), "#!/usr/bin/env node\n").unwrap();
        let full = program.display().to_string();
        assert_eq!(wyren(&env("first")), "wyren");
        assert_eq!((wyren(&env("other")), wyren(&env("empty"))), (full.clone(), full));
        for file in ["plugin/bin/wyren", "plugin/hooks/hooks.json"] {
            std::fs::write(home.join(file), "").unwrap();
        }
        symlink(home.join("plugin/bin/wyren"), home.join(".local/bin/wyren")).unwrap();
        assert_eq!(
            (wyren(&env("first")), wyren(&env(".local/bin"))),
            ("wyren".to_owned(), "wyren".to_owned())
        );
        for path in ["other", "empty"] {
            assert_eq!(wyren(&env(path)), "~/.local/bin/wyren");
        }
        assert_eq!(in_terminal(&env("other"), "sync"), "~/.local/bin/wyren sync");
        assert_eq!(in_terminal(&env("empty"), "sync"), "wyren sync");
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
