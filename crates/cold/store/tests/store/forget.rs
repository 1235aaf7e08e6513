use super::*;
use capture::{Refused, TurnEnd};
use std::fs;
use std::path::Path;
use store::observations::{Forgotten, Selection};

fn filled() -> (Data, Store) {
    let data = Data::new();
    let mut store = data.store();
    let (secret, plain) = (command("echo MERGER with \"acme\""), command("ls"));
    let long = command(&format!("merger {}", "x".repeat(100_000)));
    data.append(&prompt("s", "1", 0, "about the Merger"));
    data.append(&tool_call("s", "1", 10, &secret));
    data.append(&prompt("s", "2", 20, "and now the weather"));
    data.append(&tool_call("s", "2", 30, &plain));
    data.append(&tool_call("s", "3", 40, &long));
    data.append(&Observation { cwd: "/home/dev/other".into(), ..prompt("t", "9", HOUR, "elsewhere") });
    data.drain(&mut store);
    (data, store)
}

fn forget(data: &Data, store: &mut Store, selection: &Selection) -> Forgotten {
    let notes = store::repair::notes_of_forgotten(&data.database());
    selection.forget(store, &data.spool, &notes, Timestamp::now()).unwrap()
}

fn query(text: &str) -> Selection {
    Selection { query: Some(text.into()), ..Selection::default() }
}

/// Returns the files below `folder` that contain `text`, in any case.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else {
            let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn what_is_forgotten_by_a_text_is_in_no_file_and_does_not_come_back() {
    let (data, mut store) = filled();
    assert!(!files_with(data.folder.path(), "merger").is_empty());
    let forgotten = forget(&data, &mut store, &query("merger"));
    assert_eq!((forgotten.prompts, forgotten.tool_calls, forgotten.spool_lines), (1, 2, 3));
    assert!(!forgotten.is_kept_by_reader);
    assert_eq!(files_with(data.folder.path(), "merger"), Vec::<String>::new());
    data.drain(&mut store);
    assert_eq!(rendered(&store), "1 and now the weather\n  1 ls\n1 elsewhere");
    assert_eq!(exported(&store)[0]["title"], "and now the weather");
    assert_eq!(exported(&store)[0]["prompts"], 1);
    assert_eq!(files_with(data.folder.path(), "merger"), Vec::<String>::new());
}

#[test]
fn a_preview_shows_what_would_go_and_changes_nothing() {
    let (data, mut store) = filled();
    let before = exported(&store);
    let preview = query("ACME\"").preview(&mut store, &data.spool, Timestamp::now()).unwrap();
    assert_eq!((preview.prompts, preview.tool_calls, preview.samples.len()), (0, 1, 1));
    assert!(preview.samples[0].text.contains("MERGER"), "{preview:?}");
    assert_eq!(exported(&store), before);
    assert_eq!(preview.spool_lines, 0);
}

#[test]
fn samples_come_in_the_order_they_happened() {
    let (data, mut store) = filled();
    let selection = Selection { session: Some("s".into()), ..Selection::default() };
    let preview = selection.preview(&mut store, &data.spool, Timestamp::now()).unwrap();
    let times: Vec<u64> = preview.samples.iter().map(|sample| sample.at.millis() - START).collect();
    assert_eq!(times, [0, 10, 20, 30, 40]);
}

/// Appends the end of a turn, the end of one that failed, and a refused call.
fn append_ends(data: &Data) {
    let end = |outcome: &str, text: Option<&'static str>, error: Option<&'static str>| {
        Values::TurnEnd(TurnEnd {
            outcome: outcome.to_owned().into(),
            text: text.map(Cow::from),
            error: error.map(Cow::from),
            transcript: Some("/t/s.jsonl".into()),
        })
    };
    let input = command("git push --force for the takeover");
    let refused = Values::Refused(Refused {
        tool: "Bash".into(),
        tool_use_id: Some("toolu_9".into()),
        input: Some(&input),
        by: "guard".into(),
        lesson: Some("git-push".into()),
        reason: Some("It rewrites what others have.".into()),
    });
    let kinds = [
        ("e:2-50", end("done", Some("The takeover is written down."), None)),
        ("e:2-60", end("failed", None, Some("unknown: the takeover is too long"))),
        ("r:toolu_9", refused),
    ];
    for (number, (id, kind)) in (50..).zip(kinds) {
        data.append(&Observation {
            prompt_id: Some("2".into()),
            ..Observation::new("s", id, START + number, kind)
        });
    }
}

#[test]
fn ends_of_turns_and_refused_calls_are_shown_by_their_words_and_forgotten() {
    let (data, mut store) = filled();
    append_ends(&data);
    let preview = query("takeover").preview(&mut store, &data.spool, Timestamp::now()).unwrap();
    let samples: Vec<&str> = preview.samples.iter().map(|sample| &*sample.text).collect();
    let expected = [
        "turn-end The takeover is written down.",
        "turn-end unknown: the takeover is too long",
        r#"refused Bash {"command":"git push --force for the takeover"}"#,
    ];
    assert_eq!(samples, expected);
    let refused = Selection { ids: vec!["toolu_9".into()], ..Selection::default() };
    assert_eq!(forget(&data, &mut store, &refused).others, 1, "by the id of its call");
    assert_eq!(forget(&data, &mut store, &query("takeover")).others, 2);
    assert_eq!(files_with(data.folder.path(), "takeover"), Vec::<String>::new());
}

