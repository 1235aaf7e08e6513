//! The module that OpenCode loads, which runs the plugin's programs.

use crate::marked::{Comment, marked};
use serde_json::Value;
use std::path::{Path, PathBuf};

const MODULE: &str = include_str!("opencode.js");

/// What the module has in place of the folder of the programs.
const PLACEHOLDER: &str = "\"/path/to/wyren/bin\"";

/// What the line with that folder begins with.
const FOLDER: &str = "const BIN = ";

/// Returns the folder of the plugin that a module's text runs the programs of.
pub(super) fn plugin_of(text: &str) -> Option<PathBuf> {
    let bin = text.lines().find_map(|line| line.strip_prefix(FOLDER))?;
    let bin: String = serde_json::from_str(bin.trim()).ok()?;
    Path::new(&bin).parent().map(Path::to_owned)
}

/// Returns the module's text, for the plugin in a folder.
pub(super) fn contents(plugin: &Path) -> String {
    let bin = Value::from(plugin.join("bin").to_string_lossy()).to_string();
    marked(&MODULE.replace(PLACEHOLDER, &bin), Comment::Slashes)
}
