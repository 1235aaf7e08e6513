use super::*;
use serde_json::json;

/// One call of a session, in the order in which they are written.
fn call(at: u64, session: &str, mut data: Value) -> Observed {
    if data.get("list").is_none() {
        data["list"] = session.into();
    }
    Observed {
        session: session.into(),
        kind: "task".into(),
        id: format!("t:{at}"),
        at,
        data,
        ..Observed::default()
    }
}

fn create(at: u64, session: &str, number: &str, subject: &str) -> Observed {
    call(at, session, json!({"tool": "TaskCreate", "task": number, "subject": subject}))
}

fn update(at: u64, session: &str, number: &str, status: &str) -> Observed {
    let deleted = status == "deleted";
    call(at, session, json!({"tool": "TaskUpdate", "task": number, "status": status, "deleted": deleted}))
}

fn subjects(tasks: &[Task], status: &str) -> Vec<String> {
    tasks
        .iter()
        .filter(|task| !task.is_deleted && task.status == status)
        .map(|task| task.subject.clone())
        .collect()
}

#[test]
fn line_12_an_update_in_a_second_session_changes_the_right_task() {
    let mut calls = vec![create(1, "a", "1", "Do A"), create(2, "a", "2", "Do B")];
    let before = state(&calls);
    let again = |at, number: &str, subject: &str, id: &str| {
        let data = json!({"tool": "TaskCreate", "task": number, "subject": subject, "persistent_id": id, "skip_persistence": true});
        call(at, "b", data)
    };
    // The second session numbers them the other way round, and has one of its own.
    calls.extend([
        again(3, "1", "Do B", &before[1].id),
        again(4, "2", "Do A", &before[0].id),
        create(5, "b", "3", "Do C"),
        update(6, "b", "1", "completed"),
        update(7, "b", "3", "in_progress"),
    ]);
    let after = state(&calls);
    assert_eq!(after.len(), 3, "{after:#?}");
    assert_eq!((&after[0].id, &after[1].id), (&before[0].id, &before[1].id));
    assert_eq!(subjects(&after, "completed"), ["Do B"]);
    assert_eq!(subjects(&after, "pending"), ["Do A"]);
    assert_eq!(subjects(&after, "in_progress"), ["Do C"]);
    assert_eq!(after[1].numbers, BTreeMap::from([("a".into(), "2".into()), ("b".into(), "1".into())]));
}

#[test]
fn line_12_the_id_of_a_deleted_task_is_never_given_again() {
    let mut calls = vec![create(1, "a", "1", "Do A"), update(2, "a", "1", "deleted")];
    let deleted = state(&calls)[0].id.clone();
    // The client gives the number of the highest task again, and a model may ask for the id.
    calls.push(create(3, "a", "1", "Do B"));
    calls.push(call(
        4,
        "a",
        json!({"tool": "TaskCreate", "task": "2", "subject": "Do C", "persistent_id": deleted}),
    ));
    calls.push(update(5, "a", "1", "completed"));
    calls.push(call(
        6,
        "a",
        json!({"tool": "TaskUpdate", "task": "9", "status": "pending", "persistent_id": deleted}),
    ));
    let tasks = state(&calls);
    assert_eq!(tasks.iter().filter(|task| task.id == deleted).count(), 1);
    assert!(tasks[0].is_deleted && tasks[0].subject == "Do A", "{tasks:#?}");
    assert_eq!(
        (subjects(&tasks, "completed"), subjects(&tasks, "pending")),
        (vec!["Do B".into()], vec!["Do C".into()])
    );
}

#[test]
fn line_12_an_id_that_no_task_has_makes_no_second_task() {
    let named = |at, session: &str, tool: &str, number: &str, more: Value| {
        let mut data =
            json!({"tool": tool, "task": number, "persistent_id": "t-0bad", "skip_persistence": true});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(at, session, data)
    };
    let calls = [
        create(1, "a", "1", "Do A"),
        create(2, "a", "2", "Do B"),
        // Made again with a slip of the pen, and changed with one.
        named(3, "b", "TaskCreate", "1", json!({"subject": "Do B"})),
        create(4, "b", "2", "Do C"),
        named(5, "b", "TaskUpdate", "2", json!({"status": "completed"})),
    ];
    let tasks = state(&calls);
    assert_eq!(tasks.len(), 3, "{tasks:#?}");
    assert_eq!(
        (subjects(&tasks, "pending"), subjects(&tasks, "completed")),
        (vec!["Do A".into(), "Do B".into()], vec!["Do C".into()])
    );
    // Where the task itself was not recorded, the id is all that is known of it.
    let tasks = state(&[
        named(1, "b", "TaskCreate", "1", json!({"subject": "Do D"})),
        update(2, "b", "1", "completed"),
    ]);
    assert_eq!((&*tasks[0].id, &*tasks[0].status, tasks.len()), ("t-0bad", "completed", 1));
}

#[test]
fn a_restored_task_without_its_id_is_known_by_its_subject_and_not_recorded_twice() {
    let calls = [
        create(1, "a", "1", "Do A"),
        create(2, "a", "2", "Do A"),
        create(3, "b", "1", " do  a "),
        update(4, "b", "1", "completed"),
        // Completed, so this one is new.
        create(5, "c", "1", "Do A"),
        create(6, "c", "2", "Do A"),
    ];
    let tasks = state(&calls);
    assert_eq!(tasks.len(), 3, "{tasks:#?}");
    assert_eq!(subjects(&tasks, "completed").len(), 1);
}

