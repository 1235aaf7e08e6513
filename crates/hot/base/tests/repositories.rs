//! Which `.git` counts, with layouts that git itself makes and with forged ones.

use base::project::{Project, Refusal, Repository};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a repository `main` that has a commit.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        ground.git(".", &["init", "--quiet", "main"]);
        ground.git("main", &["commit", "--quiet", "--allow-empty", "--message=first"]);
        ground
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    #[track_caller]
    fn git(&self, place: &str, arguments: &[&str]) {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@localhost",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(arguments)
            .current_dir(self.at(place))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    /// Checks that a folder is in a repository whose shared folder and main work tree are these.
    #[track_caller]
    fn check(&self, place: &str, common: &str, main_root: Option<&str>) {
        let found = Repository::find(&self.at(place)).unwrap().expect("a repository");
        let canonical = |path: &Path| path.canonicalize().unwrap();
        assert_eq!(canonical(&found.common_folder), self.at(common), "{place}");
        let main = found.main_root().map(|root| canonical(&root));
        assert_eq!(main, main_root.map(|root| self.at(root)), "{place}");
    }

    #[track_caller]
    fn refused(&self, place: &str) -> Refusal {
        assert_eq!(Repository::above(&self.at(place)), None);
        assert_eq!(Project::of(&self.at(place)).key, format!("path:{}", self.at(place).display()));
        Repository::find(&self.at(place)).expect_err("it counts")
    }
}

#[test]
fn subfolders_and_work_trees_share_the_project_and_a_same_name_does_not() {
    let ground = Ground::new();
    ground.git("main", &["worktree", "add", "--quiet", "../tree"]);
    ground.git(".", &["init", "--quiet", "two/main"]);
    fs::create_dir_all(ground.at("main/src/deep")).unwrap();
    let project = Project::of(&ground.at("main"));
    assert_eq!(project.name, "main");
    assert_eq!(Project::of(&ground.at("main/src/deep")), project);
    let tree = Project::of(&ground.at("tree"));
    assert_eq!((&tree.key, &*tree.name, tree.root), (&project.key, "main", ground.at("tree")));
    assert_ne!(Project::of(&ground.at("two/main")).key, project.key);
}

#[test]
fn a_linked_work_tree_counts_also_when_moved_and_repaired_or_with_relative_paths() {
    let ground = Ground::new();
    ground.git("main", &["worktree", "add", "--quiet", "../tree"]);
    ground.check("tree", "main/.git", Some("main"));
    fs::rename(ground.at("tree"), ground.at("moved")).unwrap();
    assert!(matches!(ground.refused("moved"), Refusal::Elsewhere { .. }));
    ground.git("main", &["worktree", "repair", "../moved"]);
    ground.check("moved", "main/.git", Some("main"));
    // As git from 2.48 on writes them when `worktree.useRelativePaths` is set.
    ground.git("main", &["worktree", "add", "--quiet", "../relative"]);
    ground.write("relative/.git", "gitdir: ../main/.git/worktrees/relative\n");
    ground.write("main/.git/worktrees/relative/gitdir", "../../../../relative/.git\n");
    ground.check("relative", "main/.git", Some("main"));
}

#[test]
fn a_linked_work_tree_of_a_bare_repository_has_no_main_one() {
    let ground = Ground::new();
    ground.git(".", &["clone", "--quiet", "--bare", "main", "bare.git"]);
    ground.git("bare.git", &["worktree", "add", "--quiet", "../tree"]);
    ground.check("tree", "bare.git", None);
}

#[test]
fn a_submodule_counts_with_its_work_trees_and_with_a_configuration_per_work_tree() {
    let ground = Ground::new();
    ground.git(".", &["clone", "--quiet", "main", "library"]);
    ground.git("main", &["submodule", "--quiet", "add", "../library", "module"]);
    ground.check("main/module", "main/.git/modules/module", Some("main/module"));
    ground.git("main/module", &["worktree", "add", "--quiet", "../../module-tree"]);
    ground.check("module-tree", "main/.git/modules/module", Some("main/module"));
    ground.git("main/module", &["sparse-checkout", "init"]);
    let config = fs::read_to_string(ground.at("main/.git/modules/module/config")).unwrap();
    assert!(!config.contains("worktree ="), "{config}");
    ground.check("main/module", "main/.git/modules/module", Some("main/module"));
    ground.check("module-tree", "main/.git/modules/module", Some("main/module"));
    // One that was cloned into place, and then taken in.
    ground.git("main", &["clone", "--quiet", "../library", "inner"]);
    ground.git("main", &["submodule", "--quiet", "add", "../library", "inner"]);
    ground.check("main/inner", "main/inner/.git", Some("main/inner"));
    ground.git("main", &["submodule", "--quiet", "absorbgitdirs"]);
    ground.check("main/inner", "main/.git/modules/inner", Some("main/inner"));
}

