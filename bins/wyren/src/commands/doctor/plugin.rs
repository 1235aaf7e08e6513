//! The plugin's folder: every program named in its hook files exists, is executable, and is for this machine.

use super::{Check, Repair, Subject};
use crate::terminal::counted;
use base::files;
use install::machine::Machine;
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
    let lacking = |is_sound: &dyn Fn(&Path) -> bool| -> Vec<String> {
        let lacking = programs.iter().filter(|program| !is_sound(&folder.join(program)));
        lacking.map(|program| program.display().to_string()).collect()
    };
    let shown = folder.display();
    let missing = lacking(&|program| exists(program));
    if !missing.is_empty() {
        let message = format!("missing in {shown}, so these do not run: {}", missing.join(", "));
        return Check::bad(NAME, message, reinstall(subject));
    }
    let locked = lacking(&is_program);
    if !locked.is_empty() {
        let message = format!("not executable in {shown}, so these do not run: {}", locked.join(", "));
        let fix = format!("chmod +x '{shown}'/bin/*");
        let paths: Vec<PathBuf> = locked.iter().map(|program| folder.join(program)).collect();
        let what = format!("make {} executable", counted(paths.len(), "program", "programs"));
        return Check::bad(NAME, message, fix).with(Repair::new(what, move || make_executable(&paths)));
    }
    let ours = Machine::of_this_program();
    // A script starts a program of another folder; the client's own messages say when it cannot.
    let is_for_us =
        |program: &Path| Machine::of(program).is_ok_and(|found| found.is_none_or(|found| found == ours));
    let foreign = lacking(&is_for_us);
    if let Some(first) = foreign.first() {
        let found = Machine::of(&folder.join(first)).ok().flatten();
        let found = found.map_or_else(|| "unreadable".to_owned(), |found| format!("for {found}"));
        let message =
            format!("built for another machine: {first} in {shown} is {found}, this machine is {ours}");
        return Check::bad(NAME, message, reinstall(subject));
    }
    Check::good(NAME, format!("{} for {ours} in {shown}", counted(programs.len(), "program", "programs")))
}

/// Returns the command that brings the plugin's programs back.
pub(super) fn reinstall(subject: &Subject<'_>) -> String {
    let is_copy = subject.paths.plugin().is_some_and(|folder| folder == subject.paths.installed_plugin());
    if is_copy { "wyren update --from FOLDER".to_owned() } else { "wyren update".to_owned() }
}

fn exists(program: &Path) -> bool {
    program.is_file() || program.with_extension("exe").is_file()
}

#[cfg(unix)]
fn make_executable(programs: &[PathBuf]) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for program in programs {
        let mode = fs::metadata(program)?.permissions().mode();
        // Who may read it may run it.
        fs::set_permissions(program, fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2)))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_programs: &[PathBuf]) -> anyhow::Result<()> {
    Ok(())
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
