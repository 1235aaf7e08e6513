//! Agents other than Claude Code: where each has its files, what of Wyren it can take, and how that was shown.
//!
//! The table is [`AGENTS`]. `hook::Platform` has their ways to speak, by the same names.

mod handoff;
mod module;
mod report;

pub use report::{CAPABILITIES, Capability, Shown, guide_table};

use crate::marked::{self, File};
use crate::ours::Surroundings;
use crate::settings::file::{self, Change};
use crate::settings::plugin_of;
use base::files;
use handoff::Handoff;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// An agent that Wyren can be wired into.
#[derive(Debug)]
pub struct Agent {
    /// As in `--agent`.
    pub name: &'static str,
    /// As people call it.
    pub title: &'static str,
    /// The variables that move the user's folder, each with what follows its value.
    variables: &'static [(&'static str, &'static str)],
    /// The user's folder, below their home.
    user: &'static str,
    /// A project's folder, below the project.
    project: &'static str,
    wiring: Wiring,
    /// What it hands its commands to on Windows. Elsewhere that is `sh`.
    on_windows: Shell,
    /// Where the handoff is, and in which form.
    handoff: (&'static str, Handoff),
    /// What the user does once it is wired.
    pub next: &'static str,
}

/// How an agent learns what to run.
#[derive(Debug)]
enum Wiring {
    /// In a JSON file, as in Claude Code's settings: events, groups, hooks.
    Groups { file: &'static str, hooks: &'static [Hook], millis: u64, are_named: bool },
    /// In a JSON file without groups.
    Flat { file: &'static str, hooks: &'static [Hook] },
    /// In a module that starts the programs itself.
    Module { file: &'static str },
}

/// What an agent hands its commands to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shell {
    /// Takes a path in quotes for a text, unless [`CALL`] is before it.
    PowerShell,
    Other,
}

/// What makes PowerShell run what follows.
pub(crate) const CALL: &str = "& ";

/// A hook of ours at an event of an agent's.
type Hook = (&'static str, &'static str, u64);

/// Every agent.
pub static AGENTS: [Agent; 4] = [
    Agent {
        name: "codex",
        title: "Codex",
        variables: &[("CODEX_HOME", "")],
        user: ".codex",
        project: ".codex",
        wiring: Wiring::Groups {
            file: "hooks.json",
            hooks: &[
                ("SessionStart", "session-start-reset", 5),
                ("SessionStart", "session-start-lessons", 5),
                ("SessionStart", "session-start-memory", 4),
                ("UserPromptSubmit", "prompt-sync", 3),
                ("UserPromptSubmit", "prompt-record", 5),
                ("UserPromptSubmit", "prompt-bind", 5),
                ("PreToolUse", "lesson-inject", 5),
                ("PostToolUse", "tool-record", 5),
                ("PostToolUse", "context-monitor", 5),
                ("SubagentStart", "subagent-start-lessons", 5),
                ("Stop", "stop-distill", 5),
                ("Stop", "stop-summary", 5),
                // It allows no more.
                ("SessionEnd", "session-end", 3),
            ],
            millis: 1,
            are_named: false,
        },
        on_windows: Shell::PowerShell,
        handoff: ("skills/wyren-handoff/SKILL.md", Handoff::Skill),
        next: "start Codex, which asks you once to trust the hooks; type $wyren-handoff to leave a note. \
               `wyren import --transcripts --agent codex` brings in earlier sessions",
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        variables: &[("GEMINI_CLI_HOME", ".gemini")],
        user: ".gemini",
        project: ".gemini",
        wiring: Wiring::Groups {
            file: "settings.json",
            // No hook at PreCompress: that event comes before every request, whether or not anything is compressed.
            hooks: &[
                ("SessionStart", "session-start-reset", 5),
                ("SessionStart", "session-start-lessons", 5),
                ("SessionStart", "session-start-memory", 4),
                ("BeforeAgent", "prompt-sync", 3),
                ("BeforeAgent", "prompt-record", 5),
                ("BeforeAgent", "prompt-bind", 5),
                ("BeforeTool", "lesson-inject", 5),
                ("AfterTool", "lesson-inject", 5),
                ("AfterTool", "tool-record", 5),
                ("AfterTool", "context-monitor", 5),
                ("AfterAgent", "stop-distill", 5),
                ("AfterAgent", "stop-summary", 5),
                ("SessionEnd", "session-end", 5),
            ],
            millis: 1_000,
            are_named: true,
        },
        on_windows: Shell::PowerShell,
        handoff: ("commands/wyren-handoff.toml", Handoff::Toml),
        next: "start Gemini CLI; /hooks panel lists the hooks, /wyren-handoff leaves a note",
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        variables: &[],
        user: ".cursor",
        project: ".cursor",
        wiring: Wiring::Flat {
            file: "hooks.json",
            // No `prompt-sync`: a prompt takes no context there. The team's news come with the next tool call.
            hooks: &[
                ("sessionStart", "session-start-reset", 5),
                ("sessionStart", "session-start-lessons", 5),
                ("sessionStart", "session-start-memory", 4),
                ("beforeSubmitPrompt", "prompt-record", 5),
                ("beforeSubmitPrompt", "prompt-bind", 5),
                ("preToolUse", "lesson-inject", 5),
                ("postToolUse", "lesson-inject", 5),
                ("postToolUse", "tool-record", 5),
                ("postToolUse", "context-monitor", 5),
                ("postToolUseFailure", "tool-record", 5),
                ("stop", "stop-distill", 5),
                ("stop", "stop-summary", 5),
                ("sessionEnd", "session-end", 5),
            ],
        },
        on_windows: Shell::Other,
        handoff: ("commands/wyren-handoff.md", Handoff::Plain),
        next: "restart Cursor; its settings list the hooks, /wyren-handoff leaves a note. \
               `wyren import --transcripts --agent cursor` brings in earlier sessions",
    },
    Agent {
        name: "opencode",
        title: "OpenCode",
        variables: &[("OPENCODE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "opencode")],
        user: ".config/opencode",
        project: ".opencode",
        wiring: Wiring::Module { file: "plugins/wyren.js" },
        on_windows: Shell::Other,
        handoff: ("commands/wyren-handoff.md", Handoff::Command),
        next: "start OpenCode; /wyren-handoff leaves a note",
    },
];

/// Returns the agent of this name.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// What is to be done to the files of an agent in one folder.
#[derive(Debug)]
pub struct Plan {
    /// Its hooks, where those are in a file that is not ours alone.
    pub change: Option<Change>,
    /// The files that Wyren writes whole.
    pub files: Vec<File>,
}

impl Plan {
    /// Returns whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.change.as_ref().is_none_or(Change::is_nothing)
            && self.files.iter().all(|file| !matches!(file.state, marked::State::Due(_)))
    }
}

/// What there is to take back in one folder of an agent.
#[derive(Debug)]
pub struct Removal {
    pub change: Option<Change>,
    /// Files that are ours.
    pub files: Vec<PathBuf>,
    /// Files that the user edited.
    pub edited: Vec<PathBuf>,
}

impl Removal {
    /// Returns whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.change.as_ref().is_none_or(Change::is_nothing) && self.files.is_empty()
    }
}

impl Agent {
    /// Returns the user's folder; `variable` looks up the environment.
    pub fn user_folder(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        // A relative one would be another folder for each folder that the agent is started in.
        let named = |name: &str| variable(name).filter(|folder| folder.is_absolute());
        let moved = self.variables.iter().find_map(|(name, rest)| Some(named(name)?.join(rest)));
        moved.unwrap_or_else(|| home.join(self.user))
    }

