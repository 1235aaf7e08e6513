use crate::repository::race::sync_once;
use crate::support::{Clone, TeamClone, TeamWorld, World, env_of, git, given, soon};
use place::{Mode, Place, Reason};
use std::fs;
use team_sync::repository::{Error, Fetched, Published, Team};

/// Two clones exchange an entry in side mode.
#[track_caller]
fn check_exchange(world: &World, clone: &Clone) {
    let other = world.side_clone("other");
    other.write(".wyren/memory.md", "- from other\n");
    other.sync();
    clone.init_side();
    clone.write(".wyren/memory.md", "- from clone\n");
    clone.sync();
    assert_eq!(clone.read(".wyren/memory.md"), "- from other\n- from clone\n");
    let shared = world.shared("wyren/memory", "memory.md");
    assert_eq!(shared.as_deref(), Some("- from other\n- from clone"));
}

#[test]
fn subfolders_find_the_memory_of_the_repository() {
    let world = World::new(&[("src/deep/x.rs", "x\n")]);
    let clone = world.side_clone("a");
    let team = Team::open(&clone.root.join("src/deep"), &env_of(&clone.root)).unwrap();
    assert_eq!(team.folder(), clone.root.join(".wyren"));
}

#[test]
fn linked_worktrees_share_the_folder_in_side_mode_and_have_their_own_in_branch_mode() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.git(&["worktree", "add", "--quiet", "../tree", "-b", "topic"]);
    let tree = Clone { root: world.path().join("tree") };
    assert_eq!(tree.team().mode(), Mode::Side);
    assert_eq!(tree.team().folder(), clone.root.join(".wyren"));
    clone.write(".wyren/memory.md", "- one\n");
    tree.sync();
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one"));
    assert!(!tree.root.join(".wyren").exists());
    assert_eq!(clone.sync(), Published::Nothing);

    // With its own copy it has its own state.
    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let clone = world.clone_called("a");
    clone.git(&["worktree", "add", "--quiet", "../tree", "-b", "topic", "origin/main"]);
    clone.git(&["config", "push.default", "upstream"]);
    let tree = Clone { root: world.path().join("tree") };
    clone.sync();
    clone.land(&[("memory.md", Some("- one\n- two\n"))]);
    assert_eq!((tree.team().mode(), tree.team().branch()), (Mode::Branch, Some("main")));
    assert_eq!(tree.team().folder(), tree.root.join(".wyren"));
    tree.write(".wyren/state/memory.md", "- one\n- three\n");
    tree.sync();
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one\n- two\n- three"));
}

#[test]
fn submodules_and_their_worktrees_have_their_own_memory() {
    let (inner, outer) = (World::new(&[]), World::new(&[]));
    let clone = outer.clone_called("a");
    let address = format!("file://{}", inner.remote().display());
    clone.git(&["submodule", "--quiet", "add", &address, "inner"]);
    clone.commit("submodule");
    let module = Clone::at(clone.root.join("inner"));
    clone.untouched(|| check_exchange(&inner, &module));
    assert!(!clone.root.join(".wyren").exists());
    module.git(&["worktree", "add", "--quiet", "../../tree", "-b", "topic"]);
    let place = Place::find(&outer.path().join("tree")).unwrap();
    assert_eq!(place.folder(Mode::Side), module.root.canonicalize().unwrap().join(".wyren"));
}

#[test]
fn a_detached_head_syncs_in_side_mode_and_waits_in_branch_mode() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    clone.git(&["switch", "--quiet", "--detach"]);
    check_exchange(&world, &clone);

    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let clone = world.clone_called("a");
    clone.git(&["switch", "--quiet", "--detach"]);
    assert_eq!(clone.publish(&[("memory.md", Some("- two\n"))]), Published::Queued(Reason::Detached));
    assert_eq!(clone.team().fetch(soon()).unwrap(), Fetched::Failed(Reason::Detached));
}

#[test]
fn shallow_and_single_branch_clones_sync() {
    let world = World::new(&[]);
    let first = Clone { root: world.path().join("first") };
    first.write("more", "more\n");
    first.commit("more");
    first.git(&["push", "--quiet"]);
    let clone = world.clone_with("a", &["--depth=1"]);
    check_exchange(&world, &clone);
    assert_eq!(clone.git(&["rev-parse", "--is-shallow-repository"]), "true");

    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let first = Clone { root: world.path().join("first") };
    first.write("more", "more\n");
    first.commit("more");
    first.git(&["push", "--quiet"]);
    let clone = world.clone_with("a", &["--depth=1"]);
    clone.land(&[("memory.md", Some("- one\n- two\n"))]);
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one\n- two"));
    clone.git(&["pull", "--quiet", "--ff-only"]);
}

