//! Which hooks in a file of the client's are Wyren's.

use crate::agents::{self, Agent};
use crate::jsonc::{self, Node};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The plugin's hook files, for the names of the programs.
const HOOK_FILES: [&str; 3] = [
    include_str!("../../../../hooks/hooks.json"),
    include_str!("../../../../hooks/extra.json"),
    include_str!("../../../../hooks/later.json"),
];

/// What a command may begin with in place of a path.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder that a session takes its project's settings from.
    pub project: PathBuf,
    /// The agent whose file it is; `None` for Claude Code.
    pub agent: Option<&'static Agent>,
}

impl Surroundings {
    /// Returns the programs of ours in a settings file.
    pub fn programs(&self, settings: &Value) -> BTreeSet<PathBuf> {
        let commands = commands(settings).filter_map(|command| self.program(command));
        commands.filter(|program| is_ours(program)).collect()
    }

    /// Says whether the file has hooks in groups, each with a matcher.
    pub(crate) fn has_groups(&self) -> bool {
        self.agent.is_none_or(Agent::has_groups)
    }

    /// Returns the program of a hook, if the hook is ours to change.
    pub(crate) fn program_of(&self, hook: &Node) -> Option<PathBuf> {
        let command = hook.member("command").and_then(|member| member.value.text())?;
        let program = self.program(command).filter(|program| is_ours(program))?;
        // A program that is not there tells nothing about itself. Then the entry must be as Wyren writes it.
        (program.exists() || self.is_as_written(hook)).then_some(program)
    }

    /// Returns whether a hook has the form that Wyren writes: for an agent that it names, or without a shell.
    pub(crate) fn is_as_written(&self, hook: &Node) -> bool {
        match self.agent {
            Some(agent) => {
                let command = hook.member("command").and_then(|member| member.value.text());
                command.is_some_and(|command| command.ends_with(&agent.argument()))
            }
            None => hook.member("args").is_some_and(|args| args.value.value() == Value::Array(Vec::new())),
        }
    }

    /// Returns the program of a command, as an absolute path; `None` where only a shell knows it.
    fn program(&self, command: &str) -> Option<PathBuf> {
        let command = command.trim();
        let command = command.strip_prefix(agents::CALL).unwrap_or(command);
        let word = match command.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            // A command with `args` is a path as it is, with its spaces.
            None if Path::new(command).exists() => Some(command),
            None if is_ours(Path::new(command)) => Some(command),
            None => command.split_whitespace().next(),
        }?;
        let begins =
            |beginnings: &[&str]| beginnings.iter().find_map(|beginning| word.strip_prefix(beginning));
        let path = if let Some(rest) = begins(&["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"]) {
            self.project.join(rest)
        } else if let Some(rest) = begins(&["~/", "$HOME/", "${HOME}/"]) {
            self.home.as_ref()?.join(rest)
        } else {
            PathBuf::from(word)
        };
        path.is_absolute().then_some(path)
    }
}

/// Returns the commands of a hook file or a settings file. One object may be where a list belongs.
fn commands(settings: &Value) -> impl Iterator<Item = &str> {
    fn each(value: &Value) -> &[Value] {
        value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
    }
    let events = settings["hooks"].as_object().into_iter().flat_map(|events| events.values());
    let hooks = events.flat_map(each).flat_map(|group| each(&group["hooks"]));
    hooks.filter_map(|hook| hook["command"].as_str())
}

/// Returns whether a program is a hook of ours: it is called like one and is in `bin/` of a plugin, beside `wyren`, or would be
/// in a `bin` and is not there any more. People have scripts called `session-end`, too, and those may be in `~/.local/bin`, where
/// `wyren` is linked.
fn is_ours(program: &Path) -> bool {
    let name = program.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(folder) = program.parent() else { return false };
    let is_lost = || !program.exists() && folder.file_name().is_some_and(|name| name == "bin");
    let wyren = format!("wyren{}", std::env::consts::EXE_SUFFIX);
    let is_in_plugin = || {
        let plugin = folder.parent().filter(|_| folder.ends_with("bin") && folder.join(wyren).is_file());
        let parts = ["hooks/hooks.json", ".claude-plugin/plugin.json"];
        plugin.is_some_and(|plugin| parts.iter().any(|part| plugin.join(part).is_file()))
    };
    hook_names().contains(&name) && (is_in_plugin() || is_lost())
}

/// Returns every event with the hooks that are wired to it for everything that happens there, whatever the tool.
pub fn hooks_of_events() -> BTreeMap<String, BTreeSet<String>> {
    let mut hooks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in HOOK_FILES.iter().filter_map(|file| jsonc::value(file)) {
        for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
            let groups = groups.as_array().into_iter().flatten().filter(|group| group["matcher"].is_null());
            let entries = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
            let names = entries.filter_map(|hook| hook["command"].as_str()?.rsplit('/').next());
            hooks.entry(event.clone()).or_default().extend(names.map(str::to_owned));
        }
    }
    hooks
}

/// Returns the names of all hooks.
pub fn hook_names() -> &'static BTreeSet<String> {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let files = HOOK_FILES.iter().filter_map(|file| jsonc::value(file));
        let names = |file: Value| -> Vec<String> {
            commands(&file).filter_map(|command| command.rsplit('/').next().map(str::to_owned)).collect()
        };
        files.flat_map(names).collect()
    })
}
