//! The commands that Wyren answers itself, without a model: `/wyren:status` and others, typed as a prompt.
//!
//! `prompt-bind` runs `wyren` for them and shows its output in place of the prompt. [`ours`] alone says which prompts these
//! are: the other hooks of a prompt do nothing for them, so that a prompt that never reaches the model neither uses up the
//! team's news nor counts as what the session is about.

mod child;

use crate::caret::Caret;
use crate::{Answer, Host, Outcome, UserPromptSubmit};
use base::detached;
use std::path::Path;
use std::time::Duration;

/// How the client writes a command of the plugin.
const PREFIX: &str = "/wyren:";

/// The hook that answers these commands.
const HOOK: &str = "prompt-bind";

/// How long a command may take. The hook itself has [`crate::Event::DEADLINE`].
const LIMIT: Duration = Duration::from_millis(2_200);

/// Every command, by the name of its file in `commands/`.
pub const NAMES: [&str; 10] =
    [ALLOW, "doctor", "init", "log", MEMORY, REMEMBER, "search", "status", TRUST, HANDOFF];

const ALLOW: &str = "allow";
const HANDOFF: &str = "wyren-handoff";
const MEMORY: &str = "memory";
const REMEMBER: &str = "remember";
const TRUST: &str = "trust";

/// What may follow `/wyren:memory`; anything else is searched for. `edit` is not here: it needs a terminal.
const OF_MEMORY: [&str; 7] = ["add", "diff", "handoff", "history", "remove", "restore", "show"];

/// Those of them whose words are a text of the user's, in which a dash begins no option.
const OF_TEXT: [&str; 3] = ["add", "handoff", "remove"];

/// A prompt that is a command of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    name: &'static str,
    /// What follows the name.
    rest: &'a str,
}

/// Returns the command that a prompt is, if Wyren answers it.
pub fn ours(prompt: &str) -> Option<Command<'_>> {
    let typed = prompt.trim().strip_prefix(PREFIX)?;
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let name = NAMES.into_iter().find(|known| *known == name)?;
    let rest = rest.trim();
    // Without a note, the model writes one.
    (name != HANDOFF || !rest.is_empty()).then_some(Command { name, rest })
}

/// Returns whether Wyren answers a prompt, so that no other hook has anything to do for it.
pub fn is_answered(call: &UserPromptSubmit, host: &Host) -> bool {
    let Some(prompt) = call.prompt.as_deref() else { return false };
    let is_caret = || Caret::of(prompt).is_some_and(|caret| caret.is_answered());
    (ours(prompt).is_some() || is_caret()) && !host.has_disabled(HOOK)
}

impl Command<'_> {
    /// Returns the arguments for `wyren` in the session with this id.
    fn arguments(&self, session: Option<&str>) -> Vec<String> {
        let words: Vec<&str> = self.rest.split_whitespace().collect();
        let arguments: Vec<&str> = match (self.name, &*words) {
            // Lists what was refused here.
            (ALLOW, []) => vec!["lessons", "allow"],
            (ALLOW, words) => {
                let words = words.iter().map(|word| match *word {
                    "once" => "--once",
                    "session" => "--session",
                    other => other,
                });
                let here = session.into_iter().flat_map(|session| ["--session-id", session]);
                ["lessons", "allow"].into_iter().chain(words).chain(here).collect()
            }
            ("doctor", words) => [&["doctor", "--offline"], words].concat(),
            (HANDOFF, _) => vec!["memory", "handoff", "--", self.rest],
            ("log", []) => ["log", "--told"]
                .into_iter()
                .chain(session.into_iter().flat_map(|session| ["--session", session]))
                .collect(),
            ("log", words) => [&["log", "--told"], words].concat(),
            (MEMORY, [action, ..]) if OF_TEXT.contains(action) => {
                let (_, text) = first_word(self.rest);
                with_text(vec!["memory", *action], text)
            }
            (MEMORY, [action, ..]) if OF_MEMORY.contains(action) => [&["memory"], &*words].concat(),
            (MEMORY, words) => [&["memory", "list", "--"], words].concat(),
            (REMEMBER, _) => {
                let here = session.into_iter().flat_map(|session| ["--session-id", session]);
                with_text([REMEMBER].into_iter().chain(here).collect(), self.rest)
            }
            ("status", words) => [&["status", "--screen"], words].concat(),
            (TRUST, ["yes"]) => vec!["trust", "--yes"],
            (TRUST, ["no"]) => vec!["untrust"],
            // Any other word is an answer that `wyren` does not know.
            (TRUST, [word, ..]) if !word.starts_with('-') => vec![TRUST, self.rest],
            (name, words) => [&[name], words].concat(),
        };
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// Returns whether it changes something, and must not be ended half-way.
    fn changes(&self) -> bool {
        match self.name {
            MEMORY => self
                .rest
                .split_whitespace()
                .next()
                .is_some_and(|action| OF_TEXT.contains(&action) || action == "restore"),
            name => [ALLOW, HANDOFF, "init", REMEMBER, TRUST].contains(&name),
        }
    }
}

/// Adds the flags that a text begins with, and the rest of it as one argument, with its lines.
fn with_text<'a>(mut arguments: Vec<&'a str>, mut text: &'a str) -> Vec<&'a str> {
    while text.starts_with("--") {
        let (flag, rest) = first_word(text);
        arguments.push(flag);
        text = rest;
    }
    arguments.push("--");
    arguments.extend((!text.is_empty()).then_some(text));
    arguments
}

/// Returns the first word, and what follows the white space behind it.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// Answers a prompt that is a command of ours with the output of `wyren`; `None` for any other.
pub fn answer(call: &UserPromptSubmit, host: &Host) -> Option<Outcome<UserPromptSubmit>> {
    let command = call.prompt.as_deref().and_then(ours)?;
    Some(match detached::beside_us("wyren") {
        Ok(program) => answer_with(&command, &program, call, host),
        Err(error) => Err(error.into()),
    })
}

fn answer_with(
    command: &Command<'_>,
    program: &Path,
    call: &UserPromptSubmit,
    host: &Host,
) -> Outcome<UserPromptSubmit> {
    let arguments = command.arguments(call.session_id.as_deref());
    let run = child::Run { program, arguments: &arguments, cwd: &host.cwd(call), host };
    let text = match run.output(LIMIT, command.changes()) {
        Ok(text) => text,
        Err(error) => format!("Wyren could not run {}: {error}. Try it in a terminal.", run.typed()),
    };
    Ok(Answer::instead_of_prompt(text).rest_at(run.typed()))
}

#[cfg(test)]
mod tests;
