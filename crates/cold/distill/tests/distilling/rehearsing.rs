//! A rehearsal shows what the distillation does then.

use crate::desk::{Desk, NOW, SESSION, add, answer};
use base::Timestamp;
use distill::{Rehearsal, Session, Settings, Step};
use serde_json::json;
use std::fs;
use team_sync::Share;

pub(crate) fn rehearse(desk: &Desk, asks: bool) -> Rehearsal {
    let (env, paths) = (desk.env(), desk.paths());
    let session = Session {
        env: &env,
        paths: &paths,
        cwd: &desk.app(),
        transcript: &desk.transcript(SESSION),
        id: SESSION,
        now: Timestamp::from_millis(NOW),
        settings: Settings { publishes: false, ..Settings::load(&env, &paths) },
        observer: &(),
    };
    session.rehearse(&Share::open(&desk.app(), &env).unwrap(), asks).unwrap()
}

/// Returns the numbers of the messages of each slice.
fn messages(rehearsal: &Rehearsal) -> Vec<(u64, u64)> {
    let ends = |slice: &distill::Considered| {
        (slice.slice.messages.first().unwrap().number, slice.slice.messages.last().unwrap().number)
    };
    rehearsal.slices.iter().map(ends).collect()
}

/// Rehearses, distills, and checks that the memory became what was shown.
#[track_caller]
fn check(desk: &Desk) -> Rehearsal {
    let (memory, state) = (desk.memory(), fs::read_dir(desk.state()).unwrap().count());
    let rehearsal = rehearse(desk, true);
    assert_eq!(
        (desk.memory(), fs::read_dir(desk.state()).unwrap().count()),
        (memory, state),
        "it writes nothing"
    );
    // The answers come again.
    let position = desk.path().join("script.jsonl.position");
    fs::write(position, "").unwrap();
    desk.distill().unwrap();
    let last = rehearsal.slices.last().unwrap();
    assert_eq!(last.done.as_ref().unwrap().1.memory.render(), desk.memory());
    assert_eq!(last.slice.next.message, desk.message(SESSION));
    rehearsal
}

#[test]
fn d6_a_rehearsal_begins_at_the_record_that_the_node_version_noted() {
    let desk = Desk::new(&[answer(&[add("Decisions", "Redis is the cache", 3)])]);
    desk.decide("Postgres");
    desk.decide("Redis");
    let node = json!({
        "turns_since_distill": 0, "last_uuid": "00000000-0000-4000-8000-000000000002",
        "last_transcript": desk.transcript(SESSION),
    });
    fs::write(desk.state().join("watermark.json"), node.to_string()).unwrap();
    assert_eq!(messages(&check(&desk)), [(3, 4)]);
}

#[test]
fn d6_a_rehearsal_shows_every_slice_that_the_run_takes_and_what_is_left() {
    let script: Vec<_> = (0..4)
        .map(|n| answer(&[add("Decisions", &format!("Choice c{n} is made for unit u{n}"), n * 15 + 5)]))
        .collect();
    let desk = Desk::new(&script);
    for _ in 0..66 {
        desk.say(&format!("We decided to use Redis. Agreed, that is settled on. {}", "word ".repeat(1_590)));
    }
    let rehearsal = check(&desk);
    assert_eq!(rehearsal.slices.len(), 4);
    assert_eq!(rehearsal.rest_after, Some(desk.message(SESSION)));
    assert!(desk.message(SESSION) < 66);
    let starts: Vec<(u64, u64)> = messages(&rehearsal);
    assert!(starts.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{starts:?}");
    assert!(
        rehearsal.slices[1].question.prompt.contains("Choice c0"),
        "the next slice sees what the first wrote"
    );
}

#[test]
fn d6_a_rehearsal_continues_after_the_intent_of_an_interrupted_distillation() {
    let script = [
        answer(&[add("Decisions", "Postgres is the database", 1)]),
        answer(&[add("Decisions", "Sessions live in Redis", 3)]),
    ];
    let desk = Desk::new(&script);
    desk.decide("Postgres");
    assert!(desk.distill_killed_at(Step::Intended));
    desk.decide("Redis");
    desk.follow(&script[1..]);
    let rehearsal = check(&desk);
    assert_eq!(messages(&rehearsal), [(3, 4)]);
    assert_eq!(rehearsal.continued.unwrap().done.len(), 1);
}

#[test]
fn a_rehearsal_shows_what_makes_room() {
    let desk = Desk::new(&[answer(&[add("Decisions", "Redis is the cache", 1)])]);
    let lines: String = (0..70)
        .map(|n| {
            format!(
                "- Module m{n} follows rule r{n} of team t{n} [session 11112222, turn 4, by Mo, 2026-01-01]\n"
            )
        })
        .collect();
    fs::write(desk.memory_file(), format!("# Wyren Memory\n\n## Decisions\n\n{lines}")).unwrap();
    fs::write(desk.state().join("size.json"), json!({"v": 1, "over_since": 1}).to_string()).unwrap();
    desk.decide("Redis");
    let rehearsal = check(&desk);
    assert_eq!(rehearsal.slices[0].done.as_ref().unwrap().1.removals.len(), 2);
}
