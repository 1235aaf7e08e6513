use crate::support::{ShareClone, TeamWorld, World, decisions, env_of, git, soon, try_git};
use place::{Mode, Reason};
use team_sync::Share;
use team_sync::repository::Published;

/// 1, 3, 4, 5: the tracked file is never written, and git works after every step.
#[test]
fn the_users_git_works_after_every_step_and_tracked_files_stay() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    b.write("work", "unpushed\n");
    b.commit("unpushed");
    for round in 0..3 {
        a.decide(&format!("a {round}"));
        a.land();
        b.decide(&format!("b {round}"));
        b.land();
        a.sync();
        assert_eq!(a.git(&["status", "--porcelain"]), "");
        a.git(&["pull", "--quiet", "--ff-only"]);
        b.git(&["pull", "--quiet", "--rebase"]);
        assert!(!git(&world.remote(), &["log", "--format=%s", "--all"]).contains("unpushed"));
    }
    b.git(&["push", "--quiet"]);
    a.git(&["pull", "--quiet", "--ff-only"]);
    for clone in [&a, &b] {
        clone.sync();
        assert_eq!(clone.decisions().len(), 7);
        assert_eq!(clone.share().folder().mode, Some(Mode::Branch));
    }
    assert_eq!(world.branches(), ["refs/heads/main"]);
}

/// 1: a race with a teammate's code leaves no staged deletions or reverts.
#[test]
fn a_race_with_code_of_others_shows_no_change_that_the_user_did_not_make() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.sync();
    b.write("code.rs", "fn main() {}\n");
    b.commit("code");
    b.git(&["push", "--quiet"]);
    a.decide("two");
    a.land();
    assert_eq!(a.git(&["status", "--porcelain"]), "");
    a.git(&["pull", "--quiet", "--ff-only"]);
    assert_eq!(a.read("code.rs"), "fn main() {}\n");
}

/// 13: broadcast/ need not be tracked.
#[test]
fn a_repository_without_broadcast_gets_the_memory() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.decide("two");
    a.land();
    assert_eq!(b.sync().changed, ["memory.md"]);
    assert_eq!(b.decisions(), ["one", "two"]);
}

/// 21: what was decided on one branch is known on the others, and is no removal there.
#[test]
fn branches_share_what_was_decided_and_switching_removes_nothing() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    a.git(&["switch", "--quiet", "--create", "topic"]);
    a.git(&["push", "--quiet", "--set-upstream", "origin", "topic"]);
    a.decide("on topic");
    a.land();
    a.git(&["switch", "--quiet", "main"]);
    assert_eq!(a.decisions(), ["one", "on topic"]);
    a.land();
    a.git(&["switch", "--quiet", "topic"]);
    a.sync();
    assert_eq!(a.decisions(), ["one", "on topic"]);
    for branch in ["main", "topic"] {
        assert!(world.shared(branch, "memory.md").unwrap().contains("- on topic"), "{branch}");
    }
}

/// Returns a clone on main, and puts an entry on the branch `topic` of the remote that main does not have.
fn beside_a_topic(world: &World) -> crate::support::Clone {
    let (mine, teammate) = (world.clone_called("mine"), world.clone_called("teammate"));
    teammate.git(&["switch", "--quiet", "--create", "topic"]);
    teammate.write(".wyren/memory.md", &decisions(&["one", "on topic"]));
    teammate.commit("topic");
    teammate.git(&["push", "--quiet", "--set-upstream", "origin", "topic"]);
    mine
}

/// Switches to the branch that a teammate has made.
#[track_caller]
fn switch_to_topic(mine: &crate::support::Clone) {
    mine.git(&["fetch", "--quiet"]);
    mine.git(&["switch", "--quiet", "topic"]);
}

#[track_caller]
fn check_topic(world: &World, mine: &crate::support::Clone, expected: &[&str]) {
    let shared = world.shared("topic", "memory.md").unwrap();
    for entry in expected {
        assert!(shared.contains(&format!("- {entry}")), "{shared}");
    }
    assert_eq!(mine.sorted_decisions(), expected);
}

#[test]
fn a_teammates_entry_on_another_branch_survives_my_switch_to_it() {
    let world = World::with_memory(&["one"]);
    let mine = beside_a_topic(&world);
    mine.sync();
    switch_to_topic(&mine);
    mine.sync();
    check_topic(&world, &mine, &["on topic", "one"]);
    mine.decide("two");
    mine.land();
    check_topic(&world, &mine, &["on topic", "one", "two"]);
    // What is removed after that is removed.
    mine.take_back("on topic");
    mine.land();
    check_topic(&world, &mine, &["one", "two"]);
    assert!(!world.shared("topic", "memory.md").unwrap().contains("- on topic"));
}

#[test]
fn a_look_at_another_branch_alone_removes_nothing_later() {
    let world = World::with_memory(&["one"]);
    let mine = beside_a_topic(&world);
    mine.sync();
    switch_to_topic(&mine);
    mine.share().pull(soon()).unwrap();
    mine.decide("two");
    mine.land();
    check_topic(&world, &mine, &["on topic", "one", "two"]);
}

