//! The module that OpenCode loads, which runs the plugin's programs.

use crate::marked::{Comment, marked};
use serde_json::Value;
use std::path::Path;

const MODULE: &str = include_str!("opencode.js");

/// What the module has in place of the folder of the programs.
const PLACEHOLDER: &str = "\"/path/to/wyren/bin\"";

/// Returns the module's text, for the plugin in a folder.
pub(super) fn contents(plugin: &Path) -> String {
    let bin = Value::from(plugin.join("bin").to_string_lossy()).to_string();
    marked(&MODULE.replace(PLACEHOLDER, &bin), Comment::Slashes)
}