    /// Returns the folder of a project.
    pub fn project_folder(&self, project: &Path) -> PathBuf {
        project.join(self.project)
    }

    /// Returns the file that the hooks are in, below the agent's folder.
    pub fn file(&self) -> &'static str {
        match self.wiring {
            Wiring::Groups { file, .. } | Wiring::Flat { file, .. } | Wiring::Module { file } => file,
        }
    }

    /// Plans to wire the plugin in a folder.
    pub fn install(
        &'static self,
        folder: &Path,
        plugin: &Path,
        around: &Surroundings,
    ) -> Result<Plan, file::Error> {
        self.install_copy(folder, plugin, plugin, around)
    }

    /// Plans to wire a plugin that is to be copied from `from`, and need not be there yet.
    pub fn install_copy(
        &'static self,
        folder: &Path,
        from: &Path,
        plugin: &Path,
        around: &Surroundings,
    ) -> Result<Plan, file::Error> {
        let around = self.around(around);
        let unreadable = |error| file::Error::Unreadable(from.join("commands"), error);
        let mut files = vec![self.handoff(folder, from, plugin).map_err(unreadable)?];
        let path = folder.join(self.file());
        let change = match self.wiring {
            Wiring::Module { .. } => {
                files.push(File::at(path, module::contents(plugin)));
                None
            }
            _ => Some(file::install(&path, plugin, &around)?),
        };
        Ok(Plan { change, files })
    }

