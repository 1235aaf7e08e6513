//! The client's settings file: read, backed up, replaced whole.

use super::registered::{has_plugin, with_marketplace, with_plugin, without_plugin};
use super::shown::{self, Member};
use super::{count, is_as_written, plugin_of, with_hooks, without_hooks};
use crate::jsonc;
use crate::ours::{self, Surroundings};
use base::{Timestamp, files, system};
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

/// Plans to give a settings file another text, with a backup of the one that it has.
pub fn edited(path: &Path, before: Option<String>, after: String) -> Change {
    let (path, backups, kept) = (path.to_owned(), Vec::new(), Vec::new());
    Change { path, before, after: Some(after), hooks: 0, is_backed_up: true, backups, kept }
}

/// Plans to give a settings file the text that it had before an edit, and to remove the backup of that edit.
pub fn restored(
    path: &Path,
    before: Option<String>,
    after: Option<String>,
    backup: Option<PathBuf>,
) -> Change {
    let backups = backup.into_iter().filter(|backup| backup.exists()).collect();
    let (path, kept) = (path.to_owned(), Vec::new());
    Change { path, before, after, hooks: 0, is_backed_up: false, backups, kept }
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

/// Plans to write a command of the plugin in a folder into a settings file, for the client to show what it prints.
pub fn show(path: &Path, plugin: &Path, member: Member) -> Result<Change, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let after = member.with_command(&text, plugin).map_err(|error| Error::Refused(path.to_owned(), error))?;
    Ok(edited(path, before, after))
}

/// Returns what the client will add to its settings for our marketplace and our plugin.
pub fn registration(path: &Path, folder: &Path) -> Result<Change, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let after = with_plugin(&text, folder).map_err(|error| Error::Refused(path.to_owned(), error))?;
    Ok(edited(path, before, after))
}

/// Plans to give a file back the layout that it had before the client added our marketplace and our plugin to it, or, where the
/// client failed on the way, only the first or neither. `None` where there was no file, or where more than that changed: then it
/// stays as it is. The caller made the backup, by [`back_up`], before the client began.
pub fn registered(path: &Path, before: Option<String>, folder: &Path) -> Result<Option<Change>, Error> {
    let Some(text) = before else { return Ok(None) };
    let refused = |error| Error::Refused(path.to_owned(), error);
    let Some(now) = read(path)? else { return Ok(None) };
    if now == text || has_plugin(&text) {
        return Ok(None);
    }
    let value = jsonc::value(&now);
    let (both, first) =
        (with_plugin(&text, folder).map_err(refused)?, with_marketplace(&text, folder).map_err(refused)?);
    let after = [both, first, text].into_iter().find(|text| jsonc::value(text) == value);
    Ok(after.map(|after| restored(path, Some(now), Some(after), None)))
}

/// Writes the backup of a settings file that another program is about to edit; returns its place.
pub fn back_up(path: &Path, text: &str, now: Timestamp, mode_if_new: u32) -> Result<PathBuf, Error> {
    let unwritable = |error| Error::Unwritable(path.to_owned(), error);
    let permissions = fs::metadata(target(path)?).map_err(unwritable)?.permissions();
    let backup = backup_name(path, now);
    write(&backup, text, Some(permissions), mode_if_new).map_err(unwritable)?;
    Ok(backup)
}

/// Removes a backup that [`back_up`] made, if the file is what it was.
pub fn drop_needless(backup: &Path, path: &Path, text: &str) -> Result<bool, Error> {
    let is_needless = read(path)?.is_some_and(|now| now == text);
    if is_needless {
        fs::remove_file(backup).map_err(|error| Error::Unwritable(backup.to_owned(), error))?;
    }
    Ok(is_needless)
}

/// What of ours to take out of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The hooks.
    Hooks,
    /// The hooks, our marketplace and our plugin.
    All,
}

impl What {
    fn taken_out(self, text: &str, around: &Surroundings) -> Result<String, super::Error> {
        let text = shown::without_commands(&without_hooks(text, around)?)?;
        if self == Self::All { without_plugin(&text) } else { Ok(text) }
    }

    fn is_in(self, text: &str, around: &Surroundings) -> bool {
        count(text, around) > 0 || shown::has_commands(text) || (self == Self::All && has_plugin(text))
    }
}

/// Plans to take what is ours out of a settings file, and its backups away. Where nothing else changed since the installation,
/// the file becomes what it was, byte for byte.
pub fn uninstall(path: &Path, around: &Surroundings, what: What) -> Result<Change, Error> {
    plan(path, around, what, false)
}

