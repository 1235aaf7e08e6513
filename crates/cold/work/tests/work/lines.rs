//! Which sessions continue each other, and how each ended.

use crate::bench::{AT, Bench, end, observed, plan, prompt, start, task};
use serde_json::json;
use work::line::{self, End};

#[test]
fn the_end_and_the_start_with_the_same_prompt_link_two_sessions() {
    let bench = Bench::with(&[
        prompt(1, "a", "1"),
        end(2, "a", "clear-1", "clear"),
        start(3, "b", "clear-1", "clear"),
        prompt(4, "b", "2"),
        end(5, "b", "clear-2", "clear"),
        start(6, "c", "clear-2", "clear"),
        // Another session in the same project.
        prompt(7, "d", "9"),
    ]);
    for session in ["a", "b", "c"] {
        assert_eq!(bench.around(session), ["a", "b", "c"]);
    }
    assert_eq!(bench.around("d"), ["d"]);
}

#[test]
fn a_start_that_is_not_recorded_yet_knows_what_it_continues() {
    let bench = Bench::with(&[prompt(1, "a", "1"), end(2, "a", "clear-1", "clear")]);
    let before = |session: &str, prompt: &str| {
        line::before(bench.store.connection(), "claude-code", session, prompt).unwrap()
    };
    assert_eq!(before("b", "clear-1"), bench.row("a"));
    assert_eq!(before("b", "another"), None);
    assert_eq!(before("a", "clear-1"), None);
}

#[test]
fn going_back_to_an_earlier_session_continues_nothing() {
    let bench = Bench::with(&[
        prompt(1, "old", "1"),
        end(2, "old", "1", "other"),
        prompt(3, "now", "2"),
        end(4, "now", "resume-1", "resume"),
        start(5, "old", "resume-1", "resume"),
    ]);
    assert_eq!(bench.around("old"), ["old"]);
    assert_eq!(line::before(bench.store.connection(), "claude-code", "old", "resume-1").unwrap(), None);
}

#[test]
fn a_session_ends_with_its_reason_and_one_that_never_ended_with_unknown() {
    let long_ago = observed(1, "killed", "prompt", "1", json!({"text": "go on"}));
    let mut recent = prompt(2, "open", "2");
    recent["ts"] = (AT + 48 * 60 * 60 * 1_000).into();
    let mut left = end(3, "left", "3", "prompt_input_exit");
    left["ts"] = recent["ts"].clone();
    let mut bench = Bench::with(&[long_ago, recent, left.clone()]);
    let end_of = |bench: &Bench, session: &str| {
        line::end_of(bench.store.connection(), bench.row(session).unwrap()).unwrap()
    };
    assert_eq!(end_of(&bench, "killed"), Some(End { at: AT + 1_000, reason: line::UNKNOWN.to_owned() }));
    assert_eq!(end_of(&bench, "open"), None);
    let reason = end_of(&bench, "left").map(|end| end.reason);
    assert_eq!(reason.as_deref(), Some("prompt_input_exit"));
    // It was only away for long.
    let mut again = prompt(4, "killed", "4");
    again["ts"] = left["ts"].clone();
    bench.line(&again);
    bench.drain();
    assert_eq!(end_of(&bench, "killed"), None);
}

#[test]
fn what_is_forgotten_is_in_no_state() {
    let lines = [
        prompt(1, "a", "1"),
        plan(2, "a", "1", "# Forgotten", true),
        task(3, "a", &json!({"tool": "TaskCreate", "task": "1", "subject": "Forgotten"})),
        task(4, "a", &json!({"tool": "TaskCreate", "task": "2", "subject": "Kept"})),
    ];
    let mut bench = Bench::with(&lines);
    let (plans, tasks) = bench.state("a");
    assert_eq!((plans.len(), tasks.len()), (1, 2));
    let selection =
        store::observations::Selection { query: Some("Forgotten".to_owned()), ..Default::default() };
    bench.forget(&selection);
    let (plans, tasks) = bench.state("a");
    assert_eq!(plans, []);
    assert_eq!(tasks.iter().map(|task| &*task.subject).collect::<Vec<_>>(), ["Kept"]);
}

#[test]
fn a_plan_that_is_forgotten_takes_its_acceptance_along() {
    let lines =
        [plan(1, "a", "1", "# A", false), plan(2, "a", "1", "# A", true), plan(3, "a", "2", "# B", true)];
    let mut bench = Bench::with(&lines);
    let ids = vec!["plan:1".to_owned()];
    bench.forget(&store::observations::Selection { ids, ..Default::default() });
    let (plans, _) = bench.state("a");
    assert_eq!(plans.iter().map(|plan| plan.title()).collect::<Vec<_>>(), ["B"]);
}
