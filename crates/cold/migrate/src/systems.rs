//! The earlier systems: how each is recognised, what imports its records, and whether Wyren replaces it.
//!
//! A capability that can read the records of one adds its importer to the row, and sets `is_replaced` once it does the same work.

use crate::Around;
use crate::command::{Command, is_below};
use crate::importers::{self, Importer};
use std::path::{Path, PathBuf};

/// An earlier system.
#[derive(Debug)]
pub struct System {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in a sentence.
    pub title: &'static str,
    /// What both do while both run; empty where Wyren does not do its work.
    pub doubled: &'static str,
    /// The name of its plugin, before the `@`.
    pub(crate) plugin: &'static str,
    /// Whether a plugin of that name is its own, by the folder that it is in.
    pub(crate) is_plugin: fn(Option<&Path>) -> bool,
    /// Whether a command is one of its hooks.
    pub(crate) is_hook: fn(&Command) -> bool,
    /// Members of the settings beside the hooks that may run a command of its own.
    pub(crate) members: &'static [&'static str],
    /// Where its records may be, and what becomes of each.
    pub(crate) records: fn(&Around) -> Vec<Record>,
    /// What reads its records.
    pub importers: &'static [Importer],
    /// Whether scripts call a program of its name, which `wyren serve` can answer for.
    pub(crate) has_program_of_its_name: bool,
}

impl System {
    /// Returns whether Wyren does its work, so that its hooks are switched off without being asked for.
    pub fn is_replaced(&self) -> bool {
        !self.doubled.is_empty()
    }
}

/// A folder with records of an earlier system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub path: PathBuf,
    /// What becomes of it, for a person.
    pub stays: &'static str,
}

impl Record {
    fn unread(path: PathBuf) -> Self {
        Self { path, stays: "stays; this version of Wyren does not read it" }
    }
}

/// Every system, in the order in which they are shown.
pub const SYSTEMS: &[System] = &[
    System {
        name: "wyren-node",
        title: "the Node version of Wyren",
        doubled: "both show the team memory and distill sessions",
        plugin: "wyren",
        is_plugin: |folder| folder.is_some_and(|folder| folder.join("hooks/run-hook.cmd").is_file()),
        is_hook: is_of_the_node_version,
        members: &[],
        records: |around| {
            vec![
                Record { path: around.client().join("plugins/wyren"), stays: "stays; Wyren does not use it" },
                Record { path: around.project.join(".wyren"), stays: "stays; Wyren reads it as it is" },
            ]
        },
        importers: &[],
        has_program_of_its_name: false,
    },
    System {
        name: "lessons-learned",
        title: "lessons-learned",
        doubled: "both show lessons before tool calls",
        plugin: "lessons-learned",
        is_plugin: |_| true,
        is_hook: is_of_lessons_learned,
        members: &[],
        records: |around| {
            let folders = importers::lessons::data_folders(around).into_iter();
            folders.map(|path| Record { path, stays: "stays; what is imported is a copy" }).collect()
        },
        importers: &[importers::lessons::IMPORTER, importers::settings::LESSONS_LEARNED],
        has_program_of_its_name: false,
    },
    System {
        name: "claude-mem",
        title: "claude-mem",
        doubled: "",
        plugin: "claude-mem",
        is_plugin: |_| true,
        is_hook: is_of_claude_mem,
        members: &["statusLine"],
        records: |around| {
            let folder = importers::claude_mem::folder(around);
            folder
                .into_iter()
                .map(|path| Record { path, stays: "stays; what is imported is a copy" })
                .collect()
        },
        importers: &[importers::claude_mem::OF_SETTINGS, importers::claude_mem::OF_RECORDS],
        has_program_of_its_name: true,
    },
    System {
        name: "aiwcli",
        title: "aiwcli",
        doubled: "",
        plugin: "aiwcli",
        is_plugin: |_| true,
        is_hook: |command| {
            command.scripts(&["ts", "js", "mjs", "py", "sh"]).any(|path| is_below(path, ".aiwcli"))
        },
        members: &["statusLine", "fileSuggestion"],
        records: |around| {
            [".aiwcli", "_output/contexts"].map(|name| Record::unread(around.project.join(name))).into()
        },
        importers: &[],
        has_program_of_its_name: false,
    },
];

/// Returns the system of a name.
pub fn named(name: &str) -> Option<&'static System> {
    SYSTEMS.iter().find(|system| system.name == name)
}

/// The file that starts every hook of the Node version. Other plugins have one of that name, too.
const DISPATCHERS: [&str; 2] = ["run-hook.cmd", "run-hook.sh"];

