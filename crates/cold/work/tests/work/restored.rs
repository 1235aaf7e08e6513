//! What a start goes on with.

use crate::bench::{Bench, end, observed, plan, prompt, start, task, works};
use serde_json::{Value, json};
use work::contexts::read::by_id;
use work::restore::{Parts, Start, look, of_context};
use work::{line, tasks};

fn cleared<'a>(session: &'a str, prompt_id: &'a str) -> Start<'a> {
    Start {
        platform: "claude-code",
        session,
        prompt_id: Some(prompt_id),
        is_cleared: true,
        shared_list: None,
    }
}

fn compacted(session: &str) -> Start<'_> {
    Start { platform: "claude-code", session, ..Start::default() }
}

fn found(lines: &[Value], start: &Start<'_>) -> Parts {
    look(Bench::with(lines).store.connection(), start).unwrap()
}

fn create(at: u64, session: &str, number: &str, subject: &str) -> Value {
    task(at, session, &json!({"tool": "TaskCreate", "task": number, "subject": subject}))
}

fn update(at: u64, session: &str, number: &str, status: &str) -> Value {
    task(at, session, &json!({"tool": "TaskUpdate", "task": number, "status": status}))
}

#[track_caller]
fn check(parts: &Parts, plan: Option<&str>, open: &[&str]) {
    assert_eq!(parts.plan.as_ref().map(|plan| plan.title()), plan, "{parts:#?}");
    assert_eq!(parts.open.iter().map(|task| &*task.subject).collect::<Vec<_>>(), open, "{parts:#?}");
}

fn accepted() -> Vec<Value> {
    vec![
        prompt(1, "a", "1"),
        plan(2, "a", "1", "# The plan", false),
        plan(3, "a", "1", "# The plan", true),
        create(4, "a", "1", "Do A"),
        create(5, "a", "2", "Do B"),
        update(6, "a", "1", "completed"),
    ]
}

#[test]
fn after_clear_the_accepted_plan_and_the_open_tasks_come_back() {
    let lines = [accepted(), vec![end(7, "a", "clear-1", "clear")]].concat();
    let parts = found(&lines, &cleared("b", "clear-1"));
    check(&parts, Some("The plan"), &["Do B"]);
    assert_eq!((parts.progress.all, parts.progress.completed), (2, 1));
    assert!(parts.listed.is_empty() && parts.is_list_empty && !parts.is_plan_in_window);
    // A start that continues nothing, or another session, gets nothing.
    check(&found(&lines, &cleared("b", "another")), None, &[]);
    check(&found(&lines, &compacted("b")), None, &[]);
}

#[test]
fn after_a_second_clear_they_come_back_with_what_was_done_in_between() {
    let lines = [
        accepted(),
        vec![
            end(7, "a", "clear-1", "clear"),
            start(8, "b", "clear-1", "clear"),
            create(9, "b", "1", "Do B"),
            create(10, "b", "2", "Do C"),
            update(11, "b", "1", "completed"),
            end(12, "b", "clear-2", "clear"),
        ],
    ]
    .concat();
    let parts = found(&lines, &cleared("c", "clear-2"));
    check(&parts, Some("The plan"), &["Do C"]);
    assert_eq!((parts.progress.all, parts.progress.completed), (3, 2));
}

#[test]
fn after_compaction_the_list_is_still_there() {
    let parts = found(&accepted(), &compacted("a"));
    check(&parts, Some("The plan"), &["Do B"]);
    assert_eq!((parts.listed.len(), parts.is_list_empty), (1, false));
}

#[test]
fn a_rejected_or_finished_plan_does_not_come_back() {
    let rejected = [
        prompt(1, "a", "1"),
        plan(2, "a", "1", "# The plan", false),
        prompt(3, "a", "2"),
        create(4, "a", "1", "Do A"),
        end(5, "a", "clear-1", "clear"),
    ];
    check(&found(&rejected, &cleared("b", "clear-1")), None, &["Do A"]);
    let finished =
        [accepted(), vec![update(7, "a", "2", "completed"), end(8, "a", "clear-1", "clear")]].concat();
    check(&found(&finished, &cleared("b", "clear-1")), None, &[]);
}

#[test]
fn a_plan_that_was_accepted_with_a_new_window_is_there_already() {
    let lines = [prompt(1, "a", "1"), plan(2, "a", "1", "# The plan", false), end(3, "a", "1", "clear")];
    let parts = found(&lines, &cleared("b", "1"));
    check(&parts, Some("The plan"), &[]);
    assert!(parts.is_plan_in_window);
}

