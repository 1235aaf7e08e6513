use crate::support::{ShareClone, TeamWorld, World, decisions, env_of, soon};
use place::Mode;
use team_sync::{Error, Share, Wish, current_mode, discover, init, seed_from_claude_md};

const FRESH: &str = "# Wyren Memory\n<!-- Populated by distiller. Edit manually to seed context. -->\n";

#[test]
fn side_mode_is_the_default_and_leaves_git_as_it_was() {
    let world = World::new(&[("CLAUDE.md", "Be brief.\n")]);
    let a = world.clone_called("a");
    let setup = init(&a.root.join("."), &env_of(&a.root), Wish::Any, soon()).unwrap();
    assert_eq!((setup.mode, setup.is_old), (Some(Mode::Side), false));
    assert_eq!(a.read(".wyren/memory.md"), FRESH);
    assert_eq!(a.git(&["status", "--porcelain"]), "");
    assert!(!a.root.join(".gitignore").exists());
    let again = a.untouched(|| init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap());
    assert!(again.is_old);
}

#[test]
fn a_second_clone_joins_the_memory_that_is_there() {
    let world = World::new(&[("CLAUDE.md", "Be brief.\n")]);
    let a = world.clone_called("a");
    init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap();
    a.decide("one");
    a.land();
    let b = world.clone_called("b");
    let setup = init(&b.root, &env_of(&b.root), Wish::Any, soon()).unwrap();
    assert!(setup.is_joined);
    assert!(!seed_from_claude_md(&setup).unwrap(), "a memory that others have is not seeded");
    assert_eq!(b.memory(), a.memory());
}

#[test]
fn branch_mode_writes_the_files_of_the_node_version_and_commits_nothing() {
    let world = World::new(&[(".gitignore", "target")]);
    let a = world.clone_called("a");
    let setup = init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap();
    assert_eq!(setup.mode, Some(Mode::Branch));
    assert_eq!(a.read(".wyren/memory.md"), FRESH);
    assert_eq!(a.read(".gitignore"), "target\n.wyren/state/\n.wyren/log\n");
    for keep in ["broadcast/.gitkeep", "broadcast/skills/.gitkeep"] {
        assert_eq!(a.read(&format!(".wyren/{keep}")), "");
    }
    assert_eq!(a.git(&["status", "--porcelain"]), " M .gitignore\n?? .wyren/");
    assert!(init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap().is_old);
}

#[test]
fn a_repository_of_the_node_version_works_unchanged() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    let setup = a.untouched(|| init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap());
    assert_eq!((setup.mode, setup.is_old), (Some(Mode::Branch), true));
    assert_eq!(a.decisions(), ["one"]);
    let refused = init(&a.root, &env_of(&a.root), Wish::Side, soon());
    assert!(
        matches!(refused, Err(team_sync::Error::Sync(team_sync::repository::Error::Tracked))),
        "{refused:?}"
    );
}

#[test]
fn a_fresh_clone_discovers_the_memory_and_nothing_is_made_without_one() {
    let world = World::new(&[]);
    let early = world.clone_called("early");
    let before = early.read(".git/info/exclude");
    assert_eq!(discover(&early.root, &env_of(&early.root), soon()).unwrap(), None);
    assert!(!early.root.join(".wyren").exists());
    assert_eq!(early.read(".git/info/exclude"), before);

    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one"]));
    a.land();
    let fresh = world.clone_called("fresh");
    let status = fresh.git(&["status", "--porcelain"]);
    assert!(discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap().unwrap().is_joined);
    assert_eq!(fresh.decisions(), ["one"]);
    assert_eq!(fresh.git(&["status", "--porcelain"]), status);
    assert_eq!(discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap(), None);

    // The clone knows of the branch, and the remote is away.
    let late = world.clone_called("late");
    let before = late.read(".git/info/exclude");
    std::fs::rename(world.remote(), world.path().join("away")).unwrap();
    assert_eq!(discover(&late.root, &env_of(&late.root), soon()).unwrap(), None);
    assert!(!late.root.join(".wyren").exists());
    assert_eq!(late.read(".git/info/exclude"), before);
}

#[test]
fn a_clone_that_wants_no_memory_gets_none() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one"]));
    a.land();
    let fresh = world.clone_called("fresh");
    fresh.git(&["config", "wyren.discover", "false"]);
    assert_eq!(discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap(), None);
    assert!(!fresh.root.join(".wyren").exists());
    fresh.git(&["config", "wyren.discover", "true"]);
    assert!(discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap().is_some());
}

