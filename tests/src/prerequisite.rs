//! Things that a test needs and that a machine may not have.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Returns the path in the variable `name`, else `default`, if there is something at it.
///
/// # Panics
///
/// With `CI=true`, a missing prerequisite is a failure. Otherwise the skipped test is reported.
pub(crate) fn find(what: &str, name: &str, default: PathBuf, remedy: &str) -> Option<PathBuf> {
    let path = env::var_os(name).map_or(default, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    let reason = format!("no {what} at {}; {remedy}", path.display());
    assert!(env::var_os("CI").as_deref() != Some(OsStr::new("true")), "{reason}");
    // Not `eprintln`: the test harness would swallow it, and a skip must be seen.
    let _ = writeln!(io::stderr(), "skipped: {reason}");
    None
}

/// Returns the root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}

/// Returns the folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), |target| workspace().join(target))
}
