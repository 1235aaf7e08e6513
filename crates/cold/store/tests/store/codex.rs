//! Codex' rollouts: every generation of their form, and what must not come out of them.

use super::transcripts::{key, rules};
use super::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use store::observations::Selection;
use store::repair;
use store::transcripts::{Agent, Import, Imported};

const SESSION: &str = "019f0000-0000-7000-8000-000000000001";

fn import_with(data: &Data, store: &mut Store, folder: &Path, variables: &[(&str, &str)]) -> Imported {
    let rules = rules(variables);
    Import::of_agent(Agent::Codex, folder, &data.spool, &rules).unwrap().run(store, |_| ()).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/transcripts/codex")
}

fn folder_of(data: &Data) -> PathBuf {
    data.folder.path().join("sessions")
}

fn import(data: &Data, store: &mut Store) -> Imported {
    import_with(data, store, &folder_of(data), &[])
}

fn write(data: &Data, session: &str, lines: &[Value]) -> PathBuf {
    let folder = folder_of(data).join("2026/06/01");
    fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = folder.join(format!("rollout-2026-06-01T00-00-00-{session}.jsonl"));
    fs::write(&path, lines.concat()).unwrap();
    path
}

fn line(kind: &str, second: u32, payload: &Value) -> Value {
    json!({"timestamp": format!("2026-06-01T00:00:{second:02}.000Z"), "type": kind, "payload": payload})
}

fn meta(session: &str) -> Value {
    line("session_meta", 0, &json!({"id": session, "cwd": "/home/dev/project", "source": "cli"}))
}

fn typed(second: u32, turn: &str, text: &str) -> Vec<Value> {
    vec![
        line("event_msg", second, &json!({"type": "task_started", "turn_id": turn})),
        line("event_msg", second, &json!({"type": "user_message", "message": text})),
    ]
}

fn ran(second: u32, id: &str, command: &str, output: &str) -> Vec<Value> {
    let arguments = json!({"cmd": command}).to_string();
    let call =
        json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id});
    let output = json!({"type": "function_call_output", "call_id": id, "output": output});
    vec![line("response_item", second, &call), line("response_item", second, &output)]
}

fn done(second: u32, text: &str) -> Value {
    line("event_msg", second, &json!({"type": "task_complete", "last_agent_message": text}))
}

/// Renders what is stored of a session, a line each.
fn told(store: &Store, session: &str) -> Vec<String> {
    let is_its = |line: &&Value| line["session"] == session && line["type"] != "session";
    let render = |line: &Value| {
        let data = &line["data"];
        let words = match line["type"].as_str().unwrap() {
            "prompt" => line["text"].clone(),
            "tool" => {
                let agent = line["agent_type"].as_str().map(|kind| format!("({kind}) ")).unwrap_or_default();
                let input = &line["input"];
                let what =
                    ["command", "file_path", "query", "input", "message"].map(|name| input[name].as_str());
                let what = what.into_iter().flatten().next().unwrap_or_default();
                let error = line["error"].as_str().map(|error| format!(" ! {error}")).unwrap_or_default();
                format!("{agent}{} {what}{error}", line["tool"].as_str().unwrap()).into()
            }
            "said" => data["text"].clone(),
            "refused" => format!("{} {}", data["by"], data["input"]["command"]).into(),
            _ => format!("{} {} {}", data["outcome"], data["text"], data["error"]).into(),
        };
        format!("{} {}", line["id"].as_str().unwrap(), words.as_str().unwrap_or_default()).replace('"', "")
    };
    exported(store).iter().filter(is_its).map(render).collect()
}

