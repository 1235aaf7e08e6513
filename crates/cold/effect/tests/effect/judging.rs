//! What became of a lesson that was shown.

use crate::desk::{DAY, Desk, Kept, MINUTE, SESSION, Seen, end, failed, guarded, hint, paused, ran};
use effect::{Effect, Verdict};
use proptest::prelude::*;

/// Returns the verdict on the only showing.
fn verdict(seen: &[Seen]) -> Verdict {
    verdict_at(seen, 100 * MINUTE)
}

fn verdict_at(seen: &[Seen], now: u64) -> Verdict {
    let effects = Desk::new().effects(seen, now);
    assert_eq!((effects.len(), effects[0].judged.len()), (1, 1), "{effects:?}");
    effects[0].judged[0].verdict
}

#[test]
fn a_hint_is_heeded_when_none_of_the_next_three_calls_applies_and_one_succeeds() {
    let shown = [hint(MINUTE, "a", "hint-it"), failed(2 * MINUTE, "a", "make")];
    let heeded = [
        ran(3 * MINUTE, "b", "ls"),
        failed(4 * MINUTE, "c", "make -j1"),
        ran(5 * MINUTE, "d", "make -j1 all"),
        ran(6 * MINUTE, "e", "make -j1 check"),
    ];
    assert_eq!(verdict(&[&shown[..], &heeded].concat()), Verdict::Heeded);
    // Two of three so far.
    assert_eq!(verdict(&[&shown[..], &heeded[..3]].concat()), Verdict::Open);
    // None comes any more.
    assert_eq!(verdict(&[&shown[..], &heeded[..3], &[end(7 * MINUTE)]].concat()), Verdict::Heeded);
    assert_eq!(verdict_at(&[&shown[..], &heeded[..3]].concat(), 3 * DAY), Verdict::Heeded);
    // Calls of other programs are no answer.
    assert_eq!(verdict(&[&shown[..], &heeded[..1], &[end(7 * MINUTE)]].concat()), Verdict::Open);
}

#[test]
fn a_hint_is_overruled_by_a_call_that_works_and_fails_with_one_that_does_not() {
    let shown = [hint(MINUTE, "a", "hint-it"), ran(2 * MINUTE, "a", "make")];
    let after = |call: Seen| verdict(&[&shown[..], &[call, end(9 * MINUTE)]].concat());
    assert_eq!(after(ran(3 * MINUTE, "b", "make all")), Verdict::Overruled);
    assert_eq!(after(failed(3 * MINUTE, "b", "make all")), Verdict::Ignored);
    assert_eq!(after(failed(3 * MINUTE, "b", "make -j1")), Verdict::Failed);
    // The user's own hand is neither.
    let interrupted = Kept::Ran { id: "b", command: "make all", error: true, interrupted: true };
    assert_eq!(
        after(Seen { at: 3 * MINUTE, session: SESSION, agent: None, what: interrupted }),
        Verdict::Open
    );
}

#[test]
fn what_happens_in_another_window_says_nothing() {
    let shown = [hint(MINUTE, "a", "hint-it"), ran(2 * MINUTE, "a", "make")];
    let cleared = Seen { at: 3 * MINUTE, session: SESSION, agent: None, what: Kept::Start("clear") };
    let resumed = Seen { at: 3 * MINUTE, session: SESSION, agent: None, what: Kept::Start("resume") };
    let again = ran(4 * MINUTE, "b", "make all");
    assert_eq!(verdict(&[&shown[..], &[cleared, again.clone()]].concat()), Verdict::Open);
    assert_eq!(verdict(&[&shown[..], &[resumed, again.clone()]].concat()), Verdict::Overruled);
    let by_subagent = Seen { agent: Some("helper"), ..again };
    assert_eq!(verdict(&[&shown[..], &[by_subagent]].concat()), Verdict::Open);
}

#[test]
fn a_pause_is_heeded_by_another_call_and_overruled_by_the_same() {
    let after = |calls: &[Seen]| verdict(&[&[paused(MINUTE, "a", "make all")], calls].concat());
    assert_eq!(after(&[ran(2 * MINUTE, "b", "make -j1 all")]), Verdict::Heeded);
    assert_eq!(after(&[ran(2 * MINUTE, "b", "make all")]), Verdict::Overruled);
    assert_eq!(after(&[failed(2 * MINUTE, "b", "make all")]), Verdict::Ignored);
    assert_eq!(after(&[failed(2 * MINUTE, "b", "make -j1"), end(3 * MINUTE)]), Verdict::Failed);
    // Not repeated at all: what was run instead counts.
    assert_eq!(after(&[ran(2 * MINUTE, "b", "ninja")]), Verdict::Heeded);
    assert_eq!(after(&[]), Verdict::Open);
}

