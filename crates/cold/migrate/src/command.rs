//! The words of a hook's command, to tell whose it is.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// What separates words of a shell command, beside space.
const MARKS: [char; 10] = ['"', '\'', '`', ';', '|', '&', '(', ')', '=', ','];

/// The words of a hook, with `/` in every path.
#[derive(Debug)]
pub(crate) struct Command {
    words: Vec<String>,
    home: Option<PathBuf>,
}

impl Command {
    /// Reads a hook, a status line or a file suggestion; `None` where it runs no command.
    pub(crate) fn of(hook: &Value, home: Option<&Path>) -> Option<Self> {
        let command = hook["command"].as_str()?.replace('\\', "/");
        let words = command.split(|letter: char| letter.is_whitespace() || MARKS.contains(&letter));
        let mut words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let arguments = hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        words.extend(arguments.map(|argument| argument.replace('\\', "/")));
        Some(Self { words, home: home.map(Path::to_owned) })
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Returns the words that are paths of files with one of these endings.
    pub(crate) fn scripts(&self, endings: &[&str]) -> impl Iterator<Item = &Path> {
        let is_one = |path: &&Path| {
            path.extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|ending| endings.contains(&ending))
        };
        self.words().map(Path::new).filter(move |path| is_one(path))
    }

    /// Returns whether a word is the name of a program that is run: the first, or after one that runs packages.
    pub(crate) fn runs(&self, name: &str) -> bool {
        let is_named = |word: &str| {
            let file = word.rsplit('/').next().unwrap_or(word);
            file == name || file.strip_prefix(name).is_some_and(|rest| rest.starts_with('@'))
        };
        let runners = ["npx", "bunx", "dlx", "-y", "--yes", "exec"];
        self.words().enumerate().any(|(at, word)| {
            is_named(word)
                && (at == 0 || self.words.get(at - 1).is_some_and(|last| runners.contains(&&**last)))
        })
    }

    /// Returns a path as the disk knows it.
    pub(crate) fn on_disk(&self, path: &Path) -> PathBuf {
        for beginning in ["~", "$HOME", "${HOME}"] {
            if let (Ok(rest), Some(home)) = (path.strip_prefix(beginning), &self.home) {
                return home.join(rest);
            }
        }
        path.to_owned()
    }
}

/// Returns whether a folder of this name is on the way to a path.
pub(crate) fn is_below(path: &Path, folder: &str) -> bool {
    path.parent().is_some_and(|parent| parent.iter().any(|part| part == folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_found_in_shell_and_in_exec_form() {
        let shell = json!({"command": "R=\"$HOME/.claude\"; node \"$R/a.js\" x"});
        let shell = Command::of(&shell, Some(Path::new("/home/ada"))).unwrap();
        let scripts: Vec<&Path> = shell.scripts(&["js"]).collect();
        assert_eq!(scripts, [Path::new("$R/a.js")]);
        let exec = json!({"command": "node", "args": ["C:\\x y\\a.mjs", "hook"]});
        let exec = Command::of(&exec, None).unwrap();
        assert_eq!(exec.scripts(&["mjs"]).collect::<Vec<_>>(), [Path::new("C:/x y/a.mjs")]);
        assert!(Command::of(&json!({"type": "prompt", "prompt": "x"}), None).is_none());
        assert_eq!(shell.on_disk(Path::new("~/a")), Path::new("/home/ada/a"));
    }

    #[test]
    fn a_name_that_is_only_an_argument_is_not_run() {
        let runs =
            |command: &str| Command::of(&json!({ "command": command }), None).unwrap().runs("claude-mem");
        for (command, expected) in [
            ("claude-mem hook context", true),
            ("/usr/lib/bin/claude-mem hook", true),
            ("npx -y claude-mem@12 hook", true),
            ("npx claude-mem hook", true),
            ("rsync claude-mem backup", false),
            ("my-claude-mem hook", false),
        ] {
            assert_eq!(runs(command), expected, "{command}");
        }
    }
}
