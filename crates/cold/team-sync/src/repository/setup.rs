//! Setting a repository up for one of the modes: what git ignores, and nothing else.

use crate::repository::Error;
use crate::repository::git::Git;
use crate::repository::lock::SyncLock;
use base::{Env, files};
use place::{EXCLUDED, FOLDER, MEMORY, Mode, Place, STATE, is_exclusion, state_folder};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What stays out of the user's commits in branch mode, as the Node version writes it.
const IGNORED: [&str; 2] = [".wyren/state/", ".wyren/log"];

/// What a fetch leaves below `.wyren/state/` where the remote has nothing.
const TRACES: [&str; 4] = ["fetch.json", "memory.lock", "sync.json", "sync.lock"];

/// What [`init_side`] made, and was not there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Whether `.wyren/` is new.
    pub folder: bool,
    /// Whether the line that excludes it is.
    pub exclusion: bool,
}

/// How long to wait for the lock on what is taken back: a process that is just being started holds it for a moment, too.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sets the repository up for side mode: makes `.wyren/` and excludes it. Doing it again changes nothing.
pub fn init_side(place: &Place, env: &Env) -> Result<Made, Error> {
    if tracks_memory(&Git::new(&place.repository.root, env))? {
        return Err(Error::Tracked);
    }
    let made = Made { folder: !place.folder(Mode::Side).exists(), exclusion: !place.is_excluded() };
    make_folder(place, Mode::Side)?;
    if made.exclusion {
        let path = exclude_file(place);
        append_lines(&path, &[EXCLUDED]).map_err(Error::file(&path))?;
    }
    Ok(made)
}

/// Takes back what [`init_side`] made, unless it is in use meanwhile.
pub fn take_back(place: &Place, made: Made) -> Result<(), Error> {
    let folder = place.folder(Mode::Side);
    if made.folder {
        let state = state_folder(&folder);
        // The process that holds the lock has found the folder, and continues with it.
        let lock = SyncLock::take(&folder, Instant::now() + PATIENCE).map_err(Error::file(&folder))?;
        let is_ours = lock.is_some() && has_only(&folder, &[STATE]) && has_only(&state, &TRACES);
        if !is_ours {
            return Ok(());
        }
        for trace in TRACES {
            let _ = fs::remove_file(state.join(trace));
        }
        drop(lock);
        // A folder that has new files since is not removed.
        if fs::remove_dir(&state).and_then(|()| fs::remove_dir(&folder)).is_err() {
            return Ok(());
        }
    }
    if made.exclusion {
        let path = exclude_file(place);
        remove_lines(&path, |line| line.trim() == EXCLUDED).map_err(Error::file(&path))?;
    }
    Ok(())
}

/// Sets the repository up for branch mode: makes `.wyren/` and ignores what is not shared. Doing it again changes
/// nothing.
pub fn init_branch(place: &Place) -> Result<(), Error> {
    make_folder(place, Mode::Branch)?;
    let exclude = exclude_file(place);
    if place.is_excluded() {
        remove_lines(&exclude, is_exclusion).map_err(Error::file(&exclude))?;
    }
    ignore_unshared(&place.repository.root)
}

