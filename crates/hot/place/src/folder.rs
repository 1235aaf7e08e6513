//! Finds a session's team memory by reading files.

use crate::place::{BROADCAST, FOLDER, LESSONS, MEMORY, state_folder};
use crate::{FetchState, Mode, Place};
use base::files;
use base::project::{self, Refusal};
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
    /// Finds the team memory for a session in `cwd`; `None` when there is none, when a link would lead out of it, or when
    /// it does not count: [`Folder::refusal`] says why.
    pub fn find(cwd: &Path) -> Option<Self> {
        match Place::look(cwd).ok()? {
            Some(place) => Self::of_place(place),
            None => {
                let wyren = nearest(cwd)?;
                (check_owner(&wyren).is_ok() && !has_linked_state(&wyren)).then(|| Self {
                    view: wyren.clone(),
                    wyren,
                    place: None,
                    mode: None,
                })
            }
        }
    }

    /// Returns why nothing is read, shown or written for a session in `cwd` where a `.git` or a `.wyren` does not count.
    pub fn refusal(cwd: &Path) -> Option<Refusal> {
        let folders = match Place::look(cwd) {
            Err(refusal) => return Some(refusal),
            Ok(Some(place)) => vec![place.folder(Mode::Branch), place.folder(Mode::Side)],
            Ok(None) => nearest(cwd).into_iter().collect(),
        };
        folders.iter().find_map(|wyren| check_owner(wyren).err())
    }

    /// Returns the team memory of a repository; `None` when it has none, or one that was found and is not wanted.
    pub fn of_place(place: Place) -> Option<Self> {
        let own = place.folder(Mode::Branch);
        let is_side = place.is_excluded() && FetchState::read(&own).mode != Some(Mode::Branch);
        if is_side && place.is_unwanted() {
            return None;
        }
        Self::in_mode(place, if is_side { Mode::Side } else { Mode::Branch })
    }

    /// Returns the team memory of a repository in a known mode; `None` when it has none.
    pub fn in_mode(place: Place, mode: Mode) -> Option<Self> {
        let wyren = place.folder(mode);
        if check_own(&wyren) != Ok(true) || has_linked_state(&wyren) {
            return None;
        }
        let copy = place.copy_folder(mode);
        // Before the first sync there is no copy beside the tracked files.
        let has_copy = fs::symlink_metadata(copy.join(MEMORY)).is_ok_and(|memory| memory.is_file());
        let view = if has_copy { copy } else { wyren.clone() };
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

/// Returns the nearest `.wyren/` at or above a folder outside a repository. A link could lead anywhere.
fn nearest(cwd: &Path) -> Option<PathBuf> {
    let cwd = std::path::absolute(cwd).ok()?;
    let is_there = |folder: &PathBuf| fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    cwd.ancestors().take(MAX_PARENTS).map(|folder| folder.join(FOLDER)).find(is_there)
}

/// Returns whether a `.wyren/` is there, as a folder and no link; fails when it, or the folder that holds it, is another
/// user's.
pub(crate) fn check_owner(wyren: &Path) -> Result<bool, Refusal> {
    let is_there = check_own(wyren)?;
    if is_there {
        project::refuse_foreign_at(holder(wyren), holder(wyren))?;
    }
    Ok(is_there)
}

/// Does the same where the folder that holds it is known to be the user's: the top of a repository's work tree.
fn check_own(wyren: &Path) -> Result<bool, Refusal> {
    match fs::symlink_metadata(wyren) {
        Ok(metadata) if metadata.is_dir() => {
            project::refuse_foreign(&metadata, wyren, holder(wyren)).map(|()| true)
        }
        _ => Ok(false),
    }
}

fn holder(wyren: &Path) -> &Path {
    wyren.parent().unwrap_or(wyren)
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
    fn review_7_a_memory_that_was_found_is_ignored_where_the_user_wants_none() {
        let folder = repository("/.wyren/\n");
        let (top, wyren) = (folder.path(), folder.path().join(".wyren"));
        fs::create_dir_all(wyren.join("lessons")).unwrap();
        fs::create_dir(wyren.join("state")).unwrap();
        let is_there = || {
            let is_there = Folder::find(top).is_some();
            assert_eq!(crate::lessons_folder(top).is_some(), is_there);
            is_there
        };
        crate::note_found(&wyren, true).unwrap();
        assert!(is_there());
        fs::write(top.join(".git/config"), "[wyren]\n\tdiscover = false\n").unwrap();
        assert!(!is_there());
        // `wyren init` joined it.
        crate::note_found(&wyren, false).unwrap();
        assert!(is_there());
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

    #[test]
    fn beside_a_git_file_that_leads_elsewhere_there_is_no_memory() {
        let folder = repository("");
        let archive = folder.path().join("archive");
        fs::create_dir_all(archive.join(".wyren")).unwrap();
        assert!(Folder::find(&archive.join(".wyren")).is_none(), "it belongs to the repository around it");
        fs::write(archive.join(".git"), "gitdir: ../.git\n").unwrap();
        assert_eq!(Folder::find(&archive), None);
        assert!(matches!(Folder::refusal(&archive), Some(Refusal::Elsewhere { .. })));
        assert_eq!(Folder::refusal(folder.path()), None);
    }

    #[cfg(unix)]
    #[test]
    fn another_users_memory_is_none() {
        use std::os::unix::fs::MetadataExt as _;
        let give = |path: &Path, owner| std::os::unix::fs::chown(path, Some(owner), None).unwrap();
        for folder in [repository(""), tempfile::tempdir().unwrap()] {
            let (top, wyren) = (folder.path(), folder.path().join(".wyren"));
            fs::create_dir_all(top.join("a/b")).unwrap();
            fs::create_dir_all(wyren.join("lessons")).unwrap();
            // Only root can give a folder away; the unit tests of `base::owner` have the decision for everyone else.
            if fs::metadata(top).unwrap().uid() != 0 {
                return;
            }
            for foreign in [top, &wyren] {
                give(foreign, 54_321);
                assert_eq!(Folder::find(&top.join("a/b")), None);
                assert_eq!(crate::lessons_folder(&top.join("a/b")), None);
                assert!(matches!(Folder::refusal(&top.join("a/b")), Some(Refusal::Foreign { .. })));
                give(foreign, 0);
            }
            assert!(Folder::find(&top.join("a/b")).is_some());
            assert_eq!(Folder::refusal(&top.join("a/b")), None);
        }
    }
}
