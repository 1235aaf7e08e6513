//! What a distillation takes out of a memory that is over its size, and how a person learns of it.

use crate::desk::{Desk, NOW, SESSION, add, answer};
use memory::Memory;
use serde_json::json;
use std::fs;

const DAY: u64 = 86_400_000;

fn facts(count: usize, tag: &str) -> String {
    let lines: String =
        (0..count).map(|n| format!("- Module m{n} follows rule r{n} of team t{n} {tag}\n")).collect();
    format!("# Wyren Memory\n\n## Decisions\n\n{lines}")
}

/// Returns a desk with a memory, whose model adds one entry whenever it is asked.
fn desk(memory: &str) -> Desk {
    let script: Vec<_> = (0..60)
        .map(|n| answer(&[add("Decisions", &format!("Choice c{n} is made for unit u{n}"), n * 2 + 1)]))
        .collect();
    let desk = Desk::new(&script);
    fs::write(desk.memory_file(), memory).unwrap();
    desk
}

fn distill_on(desk: &Desk, day: u64) {
    desk.decide(&format!("choice c{day}"));
    desk.distill_at(SESSION, NOW + day * DAY).unwrap();
}

fn count(desk: &Desk) -> usize {
    Memory::parse(&desk.memory()).entries().count()
}

#[test]
fn d2_one_distillation_of_a_large_memory_adds_and_removes_nothing() {
    for (entries, tag) in [
        (100, "[session 11112222, turn 4]"),
        (200, "[session 11112222, turn 4]"),
        (90, "[session 11112222, turn 4, by Mo, 2026-11-16]"),
        (100, "[session 11112222, turn 4, by Mo, 2024-01-01]"),
    ] {
        let desk = desk(&facts(entries, tag));
        distill_on(&desk, 0);
        assert_eq!((count(&desk), desk.history()), (entries + 1, String::new()), "{tag}");
    }
}

#[test]
fn d2_after_a_week_over_its_size_two_old_entries_leave_and_the_log_and_a_notice_name_them() {
    let desk = desk(&facts(100, "[session 11112222, turn 4, by Mo, 2026-01-01]"));
    distill_on(&desk, 0);
    distill_on(&desk, 6);
    assert_eq!(count(&desk), 102);
    assert!(base::left::notice(&desk.paths(), &desk.app().join(".wyren")).is_none());
    distill_on(&desk, 7);
    assert_eq!(count(&desk), 101);
    let log = desk.log();
    let line =
        log.lines().find(|line| line.contains("distiller: left the memory: ")).expect("a line in the log");
    assert!(
        line.contains("\"Module m0 follows rule r0 of team t0\" (made room: the memory was over its size)"),
        "{line}"
    );
    assert!(line.contains("wyren memory history") && line.contains("wyren memory restore"), "{line}");
    let notice = base::left::notice(&desk.paths(), &desk.app().join(".wyren")).expect("a notice");
    assert!(notice.text.contains("removed 2 entries"), "{}", notice.text);
    assert!(desk.history().contains("\"session\":\"720ff4aa\""), "{}", desk.history());
}

#[test]
fn d2_a_memory_that_fits_again_or_a_clock_that_went_back_begins_a_new_week() {
    let long = facts(100, "[session 11112222, turn 4, by Mo, 2026-01-01]");
    let desk = desk(&long);
    distill_on(&desk, 0);
    fs::write(desk.memory_file(), facts(10, "[session 11112222, turn 4]")).unwrap();
    // Also a distillation that has nothing to distill looks.
    desk.distill_at(SESSION, NOW + 5 * DAY).unwrap();
    fs::write(desk.memory_file(), &long).unwrap();
    distill_on(&desk, 10);
    distill_on(&desk, 16);
    assert_eq!(desk.history(), "");
    distill_on(&desk, 1);
    distill_on(&desk, 7);
    assert_eq!(desk.history(), "", "the clock went back");
    distill_on(&desk, 8);
    assert_eq!(desk.history().lines().count(), 2);
}

#[test]
fn d2_the_slices_of_one_distillation_take_two_entries_together() {
    let desk = desk(&facts(100, "[session 11112222, turn 4, by Mo, 2026-01-01]"));
    distill_on(&desk, 0);
    for _ in 0..3 {
        for _ in 0..16 {
            desk.say(&format!("We decided this: {}", "word ".repeat(1_590)));
        }
        desk.decide("another part");
    }
    let before = desk.questions();
    desk.distill_at(SESSION, NOW + 30 * DAY).unwrap();
    assert!(desk.questions() > before + 1, "more than one slice");
    assert_eq!(desk.history().lines().count(), 2);
}

#[test]
fn d2_an_intent_that_is_applied_again_takes_no_more_out() {
    let desk = desk(&facts(100, "[session 11112222, turn 4, by Mo, 2026-01-01]"));
    let over = json!({"v": 1, "over_since": NOW - 8 * DAY});
    fs::write(desk.state().join("size.json"), over.to_string()).unwrap();
    desk.decide("choice c0");
    assert!(desk.distill_killed_at(distill::Step::Changed));
    assert_eq!(desk.history().lines().count(), 2);
    // What the intent wrote is gone again, so applying it changes something.
    let without: String = desk
        .memory()
        .lines()
        .filter(|line| !line.contains("Choice c0"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(desk.memory_file(), without).unwrap();
    desk.distill().unwrap();
    assert!(desk.memory().contains("Choice c0"));
    assert_eq!((count(&desk), desk.history().lines().count()), (99, 2));
}

#[test]
fn a_secret_that_leaves_does_not_reach_the_log() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let memory = facts(70, "[session 11112222, turn 4, by Mo, 2026-01-01]")
        .replace("Module m0 follows", &format!("Module {token} <private>Hunter</private> follows"));
    let desk = desk(&memory);
    fs::write(desk.state().join("size.json"), json!({"v": 1, "over_since": 0}).to_string()).unwrap();
    distill_on(&desk, 0);
    let log = desk.log();
    assert!(log.contains("left the memory") && !log.contains(&token) && !log.contains("Hunter"), "{log}");
}
