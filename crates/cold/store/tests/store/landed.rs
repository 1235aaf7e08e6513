//! What version 0.1 left behind: a database, a spool and an export, made by its programs.

use super::*;
use base::{Env, settings::Settings};
use std::fs;
use std::path::Path;
use store::observations::{Import, Imported};
use store::repair::{self, Sources};

fn landed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/landed")
}

/// Returns the lines that version 0.1 exported.
fn expected() -> Vec<serde_json::Value> {
    let text = fs::read_to_string(landed().join("export.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a line as version 0.1 would have written it: without fields that it did not have.
fn as_then(mut line: serde_json::Value) -> serde_json::Value {
    let line_fields = line.as_object_mut().unwrap();
    line_fields.remove("prompt_id");
    line
}

fn exported_as_then(store: &Store) -> Vec<serde_json::Value> {
    exported(store).into_iter().map(as_then).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &to) } else { fs::copy(&path, &to).map(|_| ()).unwrap() }
    }
}

#[test]
fn a_database_keeps_every_row() {
    let data = Data::new();
    fs::copy(landed().join("wyren.db"), data.database()).unwrap();
    let store = Store::open(&data.database(), store::TABLES).unwrap();
    assert_eq!(exported_as_then(&store), expected());
    assert_eq!(count(&store, "SELECT count(*) FROM unread_lines"), 1);
    assert_eq!(count(&store, "SELECT count(*) FROM spool_files"), 2);
    assert_eq!(count(&store, "PRAGMA auto_vacuum"), 2);
    store.check().unwrap();
    let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'first%'";
    assert_eq!(count(&store, tables), 0);
}

#[test]
fn a_spool_is_drained_as_then() {
    let data = Data::new();
    copy(&landed().join("spool"), data.spool.folder());
    let mut store = data.store();
    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.unread), (10, 1));
    assert_eq!(exported_as_then(&store), expected());
}

#[test]
fn an_export_is_imported_and_a_spool_drained_after_it_adds_nothing() {
    let data = Data::new();
    let mut store = data.store();
    let text = fs::read(landed().join("export.jsonl")).unwrap();
    let imported = Import::new(&data.spool).read(&mut store, &*text, |_| {}).unwrap();
    assert_eq!(imported, Imported { stored: 10, ..Imported::default() });
    assert_eq!(exported_as_then(&store), expected());
    copy(&landed().join("spool"), data.spool.folder());
    assert_eq!(data.drain(&mut store).stored, 0);
}

#[test]
fn a_damaged_database_is_repaired_before_it_was_ever_migrated() {
    let data = Data::new();
    let mut bytes = fs::read(landed().join("wyren.db")).unwrap();
    // The long value on overflow pages at the end.
    let late = bytes.len() - 4 * 4_096;
    bytes[late..].fill(0xA5);
    fs::write(data.database(), &bytes).unwrap();
    let env = Env::fixed::<String, String>([]);
    let rules = capture::Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env);
    let sources = Sources { spool: &data.spool, transcripts: Path::new("/nowhere"), rules, derived: &[] };
    let repaired = repair::repair(&data.database(), store::TABLES, &sources, Timestamp::now()).unwrap();
    assert!(repaired.aside.is_some() && repaired.salvaged >= 10, "{repaired:?}");
    let store = Store::open(&data.database(), store::TABLES).unwrap();
    let saved = exported_as_then(&store);
    assert!(saved.len() >= expected().len() - 2, "{}", saved.len());
    assert!(saved.iter().filter(|line| line["type"] == "prompt").count() == 2);
}

/// What a program of version 0.1 reads from a database that a later one has migrated.
#[test]
fn a_program_of_the_first_version_still_reads_a_migrated_database() {
    let data = Data::new();
    fs::copy(landed().join("wyren.db"), data.database()).unwrap();
    drop(Store::open(&data.database(), store::TABLES).unwrap());
    let first = store::Tables { owner: "capture", migrations: &observations::TABLES.migrations[..1] };
    let store = Store::open(&data.database(), &[first]).unwrap();
    assert_eq!(store.ahead(), Some("capture"));
    let sql = "SELECT tool || ' ' || prompt || ' ' || failed || ' ' || coalesce(error, '-') FROM tool_calls
        WHERE input IS NOT NULL ORDER BY at, id";
    let mut select = store.connection().prepare(sql).unwrap();
    let calls: Vec<String> = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(calls.len(), 8);
    assert!(calls.iter().any(|call| call.starts_with("Bash 1 1 ")), "{calls:?}");
    assert_eq!(count(&store, "SELECT count(*) FROM prompts WHERE number = 1 AND text <> ''"), 2);
    assert_eq!(count(&store, "SELECT count(*) FROM tool_calls WHERE length(output) > 60000"), 1);
}

/// A program of version 0.1 that drains lines of version 2 keeps them aside, as `unread_lines` of the fixture shows;
/// this one takes them in again.
#[test]
fn lines_that_the_first_version_kept_aside_are_taken_in() {
    let data = Data::new();
    fs::copy(landed().join("wyren.db"), data.database()).unwrap();
    let line = r#"{"v":2,"kind":"told","id":"n:1","ts":1794835860000,"session":"s-2","cwd":"/home/dev/other","data":{"hook":"h","form":"context","text":"words"}}"#;
    let old = Store::open(&data.database(), &[]).unwrap();
    old.connection().execute("INSERT INTO unread_lines VALUES ('x', 2, ?1)", [line.as_bytes()]).unwrap();
    drop(old);
    let mut store = Store::open(&data.database(), store::TABLES).unwrap();
    fs::create_dir_all(data.spool.folder()).unwrap();
    assert_eq!(data.drain(&mut store).stored, 1);
    let told = observations::told(&store, Some("h"), None, 10).unwrap();
    assert_eq!((told.len(), told[0].text.as_str(), told[0].session.as_str()), (1, "words", "s-2"));
    assert_eq!(count(&store, "SELECT count(*) FROM unread_lines"), 1, "the line of version 9 stays");
}