#[test]
fn what_was_decided_before_the_first_sync_takes_nothing_from_another_branch() {
    let world = World::with_memory(&["one"]);
    let mine = beside_a_topic(&world);
    mine.decide("two");
    switch_to_topic(&mine);
    mine.land();
    check_topic(&world, &mine, &["on topic", "one", "two"]);
}

#[test]
fn what_a_branch_removed_since_they_parted_stays_removed_after_a_switch() {
    let world = World::with_memory(&["one", "old"]);
    let mine = beside_a_topic(&world);
    mine.sync();
    switch_to_topic(&mine);
    mine.sync();
    check_topic(&world, &mine, &["on topic", "one"]);
    assert!(!world.shared("topic", "memory.md").unwrap().contains("- old"));
}

#[test]
fn a_copy_that_git_cleaned_away_takes_nothing_from_the_others() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    b.decide("two");
    b.land();
    a.sync();
    let clean = || a.git(&["clean", "--quiet", "-fdx"]);
    clean();
    a.decide("three");
    a.land();
    clean();
    a.write(".wyren/memory.md", &decisions(&["one", "by hand"]));
    a.land();
    let shared = world.shared("main", "memory.md").unwrap();
    for entry in ["one", "two", "three", "by hand"] {
        assert!(shared.contains(&format!("- {entry}")), "{entry}: {shared}");
    }
}

/// A copy that is begun anew on one branch knows nothing of what another branch had.
#[test]
fn a_copy_that_was_lost_and_begun_anew_on_one_branch_takes_nothing_from_another() {
    type Begin = (&'static str, fn(&crate::support::Clone));
    let ways: [Begin; 3] = [
        ("sync", |mine| drop(mine.sync())),
        ("decide", |mine| mine.decide("three")),
        ("by hand", |mine| {
            mine.write(".wyren/memory.md", &decisions(&["one", "three"]));
            mine.share().fold(soon()).unwrap();
        }),
    ];
    for (way, begin) in ways {
        let world = World::with_memory(&["one"]);
        let mine = beside_a_topic(&world);
        mine.sync();
        switch_to_topic(&mine);
        mine.sync();
        mine.git(&["switch", "--quiet", "main"]);
        mine.git(&["clean", "--quiet", "-fdx"]);
        begin(&mine);
        mine.git(&["checkout", "--quiet", "--", "."]);
        mine.sync();
        mine.git(&["switch", "--quiet", "topic"]);
        mine.sync();
        let shared = world.shared("topic", "memory.md").unwrap();
        assert!(shared.contains("- on topic") && shared.contains("- one"), "{way}: {shared}");
        assert!(mine.decisions().contains(&"on topic".to_owned()), "{way}");
        // From here on it knows the branch: what is removed is removed.
        mine.take_back("on topic");
        mine.land();
        assert!(!world.shared("topic", "memory.md").unwrap().contains("- on topic"), "{way}");
    }
}

#[test]
fn what_waited_for_the_remote_survives_the_loss_of_the_copy() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.sync();
    b.decide("two");
    b.land();
    a.decide("waits");
    let away = world.path().join("away");
    std::fs::rename(world.remote(), &away).unwrap();
    a.sync();
    a.git(&["clean", "--quiet", "-fdx"]);
    assert_eq!(a.decisions(), ["one", "waits"]);
    a.sync();
    assert_eq!(a.decisions(), ["one", "waits"]);
    std::fs::rename(&away, world.remote()).unwrap();
    a.land();
    assert_eq!(a.sorted_decisions(), ["one", "two", "waits"]);
    assert!(world.shared("main", "memory.md").unwrap().contains("- waits"));
}

/// A repository cannot have a file from elsewhere published.
#[test]
fn a_memory_that_is_a_link_is_not_read() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    std::fs::write(world.path().join("elsewhere"), "- not for others\n").unwrap();
    std::fs::remove_file(a.root.join(".wyren/memory.md")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", a.root.join(".wyren/memory.md")).unwrap();
    let refused = a.share().memory();
    assert!(
        matches!(refused, Err(team_sync::Error::Sync(team_sync::repository::Error::Link(_)))),
        "{refused:?}"
    );
    let refused = a.share().change("Ada", "decided", Clone::clone);
    assert!(
        matches!(refused, Err(team_sync::Error::Sync(team_sync::repository::Error::Link(_)))),
        "{refused:?}"
    );
    assert!(!a.root.join(".wyren/state/memory.md").exists());
}

#[test]
fn a_repository_that_git_cannot_share_says_why() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--object-format=sha256"]);
    let clone = crate::support::Clone { root: folder.path().to_owned() };
    clone.write(".wyren/memory.md", &decisions(&["one"]));
    let published = clone.share().sync(None, soon()).unwrap().published;
    let Published::Queued(Reason::Unusable(words)) = published else { panic!("{published:?}") };
    assert!(words.contains("SHA-256"), "{words}");
}

