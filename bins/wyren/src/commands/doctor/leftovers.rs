//! What a process that was killed left behind: files that it was about to put in place, and half an update.

use super::{Check, Repair, Subject};
use crate::terminal::counted;
use base::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const NAME: &str = "leftovers";

/// A file that is younger may be about to be put in place.
const ABANDONED_AFTER: Duration = Duration::from_secs(3_600);

/// The folders of the data folder that programs write files in.
const FOLDERS: [&str; 9] =
    ["", "cache", "cache/lessons", "cache/notices", "jobs", "lessons", "logs", "publish", "trust"];

/// Folders that an update has for a while, beside the plugin.
const OF_UPDATES: [&str; 3] = ["plugin.new", "plugin.old", "plugin.unpacked"];

pub(super) fn check(subject: &Subject<'_>) -> Check {
    if let Some(check) = half_an_update(subject) {
        return check;
    }
    let found = find(subject.paths.data());
    let Some(first) = found.first() else { return Check::good(NAME, "none") };
    let message = format!(
        "{} of a process that was ended, such as {}; they take room and do nothing",
        counted(found.len(), "file or folder", "files or folders"),
        first.display()
    );
    let repair = Repair::new(
        format!("remove {}", counted(found.len(), "file or folder", "files or folders")),
        move || found.iter().try_for_each(|path| remove(path)).map_err(Into::into),
    );
    Check::odd(NAME, message, "wyren doctor --fix").with(repair)
}

/// Looks for an update that was killed between its two renames: the plugin is not there, but the one before is.
fn half_an_update(subject: &Subject<'_>) -> Option<Check> {
    let (plugin, old) = (subject.paths.installed_plugin(), subject.paths.data().join("plugin.old"));
    let is_half = plugin.symlink_metadata().is_err() && install::plugin::is_ours(&old);
    if !is_half || is_installing(subject) {
        return None;
    }
    let message = format!(
        "an update was ended halfway: {} is missing, so no hook of it runs; the plugin from before is in {}",
        plugin.display(),
        old.display()
    );
    let repair = Repair::new(format!("move {} back to {}", old.display(), plugin.display()), move || {
        Ok(fs::rename(&old, &plugin)?)
    });
    Some(Check::bad(NAME, message, "wyren doctor --fix").with(repair))
}

/// Returns whether an installation or an update is running.
fn is_installing(subject: &Subject<'_>) -> bool {
    let lock = subject.paths.install_lock();
    lock.exists() && matches!(base::lock::Lock::exclusive(&lock, Duration::ZERO), Ok(None))
}

fn find(data: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(data.join(folder)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let is_of_update = folder.is_empty() && OF_UPDATES.contains(&&*name);
            if (is_of_update || (is_file && files::is_temporary(&name))) && is_abandoned(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn is_abandoned(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > ABANDONED_AFTER))
}

fn remove(path: &Path) -> io::Result<()> {
    // A link is removed, never followed.
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
