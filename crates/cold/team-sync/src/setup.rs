//! Starting a team memory, and finding the one that the team has already.

use crate::repository::{self, Published, Team};
use crate::share::read;
use crate::{Error, Share};
use base::{Env, files};
use memory::Memory;
use place::{FOLDER, Folder, LESSONS, MEMORY, Mode, Place, STATE, state_folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folders of the broadcast that setting up creates.
const BROADCAST: [&str; 2] = [place::BROADCAST, "broadcast/skills"];

/// Has git keep both sides where two changed the same place of memory.md: entries are lines, and two new ones are no conflict.
/// It is not shared by syncs; the user commits it with the memory.
const ATTRIBUTES: &str = "memory.md merge=union\n";

/// What git ignores in a `.wyren/` outside a repository, from a file in that folder: the user's own `.gitignore` is none of
/// our business there.
const IGNORED_IN_FOLDER: &str = "/state/\n/log\n";

/// How the user wants to share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// As it is tracked, else on a branch of its own.
    #[default]
    Any,
    /// On a branch of its own.
    Side,
    /// On the branch that is checked out.
    Branch,
}

/// A team memory that is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How it is shared; `None` outside a repository.
    pub mode: Option<Mode>,
    /// The `.wyren/` folder.
    pub folder: PathBuf,
    /// Whether it was there before and is as it was.
    pub is_old: bool,
    /// Whether the team has a memory already, and it is here now.
    pub is_joined: bool,
    /// Whether `.wyren/.gitattributes` is new.
    pub has_new_attributes: bool,
    /// Why the remote could not be asked.
    pub problem: Option<String>,
}

/// Returns how the memory of `cwd` is shared; `None` where there is none, or outside a repository.
pub fn current_mode(cwd: &Path, env: &Env) -> Result<Option<Mode>, Error> {
    let Some(place) = Place::find(cwd) else { return Ok(None) };
    place.check_git_files().map_err(repository::Error::from)?;
    Ok(mode_of(&place, repository::is_tracked(&place, env)?))
}

fn mode_of(place: &Place, is_tracked: bool) -> Option<Mode> {
    let folder = Folder::of_place(place.clone()).filter(has_memory)?;
    Some(if is_tracked { Mode::Branch } else { folder.mode.unwrap_or(Mode::Side) })
}

/// Sets up a team memory for `cwd`, or finds the one that is there.
pub fn init(cwd: &Path, env: &Env, wish: Wish, deadline: Instant) -> Result<Setup, Error> {
    if let Some(refusal) = Folder::refusal(cwd) {
        return Err(repository::Error::from(refusal).into());
    }
    let Some(place) = Place::find(cwd) else { return init_outside(cwd, env) };
    refuse_too_wide(&place.repository.root, env)?;
    place.check_git_files().map_err(repository::Error::from)?;
    let is_tracked = repository::is_tracked(&place, env)?;
    let side = place.folder(Mode::Side);
    place::note_found(&side, false).map_err(Error::file(&side))?;
    let current = mode_of(&place, is_tracked);
    let mode = match (wish, current) {
        (Wish::Side, _) => Mode::Side,
        (Wish::Branch, _) => Mode::Branch,
        (Wish::Any, Some(current)) => current,
        (Wish::Any, None) if is_tracked => Mode::Branch,
        (Wish::Any, None) => Mode::Side,
    };
    let folder = place.folder(mode);
    let mut setup = Setup {
        mode: Some(mode),
        folder,
        is_old: false,
        is_joined: false,
        has_new_attributes: false,
        problem: None,
    };
    if current == Some(mode) {
        setup.is_old = true;
        return Ok(setup);
    }
    match mode {
        Mode::Side => {
            repository::init_side(&place, env)?;
            take_over_copy(&setup.folder)?;
            if current == Some(Mode::Branch) {
                repository::stop_ignoring_unshared(&place, env)?;
            }
        }
        Mode::Branch => {
            repository::init_branch(&place)?;
            setup.has_new_attributes = write_attributes(&setup.folder)?;
        }
    }
    let root = place.repository.root.clone();
    join(&root, env, deadline, &mut setup)?;
    for broadcast in BROADCAST {
        let folder = setup.folder.join(broadcast);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let keep = folder.join(".gitkeep");
        if mode == Mode::Branch && !keep.exists() {
            fs::write(&keep, "").map_err(Error::file(&keep))?;
        }
    }
    if !setup.is_joined {
        write_fresh(&setup.folder)?;
    }
    Ok(setup)
}

