//! The command that leaves a handoff note, in the form of each agent. The words are those of `commands/wyren-handoff.md`.

use crate::commands::{ROOT, SHORT};
use crate::marked::{Comment, MAX_BYTES, marked};
use base::files;
use std::io;
use std::path::Path;

/// The form that an agent has for commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handoff {
    /// A skill, which has no place for what the user typed.
    Skill,
    /// A TOML file with a prompt.
    Toml,
    /// A text that the agent hands to the model as it is, with what the user typed below it.
    Plain,
    /// As Claude Code's.
    Command,
}

/// What Claude Code puts what the user typed in the place of.
const TYPED: &str = "$ARGUMENTS";

/// What is about Claude Code alone, with what others read in its place.
const REPLACED: [(&str, &str); 2] = [
    ("Run this with the Bash tool,", "Run this in your shell,"),
    (
        "- In a note of your own, write no `{` before a quote, no backslash before a space, and no word that begins with `=`: Claude\n  Code takes these for tricks of the shell and asks the user.\n",
        "",
    ),
];

/// The line with the user's note, for a form that has no place for it.
const NOTE: (&str, &str) = (
    "The user's note, to be used word for word: $ARGUMENTS",
    "If the user gave a note, use it word for word.",
);

const DESCRIPTION: &str = "Leave the team a handoff note about this work";

impl Handoff {
    /// Returns the file's text, for the plugin in a folder that is copied from `from`.
    pub(super) fn contents(self, from: &Path, plugin: &Path) -> io::Result<String> {
        let text = files::read_text_followed(&from.join("commands").join(SHORT), MAX_BYTES)?;
        Ok(self.form(&text.replace(ROOT, &plugin.to_string_lossy())))
    }

    fn form(self, command: &str) -> String {
        let body = command.splitn(3, "---\n").nth(2).unwrap_or(command);
        let mut body = REPLACED.iter().fold(body.to_owned(), |body, (from, to)| body.replace(from, to));
        if matches!(self, Self::Skill | Self::Plain) {
            body = body.replace(NOTE.0, NOTE.1);
        }
        match self {
            Self::Skill => marked(
                &format!(
                    "---\nname: wyren-handoff\ndescription: {DESCRIPTION}. Use it only when the user asks for it.\n---\n{body}"
                ),
                Comment::Front,
            ),
            Self::Toml => {
                let body = body.replace(TYPED, "{{args}}");
                marked(&format!("description = \"{DESCRIPTION}\"\nprompt = '''{body}'''\n"), Comment::Hash)
            }
            Self::Plain => marked(&body, Comment::Html),
            Self::Command => marked(&format!("---\ndescription: {DESCRIPTION}\n---\n{body}"), Comment::Front),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = include_str!("../../../../../commands/wyren-handoff.md");

    #[test]
    fn every_form_has_the_command_and_no_word_about_another_agent() {
        for form in [Handoff::Skill, Handoff::Toml, Handoff::Plain, Handoff::Command] {
            let text = form.form(&COMMAND.replace(ROOT, "/opt/wyren"));
            assert!(text.contains("\"/opt/wyren/bin/wyren\" memory handoff - <<"), "{text}");
            for word in ["Bash tool", "Claude", "CLAUDE", "allowed-tools"] {
                assert!(!text.contains(word), "{form:?}: {word}:\n{text}");
            }
            assert_eq!(text.contains(TYPED), form == Handoff::Command, "{text}");
            assert_eq!(text.contains("{{args}}"), form == Handoff::Toml, "{text}");
            assert_eq!(text.matches("'''").count(), if form == Handoff::Toml { 2 } else { 0 });
        }
    }
}
