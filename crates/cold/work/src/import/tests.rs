use super::*;
use crate::contexts::read::{self, Which};
use crate::contexts::{Context, Contexts};
use crate::share::Share;
use base::Env;
use store::observations::Drain;
use store::{Derived, Store};

static DERIVED: &[&dyn Derived] = &[&crate::WorkObservations, &Contexts];
const PLAN: &str = "# Move the parser\n\n## Steps\n\n1. cut\n2. paste\n\n---\n\nRun it.\n";

struct Bench {
    folder: tempfile::TempDir,
    paths: Paths,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        fs::create_dir(folder.path().join("data")).unwrap();
        let store = Store::open(&paths.database(), store::TABLES).unwrap().deriving(DERIVED);
        Self { folder, paths, store }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("project/_output")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.output().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn import(&mut self) -> (Found, Vec<Context>) {
        let found = import(&self.output(), &self.paths, false, Timestamp::now()).unwrap();
        Drain::unbounded(&Spool::new(self.paths.spool())).run(&mut self.store, Timestamp::now()).unwrap();
        (found, read::list(&self.store, None, Which::All).unwrap())
    }

    fn rows(&self) -> i64 {
        self.store.connection().query_row("SELECT count(*) FROM observations", [], |row| row.get(0)).unwrap()
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_leads_to_nothing_of_the_users() {
    let mut bench = Bench::new();
    let diary = bench.folder.path().join("diary");
    fs::create_dir_all(diary.join("260101-0900-mine/notes")).unwrap();
    for file in ["monday.md", "260101-0900-mine/notes/monday.md"] {
        fs::write(diary.join(file), "PRIVATE-DIARY").unwrap();
    }
    fs::write(diary.join("260101-0900-mine/state.json"), r#"{"id": "x", "summary": "PRIVATE-DIARY"}"#)
        .unwrap();
    let state = json!({"id": "260101-0900-good", "status": "active", "summary": "good"}).to_string();
    bench.write("contexts/260101-0900-good/state.json", &state);
    std::os::unix::fs::symlink(&diary, bench.output().join("contexts/260101-0900-good/notes")).unwrap();
    std::os::unix::fs::symlink(&diary, bench.output().join("contexts/_archive")).unwrap();
    let (found, _) = bench.import();
    assert_eq!(found.contexts, [("260101-0900-good".to_owned(), 0)]);
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&diary, elsewhere.join("contexts")).unwrap();
    assert!(matches!(import(&elsewhere, &bench.paths, false, Timestamp::now()), Err(Error::NoContexts(_))));
}

/// Writes a context of each generation.
fn generations(bench: &Bench) {
    bench.write(
        "contexts/260110-0900-first/context.json",
        &json!({
            "id": "260110-0900-first", "status": "active", "summary": "the first generation", "created_at": "2026-01-10T09:00:00.000",
            "last_active": "2026-01-11T10:00:00.000", "in_flight": {"mode": "pending_implementation", "session_id": "s-1",
                "artifact_path": "/home/dev/p/_output/contexts/260110-0900-first/plans/2026-01-10-0900-move.md", "artifact_hash": "0123456789ab"},
            "reviews": {"rounds": 2},
        })
        .to_string(),
    );
    bench.write("contexts/260110-0900-first/plans/2026-01-10-0900-move.md", PLAN);
    bench.write(
        "contexts/260201-0900-second/state.json",
        &json!({
            "id": "260201-0900-second", "status": "active", "summary": "the second generation", "mode": "has_handoff", "tags": ["auto"],
            "created_at": "2026-02-01T09:00:00.000", "last_active": "2026-02-02T09:00:00.000", "method": "auto-created",
            "handoff_path": "C:\\p\\_output\\contexts\\260201-0900-second\\handoffs\\2026-02-01-0930\\index.md", "handoff_consumed": false,
            "session_ids": ["s-2", "s-3"], "tasks": [{"id": "aiw-1", "subject": "cut", "status": "pending"}],
            "last_session": {"session_id": "s-3", "saved_at": "2026-02-02T09:00:00.000", "save_reason": "prompt_input_exit",
                "context_remaining_pct": 23, "context_warnings_fired": [30], "git_state": {"branch": "main", "last_commit_short": "abc"}},
        })
        .to_string(),
    );
    bench.write(
        "contexts/260201-0900-second/handoffs/2026-02-01-0930/index.md",
        "---\ntype: handoff\n---\n| a |\n|---|\n\n---\nafter",
    );
    bench.write(
        "contexts/260201-0900-second/handoffs/2026-02-01-0930/dead-ends.md",
        "# Dead ends\n\nfloats\n",
    );
    bench.write(
        "contexts/260301-0900-third/state.json",
        &json!({
            "id": "260301-0900-third", "status": "active", "summary": "the third generation", "mode": "has_staged_work", "next_artifact_type": "plan",
            "plan_path": "plans/p.md", "plan_hash": "0123456789ab", "plan_id": "3FA9", "plan_anchors": [], "work_consumed": true,
            "created_at": "2026-03-01T09:00:00.000Z", "last_active": "2026-03-01T10:00:00.000Z", "session_ids": ["s-4"], "cc_native": {"x": [1]},
        })
        .to_string(),
    );
    bench.write(
        "contexts/_archive/260105-0900-done/state.json",
        r#"{"summary":"archived","status":"completed","mode":"has_plan"}"#,
    );
    bench.write(
        "index.json",
        &json!({
            "version": "3.0", "sessions": {"s-9": "260301-0900-third"},
            "contexts": {"260120-0900-indexed": {"summary": "in the index alone", "mode": "idle", "last_active": "2026-01-20T09:00:00.000"}},
        })
        .to_string(),
    );
}

#[test]
fn line_26_states_of_all_three_generations_load_and_unknown_keys_survive() {
    let mut bench = Bench::new();
    generations(&bench);
    let (found, contexts) = bench.import();
    assert_eq!((found.contexts.len(), found.skipped.len()), (5, 0), "{found:?}");
    let of = |name: &str| contexts.iter().find(|context| context.id.ends_with(name)).unwrap();
    assert_eq!(of("first").mode, Mode::HasPlan);
    assert_eq!(of("first").extra["reviews"], json!({"rounds": 2}));
    assert_eq!(of("first").sessions.len(), 1);
    let marks = of("first").artifact.as_ref().unwrap().marks.clone().unwrap();
    assert_eq!(marks.digest, plan::digest(PLAN), "line 11: one hash function");
    assert_eq!(of("second").mode, Mode::HasHandoff);
    assert_eq!(of("second").extra.get("tasks"), None, "they are tasks now");
    let last = of("second").last_session.as_ref().unwrap();
    assert_eq!(
        (last.save_reason.as_deref(), last.context_remaining_pct),
        (Some("prompt_input_exit"), Some(23))
    );
    assert_eq!(of("second").git.as_ref().unwrap().branch.as_deref(), Some("main"));
    assert_eq!(
        (of("third").mode, of("third").sessions.len()),
        (Mode::Active, 2),
        "taken up before; line 23: a session of the index"
    );
    assert_eq!(of("third").extra["cc_native"], json!({"x": [1]}));
    assert!(of("done").is_done && of("done").mode == Mode::Idle);
    assert_eq!(of("indexed").summary, "in the index alone");
    // The files come whole, rules and tables included.
    let plan =
        read::file(bench.store.connection(), &of("first").id, "plans/2026-01-10-0900-move.md").unwrap();
    assert_eq!(plan.as_deref(), Some(PLAN));
    let handed = read::handoffs(bench.store.connection(), &[&of("second").id]).unwrap();
    assert_eq!(handed.len(), 1);
    assert_eq!((&*handed[0].handoff.id, handed[0].handoff.origin), ("2026-02-01-0930", Origin::Import));
    assert_eq!(handed[0].handoff.text("summary"), "| a |\n|---|\n\n---\nafter", "line 1");
    assert_eq!(handed[0].handoff.text("dead ends"), "floats");
    assert_eq!(
        handed[0].handoff.digest,
        of("second").artifact.as_ref().unwrap().digest,
        "it is the one that waits"
    );
    let handoff =
        read::file(bench.store.connection(), &of("second").id, "handoffs/2026-02-01-0930/index.md").unwrap();
    assert!(handoff.unwrap().ends_with("---\nafter"), "line 1");
}

/// Returns the tasks of a context, as a session gets them that takes it up.
fn tasks_of(bench: &Bench, context: &Context) -> Vec<crate::tasks::Task> {
    let connection = bench.store.connection();
    let row = |binding: &crate::contexts::Binding| {
        crate::line::row_of(connection, &binding.session.platform, &binding.session.id).unwrap()
    };
    let sessions: Vec<i64> = context.sessions.iter().filter_map(row).collect();
    crate::tasks::of_sessions(connection, &sessions).unwrap()
}

#[test]
fn tasks_are_tasks_of_the_context_with_one_id_however_often_they_are_imported() {
    let mut bench = Bench::new();
    let state = |status: &str, active: &str, sessions: &Value| {
        json!({
            "summary": "move the parser", "mode": "active", "session_ids": sessions, "created_at": "2026-02-01T09:00:00.000",
            "last_active": active,
            "tasks": [
                {"id": "aiw-1", "subject": "cut", "description": "at length", "status": status, "created_at": "2026-02-01T09:10:00.000",
                    "evidence": "42 tests", "work_summary": "done", "files_changed": ["a.rs"], "session_id": "s-1"},
                {"id": "aiw-2", "subject": "paste", "status": "blocked", "created_at": "2026-02-01T09:11:00.000", "owner": "me"},
                {"id": "aiw-3", "status": "pending"},
            ],
        })
        .to_string()
    };
    let path = "contexts/260201-0900-parser/state.json";
    let mut ids = Vec::new();
    for (status, active) in
        [("in_progress", "2026-02-01T10:00:00.000"), ("completed", "2026-02-01T11:00:00.000")]
    {
        bench.write(path, &state(status, active, &json!(["s-1", "s-2"])));
        let (_, contexts) = bench.import();
        let tasks = tasks_of(&bench, &contexts[0]);
        let told: Vec<_> = tasks.iter().map(|task| (&*task.subject, &*task.status, task.is_open())).collect();
        assert_eq!(told, [("cut", status, status != "completed"), ("paste", "blocked", true)]);
        assert_eq!((&*tasks[0].evidence, &*tasks[0].session), ("42 tests", "s-1"));
        ids.push(tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>());
        // What has no place of its own survives.
        let extra = &contexts[0].extra["tasks"];
        assert_eq!((&extra[0]["owner"], &extra[1]["id"]), (&json!("me"), &json!("aiw-3")));
    }
    assert_eq!(ids[0], ids[1]);
    // A context without sessions has them, too, and the ids of two contexts differ.
    bench.write(
        "contexts/260202-0900-other/state.json",
        &state("pending", "2026-02-01T10:00:00.000", &json!([])),
    );
    let (_, contexts) = bench.import();
    let other = contexts.iter().find(|context| context.id.ends_with("other")).unwrap();
    let tasks = tasks_of(&bench, other);
    assert_eq!(tasks.len(), 2);
    assert!(tasks.iter().all(|task| !ids[0].contains(&task.id)));
}

#[test]
fn an_import_adds_nothing_twice_and_what_changed_since() {
    let mut bench = Bench::new();
    generations(&bench);
    let (_, first) = bench.import();
    let rows = bench.rows();
    let (_, second) = bench.import();
    assert_eq!((second, bench.rows()), (first, rows));
    bench.write(
        "contexts/_archive/260105-0900-done/state.json",
        r#"{"summary":"archived","status":"completed","note":"new"}"#,
    );
    let (_, third) = bench.import();
    assert_eq!(bench.rows(), rows + 1);
    assert!(third.iter().any(|context| context.extra.get("note").is_some()), "{third:?}");
}

#[test]
fn what_is_damaged_hostile_or_secret_is_left_out() {
    let mut bench = Bench::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    bench.write(
        "contexts/260101-0900-good/state.json",
        &json!({"summary": format!("use {token}"), "note": {"a": [token]}}).to_string(),
    );
    bench.write(
        "contexts/260101-0900-good/notes/n.md",
        &format!("it is {token}\n<private>the merger</private>"),
    );
    bench.write("contexts/260101-0900-bad/state.json", "{ not json");
    bench.write("contexts/a b/state.json", "{}");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", bench.output().join("contexts/260101-0900-good/notes/p.md"))
        .unwrap();
    let (found, contexts) = bench.import();
    assert_eq!((contexts.len(), found.skipped.len()), (1, 2), "{found:?}");
    assert_eq!(contexts[0].files.len(), 1);
    let stored: String = bench
        .store
        .connection()
        .query_row(
            "SELECT group_concat(coalesce(o.data, '') || coalesce(p.data, '')) FROM observations AS o
            LEFT JOIN payloads AS p ON p.observation = o.row",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(!stored.contains("a1B2") && !stored.contains("merger"), "{stored}");
    let nothing = bench.folder.path().join("nothing");
    assert!(matches!(import(&nothing, &bench.paths, false, Timestamp::now()), Err(Error::NoContexts(_))));
}

#[test]
fn a_session_of_two_contexts_leaves_each_its_own_tasks() {
    let mut bench = Bench::new();
    for (name, subject, begun) in [
        ("260201-0900-one", "cut", "2026-02-01T09:00:00.000"),
        ("260202-0900-two", "paste", "2026-02-02T09:00:00.000"),
    ] {
        let state = json!({
            "summary": name, "mode": "active", "session_ids": ["s-1"], "created_at": begun, "last_active": "2026-02-03T09:00:00.000",
            "tasks": [{"id": "aiw-1", "subject": subject, "status": "pending", "created_at": "2026-02-03T09:00:00.000"}],
        });
        bench.write(&format!("contexts/{name}/state.json"), &state.to_string());
    }
    let (_, contexts) = bench.import();
    assert_eq!(contexts.len(), 2);
    for context in &contexts {
        let share = Share::of(bench.store.connection(), &[1, 2, 3], Some(&context.id)).unwrap();
        let tasks = share.tasks(tasks_of(&bench, context));
        let subjects: Vec<&str> = tasks.iter().map(|task| &*task.subject).collect();
        assert_eq!(subjects, [if context.id.ends_with("one") { "cut" } else { "paste" }]);
    }
}

#[test]
fn a_time_that_lies_ahead_counts_as_now() {
    let mut bench = Bench::new();
    bench.write(
        "contexts/260301-0900-ahead/state.json",
        &json!({
            "summary": "ahead", "mode": "active", "session_ids": ["s-1"], "created_at": "2199-01-01T09:00:00.000Z",
            "last_active": "2199-03-01T10:00:00.000Z",
            "tasks": [{"id": "aiw-1", "subject": "cut", "status": "completed", "completed_at": "2199-03-01T10:00:00.000Z"}],
        })
        .to_string(),
    );
    bench.write("contexts/260301-0900-ahead/handoffs/2199-02-01-0930/index.md", "# Later\n\nmore");
    bench.import();
    let latest: u64 =
        bench.store.connection().query_row("SELECT max(at) FROM observations", [], |row| row.get(0)).unwrap();
    assert!(latest <= Timestamp::now().millis(), "{latest}");
}

#[test]
fn a_name_that_is_too_long_for_an_id_is_shortened_and_kept() {
    let mut bench = Bench::new();
    let name = |end: &str| {
        format!("260110-0900-implement-authentication-middleware-pipeline-configuration-for-{end}")
    };
    for end in ["transport-layer", "transport-layers"] {
        let state = json!({"summary": end, "in_flight": {"mode": "implementing"}});
        bench.write(&format!("contexts/{}/context.json", name(end)), &state.to_string());
        bench.write(&format!("contexts/{}/plans/p.md", name(end)), PLAN);
    }
    bench.write("index.json", &json!({"sessions": {"s-1": name("transport-layer")}}).to_string());
    let (found, contexts) = bench.import();
    assert_eq!((found.contexts.len(), found.skipped.len()), (2, 0), "{found:?}");
    for context in &contexts {
        assert_eq!(id::check(&context.id), Ok(()), "{context:?}");
        assert!(context.id.starts_with("260110-0900-implement-authentication-middleware-"), "{context:?}");
        assert_eq!(context.extra["aiwcli_id"], name(&context.summary));
        assert_eq!((context.files.len(), context.mode), (1, Mode::Active));
        assert_eq!(context.sessions.len(), usize::from(context.summary == "transport-layer"));
    }
    assert_eq!(bench.import().1, contexts);
}

#[test]
fn a_file_with_the_line_ends_of_windows_is_read_like_any_other() {
    let mut bench = Bench::new();
    let state = json!({"summary": "move it", "mode": "has_handoff", "handoff_path": "handoffs/2026-02-01-0930/index.md"});
    bench.write("contexts/260201-0900-x/state.json", &state.to_string());
    let index =
        "\u{feff}---\r\ntype: handoff\r\n---\r\n# Moved\r\n\r\n| a |\r\n|---|\r\n\r\n---\r\nafter\r\n";
    bench.write("contexts/260201-0900-x/handoffs/2026-02-01-0930/index.md", index);
    let (_, contexts) = bench.import();
    let handed = read::handoffs(bench.store.connection(), &[&contexts[0].id]).unwrap();
    assert_eq!(
        (&*handed[0].handoff.title, handed[0].handoff.text("summary")),
        ("Moved", "| a |\n|---|\n\n---\nafter")
    );
    assert_eq!(contexts[0].mode, Mode::HasHandoff);
}

#[test]
fn what_says_no_time_is_of_the_time_in_its_id() {
    let mut bench = Bench::new();
    bench.write(
        "contexts/260110-0903-x/context.json",
        r#"{"summary":"x","in_flight":{"mode":"implementing"}}"#,
    );
    let state = json!({"summary": "y", "last_active": "2026-01-12T10:00:00.000Z",
        "in_flight": {"mode": "implementing", "artifact_path": "plans/p.md"}});
    bench.write("contexts/260110-0904-y/context.json", &state.to_string());
    let (_, contexts) = bench.import();
    let begun = i64::try_from(moment_of("260110-0903", OF_ID).unwrap().millis()).unwrap();
    assert_eq!((contexts[1].created_at, contexts[1].last_active), (begun, begun));
    assert_eq!(contexts[0].artifact.as_ref().unwrap().at, contexts[0].last_active);
    assert_eq!(bench.import().1, contexts);
}
