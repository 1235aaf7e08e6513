//! `hooks.json` against the design's table and against what was built.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Events that clients before 2.1.0 know; one unknown name disables its whole file.
const OLD_EVENTS: [&str; 9] = [
    "Notification",
    "PostToolUse",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStop",
    "UserPromptSubmit",
];

/// The design's table: event, binary, time-out in seconds. A hook that is not built yet is not wired.
const TABLE: [(&str, &str, u64); 20] = [
    ("SessionStart", "session-start-reset", 5),
    ("SessionStart", "session-start-lessons", 5),
    ("SessionStart", "session-start-memory", 4),
    ("SessionStart", "session-start-recall", 5),
    ("SessionStart", "session-start-scan", 5),
    ("UserPromptSubmit", "prompt-sync", 3),
    ("UserPromptSubmit", "prompt-record", 5),
    ("UserPromptSubmit", "prompt-bind", 5),
    ("PreToolUse", "lesson-inject", 5),
    ("PreToolUse", "file-recall", 5),
    ("PreToolUse", "plan-archive", 5),
    ("PostToolUse", "tool-record", 5),
    ("PostToolUseFailure", "tool-record", 5),
    ("PostToolUse", "context-monitor", 5),
    ("PostToolUse", "task-record", 5),
    ("Stop", "stop-distill", 5),
    ("Stop", "stop-summary", 5),
    ("SubagentStart", "subagent-start-lessons", 5),
    ("PreCompact", "precompact-handoff", 60),
    ("SessionEnd", "session-end", 5),
];

struct Wired {
    file: String,
    event: String,
    binary: String,
    hook: Value,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn wired() -> Result<Vec<Wired>> {
    let mut all = Vec::new();
    for file in fs::read_dir(root().join("hooks"))? {
        let path = file?.path();
        let file = path.file_name().context("a file name")?.to_string_lossy().into_owned();
        let wiring: Value = serde_json::from_slice(&fs::read(&path)?).context(file.clone())?;
        assert!(wiring["description"].is_string(), "{file} has no description");
        for (event, groups) in wiring["hooks"].as_object().context("no hooks")? {
            for hook in
                groups.as_array().into_iter().flatten().flat_map(|group| group["hooks"].as_array()).flatten()
            {
                let command = hook["command"].as_str().context("a hook without a command")?;
                let binary =
                    command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/bin/").with_context(|| command.to_owned())?;
                all.push(Wired {
                    file: file.clone(),
                    event: event.clone(),
                    binary: binary.to_owned(),
                    hook: hook.clone(),
                });
            }
        }
    }
    Ok(all)
}

fn built_hooks() -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root().join("bins"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "wyren" && !name.starts_with("wyren-") {
            names.insert(name);
        }
    }
    Ok(names)
}

#[test]
fn every_wired_hook_is_in_the_table_with_its_time_out_in_exec_form() -> Result<()> {
    for Wired { event, binary, hook, .. } in wired()? {
        let row = TABLE.iter().find(|row| row.0 == event && row.1 == binary);
        let (_, _, timeout) = row.with_context(|| format!("{binary} at {event} is not in the table"))?;
        assert_eq!(hook["timeout"].as_u64(), Some(*timeout), "{binary}");
        assert_eq!(hook["type"], "command", "{binary}");
        assert_eq!(hook["args"], serde_json::json!([]), "{binary} must run without a shell");
    }
    Ok(())
}

#[test]
fn what_is_built_is_wired_to_every_event_of_its_row_and_nothing_else_is() -> Result<()> {
    let built = built_hooks()?;
    let wired: BTreeSet<(String, String)> =
        wired()?.into_iter().map(|hook| (hook.event, hook.binary)).collect();
    let expected: BTreeSet<(String, String)> = TABLE
        .iter()
        .filter(|(_, binary, _)| built.contains(*binary))
        .map(|(event, binary, _)| ((*event).to_owned(), (*binary).to_owned()))
        .collect();
    assert_eq!(wired, expected);
    for name in built {
        assert!(TABLE.iter().any(|row| row.1 == name), "bins/{name} is not in the table");
    }
    Ok(())
}

#[test]
fn newer_events_are_kept_out_of_the_file_that_old_clients_load() -> Result<()> {
    for Wired { file, event, .. } in wired()? {
        let is_old = OLD_EVENTS.contains(&&*event);
        assert_eq!(is_old, file == "hooks.json", "{event} in {file}");
    }
    Ok(())
}

#[test]
fn the_version_is_the_same_everywhere() -> Result<()> {
    let read = |file: &str| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(root().join(file))?)?) };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(read(".claude-plugin/plugin.json")?["version"], version);
    assert_eq!(read(".claude-plugin/marketplace.json")?["plugins"][0]["version"], version);
    Ok(())
}

#[test]
fn a_hooks_main_reads_like_a_sentence() -> Result<()> {
    const MAX_LINES: usize = 25;
    for name in built_hooks()? {
        let main = fs::read_to_string(root().join("bins").join(&name).join("src/main.rs"))?;
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = main.lines().filter(is_code).count();
        assert!(lines <= MAX_LINES, "bins/{name}/src/main.rs has {lines} lines of code");
        assert!(main.contains(&format!("hook::run(\"{name}\"")), "bins/{name} goes by another name");
    }
    Ok(())
}
