//! Killed at any point: the watermark and the memory agree, and each message is distilled once.

use crate::desk::{Desk, NOW, SESSION, add, answer};
use base::Timestamp;
use distill::Step;
use schedule::Hold;
use serde_json::{Value, json};
use std::time::Duration;

/// The steps at which a distillation without publishing may be killed, in order.
const STEPS: [Step; 6] =
    [Step::Begun, Step::Asking, Step::Intended, Step::Changed, Step::Marked, Step::Applied];

fn script() -> Vec<Value> {
    let replace = json!({"do": "replace", "section": "Decisions", "entry": "MySQL is the database",
        "text": "Postgres is the database", "why": "it was too slow", "confidence": 0.9, "turns": [1]});
    vec![
        answer(&[replace, add("Rejected paths", "MySQL: too slow", 1)]),
        answer(&[add("Decisions", "Sessions live in Redis", 3)]),
    ]
}

fn desk() -> Desk {
    let desk = Desk::new(&script());
    let memory = "# Wyren Memory\n\n## Decisions\n\n- MySQL is the database [session 11111111, turn 3]\n";
    std::fs::write(desk.memory_file(), memory).unwrap();
    desk.decide("Postgres instead of MySQL as the database");
    desk
}

fn removals(desk: &Desk) -> usize {
    let share = team_sync::Share::open(&desk.app(), &desk.env()).unwrap();
    share.history().unwrap().merge(memory::history::History::default()).removals.len()
}

#[test]
fn a_distillation_that_was_killed_after_any_step_is_taken_up_again() {
    let whole = desk();
    whole.distill().unwrap();
    let (memory, position) = (whole.memory(), whole.watermark().session(SESSION).cloned().unwrap());
    assert_eq!((memory.matches("Postgres is the database").count(), removals(&whole)), (1, 1));

    for step in STEPS {
        let desk = desk();
        assert!(desk.distill_killed_at(step), "{step:?}");
        // A reader sees the old memory or the new one.
        let between = desk.memory();
        assert_eq!(
            between == memory,
            matches!(step, Step::Changed | Step::Marked | Step::Applied),
            "{step:?}"
        );
        desk.distill().unwrap();
        assert_eq!(desk.memory(), memory, "{step:?}");
        assert_eq!(desk.questions(), 1, "{step:?}: what was answered is not asked again");
        assert_eq!((desk.intents(), removals(&desk)), (0, 1), "{step:?}");
        let watermark = desk.watermark();
        let session = watermark.session(SESSION).unwrap();
        assert_eq!(session.mark(), position.mark());
        assert!(!watermark.distiller_running, "{step:?}");
    }
}

#[test]
fn messages_after_the_kill_are_distilled_after_the_intent() {
    for step in STEPS {
        let desk = desk();
        assert!(desk.distill_killed_at(step), "{step:?}");
        desk.decide("Redis for sessions");
        desk.distill().unwrap();
        // Killed before the intent, all messages are one slice, and the first answer is about them.
        if !matches!(step, Step::Begun | Step::Asking) {
            let memory = desk.memory();
            assert!(
                memory.contains("- Sessions live in Redis [session 720ff4aa, turn 3,"),
                "{step:?}: {memory}"
            );
            assert_eq!(desk.questions(), 2, "{step:?}");
        }
        assert_eq!(
            (desk.message(SESSION), desk.memory().matches("Postgres is the database").count()),
            (4, 1)
        );
    }
}

#[test]
fn turns_that_end_while_a_left_intent_is_applied_still_count() {
    let desk = desk();
    let count = |turns: u64| {
        let mut hold = Hold::take(&desk.state(), Duration::from_secs(5)).unwrap().unwrap();
        hold.watermark.session_mut(SESSION, None).turns += turns;
        hold.watermark.turns_since_distill += turns;
        hold.write(Timestamp::from_millis(NOW)).unwrap();
    };
    count(2);
    assert!(desk.distill_killed_at(Step::Intended));
    desk.decide("Redis for sessions");
    desk.distill_through(&|reached| {
        if reached == Step::Begun {
            count(1);
        }
        // The flag stays until all of it is done.
        assert!(reached == Step::Applied || desk.questions() == 2 || desk.watermark().distiller_running);
    })
    .unwrap();
    let watermark = desk.watermark();
    assert_eq!((watermark.session(SESSION).unwrap().turns, watermark.turns_since_distill), (1, 1));
    assert_eq!(desk.message(SESSION), 4);
}

#[test]
fn killed_over_and_over_it_comes_to_its_end() {
    let desk = desk();
    for step in STEPS.into_iter().chain(STEPS) {
        let _ = desk.distill_killed_at(step);
    }
    desk.distill().unwrap();
    assert_eq!(desk.memory().matches("Postgres is the database").count(), 1);
    assert_eq!((desk.questions(), removals(&desk)), (1, 1));
}

#[test]
fn what_a_person_removed_after_the_mark_does_not_come_back() {
    let desk = desk();
    assert!(desk.distill_killed_at(Step::Marked));
    assert_eq!(desk.intents(), 1);
    std::fs::write(desk.memory_file(), "# Wyren Memory\n\n## Decisions\n\n- By hand\n").unwrap();
    desk.distill().unwrap();
    assert_eq!(desk.memory(), "# Wyren Memory\n\n## Decisions\n\n- By hand\n");
    assert_eq!(desk.intents(), 0);
}

#[test]
fn a_memory_that_cannot_be_written_keeps_the_answer_for_later() {
    let desk = desk();
    let memory = desk.memory();
    std::fs::remove_file(desk.memory_file()).unwrap();
    std::fs::create_dir(desk.memory_file()).unwrap();
    // Reading fails already, so the model is not asked.
    assert!(desk.distill().is_err());
    assert_eq!((desk.questions(), desk.watermark().session(SESSION).unwrap().turns), (0, 1));
    assert!(!desk.watermark().distiller_running && desk.log().contains("distiller error:"));
    std::fs::remove_dir(desk.memory_file()).unwrap();
    std::fs::write(desk.memory_file(), memory).unwrap();
    desk.distill().unwrap();
    assert!(desk.memory().contains("Postgres is the database"));
}