#[test]
fn partial_clones_get_what_they_need() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let memory = (".wyren/memory.md", "- one\n");
        let world = World::new(&[memory, ("big", "big\n"), (".gitignore", ".wyren/state/\n")]);
        git(&world.remote(), &["config", "uploadpack.allowFilter", "true"]);
        git(&world.remote(), &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        let clone = world.clone_with("a", &[filter, "--no-checkout"]);
        clone.git(&["reset", "--quiet", "--hard"]);
        let first = Clone { root: world.path().join("first") };
        first.write("big", "bigger\n");
        first.write(".wyren/memory.md", "- one\n- two\n");
        first.commit("more");
        first.git(&["push", "--quiet"]);
        clone.write(".wyren/state/memory.md", "- one\n- three\n");
        clone.sync();
        assert_eq!(clone.read(".wyren/state/memory.md"), "- one\n- two\n- three\n", "{filter}");
        let shared = world.shared("main", "memory.md");
        assert_eq!(shared.as_deref(), Some("- one\n- two\n- three"), "{filter}");
        clone.git(&["pull", "--quiet", "--ff-only"]);
        assert_eq!(clone.read("big"), "bigger\n");
    }
}

#[test]
fn reftable_repositories_sync() {
    let world = World::new(&[]);
    let clone = world.clone_with("a", &["--ref-format=reftable"]);
    check_exchange(&world, &clone);
}

#[test]
fn sha256_repositories_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--object-format=sha256"]);
    let clone = Clone::at(folder.path().to_owned());
    clone.init_side();
    assert!(matches!(Team::open(&clone.root, &env_of(&clone.root)), Err(Error::Sha256)));
}

#[test]
fn a_repository_without_commits_syncs_in_side_mode_and_one_without_a_remote_waits() {
    let world = World::new(&[]);
    git(world.path(), &["init", "--quiet", "empty"]);
    let clone = Clone::at(world.path().join("empty"));
    clone.init_side();
    let published = clone.publish(&[("memory.md", Some("- early\n"))]);
    assert_eq!(published, Published::Queued(Reason::NoRemote));
    assert!(clone.team().has_queued().unwrap());
    clone.git(&["remote", "add", "upstream", world.remote().to_str().unwrap()]);
    assert_eq!(clone.team().remote(), Some("upstream"));
    clone.land(&[]);
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- early"));
}

#[test]
fn an_empty_remote_gets_its_first_branch_in_side_mode() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--bare", "remote.git"]);
    git(folder.path(), &["clone", "--quiet", "remote.git", "a"]);
    let clone = Clone::at(folder.path().join("a"));
    clone.init_side();
    clone.land(&[("memory.md", Some("- one\n"))]);
    let refs = git(&folder.path().join("remote.git"), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/wyren/memory");
}

#[test]
fn of_several_remotes_the_branchs_is_used() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.git(&["remote", "rename", "origin", "team.up"]);
    clone.git(&["remote", "add", "fork", "/nowhere"]);
    assert_eq!(clone.team().remote(), Some("team.up"));
    clone.land(&[("memory.md", Some("- one\n"))]);
    clone.git(&["branch", "--unset-upstream"]);
    assert_eq!(clone.team().remote(), None);
    assert_eq!(clone.team().fetch(soon()).unwrap(), Fetched::Failed(Reason::NoRemote));
}

#[test]
fn a_folder_in_no_repository_and_one_without_memory_say_so() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Team::open(folder.path(), &env_of(folder.path())), Err(Error::NoRepository(_))));
    git(folder.path(), &["init", "--quiet"]);
    assert!(matches!(Team::open(folder.path(), &env_of(folder.path())), Err(Error::NotSetUp(_))));
}

#[test]
fn started_from_a_git_hook_it_works_on_its_own_repository_and_needs_no_identity() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.git(&["config", "--unset", "user.name"]);
    clone.git(&["config", "--unset", "user.email"]);
    clone.git(&["config", "user.useConfigOnly", "true"]);
    given(&clone.team()).unwrap();
    let status = sync_once(&clone, "entry", "10000")
        .env("GIT_DIR", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "de_DE.UTF-8")
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    let author = git(&world.remote(), &["log", "--format=%an <%ae>", "wyren/memory"]);
    assert_eq!(author, "Wyren <wyren@localhost>");
}

#[test]
fn a_lock_that_a_killed_git_left_on_our_references_is_removed() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.land(&[("memory.md", Some("- one\n"))]);
    for name in ["remote", "local"] {
        let path = clone.root.join(format!(".git/refs/wyren/{name}/wyren%2Fmemory.lock"));
        let lock = fs::File::create(path).unwrap();
        lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(5)).unwrap();
    }
    let other = world.side_clone("b");
    other.land(&[("memory.md", Some("- two\n"))]);
    clone.team().fetch(soon()).unwrap();
    clone.land(&[("memory.md", Some("- one\n- three\n"))]);
}
