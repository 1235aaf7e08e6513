use super::*;
use crate::contexts::read::{self, Which};
use crate::contexts::{ArtifactKind, Mode, write};
use base::Timestamp;
use capture::{Observation, Spool};
use proptest::prelude::*;
use serde_json::json;
use store::Store;
use store::observations::{Drain, Selection};

static DERIVED: &[&dyn Derived] = &[&Contexts];

struct Bench {
    folder: tempfile::TempDir,
    spool: Spool,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let store = Store::open(&folder.path().join("wyren.db"), store::TABLES).unwrap().deriving(DERIVED);
        Self { folder, spool, store }
    }

    fn line(&self, line: &Value) {
        self.spool.append(&Observation::read(line.to_string().as_bytes()).unwrap()).unwrap();
    }

    fn drain(&mut self) -> Vec<Context> {
        Drain::unbounded(&self.spool).run(&mut self.store, Timestamp::now()).unwrap();
        read::list(&self.store, None, Which::All).unwrap()
    }

    fn forget(&mut self, selection: &Selection) -> Vec<Context> {
        let notes = self.folder.path().join("forgotten");
        selection.forget(&mut self.store, &self.spool, &notes, Timestamp::now()).unwrap();
        read::list(&self.store, None, Which::All).unwrap()
    }
}

fn line(at: u64, session: &str, kind: &str, prompt: Option<&str>, data: Value) -> Value {
    json!({"v": 2, "kind": kind, "id": format!("{kind}:{at}"), "ts": 1_794_900_000_000 + at, "session": session,
        "cwd": "/nowhere/p", "prompt_id": prompt, "data": data})
}

/// A plan is made and accepted in one session, `/clear` leads to another, which changes a file and ends.
fn story() -> Vec<Value> {
    let new = json!({"context": "261118-0905-move-parser", "action": "new", "summary": "move the parser",
        "method": "auto-created", "bind": true, "permission_mode": "plan",
        "git": {"branch": "main"}});
    vec![
        line(
            1,
            "s",
            "prompt",
            Some("p1"),
            json!({"text": "move the parser", "permission_mode": "plan", "branch": "main"}),
        ),
        line(2, "s", "work", Some("p1"), new),
        line(3, "s", "plan", Some("p1"), json!({"text": "# Move the parser\n## Steps\n", "digest": "x"})),
        line(4, "s", "session-end", Some("p1"), json!({"reason": "clear"})),
        line(5, "t", "session-start", Some("p1"), json!({"source": "clear"})),
        line(6, "t", "tool", Some("p2"), json!({"tool": "Edit", "permission_mode": "acceptEdits"})),
        line(
            7,
            "t",
            "work",
            Some("p2"),
            json!({"context": "261118-0905-move-parser", "action": "note", "text": "half done"}),
        ),
        line(8, "t", "session-end", Some("r"), json!({"reason": "prompt_input_exit"})),
    ]
}

#[test]
fn contexts_come_out_the_same_whatever_order_their_observations_are_drained_in() {
    let mut whole = Bench::new();
    story().iter().for_each(|observation| whole.line(observation));
    let expected = whole.drain();
    let context = &expected[0];
    assert_eq!(
        (&*context.summary, context.mode, context.sessions.len()),
        ("move the parser", Mode::Active, 2)
    );
    assert_eq!(context.artifact.as_ref().map(|artifact| artifact.kind), Some(ArtifactKind::Plan));
    assert_eq!(context.git.as_ref().unwrap().branch.as_deref(), Some("main"));
    assert_eq!(context.last_session.as_ref().unwrap().save_reason.as_deref(), Some("prompt_input_exit"));
    let mut turned = story();
    for step in [1, 3, 5, 7] {
        turned.rotate_left(step);
        turned.swap(0, 7 - step);
        let mut bench = Bench::new();
        // One by one, and each twice.
        for observation in turned.iter().chain(&turned) {
            bench.line(observation);
            bench.drain();
        }
        assert_eq!(bench.drain(), expected, "{turned:?}");
    }
}