#[test]
fn branches_whose_names_contain_each_other_both_work() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    for branch in ["x", "y/z"] {
        a.git(&["push", "--quiet", "origin", &format!("main:refs/heads/{branch}")]);
        a.git(&["switch", "--quiet", "--create", branch, "--no-track"]);
        a.decide(&format!("on {branch}"));
        a.land();
        a.git(&["push", "--quiet", "origin", &format!(":refs/heads/{branch}")]);
        a.git(&["switch", "--quiet", "main"]);
        a.git(&["branch", "--quiet", "-D", branch]);
    }
    for branch in ["x/y", "y"] {
        a.git(&["push", "--quiet", "origin", &format!("main:refs/heads/{branch}")]);
        a.git(&["switch", "--quiet", "--create", branch, "--no-track"]);
        a.decide(&format!("on {branch}"));
        a.land();
    }
}

#[test]
fn a_branch_that_was_deleted_on_the_remote_is_no_rewriting() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    a.git(&["switch", "--quiet", "--create", "topic"]);
    a.git(&["push", "--quiet", "--set-upstream", "origin", "topic"]);
    a.sync();
    git(&world.remote(), &["update-ref", "-d", "refs/heads/topic"]);
    a.decide("later");
    let synced = a.sync();
    assert_eq!(synced.published, Published::Queued(Reason::NotOnRemote("topic".to_owned())));
    assert_eq!(synced.rewritten, None);
    a.git(&["switch", "--quiet", "main"]);
    a.land();
    assert!(world.shared("main", "memory.md").unwrap().contains("- later"));
}

#[test]
fn a_memory_that_is_not_committed_is_not_published_so_that_pull_works() {
    let world = World::new(&[]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    team_sync::init(&a.root, &env_of(&a.root), team_sync::Wish::Branch, soon()).unwrap();
    a.decide("mine");
    let synced = a.sync();
    assert_eq!(synced.published, Published::Queued(Reason::NotCommitted));
    assert_eq!(a.decisions(), ["mine"]);
    b.write("code", "x\n");
    b.commit("code");
    b.git(&["push", "--quiet"]);
    a.git(&["pull", "--quiet", "--ff-only"]);
    a.commit("memory");
    a.git(&["push", "--quiet"]);
    a.land();
    assert!(world.shared("main", "memory.md").unwrap().contains("- mine"));
    a.git(&["pull", "--quiet", "--ff-only"]);
}

#[test]
fn without_a_remote_the_file_itself_is_written_and_nothing_committed() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    std::fs::create_dir(folder.path().join(".wyren")).unwrap();
    std::fs::write(folder.path().join(".wyren/memory.md"), decisions(&["one"])).unwrap();
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "m"]);
    let clone = crate::support::Clone { root: folder.path().to_owned() };
    clone.decide("two");
    assert_eq!(clone.read(".wyren/memory.md"), decisions(&["one", "two"]));
    let synced = clone.share().sync(None, soon()).unwrap();
    assert_eq!(synced.published, Published::Queued(Reason::NoRemote));
    assert_eq!(clone.git(&["log", "--format=%s"]), "m");
    let refs = ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/wyren/local"];
    assert_eq!(clone.git(&refs), "refs/heads/main");
}

#[test]
fn a_remote_that_comes_later_gets_what_was_written_without_one() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    let address = a.git(&["remote", "get-url", "origin"]);
    a.git(&["remote", "remove", "origin"]);
    a.decide("two");
    assert!(a.read(".wyren/memory.md").contains("- two"));
    a.git(&["remote", "add", "origin", &address]);
    a.land();
    assert!(world.shared("main", "memory.md").unwrap().contains("- two"));
}

#[test]
fn outside_a_repository_the_memory_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    team_sync::init(folder.path(), &env_of(folder.path()), team_sync::Wish::Any, soon()).unwrap();
    let clone = crate::support::Clone { root: folder.path().to_owned() };
    clone.decide("alone");
    assert!(clone.read(".wyren/memory.md").contains("- alone"));
    let share = Share::open(folder.path(), &env_of(folder.path())).unwrap();
    assert_eq!(share.sync(None, soon()).unwrap().published, Published::Queued(Reason::NoRemote));
    assert!(share.history().unwrap().removals.is_empty());
    assert!(!share.author().is_empty());
}

#[test]
fn a_branch_without_a_memory_gets_none_from_us_and_still_reads_it() {
    let world = World::new(&[IGNORED_ONLY]);
    let a = world.clone_called("a");
    a.git(&["switch", "--quiet", "--create", "with"]);
    a.write(".wyren/memory.md", &decisions(&["one"]));
    a.commit("memory");
    a.git(&["push", "--quiet", "--set-upstream", "origin", "with"]);
    a.sync();
    a.git(&["switch", "--quiet", "main"]);
    assert_eq!(a.decisions(), ["one"]);
    a.decide("two");
    assert_eq!(a.sync().published, Published::Queued(Reason::NotCommitted));
    let (is_there, _) = try_git(&world.remote(), &["cat-file", "-e", "main:.wyren/memory.md"]);
    assert!(!is_there);
    a.git(&["switch", "--quiet", "with"]);
    a.land();
    assert!(world.shared("with", "memory.md").unwrap().contains("- two"));
}

const IGNORED_ONLY: (&str, &str) = crate::support::IGNORED;