#[test]
fn every_generation_of_rollouts_tells_the_same_things() {
    let data = Data::new();
    let mut store = data.store();
    let imported = import_with(&data, &mut store, &fixtures(), &[]);
    assert_eq!((imported.sessions, imported.unreadable, imported.unplaced), (4, 0, 0));
    let first = "5973b6c0-94b8-487b-a530-2aeb6098ae0e";
    let lines = told(&store, first);
    let prompt = lines[0].strip_suffix(" why do expired tokens pass?").unwrap();
    assert!(prompt.starts_with(&format!("u:{first}-1-")), "{lines:#?}");
    let rest = [
        "t:call_Zk1o7YHCt0uUQm2pO1n4aaaa Bash rg -n exp src".to_owned(),
        "t:call_Zk1o7YHCt0uUQm2pO1n4bbbb Edit src/auth.rs".to_owned(),
        format!("e:{} done `verify_token` never looked at `exp`; it does now. null", &prompt[2..]),
    ];
    assert_eq!(lines[1..], rest);

    let second = told(&store, "0199cd10-1111-7aaa-8bbb-000000000002");
    let words: Vec<&str> = second.iter().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(
        words,
        [
            "run the tests",
            "Bash cargo test ! Exit code 101\ntest auth::an_expired_token_is_refused ... FAILED",
            "Edit src/auth.rs",
            "user git push",
            "done The test passes; I did not push. null",
            "and document it",
            "interrupted null null",
        ]
    );

    assert_eq!(
        told(&store, "019e1f00-0000-7000-8000-000000000003"),
        [
            "p:019e1f00-0000-7000-8000-0000000000a1 build it",
            "q:019e1f00-0000-7000-8000-0000000000a1-1 without source maps",
            "t:call_third00000000000000001 Bash npm run build ! Exit code 2\nBuilding...\nsrc/nav.ts(4,1): error TS2304",
            "t:ws_third0000000000000000001 WebSearch TS2304",
            "t:call_third00000000000000003 spawn_agent look at nav.ts",
            "t:call_helper0000000000000001 (explorer) Bash sed -n 1,9p src/nav.ts",
            "e:019e1f00-0000-7000-8000-0000000000a1 done It needs an import. null",
            "p:019e1f00-0000-7000-8000-0000000000a2 [media prompt]",
            "e:019e1f00-0000-7000-8000-0000000000a2 failed  stream disconnected",
        ]
    );

    assert_eq!(
        told(&store, "01a10000-0000-7000-8000-000000000004"),
        [
            "p:01a10000-0000-7000-8000-0000000000a1 add a greeting",
            "t:exec-01a1-fourth-000000001 Bash cargo test ! Exit code 101\nerror[E0425]: cannot find function `greet`",
            "t:exec-01a1-fourth-000000002 Edit /home/dev/shop/src/greet.rs",
            "t:call_fourth0000000000000001 exec await tools.exec_command({cmd: 'cargo test'})",
            "t:exec-01a1-fourth-000000003 Edit /home/dev/shop/old.rs",
            "e:01a10000-0000-7000-8000-0000000000a1 done `greet` is there. null",
        ]
    );
    let lines = exported(&store);
    assert!(lines.iter().all(|line| line["platform"] == "codex"), "{lines:#?}");
    let branch = |text: &str| lines.iter().find(|line| line["text"] == text).unwrap()["branch"].clone();
    assert_eq!((branch("run the tests"), branch("build it")), (json!("expiry"), json!("main")));
    let again = import_with(&data, &mut store, &fixtures(), &[]);
    assert_eq!((again.sessions, again.unchanged, again.stored), (0, 4, 0));
    let others = import_with(&data, &mut store, &fixtures(), &[("CLAUDE_MEM_SKIP_TOOLS", "Read")]);
    assert_eq!((others.stored, others.known), (0, imported.stored));
}

#[test]
fn a_session_that_grew_and_one_that_was_cut_add_what_is_new() {
    let data = Data::new();
    let mut store = data.store();
    let first =
        [vec![meta(SESSION)], typed(1, "t1", "one"), vec![done(2, "1.")], typed(3, "t2", "two")].concat();
    let path = write(&data, SESSION, &first);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str(
        r#"{"timestamp":"2026-06-01T00:00:04.000Z","type":"event_msg","payload":{"type":"agent_mess"#,
    );
    fs::write(&path, text).unwrap();
    assert_eq!(import(&data, &mut store).stored, 3);
    assert_eq!(told(&store, SESSION), ["p:t1 one", "e:t1 done 1. null", "p:t2 two"]);
    write(&data, SESSION, &[first, ran(5, "call_1", "ls", "a"), vec![done(6, "2.")]].concat());
    let more = import(&data, &mut store);
    assert_eq!((more.stored, more.known), (2, 3));
    assert_eq!(told(&store, SESSION)[3..], ["t:call_1 Bash ls", "e:t2 done 2. null"]);
}