#[test]
fn review_7_a_memory_that_was_found_is_ignored_at_once_and_init_joins_it() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one"]));
    a.land();
    let fresh = world.clone_called("fresh");
    discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap().unwrap();
    let opens = || Share::open(&fresh.root, &env_of(&fresh.root)).is_ok();
    let is_used = || place::Folder::find(&fresh.root).is_some();
    assert!(is_used() && opens());
    fresh.git(&["config", "wyren.discover", "false"]);
    assert!(!is_used() && !opens());
    // A clone whose user ran `wyren init` has joined, whatever the configuration says.
    let setup = init(&fresh.root, &env_of(&fresh.root), Wish::Any, soon()).unwrap();
    assert!(setup.is_old && is_used() && opens());
    assert_eq!(fresh.decisions(), ["one"]);
}

#[test]
fn side_mode_can_become_branch_mode() {
    let world = World::new(&[]);
    let a = world.clone_called("a");
    init(&a.root, &env_of(&a.root), Wish::Side, soon()).unwrap();
    a.decide("one");
    a.land();
    let setup = init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap();
    assert_eq!((setup.mode, setup.is_old), (Some(Mode::Branch), false));
    a.commit("memory");
    a.git(&["push", "--quiet"]);
    a.sync();
    assert_eq!(a.decisions(), ["one"]);
    assert!(world.shared("main", "memory.md").unwrap().contains("- one"));
}

#[test]
fn branch_mode_can_become_side_mode_and_nothing_is_left_behind() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    b.decide("two");
    b.share().broadcast_skill("review.md", b"look once\n").unwrap();
    b.land();
    a.sync();
    a.git(&["pull", "--quiet", "--ff-only"]);
    b.decide("three");
    b.share().broadcast_skill("review.md", b"look twice\n").unwrap();
    b.land();
    a.sync();
    a.write(".wyren/state/lessons/new.md", "# new\n");
    a.git(&["rm", "--quiet", "-r", "--cached", ".wyren"]);
    a.git(&["commit", "--quiet", "--message", "no memory here"]);
    let setup = init(&a.root, &env_of(&a.root), Wish::Side, soon()).unwrap();
    assert_eq!((setup.mode, setup.is_old), (Some(Mode::Side), false));
    a.land();
    assert_eq!(a.decisions(), ["one", "two", "three"]);
    assert_eq!(place::Folder::find(&a.root).unwrap().mode, Some(Mode::Side));
    assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("- three"));
    assert_eq!(world.shared("wyren/memory", "broadcast/skills/review.md").as_deref(), Some("look twice"));
    assert_eq!(a.read(".wyren/lessons/new.md"), "# new\n");
    for copied in ["memory.md", "broadcast", "lessons"] {
        assert!(!a.root.join(".wyren/state").join(copied).exists(), "{copied}");
    }
}

#[test]
fn d8_branch_mode_has_git_keep_both_sides_of_the_memory_where_none_says_otherwise() {
    let world = World::new(&[]);
    let a = world.clone_called("a");
    let setup = init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap();
    assert!(setup.has_new_attributes);
    assert_eq!(a.read(".wyren/.gitattributes"), "memory.md merge=union\n");
    assert!(!a.root.join(".gitattributes").exists());
    assert_eq!(a.git(&["check-attr", "merge", ".wyren/memory.md"]), ".wyren/memory.md: merge: union");
    a.write(".wyren/memory.md", &decisions(&["one"]));
    a.commit("memory");
    a.git(&["push", "--quiet"]);
    // Two add an entry in the same place, and neither has to resolve a conflict.
    let b = world.clone_called("b");
    a.write(".wyren/memory.md", &decisions(&["one", "of a"]));
    a.commit("a");
    a.git(&["push", "--quiet"]);
    b.write(".wyren/memory.md", &decisions(&["one", "of b"]));
    b.commit("b");
    b.git(&["pull", "--quiet", "--no-rebase", "--no-edit"]);
    b.sync();
    assert_eq!(b.sorted_decisions(), ["of a", "of b", "one"]);
    // It went with the user's commit. A sync neither publishes nor changes it.
    a.write(".wyren/.gitattributes", "memory.md merge=union\nmemory.md -text\n");
    a.decide("two");
    a.land();
    assert_eq!(world.shared("main", ".gitattributes").as_deref(), Some("memory.md merge=union"));
}