/// Removes from a clone what Wyren wrote there: `.wyren/`, the line that excludes it, and its refs. Returns whether memory.md is
/// tracked on the branch that is checked out: then what is shared belongs to that branch and stays. No remote is asked.
pub fn purge(place: &Place, env: &Env) -> Result<bool, Error> {
    place.check_git_files()?;
    let git = Git::new(&place.repository.root, env);
    let is_tracked = tracks_memory(&git)?;
    let folder = place.folder(if is_tracked { Mode::Branch } else { Mode::Side });
    refuse_link(&folder)?;
    if is_tracked {
        let (state, log) = (state_folder(&folder), folder.join("log"));
        remove_folder(&state).map_err(Error::file(&state))?;
        files::remove_if_there(&log).map_err(Error::file(&log))?;
        stop_ignoring_unshared(place, env)?;
    } else {
        remove_folder(&folder).map_err(Error::file(&folder))?;
    }
    let exclude = exclude_file(place);
    if place.is_excluded() {
        remove_lines(&exclude, is_exclusion).map_err(Error::file(&exclude))?;
    }
    let refs = git.local(&["for-each-ref", "--format=%(refname)", "refs/wyren", "refs/worktree/wyren"])?;
    for name in String::from_utf8_lossy(&refs.stdout).lines() {
        git.local(&["update-ref", "-d", name])?;
    }
    // Git keeps the folders that the names were in. Only those that are empty go.
    let (common, own) = (&place.repository.common_folder, &place.repository.git_folder);
    for folder in [common.join("refs/wyren"), own.join("refs/worktree/wyren"), own.join("refs/worktree")] {
        let _ = fs::remove_dir(folder);
    }
    Ok(is_tracked)
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns whether memory.md is tracked on the branch that is checked out.
pub fn is_tracked(place: &Place, env: &Env) -> Result<bool, Error> {
    tracks_memory(&Git::new(&place.repository.root, env))
}

/// Returns the file that all work trees read.
fn exclude_file(place: &Place) -> PathBuf {
    place.repository.common_folder.join("info/exclude")
}

fn make_folder(place: &Place, mode: Mode) -> Result<(), Error> {
    let folder = place.folder(mode);
    refuse_link(&folder)?;
    let made = files::create_project_folder(&folder);
    made.and_then(|()| files::create_private_folder(&state_folder(&folder))).map_err(Error::file(&folder))
}

/// Ignores in the folder's `.gitignore` what is not shared, as the Node version does.
fn ignore_unshared(root: &Path) -> Result<(), Error> {
    let path = root.join(".gitignore");
    let text = read_or_empty(&path).map_err(Error::file(&path))?;
    let missing: Vec<&str> = IGNORED.into_iter().filter(|line| !text.contains(line)).collect();
    append_lines(&path, &missing).map_err(Error::file(&path))
}

/// Takes out of the repository's `.gitignore` what [`init_branch`] put there. Lines that are committed are the user's.
pub fn stop_ignoring_unshared(place: &Place, env: &Env) -> Result<(), Error> {
    let root = &place.repository.root;
    let path = root.join(".gitignore");
    let text = read_or_empty(&path).map_err(Error::file(&path))?;
    let committed = Git::new(root, env).local(&["cat-file", "blob", "HEAD:.gitignore"])?;
    let committed = committed.is_success().then(|| String::from_utf8_lossy(&committed.stdout).into_owned());
    let is_committed = |line: &str| committed.iter().flat_map(|text| text.lines()).any(|it| it == line);
    let is_ours = |line: &str| IGNORED.contains(&line.trim_end()) && !is_committed(line.trim_end());
    if !text.lines().any(is_ours) {
        return Ok(());
    }
    if committed.is_none() && text.lines().all(is_ours) {
        return fs::remove_file(&path).map_err(Error::file(&path));
    }
    remove_lines(&path, is_ours).map_err(Error::file(&path))
}

/// Returns whether memory.md is tracked on the branch that is checked out.
///
/// Fails when `.wyren/state/` is: a teammate's pull would replace the local copy, and the next sync publish it as the user's.
pub(crate) fn tracks_memory(git: &Git) -> Result<bool, Error> {
    let (memory, state) = (format!("{FOLDER}/{MEMORY}"), format!("{FOLDER}/{STATE}"));
    let arguments = ["ls-tree", "--full-tree", "--name-only", "-z", "HEAD", "--", &memory, &state];
    let output = git.local(&arguments)?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let is_listed = |path: &str| output.code == Some(0) && listed.split('\0').any(|found| found == path);
    if is_listed(&state) {
        return Err(Error::TrackedState);
    }
    Ok(is_listed(&memory))
}

/// Fails when something at `path` is a link.
pub(crate) fn refuse_link(path: &Path) -> Result<(), Error> {
    refuse_links(path, Path::new(""))
}

/// Fails when `folder`, or anything on the way down to `path` below it, is a link.
pub(crate) fn refuse_links(folder: &Path, path: &Path) -> Result<(), Error> {
    files::find_link(folder, path).map_or(Ok(()), |link| Err(Error::Link(link)))
}

fn read_or_empty(path: &Path) -> io::Result<String> {
    // A link of the user's stays one.
    match files::read_text_followed(path, files::cap::EXCLUDE) {
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
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        // Not its parents: a repository that was removed meanwhile stays removed.
        fs::create_dir(folder)?;
    }
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(added.as_bytes())
}

/// Takes lines out of a file of the user's, which keeps its mode: others see the old or the new, never a part.
fn remove_lines(path: &Path, is_unwanted: impl Fn(&str) -> bool) -> io::Result<()> {
    // A link of the user's stays one.
    let path = base::system::canonical(path)?;
    let text = files::read_text_capped(&path, files::cap::EXCLUDE)?;
    let kept: String = text.split_inclusive('\n').filter(|line| !is_unwanted(line)).collect();
    files::write_atomic_with(&path, |file| {
        file.set_permissions(fs::metadata(&path)?.permissions())?;
        file.write_all(kept.as_bytes())
    })
}

/// Returns whether a folder holds nothing but what is named.
fn has_only(folder: &Path, names: &[&str]) -> bool {
    let is_named = |entry: fs::DirEntry| entry.file_name().to_str().is_some_and(|name| names.contains(&name));
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().all(is_named))
}
