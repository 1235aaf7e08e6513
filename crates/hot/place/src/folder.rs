//! Finds a session's team memory by reading files.

use crate::place::{BROADCAST, FOLDER, LESSONS, MEMORY, state_folder};
use crate::{FetchState, Mode, Place};
use base::files;
use std::fs;
use std::path::{Path, PathBuf};

/// How many parents are searched for a `.wyren/` outside a repository.
pub(crate) const MAX_PARENTS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The `.wyren/` folder itself: `log` and `state/` are below it.
    pub wyren: PathBuf,
    /// Where `memory.md`, `broadcast/` and `lessons/` are read: the local copy, with everything merged so far.
    pub view: PathBuf,
    /// The repository around it; `None` outside of one.
    pub place: Option<Place>,
    /// How it is shared; `None` outside a repository.
    pub mode: Option<Mode>,
}

impl Folder {
    /// Finds the team memory for a session in `cwd`; `None` when there is none, or when a link would lead out of it.
    pub fn find(cwd: &Path) -> Option<Self> {
        match Place::find(cwd) {
            Some(place) => Self::of_place(place),
            None => {
                let cwd = std::path::absolute(cwd).ok()?;
                let wyren =
                    cwd.ancestors().take(MAX_PARENTS).map(|folder| folder.join(FOLDER)).find(is_there)?;
                (!has_linked_state(&wyren)).then(|| Self {
                    view: wyren.clone(),
                    wyren,
                    place: None,
                    mode: None,
                })
            }
        }
    }

    /// Returns the team memory of a repository; `None` when it has none.
    pub fn of_place(place: Place) -> Option<Self> {
        let own = place.folder(Mode::Branch);
        let is_side = place.is_excluded() && FetchState::read(&own).mode != Some(Mode::Branch);
        Self::in_mode(place, if is_side { Mode::Side } else { Mode::Branch })
    }

    /// Returns the team memory of a repository in a known mode; `None` when it has none.
    pub fn in_mode(place: Place, mode: Mode) -> Option<Self> {
        let wyren = place.folder(mode);
        if !is_there(&wyren) || has_linked_state(&wyren) {
            return None;
        }
        let copy = place.copy_folder(mode);
        // Before the first sync there is no copy beside the tracked files.
        let view = if copy.join(MEMORY).is_file() { copy } else { wyren.clone() };
        Some(Self { wyren, view, place: Some(place), mode: Some(mode) })
    }

    pub fn memory(&self) -> PathBuf {
        self.part(MEMORY)
    }

    pub fn broadcast(&self) -> PathBuf {
        self.part(BROADCAST)
    }

    pub fn lessons(&self) -> PathBuf {
        self.part(LESSONS)
    }

    /// Returns the copy of a part where there is one. A change before the first sync copies only the part it changes; the
    /// others are read as they are tracked.
    fn part(&self, name: &str) -> PathBuf {
        let copied = (self.mode == Some(Mode::Branch)).then(|| self.state().join(name));
        let is_there = |part: &PathBuf| fs::symlink_metadata(part).is_ok();
        copied.filter(is_there).unwrap_or_else(|| self.wyren.join(name))
    }

    /// The folder that is never shared.
    pub fn state(&self) -> PathBuf {
        state_folder(&self.wyren)
    }
}

/// Returns whether `state/` is a link: a repository may contain one that leads out of it.
fn has_linked_state(wyren: &Path) -> bool {
    files::is_link(&state_folder(wyren))
}

/// Returns whether the folder exists and is not a symbolic link, which could point out of the repository.
fn is_there(folder: &PathBuf) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(exclude: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git/info");
        fs::create_dir_all(&git).unwrap();
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("exclude"), exclude).unwrap();
        folder
    }

    #[test]
    fn a_session_below_the_top_finds_the_memory() {
        let folder = repository("/.wyren/\n");
        let deep = folder.path().join("src/deep");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(Folder::find(&deep), None);
        fs::create_dir(folder.path().join(".wyren")).unwrap();
        let found = Folder::find(&deep).unwrap();
        assert_eq!((found.mode, &found.view), (Some(Mode::Side), &found.wyren));
    }

    #[test]
    fn in_branch_mode_the_merged_copy_is_read_once_there_is_one() {
        let folder = repository("");
        let state = folder.path().join(".wyren/state");
        fs::create_dir_all(&state).unwrap();
        let found = Folder::find(folder.path()).unwrap();
        assert_eq!((found.mode, &found.view), (Some(Mode::Branch), &found.wyren));
        fs::write(state.join("memory.md"), "").unwrap();
        assert_eq!(Folder::find(folder.path()).unwrap().view, state);
    }

    #[test]
    fn a_part_that_has_no_copy_yet_is_read_as_it_is_tracked() {
        let folder = repository("");
        let wyren = folder.path().join(".wyren");
        let state = wyren.join("state");
        fs::create_dir_all(wyren.join("broadcast")).unwrap();
        fs::create_dir_all(state.join("lessons")).unwrap();
        let parts = || {
            let found = Folder::find(folder.path()).unwrap();
            [found.memory(), found.broadcast(), found.lessons()]
        };
        assert_eq!(parts(), [wyren.join("memory.md"), wyren.join("broadcast"), state.join("lessons")]);
        fs::write(state.join("memory.md"), "").unwrap();
        assert_eq!(parts(), [state.join("memory.md"), wyren.join("broadcast"), state.join("lessons")]);
    }

    #[test]
    fn a_folder_outside_any_repository_has_a_memory_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".wyren")).unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let found = Folder::find(&folder.path().join("a/b")).unwrap();
        assert_eq!((found.mode, found.wyren), (None, folder.path().join(".wyren")));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = repository("");
        let wyren = folder.path().join(".wyren");
        std::os::unix::fs::symlink("/tmp", &wyren).unwrap();
        assert_eq!(Folder::find(folder.path()), None);
        fs::remove_file(&wyren).unwrap();
        fs::create_dir(&wyren).unwrap();
        assert!(Folder::find(folder.path()).is_some());
        std::os::unix::fs::symlink("../.git", wyren.join("state")).unwrap();
        assert_eq!(Folder::find(folder.path()), None);
        fs::remove_dir_all(folder.path().join(".git")).unwrap();
        assert_eq!(Folder::find(folder.path()), None);
    }
}