#[test]
fn what_is_not_to_be_kept_is_not_and_takes_no_other_task_along() {
    let skip = json!({"tool": "TaskCreate", "task": "1", "skip_persistence": true});
    let calls = [create(1, "a", "1", "Do A"), call(2, "a", skip), update(3, "a", "1", "completed")];
    let tasks = state(&calls);
    assert_eq!(subjects(&tasks, "pending"), ["Do A"], "{tasks:#?}");
    assert_eq!(tasks.len(), 1);
}

#[test]
fn a_task_that_is_made_again_keeps_its_state_and_its_evidence() {
    let done = json!({"tool": "TaskUpdate", "task": "1", "status": "completed", "evidence": "42 tests pass",
        "work_summary": "wrote it", "files_changed": ["a.rs"]});
    let mut calls = vec![create(1, "a", "1", "Do A"), call(2, "a", done)];
    let id = state(&calls)[0].id.clone();
    calls.push(call(
        3,
        "b",
        json!({"tool": "TaskCreate", "task": "1", "subject": "Do A", "persistent_id": id, "skip_persistence": true}),
    ));
    calls.push(call(4, "b", json!({"tool": "TaskUpdate", "task": "1", "files_changed": ["b.rs", "a.rs"]})));
    let task = &state(&calls)[0];
    assert_eq!(
        (&*task.status, &*task.evidence, &*task.work_summary),
        ("completed", "42 tests pass", "wrote it")
    );
    assert_eq!(
        (task.completed_at, &task.files_changed),
        (Some(2), &vec!["a.rs".to_owned(), "b.rs".to_owned()])
    );
}

#[test]
fn a_task_waits_for_those_that_are_open() {
    let wait = json!({"tool": "TaskUpdate", "task": "2", "blocked_by": ["1"], "blocks": ["3"]});
    let mut calls = vec![
        create(1, "a", "1", "Do A"),
        create(2, "a", "2", "Do B"),
        create(3, "a", "3", "Do C"),
        call(4, "a", wait),
    ];
    let tasks = state(&calls);
    assert_eq!(tasks[1].blocked_by, [tasks[0].id.clone()]);
    assert_eq!(tasks[2].blocked_by, [tasks[1].id.clone()]);
    calls.push(update(5, "a", "1", "completed"));
    assert_eq!(state(&calls)[1].blocked_by, Vec::<String>::new());
}

#[test]
fn a_list_that_sessions_share_goes_on_with_its_numbers() {
    let shared = |at, session: &str, tool: &str, status: &str| {
        call(
            at,
            session,
            json!({"tool": tool, "task": "1", "subject": "Do A", "status": status, "list": "ours"}),
        )
    };
    let calls = [
        shared(1, "a", "TaskCreate", ""),
        shared(2, "b", "TaskUpdate", "completed"),
        create(3, "b", "1", "Do B"),
    ];
    let tasks = state(&calls);
    assert_eq!(
        (subjects(&tasks, "completed"), subjects(&tasks, "pending")),
        (vec!["Do A".into()], vec!["Do B".into()])
    );
}

#[test]
fn a_list_of_todos_replaces_the_one_before_and_keeps_what_was_completed() {
    let todo =
        |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": "Doing it"});
    let write =
        |at, session: &str, todos: Value| call(at, session, json!({"tool": "TodoWrite", "todos": todos}));
    let mut calls = vec![
        write(1, "a", json!([todo("Do A", "pending"), todo("Do A", "pending"), todo("Do B", "pending")])),
        write(
            2,
            "a",
            json!([todo("Do A", "completed"), todo("Do A", "in_progress"), todo("Do C", "pending")]),
        ),
        write(3, "a", json!([todo("Do C", "in_progress")])),
    ];
    let tasks = state(&calls);
    assert_eq!(subjects(&tasks, "completed"), ["Do A"], "{tasks:#?}");
    assert_eq!(
        tasks.iter().filter(|task| task.is_open()).map(|task| &*task.subject).collect::<Vec<_>>(),
        ["Do C"]
    );
    // The next session writes it again; a subagent's list is its own.
    calls.push(write(4, "b", json!([todo("Do C", "completed")])));
    let mut of_agent = write(5, "b", json!([todo("Do D", "pending")]));
    of_agent.agent = Some("agent-1".into());
    calls.push(of_agent);
    let tasks = state(&calls);
    assert_eq!(subjects(&tasks, "completed"), ["Do A", "Do C"], "{tasks:#?}");
    assert_eq!(tasks.last().and_then(|task| task.agent.as_deref()), Some("agent-1"));
}

#[test]
fn a_subagent_that_writes_the_same_words_completes_no_task_of_the_main_window() {
    let todos = |status: &str| json!({"tool": "TodoWrite", "todos": [{"content": "Run the tests", "status": status}]});
    let of_agent = |at, session: &str| Observed {
        agent: Some("agent-1".into()),
        ..call(at, session, todos("completed"))
    };
    for main in [create(1, "a", "1", "Run the tests"), call(1, "a", todos("pending"))] {
        // In its own session, and in the next one.
        for session in ["a", "b"] {
            let tasks = state(&[main.clone(), of_agent(2, session)]);
            assert_eq!(subjects(&tasks, "pending"), ["Run the tests"], "{tasks:#?}");
            assert_eq!(subjects(&tasks, "completed"), ["Run the tests"]);
        }
    }
}

#[test]
fn an_update_whose_task_was_never_seen_is_a_task_without_words() {
    let tasks = state(&[update(1, "a", "4", "in_progress")]);
    assert_eq!((tasks.len(), &*tasks[0].subject, &*tasks[0].status), (1, "", "in_progress"));
}
