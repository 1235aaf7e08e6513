//! Which event each hook of a plugin is wired to.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files that may wire hooks.
const FILES: [&str; 2] = ["hooks/hooks.json", "hooks/extra.json"];

#[derive(Deserialize)]
struct File {
    hooks: BTreeMap<String, Vec<Group>>,
}

#[derive(Deserialize)]
struct Group {
    hooks: Vec<Hook>,
}

#[derive(Deserialize)]
struct Hook {
    command: String,
}

/// Returns the event of each program that a plugin wires; of several, the first by name.
pub(crate) fn read(plugin: &Path) -> Result<BTreeMap<String, String>> {
    let mut events = BTreeMap::new();
    for file in FILES.map(|file| plugin.join(file)).into_iter().filter(|file| file.is_file()) {
        let read = fs::read_to_string(&file).map_err(anyhow::Error::from).and_then(|text| parse(&text));
        for (binary, event) in read.with_context(|| format!("could not read {}", file.display()))? {
            events.entry(binary).or_insert(event);
        }
    }
    Ok(events)
}

fn parse(text: &str) -> Result<Vec<(String, String)>> {
    let file: File = serde_json::from_str(text)?;
    let hooks = file.hooks.into_iter().flat_map(|(event, groups)| {
        let hooks = groups.into_iter().flat_map(|group| group.hooks);
        hooks.map(move |hook| (program(&hook.command), event.clone()))
    });
    Ok(hooks.collect())
}

fn program(command: &str) -> String {
    command.rsplit('/').next().unwrap_or(command).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_under_its_event() {
        let text = r#"{"description": "d", "hooks": {"Stop": [{"matcher": "*", "hooks": [
            {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/stop-summary", "args": [], "timeout": 5}]}]}}"#;
        assert_eq!(parse(text).unwrap(), [("stop-summary".to_owned(), "Stop".to_owned())]);
    }
}
