//! What the user reads about a sync.

use crate::support::{Clone, ShareClone, TeamWorld, World, env_of, soon};
use base::notice::{self, About, Line};
use base::{Paths, Timestamp};
use team_sync::{Share, discover};

/// Reads what waits for the user of a clone, as a hook shows it.
fn line(clone: &Clone) -> String {
    let (paths, wyren) = (Paths::of(&env_of(&clone.root)), clone.root.join(".wyren"));
    let line = Line::of(notice::waiting(&paths, Some(&wyren), Some("s"), Timestamp::now()), "all");
    line.remember(&paths, About::Memory(&wyren)).unwrap();
    line.text
}

fn named(clone: Clone, name: &str) -> Clone {
    clone.git(&["config", "user.name", name]);
    clone
}

/// Returns a world with a memory on its side branch, and the clones of Grace, who brought it, and Ada.
fn team() -> (World, Clone, Clone) {
    let world = World::new(&[]);
    let grace = named(world.side_clone("grace"), "Grace");
    grace.decide("one");
    grace.land();
    let ada = named(world.side_clone("ada"), "Ada");
    ada.sync();
    line(&ada);
    (world, grace, ada)
}

#[test]
fn a_teammates_decision_is_named_once_with_how_many_more_there_are() {
    let (_world, grace, ada) = team();
    ada.sync();
    assert_eq!(line(&ada), "");
    grace.decide("prices are integer cents [session ecda4fb0, turn 1, by The CTO, 2026-11-16]");
    grace.land();
    ada.sync();
    assert_eq!(line(&ada), "Wyren: Grace decided: prices are integer cents.");
    ada.sync();
    assert_eq!(line(&ada), "", "once");
    for text in ["two", "three"] {
        grace.decide(text);
        grace.land();
        ada.sync();
    }
    let shown = line(&ada);
    assert_eq!(shown, "Wyren: Grace decided: three (+1 more: /wyren:memory).");
    assert_eq!(line(&grace), "", "who decided knows");
}

#[test]
fn a_handoff_note_is_read_with_its_text_and_nothing_private_is() {
    let (_world, grace, ada) = team();
    let share = grace.share();
    let note = |memory: &memory::Memory| {
        let mut text = memory.render();
        text.push_str("\n## Handoff notes\n\n- [2026-11-16T09:11:32.758Z] Cart is in cents \u{1b}[2J<private>x</private>, key ghp_0123456789abcdefghijABCDEFGHIJ012345 [session 21484d94, by Grace]\n");
        memory::Memory::parse(&text)
    };
    share.change("Grace", "handed over", note).unwrap();
    grace.land();
    ada.sync();
    let shown = line(&ada);
    assert!(shown.starts_with("Wyren: Grace left a handoff note: Cart is in cents"), "{shown}");
    assert!(
        !shown.contains(['\u{1b}', '\n']) && !shown.contains("ghp_") && !shown.contains("private"),
        "{shown}"
    );
}

#[test]
fn ones_own_entries_from_another_clone_are_no_news() {
    let (world, _grace, ada) = team();
    let other = named(world.side_clone("other"), "Ada");
    other.sync();
    other.decide("mine");
    other.land();
    ada.sync();
    assert_eq!(line(&ada), "");
}

#[test]
fn a_memory_that_was_found_on_the_remote_is_shown_with_who_wrote_it_and_how_to_turn_that_off() {
    let (world, grace, _ada) = team();
    grace.decide("two");
    grace.land();
    let fresh = named(world.clone_called("fresh"), "Alan");
    discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap().unwrap();
    assert_eq!(
        line(&fresh),
        "Wyren: found a team memory on origin: 2 entries by Grace; to ignore it here: git config wyren.discover false."
    );
    assert_eq!(line(&fresh), "", "its entries are not told one by one");
}

#[test]
fn a_long_list_of_authors_leaves_room_for_the_command() {
    let (world, grace, _ada) = team();
    for name in ["n".repeat(90), "m".repeat(90), "o".repeat(90)] {
        grace.git(&["config", "user.name", &name]);
        grace.decide(&format!("by {name}"));
        grace.land();
    }
    let fresh = world.clone_called("fresh");
    discover(&fresh.root, &env_of(&fresh.root), soon()).unwrap().unwrap();
    let shown = line(&fresh);
    assert!(shown.contains(" and others; to ignore it here: git config wyren.discover false."), "{shown}");
}

#[test]
fn an_outage_is_shown_once_with_its_reason_and_not_when_it_is_over() {
    let (_world, _grace, ada) = team();
    let sync = || {
        let share = Share::open(&ada.root, &env_of(&ada.root)).unwrap();
        share.sync(None, soon()).unwrap();
    };
    // The pause after a failure is over at once.
    let retry = || {
        let wyren = ada.root.join(".wyren");
        let mut state = place::FetchState::read(&wyren);
        state.retry_at = 0;
        state.write(&wyren).unwrap();
    };
    let address = ada.git(&["remote", "get-url", "origin"]);
    ada.git(&["remote", "set-url", "origin", "/nowhere/at/all.git"]);
    sync();
    let shown = line(&ada);
    assert!(shown.starts_with("Wyren: could not reach origin ("), "{shown}");
    assert!(
        shown.ends_with("); Wyren keeps memory changes here and pushes them with the next sync."),
        "{shown}"
    );
    for _ in 0..2 {
        retry();
        sync();
        assert_eq!(line(&ada), "", "once per outage");
    }
    ada.git(&["remote", "set-url", "origin", address.trim()]);
    retry();
    sync();
    ada.git(&["remote", "set-url", "origin", "/nowhere/at/all.git"]);
    sync();
    ada.git(&["remote", "set-url", "origin", address.trim()]);
    retry();
    sync();
    assert_eq!(line(&ada), "", "it was over before the user could read it");
}
