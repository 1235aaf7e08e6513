//! The slash commands, and what each lets the model do without asking.
//!
//! The client compares a rule with the text of a call. The plugin's folder may end with a slash or not, and a model leaves out
//! the quotes that the command file shows, so every rule is needed in each spelling.

use crate::document::Mode;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// A command: a file in `commands/`.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The name of its file, without the ending.
    pub name: &'a str,
    /// What the model may call `wyren` with; `:*` at the end allows more words. Nothing for a command that a hook answers.
    pub calls: &'a [&'a str],
    /// Other tools that it may use.
    pub tools: &'a [&'a str],
}

/// Every command.
pub const COMMANDS: &[Command] = &[
    Command { name: "allow", calls: &[], tools: &[] },
    Command { name: "doctor", calls: &[], tools: &[] },
    Command { name: "handoff", calls: &["handoff save:*"], tools: &[] },
    Command { name: "handoff-resume", calls: &["handoff resume:*", "handoff list:*"], tools: &[] },
    Command { name: "init", calls: &[], tools: &[] },
    Command {
        name: "lessons-add",
        calls: &["lessons search:*", "lessons add:*", "lessons test:*"],
        tools: &["Skill"],
    },
    Command { name: "lessons-backup", calls: &["lessons backup:*"], tools: &[] },
    Command { name: "lessons-cancel", calls: &["lessons list:*", "lessons search:*"], tools: &[] },
    Command { name: "lessons-config", calls: &["lessons packs"], tools: &[] },
    Command {
        name: "lessons-doctor",
        calls: &["lessons doctor:*", "lessons show:*", "lessons test:*"],
        tools: &[],
    },
    Command { name: "lessons-help", calls: &["lessons --help"], tools: &[] },
    Command {
        name: "lessons-manage",
        calls: &["lessons list:*", "lessons search:*", "lessons show:*", "lessons test:*", "trust --show"],
        tools: &[],
    },
    Command { name: "lessons-onboard", calls: &["lessons review --json", "lessons promote:*"], tools: &[] },
    Command {
        name: "lessons-review",
        calls: &["lessons review --json", "lessons promote:*", "lessons show:*", "lessons test:*"],
        tools: &[],
    },
    Command { name: "lessons-scope", calls: &["lessons search:*", "lessons show:*"], tools: &[] },
    Command { name: "log", calls: &[], tools: &[] },
    Command { name: "memory", calls: &[], tools: &[] },
    Command { name: "remember", calls: &[], tools: &[] },
    Command { name: "search", calls: &[], tools: &[] },
    Command { name: "status", calls: &[], tools: &[] },
    Command { name: "trust", calls: &[], tools: &[] },
    Command { name: "wyren-handoff", calls: &["memory handoff:*"], tools: &[] },
];

/// How a call of `wyren` may be written.
const SPELLINGS: [&str; 4] = [
    "\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\"",
    "${CLAUDE_PLUGIN_ROOT}/bin/wyren",
    "${CLAUDE_PLUGIN_ROOT}//bin/wyren",
    "${CLAUDE_PLUGIN_ROOT}bin/wyren",
];

/// The line of a command file that has its rules.
const KEY: &str = "allowed-tools: ";

/// Compares the rules in every command file below the root of a checkout with the table, or writes them.
pub fn settle(mode: Mode, root: &Path, commands: &[Command]) -> io::Result<()> {
    let folder = root.join("commands");
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(&folder)? {
        files.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    for command in commands {
        let name = format!("{}.md", command.name);
        let path = folder.join(&name);
        let present = fs::read_to_string(&path)?;
        let contents = with_rules(&present, command)
            .ok_or_else(|| io::Error::other(format!("{} has no front matter", path.display())))?;
        mode.file(&path, &contents)?;
        files.remove(&name);
    }
    match files.first() {
        Some(name) => Err(io::Error::other(format!("commands/{name} has no row in the table of commands"))),
        None => Ok(()),
    }
}

/// Returns the text of a command file with the rules of its row; `None` without front matter.
fn with_rules(text: &str, command: &Command) -> Option<String> {
    let (front, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let mut lines: Vec<&str> = front.lines().filter(|line| !line.starts_with(KEY.trim_end())).collect();
    let rules = rules(command);
    if !rules.is_empty() {
        lines.push(&rules);
    }
    Some(format!("---\n{}\n---\n{body}", lines.join("\n")))
}

fn rules(command: &Command) -> String {
    let rule = |call: &&str| SPELLINGS.map(|wyren| format!("Bash({wyren} {call})"));
    let rules =
        command.calls.iter().flat_map(rule).chain(command.tools.iter().map(|tool| (*tool).to_owned()));
    let rules = rules.collect::<Vec<_>>().join(", ");
    if rules.is_empty() { rules } else { format!("{KEY}{rules}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn the_rules_in_every_command_file_are_those_of_the_table() {
        settle(Mode::Check, root(), COMMANDS).unwrap();
    }

    #[test]
    fn a_changed_row_and_a_file_without_a_row_fail() {
        let mut commands = COMMANDS.to_vec();
        let at = commands.iter().position(|command| command.name == "lessons-add").unwrap();
        commands[at].calls = &["lessons add:*"];
        let error = settle(Mode::Check, root(), &commands).unwrap_err().to_string();
        assert!(error.contains("lessons-add.md") && error.contains("cargo xtask tables"), "{error}");
        let error = settle(Mode::Check, root(), &COMMANDS[1..]).unwrap_err().to_string();
        assert!(error.contains("allow.md has no row"), "{error}");
    }

    #[test]
    fn a_command_without_calls_has_no_rules() {
        let text = "---\ndescription: a\nallowed-tools: Bash\n---\nbody\n";
        let command = Command { name: "a", calls: &[], tools: &[] };
        assert_eq!(with_rules(text, &command).unwrap(), "---\ndescription: a\n---\nbody\n");
        let command = Command { name: "a", calls: &[], tools: &["Skill"] };
        let expected = "---\ndescription: a\nallowed-tools: Skill\n---\nbody\n";
        assert_eq!(with_rules(text, &command).unwrap(), expected);
    }
}