#[test]
fn what_hooks_recorded_is_not_stored_again_and_numbered_calls_of_two_sessions_are_two() {
    let data = Data::new();
    let mut store = data.store();
    let at = 1_780_272_001_000;
    let of_codex =
        |observation: Observation<'static>| Observation { platform: Some("codex".into()), ..observation };
    data.append(&of_codex(Observation { at, ..prompt(SESSION, "t1", 0, "one") }));
    let ls = Box::leak(Box::new(command("ls")));
    data.append(&of_codex(Observation { at, ..tool_call(SESSION, "call_1", 0, ls) }));
    data.drain(&mut store);
    let turn = [typed(1, "t1", "one"), ran(2, "call_1", "ls", "a"), vec![done(3, "1.")]].concat();
    write(&data, SESSION, &[vec![meta(SESSION)], turn].concat());
    let other = "019f0000-0000-7000-8000-000000000002";
    let turn = [typed(11, "t2", "more"), ran(12, "call_1", "pwd", "/"), vec![done(13, "2.")]].concat();
    write(&data, other, &[vec![meta(other)], turn].concat());
    let imported = import(&data, &mut store);
    assert_eq!((imported.stored, imported.known), (4, 2));
    assert_eq!(told(&store, SESSION), ["p:t1 one", "t:call_1 Bash ls", "e:t1 done 1. null"]);
    assert_eq!(told(&store, other), ["p:t2 more", "t:call_1 Bash pwd", "e:t2 done 2. null"]);
}

#[test]
fn a_copy_of_a_session_repeats_nothing() {
    let data = Data::new();
    let mut store = data.store();
    let unnamed = |second: u32, text: &str| {
        vec![
            line("event_msg", second, &json!({"type": "user_message", "message": text})),
            line(
                "event_msg",
                second,
                &json!({"type": "agent_message", "message": format!("Answer to {text}")}),
            ),
        ]
    };
    let long = "call_aaaaaaaaaaaaaaaaaaaaaaaa";
    let turns = [unnamed(1, "one"), ran(2, long, "ls", "a")].concat();
    write(&data, SESSION, &[vec![meta(SESSION)], turns.clone(), unnamed(5, "two")].concat());
    import(&data, &mut store);
    let copy = "019f0000-0000-7000-8000-000000000002";
    let mut own = meta(copy);
    own["payload"]["forked_from_id"] = SESSION.into();
    write(&data, copy, &[vec![own, meta(SESSION)], turns, unnamed(7, "three")].concat());
    import(&data, &mut store);
    let words: Vec<String> =
        told(&store, copy).iter().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect();
    assert_eq!(words, ["three", "done Answer to three null"]);
}

