//! Commands of ours whose output the client shows: its status line, and the files that it suggests after `@`.
//!
//! Each is one member of the settings, with a command for a shell. A status line that the user had before stays: its command
//! becomes an argument of ours, and comes out again as it was.

use super::{Error, Spot, added, object, removed};
use crate::jsonc::{self, Kind, Node};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The program of our status line.
pub(super) const STATUS_LINE: &str = "wyren-statusline";

/// What comes before the user's own command.
const WRAP: &str = "--wrap";

/// A member of the settings that holds a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    StatusLine,
    FileSuggestion,
}

impl Member {
    pub const ALL: [Self; 2] = [Self::StatusLine, Self::FileSuggestion];

    /// Returns its name in the settings.
    pub fn key(self) -> &'static str {
        match self {
            Self::StatusLine => "statusLine",
            Self::FileSuggestion => "fileSuggestion",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::StatusLine => STATUS_LINE,
            Self::FileSuggestion => "wyren",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::StatusLine => &[],
            Self::FileSuggestion => &["file-suggest"],
        }
    }

    /// Returns what a person pastes into a settings file that is empty.
    pub fn to_paste(self, plugin: &Path) -> Result<String, Error> {
        let setting = json!({self.key(): {"type": "command", "command": self.command(plugin, None)?}});
        Ok(format!("{setting:#}\n"))
    }

    /// Returns the command of the plugin in a folder, around another one.
    fn command(self, plugin: &Path, wrapped: Option<&str>) -> Result<String, Error> {
        let program = plugin.join("bin").join(format!("{}{}", self.program(), std::env::consts::EXE_SUFFIX));
        let bad = || Error::Folder(plugin.display().to_string());
        let words = [program.to_str().ok_or_else(bad)?].into_iter().chain(self.arguments().iter().copied());
        let words = words.chain(wrapped.into_iter().flat_map(|command| [WRAP, command]));
        shlex::try_join(words).map_err(|_| bad())
    }

    /// Takes a command of ours apart; `None` for one that is not.
    fn read(self, command: &str) -> Option<Command> {
        let words = shlex::split(command)?;
        let (program, rest) = words.split_first()?;
        let program = Path::new(program);
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let rest = rest.strip_prefix(self.arguments())?;
        let wrapped = match (self, rest) {
            (_, []) => None,
            (Self::StatusLine, [WRAP, wrapped]) => Some((*wrapped).to_owned()),
            _ => return None,
        };
        let is_ours = program.file_stem().is_some_and(|stem| stem == self.program());
        let plugin = program.parent()?.parent()?.to_owned();
        is_ours.then_some(Command { plugin, wrapped })
    }

    /// Returns the command that settings have in this member, if it is ours.
    fn of(self, root: &Node) -> Option<Command> {
        self.read(root.member(self.key())?.value.member("command")?.value.text()?)
    }

    /// Returns the text with the command of the plugin in a folder. One that has it stays as it is. A status line of the user's
    /// is wrapped; a file suggestion of the user's is an error.
    pub fn with_command(self, text: &str, plugin: &Path) -> Result<String, Error> {
        let text = if jsonc::parse(text)?.is_none() { format!("{text}{{}}\n") } else { text.to_owned() };
        let root = object(&text)?;
        if !matches!(root.kind, Kind::Object(_)) {
            return Err(Error::NotAnObject);
        }
        let Some(member) = root.member(self.key()) else {
            let setting = json!({"type": "command", "command": self.command(plugin, None)?});
            return added(&text, &root, 1, |style| {
                format!("\"{}\": {}", self.key(), style.pretty(&setting, 1))
            });
        };
        let odd = || Error::Odd(self.key().to_owned());
        let place = &member.value.member("command").ok_or_else(odd)?.value;
        let present = place.text().ok_or_else(odd)?;
        let as_we_write = Value::from(present).to_string();
        let wrapped = match (self.read(present), self) {
            (Some(command), _) => command.wrapped,
            (None, Self::FileSuggestion) => return Err(Error::Taken(self.key())),
            // Only what can be put back as it is written.
            (None, Self::StatusLine) if as_we_write == text[place.span.clone()] => Some(present.to_owned()),
            (None, Self::StatusLine) => return Err(odd()),
        };
        let command = self.command(plugin, wrapped.as_deref())?;
        Ok(replaced(&text, place, &command))
    }

    /// Returns the text without our command; `None` when it has none.
    fn without_command(self, text: &str, root: &Node) -> Option<String> {
        let command = self.of(root)?;
        let index = root.members().iter().position(|member| member.key == self.key())?;
        if let Some(wrapped) = command.wrapped {
            let place = &root.members()[index].value.member("command")?.value;
            return Some(replaced(text, place, &wrapped));
        }
        let spans = root.members().iter().map(|member| &member.span).collect();
        Some(removed(text, &Spot { container: root.span.clone(), spans, index }))
    }
}

/// A command of ours.
#[derive(Debug)]
struct Command {
    plugin: PathBuf,
    /// The user's own, which it wraps.
    wrapped: Option<String>,
}