fn is_of_the_node_version(command: &Command) -> bool {
    let is_dispatcher = |word: &&str| {
        let path = Path::new(word);
        let is_named = path.file_name().is_some_and(|name| DISPATCHERS.iter().any(|known| name == *known));
        let Some(root) = path.parent().filter(|hooks| hooks.ends_with("hooks")).and_then(Path::parent) else {
            return false;
        };
        is_named && (root.ends_with("wyren") || command.on_disk(root).join("bin/wyren.mjs").is_file())
    };
    let is_script = |path: &Path| {
        let names = ["session-start.mjs", "stop.mjs", "user-prompt-submit.mjs"];
        let folder = path.parent().unwrap_or(path);
        folder.ends_with("wyren/hooks")
            && path.file_name().is_some_and(|name| names.iter().any(|one| name == *one))
    };
    command.words().any(|word| is_dispatcher(&word)) || command.scripts(&["mjs"]).any(is_script)
}

/// Hooks of lessons-learned whose names no other tool has.
const ITS_OWN: [&str; 4] = [
    "pretooluse-lesson-inject",
    "posttooluse-directive-reinject",
    "session-start-lesson-protocol",
    "subagent-start-lesson-protocol",
];

/// Hooks whose names others may have: they count where one of its own is beside them.
const COMMON: [&str; 5] =
    ["session-start-reset", "session-start-scan", "precompact-handoff", "pre-compact-handoff", "pre-compact"];

fn is_of_lessons_learned(command: &Command) -> bool {
    command.scripts(&["mjs", "js"]).any(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_beside = || command.on_disk(path).with_file_name(format!("{}.mjs", ITS_OWN[0])).is_file();
        let is_common = COMMON.contains(&&*name) && (is_below(path, "lessons-learned") || is_beside());
        ITS_OWN.contains(&&*name) || is_common
    })
}

fn is_of_claude_mem(command: &Command) -> bool {
    let is_its = |path: &Path| is_below(path, "claude-mem") || is_below(path, ".claude-mem");
    command.runs("claude-mem") || command.scripts(&["js", "cjs", "mjs", "ts"]).any(is_its)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the names of the systems that a command is taken for a hook of.
    fn systems_of(command: &str) -> Vec<&'static str> {
        let command = Command::of(&json!({ "command": command }), None).unwrap();
        SYSTEMS.iter().filter(|system| (system.is_hook)(&command)).map(|system| system.name).collect()
    }

    #[test]
    fn hooks_are_known_in_every_form_and_similar_ones_of_others_are_not() {
        let node = &["wyren-node"][..];
        let (lessons, mem, aiwcli) = (&["lessons-learned"][..], &["claude-mem"][..], &["aiwcli"][..]);
        for (command, expected) in [
            ("\"/home/ada/.claude/plugins/wyren/hooks/run-hook.cmd\" session-start", node),
            ("\"C:\\Users\\ada\\.claude\\plugins\\wyren\\hooks\\run-hook.cmd\" stop", node),
            ("/opt/wyren/hooks/run-hook.sh user-prompt-submit", node),
            ("node /opt/wyren/hooks/stop.mjs", node),
            ("\"/home/ada/.claude/plugins/superpowers/hooks/run-hook.cmd\" session-start", &[]),
            ("/opt/wyren/bin/session-start-reset", &[]),
            ("/opt/other/hooks/stop.mjs", &[]),
            ("node /src/lessons-learned/hooks/pretooluse-lesson-inject.mjs", lessons),
            ("node \"/src/lessons-learned/hooks/session-start-reset.mjs\"", lessons),
            ("node /src/ll/hooks/posttooluse-directive-reinject.mjs", lessons),
            ("node /src/other/hooks/session-start-reset.mjs", &[]),
            ("cat /src/lessons-learned/README.md", &[]),
            (
                "_R=\"$HOME/.claude/plugins/cache/thedotmack/claude-mem/13.15.3\"; node \"$_R/scripts/bun-runner.js\" \"/x/claude-mem/scripts/worker-service.cjs\" hook claude-code context",
                mem,
            ),
            ("bun ~/.claude/plugins/marketplaces/thedotmack/plugin/claude-mem/scripts/context-hook.js", mem),
            ("npx claude-mem hook claude-code context", mem),
            ("tar -cf backup.tar /home/ada/.claude-mem", &[]),
            ("bun \"$CLAUDE_PROJECT_DIR\"/.aiwcli/_shared/hooks-ts/context_monitor.ts", aiwcli),
            ("python .aiwcli/_shared/hooks/session_start.py", aiwcli),
            ("ls .aiwcli", &[]),
        ] {
            assert_eq!(systems_of(command), expected, "{command}");
        }
    }

    #[test]
    fn names_are_unique() {
        for (at, system) in SYSTEMS.iter().enumerate() {
            assert!(SYSTEMS[..at].iter().all(|other| other.name != system.name));
            assert!(named(system.name).is_some());
        }
        assert!(named("other").is_none());
    }
}
