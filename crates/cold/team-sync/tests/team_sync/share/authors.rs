use crate::support::{Clone, ShareClone, TeamWorld, World, env_of};
use base::Paths;
use place::authors;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn file_of(clone: &Clone) -> PathBuf {
    Paths::of(&env_of(&clone.root)).authors_file(&clone.root.join(".wyren"))
}

/// Returns the known author of every decision, by its text.
fn authors(clone: &Clone) -> BTreeMap<String, Option<String>> {
    let known = authors::read(&file_of(clone));
    let memory = clone.share().memory().unwrap();
    let author = |entry: &memory::Entry| known.get(&entry.key()).cloned();
    memory.entries().map(|(_, entry)| (entry.text().into_owned(), author(entry))).collect()
}

fn set_name(clone: &Clone, name: &str) {
    clone.git(&["config", "user.name", name]);
}

#[test]
fn an_entry_is_from_the_author_of_the_commit_that_brought_it() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    b.sync();
    set_name(&a, "Ada\u{1b}[31m <eve>");
    a.decide("two [session aaaaaaaa, turn 1, by The CTO, 2026-11-16]");
    a.land();
    b.sync();
    let known = authors(&b);
    let ada = known["two"].as_deref().unwrap_or_default();
    assert!(ada.starts_with("Ada") && !ada.contains(['\u{1b}', '\n']) && !ada.contains("CTO"), "{known:?}");
    assert_ne!(known["one"], known["two"]);

    // The same entry with another claim is still from the one that brought it.
    set_name(&b, "Bob");
    b.decide("three");
    b.land();
    a.decide("four");
    a.land();
    b.sync();
    let known = authors(&b);
    assert_eq!((known["two"].as_deref(), known["three"].as_deref()), (Some(ada), Some("Bob")));
}

#[test]
fn what_left_the_memory_is_not_kept() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.decide("two");
    a.land();
    b.sync();
    assert!(authors(&b)["two"].is_some());
    a.take_back("two");
    a.decide("three");
    a.land();
    b.sync();
    assert_eq!(authors::read(&file_of(&b)).len(), authors(&b).len());
}
