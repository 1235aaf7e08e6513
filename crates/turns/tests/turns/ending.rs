//! SessionEnd, and sessions that end without one.

use crate::desk::{BEGIN, Desk, names};
use base::Timestamp;
use std::fs;

const IDLE: u64 = 120_000;

fn at(after: u64) -> Timestamp {
    Timestamp::from_millis(BEGIN + after)
}

// What Wyren must do better, line 12: the last turns of a session are distilled.
#[test]
fn a_session_that_ends_has_its_last_turns_distilled() {
    let desk = Desk::new();
    desk.stop("a", 0);
    desk.stop("b", 1);
    desk.end("a", 2);
    assert_eq!(desk.requested(), ["a"]);
    let watermark = desk.watermark();
    assert!(watermark.distiller_running);
    assert_eq!((watermark.session("a").unwrap().turns, watermark.session("b").unwrap().turns), (0, 1));
    desk.end("a", 3);
    assert_eq!(desk.requested().len(), 1);
}

#[test]
fn a_session_without_turns_ends_without_a_trace() {
    let desk = Desk::new();
    desk.end("a", 0);
    assert!(desk.requested().is_empty() && !desk.state().join("watermark.json").exists());
    fs::remove_dir_all(desk.app().join(".wyren")).unwrap();
    desk.end("a", 0);
    assert_eq!(names(&desk.app()), Vec::<String>::new());
}

#[test]
fn a_distillation_that_runs_does_not_keep_the_end_from_being_asked_for() {
    let desk = Desk::new().with("WYREN_TURNS_THRESHOLD", "1");
    desk.stop("a", 0);
    desk.stop("b", 1);
    assert_eq!(desk.requested(), ["a"]);
    desk.end("b", 2);
    assert_eq!(desk.requested(), ["a", "b"]);
}

#[test]
fn leftovers_are_the_sessions_that_wait_and_nobody_is_at() {
    let desk = Desk::new();
    desk.stop("a", 0);
    desk.stop("b", IDLE);
    let left = |after: u64| -> Vec<String> {
        turns::leftovers(&desk.found(), at(after), IDLE).into_iter().map(|session| session.id).collect()
    };
    assert!(left(IDLE).is_empty());
    assert_eq!(left(IDLE + 1), ["a"]);
    assert_eq!(left(2 * IDLE + 1), ["a", "b"]);
    desk.end("b", 2 * IDLE + 2);
    assert!(left(2 * IDLE + 3).is_empty());
    desk.finish_distillation();
    assert_eq!(left(2 * IDLE + 3), ["a"]);
}

#[test]
fn leftovers_are_asked_for_once() {
    let desk = Desk::new();
    desk.stop("a", 0);
    let ask = |after: u64| {
        // No worker stands beside this test; the request is there all the same.
        let _ = turns::request_leftovers(&desk.paths(), &desk.settings(), &desk.found(), at(after));
        desk.requested()
    };
    assert!(ask(IDLE).is_empty());
    assert_eq!(ask(IDLE + 1), ["a"]);
    assert_eq!(ask(IDLE + 2), ["a"]);
    desk.finish_distillation();
    assert!(ask(3 * IDLE).is_empty());
}