#[test]
fn what_is_private_secret_excluded_or_forgotten_stays_out() {
    let data = Data::new();
    let key = key();
    let helper = "019f0000-0000-7000-8000-00000000000b";
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}});
    let private = [
        vec![meta(SESSION)],
        typed(1, "t1", "<private>hidden</private>"),
        ran(2, "call_1", "cat hidden", "hidden"),
        // It goes on when the turn has ended, and is asked for more under another prompt.
        ran(3, "call_2", "tail -f hidden", "Process running with session ID 7\nOutput:\nhidden"),
        vec![
            line("event_msg", 4, &json!({"type": "user_message", "message": "more of the hidden"})),
            line(
                "event_msg",
                5,
                &json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "x-1",
                "command": ["cat", "hidden"], "cwd": "/home/dev/project", "aggregated_output": "hidden"}}),
            ),
            line(
                "response_item",
                6,
                &json!({"type": "web_search_call", "id": "ws", "action": {"query": "hidden"}}),
            ),
            done(7, "The hidden one."),
            line(
                "event_msg",
                7,
                &json!({"type": "patch_apply_end", "call_id": "x-2", "success": true,
                "changes": {"hidden.rs": {"type": "add", "content": "hidden"}}}),
            ),
        ],
    ];
    let poll = json!({"session_id": 7}).to_string();
    let open = [
        typed(10, "t2", &format!("use {key} for \u{1b}[31mred <private>hidden</private>")),
        vec![
            line(
                "response_item",
                11,
                &json!({"type": "function_call", "name": "write_stdin", "arguments": poll, "call_id": "call_3"}),
            ),
            line(
                "response_item",
                11,
                &json!({"type": "function_call_output", "call_id": "call_3", "output": "Process exited with code 0\nOutput:\nhidden"}),
            ),
        ],
        ran(12, "call_4", &format!("curl {key}"), &format!("Exit code: 1\nOutput:\n{key}")),
        vec![done(13, &format!("I have {key}."))],
        typed(20, "t3", "the merger"),
    ];
    write(&data, SESSION, &[private.concat(), open.concat()].concat());
    let mut meta = meta(helper);
    meta["payload"]["source"] = spawn;
    write(
        &data,
        helper,
        &[vec![meta], ran(3, "call_5", "cat hidden", "hidden"), ran(14, "call_6", "ls", "a")].concat(),
    );
    let mut store = data.store();
    let imported = import(&data, &mut store);
    let stored = serde_json::to_string(&exported(&store)).unwrap();
    assert!(!stored.contains("hidden") && !stored.contains(&key), "{stored}");
    assert!(stored.matches("[redacted:").count() >= 3, "{stored}");
    assert_eq!((imported.private, imported.sessions), (1, 1));
    let ids: Vec<String> =
        told(&store, SESSION).iter().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
    assert_eq!(ids, ["p:t2", "t:call_4", "e:t2", "t:call_6", "p:t3"]);
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    let again = import_with(&data, &mut store, &folder_of(&data), &[("CLAUDE_MEM_SKIP_TOOLS", "Read")]);
    assert_eq!((again.stored, again.forgotten), (0, 1));

    let other = Data::new();
    let mut store = other.store();
    let excluded = [("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/dev/**")];
    assert_eq!(import_with(&other, &mut store, &fixtures(), &excluded).stored, 0);
}

#[test]
fn rollouts_without_a_folder_without_their_session_packed_or_broken_are_counted() {
    let data = Data::new();
    let mut store = data.store();
    let mut nowhere = meta(SESSION);
    nowhere["payload"].as_object_mut().unwrap().remove("cwd");
    write(&data, SESSION, &[vec![nowhere], typed(1, "t1", "one"), vec![done(2, "1.")]].concat());
    let orphan = "019f0000-0000-7000-8000-000000000002";
    let mut of_none = meta(orphan);
    of_none["payload"]["source"] = json!({"subagent": {"thread_spawn": {"parent_thread_id": "gone"}}});
    let path = write(&data, orphan, &[vec![of_none], ran(1, "call_1", "ls", "a")].concat());
    let folder = path.parent().unwrap();
    fs::write(folder.join("rollout-2026-01-01T00-00-00-x.jsonl.zst"), "packed").unwrap();
    fs::write(folder.join("notes.jsonl"), "{}\n").unwrap();
    let broken = [
        "not json",
        "[]",
        "null",
        "{\"type\":5}",
        "{\"type\":\"response_item\",\"payload\":7}",
        "\u{feff}{}",
        r#"{"type":"response_item","payload":{"type":"function_call","name":5,"arguments":{},"call_id":[]}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"none","output":{"x":1}}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":"none"}}"#,
        r#"{"timestamp":"9999999-01-01T00:00:00Z","type":"session_meta","payload":{"cwd":5,"git":"x"}}"#,
    ];
    let text = broken.join("\n");
    fs::write(folder.join("rollout-2026-06-01T00-00-00-019f0000-0000-7000-8000-000000000003.jsonl"), text)
        .unwrap();
    let imported = import(&data, &mut store);
    assert_eq!((imported.stored, imported.unplaced, imported.unreadable), (0, 3, 1));
}
