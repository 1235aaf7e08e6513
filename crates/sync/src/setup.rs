//! Setting a repository up for one of the modes: what git ignores, and nothing else.

use crate::git::Git;
use crate::place::{EXCLUDED, FOLDER, is_exclusion};
use crate::{Error, Mode, Place};
use base::{Env, files};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// What stays out of the user's commits in branch mode, as the Node system writes it.
const IGNORED: [&str; 2] = [".wyren/state/", ".wyren/log"];

impl Place {
    /// Sets the repository up for side mode: makes `.wyren/` and excludes it. Doing it again changes nothing.
    pub fn init_side(&self, env: &Env) -> Result<(), Error> {
        if is_tracked(&Git::new(&self.repository.root, env))? {
            return Err(Error::Tracked);
        }
        self.make_folder(Mode::Side)?;
        // All work trees read the file of the shared folder.
        let path = self.repository.common_folder.join("info/exclude");
        if !self.is_excluded() {
            append_lines(&path, &[EXCLUDED]).map_err(Error::file(&path))?;
        }
        Ok(())
    }

    /// Sets the repository up for branch mode: makes `.wyren/` and ignores what is not shared. Doing it again changes
    /// nothing.
    pub fn init_branch(&self) -> Result<(), Error> {
        self.make_folder(Mode::Branch)?;
        let exclude = self.repository.common_folder.join("info/exclude");
        if self.is_excluded() {
            remove_lines(&exclude, is_exclusion).map_err(Error::file(&exclude))?;
        }
        ignore_unshared(&self.repository.root)
    }

    /// Returns whether memory.md is tracked on the branch that is checked out.
    pub fn is_tracked(&self, env: &Env) -> Result<bool, Error> {
        is_tracked(&Git::new(&self.repository.root, env))
    }

    fn make_folder(&self, mode: Mode) -> Result<(), Error> {
        let folder = self.folder(mode);
        refuse_link(&folder)?;
        files::create_private_folder(&folder.join("state")).map_err(Error::file(&folder))
    }
}

/// Ignores in the folder's `.gitignore` what is not shared, as the Node system does.
pub fn ignore_unshared(root: &Path) -> Result<(), Error> {
    let path = root.join(".gitignore");
    let text = read_or_empty(&path).map_err(Error::file(&path))?;
    let missing: Vec<&str> = IGNORED.into_iter().filter(|line| !text.contains(line)).collect();
    append_lines(&path, &missing).map_err(Error::file(&path))
}

/// Returns whether memory.md is tracked on the branch that is checked out.
pub(crate) fn is_tracked(git: &Git) -> Result<bool, Error> {
    let name = format!("HEAD:{FOLDER}/memory.md");
    Ok(git.local(&["rev-parse", "--quiet", "--verify", &name])?.is_success())
}

/// Fails when something at `path` is a link.
pub(crate) fn refuse_link(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Err(Error::Link(path.to_owned())),
        _ => Ok(()),
    }
}

fn read_or_empty(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Appends to a file of the user's, which keeps its mode and its other names.
fn append_lines(path: &Path, lines: &[&str]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let text = read_or_empty(path)?;
    let mut added = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        added.push('\n');
    }
    for line in lines {
        added.extend([line, "\n"]);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(added.as_bytes())
}

fn remove_lines(path: &Path, is_unwanted: fn(&str) -> bool) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    let kept: String = text.split_inclusive('\n').filter(|line| !is_unwanted(line)).collect();
    fs::write(path, kept)
}
