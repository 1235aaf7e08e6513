use super::*;
use store::observations::{BadLine, Import, Imported};

fn export(store: &Store, what: &Export) -> String {
    let mut lines = Vec::new();
    what.write(store, &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

fn import(data: &Data, store: &mut Store, text: &str) -> Imported {
    Import::new(&data.spool).read(store, text.as_bytes(), |_| {}).unwrap()
}

fn filled() -> (Data, Store) {
    let data = Data::new();
    let mut store = data.store();
    let ls = command("ls -la");
    data.append(&prompt("s", "1", 0, "list the files"));
    data.append(&failed_call("s", "1", 10, &ls, Some("Exit code 2")));
    data.append(&Observation { cwd: "/home/dev/other".into(), ..prompt("t", "2", HOUR, "something else") });
    data.drain(&mut store);
    (data, store)
}

#[test]
fn an_export_names_type_session_id_and_command() {
    let (_data, store) = filled();
    let lines = exported(&store);
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["session", "prompt", "tool", "session", "prompt"]);
    let tool = &lines[2];
    assert_eq!(tool["v"], 1);
    assert_eq!(tool["tool_use_id"], "1");
    assert_eq!(tool["command"], "ls -la");
    assert_eq!(tool["input"]["command"], "ls -la");
    assert_eq!((&tool["failed"], &tool["error"]), (&true.into(), &"Exit code 2".into()));
    assert_eq!(tool["ts"], Timestamp::from_millis(START + 10).to_string());
}

#[test]
fn a_project_and_a_time_narrow_an_export() {
    let (_data, store) = filled();
    let other = export(&store, &Export { project: Some("path:/home/dev/other".into()), since: None });
    assert_eq!(other.lines().count(), 2);
    let since = Some(Timestamp::from_millis(START + 5));
    let late = export(&store, &Export { project: None, since });
    let types: Vec<bool> = late.lines().map(|line| line.contains("\"type\":\"session\"")).collect();
    assert_eq!(types, [true, false, true, false], "{late}");
}

#[test]
fn what_was_exported_comes_back_the_same_and_only_once() {
    let (_data, store) = filled();
    let text = export(&store, &Export::default());
    let elsewhere = Data::new();
    let mut copy = elsewhere.store();
    assert_eq!(import(&elsewhere, &mut copy, &text), Imported { stored: 3, ..Imported::default() });
    assert_eq!(export(&copy, &Export::default()), text);
    assert_eq!(import(&elsewhere, &mut copy, &text), Imported { known: 3, ..Imported::default() });
    assert_eq!(export(&copy, &Export::default()), text);
    // Backwards as well: a session's line may come after its observations.
    let backwards: Vec<&str> = text.lines().rev().collect();
    let third = Data::new();
    let mut copy = third.store();
    import(&third, &mut copy, &backwards.join("\n"));
    assert_eq!(export(&copy, &Export::default()), text);
}

#[test]
fn bad_lines_are_named_and_the_others_imported() {
    let data = Data::new();
    let mut store = data.store();
    let text = concat!(
        "{\"v\":1,\"type\":\"prompt\",\"session\":\"s\",\"id\":\"p:1\",\"ts\":\"2026-11-16T00:00:00Z\",\"text\":\"good\"}\n",
        "\n",
        "nonsense\n",
        "{\"v\":9,\"type\":\"prompt\",\"session\":\"s\",\"id\":\"p:2\",\"ts\":\"2026-11-16\",\"text\":\"later\"}\n",
        "{\"v\":1,\"type\":\"prompt\",\"session\":\"s\",\"id\":\"p:3\",\"ts\":\"yesterday\",\"text\":\"when\"}\n",
        "{\"v\":1,\"type\":\"tool\",\"session\":\"s\",\"id\":\"t:4\",\"ts\":\"2026-11-16\"}\n",
        "{\"v\":1,\"type\":\"prompt\",\"session\":\"s\",\"id\":\"p:5\",\"ts\":\"2026-11-16T00:00:01Z\",\"text\":\"good, too\"}",
    );
    let imported = import(&data, &mut store, text);
    assert_eq!((imported.stored, imported.later, imported.bad), (2, 1, 3));
    let numbers: Vec<u64> = imported.bad_lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [3, 5, 6]);
    let reason = "`ts` is no time".to_owned();
    assert_eq!(imported.bad_lines[1], BadLine { number: 5, reason });
    assert_eq!(rendered(&store), "1 good\n2 good, too");
}

#[test]
fn an_import_brings_neither_secrets_nor_private_text() {
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let data = Data::new();
    let mut store = data.store();
    let line = |id: &str, text: &str| {
        serde_json::json!({"v": 1, "type": "prompt", "session": "s", "id": id, "ts": "2026-11-16T00:00:00Z", "text": text})
            .to_string()
    };
    let text = [line("p:1", &format!("use {key}")), line("p:2", "<private>hidden</private>")].join("\n");
    let imported = import(&data, &mut store, &text);
    assert_eq!((imported.stored, imported.private), (1, 1));
    let stored = rendered(&store);
    assert!(!stored.contains(&key) && !stored.contains("hidden"), "{stored}");
}