#[test]
fn a_call_whose_input_is_nested_too_deeply_for_the_database_is_shown_and_forgotten() {
    let (data, mut store) = filled();
    let deep = format!(r#"{}"the takeover"{}"#, "[".repeat(1_500), "]".repeat(1_500));
    let deep = serde_json::value::RawValue::from_string(deep).unwrap();
    data.append(&tool_call("s", "deep", 50, &deep));
    let preview = query("takeover").preview(&mut store, &data.spool, Timestamp::now()).unwrap();
    assert_eq!(preview.tool_calls, 1);
    assert!(preview.samples[0].text.starts_with("Bash {\"input\":[["), "{preview:?}");
    assert_eq!(count(&store, "SELECT count(*) FROM tool_calls WHERE input IS NULL AND tool = 'Bash'"), 1);
    let forgotten = forget(&data, &mut store, &query("takeover"));
    assert_eq!((forgotten.tool_calls, forgotten.is_too_large_to_rewrite), (1, false));
    assert_eq!(files_with(data.folder.path(), "takeover"), Vec::<String>::new());
}

#[test]
fn every_given_condition_must_match() {
    let check = |selection: Selection, expected: (u64, u64)| {
        let (data, mut store) = filled();
        let preview = selection.preview(&mut store, &data.spool, Timestamp::now()).unwrap();
        assert_eq!((preview.prompts, preview.tool_calls), expected, "{selection:?}");
        assert_eq!(forget(&data, &mut store, &selection).count(), expected.0 + expected.1);
        assert_eq!(data.drain(&mut store).stored, 0, "{selection:?}");
        let left = count(&store, "SELECT count(*) FROM observations");
        assert_eq!(left as u64, 6 - expected.0 - expected.1);
    };
    let all = Selection::default;
    let at = |millis: u64| Some(Timestamp::from_millis(START + millis));
    check(Selection { ids: vec!["2".into()], ..all() }, (1, 1));
    check(Selection { ids: vec!["t:2".into(), "p:9".into()], ..all() }, (1, 1));
    check(Selection { session: Some("t".into()), ..all() }, (1, 0));
    check(Selection { project: Some("path:/home/dev/project".into()), ..all() }, (2, 3));
    check(Selection { before: at(20), ..all() }, (1, 1));
    check(Selection { after: at(20), before: at(HOUR), ..all() }, (1, 2));
    check(Selection { session: Some("s".into()), query: Some("weather".into()), ..all() }, (1, 0));
    check(Selection { session: Some("t".into()), query: Some("weather".into()), ..all() }, (0, 0));
    check(all(), (0, 0));
}

#[test]
fn a_session_and_a_project_without_observations_go_as_well() {
    let (data, mut store) = filled();
    forget(&data, &mut store, &Selection { session: Some("t".into()), ..Selection::default() });
    assert_eq!(count(&store, "SELECT count(*) FROM sessions"), 1);
    assert_eq!(count(&store, "SELECT count(*) FROM projects"), 1);
    assert_eq!(exported(&store)[0]["project"]["key"], "path:/home/dev/project");
}

#[test]
fn lines_that_cannot_be_read_are_forgotten_by_the_text_in_them() {
    let (data, mut store) = filled();
    let file = data.spool.folder().join(&data.spool.files().unwrap()[0].name);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str(&format!("\n{}\n", super::drain::future("a future merger")));
    fs::write(&file, text).unwrap();
    let forgotten = forget(&data, &mut store, &query("future merger"));
    assert_eq!((forgotten.unread_lines, forgotten.spool_lines), (1, 1));
    assert_eq!(files_with(data.folder.path(), "future"), Vec::<String>::new());
}

#[test]
fn observations_that_come_meanwhile_are_kept() {
    let (data, mut store) = filled();
    data.append(&prompt("u", "8", 2 * HOUR, "new"));
    forget(&data, &mut store, &query("merger"));
    assert_eq!(rendered(&store).lines().last(), Some("1 new"));
}

#[test]
fn what_a_killed_writer_left_is_forgotten_as_well() {
    let (data, mut store) = filled();
    let file = data.spool.folder().join(&data.spool.files().unwrap()[0].name);
    let bulk = file.with_file_name("bulk");
    fs::create_dir_all(&bulk).unwrap();
    let observation = serde_json::to_string(&prompt("s", "8", 50, "the takeover")).unwrap();
    let age = |path: &Path, minutes: u64| {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(60 * minutes);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    for (name, text) in
        [("1-1-0.json", observation.as_str()), (".2-2-0.json.2.0.tmp", &observation[..observation.len() - 2])]
    {
        fs::write(bulk.join(name), text).unwrap();
        age(&bulk.join(name), 2);
    }
    // One that may still get its line.
    fs::write(bulk.join("3-3-0.json"), "young").unwrap();
    assert_eq!(files_with(data.folder.path(), "takeover").len(), 2);
    forget(&data, &mut store, &query("takeover"));
    assert_eq!(files_with(data.folder.path(), "takeover"), Vec::<String>::new());
    assert!(bulk.join("3-3-0.json").exists());
    assert_eq!(data.drain(&mut store).stored, 0);
    assert_eq!(count(&store, "SELECT count(*) FROM tool_calls"), 3, "long observations with a line stay");
}
