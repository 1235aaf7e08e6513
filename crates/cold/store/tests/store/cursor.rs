//! Cursor's transcripts: both layouts, and what must not come out of them.

use super::transcripts::{key, rules};
use super::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use store::observations::Selection;
use store::repair;
use store::transcripts::{Agent, Import, Imported};

const SESSION: &str = "6a0c1d52-0000-4000-8000-000000000009";

fn import_with(data: &Data, store: &mut Store, folder: &Path, variables: &[(&str, &str)]) -> Imported {
    let rules = rules(variables);
    Import::of_agent(Agent::Cursor, folder, &data.spool, &rules).unwrap().run(store, |_| ()).unwrap()
}

fn import(data: &Data, store: &mut Store) -> Imported {
    import_with(data, store, &data.folder.path().join("projects"), &[])
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/transcripts/cursor")
}

/// Writes a transcript of the project that Cursor gives this name.
fn write(data: &Data, project: &str, name: &str, lines: &[Value]) -> PathBuf {
    let path = data.folder.path().join("projects").join(project).join("agent-transcripts").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, lines.concat()).unwrap();
    path
}

fn typed(text: &str) -> Value {
    json!({"role": "user", "message": {"content": [{"type": "text", "text": format!("<user_query>\n{text}\n</user_query>")}]}})
}

fn ran(command: &str) -> Value {
    let input = json!({"command": command, "working_directory": "/home/dev/project"});
    json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell", "input": input}]}})
}

