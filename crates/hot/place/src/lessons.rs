//! Where a project's lessons are, found with one look per folder: this runs before every tool call, so it does not read what
//! [`Folder::find`](crate::Folder::find) reads.

use crate::folder::MAX_PARENTS;
use crate::place::{FOLDER, LESSONS, state_folder};
use base::project::Repository;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the lessons' folder of the project that `cwd` is in: the nearest `.wyren`, no further up than the repository.
///
/// The merged lessons of the team win over the files that the user tracks. A linked work tree without
/// lessons of its own has those of the main one.
pub fn lessons_folder(cwd: &Path) -> Option<PathBuf> {
    for folder in cwd.ancestors().take(MAX_PARENTS) {
        if let Some(lessons) = folder_below(folder) {
            return Some(lessons);
        }
        // The marker of a linked work tree is a file, which leads to the repository.
        if let Ok(marker) = fs::metadata(folder.join(".git")) {
            return if marker.is_dir() { None } else { folder_below(&main_root(folder)?) };
        }
    }
    None
}

/// Returns the folder of the lessons that a project at `root` has.
fn folder_below(root: &Path) -> Option<PathBuf> {
    let wyren = root.join(FOLDER);
    // One look is all that a folder without a memory costs.
    if !wyren.is_dir() {
        return None;
    }
    [state_folder(&wyren).join(LESSONS), wyren.join(LESSONS)].into_iter().find(|folder| folder.is_dir())
}

/// Returns the top of the work tree that the repository of a linked one was made with.
fn main_root(linked: &Path) -> Option<PathBuf> {
    let repository = Repository::above(linked)?;
    let common = repository.common_folder;
    let is_linked = common != repository.git_folder && common.ends_with(".git");
    common.parent().filter(|_| is_linked).map(Path::to_owned)
}

/// Returns the top of the project that a lessons' folder belongs to.
pub fn project_root(lessons_folder: &Path) -> &Path {
    let wyren =
        lessons_folder.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == FOLDER));
    wyren.and_then(Path::parent).unwrap_or(lessons_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("main/.git")).unwrap();
        fs::write(folder.path().join("main/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(folder.path().join("main/src")).unwrap();
        folder
    }

    #[test]
    fn the_merged_lessons_win_over_the_tracked_ones() {
        let folder = repository();
        let main = folder.path().join("main");
        assert_eq!(lessons_folder(&main.join("src")), None);
        let (own, merged) = (main.join(".wyren/lessons"), main.join(".wyren/state/lessons"));
        fs::create_dir_all(&own).unwrap();
        assert_eq!(lessons_folder(&main.join("src")), Some(own.clone()));
        fs::create_dir_all(&merged).unwrap();
        assert_eq!(lessons_folder(&main.join("src")), Some(merged.clone()));
        // A teammate's first lesson is there before a tracked one is.
        fs::remove_dir(&own).unwrap();
        assert_eq!(lessons_folder(&main), Some(merged));
    }

    #[test]
    fn a_linked_work_tree_without_lessons_has_those_of_the_main_one() {
        let folder = repository();
        let (main, tree) = (folder.path().join("main"), folder.path().join("tree"));
        let linked = main.join(".git/worktrees/tree");
        fs::create_dir_all(&linked).unwrap();
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(linked.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
        assert_eq!(lessons_folder(&tree.join("src")), None);
        fs::create_dir_all(main.join(".wyren/lessons")).unwrap();
        assert_eq!(lessons_folder(&tree.join("src")), Some(main.join(".wyren/lessons")));
        fs::create_dir_all(tree.join(".wyren/lessons")).unwrap();
        assert_eq!(lessons_folder(&tree.join("src")), Some(tree.join(".wyren/lessons")));
    }

    #[test]
    fn a_submodule_does_not_take_the_lessons_of_the_repository_around_it() {
        let folder = repository();
        let (main, module) = (folder.path().join("main"), folder.path().join("main/module"));
        let git = main.join(".git/modules/module");
        fs::create_dir_all(&git).unwrap();
        fs::create_dir_all(&module).unwrap();
        fs::create_dir_all(main.join(".wyren/lessons")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(lessons_folder(&module), None);
    }

    #[test]
    fn the_project_is_the_same_however_its_lessons_are_read() {
        let folder = repository();
        let main = folder.path().join("main");
        assert_eq!(project_root(&main.join(".wyren/lessons")), main);
        assert_eq!(project_root(&main.join(".wyren/state/lessons")), main);
    }
}
