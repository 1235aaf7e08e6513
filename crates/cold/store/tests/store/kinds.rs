//! A kind of observation that this version does not know goes through everything that the known ones do.

use super::*;
use serde_json::json;
use std::fs;
use store::observations::{Import, Imported, Selection};
use store::repair::{self, Sources};

fn dreams(store: &Store) -> Vec<serde_json::Value> {
    exported(store).into_iter().filter(|line| line["type"] == "dream").collect()
}

fn expected() -> serde_json::Value {
    json!({
        "v": 2, "type": "dream", "session": "s", "id": "d:1", "ts": Timestamp::from_millis(START + 10).to_string(),
        "cwd": "/home/dev/project", "prompt": 1, "data": {"of": "sheep", "depth": 3, "parts": [1, {"x": null}]},
    })
}

#[test]
fn an_unknown_kind_survives_drain_export_import_and_repair_and_can_be_forgotten() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "go"));
    data.append(&dream("s", "1", 10, "sheep"));
    data.append(&dream("s", "2", 20, "goats"));
    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.unread), (3, 0));
    assert_eq!(dreams(&store)[0], expected());

    let mut text = Vec::new();
    Export::default().write(&store, &mut text).unwrap();
    let elsewhere = Data::new();
    let mut copy = elsewhere.store();
    let imported = Import::new(&elsewhere.spool).read(&mut copy, &*text, |_| {}).unwrap();
    assert_eq!(imported, Imported { stored: 3, ..Imported::default() });
    assert_eq!(exported(&copy), exported(&store));

    let selection = Selection { query: Some("goats".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    let forgotten = selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    assert_eq!((forgotten.others, forgotten.spool_lines), (1, 1));
    assert_eq!(dreams(&store), [expected()]);

    // Only rows can bring them back: the spool is gone.
    drop(store);
    fs::remove_dir_all(data.spool.folder()).unwrap();
    let filler = "x".repeat(3_000);
    let mut store = data.store();
    for number in 0..50 {
        data.append(&prompt("t", &number.to_string(), number, &filler));
    }
    data.drain(&mut store);
    drop(store);
    fs::remove_dir_all(data.spool.folder()).unwrap();
    let mut bytes = fs::read(data.database()).unwrap();
    let late = bytes.len() - 10 * 4_096;
    bytes[late..late + 3 * 4_096].fill(0xA5);
    fs::write(data.database(), bytes).unwrap();
    let transcripts = data.folder.path().join("projects");
    let sources = Sources {
        spool: &data.spool,
        transcripts: &transcripts,
        rules: capture::Rules::default(),
        derived: &[],
    };
    let repaired =
        repair::repair(&data.database(), &[observations::TABLES], &sources, Timestamp::now()).unwrap();
    assert!(repaired.aside.is_some());
    assert_eq!(dreams(&data.store()), [expected()]);
}

#[test]
fn an_export_of_a_later_version_is_imported_as_far_as_it_makes_sense() {
    let data = Data::new();
    let mut store = data.store();
    let lines = [
        json!({"v": 1, "type": "prompt", "session": "s", "id": "p:1", "ts": "2026-11-16T00:00:00Z", "text": "go",
            "mood": {"is": "good"}, "data": {"number": "kept"}}),
        json!({"v": 2, "type": "plan", "session": "s", "id": "l:1", "ts": "2026-11-16T00:00:01Z", "data": {"steps": [1]}}),
        json!({"v": 2, "type": "weather", "place": "here"}),
        json!({"v": 7, "type": "prompt", "session": "s", "id": "p:2", "ts": "2026-11-16T00:00:02Z", "text": "later"}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    let imported = Import::new(&data.spool).read(&mut store, text.as_bytes(), |_| {}).unwrap();
    assert_eq!(imported, Imported { stored: 2, later: 2, ..Imported::default() });
    let lines = exported(&store);
    assert_eq!((&lines[1]["mood"], &lines[1]["data"]), (&json!({"is": "good"}), &json!({"number": "kept"})));
    assert_eq!((&lines[2]["type"], &lines[2]["data"]), (&json!("plan"), &json!({"steps": [1]})));
}

#[test]
fn a_session_knows_its_branch_model_and_end() {
    let data = Data::new();
    let mut store = data.store();
    let line = |kind: &'static str, id: &'static str, at: u64, values: &str| {
        let kept =
            Kept { kind: kind.into(), data: Cow::Owned(RawValue::from_string(values.to_owned()).unwrap()) };
        Observation::new("s", id, START + at, Values::Kept(kept))
    };
    data.append(&line("session-start", "n:1", 0, r#"{"source":"startup","model":"opus"}"#));
    data.append(&line("prompt", "p:1", 10, r#"{"text":"go","branch":"main"}"#));
    data.append(&line("session-end", "n:2", 20, r#"{"reason":"other"}"#));
    data.drain(&mut store);
    let session = |store: &Store| exported(store).remove(0);
    assert_eq!((&session(&store)["branch"], &session(&store)["model"]), (&json!("main"), &json!("opus")));
    assert_eq!(session(&store)["end_reason"], "other");
    assert_eq!(session(&store)["ended"], Timestamp::from_millis(START + 20).to_string());
    // It was resumed.
    data.append(&line("session-start", "n:3", 30, r#"{"source":"resume","model":"sonnet"}"#));
    data.append(&line("prompt", "p:2", 40, r#"{"text":"on","branch":"other"}"#));
    data.drain(&mut store);
    assert_eq!((&session(&store)["branch"], &session(&store)["model"]), (&json!("main"), &json!("sonnet")));
    assert_eq!(session(&store)["ended"], serde_json::Value::Null);
}
