//! 7: what is secret or private does not leave this machine.

use crate::support::{ShareClone, TeamWorld, World, decisions, git};
use team_sync::repository::Published;

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap())
}

/// Fails when the remote has `secret` anywhere: in a commit, or in any object at all.
#[track_caller]
fn check_absent(world: &World, secret: &str) {
    let log = git(&world.remote(), &["log", "-p", "--all"]);
    assert!(!log.contains(secret), "{log}");
    let all = git(&world.remote(), &["cat-file", "--batch-all-objects", "--batch", "--buffer"]);
    assert!(!all.contains(secret), "{all}");
}

#[test]
fn a_secret_is_held_back_in_side_mode_and_repeated_syncs_change_nothing() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    let text = format!(
        "{}- deploy with {}\n- ship it <private>the boss does not know</private>\n- <private>all mine</private>\n",
        decisions(&["one"]),
        token()
    );
    a.write(".wyren/memory.md", &text);
    let synced = a.land();
    let kinds: Vec<&str> = synced.held_back.iter().map(|held| &*held.kind).collect();
    assert_eq!(kinds, ["github", "private", "private"]);
    assert_eq!((&*synced.held_back[0].path, synced.held_back[0].line), ("memory.md", 6));
    let tip = git(&world.remote(), &["rev-parse", "wyren/memory"]);
    for _ in 0..5 {
        let synced = a.sync();
        assert_eq!((synced.published, synced.changed), (Published::Nothing, Vec::new()));
        assert_eq!(synced.held_back.len(), 3);
        assert_eq!(a.read(".wyren/memory.md"), text);
        assert_eq!(b.sync().published, Published::Nothing);
    }
    assert_eq!(git(&world.remote(), &["rev-parse", "wyren/memory"]), tip);
    assert_eq!(b.decisions(), ["one", "deploy with [redacted:github]", "ship it"]);
    for secret in [&*token(), "the boss", "all mine"] {
        check_absent(&world, secret);
    }
    let log = a.read(".wyren/log");
    assert_eq!(log.matches("held back").count(), 3, "{log}");
    assert!(!log.contains(&token()));
}

#[test]
fn what_others_do_around_a_secret_arrives_and_nothing_is_echoed() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/memory.md", &format!("{}- deploy with {}\n", decisions(&["one"]), token()));
    a.land();
    b.sync();
    b.decide("two");
    b.land();
    a.sync();
    assert!(a.read(".wyren/memory.md").contains(&token()));
    assert_eq!(a.decisions().len(), 3);
    // A teammate removes the published rest: it stays in this clone only.
    b.sync();
    b.take_back("deploy with [redacted:github]");
    b.land();
    for _ in 0..3 {
        a.sync();
        b.sync();
    }
    assert!(a.read(".wyren/memory.md").contains(&format!("<private>deploy with {}</private>", token())));
    assert_eq!(b.decisions(), ["one", "two"]);
    check_absent(&world, &token());
}

#[test]
fn a_secret_by_hand_in_a_tracked_file_is_held_back_in_branch_mode() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    a.write(".wyren/memory.md", &format!("{}- key {}\n", decisions(&["one"]), token()));
    assert_eq!(a.land().held_back.len(), 1);
    for _ in 0..5 {
        assert_eq!(a.sync().published, Published::Nothing);
    }
    assert!(a.memory().contains(&token()));
    check_absent(&world, &token());
}

#[test]
fn broadcasts_and_files_that_are_no_text_are_looked_through() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/broadcast/deploy.md", &format!("run with {}\n", token()));
    let binary = [b"\xff\xfe ".as_slice(), token().as_bytes()].concat();
    std::fs::write(a.root.join(".wyren/broadcast/binary"), &binary).unwrap();
    let synced = a.land();
    assert_eq!(synced.held_back.len(), 2, "{synced:?}");
    assert_eq!(
        world.shared("wyren/memory", "broadcast/deploy.md").as_deref(),
        Some("run with [redacted:github]")
    );
    assert_eq!(world.shared("wyren/memory", "broadcast/binary"), None);
    assert_eq!(a.sync().published, Published::Nothing);
    assert_eq!(std::fs::read(a.root.join(".wyren/broadcast/binary")).unwrap(), binary);
    check_absent(&world, &token());
}

#[test]
fn what_is_queued_holds_no_secret_either() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    std::fs::rename(world.remote(), world.path().join("away")).unwrap();
    a.write(".wyren/memory.md", &format!("{}- key {}\n", decisions(&["one"]), token()));
    a.sync();
    let kept = a.git(&["cat-file", "--batch-all-objects", "--batch", "--buffer"]);
    assert!(kept.contains("- key [redacted:github]"), "it is queued");
    assert!(!kept.contains(&token()), "a mirror push would take it along");
}
