//! Where a project's lessons are, found with one look per folder: this runs before every tool call, so it does not read what
//! [`Folder::find`](crate::Folder::find) reads.

use crate::folder::{MAX_PARENTS, check_owner};
use crate::place::{FOLDER, LESSONS, is_unwanted, state_folder};
use base::owner;
use base::project::Repository;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the lessons' folder of the project that `cwd` is in: the nearest `.wyren`, no further up than the repository.
///
/// The merged lessons of the team win over the files that the user tracks. A linked work tree without
/// lessons of its own has those of the main one. What is another user's, or beside a `.git` that does not count, has none.
pub fn lessons_folder(cwd: &Path) -> Option<PathBuf> {
    for folder in cwd.ancestors().take(MAX_PARENTS) {
        let wyren = folder.join(FOLDER);
        // One look is all that a folder without a memory costs.
        let is_there = check_owner(&wyren).ok()?;
        let marker = fs::symlink_metadata(folder.join(".git")).ok();
        // The marker of a linked work tree is a file, which leads to the repository.
        let linked = match &marker {
            Some(marker) if !marker.is_dir() => Repository::find(folder).ok()?,
            Some(marker) if is_there && !owner::is_users(marker, &folder.join(".git"), folder) => {
                return None;
            }
            _ => None,
        };
        if let Some(lessons) = is_there.then(|| lessons_in(&wyren)).flatten() {
            let is_unwanted = is_unwanted(&wyren, || Repository::find(folder).ok().flatten());
            return (!is_unwanted).then_some(lessons);
        }
        if marker.is_some() {
            let repository = linked?;
            let main = repository.main_root().filter(|main| *main != repository.root)?.join(FOLDER);
            let is_wanted = check_owner(&main) == Ok(true) && !is_unwanted(&main, || Some(repository));
            return if is_wanted { lessons_in(&main) } else { None };
        }
    }
    None
}

/// Returns the folder of the lessons in a `.wyren`, without following a link.
fn lessons_in(wyren: &Path) -> Option<PathBuf> {
    let state = state_folder(wyren);
    let merged = state.join(LESSONS);
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if is_folder(&merged) {
        return is_folder(&state).then_some(merged);
    }
    Some(wyren.join(LESSONS)).filter(|lessons| is_folder(lessons))
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
        fs::write(linked.join("gitdir"), tree.join(".git").display().to_string()).unwrap();
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
        fs::write(git.join("config"), "[core]\n\tworktree = ../../../module\n").unwrap();
        fs::write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(lessons_folder(&module), None);
        fs::create_dir_all(module.join(".wyren/lessons")).unwrap();
        assert_eq!(lessons_folder(&module), Some(module.join(".wyren/lessons")));
    }

    #[test]
    fn beside_a_git_file_that_leads_elsewhere_there_are_no_lessons() {
        let folder = repository();
        let archive = folder.path().join("archive");
        fs::create_dir_all(archive.join(".wyren/lessons")).unwrap();
        assert!(lessons_folder(&archive).is_some());
        fs::write(archive.join(".git"), "gitdir: ../main/.git\n").unwrap();
        assert_eq!(lessons_folder(&archive), None);
    }

    #[cfg(unix)]
    #[test]
    fn lessons_behind_a_link_are_none() {
        let folder = repository();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("lessons")).unwrap();
        for (number, link) in
            [".wyren", ".wyren/lessons", ".wyren/state", ".wyren/state/lessons"].iter().enumerate()
        {
            let root = folder.path().join(format!("p{number}"));
            let link = root.join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            let target =
                if link.ends_with("lessons") { elsewhere.join("lessons") } else { elsewhere.clone() };
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert_eq!(lessons_folder(&root), None, "{}", link.display());
        }
    }

    #[test]
    fn the_project_is_the_same_however_its_lessons_are_read() {
        let folder = repository();
        let main = folder.path().join("main");
        assert_eq!(project_root(&main.join(".wyren/lessons")), main);
        assert_eq!(project_root(&main.join(".wyren/state/lessons")), main);
    }
}
