//! 6, as far as it reaches the others: an emptied memory is an accident.

use crate::support::{ShareClone, TeamWorld, World, decisions};
use team_sync::repository::Published;

/// Lets a teammate without Wyren put something on the branch of the memory.
fn by_hand(world: &World, name: &str, contents: Option<&[u8]>) {
    let hand = world.clone_with(name, &["--branch=wyren/memory"]);
    match contents {
        Some(contents) => std::fs::write(hand.root.join(".wyren/memory.md"), contents).unwrap(),
        None => std::fs::remove_file(hand.root.join(".wyren/memory.md")).unwrap(),
    }
    hand.commit("by hand");
    hand.git(&["push", "--quiet"]);
}

#[test]
fn an_emptied_memory_of_a_teammate_is_mended_in_the_same_run() {
    for (name, contents) in
        [("blank", Some(b"\n".as_slice())), ("gone", None), ("garbage", Some(b"\xff\xfe\x00"))]
    {
        let world = World::new(&[]);
        let a = world.side_clone("a");
        a.write(".wyren/memory.md", &decisions(&["one", "two"]));
        a.land();
        by_hand(&world, name, contents);
        let synced = a.sync();
        assert_eq!(synced.mended, ["memory.md"], "{name}");
        assert!(matches!(synced.published, Published::Landed(_)), "{name}: {synced:?}");
        assert_eq!(a.decisions(), ["one", "two"], "{name}");
        let shared = world.shared("wyren/memory", "memory.md").unwrap();
        assert!(shared.contains("- two"), "{name}: {shared}");
        assert!(a.read(".wyren/log").contains("published again"), "{name}");
        assert_eq!(a.sync().published, Published::Nothing, "{name}");
    }
}

#[test]
fn what_was_changed_here_meanwhile_goes_with_it() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one", "two"]));
    a.land();
    by_hand(&world, "blank", Some(b""));
    a.decide("three");
    a.land();
    assert_eq!(a.decisions(), ["one", "two", "three"]);
    assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("- three"));
}

#[test]
fn a_memory_that_was_emptied_here_comes_back_and_removes_nothing_from_the_team() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", &decisions(&["one", "two"]));
    a.land();
    a.write(".wyren/memory.md", "\n");
    a.sync();
    assert_eq!(a.decisions(), ["one", "two"]);
    assert!(world.shared("wyren/memory", "memory.md").unwrap().contains("- two"));
    let emptied = a.share().change("Ada", "oops", |_| memory::Memory::default());
    assert!(matches!(emptied, Err(team_sync::Error::Emptied(2))), "{emptied:?}");
    assert_eq!(a.decisions(), ["one", "two"]);
}

#[test]
fn the_last_entry_can_be_removed() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.decide("one");
    a.land();
    b.sync();
    a.take_back("one");
    a.land();
    b.sync();
    assert!(b.decisions().is_empty());
}
