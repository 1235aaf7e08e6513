use super::*;
use base::{Env, settings::Settings};
use capture::Rules;
use std::fs;
use std::path::Path;
use store::observations::{Exported, Import, Selection};
use store::repair::{self, Repaired, Sources};

fn repair(data: &Data) -> Repaired {
    repair_with(data, &[])
}

fn repair_with(data: &Data, variables: &[(&str, &str)]) -> Repaired {
    let env = Env::fixed(variables.iter().copied());
    let settings = Settings::read(&env, Path::new("/nowhere"));
    let sources = Sources {
        spool: &data.spool,
        transcripts: &data.folder.path().join("projects"),
        rules: Rules::of(&settings, &env),
        derived: &[],
    };
    repair::repair(&data.database(), &[observations::TABLES], &sources, Timestamp::now()).unwrap()
}

fn destroy(data: &Data) {
    fs::write(data.database(), "no database at all, ".repeat(1_000)).unwrap();
}

/// Overwrites a stretch in the middle of the database.
fn damage(data: &Data) {
    let mut bytes = fs::read(data.database()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3 * 4_096].fill(0xA5);
    fs::write(data.database(), bytes).unwrap();
}

pub(super) fn write_transcript(data: &Data, session: &str, lines: &[serde_json::Value]) {
    let folder = data.folder.path().join("projects/-work-project");
    fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    fs::write(folder.join(format!("{session}.jsonl")), lines.join("\n") + "\n").unwrap();
}

pub(super) fn said(id: &str, second: u32, text: &str) -> serde_json::Value {
    serde_json::json!({"type": "user", "promptId": id, "sessionId": "s", "cwd": "/home/dev/project",
        "timestamp": format!("2026-11-16T00:00:{second:02}.000Z"), "message": {"content": text}})
}

pub(super) fn called(id: &str, second: u32, tool: &str, command: &str) -> serde_json::Value {
    serde_json::json!({"type": "assistant", "sessionId": "s", "cwd": "/home/dev/project",
        "timestamp": format!("2026-11-16T00:00:{second:02}.000Z"),
        "message": {"content": [{"type": "tool_use", "id": id, "name": tool, "input": {"command": command}}]}})
}

