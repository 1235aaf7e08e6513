use super::*;
use serde_json::{Value, json};

fn observed(at: u64, kind: &str, prompt: &str, data: Value) -> Observed {
    Observed {
        session: "s".into(),
        kind: kind.into(),
        id: format!("{kind}:{at}"),
        at,
        prompt_id: Some(prompt.into()),
        agent: None,
        data,
    }
}

fn shown(at: u64, prompt: &str, text: &str) -> Observed {
    plan(at, prompt, text, &format!("toolu_{text}_{at}"), false)
}

fn plan(at: u64, prompt: &str, text: &str, call: &str, accepted: bool) -> Observed {
    let data = json!({"text": format!("# {text}"), "digest": text, "path": "/p.md", "tool_use_id": call, "accepted": accepted});
    observed(at, "plan", prompt, data)
}

fn prompt(at: u64, id: &str) -> Observed {
    observed(at, "prompt", id, json!({"text": "go on"}))
}

fn end(at: u64, prompt: &str, reason: &str) -> Observed {
    observed(at, "session-end", prompt, json!({"reason": reason}))
}

#[track_caller]
fn check(observations: &[Observed], expected: &[(&str, usize, Status)]) {
    let plans = state(observations);
    let found: Vec<(&str, usize, Status)> =
        plans.iter().map(|plan| (&*plan.digest, plan.version, plan.status)).collect();
    assert_eq!(found, expected, "{plans:#?}");
}

#[test]
fn a_plan_whose_tool_ran_was_accepted() {
    check(
        &[prompt(1, "1"), plan(2, "1", "A", "c", false), plan(3, "1", "A", "c", true), prompt(4, "2")],
        &[("A", 1, Status::Accepted)],
    );
    // Only the acceptance was recorded.
    check(&[plan(3, "1", "A", "c", true)], &[("A", 1, Status::Accepted)]);
}

#[test]
fn a_plan_before_the_end_of_the_window_under_the_same_prompt_was_accepted() {
    let observations = [prompt(1, "1"), shown(2, "1", "A"), end(3, "1", "clear")];
    check(&observations, &[("A", 1, Status::Accepted)]);
    let plan = &state(&observations)[0];
    assert_eq!((plan.accepted_at, plan.cleared_by.as_deref()), (Some(3), Some("1")));
    // `/clear` itself has another prompt, and was typed after the question was left; leaving the client says nothing.
    check(&[prompt(1, "1"), shown(2, "1", "A"), end(3, "9", "clear")], &[("A", 1, Status::Rejected)]);
    check(&[prompt(1, "1"), shown(2, "1", "A"), end(3, "", "clear")], &[("A", 1, Status::Shown)]);
    check(
        &[prompt(1, "1"), shown(2, "1", "A"), end(3, "1", "prompt_input_exit")],
        &[("A", 1, Status::Shown)],
    );
}

#[test]
fn line_10_a_plan_that_another_prompt_or_plan_follows_was_rejected() {
    check(&[shown(1, "1", "A"), prompt(2, "2")], &[("A", 1, Status::Rejected)]);
    check(
        &[shown(1, "1", "A"), shown(2, "1", "B"), end(3, "1", "clear")],
        &[("A", 1, Status::Rejected), ("B", 2, Status::Accepted)],
    );
    let refused =
        observed(2, "refused", "1", json!({"tool": "ExitPlanMode", "tool_use_id": "c", "by": "user"}));
    check(&[plan(1, "1", "A", "c", false), refused], &[("A", 1, Status::Rejected)]);
}

#[test]
fn line_10_an_unchanged_plan_is_kept_once_and_a_second_one_is_accepted_beside_it() {
    check(
        &[
            shown(1, "1", "A"),
            prompt(2, "2"),
            plan(3, "2", "A", "c", false),
            plan(4, "2", "A", "c", true),
            plan(5, "3", "B", "d", false),
            plan(6, "3", "B", "d", true),
        ],
        &[("A", 1, Status::Accepted), ("B", 2, Status::Accepted)],
    );
}

#[test]
fn a_plan_that_the_user_changed_gives_way_to_what_they_accepted() {
    check(
        &[plan(1, "1", "A", "c", false), plan(2, "1", "B", "c", true)],
        &[("A", 1, Status::Changed), ("B", 2, Status::Accepted)],
    );
}

#[test]
fn the_title_is_the_first_heading() {
    let of = |text: &str| Plan { text: text.into(), ..Plan::default() };
    assert_eq!(of("\nAbout it\n## The title \nmore").title(), "The title");
    assert_eq!(of("\n  Do it\n").title(), "Do it");
    assert_eq!(of("").title(), "");
}