/// Copies the text of the folder's CLAUDE.md into a memory that `init` has just started. Returns whether there was a text.
pub fn seed_from_claude_md(setup: &Setup) -> Result<bool, Error> {
    let path = setup.folder.join(MEMORY);
    let root = setup.folder.parent().unwrap_or(&setup.folder);
    let Ok(text) = files::read_capped(&root.join("CLAUDE.md"), files::cap::SHARED) else { return Ok(false) };
    let text = String::from_utf8_lossy(&text);
    let is_new = !setup.is_old && !setup.is_joined;
    let is_fresh = read(&path)?.is_some_and(|memory| memory == Memory::fresh(None).render());
    if text.trim().is_empty() || !is_new || !is_fresh {
        return Ok(false);
    }
    let seeded = Memory::fresh(Some(&text)).render();
    files::write_atomic(&path, seeded.as_bytes()).map_err(Error::file(&path))?;
    Ok(true)
}

/// Brings the memory of the team into a clone that has none, if the remote offers one. Nothing is made where it does not.
pub fn discover(cwd: &Path, env: &Env, deadline: Instant) -> Result<Option<Setup>, Error> {
    let Some(place) = Place::find(cwd).filter(Place::wants_discovery) else { return Ok(None) };
    place.check_git_files().map_err(repository::Error::from)?;
    if Folder::of_place(place.clone()).is_some() || repository::is_tracked(&place, env)? {
        return Ok(None);
    }
    if !matches!(Team::is_offered(cwd, env, deadline)?, Ok(true)) {
        return Ok(None);
    }
    let made = repository::init_side(&place, env)?;
    let mut setup = Setup {
        mode: Some(Mode::Side),
        folder: place.folder(Mode::Side),
        is_old: false,
        is_joined: false,
        has_new_attributes: false,
        problem: None,
    };
    let joined = join(&place.repository.root, env, deadline, &mut setup);
    if setup.is_joined {
        let share = Share::open(&place.repository.root, env)?;
        place::note_found(&setup.folder, true).map_err(Error::file(&setup.folder))?;
        share.tell_of_discovery(&share.memory()?);
        return Ok(Some(setup));
    }
    repository::take_back(&place, made)?;
    joined.map(|()| None)
}

/// Puts what branch mode had merged beside the tracked files into `.wyren/` itself, where side mode has everything.
fn take_over_copy(folder: &Path) -> Result<(), Error> {
    let (copy, path) = (state_folder(folder).join(MEMORY), folder.join(MEMORY));
    if let Some(merged) = read(&copy)? {
        let tracked = Memory::parse(&read(&path)?.unwrap_or_default());
        // Nothing counts as known, so both are kept.
        let both = memory::merge(&Memory::default(), &Memory::parse(&merged), &tracked).memory;
        files::write_atomic(&path, both.render().as_bytes()).map_err(Error::file(&path))?;
        fs::remove_file(&copy).map_err(Error::file(&copy))?;
    }
    let mut folders = vec![PathBuf::from(place::BROADCAST), PathBuf::from(LESSONS)];
    while let Some(part) = folders.pop() {
        let Ok(entries) = fs::read_dir(state_folder(folder).join(&part)) else { continue };
        for entry in entries.flatten() {
            let (from, part) = (entry.path(), part.join(entry.file_name()));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(part),
                // What was merged has everything of the tracked file.
                Ok(kind) if kind.is_file() => {
                    let to = folder.join(&part);
                    let contents =
                        files::read_capped(&from, files::cap::SHARED).map_err(Error::file(&from))?;
                    files::write_atomic(&to, &contents).map_err(Error::file(&to))?;
                }
                _ => {}
            }
        }
    }
    // Removed last, and all of it: readers would take it for what branch mode has merged.
    for name in [place::BROADCAST, LESSONS] {
        let copy = state_folder(folder).join(name);
        if fs::symlink_metadata(&copy).is_ok() {
            fs::remove_dir_all(&copy).map_err(Error::file(&copy))?;
        }
    }
    Ok(())
}