pub(super) fn answered(id: &str, second: u32, is_error: bool, text: &str) -> serde_json::Value {
    serde_json::json!({"type": "user", "sessionId": "s", "cwd": "/home/dev/project",
        "timestamp": format!("2026-11-16T00:00:{second:02}.000Z"), "toolUseResult": {"stdout": text},
        "message": {"content": [{"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text}]}})
}

#[test]
fn a_sound_database_is_left_alone() {
    let data = Data::new();
    data.append(&prompt("s", "1", 0, "go"));
    data.drain(&mut data.store());
    assert_eq!(repair(&data), Repaired::default());
    assert_eq!(rendered(&data.store()), "1 go");
}

#[test]
fn a_database_that_is_none_is_put_aside_and_the_spool_read_again() {
    let data = Data::new();
    data.append(&prompt("s", "1", 0, "go"));
    data.drain(&mut data.store());
    destroy(&data);
    let repaired = repair(&data);
    let aside = repaired.aside.unwrap();
    assert!(aside.file_name().unwrap().to_str().unwrap().starts_with("wyren.db.damaged-"), "{aside:?}");
    assert!(fs::read_to_string(aside).unwrap().starts_with("no database"));
    assert_eq!((repaired.salvaged, repaired.from_spool), (0, 1));
    let mut store = data.store();
    store.check().unwrap();
    assert_eq!(rendered(&store), "1 go");
    assert_eq!(data.drain(&mut store).lines, 0);
}

#[test]
fn rows_between_two_damages_are_saved() {
    const PROMPTS: u64 = 3_000;
    let data = Data::new();
    let mut store = data.store();
    for number in 0..PROMPTS {
        data.append(&prompt("s", &number.to_string(), number, "some words that take room"));
    }
    data.drain(&mut store);
    drop(store);
    fs::remove_dir_all(data.spool.folder()).unwrap();
    let mut bytes = fs::read(data.database()).unwrap();
    for part in [4, 7] {
        let at = bytes.len() / 10 * part;
        bytes[at..at + 4_096].fill(0xA5);
    }
    fs::write(data.database(), bytes).unwrap();
    repair(&data);
    let store = data.store();
    store.check().unwrap();
    let prompts = count(&store, "SELECT count(*) FROM prompts") as u64;
    assert!(prompts > PROMPTS * 8 / 10 && prompts < PROMPTS, "{prompts}");
    let middle = format!("SELECT count(*) FROM prompts WHERE at BETWEEN {0} + 1350 AND {0} + 1450", START);
    assert!(count(&store, &middle) > 50, "those in the middle are there");
}

#[test]
fn an_emptied_database_gives_back_what_its_log_of_changes_holds() {
    let (used, data) = (Data::new(), Data::new());
    let mut store = used.store();
    used.append(&prompt("s", "1", 0, "go"));
    used.drain(&mut store);
    // As long as the store is open, all of it is in the log.
    let beside = |data: &Data, suffix: &str| data.folder.path().join(format!("wyren.{suffix}"));
    fs::copy(beside(&used, "db-wal"), beside(&data, "db-wal")).unwrap();
    fs::write(data.database(), "").unwrap();
    fs::copy(beside(&used, "making"), beside(&data, "making")).unwrap();
    let opened = Store::open(&data.database(), &[observations::TABLES]);
    assert!(opened.is_err_and(|error| error.is_corrupt() && error.to_string().contains("is empty")));
    let repaired = repair(&data);
    assert!(repaired.aside.is_some() && repaired.salvaged > 0, "{repaired:?}");
    assert_eq!(rendered(&data.store()), "1 go");
    assert!(!beside(&data, "db.mended").exists() && !beside(&data, "db.mended-wal").exists());
}

#[test]
fn a_database_that_was_only_begun_is_made() {
    let data = Data::new();
    fs::write(data.database(), "").unwrap();
    assert_eq!(rendered(&data.store()), "");
}

#[test]
fn rows_before_and_after_the_damage_are_saved() {
    const PROMPTS: u64 = 5_000;
    let data = Data::new();
    let mut store = data.store();
    for number in 0..PROMPTS {
        data.append(&prompt("s", &number.to_string(), number, "some words that take room"));
    }
    data.drain(&mut store);
    drop(store);
    fs::remove_dir_all(data.spool.folder()).unwrap();
    damage(&data);
    assert!(data.store().check().is_err());
    let repaired = repair(&data);
    assert!(repaired.salvaged > PROMPTS / 2, "{repaired:?}");
    let store = data.store();
    store.check().unwrap();
    let prompts = count(&store, "SELECT count(*) FROM prompts");
    assert!(prompts as u64 > PROMPTS / 2 && (prompts as u64) < PROMPTS, "{prompts}");
    assert_eq!(count(&store, "SELECT prompts FROM sessions"), prompts);
    assert_eq!(count(&store, "SELECT max(number) FROM prompts"), prompts);
    assert_eq!(count(&store, "SELECT min(at) FROM prompts") as u64, START);
    assert_eq!(count(&store, "SELECT max(at) FROM prompts") as u64, START + PROMPTS - 1);
}

#[test]
fn rows_whose_json_is_damaged_are_passed_over_by_an_export_and_left_out_of_a_repair() {
    const PROMPTS: u64 = 2_000;
    let data = Data::new();
    let mut store = data.store();
    let long = format!("the first {}", "x".repeat(2_000));
    data.append(&prompt("s", "0", 0, &long));
    for number in 1..PROMPTS {
        data.append(&prompt("s", &number.to_string(), number, "some words that take room"));
    }
    data.drain(&mut store);
    let title = exported(&store)[0]["title"].clone();
    store
        .connection()
        .execute_batch(
            r#"UPDATE observations SET data = '{"text":"so' WHERE id = 'p:3';
               UPDATE payloads SET data = replace(data, '"', '?')"#,
        )
        .unwrap();
    let mut lines = Vec::new();
    let written = Export::default().write_counted(&store, &mut lines).unwrap();
    assert_eq!(written, Exported { lines: PROMPTS - 1, damaged: 2 });
    assert_eq!(String::from_utf8(lines).unwrap().lines().count() as u64, written.lines);

    drop(store);
    fs::remove_dir_all(data.spool.folder()).unwrap();
    damage(&data);
    let repaired = repair(&data);
    assert_eq!(repaired.damaged, 2);
    assert!(repaired.salvaged > PROMPTS / 2, "{repaired:?}");
    let store = data.store();
    assert_eq!(count(&store, "SELECT count(*) FROM observations WHERE id = 'p:3'"), 0);
    assert_eq!(count(&store, "SELECT prompts FROM sessions"), count(&store, "SELECT count(*) FROM prompts"));
    assert_eq!(exported(&store)[0]["title"], title);
}

#[test]
fn a_repair_keeps_what_only_an_import_knew_of_a_session_and_forgetting_does_not() {
    let data = Data::new();
    let mut store = data.store();
    let call = |id: &str, text: &str| {
        serde_json::json!({"v": 1, "type": "tool", "session": "i", "id": id, "ts": "2026-11-16T00:00:00Z",
            "tool": "Bash", "input": {"command": text}})
    };
    let session = serde_json::json!({"v": 1, "type": "session", "session": "i", "cwd": "/there", "title": "a merger",
        "project": {"key": "path:/there", "name": "there", "root": "/there"}, "started": "2026-11-16T00:00:00Z",
        "last": "2026-11-16T00:00:00Z", "branch": "topic", "model": "opus"});
    let text = [session, call("t:1", "ls"), call("t:2", "pwd")].map(|line| line.to_string()).join("\n");
    Import::new(&data.spool).read(&mut store, text.as_bytes(), |_| {}).unwrap();
    for number in 0..2_000 {
        data.append(&prompt("s", &number.to_string(), number, "some words that take room"));
    }
    data.drain(&mut store);
    drop(store);
    damage(&data);
    assert!(repair(&data).aside.is_some());
    let known = |store: &Store| {
        let session = exported(store).into_iter().find(|line| line["session"] == "i").unwrap();
        ["title", "branch", "model"].map(|field| session[field].as_str().unwrap_or("none").to_owned())
    };
    let mut store = data.store();
    assert_eq!(known(&store), ["a merger", "topic", "opus"]);

    let selection = Selection { ids: vec!["t:1".into()], session: Some("i".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    assert_eq!(known(&store), ["none"; 3]);
}

#[test]
fn transcripts_give_back_prompts_and_tool_calls_under_the_ids_of_the_hooks() {
    let data = Data::new();
    let ls = command("ls");
    let at = "2026-11-16T00:00:01.500Z".parse::<Timestamp>().unwrap().millis();
    data.append(&Observation { at, ..tool_call("s", "toolu_1", 0, &ls) });
    write_transcript(
        &data,
        "s",
        &[
            said("aa", 1, "list the files"),
            called("toolu_1", 1, "Bash", "ls"),
            answered("toolu_1", 2, false, "a.txt"),
            called("toolu_2", 3, "Bash", "cat b"),
            answered("toolu_2", 4, true, "no such file"),
            called("toolu_3", 5, "TodoWrite", "skipped by default"),
            answered("toolu_3", 6, false, "ok"),
        ],
    );
    destroy(&data);
    let repaired = repair(&data);
    assert_eq!((repaired.from_spool, repaired.from_transcripts), (1, 2));
    let store = data.store();
    assert_eq!(rendered(&store), "1 list the files\n  1 ls\n  1 cat b");
    let lines = exported(&store);
    let ids: Vec<&str> = lines[1..].iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["p:aa", "t:toolu_1", "t:toolu_2"]);
    assert_eq!((&lines[3]["failed"], &lines[3]["error"]), (&true.into(), &"no such file".into()));
}

#[test]
fn what_is_private_secret_or_excluded_does_not_come_back_from_transcripts() {
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let lines = [
        said("aa", 1, "<private>hidden</private>"),
        called("toolu_1", 2, "Bash", "cat hidden"),
        answered("toolu_1", 3, false, "hidden"),
        said("bb", 4, &format!("use {key} <private>hidden</private> now")),
        called("toolu_2", 5, "Bash", "echo <private>hidden</private> seen"),
        answered("toolu_2", 6, false, &format!("token {key}")),
    ];
    let data = Data::new();
    write_transcript(&data, "s", &lines);
    let subagent = data.folder.path().join("projects/-work-project/s/subagents");
    fs::create_dir_all(&subagent).unwrap();
    let of_subagent: Vec<String> =
        [called("toolu_3", 2, "Bash", "cat hidden"), answered("toolu_3", 3, false, "hidden")]
            .into_iter()
            .map(|mut line| {
                line["isSidechain"] = true.into();
                line["agentId"] = "a1".into();
                line.to_string()
            })
            .collect();
    fs::write(subagent.join("agent-a1.jsonl"), of_subagent.join("\n")).unwrap();
    destroy(&data);
    assert_eq!(repair(&data).from_transcripts, 2);
    let stored = serde_json::to_string(&exported(&data.store())).unwrap();
    assert!(!stored.contains("hidden") && !stored.contains(&key), "{stored}");
    assert!(stored.contains("seen") && stored.contains("[redacted:"), "{stored}");
    assert!(
        stored.contains(r#"after_private\":true"#) || stored.contains(r#""after_private":true"#),
        "{stored}"
    );

    destroy(&data);
    assert_eq!(repair_with(&data, &[("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/dev/**")]).from_transcripts, 0);
    destroy(&data);
    assert_eq!(repair_with(&data, &[("WYREN_CAPTURE", "false")]).from_transcripts, 0);
}

#[test]
fn what_was_forgotten_does_not_come_back_from_transcripts() {
    let data = Data::new();
    write_transcript(&data, "s", &[said("aa", 1, "the merger"), said("bb", 2, "the weather")]);
    destroy(&data);
    repair(&data);
    let mut store = data.store();
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    drop(store);
    destroy(&data);
    // A session that went on under another id repeats its messages, and has more.
    let told = [said("aa", 1, "the merger"), said("bb", 2, "the weather"), said("cc", 3, "the rain")];
    write_transcript(
        &data,
        "t",
        &told.map(|mut line| {
            line["sessionId"] = "t".into();
            line
        }),
    );
    assert_eq!(repair(&data).from_transcripts, 2);
    let stored = serde_json::to_string(&exported(&data.store())).unwrap();
    assert!(!stored.contains("merger"), "{stored}");
    assert!(stored.contains("the weather") && stored.contains("the rain"), "{stored}");
}

#[test]
fn tables_of_owners_that_the_program_does_not_know_are_saved_as_well() {
    const OTHERS: store::Tables =
        store::Tables { owner: "other", migrations: &["CREATE TABLE notes (text TEXT) STRICT"] };
    let data = Data::new();
    let mut store = Store::open(&data.database(), &[observations::TABLES, OTHERS]).unwrap();
    for number in 0..2_000 {
        data.append(&prompt("s", &number.to_string(), number, "some words that take room"));
    }
    data.drain(&mut store);
    store.connection().execute("INSERT INTO notes VALUES ('kept')", []).unwrap();
    drop(store);
    damage(&data);
    repair(&data);
    let store = Store::open(&data.database(), &[observations::TABLES, OTHERS]).unwrap();
    assert_eq!(count(&store, "SELECT count(*) FROM notes WHERE text = 'kept'"), 1);
    assert_eq!(count(&store, "SELECT count(*) FROM prompts"), 2_000);
}

#[test]
fn a_locked_database_is_waited_for_and_then_said_to_be_locked() {
    let data = Data::new();
    let holder = data.store();
    holder.connection().execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let started = std::time::Instant::now();
    let error = Store::open(&data.database(), &[observations::TABLES]).unwrap_err();
    assert!(matches!(error, store::Error::Locked(_)), "{error:?}");
    assert!(started.elapsed().as_secs() >= 4, "{:?}", started.elapsed());
    assert!(!error.is_corrupt());
}