#[test]
fn a_guard_is_judged_by_what_was_run_instead_and_shows_it() {
    let seen = [
        guarded(MINUTE, "a", "make all"),
        failed(2 * MINUTE, "b", "ninja"),
        ran(3 * MINUTE, "c", "make -j1 all"),
    ];
    let effects = Desk::new().effects(&seen, 10 * MINUTE);
    let judged = &effects[0].judged[0];
    assert_eq!(judged.verdict, Verdict::Heeded);
    assert_eq!(judged.call.as_ref().unwrap().text, "make all");
    let instead: Vec<(&str, &str, bool)> =
        judged.following.iter().map(|call| (call.text.as_str(), call.fate.name(), call.applies)).collect();
    assert_eq!(instead, [("ninja", "failed", false), ("make -j1 all", "succeeded", false)]);
    // A person lifted it.
    assert_eq!(verdict(&[guarded(MINUTE, "a", "make"), ran(2 * MINUTE, "b", "make")]), Verdict::Overruled);
}

#[test]
fn a_lesson_that_is_no_more_is_counted_as_shown() {
    let effects = Desk::new().effects(&[hint(MINUTE, "a", "gone"), ran(2 * MINUTE, "a", "make")], DAY);
    assert_eq!((effects[0].layer, effects[0].tally.shown), (None, 1));
    assert!(!effects[0].is_annoying());
}

#[test]
fn each_verdict_counts_half_after_ninety_days_and_confidence_returns_to_that_of_the_file() {
    let seen = [paused(MINUTE, "a", "make all"), ran(2 * MINUTE, "b", "make all")];
    let confidence = |days: u64| Desk::new().effects(&seen, days * DAY)[0].confidence();
    // The file says 80 %, which is worth four verdicts.
    assert_eq!(confidence(0), 64);
    assert_eq!(confidence(90), 71);
    assert_eq!(confidence(3_000), 80);
}

#[test]
fn a_lesson_that_was_ignored_and_right_loses_nothing() {
    let ignored = [paused(MINUTE, "a", "make all"), failed(2 * MINUTE, "b", "make all")];
    let effect = &Desk::new().effects(&ignored, 10 * MINUTE)[0];
    assert_eq!((effect.tally.failed, effect.confidence()), (1, 80));
    let misled = [paused(MINUTE, "a", "make all"), failed(2 * MINUTE, "b", "make -j1"), end(3 * MINUTE)];
    let effect = &Desk::new().effects(&misled, 10 * MINUTE)[0];
    assert_eq!((effect.tally.failed, effect.confidence()), (1, 64));
}

#[test]
fn confidence_reaches_the_file_that_hooks_read_and_leaves_it_with_what_it_came_from() {
    let desk = Desk::new();
    let effects = desk.effects(&[paused(MINUTE, "a", "make all"), ran(2 * MINUTE, "b", "make all")], DAY);
    effect::measure::write(&desk.paths(), &effects).unwrap();
    let personal = lessons::layers::Source::own(&desk.paths()).pop().unwrap();
    assert_eq!(personal.measured().of("pause-it"), Some(64));
    assert_eq!(personal.measured().of("hint-it"), None);
    effect::measure::write(&desk.paths(), &[]).unwrap();
    assert!(!personal.measured_file().exists());
}

fn scripted() -> Vec<Seen> {
    vec![
        hint(MINUTE, "a", "hint-it"),
        failed(2 * MINUTE, "a", "make"),
        ran(3 * MINUTE, "b", "make -j1"),
        paused(4 * MINUTE, "c", "make all"),
        ran(5 * MINUTE, "d", "make all"),
        ran(6 * MINUTE, "e", "make -j1 check"),
        guarded(7 * MINUTE, "f", "make install"),
        ran(8 * MINUTE, "g", "make -j1 install"),
        end(9 * MINUTE),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_observations_come_does_not_matter(seen in Just(scripted()).prop_shuffle()) {
        let told = |seen: &[Seen]| {
            let effects = Desk::new().effects(seen, DAY);
            let one = |effect: &Effect| format!("{} {:?} {}", effect.name, effect.tally, effect.judged[0].reason);
            effects.iter().map(one).collect::<Vec<_>>()
        };
        prop_assert_eq!(told(&seen), told(&scripted()));
    }
}
