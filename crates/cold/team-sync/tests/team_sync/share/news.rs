//! What a sync leaves for hooks: notes for the sessions of the clone, and how long it took.

use crate::support::{Clone, ShareClone, TeamClone as _, TeamWorld, World, env_of};
use base::{Paths, Timestamp};
use place::news;
use std::time::Duration;

/// Has a session begin in a clone, as far as a sync can see that.
fn begin(clone: &Clone, session: &str) {
    let state = place::state_folder(&clone.root.join(".wyren"));
    base::files::write_atomic(&news::snapshot_file(&state, session), b"").unwrap();
}

fn has_note(clone: &Clone, session: &str) -> bool {
    news::is_waiting(&Paths::of(&env_of(&clone.root)), session)
}

#[test]
fn a_sync_that_brings_news_leaves_a_note_for_the_sessions_of_the_clone() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    ShareClone::sync(&a);
    ShareClone::sync(&b);
    begin(&b, "s");
    ShareClone::sync(&b);
    assert!(!has_note(&b, "s"), "nothing was new");
    b.decide("two");
    ShareClone::land(&b);
    assert!(!has_note(&b, "s"), "what was decided here is on disk already");
    begin(&a, "t");
    ShareClone::sync(&a);
    assert!(has_note(&a, "t") && !has_note(&a, "s"));
}

#[test]
fn how_long_a_sync_took_is_kept_when_the_remote_answered() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    let note = |began, millis| a.share().note_duration(began, Duration::from_millis(millis)).unwrap();
    note(Timestamp::now(), 40);
    assert_eq!(a.state().took_ms, None, "no sync was there to measure");
    let began = Timestamp::now();
    ShareClone::sync(&a);
    note(began, 40);
    assert_eq!(a.state().took_ms, Some(40));
    note(Timestamp::from_millis(Timestamp::now().millis() + 1_000), 50);
    assert_eq!(a.state().took_ms, Some(40), "the last answer is older than that sync");
    // A sync that fails does not count, and hooks see that it failed.
    std::fs::rename(world.remote(), world.remote().with_extension("gone")).unwrap();
    let began = Timestamp::now();
    ShareClone::sync(&a);
    note(began, 60);
    assert_eq!((a.state().took_ms, a.state().is_answering()), (Some(40), false));
    std::fs::rename(world.remote().with_extension("gone"), world.remote()).unwrap();
    ShareClone::sync(&a);
    assert!(a.state().is_answering());
}
