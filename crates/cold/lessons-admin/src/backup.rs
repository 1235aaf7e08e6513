//! Copies of the user's lessons: whole folders, the newest few of them.

use super::catalogue::Places;
use super::{Error, Result};
use base::{Timestamp, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many copies are kept.
pub const KEPT: usize = 14;

/// What a copy's name begins with.
const PREFIX: &str = "lessons-";

/// Returns the copies, the newest first.
pub fn list(places: &Places) -> Vec<PathBuf> {
    let is_copy = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    };
    let entries = fs::read_dir(folder(places)).into_iter().flatten().flatten();
    let mut copies: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_copy).collect();
    // The stamp in the name sorts as the time does.
    copies.sort_by(|one, other| other.cmp(one));
    copies
}

/// Copies the user's lessons, archive and candidates included, and removes the oldest copies beyond those to keep.
pub fn make(places: &Places, now: Timestamp) -> Result<(PathBuf, usize)> {
    let lessons = places.personal();
    if !lessons.is_dir() {
        return Err(Error::io(&lessons)(io::ErrorKind::NotFound.into()));
    }
    let folder = folder(places);
    let stamp = now.to_string().replace([':', '.'], "-");
    let copy = folder.join(format!("{PREFIX}{stamp}"));
    // Made aside and moved into place: a copy that is there is whole.
    let unfinished = folder.join(format!(".{PREFIX}{stamp}.{}.tmp", std::process::id()));
    let made = copy_folder(&lessons, &unfinished).and_then(|files| {
        fs::rename(&unfinished, &copy)?;
        Ok(files)
    });
    if made.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
    let files = made.map_err(Error::io(&copy))?;
    let kept = places.env.text("LESSONS_BACKUP_KEEP").and_then(|text| text.parse().ok()).unwrap_or(KEPT);
    for old in list(places).into_iter().skip(kept.max(1)) {
        fs::remove_dir_all(&old).map_err(Error::io(&old))?;
    }
    Ok((copy, files))
}

fn folder(places: &Places) -> PathBuf {
    places.env.get("LESSONS_BACKUP_DIR").map_or_else(|| places.paths.data().join("backups"), PathBuf::from)
}

/// Copies the files of a folder and of the folders in it; links are left out.
fn copy_folder(from: &Path, to: &Path) -> io::Result<usize> {
    files::create_private_folder(to)?;
    let mut copied = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copied += copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() && !files::is_temporary(&entry.file_name().to_string_lossy()) {
            fs::copy(entry.path(), target)?;
            copied += 1;
        }
    }
    Ok(copied)
}