/// Plans a removal; `was_in`: from a file that had something of ours.
fn plan(path: &Path, around: &Surroundings, what: What, was_in: bool) -> Result<Change, Error> {
    let before = read(path)?;
    let text = before.clone().unwrap_or_default();
    let hooks = count(&text, around);
    let backups = backups(path);
    let read = |backup: &Path| files::read_text_followed(backup, MAX_BYTES).ok();
    let refused = |error: super::Error| Error::Refused(path.to_owned(), error);
    let names_a_hook = || {
        ours::hook_names().iter().any(|name| text.contains(name.as_str()))
            || text.contains(shown::STATUS_LINE)
    };
    let (mut after, mut rest) = (before.clone(), text.clone());
    match jsonc::parse(&text) {
        Err(error) if names_a_hook() => return Err(refused(error.into())),
        Ok(_) if was_in || what.is_in(&text, around) => {
            let texts: Vec<String> = backups.iter().rev().filter_map(|backup| read(backup)).collect();
            let mut unwired = texts.into_iter().filter(|backup| !what.is_in(backup, around)).peekable();
            // Without such a backup the file began with us, if what is in it has the form that we write.
            let is_made = unwired.peek().is_none() && !files::is_link(path) && is_as_written(&text, around);
            rest = what.taken_out(&text, around).map_err(refused)?;
            // In and out again, it is what the file is without us.
            let is_origin = |backup: &String| {
                let wired = wired_as(backup, &text, around);
                wired.and_then(|wired| what.taken_out(&wired, around)).is_ok_and(|wired| wired == rest)
            };
            let origin = unwired.find(is_origin);
            rest = origin.unwrap_or(rest);
            after = (!is_made || !is_bare(&rest)).then(|| rest.clone());
        }
        _ => {}
    }
    let taken_out = |text: String| what.taken_out(&text, around).ok();
    let bare = taken_out(rest.clone());
    // A file that cannot be read says nothing at all: its backup may be the only good copy.
    let says_no_more =
        |backup: &PathBuf| bare.is_some() && read(backup).is_some_and(|backup| taken_out(backup) == bare);
    let (backups, kept) = backups.into_iter().partition(says_no_more);
    // What is taken out can be installed again.
    Ok(Change { path: path.to_owned(), before, after, hooks, is_backed_up: false, backups, kept })
}

/// Returns a text with what another one has of ours.
fn wired_as(text: &str, other: &str, around: &Surroundings) -> Result<String, super::Error> {
    let mut text = text.to_owned();
    if has_plugin(other) {
        text = with_plugin(&text, Path::new("wyren"))?;
    }
    if let Some(plugin) = plugin_of(other, around) {
        text = with_hooks(&text, &plugin, around)?;
    }
    for (member, plugin) in shown::commands(other) {
        text = member.with_command(&text, &plugin)?;
    }
    Ok(text)
}

/// Plans a removal again after the client has taken the plugin out by itself. The bytes of the first plan stay where the client
/// changed nothing else.
pub fn uninstall_after_client(planned: Change, around: &Surroundings) -> Result<Change, Error> {
    let now = read(&planned.path)?;
    let values = |text: &str| What::All.taken_out(text, around).ok().and_then(|text| jsonc::value(&text));
    let is_same = |now: &str| {
        let planned = planned.after.as_deref().unwrap_or("{}");
        let planned = without_plugin(planned).ok().and_then(|text| jsonc::value(&text));
        values(now).is_some_and(|now| Some(now) == planned)
    };
    match &now {
        Some(text) if now == planned.before || is_same(text) => Ok(Change { before: now, ..planned }),
        _ => {
            let was_in = planned.before.is_some_and(|before| What::All.is_in(&before, around));
            plan(&planned.path, around, What::All, was_in)
        }
    }
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

/// Reads a settings file; `None` when there is none.
pub fn read(path: &Path) -> Result<Option<String>, Error> {
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
    system::canonical(path).map_err(|error| Error::Unwritable(path.to_owned(), error))
}

fn write(path: &Path, text: &str, permissions: Option<Permissions>, mode_if_new: u32) -> io::Result<()> {
    files::write_atomic_with(path, |file| {
        file.write_all(text.as_bytes())?;
        match permissions {
            Some(permissions) => file.set_permissions(permissions)?,
            None => system::set_mode(file, mode_if_new)?,
        }
        // Unlike a file of ours, this one cannot be made again.
        file.sync_all()
    })
}

/// Returns the place of the backup that [`apply`] makes.
pub fn backup_name(path: &Path, now: Timestamp) -> PathBuf {
    let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}{BACKUP}{stamp}"))
}

/// Returns the text of a settings file; `None` when there is none.
pub fn text(path: &Path) -> Result<Option<String>, Error> {
    read(path)
}

/// Returns the backups of a settings file, oldest first.
pub fn backups(path: &Path) -> Vec<PathBuf> {
    let beginning = format!("{}{BACKUP}", path.file_name().unwrap_or_default().to_string_lossy());
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_ours = |name: &str| name.strip_prefix(&beginning).is_some_and(is_stamp);
    let ours = entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
    let mut backups: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    backups.sort();
    backups
}

/// Says whether a text is a time as [`backup_name`] writes it, such as `20261116T022641123Z`: people have names of their own.
fn is_stamp(text: &str) -> bool {
    let is_right = |(at, letter): (usize, u8)| match at {
        8 => letter == b'T',
        18 => letter == b'Z',
        _ => letter.is_ascii_digit(),
    };
    text.len() == 19 && text.bytes().enumerate().all(is_right)
}
