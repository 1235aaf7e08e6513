//! The hooks as a settings file has them, with absolute paths.

use crate::agents::Agent;
use crate::jsonc::{self, Node};
use std::path::Path;

/// The guide has the block that a person pastes, generated from the table of hooks.
const GUIDE: &str = include_str!("../../../../docs/guides/wiring.md");

/// What the block has in place of the plugin's folder.
const PLACEHOLDER: &str = "/path/to/wyren";

/// By how many spaces the block is indented.
const INDENT: usize = 2;

/// Returns what a person pastes into a settings file that is empty: all hooks of the plugin in a folder.
pub fn to_paste(plugin: &Path) -> String {
    let (start, end) = ("<!-- wiring -->\n```json\n", "```\n<!-- /wiring -->");
    let block =
        GUIDE.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(block, _)| block);
    let plugin = serde_json::Value::from(plugin.to_string_lossy()).to_string();
    block.replace(PLACEHOLDER, plugin.trim_matches('"'))
}

/// The block, read.
pub(crate) struct Wiring {
    pub(crate) text: String,
    pub(crate) root: Node,
}

impl Wiring {
    /// Returns the wiring of the plugin in a folder for an agent; `None` when the path cannot be written there.
    pub(crate) fn of(plugin: &Path, agent: Option<&Agent>) -> Option<Self> {
        let text = agent.map_or_else(|| Some(to_paste(plugin)), |agent| agent.to_paste(plugin))?;
        let root = jsonc::parse(&text).ok()??;
        Some(Self { text, root })
    }

    /// Returns settings that have these values, as the client would write them.
    pub(crate) fn of_value(value: &serde_json::Value) -> Option<Self> {
        let text = format!("{value:#}\n");
        let root = jsonc::parse(&text).ok()??;
        Some(Self { text, root })
    }

    /// Returns a part of the block in the manner of another file.
    pub(crate) fn part(&self, span: &std::ops::Range<usize>, style: &Style) -> String {
        style.laid_out(&self.text[span.clone()])
    }
}

/// How a file breaks its lines.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) newline: &'static str,
    /// What a line has before its text, for each level of nesting.
    pub(crate) indent: String,
}

impl Style {
    /// Returns the manner of a settings file, by its first line break and its first member.
    pub(crate) fn of(text: &str, root: &Node) -> Self {
        let newline =
            if text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r')) { "\r\n" } else { "\n" };
        let before = root.members().first().map_or("", |member| &text[..member.span.start]);
        let indent = before.rsplit_once('\n').map_or("", |(_, indent)| indent);
        let is_indent = !indent.is_empty() && indent.bytes().all(|byte| byte == b' ' || byte == b'\t');
        Self { newline, indent: if is_indent { indent.to_owned() } else { " ".repeat(INDENT) } }
    }

    /// Returns the start of a line at a level of nesting.
    pub(crate) fn line(&self, level: usize) -> String {
        self.newline.to_owned() + &self.indent.repeat(level)
    }

    fn laid_out(&self, block: &str) -> String {
        self.laid_out_below(block, 0)
    }

    /// Returns a value on lines of its own, as one that begins at a level of nesting.
    pub(crate) fn pretty(&self, value: &serde_json::Value, level: usize) -> String {
        self.laid_out_below(&format!("{value:#}"), level)
    }

    fn laid_out_below(&self, block: &str, level: usize) -> String {
        let mut lines = block.lines();
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let words = line.trim_start();
            text += &self.line(level + (line.len() - words.len()) / INDENT);
            text += words;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::hooks::{EVENTS, HOOKS};

    #[test]
    fn what_is_pasted_has_every_hook_of_the_table_at_its_events() {
        let wiring = Wiring::of(Path::new("/opt/a \"b\"/wyren"), None).unwrap().root.value();
        let mut wired = 0;
        for event in EVENTS {
            for hook in HOOKS.iter().filter(|hook| hook.events.contains(&event.name)) {
                let groups = wiring["hooks"][event.name].as_array().unwrap();
                let path = format!("/opt/a \"b\"/wyren/bin/{}", hook.name);
                let hooks = groups.iter().flat_map(|group| group["hooks"].as_array().unwrap());
                assert_eq!(hooks.filter(|wired| wired["command"] == *path).count(), 1, "{path}");
                wired += 1;
            }
        }
        assert!(wired >= HOOKS.len());
    }
}
