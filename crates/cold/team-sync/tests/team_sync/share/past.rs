use crate::support::{ShareClone, TeamWorld, World};

#[test]
fn a_fresh_clone_finds_what_was_decided_before_it_was_made() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.decide("use MongoDB for everything");
    a.land();
    a.take_back("use MongoDB for everything");
    a.decide("keep the schema small");
    a.land();
    let fresh = world.side_clone("fresh");
    fresh.sync();
    let history = fresh.share().history().unwrap();
    let found = history.search("mongodb");
    assert_eq!(found.len(), 1, "{history:?}");
    assert_eq!((&*found[0].by, &*found[0].section), ("Ada", "Decisions"));
    assert!(found[0].why.starts_with("[wyren] memory update"), "{found:?}");
    // The clone that removed it has the reason, once.
    let history = a.share().history().unwrap();
    assert_eq!(history.search("mongodb").len(), 1, "{history:?}");
    assert_eq!(history.search("mongodb")[0].why, "taken back");
}

#[test]
fn removals_by_others_are_listed_once_with_their_author() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    b.git(&["config", "user.name", "Grace"]);
    a.decide("one");
    a.decide("two");
    a.land();
    b.sync();
    b.take_back("one");
    b.land();
    a.sync();
    let noted = a.read(".wyren/state/history.jsonl");
    assert!(noted.contains("\"by\":\"Grace\"") && noted.contains("\"text\":\"one\""), "{noted}");
    let history = a.share().history().unwrap();
    assert_eq!(history.search("one").len(), 1, "{history:?}");
    assert_eq!(history.search("one")[0].by, "Grace");
}

#[test]
fn private_text_and_secrets_do_not_go_to_the_history_and_a_torn_line_does_no_harm() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    a.write(
        ".wyren/memory.md",
        &format!("## Decisions\n\n- x <private>mine</private>\n- t {token}\n- <private>all</private>\n- y\n"),
    );
    a.write(".wyren/state/history.jsonl", "{\"torn");
    let keep = memory::Memory::parse("## Decisions\n\n- y\n");
    a.share().change("Ada", "tidied", |_| keep).unwrap();
    let noted = a.read(".wyren/state/history.jsonl");
    assert!(!noted.contains("mine") && !noted.contains(&token) && !noted.contains("all"), "{noted}");
    let history = a.share().history().unwrap();
    assert_eq!(history.removals.len(), 2, "{history:?}");
    assert_eq!(history.unreadable, ["{\"torn"]);
}

#[test]
fn d2_an_entry_was_first_seen_with_the_first_commit_that_has_it() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    a.decide("two");
    a.land();
    a.decide("three");
    let share = a.share();
    let seen = share.first_seen().unwrap();
    let of = |text: &str| {
        let memory = share.memory().unwrap();
        let found = memory.entries().find(|(_, entry)| entry.text() == text).map(|(_, entry)| entry.key());
        seen.get(&found.expect("it is there")).copied()
    };
    assert!(of("one").is_some() && of("one") <= of("two"));
    assert_eq!(of("three"), None, "it is in no commit");
}
