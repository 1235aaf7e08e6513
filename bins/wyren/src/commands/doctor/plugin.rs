//! The plugin's folders, this program's and those that the client runs: every program named in its hook files exists, is executable, and is for this machine.

use super::{Check, Repair, Subject};
use crate::terminal::counted;
use crate::wired::{self, Wiring};
use base::files;
use install::machine::Machine;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "plugin";
const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}/";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let cwd = std::env::current_dir().unwrap_or_default();
    let wiring = Wiring::read(subject.env, subject.paths, &cwd);
    let folders = folders(subject, &wiring);
    if folders.is_empty() {
        return Check::good(NAME, "this program does not run from a plugin folder; nothing to check");
    }
    let mut good = Vec::new();
    for folder in &folders {
        match check_folder(folder, || reinstall(subject, &wiring, folder)) {
            Ok(programs) => {
                good.push(format!("{} in {}", counted(programs, "program", "programs"), folder.display()))
            }
            Err(check) => return *check,
        }
    }
    Check::good(NAME, format!("for {}: {}", Machine::of_this_program(), good.join("; ")))
}

/// Returns every folder that the client, or a person, runs programs of Wyren from.
fn folders(subject: &Subject<'_>, wiring: &Wiring) -> Vec<PathBuf> {
    let is_plugin = |folder: &PathBuf| folder.join("hooks/hooks.json").is_file();
    // Where the client is to find hooks, their file may be what is missing. A folder that is gone is for the wiring.
    let registered = wiring.plugins.values().filter(|folder| folder.is_dir()).cloned();
    let by_hand = wiring.by_hand.values().flatten().filter_map(|program| program.parent()?.parent());
    let by_hand = by_hand.map(Path::to_owned).filter(is_plugin);
    let ours = subject.paths.plugin().filter(is_plugin);
    let copy = Some(subject.paths.installed_plugin()).filter(is_plugin);
    let mut seen = BTreeSet::new();
    let all = ours.into_iter().chain(copy).chain(registered).chain(by_hand);
    all.filter(|folder| seen.insert(files::canonical(folder))).collect()
}

/// Returns how many programs a plugin has; fails with what is wrong with it.
fn check_folder(folder: &Path, reinstall: impl Fn() -> String) -> Result<usize, Box<Check>> {
    let shown = folder.display();
    let bad = |message: String, fix: String| Box::new(Check::bad(NAME, message, fix));
    if !folder.join("hooks/hooks.json").is_file() {
        return Err(bad(format!("hooks/hooks.json is missing in {shown}, so no hook runs"), reinstall()));
    }
    let mut programs = wired(folder);
    for program in ["wyren-mcp", "wyren-statusline", "wyren-worker"] {
        programs.insert(format!("bin/{program}{}", std::env::consts::EXE_SUFFIX).into());
    }
    let lacking = |is_sound: &dyn Fn(&Path) -> bool| -> Vec<String> {
        let lacking = programs.iter().filter(|program| !is_sound(&folder.join(program)));
        lacking.map(|program| program.display().to_string()).collect()
    };
    let missing = lacking(&|program| exists(program));
    if !missing.is_empty() {
        let message = format!("missing in {shown}, so these do not run: {}", missing.join(", "));
        return Err(bad(message, reinstall()));
    }
    let locked = lacking(&is_program);
    if !locked.is_empty() {
        let message = format!("not executable in {shown}, so these do not run: {}", locked.join(", "));
        let paths: Vec<PathBuf> = locked.iter().map(|program| folder.join(program)).collect();
        let what = format!("make {} executable", counted(paths.len(), "program", "programs"));
        let repair = Repair::new(what, move || make_executable(&paths));
        return Err(Box::new(Check::bad(NAME, message, format!("chmod +x '{shown}'/bin/*")).with(repair)));
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
        return Err(bad(message, reinstall()));
    }
    Ok(programs.len())
}

/// Returns what brings the programs of a plugin in a folder back.
pub(super) fn reinstall(subject: &Subject<'_>, wiring: &Wiring, folder: &Path) -> String {
    if folder == subject.paths.installed_plugin() {
        return "run the installer again, or: wyren update --from ARCHIVE|FOLDER".to_owned();
    }
    let client = subject.paths.client();
    let is_copy =
        |id: &str| client.as_ref().is_some_and(|client| wired::folder_in_place(client, id).is_none());
    match wiring.plugins.iter().find(|(id, plugin)| *plugin == folder && is_copy(id)) {
        Some((id, _)) => format!("claude plugin uninstall {id}, then claude plugin install {id}"),
        None => "build it again: cargo xtask plugin".to_owned(),
    }
}

pub(super) fn exists(program: &Path) -> bool {
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
