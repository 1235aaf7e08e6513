use crate::support::{TeamClone, TeamWorld, World, env_of, soon};
use place::{Mode, Place};
use std::fs;
use team_sync::repository::{Error, Team, init_branch, init_side, purge, take_back};

#[test]
fn side_mode_excludes_the_folder_once_and_leaves_git_as_it_was() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    let status = clone.git(&["status", "--porcelain"]);
    clone.init_side();
    clone.init_side();
    let excluded = clone.read(".git/info/exclude");
    assert_eq!(excluded.lines().filter(|line| *line == "/.wyren/").count(), 1);
    clone.write(".wyren/memory.md", "- one\n");
    assert_eq!(clone.git(&["status", "--porcelain"]), status);
    assert_eq!(clone.team().mode(), Mode::Side);
}

#[test]
fn an_exclude_file_without_a_last_newline_keeps_its_last_line() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    clone.write(".git/info/exclude", "*.log");
    clone.init_side();
    assert_eq!(clone.read(".git/info/exclude"), "*.log\n/.wyren/\n");
    fs::remove_dir_all(clone.root.join(".git/info")).unwrap();
    clone.init_side();
    assert_eq!(clone.read(".git/info/exclude"), "/.wyren/\n");
}

#[test]
fn branch_mode_ignores_what_is_not_shared_and_takes_the_exclusion_back() {
    let world = World::new(&[(".gitignore", "target\n.wyren/log\n")]);
    let clone = world.side_clone("a");
    let place = Place::find(&clone.root).unwrap();
    init_branch(&place).unwrap();
    init_branch(&place).unwrap();
    assert_eq!(clone.read(".gitignore"), "target\n.wyren/log\n.wyren/state/\n");
    assert!(!place.is_excluded());
    assert_eq!(clone.team().mode(), Mode::Branch);
}

#[test]
fn side_mode_is_refused_where_the_branch_has_the_memory() {
    let world = World::new(&[(".wyren/memory.md", "- one\n")]);
    let clone = world.clone_called("a");
    let place = Place::find(&clone.root).unwrap();
    assert!(matches!(init_side(&place, &env_of(&clone.root)), Err(Error::Tracked)));
    assert!(!place.is_excluded());
    assert_eq!(clone.team().mode(), Mode::Branch);
}

#[test]
fn a_fresh_clone_notices_the_side_branch_and_gets_the_memory() {
    let world = World::new(&[]);
    let offered = |clone: &crate::support::Clone| {
        clone.untouched(|| Team::is_offered(&clone.root, &env_of(&clone.root), soon()).unwrap().unwrap())
    };
    let early = world.clone_called("early");
    assert!(!offered(&early));
    world.side_clone("a").land(&[("memory.md", Some("- one\n")), ("broadcast/skills/s.md", Some("skill\n"))]);
    assert!(offered(&early), "asks the remote");
    let fresh = world.clone_called("fresh");
    assert!(offered(&fresh), "knows it from cloning");

    assert!(matches!(Team::open(&fresh.root, &env_of(&fresh.root)), Err(Error::NotSetUp(_))));
    fresh.init_side();
    fresh.sync();
    assert_eq!(fresh.read(".wyren/memory.md"), "- one\n");
    assert_eq!(fresh.read(".wyren/broadcast/skills/s.md"), "skill\n");
}

#[test]
fn an_unused_setup_is_removed_unless_it_is_in_use_by_now() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    let place = Place::find(&clone.root).unwrap();
    clone.write(".git/info/exclude", "*.log\n");
    let made = init_side(&place, &env_of(&clone.root)).unwrap();
    clone.team().fetch(soon()).unwrap();
    take_back(&place, made).unwrap();
    assert!(!clone.root.join(".wyren").exists());
    assert_eq!(clone.read(".git/info/exclude"), "*.log\n");

    let made = init_side(&place, &env_of(&clone.root)).unwrap();
    clone.write(".wyren/memory.md", "- of another session\n");
    take_back(&place, made).unwrap();
    assert_eq!(clone.read(".wyren/memory.md"), "- of another session\n");
    assert!(place.is_excluded());
}

#[test]
fn the_exclude_file_keeps_its_mode_when_lines_are_taken_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let path = clone.root.join(".git/info/exclude");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    init_branch(&Place::find(&clone.root).unwrap()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_purged_clone_is_as_before_and_what_a_branch_tracks_stays() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    let (status, excluded) = (clone.git(&["status", "--porcelain"]), clone.read(".git/info/exclude"));
    let refs = clone.git(&["for-each-ref"]);
    let place = Place::find(&clone.root).unwrap();
    clone.init_side();
    clone.write(".wyren/memory.md", "- one\n");
    clone.git(&["update-ref", "refs/wyren/base", "HEAD"]);
    assert!(!purge(&place, &env_of(&clone.root)).unwrap());
    assert!(!clone.root.join(".wyren").exists());
    assert_eq!((clone.git(&["status", "--porcelain"]), clone.read(".git/info/exclude")), (status, excluded));
    assert_eq!(clone.git(&["for-each-ref"]), refs);

    init_branch(&place).unwrap();
    clone.write(".wyren/memory.md", "- one\n");
    clone.git(&["add", ".wyren/memory.md"]);
    clone.git(&["commit", "--quiet", "-m", "Memory"]);
    clone.write(".wyren/log", "a line\n");
    assert!(purge(&place, &env_of(&clone.root)).unwrap());
    assert_eq!(clone.git(&["status", "--porcelain"]), "");
    assert!(!clone.root.join(".wyren/state").exists() && !clone.root.join(".wyren/log").exists());
}
