use crate::support::{TeamClone, TeamWorld, World, git, given, publish_files, remote_file, soon, text};
use place::{Reason, Verdict};
use std::fs;
use team_sync::repository::{ByLine, Error, Fetched, Outgoing, Published};

#[test]
fn the_first_publication_makes_the_branch_and_the_next_ones_go_on_top() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.land(&[("memory.md", Some("- one\n"))]);
    clone.land(&[("memory.md", Some("- one\n- two\n")), ("lessons/l.md", Some("lesson\n"))]);
    assert_eq!(world.branches(), ["refs/heads/main", "refs/heads/wyren/memory"]);
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one\n- two"));
    assert_eq!(world.shared("wyren/memory", "lessons/l.md").as_deref(), Some("lesson"));
    let log = git(&world.remote(), &["log", "--format=%an <%ae> %s", "wyren/memory"]);
    let line = "Ada <ada@example.org> [wyren] memory update (session 01234567)";
    assert_eq!(log, format!("{line}\n{line}"));
    let tree = git(&world.remote(), &["ls-tree", "-r", "--name-only", "wyren/memory"]);
    assert_eq!(tree, ".wyren/lessons/l.md\n.wyren/memory.md", "nothing else is on the branch");
}

#[test]
fn a_second_clone_keeps_both_entries() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/memory.md", "- from a\n");
    b.write(".wyren/memory.md", "- from b\n");
    a.sync();
    b.sync();
    a.sync();
    for clone in [&a, &b] {
        assert_eq!(clone.read(".wyren/memory.md"), "- from a\n- from b\n");
    }
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- from a\n- from b"));
}

#[test]
fn publishing_the_same_again_does_nothing_and_contacts_no_remote() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.land(&[("memory.md", Some("- one\n"))]);
    let tip = clone.state().tip;
    fs::rename(world.remote(), world.path().join("away")).unwrap();
    assert_eq!(clone.publish(&[("memory.md", Some("- one\n"))]), Published::Nothing);
    assert_eq!(clone.publish(&[]), Published::Nothing);
    assert_eq!(clone.state().tip, tip);
}

#[test]
fn a_removal_reaches_the_others_and_an_entry_that_they_removed_does_not_come_back() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/memory.md", "- one\n- two\n");
    a.write(".wyren/broadcast/x.md", "x\n");
    a.sync();
    b.sync();
    b.write(".wyren/memory.md", "- two\n- three\n");
    b.land(&[("memory.md", Some("- two\n- three\n")), ("broadcast/x.md", None)]);
    // Published from a copy that has not seen the removal.
    a.write(".wyren/memory.md", "- one\n- two\n- four\n");
    a.sync();
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- two\n- three\n- four"));
    assert_eq!(a.read(".wyren/memory.md"), "- two\n- three\n- four\n");
    assert!(!a.root.join(".wyren/broadcast/x.md").exists());
    assert_eq!(world.shared("wyren/memory", "broadcast/x.md"), None);
}

#[test]
fn what_landed_and_was_removed_by_others_does_not_come_back_without_a_checkout() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.land(&[("memory.md", Some("- one\n- two\n"))]);
    b.sync();
    b.land(&[("memory.md", Some("- two\n"))]);
    a.land(&[("memory.md", Some("- one\n- two\n- three\n"))]);
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- two\n- three"));
}

#[test]
fn local_edits_survive_any_number_of_checkouts() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.land(&[("memory.md", Some("- one\n"))]);
    b.sync();
    b.write(".wyren/memory.md", "- one\n- by hand\n");
    for round in 0..3 {
        a.sync();
        let more = format!("{}- round {round}\n", a.read(".wyren/memory.md"));
        a.write(".wyren/memory.md", &more);
        a.sync();
        let team = b.team();
        b.untouched(|| team.fetch(soon()).unwrap());
        b.untouched(|| team.checkout(&ByLine, soon()).unwrap());
        assert!(b.read(".wyren/memory.md").contains("- by hand\n"));
        assert!(b.read(".wyren/memory.md").contains(&format!("- round {round}\n")));
    }
    assert!(!world.shared("wyren/memory", "memory.md").unwrap().contains("by hand"));
    b.sync();
    assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("by hand"));
}