fn said(text: &str) -> Value {
    json!({"role": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

fn ended() -> Value {
    json!({"type": "turn_ended", "status": "success"})
}

/// Renders what is stored of a session, without ids.
fn told(store: &Store, session: &str) -> Vec<String> {
    let is_its = |line: &&Value| line["session"] == session && line["type"] != "session";
    let render = |line: &Value| match line["type"].as_str().unwrap() {
        "prompt" => format!("asked {}", line["text"].as_str().unwrap()),
        "tool" => {
            let what = ["command", "file_path", "pattern", "description", "id"]
                .iter()
                .find_map(|name| line["input"][name].as_str())
                .unwrap_or_default();
            format!("{} {what}", line["tool"].as_str().unwrap())
        }
        _ => format!("{} {} {}", line["data"]["outcome"], line["data"]["text"], line["data"]["error"])
            .replace('"', ""),
    };
    exported(store).iter().filter(is_its).map(render).collect()
}

#[test]
fn both_layouts_tell_prompts_calls_and_the_ends_of_turns() {
    let data = Data::new();
    let mut store = data.store();
    let imported = import_with(&data, &mut store, &fixtures(), &[]);
    assert_eq!((imported.sessions, imported.unplaced, imported.unreadable), (2, 0, 0));
    assert_eq!(
        told(&store, "6a0c1d52-0000-4000-8000-000000000001"),
        [
            "asked fix the label width",
            "Read /home/dev/shop/src/label.ts",
            "Edit /home/dev/shop/src/label.ts",
            "Bash npm test",
            "done The label is 48 wide now. null",
        ]
    );
    let later = "6a0c1d52-0000-4000-8000-000000000002";
    let mut lines = told(&store, later);
    let helper = lines.iter().position(|line| line == "Grep font-family").unwrap();
    lines.remove(helper);
    assert_eq!(
        lines,
        [
            "asked add a footer",
            "Write /home/dev/shop/src/footer.tsx",
            "Edit /home/dev/shop/src/page.tsx",
            "Bash npm test",
            "Edit /home/dev/shop/src/old.tsx",
            "mcp__figma__get_node 1",
            "done `Footer` is on the page. null",
            "asked [media prompt]",
            "Agent find the font",
            "interrupted null null",
            "asked go on with <b>bold</b> </user_query> text",
            "failed  model overloaded",
        ]
    );
    let all = exported(&store);
    let line = |text: &str| all.iter().find(|line| line["text"] == text).unwrap();
    assert_eq!(line("add a footer")["ts"], "2026-08-23T18:16:00.000Z");
    assert!(all.iter().all(|line| line["platform"] == "cursor"));
    assert!(
        all.iter().filter(|line| line["type"] != "session").all(|line| line["cwd"] == "/home/dev/shop"),
        "{all:#?}"
    );
    let written = all.iter().find(|line| line["tool"] == "Write").unwrap();
    assert!(written["input"]["content"].as_str().unwrap().starts_with("export function Footer"));
    assert_eq!(all.iter().filter(|line| line["agent"].is_string()).count(), 1);
    let again = import_with(&data, &mut store, &fixtures(), &[]);
    assert_eq!((again.sessions, again.unchanged, again.stored), (0, 2, 0));
    let others = import_with(&data, &mut store, &fixtures(), &[("CLAUDE_MEM_SKIP_TOOLS", "Task")]);
    assert_eq!((others.stored, others.known), (0, imported.stored));
}

#[test]
fn a_session_that_grew_was_cut_or_went_back_adds_what_is_new() {
    let data = Data::new();
    let mut store = data.store();
    let name = format!("{SESSION}/{SESSION}.jsonl");
    let first = [typed("one"), ran("ls"), said("1."), ended(), typed("two"), said("Looking.")];
    let path = write(&data, "home-dev-project", &name, &first);
    fs::write(&path, fs::read_to_string(&path).unwrap() + r#"{"role":"assistant","message":{"con"#).unwrap();
    assert_eq!(import(&data, &mut store).stored, 4);
    assert_eq!(told(&store, SESSION), ["asked one", "Bash ls", "done 1. null", "asked two"]);
    // Only the last end of a turn is kept.
    let grown = [
        typed("one"),
        ran("ls"),
        said("1."),
        typed("two"),
        said("Looking."),
        ran("pwd"),
        said("2."),
        ended(),
    ];
    write(&data, "home-dev-project", &name, &grown);
    let more = import(&data, &mut store);
    assert_eq!((more.stored, more.known), (2, 4));
    // The user went back and asked something else.
    write(
        &data,
        "home-dev-project",
        &name,
        &[typed("one"), ran("ls"), said("1."), typed("other"), ran("df"), said("3."), ended()],
    );
    assert_eq!(import(&data, &mut store).stored, 3);
}

#[test]
fn what_is_private_secret_excluded_recorded_or_forgotten_stays_out() {
    let data = Data::new();
    let key = key();
    let lines = [
        typed("<private>hidden</private>"),
        ran("cat hidden"),
        said("The hidden one."),
        ended(),
        ran("cat hidden"),
        json!({"role": "user", "message": {"content": "<private>hidden</private>"}}),
        ran("rm hidden"),
        said("hidden"),
        typed(&format!("use {key} <private>hidden</private>")),
        ran(&format!("curl {key}")),
        said(&format!("I have {key}.")),
        typed("the merger"),
    ];
    write(&data, "home-dev-project", &format!("{SESSION}/{SESSION}.jsonl"), &lines);
    write(
        &data,
        "home-dev-project",
        &format!("{SESSION}/subagents/a1.jsonl"),
        &[typed("hidden"), ran("cat hidden")],
    );
    let mut store = data.store();
    let imported = import(&data, &mut store);
    let stored = serde_json::to_string(&exported(&store)).unwrap();
    assert!(!stored.contains("hidden") && !stored.contains(&key), "{stored}");
    assert!(stored.matches("[redacted:").count() >= 3, "{stored}");
    assert_eq!((imported.private, imported.stored), (2, 4));
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    let folder = data.folder.path().join("projects");
    let again = import_with(&data, &mut store, &folder, &[("CLAUDE_MEM_SKIP_TOOLS", "Read")]);
    assert_eq!((again.stored, again.forgotten), (0, 1));

    let other = Data::new();
    let mut store = other.store();
    let excluded = [("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/dev/**")];
    assert_eq!(import_with(&other, &mut store, &fixtures(), &excluded).stored, 0);
    let session = "6a0c1d52-0000-4000-8000-000000000001";
    other.append(&Observation {
        platform: Some("cursor".into()),
        ..prompt(session, "g1", 0, "fix the label width")
    });
    other.drain(&mut store);
    let imported = import_with(&other, &mut store, &fixtures(), &[]);
    assert_eq!((imported.recorded, imported.sessions, told(&store, session).len()), (1, 1, 1));
}

#[test]
fn a_session_is_placed_by_cursors_note_or_the_paths_of_its_project_or_left_out() {
    let data = Data::new();
    let mut store = data.store();
    // Another session of the project names it.
    write(&data, "home-dev-my-shop", "a.jsonl", &[typed("one"), said("1.")]);
    let read = json!({"type": "tool_use", "name": "Read", "input": {"path": "/home/dev/my.shop/src/a.rs"}});
    write(
        &data,
        "home-dev-my-shop",
        "b.jsonl",
        &[typed("two"), json!({"role": "assistant", "message": {"content": [read]}})],
    );
    write(&data, "long-name-157e277", "c.jsonl", &[typed("three"), said("3.")]);
    let note =
        json!({"trustedAt": "2026-08-02T02:06:46.038Z", "workspacePath": "/home/dev/long name"}).to_string();
    fs::write(data.folder.path().join("projects/long-name-157e277/.workspace-trusted"), note).unwrap();
    write(&data, "home-dev-unknown", "d.jsonl", &[typed("four"), ran("ls"), said("4.")]);
    write(&data, "home-dev-unknown", "gone/subagents/e.jsonl", &[typed("five"), ran("ls")]);
    let broken = data.folder.path().join("projects/home-dev-my-shop/agent-transcripts/f.jsonl");
    let lines = [
        "not json",
        "[]",
        r#"{"role":5,"message":[]}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":5}]}}"#,
    ];
    fs::write(broken, lines.join("\n")).unwrap();
    fs::write(data.folder.path().join("projects/other.jsonl"), typed("no transcript").to_string()).unwrap();
    let imported = import(&data, &mut store);
    assert_eq!((imported.stored, imported.unplaced), (6, 2));
    let mut places: Vec<String> = exported(&store)
        .iter()
        .filter(|line| line["type"] == "prompt")
        .map(|line| format!("{} {}", line["text"].as_str().unwrap(), line["cwd"].as_str().unwrap()))
        .collect();
    places.sort();
    assert_eq!(places, ["one /home/dev/my.shop", "three /home/dev/long name", "two /home/dev/my.shop"]);
}