fn replaced(text: &str, place: &Node, command: &str) -> String {
    format!("{}{}{}", &text[..place.span.start], Value::from(command), &text[place.span.end..])
}

/// Returns the commands of ours in a text, with the plugin's folder of each.
pub fn commands(text: &str) -> Vec<(Member, PathBuf)> {
    let Some(root) = jsonc::parse(text).ok().flatten() else { return Vec::new() };
    Member::ALL.into_iter().filter_map(|member| Some((member, member.of(&root)?.plugin))).collect()
}

/// Returns whether a text has a command of ours.
pub fn has_commands(text: &str) -> bool {
    !commands(text).is_empty()
}

/// Returns the text without our commands; those that they wrapped are there again.
pub fn without_commands(text: &str) -> Result<String, Error> {
    let mut text = text.to_owned();
    for member in Member::ALL {
        let Some(root) = jsonc::parse(&text)? else { return Ok(text) };
        if let Some(without) = member.without_command(&text, &root) {
            text = without;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: &str = "/opt/it's a plugin/wyren";

    /// Puts a command in and takes it out again; returns the text with it.
    #[track_caller]
    fn check(member: Member, text: &str) -> String {
        let with = member.with_command(text, Path::new(PLUGIN)).unwrap();
        assert_eq!(commands(&with), [(member, PathBuf::from(PLUGIN))], "{with}");
        assert_eq!(member.with_command(&with, Path::new(PLUGIN)).unwrap(), with);
        assert!(!has_commands(text));
        let without = without_commands(&with).unwrap();
        assert_eq!(without, if text.is_empty() { "{}\n" } else { text }, "{with}");
        with
    }

    #[test]
    fn a_command_goes_in_and_out_and_everything_else_stays() {
        for member in Member::ALL {
            for text in [
                "",
                "{}\n",
                "{\n    \"a\": 1, // mine\n    \"b\": [1,2]\n}\n",
                "{\"a\":1}",
                "{\r\n\t\"a\": 1,\r\n}\r\n",
            ] {
                let value = jsonc::value(&check(member, text)).unwrap();
                assert_eq!(value[member.key()]["type"], "command");
            }
        }
    }

    #[test]
    fn a_shell_runs_the_program_of_the_plugin() {
        let with = check(Member::FileSuggestion, "{}");
        let command = jsonc::value(&with).unwrap()["fileSuggestion"]["command"].as_str().unwrap().to_owned();
        let words = shlex::split(&command).unwrap();
        assert_eq!(words[0], format!("{PLUGIN}/bin/wyren{}", std::env::consts::EXE_SUFFIX));
        assert_eq!(words[1..], ["file-suggest"]);
    }

    #[test]
    fn a_status_line_of_the_users_is_wrapped_and_comes_out_as_it_was() {
        let text = "{\n  \"statusLine\": { \"command\": \"~/bin/line 'a' \\\"$HOME\\\"\", \"type\": \"command\", \"padding\": 2 }\n}\n";
        let with = check(Member::StatusLine, text);
        let line = &jsonc::value(&with).unwrap()["statusLine"];
        assert_eq!(line["padding"], 2);
        let words = shlex::split(line["command"].as_str().unwrap()).unwrap();
        assert_eq!(words[1..], ["--wrap", "~/bin/line 'a' \"$HOME\""]);
        // Of a new plugin's folder, around the same command.
        let moved = Member::StatusLine.with_command(&with, Path::new("/new")).unwrap();
        assert_eq!(without_commands(&moved).unwrap(), text);
    }

    #[test]
    fn what_could_not_be_put_back_is_refused() {
        let with = |member: Member, text: &str| member.with_command(text, Path::new(PLUGIN));
        let escaped = r#"{"statusLine": {"type": "command", "command": "\u0061"}}"#;
        assert_eq!(with(Member::StatusLine, escaped), Err(Error::Odd("statusLine".to_owned())));
        assert_eq!(
            with(Member::StatusLine, r#"{"statusLine": 5}"#),
            Err(Error::Odd("statusLine".to_owned()))
        );
        let taken = r#"{"fileSuggestion": {"type": "command", "command": "fzf"}}"#;
        assert_eq!(with(Member::FileSuggestion, taken), Err(Error::Taken("fileSuggestion")));
        assert_eq!(with(Member::StatusLine, "[]"), Err(Error::NotAnObject));
    }

    #[test]
    fn commands_of_others_stay() {
        for command in
            ["wyren file-suggest --all", "/x/wyren-statusline-2", "/bin/wyren-statusline --wrap", "'"]
        {
            let text = json!({"statusLine": {"type": "command", "command": command}}).to_string();
            assert!(!has_commands(&text), "{command}");
            assert_eq!(without_commands(&text).unwrap(), text);
        }
    }

    #[test]
    fn what_is_to_be_pasted_is_ours() {
        let text = Member::StatusLine.to_paste(Path::new(PLUGIN)).unwrap();
        assert_eq!(commands(&text), [(Member::StatusLine, PathBuf::from(PLUGIN))]);
    }
}
