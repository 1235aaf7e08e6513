//! What fails often.

use crate::desk::{DAY, Desk, Kept, MINUTE, Seen};
use effect::failing::{Failing, failing};

const NOW: u64 = 200 * DAY;

/// Returns a call in one of many sessions.
fn call(number: u64, at: u64, command: &'static str, error: bool, interrupted: bool) -> Seen {
    let (id, session): (&str, &str) = (format!("c{number}").leak(), format!("s{}", number % 4).leak());
    Seen {
        at: at + number * MINUTE,
        session,
        agent: None,
        what: Kept::Ran { id, command, error, interrupted },
    }
}

#[test]
fn what_fails_in_many_sessions_is_found_and_lines_of_several_programs_and_old_or_interrupted_calls_are_not() {
    let desk = Desk::new();
    let recent = NOW - 30 * DAY;
    let mut seen = Vec::new();
    for number in 0..20 {
        seen.push(call(number, recent, "cd src && frobnicate apply", number < 12, false));
        seen.push(call(100 + number, recent, "frobnicate apply | quux", true, false));
        seen.push(call(200 + number, recent, "widget", true, true));
        seen.push(call(300 + number, NOW - 120 * DAY, "gadget", true, false));
        seen.push(call(400 + number, recent, "sometimes", number < 5, false));
        // All in one session.
        seen.push(Seen { session: "one", ..call(500 + number, recent, "evening", true, false) });
    }
    desk.effects(&seen, NOW);
    let store = store::Store::open(&desk.folder.path().join("wyren.db"), store::TABLES).unwrap();
    let found = failing(&store, base::Timestamp::from_millis(NOW)).unwrap();
    assert_eq!(found, [Failing { name: "frobnicate".into(), failed: 12, calls: 20 }]);
}
