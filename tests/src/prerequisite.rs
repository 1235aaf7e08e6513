//! Things that a test needs and that a machine may not have.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What may be missing, separated by commas: tests that need it are skipped then instead of failing.
pub const SKIP: &str = "WYREN_TESTS_SKIP";

/// Returns the path in the variable `name`, else `default`, if there is something at it.
///
/// `None` means that the caller is to skip its test, which the variable [`SKIP`] asked for.
///
/// # Panics
///
/// When there is nothing, and [`SKIP`] does not name it: a test that did not run must not look like one that passed.
pub(crate) fn find(what: &str, name: &str, default: PathBuf, remedy: &str) -> Option<PathBuf> {
    let path = env::var_os(name).map_or(default, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    let reason = format!("no {what} at {}; {remedy}", path.display());
    let skipped = env::var(SKIP).unwrap_or_default();
    assert!(skipped.split(',').any(|skipped| skipped == what), "{reason}, or set {SKIP}={what}");
    // Not `eprintln`: the test harness would swallow it, and a skip must be seen.
    let _ = writeln!(io::stderr(), "skipped: {reason}");
    None
}

/// Returns the official MCP SDK for JavaScript, or says why the test is skipped.
pub fn mcp_sdk() -> Option<PathBuf> {
    let folder = workspace().join("tests/mcp/node_modules/@modelcontextprotocol/sdk");
    find("mcp-sdk", "WYREN_TEST_MCP_SDK", folder, "run `npm ci` in tests/mcp")
}

/// Returns the root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}

/// Returns the folder that cargo builds into.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), |target| workspace().join(target))
}
