use crate::support::{Clone, ShareClone, TeamWorld, World, decisions, git, soon};
use place::Reason;
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::{Share, Synced};

/// Makes a clone with two decisions and a broadcast, and a remote that lost one of each and got another.
fn rewritten(world: &World) -> Clone {
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one", "two"]));
    a.write(".wyren/broadcast/x.md", "x\n");
    a.land();
    let hand = world.clone_with("hand", &["--branch=wyren/memory"]);
    hand.write(".wyren/memory.md", &decisions(&["one", "theirs"]));
    hand.git(&["rm", "--quiet", ".wyren/broadcast/x.md"]);
    hand.git(&["commit", "--quiet", "--all", "--amend", "--message", "rewritten"]);
    hand.git(&["push", "--quiet", "--force"]);
    a
}

/// Makes a clone that has seen the rewriting, with a decision of its own that waits.
fn waiting(world: &World) -> Clone {
    let a = rewritten(world);
    a.decide("three");
    a.sync();
    a
}

/// Accepts or restores, which must land and touch nothing of the user's.
#[track_caller]
fn settle(clone: &Clone, settlement: impl FnOnce(&Share) -> Result<Synced, team_sync::Error>) -> Synced {
    let synced = clone.untouched(|| settlement(&clone.share()).unwrap());
    assert!(matches!(synced.published, Published::Landed(_)), "{synced:?}");
    synced
}

#[test]
fn a_rewriting_is_reported_and_nothing_happens_by_itself() {
    let world = World::new(&[]);
    let a = rewritten(&world);
    a.decide("three");
    for _ in 0..2 {
        let synced = a.sync();
        assert_eq!(synced.published, Published::Queued(Reason::Rewritten));
        let rewritten = synced.rewritten.unwrap();
        assert_eq!(rewritten.vanished, [("Decisions".to_owned(), "two".to_owned())]);
        assert_eq!((rewritten.files, rewritten.is_gone), (vec!["broadcast/x.md".to_owned()], false));
    }
    assert_eq!(a.decisions(), ["one", "two", "three"]);
    assert!(!world.shared("wyren/memory", "memory.md").unwrap().contains("three"));
}

#[test]
fn accepting_takes_it_and_the_history_keeps_what_vanished() {
    let world = World::new(&[]);
    let a = waiting(&world);
    let synced = settle(&a, |share| share.accept(None, soon()));
    assert_eq!(synced.rewritten, None);
    assert_eq!(a.sorted_decisions(), ["one", "theirs", "three"]);
    assert!(!a.root.join(".wyren/broadcast/x.md").exists());
    let history = a.share().history().unwrap();
    assert_eq!(history.search("two").len(), 1, "{history:?}");
    assert!(history.search("two")[0].why.contains("rewritten"));
}

#[test]
fn restoring_publishes_what_vanished_again() {
    let world = World::new(&[]);
    let a = waiting(&world);
    settle(&a, |share| share.restore(None, soon()));
    assert_eq!(a.sorted_decisions(), ["one", "theirs", "three", "two"]);
    let fresh = world.side_clone("fresh");
    fresh.sync();
    assert_eq!(fresh.decisions().len(), 4);
    assert_eq!(fresh.read(".wyren/broadcast/x.md"), "x\n");
    assert_eq!(a.sync().published, Published::Nothing);
}

#[test]
fn a_deleted_branch_is_made_anew_by_either() {
    for is_restored in [true, false] {
        let world = World::new(&[]);
        let a = world.side_clone("a");
        a.write(".wyren/memory.md", &decisions(&["one", "two"]));
        a.land();
        git(&world.remote(), &["update-ref", "-d", "refs/heads/wyren/memory"]);
        let rewritten = a.sync().rewritten.unwrap();
        assert!(rewritten.is_gone && rewritten.vanished.len() == 2);
        let share = a.share();
        let synced = if is_restored { share.restore(None, soon()) } else { share.accept(None, soon()) };
        assert!(matches!(synced.unwrap().published, Published::Landed(_)));
        assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("- two"));
        assert_eq!(a.decisions(), ["one", "two"]);
    }
}

#[test]
fn a_force_push_in_branch_mode_that_lost_nothing_needs_no_decision() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    a.sync();
    let hand = world.clone_called("hand");
    hand.write(".wyren/memory.md", &decisions(&["one", "more"]));
    hand.git(&["commit", "--quiet", "--all", "--amend", "--message", "reworded"]);
    hand.git(&["push", "--quiet", "--force"]);
    let synced = a.sync();
    assert_eq!(synced.rewritten, None);
    assert_eq!(a.decisions(), ["one", "more"]);
}

#[test]
fn restoring_works_in_branch_mode() {
    let world = World::with_memory(&["one", "two"]);
    let a = world.clone_called("a");
    a.sync();
    let hand = world.clone_called("hand");
    hand.write(".wyren/memory.md", &decisions(&["one"]));
    hand.git(&["commit", "--quiet", "--all", "--amend", "--message", "rewritten"]);
    hand.git(&["push", "--quiet", "--force"]);
    assert_eq!(a.sync().rewritten.unwrap().vanished.len(), 1);
    settle(&a, |share| share.restore(None, soon()));
    assert!(world.shared("main", "memory.md").unwrap().contains("- two"));
}

#[test]
fn the_history_has_what_vanished_before_it_is_let_go() {
    let world = World::new(&[]);
    let a = rewritten(&world);
    a.sync();
    let lock = base::lock::Lock::exclusive(&a.root.join(".wyren/state/sync.lock"), Duration::ZERO).unwrap();
    let stopped = a.share().accept(None, Instant::now());
    assert!(
        matches!(stopped, Err(team_sync::Error::Sync(team_sync::repository::Error::Busy))),
        "{stopped:?}"
    );
    drop(lock);
    assert!(a.share().rewritten().unwrap().is_some());
    assert!(a.read(".wyren/state/history.jsonl").contains(r#""text":"two""#));
}