#[test]
fn what_was_forgotten_leaves_no_word_in_a_context() {
    let mut bench = Bench::new();
    story().iter().for_each(|observation| bench.line(observation));
    assert_eq!(bench.drain()[0].notes.len(), 1);
    let contexts = bench.forget(&Selection { query: Some("half done".into()), ..Selection::default() });
    assert!(contexts[0].notes.is_empty() && contexts[0].sessions.len() == 2, "{contexts:?}");
    // What made the context quotes the prompt.
    let contexts = bench.forget(&Selection { ids: vec!["prompt:1".into()], ..Selection::default() });
    assert_eq!(contexts, []);
    let left: i64 = bench
        .store
        .connection()
        .query_row("SELECT count(*) FROM work_seen WHERE what LIKE '%summary%'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_plan_that_its_session_carried_out_does_not_wait() {
    let plan = json!({"text": "# Move the parser", "digest": "x", "accepted": true});
    let task = |at, data: Value| line(at, "s", "task", Some("p1"), data);
    for is_done in [false, true] {
        let mut bench = Bench::new();
        let status = if is_done { "completed" } else { "in_progress" };
        let lines = [
            story()[0].clone(),
            story()[1].clone(),
            line(3, "s", "plan", Some("p1"), plan.clone()),
            task(4, json!({"tool": "TaskCreate", "list": "s", "task": "1", "subject": "Cut it out"})),
            task(5, json!({"tool": "TaskUpdate", "list": "s", "task": "1", "status": status})),
            line(6, "s", "session-end", Some("q"), json!({"reason": "other"})),
        ];
        lines.iter().for_each(|observation| bench.line(observation));
        let context = &bench.drain()[0];
        assert_eq!(context.mode == Mode::HasPlan, !is_done, "{context:?}");
        assert_eq!(context.artifact.as_ref().unwrap().is_consumed, is_done);
    }
}

#[test]
fn a_context_that_has_nothing_but_its_id_goes_with_the_prompt_that_the_id_is_of() {
    let said = |at, id: Option<&str>| line(at, "s", "prompt", id, json!({"text": "move the parser"}));
    let about = |at, session: &str, id: Option<&str>, action: Value| {
        let mut data = json!({"context": "261118-0905-move-parser"});
        data.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
        line(at, session, "work", id, data)
    };
    let new = json!({"action": "new", "summary": "move the parser", "method": "auto-created", "bind": true});
    let later = [
        about(20_000, "s", None, json!({"action": "window", "remaining_pct": 9})),
        about(30_000, "t", Some("p7"), json!({"action": "bind", "via": "caret"})),
        line(40_000, "s", "prompt", Some("p8"), json!({"text": "go on"})),
    ];
    let noted = about(50_000, "x", None, json!({"action": "note", "text": "half done"}));
    // Some clients give prompts no id.
    for id in [Some("p1"), None] {
        for has_note in [false, true] {
            let mut bench = Bench::new();
            for observation in [said(1, id), about(9, "s", id, new.clone())].iter().chain(&later) {
                bench.line(observation);
            }
            if has_note {
                bench.line(&noted);
            }
            bench.drain();
            let contexts = bench.forget(&Selection { ids: vec!["prompt:1".into()], ..Selection::default() });
            assert_eq!(contexts.len(), usize::from(has_note), "{id:?}: {contexts:?}");
            assert!(contexts.iter().all(|context| context.summary.is_empty() && context.notes.len() == 1));
            let words = "SELECT count(*) FROM observations WHERE data LIKE '%move%parser%'";
            let left: i64 = bench.store.connection().query_row(words, [], |row| row.get(0)).unwrap();
            assert_eq!(left > 0, has_note, "{id:?}: {left}");
            let others = "SELECT count(*) FROM observations WHERE id = 'prompt:40000'";
            let kept: i64 = bench.store.connection().query_row(others, [], |row| row.get(0)).unwrap();
            assert_eq!(kept, 1);
        }
    }
}

#[test]
fn a_session_is_found_to_work_on_the_context_it_was_linked_to() {
    let mut bench = Bench::new();
    story()[..5].iter().for_each(|observation| bench.line(observation));
    bench.drain();
    assert_eq!(
        read::of_session(&bench.store, None, "t").unwrap().as_deref(),
        Some("261118-0905-move-parser")
    );
    assert_eq!(read::of_session(&bench.store, None, "other").unwrap(), None);
}

#[test]
fn an_observation_with_a_context_that_is_no_id_is_passed_over() {
    let mut bench = Bench::new();
    bench.line(&line(1, "s", "work", None, json!({"context": "../evil", "action": "note", "text": "x"})));
    bench.line(&line(2, "s", "work", None, json!({"context": "later", "action": "dance"})));
    assert_eq!(bench.drain(), []);
}

#[test]
fn a_session_that_never_ends_counts_as_ended_and_what_it_leaves_waits() {
    const HOUR: u64 = 3_600_000;
    let plan = "# Move the parser\n## Steps\n";
    let mut killed = story()[..3].to_vec();
    killed.push(line(4, "s", "plan", Some("p1"), json!({"text": plan, "digest": "x", "accepted": true})));
    let later =
        |hours: u64| line(hours * HOUR, "other", "prompt", Some("p9"), json!({"text": "fix the login form"}));
    let again =
        line(14 * HOUR, "s", "prompt", Some("p2"), json!({"text": "go on", "permission_mode": "default"}));
    let state = |lines: &[Value]| {
        // Whatever order they come in.
        let states = [lines.to_vec(), lines.iter().rev().cloned().collect()].map(|lines: Vec<Value>| {
            let mut bench = Bench::new();
            for observation in &lines {
                bench.line(observation);
                bench.drain();
            }
            bench.drain()
        });
        assert_eq!(states[0], states[1]);
        let context = states[0][0].clone();
        (context.mode, context.last_session.and_then(|last| last.save_reason))
    };
    let unknown = Some(line::UNKNOWN.to_owned());
    assert_eq!(state(&killed), (Mode::Idle, None));
    assert_eq!(state(&[&killed[..], &[later(11)]].concat()), (Mode::Idle, None));
    assert_eq!(state(&[&killed[..], &[later(13)]].concat()), (Mode::HasPlan, unknown));
    // It was only away for long.
    assert_eq!(state(&[&killed[..], &[later(13), again]].concat()), (Mode::Active, None));
}

#[test]
fn a_session_that_an_import_or_a_command_bound_never_ends_by_itself() {
    let bind = |via: &str| json!({"context": "261118-0905-x", "action": "bind", "via": via});
    let mut bench = Bench::new();
    bench.line(&line(1, "s", "work", None, bind("import")));
    bench.line(&line(2, "t", "work", None, bind("command")));
    bench.line(&line(90_000_000, "other", "prompt", Some("p9"), json!({"text": "fix the login form"})));
    assert_eq!(bench.drain()[0].last_session, None);
}

#[test]
fn what_is_done_by_hand_has_no_other_context_made_anew() {
    let by_hand = |at: u64, data: Value| {
        let mut line = line(at, "by-hand-1", "work", None, data);
        line["platform"] = write::BY_HAND.into();
        line
    };
    let mut bench = Bench::new();
    for (at, id) in [(1, "261118-0905-a"), (2, "261118-0905-b")] {
        bench
            .line(&by_hand(at, json!({"context": id, "action": "new", "summary": id, "method": "imported"})));
    }
    bench.line(&by_hand(3, json!({"context": "261118-0905-a", "action": "note", "text": "half done"})));
    assert_eq!(bench.drain().iter().map(|context| context.notes.len()).collect::<Vec<_>>(), [1, 0]);
    let session =
        bench.store.connection().query_row("SELECT row FROM sessions", [], |row| row.get(0)).unwrap();
    let transaction = bench.store.connection().unchecked_transaction().unwrap();
    let work = Making::of(&transaction).unwrap();
    let noted = "261118-0905-a".to_owned();
    let touched = Touched { sessions: [session].into(), contexts: [noted.clone()].into() };
    assert_eq!(work.contexts_of(&touched).unwrap(), [noted.clone()].into());
    let (seen, _) = work.load(&noted, &work.linked([session].into()).unwrap()).unwrap();
    assert_eq!(seen.len(), 2);
}

/// Anything that is about one of two contexts or three sessions; a fourth is of what is done by hand.
fn any_line() -> impl Strategy<Value = Value> {
    (1..30_u64, 0..4_usize, prop_oneof![Just("c"), Just("d")], 0..10_u8).prop_map(|(at, by, context, kind)| {
        let context = format!("261118-0905-{context}");
        let act = |more: Value| {
            let mut data = json!({"context": context});
            data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ("work", data)
        };
        let is_by_hand = by == 3;
        let (kind, data) = match kind {
            0 => act(json!({"action": "new", "summary": context, "method": "auto-created", "bind": !is_by_hand})),
            1 => act(json!({"action": "note", "text": format!("note {at}")})),
            2 => act(json!({"action": "done"})),
            3 => act(json!({"action": "reopen"})),
            _ if is_by_hand => act(json!({"action": "edit", "summary": format!("about {at}")})),
            4 => act(json!({"action": "bind", "via": "caret"})),
            5 => ("prompt", json!({"text": "go on", "permission_mode": "default"})),
            6 => ("plan", json!({"text": "# A plan", "digest": "x", "accepted": true})),
            7 => ("session-start", json!({"source": if at % 2 == 0 { "clear" } else { "resume" }})),
            _ => ("session-end", json!({"reason": if at % 2 == 0 { "clear" } else { "other" }})),
        };
        let prompt = format!("q{}", at % 4);
        let mut line = line(at, ["s", "t", "u", "by-hand-1"][by], kind, Some(&prompt), data);
        line["id"] = format!("{kind}:{at}:{context}").into();
        if is_by_hand {
            line["platform"] = write::BY_HAND.into();
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_drained_piece_by_piece_makes_the_contexts_of_the_whole(
        lines in proptest::collection::vec(any_line(), 0..24),
        pieces in 2..24_usize,
    ) {
        let mut whole = Bench::new();
        lines.iter().for_each(|line| whole.line(line));
        let mut in_pieces = Bench::new();
        for piece in lines.chunks(lines.len().div_ceil(pieces).max(1)) {
            piece.iter().for_each(|line| in_pieces.line(line));
            in_pieces.drain();
        }
        prop_assert_eq!(in_pieces.drain(), whole.drain());
    }
}