/// Writes `.wyren/.gitattributes`, unless something is there. Returns whether it did.
fn write_attributes(folder: &Path) -> Result<bool, Error> {
    let path = folder.join(".gitattributes");
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(false);
    }
    fs::write(&path, ATTRIBUTES).map_err(Error::file(&path))?;
    Ok(true)
}

/// Gets the memory that the team has, if it has one.
fn join(root: &Path, env: &Env, deadline: Instant, setup: &mut Setup) -> Result<(), Error> {
    let share = Share::open(root, env)?.insistent();
    let synced = share.pull(deadline)?;
    if let Published::Queued(reason) = synced.published
        && reason != place::Reason::NoRemote
        && reason != place::Reason::NotCommitted
    {
        setup.problem = Some(reason.to_string());
    }
    setup.is_joined = share.copy().join(MEMORY).is_file();
    // All of it is new here: that there is a memory says it in one.
    share.forget_entries();
    Ok(())
}

/// Fails for a folder whose memory every folder below it would get.
fn refuse_too_wide(root: &Path, env: &Env) -> Result<(), Error> {
    let root = files::canonical(root);
    let home = base::system::home(env);
    let is_home = home.is_some_and(|home| files::canonical(&home) == root);
    if is_home || root.parent().is_none() { Err(Error::TooWide(root)) } else { Ok(()) }
}

fn init_outside(cwd: &Path, env: &Env) -> Result<Setup, Error> {
    let found = Folder::find(cwd).filter(has_memory);
    let folder = match &found {
        Some(found) => found.wyren.clone(),
        None => std::path::absolute(cwd).map_err(Error::file(cwd))?.join(FOLDER),
    };
    let setup = Setup {
        mode: None,
        folder,
        is_old: found.is_some(),
        is_joined: false,
        has_new_attributes: false,
        problem: None,
    };
    if found.is_some() {
        return Ok(setup);
    }
    refuse_too_wide(cwd, env)?;
    // In another user's folder it would not count.
    base::project::refuse_foreign_at(cwd, cwd).map_err(repository::Error::from)?;
    repository::refuse_link(&setup.folder)?;
    for part in [BROADCAST[0], BROADCAST[1], STATE] {
        let folder = setup.folder.join(part);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    }
    for broadcast in BROADCAST {
        let keep = setup.folder.join(broadcast).join(".gitkeep");
        fs::write(&keep, "").map_err(Error::file(&keep))?;
    }
    // The folder may become a repository later.
    let ignore = setup.folder.join(".gitignore");
    fs::write(&ignore, IGNORED_IN_FOLDER).map_err(Error::file(&ignore))?;
    write_fresh(&setup.folder)?;
    Ok(setup)
}

fn has_memory(folder: &Folder) -> bool {
    folder.memory().is_file() || folder.wyren.join(MEMORY).is_file()
}

/// Writes a memory that says nothing yet, unless there is one.
fn write_fresh(folder: &Path) -> Result<(), Error> {
    let path = folder.join(MEMORY);
    if path.exists() {
        return Ok(());
    }
    fs::write(&path, Memory::fresh(None).render()).map_err(Error::file(&path))
}