#[test]
fn d8_attributes_of_the_users_and_a_memory_that_is_set_up_stay_as_they_are() {
    let world = World::new(&[(".wyren/.gitattributes", "memory.md merge=ours\n")]);
    let a = world.clone_called("a");
    let setup = init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap();
    assert!(!setup.has_new_attributes && !setup.is_old);
    assert_eq!(a.read(".wyren/.gitattributes"), "memory.md merge=ours\n");

    let world = World::new(&[]);
    let a = world.clone_called("a");
    std::fs::create_dir(a.root.join(".wyren")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", a.root.join(".wyren/.gitattributes")).unwrap();
    assert!(!init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap().has_new_attributes);
    assert!(!a.root.join("elsewhere").exists());

    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    let again = a.untouched(|| init(&a.root, &env_of(&a.root), Wish::Branch, soon()).unwrap());
    assert!(again.is_old && !again.has_new_attributes);

    let world = World::new(&[]);
    let a = world.clone_called("a");
    init(&a.root, &env_of(&a.root), Wish::Side, soon()).unwrap();
    assert!(!a.root.join(".wyren/.gitattributes").exists());
}

#[test]
fn c2_the_memory_begins_with_claude_md_only_when_that_is_asked_for() {
    let world = World::new(&[("CLAUDE.md", "Be brief.\n")]);
    let a = world.clone_called("a");
    let setup = init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap();
    assert_eq!(a.read(".wyren/memory.md"), FRESH);
    assert!(seed_from_claude_md(&setup).unwrap());
    let seeded = a.read(".wyren/memory.md");
    assert!(seeded.starts_with(FRESH) && seeded.contains("## Seeded from CLAUDE.md"), "{seeded}");
    assert!(!seed_from_claude_md(&setup).unwrap(), "once");
    let again = init(&a.root, &env_of(&a.root), Wish::Any, soon()).unwrap();
    assert!(!seed_from_claude_md(&again).unwrap());
    assert_eq!(a.read(".wyren/memory.md"), seeded);
}

#[test]
fn c5_back_in_side_mode_gitignore_is_as_it_was_before_branch_mode() {
    for before in [None, Some("target\n"), Some("target\n.wyren/log\n")] {
        let files: Vec<(&str, &str)> = before.map(|text| (".gitignore", text)).into_iter().collect();
        let world = World::new(&files);
        let a = world.clone_called("a");
        assert_eq!(current_mode(&a.root, &env_of(&a.root)).unwrap(), None);
        for (wish, mode) in [(Wish::Side, Mode::Side), (Wish::Branch, Mode::Branch), (Wish::Side, Mode::Side)]
        {
            init(&a.root, &env_of(&a.root), wish, soon()).unwrap();
            assert_eq!(current_mode(&a.root, &env_of(&a.root)).unwrap(), Some(mode));
            let has_lines =
                a.root.join(".gitignore").exists() && a.read(".gitignore").contains(".wyren/state/");
            assert_eq!(has_lines, mode == Mode::Branch);
        }
        let after = a.root.join(".gitignore").exists().then(|| a.read(".gitignore"));
        assert_eq!(after.as_deref(), before);
        assert_eq!(a.git(&["status", "--porcelain"]), "");
    }
}

#[cfg(unix)]
#[test]
fn c21_the_root_and_the_home_folder_get_no_memory_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let (home, link) = (folder.path().join("home"), folder.path().join("link"));
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let check = |cwd: &std::path::Path, home: &std::path::Path| {
        let env = base::Env::fixed([("HOME", home), ("WYREN_DATA_DIR", folder.path())]);
        let refused = init(cwd, &env, Wish::Any, soon());
        assert!(matches!(refused, Err(Error::TooWide(_))), "{}: {refused:?}", cwd.display());
    };
    check(&home, &home);
    check(&link, &home);
    check(&home, &link);
    check(std::path::Path::new("/"), &home);
    fixture::git(&home, &["init", "--quiet"]);
    check(&home, &home);
    assert!(!home.join(".wyren").exists());
}

#[test]
fn c21_outside_a_repository_only_the_folder_of_the_memory_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("notes");
    std::fs::create_dir(&root).unwrap();
    init(&root, &env_of(folder.path()), Wish::Any, soon()).unwrap();
    let names: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [".wyren"]);
    // Once it is a repository, what is never shared stays out of its commits.
    fixture::git(&root, &["init", "--quiet"]);
    fixture::git(&root, &["add", "--all"]);
    let listed = fixture::git(&root, &["ls-files"]);
    assert!(listed.contains(".wyren/memory.md") && !listed.contains(".wyren/state"), "{listed}");
}