    /// Plans to take everything of ours out of a folder.
    pub fn uninstall(&'static self, folder: &Path, around: &Surroundings) -> Result<Removal, file::Error> {
        let mut paths = vec![folder.join(self.handoff.0)];
        let path = folder.join(self.file());
        let change = match self.wiring {
            Wiring::Module { .. } => {
                paths.push(path);
                None
            }
            _ => Some(file::uninstall(&path, &self.around(around), file::What::Hooks)?),
        };
        let (files, edited) = marked::installed(paths.into_iter());
        Ok(Removal { change, files, edited })
    }

    /// Returns the folder of the plugin that the files in a folder are wired to.
    pub fn plugin(&'static self, folder: &Path, around: &Surroundings) -> Option<PathBuf> {
        let text = files::read_text_followed(&folder.join(self.file()), marked::MAX_BYTES).ok()?;
        match self.wiring {
            Wiring::Module { .. } => module::plugin_of(&text).filter(|_| text.contains(marked::MARK)),
            _ => plugin_of(&text, &self.around(around)),
        }
    }

    fn around(&'static self, around: &Surroundings) -> Surroundings {
        Surroundings { agent: Some(self), ..around.clone() }
    }

    fn handoff(&self, folder: &Path, from: &Path, plugin: &Path) -> io::Result<File> {
        let (path, form) = self.handoff;
        Ok(File::at(folder.join(path), form.contents(from, plugin)?))
    }

    /// Returns whether its file has hooks in groups.
    pub(crate) fn has_groups(&self) -> bool {
        matches!(self.wiring, Wiring::Groups { .. })
    }

    /// Returns what every command of ours ends with.
    pub(crate) fn argument(&self) -> String {
        format!(" --agent {}", self.name)
    }

    /// Returns the whole text of a file that has only our hooks; `None` for a folder that no shell takes as it is.
    pub(crate) fn to_paste(&self, plugin: &Path) -> Option<String> {
        let hooks = match self.wiring {
            Wiring::Groups { hooks, .. } | Wiring::Flat { hooks, .. } => hooks,
            Wiring::Module { .. } => return None,
        };
        let mut events: Vec<(&str, Vec<String>)> = Vec::new();
        for (event, program, seconds) in hooks {
            let entry = self.entry(program, *seconds, plugin)?;
            match events.last_mut().filter(|(last, _)| last == event) {
                Some((_, entries)) => entries.push(entry),
                None => events.push((event, vec![entry])),
            }
        }
        let (open, close, indent) = match self.has_groups() {
            true => ("[\n      {\n        \"hooks\": [", "\n        ]\n      }\n    ]", "\n          "),
            false => ("[", "\n    ]", "\n      "),
        };
        let event = |(name, entries): &(&str, Vec<String>)| {
            let entries =
                entries.iter().map(|entry| format!("{indent}{entry}")).collect::<Vec<_>>().join(",");
            format!("    \"{name}\": {open}{entries}{close}")
        };
        let events = events.iter().map(event).collect::<Vec<_>>().join(",\n");
        let version = if self.has_groups() { "" } else { "  \"version\": 1,\n" };
        Some(format!("{{\n{version}  \"hooks\": {{\n{events}\n  }}\n}}\n"))
    }

    fn entry(&self, program: &str, seconds: u64, plugin: &Path) -> Option<String> {
        let path = plugin.join("bin").join(program);
        let shell = if cfg!(windows) { self.on_windows } else { Shell::Other };
        let command = Value::from(quoted(path.to_str()?, shell)? + &self.argument());
        Some(match self.wiring {
            Wiring::Groups { millis, are_named, .. } => {
                let name = if are_named { format!("\"name\": \"wyren-{program}\", ") } else { String::new() };
                format!(
                    "{{ \"type\": \"command\", {name}\"command\": {command}, \"timeout\": {} }}",
                    seconds * millis
                )
            }
            _ => format!("{{ \"command\": {command}, \"timeout\": {seconds} }}"),
        })
    }
}

/// Returns a path as a shell takes it for a program; `None` for one that would need another way in each.
fn quoted(path: &str, shell: Shell) -> Option<String> {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./\\:@+~".contains(char);
    if path.chars().all(is_plain) {
        return Some(path.to_owned());
    }
    let call = match shell {
        Shell::PowerShell => CALL,
        Shell::Other => "",
    };
    (!path.contains(['"', '$', '`', '!', '%', '\n'])).then(|| format!("{call}\"{path}\""))
}

#[cfg(test)]
mod tests;