#[test]
fn a_shared_list_is_not_created_anew() {
    let shared = |at, data: &Value| {
        let mut data = data.clone();
        data["list"] = "ours".into();
        task(at, "a", &data)
    };
    let lines = [
        prompt(1, "a", "1"),
        shared(2, &json!({"tool": "TaskCreate", "task": "1", "subject": "Do A"})),
        end(3, "a", "clear-1", "clear"),
    ];
    let parts = found(&lines, &Start { shared_list: Some("ours"), ..cleared("b", "clear-1") });
    check(&parts, None, &["Do A"]);
    assert_eq!((parts.listed.len(), parts.is_list_empty), (1, false));
}

#[test]
fn what_a_subagent_planned_for_itself_does_not_come_back() {
    let mut plan = plan(2, "a", "1", "# Of a subagent", true);
    plan["agent"] = "agent-1".into();
    let todos = json!({"tool": "TodoWrite", "todos": [{"content": "Of a subagent", "status": "pending"}]});
    let mut todos = task(3, "a", &todos);
    todos["agent"] = "agent-1".into();
    let lines = [prompt(1, "a", "1"), plan, todos, end(4, "a", "clear-1", "clear")];
    check(&found(&lines, &cleared("b", "clear-1")), None, &[]);
}

/// Another session takes up the context of [`accepted`].
fn taken_up() -> Vec<Value> {
    [accepted(), vec![works(2, "a", true), prompt(11, "b", "9"), works(12, "b", false)]].concat()
}

#[test]
fn a_session_that_takes_up_a_context_gets_the_plan_and_the_open_tasks_of_its_sessions() {
    // Whether or not the session before has ended.
    for ended in [false, true] {
        let mut lines = taken_up();
        if ended {
            lines.push(end(10, "a", "9", "prompt_input_exit"));
        }
        let bench = Bench::with(&lines);
        let context = by_id(&bench.store, "261118-0905-cents").unwrap().unwrap();
        let parts = of_context(bench.store.connection(), &context, &compacted("b")).unwrap();
        check(&parts, Some("The plan"), &["Do B"]);
        assert!(parts.listed.is_empty() && !parts.is_list_empty);
        // And again after its window was compacted or cleared.
        check(&look(bench.store.connection(), &compacted("b")).unwrap(), Some("The plan"), &["Do B"]);
        lines.push(end(13, "b", "clear-1", "clear"));
        check(&found(&lines, &cleared("c", "clear-1")), Some("The plan"), &["Do B"]);
    }
}

#[test]
fn what_goes_on_in_another_session_of_the_context_stays_there() {
    let mut lines = taken_up();
    lines.extend([create(14, "a", "3", "Do C"), create(15, "b", "1", "Do D")]);
    check(&found(&lines, &compacted("b")), None, &["Do D"]);
    // Until that session ends.
    lines.push(end(16, "a", "9", "prompt_input_exit"));
    let parts = found(&lines, &compacted("b"));
    check(&parts, Some("The plan"), &["Do B", "Do C", "Do D"]);
    assert_eq!(parts.listed.len(), 1, "{parts:#?}");
}

#[test]
fn equal_words_are_one_task_in_one_piece_of_work_and_two_in_two() {
    let told = |lines: &[Value]| {
        let bench = Bench::with(lines);
        let connection = bench.store.connection();
        let sessions = ["a", "b"].map(|session| bench.row(session).unwrap());
        let groups = line::groups(connection, &sessions).unwrap();
        let tasks = tasks::of_groups(connection, &groups).unwrap();
        let of_b = tasks::of_line(connection, sessions[1]).unwrap();
        assert!(tasks.iter().any(|task| task.id == of_b[0].id), "the id is that of the session: {tasks:#?}");
        tasks.len()
    };
    let apart = [create(1, "a", "1", "Run the tests"), create(3, "b", "1", "Run the tests")];
    assert_eq!(told(&apart), 2);
    let linked = [
        create(1, "a", "1", "Run the tests"),
        end(2, "a", "clear-1", "clear"),
        start(2, "b", "clear-1", "clear"),
        create(3, "b", "1", "Run the tests"),
    ];
    assert_eq!(told(&linked), 1);
}

