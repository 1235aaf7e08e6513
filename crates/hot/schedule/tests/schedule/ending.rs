//! SessionEnd, and sessions that end without one.

use crate::desk::{BEGIN, Desk, names};
use base::Timestamp;
use serde_json::json;
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
fn line_12_a_compaction_has_the_turns_before_it_distilled() {
    let desk = Desk::new();
    desk.compact("a", 0);
    assert!(desk.requested().is_empty(), "nothing is left");
    desk.stop("a", 1);
    desk.compact("a", 2);
    assert_eq!(desk.requested(), ["a"]);
    let off = Desk::new().with("WYREN_DISTILL", "false");
    off.stop("a", 0);
    off.compact("a", 1);
    assert!(off.requested().is_empty());
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

// A turn that a person interrupts ends without a stop.
#[test]
fn messages_after_the_last_distillation_are_left_though_no_turn_was_counted() {
    let (desk, other) = (Desk::new(), Desk::new());
    let transcript = desk.app().join("a.jsonl");
    fs::write(&transcript, "0123456789").unwrap();
    let mut input = desk.input("a");
    input["transcript_path"] = json!(transcript);
    let end_after = |distilled: u64| {
        let mut hold = schedule::Hold::take(&desk.state(), std::time::Duration::ZERO).unwrap().unwrap();
        let session = hold.watermark.session_mut("a", transcript.to_str());
        (session.uuid, session.offset) = (Some("u-1".to_owned()), Some(distilled));
        session.distilled_at = BEGIN;
        hold.write(at(0)).unwrap();
        drop(hold);
        desk.end_with(&input, 1);
        desk.requested().len()
    };
    assert_eq!((end_after(10), end_after(9)), (0, 1));
    assert_eq!(desk.payloads()[0].cwd, desk.app().to_str().unwrap());

    // The first turn of a session that is not known yet.
    input["cwd"] = json!(other.app());
    other.end_with(&input, 0);
    assert_eq!(other.requested(), ["a"]);
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
fn leftovers_are_waiting_sessions_that_are_not_being_distilled() {
    let desk = Desk::new();
    desk.stop("a", 0);
    desk.stop("b", IDLE);
    let left = |after: u64| -> Vec<String> {
        schedule::leftovers(&desk.found(), at(after), IDLE).into_iter().map(|session| session.id).collect()
    };
    assert!(left(IDLE).is_empty());
    assert_eq!(left(IDLE + 1), ["a"]);
    assert_eq!(left(2 * IDLE + 1), ["a", "b"]);
    desk.end("b", 2 * IDLE + 2);
    assert!(left(2 * IDLE + 3).is_empty());
    desk.finish_distillation();
    assert_eq!(left(2 * IDLE + 3), ["a"]);
}

// A job that died for good has taken the turns out of the count.
#[test]
fn a_session_that_was_asked_for_and_never_distilled_is_left_behind() {
    const LONGEST_RUN: u64 = 15 * 60_000;
    let desk = Desk::new().with("WYREN_TURNS_THRESHOLD", "1");
    desk.stop("a", 0);
    let left = |after: u64| schedule::leftovers(&desk.found(), at(after), IDLE).len();
    assert_eq!((left(LONGEST_RUN), left(LONGEST_RUN + 1)), (0, 1));
    let mut hold = schedule::Hold::take(&desk.state(), std::time::Duration::ZERO).unwrap().unwrap();
    hold.watermark.session_mut("a", None).distilled_at = BEGIN;
    hold.write(at(1)).unwrap();
    drop(hold);
    assert_eq!(left(LONGEST_RUN + 1), 0);
}

#[test]
fn leftovers_are_asked_for_once() {
    let desk = Desk::new();
    desk.stop("a", 0);
    let ask = |after: u64| {
        schedule::request_leftovers(&desk.paths(), &desk.settings(), &desk.found(), at(after)).unwrap();
        desk.requested()
    };
    assert!(ask(IDLE).is_empty());
    assert_eq!(ask(IDLE + 1), ["a"]);
    assert_eq!(ask(IDLE + 2), ["a"]);
    desk.finish_distillation();
    assert!(ask(3 * IDLE).is_empty());
}
