use crate::support::{Clone, ShareClone, TeamWorld, World, data_of, env_of, git, soon};
use place::{Mode, Reason};
use team_sync::Share;
use team_sync::repository::Published;

#[test]
fn decisions_of_both_clones_reach_both() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.decide("use Postgres");
    b.decide("use Redis");
    a.land();
    let synced = b.land();
    assert_eq!(synced.changed, ["memory.md"]);
    a.sync();
    for clone in [&a, &b] {
        assert_eq!(clone.sorted_decisions(), ["use Postgres", "use Redis"]);
    }
    assert_eq!(a.sync().published, Published::Nothing);
    assert_eq!(world.branches(), ["refs/heads/main", "refs/heads/wyren/memory"]);
}

/// 2: both sides survive a push that others outran, in the same run.
#[test]
fn entries_of_many_clones_land_in_one_run_each() {
    let world = World::new(&[]);
    let clones: Vec<Clone> = (0..4).map(|number| world.side_clone(&format!("c{number}"))).collect();
    std::thread::scope(|scope| {
        for (number, clone) in clones.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..3 {
                    clone.decide(&format!("entry {round} of {number}"));
                    let synced = clone.share().sync(None, soon()).unwrap();
                    assert!(!matches!(synced.published, Published::Queued(_)), "{synced:?}");
                }
            });
        }
    });
    for clone in &clones {
        clone.sync();
        assert_eq!(clone.decisions().len(), 12);
    }
    let shared = world.shared("wyren/memory", "memory.md").unwrap();
    assert_eq!(shared.lines().filter(|line| line.starts_with("- ")).count(), 12);
}

/// 1, 3, 4, 5: in side mode git is what it would be without us, after every step.
#[test]
fn the_users_git_works_after_every_step() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    b.write("work", "unpushed\n");
    b.commit("unpushed");
    for round in 0..3 {
        a.decide(&format!("a {round}"));
        a.land();
        a.write("code", &format!("{round}\n"));
        a.commit("code");
        a.git(&["pull", "--quiet", "--ff-only"]);
        a.git(&["push", "--quiet"]);
        b.decide(&format!("b {round}"));
        b.land();
        b.git(&["pull", "--quiet", "--rebase"]);
        a.sync();
        assert_eq!(a.git(&["status", "--porcelain"]), "");
    }
    assert!(!git(&world.remote(), &["log", "--format=%s", "--all"]).contains("unpushed"));
    b.git(&["push", "--quiet"]);
    a.git(&["pull", "--quiet", "--ff-only"]);
    b.sync();
    assert_eq!((a.decisions().len(), b.decisions().len()), (6, 6));
}

#[test]
fn a_remote_that_refuses_pushes_to_main_still_syncs() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    world.protect_main();
    a.decide("protected");
    a.land();
    b.sync();
    assert_eq!(b.decisions(), ["protected"]);
}

/// 14: a subfolder and a linked work tree find the memory of the repository.
#[test]
fn subfolders_and_work_trees_share_the_memory() {
    let world = World::new(&[("src/deep/x.rs", "x\n")]);
    let a = world.side_clone("a");
    a.git(&["worktree", "add", "--quiet", "../tree", "-b", "topic"]);
    a.decide("one");
    for folder in [a.root.join("src/deep"), world.path().join("tree/src")] {
        let share = Share::open(&folder, &env_of(&folder)).unwrap();
        assert_eq!(share.folder().mode, Some(Mode::Side));
        assert!(share.memory().unwrap().contains("Decisions", "one"));
    }
    let tree = Clone { root: world.path().join("tree") };
    tree.decide("two");
    tree.land();
    assert_eq!(a.decisions(), ["one", "two"]);
}

/// 21: one memory for every branch.
#[test]
fn what_is_decided_on_one_branch_is_known_on_every_other() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.git(&["switch", "--quiet", "--create", "topic"]);
    a.decide("on topic");
    a.land();
    a.git(&["switch", "--quiet", "main"]);
    assert_eq!(a.decisions(), ["on topic"]);
    a.git(&["merge", "--quiet", "topic"]);
    assert_eq!(a.git(&["status", "--porcelain"]), "");
}

/// 24: changing the memory makes no network write; only a sync does.
#[test]
fn a_change_stays_here_until_it_is_synced_and_a_pull_publishes_nothing() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    b.decide("from b");
    b.land();
    let tip = git(&world.remote(), &["rev-parse", "wyren/memory"]);
    a.decide("from a");
    let synced = a.untouched(|| a.share().pull(soon()).unwrap());
    assert_eq!(synced.published, Published::Nothing);
    assert_eq!(git(&world.remote(), &["rev-parse", "wyren/memory"]), tip);
    assert_eq!(a.decisions().len(), 2);
    a.land();
    assert_eq!(world.shared("wyren/memory", "memory.md").unwrap().matches("- from").count(), 2);
}

#[test]
fn offline_everything_is_kept_and_lands_later() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    let away = world.path().join("away");
    std::fs::rename(world.remote(), &away).unwrap();
    a.decide("offline");
    let synced = a.sync();
    assert!(matches!(synced.published, Published::Queued(Reason::Unreachable(_))), "{synced:?}");
    assert_eq!(a.decisions(), ["offline"]);
    std::fs::rename(away, world.remote()).unwrap();
    a.land();
    assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("- offline"));
}

/// A remote that asks for a password gets no answer, in any language.
#[test]
fn a_remote_that_wants_a_password_is_not_answered() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    let script = world.path().join("ssh");
    let said = "$GIT_TERMINAL_PROMPT $LC_ALL $SSH_ASKPASS_REQUIRE ask=$SSH_ASKPASS";
    world.script(&script, &format!("echo {said} >> $0.log\nexit 255"));
    a.git(&["remote", "set-url", "origin", "ssh://host.invalid/x.git"]);
    a.decide("one");
    let data = data_of(&a.root);
    let env =
        base::Env::fixed([("GIT_SSH_COMMAND", script.as_os_str()), ("WYREN_DATA_DIR", data.as_os_str())]);
    let synced = a.untouched(|| Share::open(&a.root, &env).unwrap().sync(None, soon()).unwrap());
    assert!(matches!(synced.published, Published::Queued(Reason::Unreachable(_))), "{synced:?}");
    let asked = std::fs::read_to_string(script.with_extension("log")).unwrap();
    assert!(asked.lines().all(|line| line == "0 C never ask="), "{asked}");
}
