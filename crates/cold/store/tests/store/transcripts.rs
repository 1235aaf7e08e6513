use super::repair::{answered, called, said, write_transcript};
use super::*;
use base::{Env, settings::Settings};
use capture::Rules;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use store::observations::Selection;
use store::repair;
use store::transcripts::{Import, Imported};

const REFUSED: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing";

pub(super) fn rules(variables: &[(&str, &str)]) -> Rules {
    let env = Env::fixed(variables.iter().copied());
    Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env)
}

/// A planted key, in pieces: no scanner of this repository shall find it.
pub(super) fn key() -> String {
    ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

fn import_with(data: &Data, store: &mut Store, variables: &[(&str, &str)]) -> Imported {
    let rules = rules(variables);
    Import::of(&data.folder.path().join("projects"), &data.spool, &rules).unwrap().run(store, |_| ()).unwrap()
}

fn import(data: &Data, store: &mut Store) -> Imported {
    import_with(data, store, &[])
}

fn stamp(second: u32) -> String {
    format!("2026-11-16T00:00:{second:02}.000Z")
}

fn replied(second: u32, text: &str) -> Value {
    json!({"type": "assistant", "sessionId": "s", "cwd": "/home/dev/project", "timestamp": stamp(second),
        "message": {"model": "claude-opus-4-8", "content": [{"type": "text", "text": text}]}})
}

fn typed_meanwhile(uuid: &str, second: u32, text: &str) -> Value {
    json!({"type": "attachment", "uuid": uuid, "sessionId": "s", "cwd": "/home/dev/project", "timestamp": stamp(second),
        "attachment": {"type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": {"kind": "human"}}})
}

fn refused(id: &str, second: u32, text: &str) -> Value {
    let mut line = answered(id, second, true, text);
    line["toolUseResult"] = "User rejected tool use".into();
    line
}

fn interrupted(second: u32) -> Value {
    json!({"type": "user", "promptId": "aa", "sessionId": "s", "cwd": "/home/dev/project", "timestamp": stamp(second),
        "message": {"content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}})
}

/// Renders what is stored, a line each: kind, id and what it says.
fn told(store: &Store) -> Vec<String> {
    let line = |line: &Value| {
        let (kind, data) = (line["type"].as_str().unwrap(), &line["data"]);
        let words = match kind {
            "prompt" => line["text"].clone(),
            "tool" => line["command"].clone(),
            "said" => data["text"].clone(),
            "refused" => format!("{} {} {}", data["by"], data["input"]["command"], data["reason"]).into(),
            _ => format!("{} {}", data["outcome"], data["text"]).into(),
        };
        format!("{kind} {} {}", line["id"].as_str().unwrap(), words.as_str().unwrap_or_default())
            .replace('"', "")
    };
    exported(store).iter().filter(|line| line["type"] != "session").map(line).collect()
}

/// A turn that was refused, with all around it.
fn session() -> Vec<Value> {
    vec![
        said("aa", 1, "list the files"),
        called("toolu_1", 2, "Bash", "ls"),
        answered("toolu_1", 3, false, "a.txt"),
        typed_meanwhile("u1", 4, "and the hidden ones"),
        replied(5, "I look again."),
        called("toolu_2", 6, "Bash", "ls -a"),
        refused("toolu_2", 7, REFUSED),
        interrupted(8),
        said("bb", 10, "go on"),
        called("toolu_3", 11, "Bash", "rm x"),
        refused("toolu_3", 12, &format!("{REFUSED} To tell you how to proceed, the user said:\nkeep it")),
        replied(13, "I keep it."),
        replied(14, "Done."),
    ]
}

const TOLD: [&str; 8] = [
    "prompt p:aa list the files",
    "tool t:toolu_1 ls",
    "said q:u1 and the hidden ones",
    "refused r:toolu_2 interrupt ls -a null",
    "turn-end e:aa-1794787208000 interrupted I look again.",
    "prompt p:bb go on",
    "refused r:toolu_3 user rm x keep it",
    "turn-end e:bb done Done.",
];

#[test]
fn a_session_comes_whole_and_once() {
    let data = Data::new();
    write_transcript(&data, "s", &session());
    let mut store = data.store();
    let imported = import(&data, &mut store);
    assert_eq!(told(&store), TOLD);
    assert_eq!((imported.sessions, imported.stored, imported.known), (1, 8, 0));
    let again = import(&data, &mut store);
    assert_eq!((again.sessions, again.unchanged, again.stored), (0, 1, 0));
    // With another rule it tells something else.
    let others = import_with(&data, &mut store, &[("CLAUDE_MEM_SKIP_TOOLS", "Read")]);
    assert_eq!((others.sessions, others.stored, others.known), (1, 0, 8));
    // What was added is all that is new.
    write_transcript(&data, "s", &[session(), vec![said("cc", 20, "thanks")]].concat());
    let more = import(&data, &mut store);
    assert_eq!((more.stored, more.known), (1, 8));
}

#[test]
fn what_was_recorded_is_not_stored_again() {
    let data = Data::new();
    let mut store = data.store();
    let at = |second: u32| stamp(second).parse::<Timestamp>().unwrap().millis();
    let ls = command("ls");
    data.append(&Observation { at: at(1), ..prompt("s", "aa", 0, "list the files") });
    data.append(&Observation { at: at(3), ..tool_call("s", "toolu_1", 0, &ls) });
    // The end of a turn has the time of its hook in its id.
    let end = RawValue::from_string(r#"{"outcome":"done","text":"Done."}"#.to_owned()).unwrap();
    let end = Values::Kept(Kept { kind: "turn-end".into(), data: Cow::Owned(end) });
    data.append(&Observation {
        prompt_id: Some("bb".into()),
        ..Observation::new("s", "e:bb-123", at(14) + 9, end)
    });
    // A guard that refused a call has said so.
    let guard = RawValue::from_string(r#"{"tool":"Bash","by":"guard"}"#.to_owned()).unwrap();
    let guard = Values::Kept(Kept { kind: "refused".into(), data: Cow::Owned(guard) });
    data.append(&Observation::new("s", "r:toolu_9", at(15), guard));
    data.drain(&mut store);
    let more =
        vec![called("toolu_9", 15, "Bash", "git push -f"), answered("toolu_9", 16, true, "not allowed here")];
    write_transcript(&data, "s", &[session(), more].concat());
    let imported = import(&data, &mut store);
    assert_eq!((imported.stored, imported.known), (5, 4));
    let ends: Vec<String> =
        told(&store).into_iter().filter(|line| line.starts_with("turn-end e:bb")).collect();
    assert_eq!(ends, ["turn-end e:bb-123 done Done."]);
}

#[test]
fn prompts_without_an_id_of_the_clients_go_by_their_records() {
    let data = Data::new();
    let mut store = data.store();
    let at = stamp(1).parse::<Timestamp>().unwrap().millis();
    // An earlier client gave hooks no id either.
    let recorded =
        Observation { id: "x-1".into(), prompt_id: None, at: at + 40, ..prompt("s", "", 0, "first") };
    data.append(&recorded);
    data.drain(&mut store);
    let of_earlier = |uuid: &str, second: u32, text: &str| {
        let mut line = said("", second, text);
        line["uuid"] = uuid.into();
        line.as_object_mut().unwrap().remove("promptId");
        line
    };
    write_transcript(
        &data,
        "s",
        &[of_earlier("u1", 1, "first"), of_earlier("u2", 30, "first"), replied(31, "Yes.")],
    );
    import(&data, &mut store);
    assert_eq!(told(&store), ["prompt x-1 first", "prompt u:u2 first", "turn-end e:u2 done Yes."]);
}

#[test]
fn what_is_private_excluded_or_forgotten_stays_out() {
    let data = Data::new();
    let key = key();
    write_transcript(
        &data,
        "s",
        &[
            said("aa", 1, "<private>hidden</private>"),
            called("toolu_1", 2, "Bash", "cat hidden"),
            // Neither this nor the answer is the user's to be shown.
            typed_meanwhile("u1", 3, "more of the hidden"),
            answered("toolu_1", 4, false, "hidden"),
            called("toolu_2", 5, "Bash", "rm hidden"),
            refused("toolu_2", 6, REFUSED),
            replied(7, "The hidden one."),
            said("bb", 10, &format!("use {key}")),
            called("toolu_3", 11, "Bash", &format!("curl {key}")),
            refused("toolu_3", 12, &format!("{REFUSED} the user said:\nnot with {key}")),
            replied(13, &format!("I have {key}.")),
            typed_meanwhile("u2", 14, "<private>hidden</private>"),
            called("toolu_4", 15, "Bash", "cat hidden"),
            answered("toolu_4", 16, false, "hidden"),
            said("cc", 20, "the merger"),
        ],
    );
    let mut store = data.store();
    let imported = import(&data, &mut store);
    let stored = serde_json::to_string(&exported(&store)).unwrap();
    assert!(!stored.contains("hidden") && !stored.contains(&key), "{stored}");
    assert!(stored.matches("[redacted:").count() >= 3, "{stored}");
    assert_eq!(imported.private, 1);
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    let again = import_with(&data, &mut store, &[("CLAUDE_MEM_SKIP_TOOLS", "Read")]);
    assert_eq!((again.stored, again.forgotten), (0, 1));

    let other = Data::new();
    write_transcript(&other, "s", &session());
    let mut store = other.store();
    assert_eq!(
        import_with(&other, &mut store, &[("CLAUDE_MEM_EXCLUDED_PROJECTS", "/home/dev/**")]).stored,
        0
    );
}

#[test]
fn calls_of_subagents_are_marked_wherever_the_client_wrote_them() {
    let data = Data::new();
    let mut beside = session();
    for mut line in [called("toolu_8", 3, "Bash", "from beside"), answered("toolu_8", 4, false, "ok")] {
        line["isSidechain"] = true.into();
        beside.push(line);
    }
    write_transcript(&data, "s", &beside);
    let folder = data.folder.path().join("projects/-work-project/s/subagents");
    fs::create_dir_all(&folder).unwrap();
    let own = [called("toolu_9", 3, "Bash", "from its own"), answered("toolu_9", 4, false, "ok")].map(
        |mut line| {
            line["isSidechain"] = true.into();
            line["agentId"] = "a1".into();
            line.to_string()
        },
    );
    fs::write(folder.join("agent-a1.jsonl"), own.join("\n")).unwrap();
    fs::write(folder.join("agent-a1.meta.json"), r#"{"agentType":"explore"}"#).unwrap();
    let mut store = data.store();
    import(&data, &mut store);
    let agents: Vec<String> = exported(&store)
        .iter()
        .filter(|line| line.get("agent").is_some())
        .map(|line| format!("{} {} {}", line["command"], line["agent"], line["agent_type"]).replace('"', ""))
        .collect();
    assert_eq!(agents, ["from beside sidechain null", "from its own a1 explore"]);
}

#[test]
fn a_failed_turn_says_why() {
    let data = Data::new();
    let failed = json!({"type": "assistant", "sessionId": "s", "cwd": "/home/dev/project", "timestamp": stamp(2),
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529 overloaded"}]}});
    write_transcript(&data, "s", &[said("aa", 1, "go"), failed]);
    let mut store = data.store();
    import(&data, &mut store);
    let lines = exported(&store);
    let end = lines.iter().find(|line| line["type"] == "turn-end").unwrap();
    assert_eq!(
        (&end["data"]["outcome"], &end["data"]["error"]),
        (&json!("failed"), &json!("API Error: 529 overloaded"))
    );
}

/// Records that a turn ended, as the hook does, and drains with a look at the transcript.
fn end_turn(data: &Data, store: &mut Store, number: u64, transcript: &Path) -> u64 {
    let at = stamp(0).parse::<Timestamp>().unwrap().millis();
    let end = json!({"outcome": "done", "transcript": transcript}).to_string();
    let end =
        Values::Kept(Kept { kind: "turn-end".into(), data: Cow::Owned(RawValue::from_string(end).unwrap()) });
    let id = format!("e:{number}-1");
    data.append(&Observation {
        cwd: "/home/dev/project".into(),
        ..Observation::new("s", id, at + number, end)
    });
    let rules = rules(&[]);
    match Drain::unbounded(&data.spool).following(&rules).run(store, Timestamp::now()).unwrap() {
        Drained::Done(progress) => progress.stored - 1,
        Drained::Busy => panic!("no other process drains"),
    }
}

fn unseen(store: &Store) -> Vec<String> {
    let is_unseen =
        |line: &String| ["said", "refused", "turn-end e:aa"].iter().any(|kind| line.starts_with(kind));
    told(store).into_iter().filter(is_unseen).collect()
}

#[test]
fn line_22_what_the_user_refused_or_typed_meanwhile_is_taken_from_the_transcript_when_a_turn_ends() {
    let data = Data::new();
    let path = data.folder.path().join("projects/-work-project/s.jsonl");
    let mut store = data.store();
    let all = session();
    write_transcript(&data, "s", &all[..7]);
    assert_eq!(end_turn(&data, &mut store, 1, &path), 2);
    assert_eq!(unseen(&store), ["said q:u1 and the hidden ones", "refused r:toolu_2 interrupt ls -a null"]);
    // Forgotten while the turn goes on, it stays so.
    let selection = Selection { query: Some("hidden ones".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    write_transcript(&data, "s", &all);
    assert_eq!(end_turn(&data, &mut store, 2, &path), 2);
    assert_eq!(
        unseen(&store),
        [
            "refused r:toolu_2 interrupt ls -a null",
            "turn-end e:aa-1794787208000 interrupted I look again.",
            "refused r:toolu_3 user rm x keep it"
        ]
        .map(|line| line.replace(" I look again.", " null"))
    );
    assert_eq!(end_turn(&data, &mut store, 3, &path), 0);
    // What hooks told is theirs to tell.
    assert!(told(&store).iter().all(|line| !line.starts_with("prompt") && !line.starts_with("tool")));
}

#[test]
fn transcripts_that_are_missing_odd_or_of_another_session_are_passed_over() {
    let data = Data::new();
    let folder = data.folder.path().join("projects/-work-project");
    let mut store = data.store();
    write_transcript(&data, "t", &session());
    write_transcript(&data, "s", &session());
    let real = folder.join("s.jsonl");
    for (number, path) in
        [folder.join("missing/s.jsonl"), folder.join("t.jsonl"), folder.clone(), "s.jsonl".into()]
            .iter()
            .enumerate()
    {
        assert_eq!(end_turn(&data, &mut store, 10 + number as u64, path), 0, "{path:?}");
    }
    #[cfg(unix)]
    {
        let other = data.folder.path().join("other");
        fs::create_dir_all(&other).unwrap();
        std::os::unix::fs::symlink(&real, other.join("s.jsonl")).unwrap();
        assert_eq!(end_turn(&data, &mut store, 20, &other.join("s.jsonl")), 0, "a link");
    }
    assert_eq!(end_turn(&data, &mut store, 21, &real), 4);
}