#[test]
fn d3_a_deleted_folder_removes_nothing_from_the_team_and_comes_back_when_it_joins_again() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.write(".wyren/memory.md", "- one\n");
    clone.write(".wyren/broadcast/x.md", "x\n");
    clone.sync();
    fs::remove_dir_all(clone.root.join(".wyren")).unwrap();
    // D3: only joining anew makes the folder again.
    let team = clone.team();
    assert!(team.exchange(Some(&Outgoing::with(&given(&team).unwrap())), &ByLine, soon()).is_err());
    assert!(!clone.root.join(".wyren").exists());
    clone.init_side();
    clone.sync();
    assert_eq!(clone.read(".wyren/memory.md"), "- one\n");
    assert_eq!(clone.read(".wyren/broadcast/x.md"), "x\n");
    assert_eq!(world.shared("wyren/memory", "broadcast/x.md").as_deref(), Some("x"));
}

#[test]
fn what_is_queued_offline_goes_with_the_next_publication() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.land(&[("memory.md", Some("- one\n"))]);
    let away = world.path().join("away");
    fs::rename(world.remote(), &away).unwrap();
    // The fetch just before counts as fresh, so it is the push that fails.
    let published = clone.publish(&[("broadcast/x.md", Some("x\n"))]);
    assert!(matches!(published, Published::Queued(Reason::Unreachable(_))), "{published:?}");
    assert!(clone.team().has_queued().unwrap());
    fs::rename(away, world.remote()).unwrap();
    let published = clone.publish(&[("memory.md", Some("- one\n- two\n"))]);
    assert!(matches!(published, Published::Queued(Reason::BackingOff(_))), "{published:?}");
    let team = clone.team().insistent();
    let published = clone.untouched(|| publish_files(&team, &[], soon()).unwrap());
    assert!(matches!(published, Published::Landed(_)), "{published:?}");
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one\n- two"));
    assert_eq!(world.shared("wyren/memory", "broadcast/x.md").as_deref(), Some("x"));
    assert!(!clone.team().has_queued().unwrap());
}

#[test]
fn a_fetch_says_what_happened_and_what_can_be_read() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    let team = b.team();
    let fetch = || match b.untouched(|| team.fetch(soon()).unwrap()) {
        Fetched::Done { verdict, tip, previous } => {
            let state = b.state();
            assert_eq!((state.verdict, &state.tip, &state.previous), (Some(verdict), &tip, &previous));
            verdict
        }
        failed => panic!("{failed:?}"),
    };
    assert_eq!(fetch(), Verdict::Absent);
    assert_eq!(remote_file(&team, "memory.md").unwrap(), None);
    a.land(&[("memory.md", Some("- one\n"))]);
    assert_eq!(fetch(), Verdict::New);
    assert_eq!(fetch(), Verdict::Unchanged);
    a.land(&[("memory.md", Some("- two\n")), ("lessons/l", Some("l\n"))]);
    assert_eq!(fetch(), Verdict::FastForward);
    assert_eq!(text(remote_file(&team, "memory.md").unwrap()).as_deref(), Some("- two\n"));
    assert_eq!(team.remote_files().unwrap(), ["lessons/l", "memory.md"]);
    assert_eq!(team.last_file("memory.md").unwrap(), None);
    team.checkout(&ByLine, soon()).unwrap();
    assert_eq!(text(team.last_file("memory.md").unwrap()).as_deref(), Some("- two\n"));
    assert_eq!(team.head_file("memory.md").unwrap(), None);
    assert!(matches!(remote_file(&team, "../README"), Err(Error::NotShared(_))));
}

