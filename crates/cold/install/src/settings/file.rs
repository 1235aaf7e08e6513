//! The client's settings file: read, backed up, replaced whole.

use super::{count, plugin_of, with_hooks, without_hooks};
use crate::jsonc;
use crate::ours::{self, Surroundings};
use base::{Timestamp, files};
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The most bytes of a settings file that are read.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What follows the name of a settings file in that of its backup, before the time.
const BACKUP: &str = ".wyren-backup-";

/// Why a settings file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not read {0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{0} is {1}. It was left as it is: correct it, and try again")]
    Refused(PathBuf, super::Error),
    #[error("{0} is read-only and was left as it is. To allow the change: chmod u+w {0}")]
    ReadOnly(PathBuf),
    #[error("{0} is a link to a file that does not exist")]
    Dangling(PathBuf),
    #[error("could not write {0}: {1}. It was left as it is")]
    Unwritable(PathBuf, io::Error),
}

/// A change to a settings file that was not made yet.
#[derive(Debug)]
pub struct Change {
    /// The file, as the client names it.
    pub path: PathBuf,
    /// Its text; `None` when there is none.
    pub before: Option<String>,
    /// Its text after the change; `None` when it is to be removed.
    pub after: Option<String>,
    /// How many hooks of ours the change adds or removes.
    pub hooks: usize,
    is_backed_up: bool,
    /// Backups that say no more than the file itself will.
    backups: Vec<PathBuf>,
    /// Backups that say something else, which stay.
    pub kept: Vec<PathBuf>,
}

impl Change {
    /// Returns whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after && self.backups.is_empty()
    }

    /// Returns the files that go: the settings file where Wyren made it, and backups that say no more.
    pub fn removed(&self) -> impl Iterator<Item = &Path> {
        let file = (self.before.is_some() && self.after.is_none()).then_some(&self.path);
        file.into_iter().chain(&self.backups).map(PathBuf::as_path)
    }
}

/// Plans to write the hooks of the plugin in a folder into a settings file.
pub fn install(path: &Path, plugin: &Path, around: &Surroundings) -> Result<Change, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let after = with_hooks(&text, plugin, around).map_err(|error| Error::Refused(path.to_owned(), error))?;
    let hooks = count(&after, around);
    let path = path.to_owned();
    let (backups, kept) = (Vec::new(), Vec::new());
    Ok(Change { path, before, after: Some(after), hooks, is_backed_up: true, backups, kept })
}

/// Plans to take our hooks out of a settings file, and its backups away. Where nothing else changed since the installation,
/// the file becomes what it was, byte for byte.
pub fn uninstall(path: &Path, around: &Surroundings) -> Result<Change, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let hooks = count(&text, around);
    let backups = backups(path);
    let read = |backup: &Path| files::read_text_followed(backup, MAX_BYTES).ok();
    let refused = |error: super::Error| Error::Refused(path.to_owned(), error);
    let names_a_hook = || ours::hook_names().iter().any(|name| text.contains(name.as_str()));
    if let Err(error) = jsonc::parse(&text)
        && names_a_hook()
    {
        return Err(refused(error.into()));
    }
    let (mut after, mut rest) = (before.clone(), text.clone());
    if hooks > 0 {
        let plugin = plugin_of(&text, around).unwrap_or_default();
        let texts: Vec<String> = backups.iter().rev().filter_map(|backup| read(backup)).collect();
        let mut unwired = texts.into_iter().filter(|backup| count(backup, around) == 0).peekable();
        // Without such a backup the file began with us.
        let is_made = unwired.peek().is_none() && !files::is_link(path);
        let is_origin =
            |backup: &String| with_hooks(backup, &plugin, around).is_ok_and(|wired| wired == text);
        let origin = unwired.find(is_origin);
        rest = origin.map_or_else(|| without_hooks(&text, around), Ok).map_err(refused)?;
        after = (!is_made || !is_bare(&rest)).then(|| rest.clone());
    }
    let says_no_more = |backup: &PathBuf| {
        read(backup).and_then(|text| without_hooks(&text, around).ok()).is_some_and(|backup| backup == rest)
    };
    let (backups, kept) = backups.into_iter().partition(says_no_more);
    // What is taken out can be installed again.
    Ok(Change { path: path.to_owned(), before, after, hooks, is_backed_up: false, backups, kept })
}

/// Says whether a file of ours has nothing in it but what we put there besides hooks.
fn is_bare(text: &str) -> bool {
    ["{}", "{\"version\":1}"].contains(&&*text.split_whitespace().collect::<String>())
}

/// Makes a change. Returns the backup of the file, if it was there and another text replaces it. Backups that say no more
/// than the file does are removed.
///
/// The caller holds a lock from before the file was read.
pub fn apply(change: &Change, now: Timestamp, mode_if_new: u32) -> Result<Option<PathBuf>, Error> {
    let unwritable = |error| Error::Unwritable(change.path.clone(), error);
    let mut backup = None;
    if change.before != change.after {
        let place = target(&change.path)?;
        let permissions = match fs::metadata(&place) {
            Ok(metadata) if metadata.permissions().readonly() => return Err(Error::ReadOnly(place)),
            Ok(metadata) => Some(metadata.permissions()),
            Err(_) => None,
        };
        match (&change.before, &change.after) {
            (_, None) => fs::remove_file(&place).map_err(unwritable)?,
            (before, Some(after)) => {
                if let Some(before) = before.as_ref().filter(|_| change.is_backed_up) {
                    let name = backup_name(&change.path, now);
                    write(&name, before, permissions.clone(), mode_if_new).map_err(unwritable)?;
                    backup = Some(name);
                }
                write(&place, after, permissions, mode_if_new).map_err(unwritable)?;
            }
        }
    }
    for backup in &change.backups {
        fs::remove_file(backup).map_err(unwritable)?;
    }
    Ok(backup)
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match files::read_text_followed(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && files::is_link(path) => {
            Err(Error::Dangling(path.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Unreadable(path.to_owned(), error)),
    }
}

/// Returns the file itself: people keep their settings elsewhere and link them.
fn target(path: &Path) -> Result<PathBuf, Error> {
    if !files::is_link(path) {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|error| Error::Unwritable(path.to_owned(), error))
}

fn write(path: &Path, text: &str, permissions: Option<Permissions>, mode_if_new: u32) -> io::Result<()> {
    files::write_atomic_with(path, |file| {
        file.write_all(text.as_bytes())?;
        match permissions {
            Some(permissions) => file.set_permissions(permissions)?,
            None => set_mode(file, mode_if_new)?,
        }
        // Unlike a file of ours, this one cannot be made again.
        file.sync_all()
    })
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &fs::File, _mode: u32) -> io::Result<()> {
    Ok(())
}

fn backup_name(path: &Path, now: Timestamp) -> PathBuf {
    let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}{BACKUP}{stamp}"))
}

/// Returns the backups of a settings file, oldest first.
pub fn backups(path: &Path) -> Vec<PathBuf> {
    let beginning = format!("{}{BACKUP}", path.file_name().unwrap_or_default().to_string_lossy());
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning));
    let mut backups: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    backups.sort();
    backups
}
