//! Plans, tasks and lines of sessions are a function of the observations alone: neither their order, nor repetition, nor when
//! they are drained matters, and where some are missing the rest tells the same in any order, too.

use crate::bench::{Bench, end, observed, plan, prompt, start, task, works};
use proptest::prelude::*;
use serde_json::{Value, json};
use work::contexts::read::{self, Which};

/// Three sessions that continue each other, with plans of every outcome and tasks that change in each.
fn observations() -> Vec<Value> {
    let create =
        |number: &str, subject: &str| json!({"tool": "TaskCreate", "task": number, "subject": subject});
    let update = |number: &str, status: &str| json!({"tool": "TaskUpdate", "task": number, "status": status, "deleted": status == "deleted"});
    let todos = |status: &str| json!({"tool": "TodoWrite", "todos": [{"content": "Write it down", "status": status}, {"content": "Do A", "status": status}]});
    let with = |mut data: Value, more: &Value| {
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        data
    };
    vec![
        prompt(1, "a", "1"),
        plan(2, "a", "1", "# First", false),
        prompt(3, "a", "2"),
        plan(4, "a", "2", "# Second", false),
        plan(5, "a", "2", "# Second", true),
        task(6, "a", &create("1", "Do A")),
        task(7, "a", &create("2", "Do B")),
        task(8, "a", &create("3", "Do C")),
        task(9, "a", &with(update("2", "in_progress"), &json!({"blocked_by": ["1"], "blocks": ["3"]}))),
        task(10, "a", &update("3", "deleted")),
        end(11, "a", "clear-1", "clear"),
        start(12, "b", "clear-1", "clear"),
        task(13, "b", &create("1", "Do B")),
        task(14, "b", &create("2", "Do A")),
        task(
            15,
            "b",
            &with(update("2", "completed"), &json!({"evidence": "seen", "files_changed": ["a.rs"]})),
        ),
        task(16, "b", &with(create("3", "Not kept"), &json!({"skip_persistence": true}))),
        task(17, "b", &update("3", "completed")),
        prompt(18, "b", "3"),
        plan(19, "b", "3", "# Third", false),
        observed(
            20,
            "b",
            "refused",
            "3",
            json!({"tool": "ExitPlanMode", "tool_use_id": "toolu_3", "by": "user"}),
        ),
        plan(21, "b", "4", "# Third, changed", false),
        end(22, "b", "4", "clear"),
        start(23, "c", "4", "clear"),
        task(24, "c", &todos("pending")),
        task(25, "c", &todos("completed")),
        task(26, "c", &with(update("1", "completed"), &json!({"list": "shared"}))),
        works(1, "a", true),
        // Beside it, a session that takes the same context up, and much later one of something else.
        prompt(27, "d", "9"),
        works(28, "d", false),
        task(29, "d", &create("1", "Do D")),
        prompt(60_000, "e", "1"),
    ]
}

/// Shuffles by a seed, without a library.
fn shuffled(mut lines: Vec<Value>, mut seed: u64) -> Vec<Value> {
    for at in (1..lines.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(at, (seed >> 33) as usize % (at + 1));
    }
    lines
}

#[test]
fn a_session_of_the_same_context_gets_what_the_others_left() {
    let bench = Bench::with(&observations());
    let contexts = read::list(&bench.store, None, Which::All).unwrap();
    assert_eq!(contexts[0].sessions.len(), 4, "{contexts:#?}");
    // Session c never ended: it counts as ended long before the last observation.
    let restored = bench.restored("d");
    assert_eq!(restored.plan.as_ref().map(|plan| plan.title()), Some("Third, changed"));
    let open: Vec<&str> = restored.open.iter().map(|task| &*task.subject).collect();
    assert_eq!(open, ["Do B", "Do D"]);
}

#[test]
fn the_sessions_tell_one_story() {
    let bench = Bench::with(&observations());
    let (plans, tasks) = bench.state("b");
    let plans: Vec<_> = plans.iter().map(|plan| (plan.title(), plan.version, plan.status.name())).collect();
    assert_eq!(
        plans,
        [
            ("First", 1, "rejected"),
            ("Second", 2, "accepted"),
            ("Third", 3, "rejected"),
            ("Third, changed", 4, "accepted")
        ]
    );
    let told = |is_deleted: bool| -> Vec<(&str, &str)> {
        tasks
            .iter()
            .filter(|task| task.is_deleted == is_deleted)
            .map(|task| (&*task.subject, &*task.status))
            .collect()
    };
    assert_eq!(told(true), [("Do C", "pending")]);
    assert_eq!(
        told(false),
        [
            ("Do A", "completed"),
            ("Do B", "in_progress"),
            ("Write it down", "completed"),
            ("Do A", "completed"),
            ("", "completed")
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_does_not_depend_on_order_repetition_or_drains(seed in any::<u64>(), pieces in 1usize..6, missing in any::<u32>()) {
        // Some are missing: each by a bit, and none in every second run.
        let mut bits = if seed % 2 == 0 { 0 } else { u64::from(missing) };
        let mut lines = observations();
        lines.retain(|_| { bits = bits.rotate_right(1); bits & 1 == 0 });
        let expected = Bench::with(&lines);

        let mut bench = Bench::new();
        let mut mixed = shuffled(lines, seed);
        let repeated: Vec<Value> = mixed.iter().step_by(3).cloned().collect();
        mixed.extend(repeated);
        for piece in mixed.chunks(mixed.len().div_ceil(pieces).max(1)) {
            piece.iter().for_each(|line| bench.line(line));
            bench.drain();
        }
        for session in ["a", "b", "c", "d"] {
            prop_assert_eq!(bench.state(session), expected.state(session), "session {}", session);
            if bench.row(session).is_some() {
                prop_assert_eq!(bench.around(session), expected.around(session));
                prop_assert_eq!(bench.restored(session), expected.restored(session));
            }
        }
        let contexts = |bench: &Bench| read::list(&bench.store, None, Which::All).unwrap();
        prop_assert_eq!(contexts(&bench), contexts(&expected));
    }
}