#[test]
fn a_separate_git_folder_counts_once_it_names_its_work_tree() {
    let ground = Ground::new();
    ground.git(".", &["init", "--quiet", "--separate-git-dir=kept", "work"]);
    let refusal = ground.refused("work");
    assert!(refusal.to_string().contains("git config core.worktree"), "{refusal}");
    ground.git("work", &["config", "core.worktree", &ground.at("work").display().to_string()]);
    ground.check("work", "kept", Some("work"));
}

#[test]
fn a_git_file_that_leads_into_another_repository_does_not_count() {
    let ground = Ground::new();
    ground.git("main", &["worktree", "add", "--quiet", "../tree"]);
    ground.git(".", &["clone", "--quiet", "main", "library"]);
    ground.git("main", &["submodule", "--quiet", "add", "../library", "module"]);
    ground.git(".", &["clone", "--quiet", "--bare", "main", "bare.git"]);
    for target in ["main/.git", "main/.git/worktrees/tree", "main/.git/modules/module", "bare.git"] {
        ground.write("evil/.git", &format!("gitdir: ../{target}\n"));
        assert!(matches!(ground.refused("evil"), Refusal::Elsewhere { .. }), "{target}");
    }
    // A work tree of its own making that borrows the user's repository.
    ground.write("evil/own/HEAD", "ref: refs/heads/main\n");
    ground.write("evil/own/gitdir", &ground.at("evil/.git").display().to_string());
    ground.write("evil/own/commondir", &ground.at("main/.git").display().to_string());
    ground.write("evil/.git", "gitdir: own\n");
    assert!(matches!(ground.refused("evil"), Refusal::Elsewhere { .. }));
    // A repository around it does not take its place.
    fs::create_dir(ground.at("evil/src")).unwrap();
    assert!(Repository::find(&ground.at("evil/src")).is_err());
}

#[test]
fn a_git_folder_that_borrows_another_repository_does_not_count() {
    let ground = Ground::new();
    ground.write("evil/.git/HEAD", "ref: refs/heads/main\n");
    ground.write("evil/.git/commondir", "../../main/.git\n");
    assert!(matches!(ground.refused("evil"), Refusal::Borrowed(_)));
    ground.write("evil/.git/commondir", ".\n");
    assert!(Repository::above(&ground.at("evil")).is_some());
}

#[test]
fn a_main_work_tree_that_does_not_lead_back_is_none() {
    let ground = Ground::new();
    ground.git(".", &["init", "--quiet", "--bare", "evil/common"]);
    ground.write("evil/common/worktrees/tree/HEAD", "ref: refs/heads/main\n");
    ground.write("evil/common/worktrees/tree/commondir", "../..\n");
    ground.write("evil/common/worktrees/tree/gitdir", "../../../.git\n");
    ground.write("evil/common/config", "[core]\n\tworktree = ../../main\n");
    ground.write("evil/.git", "gitdir: common/worktrees/tree\n");
    ground.check("evil", "evil/common", None);
}

#[test]
fn a_git_file_that_leads_nowhere_is_no_repository() {
    let ground = Ground::new();
    for text in ["gitdir: ../gone\n", "nonsense", ""] {
        ground.write("plain/.git", text);
        assert_eq!(Repository::find(&ground.at("plain")), Ok(None), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_or_a_pipe_does_not_count() {
    let ground = Ground::new();
    for (place, target) in [("linked", "../main/.git"), ("dangling", "../gone")] {
        fs::create_dir(ground.at(place)).unwrap();
        std::os::unix::fs::symlink(target, ground.at(place).join(".git")).unwrap();
        assert!(matches!(ground.refused(place), Refusal::Kind { kind: "a link", .. }));
    }
    for marker in ["piped/.git", "headless/.git/HEAD"] {
        fs::create_dir_all(ground.at(marker).parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(ground.at(marker)).status().unwrap().success());
        let place = marker.split('/').next().unwrap();
        assert!(matches!(ground.refused(place), Refusal::Kind { kind: "no regular file", .. }));
    }
}

// Only root can give a folder away; the unit tests of `owner` have the decision for everyone else.
#[cfg(unix)]
#[test]
fn what_belongs_to_another_user_does_not_count() {
    use std::os::unix::fs::MetadataExt as _;
    let ground = Ground::new();
    if fs::metadata(ground.at("main")).unwrap().uid() != 0 {
        return;
    }
    ground.git("main", &["worktree", "add", "--quiet", "../tree"]);
    for path in ["main", "main/.git"] {
        let give = |owner| std::os::unix::fs::chown(ground.at(path), Some(owner), None).unwrap();
        give(54_321);
        let refusal = ground.refused("main").to_string();
        assert!(refusal.contains("belongs to another user"), "{refusal}");
        assert!(refusal.contains(&format!("safe.directory {}", ground.at("main").display())), "{refusal}");
        assert_eq!(Repository::above(&ground.at("tree")).is_none(), path == "main/.git");
        assert_eq!(Repository::above(&ground.at("tree")).and_then(|tree| tree.main_root()), None);
        give(0);
    }
    assert!(Repository::above(&ground.at("main")).is_some());
}
