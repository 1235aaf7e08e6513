//! What was built and wired against the table of hooks. That `hooks.json` is generated from it is a test of the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use tables::hooks::HOOKS;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns event, program and file of every wired hook of a checkout, and checks its form.
pub(crate) fn wired(root: &Path) -> Result<BTreeSet<(String, String, String)>> {
    let mut all = BTreeSet::new();
    for file in fs::read_dir(root.join("hooks"))? {
        let path = file?.path();
        let file = path.file_name().context("a file name")?.to_string_lossy().into_owned();
        let wiring: Value = serde_json::from_slice(&fs::read(&path)?).context(file.clone())?;
        assert!(wiring["description"].is_string(), "{file} has no description");
        for (event, groups) in wiring["hooks"].as_object().context("no hooks")? {
            for hook in
                groups.as_array().into_iter().flatten().flat_map(|group| group["hooks"].as_array()).flatten()
            {
                let command = hook["command"].as_str().context("a hook without a command")?;
                let program =
                    command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/bin/").with_context(|| command.to_owned())?;
                assert_eq!(hook["type"], "command", "{program}");
                assert_eq!(hook["args"], serde_json::json!([]), "{program} must run without a shell");
                // In seconds; only the hook that may ask a model has more than 10.
                let most = if program == "precompact-handoff" { 60 } else { 10 };
                assert!(
                    hook["timeout"].as_u64().is_some_and(|seconds| (1..=most).contains(&seconds)),
                    "{program}"
                );
                all.insert((event.clone(), program.to_owned(), file.clone()));
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
fn what_is_built_is_in_the_table_and_nothing_else_is() -> Result<()> {
    let table: BTreeSet<String> = HOOKS.iter().map(|hook| hook.name.to_owned()).collect();
    assert_eq!(built_hooks()?, table);
    Ok(())
}

#[test]
fn every_hook_is_wired_to_the_events_of_its_row_in_the_file_that_the_client_can_load() -> Result<()> {
    let mut expected = BTreeSet::new();
    for hook in HOOKS {
        for event in hook.events {
            let file = tables::hooks::event(event).context("no such event")?.since.file();
            expected.insert(((*event).to_owned(), hook.name.to_owned(), file.to_owned()));
        }
    }
    assert_eq!(wired(root())?, expected);
    Ok(())
}

#[test]
fn every_file_has_the_same_version() -> Result<()> {
    let read = |file: &str| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(root().join(file))?)?) };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(read(".claude-plugin/plugin.json")?["version"], version);
    assert_eq!(read(".claude-plugin/marketplace.json")?["plugins"][0]["version"], version);
    Ok(())
}

/// Checks the program of a hook: short, under its own name, with the allocator and the silent answer of its row.
pub(crate) fn check_program(main: &Path, name: &str, silence: &str) -> Result<()> {
    const MAX_LINES: usize = 25;
    let main = fs::read_to_string(main)?;
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = main.lines().filter(is_code).count();
    assert!(lines <= MAX_LINES, "bins/{name}/src/main.rs has {lines} lines of code");
    let call = format!("hook::run(\"{name}\", Silence::{silence},");
    assert!(main.contains(&call), "bins/{name} has another name or silent answer than its row: no {call}");
    let allocator = "#[global_allocator]\nstatic ARENA: Arena = Arena::new();\n";
    assert!(main.contains(allocator), "bins/{name} lacks the allocator of hooks");
    Ok(())
}

#[test]
fn a_hooks_main_reads_like_a_sentence() -> Result<()> {
    for hook in HOOKS {
        let main: PathBuf = root().join("bins").join(hook.name).join("src/main.rs");
        check_program(&main, hook.name, &format!("{:?}", hook.silence))?;
    }
    Ok(())
}