#[test]
fn other_files_of_the_branch_stay_and_links_are_not_followed() {
    let world = World::new(&[]);
    world.side_clone("a").land(&[("memory.md", Some("- one\n"))]);
    let hand = world.clone_with("hand", &["--branch=wyren/memory"]);
    hand.write("notes.txt", "by hand\n");
    hand.write(".wyren/config.toml", "x = 1\n");
    std::os::unix::fs::symlink("/etc/passwd", hand.root.join(".wyren/lessons")).unwrap();
    hand.commit("by hand");
    hand.git(&["push", "--quiet"]);

    let clone = world.side_clone("b");
    clone.write(".wyren/memory.md", "- two\n");
    clone.sync();
    let tree = git(&world.remote(), &["ls-tree", "-r", "--name-only", "wyren/memory"]);
    assert_eq!(tree, ".wyren/config.toml\n.wyren/lessons\n.wyren/memory.md\nnotes.txt");
    assert!(!clone.root.join(".wyren/lessons").exists());
    assert!(!clone.root.join(".wyren/config.toml").exists());

    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, clone.root.join(".wyren/broadcast")).unwrap();
    world.side_clone("c").land(&[("broadcast/x.md", Some("x\n"))]);
    let team = clone.team();
    team.fetch(soon()).unwrap();
    assert!(matches!(team.checkout(&ByLine, soon()), Err(Error::Link(_))));
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

#[test]
fn executable_files_stay_executable_and_paths_that_are_not_shared_are_refused() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.land(&[("broadcast/run.sh", Some("one\n"))]);
    let hand = world.clone_with("hand", &["--branch=wyren/memory"]);
    hand.git(&["update-index", "--chmod=+x", ".wyren/broadcast/run.sh"]);
    hand.git(&["commit", "--quiet", "--message", "run"]);
    hand.git(&["push", "--quiet"]);
    clone.land(&[("broadcast/run.sh", Some("two\n"))]);
    let tree = git(&world.remote(), &["ls-tree", "-r", "wyren/memory"]);
    assert!(tree.starts_with("100755 "), "{tree}");
    let refused = publish_files(&clone.team(), &[("state/other.json", None)], soon());
    assert!(matches!(refused, Err(Error::NotShared(_))), "{refused:?}");
}

#[test]
fn the_users_pull_and_push_work_and_unpushed_commits_stay_unpushed() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    b.write("work", "unpushed\n");
    b.commit("unpushed");
    b.write("README", "stashed\n");
    b.git(&["stash", "--quiet"]);
    for clone in [&a, &b] {
        clone.write(".wyren/memory.md", "- one\n");
        clone.sync();
    }
    let main = git(&world.remote(), &["log", "--format=%s", "main"]);
    assert_eq!(main, "begin");
    a.git(&["pull", "--quiet", "--ff-only"]);
    a.write("more", "more\n");
    a.commit("more");
    a.git(&["push", "--quiet"]);
    b.sync();
    b.git(&["pull", "--quiet", "--rebase"]);
    b.git(&["push", "--quiet"]);
    b.git(&["stash", "pop", "--quiet"]);
    b.sync();
    assert_eq!(b.git(&["status", "--porcelain"]), " M README");
    let main = git(&world.remote(), &["log", "--format=%s", "main"]);
    assert_eq!(main, "unpushed\nmore\nbegin");
}

#[test]
fn what_the_user_tracks_on_a_branch_of_theirs_is_not_ours_to_share_or_to_write() {
    let world = World::new(&[(".wyren/lessons/tracked.md", "tracked\n")]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/memory.md", "- one\n");
    a.sync();
    assert_eq!(world.shared("wyren/memory", "lessons/tracked.md"), None);
    // A teammate shared one of that name all the same.
    let hand = world.clone_with("hand", &["--branch=wyren/memory"]);
    hand.write(".wyren/lessons/tracked.md", "from elsewhere\n");
    hand.commit("by hand");
    hand.git(&["push", "--quiet"]);
    for clone in [&a, &b] {
        clone.sync();
        clone.write(".wyren/memory.md", &format!("{}- more\n", clone.read(".wyren/memory.md")));
        clone.sync();
        assert_eq!(clone.read(".wyren/lessons/tracked.md"), "tracked\n");
        assert_eq!(clone.git(&["status", "--porcelain"]), "");
    }
    let shared = world.shared("wyren/memory", "lessons/tracked.md");
    assert_eq!(shared.as_deref(), Some("from elsewhere"), "it was not removed");
}
