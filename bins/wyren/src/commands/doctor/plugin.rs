//! The plugin's folder: every program named in its hook files exists and is executable.

use super::{Check, Subject};
use crate::terminal::counted;
use base::files;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "plugin";
const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}/";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let folder = subject.paths.plugin().filter(|folder| folder.join("hooks/hooks.json").is_file());
    let Some(folder) = folder else {
        return Check::good(NAME, "this program does not run from a plugin folder; nothing to check");
    };
    let mut programs = wired(&folder);
    programs.insert(format!("bin/wyren-worker{}", std::env::consts::EXE_SUFFIX).into());
    let missing: Vec<String> = programs
        .iter()
        .filter(|program| !is_program(&folder.join(program)))
        .map(|program| program.display().to_string())
        .collect();
    if missing.is_empty() {
        return Check::good(
            NAME,
            format!("{} in {}", counted(programs.len(), "program", "programs"), folder.display()),
        );
    }
    let message = format!("missing or not executable in {}: {}", folder.display(), missing.join(", "));
    Check::bad(NAME, message, "claude plugin update wyren")
}

/// Returns the programs that the hook files name, relative to the plugin's folder.
fn wired(folder: &Path) -> BTreeSet<PathBuf> {
    let wirings = base::files::files_in(&folder.join("hooks"));
    let wirings = wirings.iter().filter_map(|file| {
        serde_json::from_slice::<Value>(&files::read_followed(file, files::cap::CONFIG).ok()?).ok()
    });
    let mut programs = BTreeSet::new();
    for wiring in wirings {
        let events = wiring["hooks"].as_object().into_iter().flat_map(|events| events.values());
        let groups = events.filter_map(Value::as_array).flatten();
        let hooks = groups.filter_map(|group| group["hooks"].as_array()).flatten();
        let commands = hooks.filter_map(|hook| hook["command"].as_str()?.strip_prefix(ROOT));
        programs.extend(commands.map(PathBuf::from));
    }
    programs
}

#[cfg(unix)]
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