#[test]
fn a_session_that_goes_to_another_context_leaves_plans_and_tasks_with_the_one_before() {
    let work = |at, action: Value| {
        let mut data = json!({"context": "261118-0930-manual"});
        data.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
        observed(at, "a", "work", "1", data)
    };
    let mut lines = accepted();
    lines.extend([
        works(1, "a", true),
        work(10, json!({"action": "new", "summary": "manual", "method": "auto-created", "bind": true})),
        plan(11, "a", "2", "# The manual", true),
        create(12, "a", "3", "Write it"),
        update(13, "a", "2", "in_progress"),
    ]);
    let told = |lines: &[Value], id: &str| {
        let bench = Bench::with(lines);
        let context = by_id(&bench.store, id).unwrap().unwrap();
        of_context(bench.store.connection(), &context, &compacted("z")).unwrap()
    };
    let (cents, manual) = ("261118-0905-cents", "261118-0930-manual");
    check(&told(&lines, cents), Some("The plan"), &["Do B"]);
    check(&told(&lines, manual), Some("The manual"), &["Write it"]);
    // After compaction and `/clear`, what the session works on counts.
    check(&found(&lines, &compacted("a")), Some("The manual"), &["Write it"]);
    let mut back = lines.clone();
    back.push(works(14, "a", false));
    check(&found(&back, &compacted("a")), Some("The plan"), &["Do B"]);
    lines.push(end(15, "a", "clear-1", "clear"));
    check(&found(&lines, &cleared("b", "clear-1")), Some("The manual"), &["Write it"]);
}

#[test]
fn what_was_done_for_a_context_that_is_done_does_not_come_back() {
    let done = observed(10, "x", "work", "", json!({"context": "261118-0905-cents", "action": "done"}));
    let mut lines = [accepted(), vec![works(1, "a", true), done]].concat();
    check(&found(&lines, &compacted("a")), None, &[]);
    lines.push(end(11, "a", "clear-1", "clear"));
    check(&found(&lines, &cleared("b", "clear-1")), None, &[]);
    // Opened again, it is to be done again.
    lines.push(observed(12, "x", "work", "", json!({"context": "261118-0905-cents", "action": "reopen"})));
    check(&found(&lines, &cleared("b", "clear-1")), Some("The plan"), &["Do B"]);
}

#[test]
fn a_plan_that_was_accepted_again_counts_more_than_one_in_between() {
    let shown = |at: u64, title: &str| plan(at, "a", "1", title, true);
    let lines = [prompt(1, "a", "1"), shown(2, "# One"), shown(3, "# Another"), shown(4, "# One")];
    check(&found(&lines, &compacted("a")), Some("One"), &[]);
    check(&found(&lines[..3], &compacted("a")), Some("Another"), &[]);
}

#[test]
fn what_a_person_left_comes_before_a_compactions_handoff_until_a_session_goes_on_from_it() {
    let left = |at, id: &str, origin: &str| {
        let data = json!({"context": "261118-0905-cents", "action": "handoff", "digest": id, "id": id, "origin": origin,
            "sections": [{"name": "dead ends", "text": "- none"}]});
        observed(at, "a", "work", "1", data)
    };
    let mut lines = taken_up();
    lines.push(left(13, "of-a-person", "asked"));
    lines.push(left(15, "of-a-compaction", "compaction"));
    let ids = |lines: &[Value]| -> Vec<String> {
        found(lines, &compacted("b")).handoffs.into_iter().map(|handed| handed.handoff.id).collect()
    };
    assert_eq!(ids(&lines), ["of-a-person", "of-a-compaction"]);
    let resumed = json!({"context": "261118-0905-cents", "action": "resumed", "digest": "of-a-person"});
    lines.insert(lines.len() - 1, observed(14, "b", "work", "9", resumed));
    assert_eq!(ids(&lines), ["of-a-compaction"]);
}

#[test]
fn a_task_whose_words_were_not_recorded_is_not_added_to_another_list() {
    // It was added under a private prompt.
    let lines = [
        prompt(1, "a", "1"),
        update(2, "a", "1", "in_progress"),
        create(3, "a", "2", "Do B"),
        end(4, "a", "clear-1", "clear"),
    ];
    check(&found(&lines, &cleared("b", "clear-1")), None, &["Do B"]);
    check(&found(&lines, &compacted("a")), None, &["", "Do B"]);
}
