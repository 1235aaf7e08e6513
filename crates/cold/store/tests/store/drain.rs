use super::*;
use base::lock::Lock;
use std::fs;
use std::time::Duration;

#[test]
fn observations_are_stored_once_however_often_they_are_drained() {
    let data = Data::new();
    let mut store = data.store();
    let ls = command("ls");
    data.append(&prompt("s", "1", 0, "list\nthe files"));
    data.append(&tool_call("s", "1", 10, &ls));
    data.append(&tool_call("s", "1", 20, &ls));
    let progress = data.drain(&mut store);
    assert_eq!((progress.lines, progress.stored, progress.unread, progress.is_complete), (3, 2, 0, true));
    assert_eq!(data.drain(&mut store).lines, 0);
    store
        .write(|transaction| {
            transaction.execute("DELETE FROM spool_files", [])?;
            Ok::<_, store::Error>(())
        })
        .unwrap();
    let again = data.drain(&mut store);
    assert_eq!((again.lines, again.stored), (3, 0));
    assert_eq!(rendered(&store), "1 list\nthe files\n  1 ls");
    assert_eq!(exported(&store)[0]["title"], "list");
}

#[test]
fn a_call_that_the_user_interrupted_has_not_failed() {
    let data = Data::new();
    let mut store = data.store();
    let ls = command("ls");
    let failed = failed_call("s", "1", 0, &ls, Some("Exit code 2"));
    let mut interrupted = failed_call("s", "2", 10, &ls, Some("The user interrupted"));
    if let Values::Tool(call) = &mut interrupted.data {
        call.interrupted = true;
    }
    data.append(&failed);
    data.append(&interrupted);
    data.drain(&mut store);
    let lines = exported(&store);
    assert_eq!((&lines[1]["failed"], &lines[2]["failed"]), (&true.into(), &false.into()));
    assert_eq!(lines[2]["error"], "The user interrupted");
}

#[test]
fn numbers_follow_time_whatever_order_the_lines_come_in() {
    let (a, b, c, d) = (command("a"), command("b"), command("c"), command("d"));
    let observations = [
        prompt("s", "1", 0, "first"),
        tool_call("s", "a", 10, &a),
        // An hour later, so in another file.
        prompt("s", "2", HOUR, "second"),
        tool_call("s", "b", HOUR + 10, &b),
        tool_call("s", "c", HOUR + 20, &c),
        prompt("s", "3", HOUR + 20, "third"),
        tool_call("s", "d", 2 * HOUR, &d),
    ];
    let expected = "1 first\n  1 a\n2 second\n  2 b\n3 third\n  3 c\n  3 d";
    for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 2, 4, 1, 5], [5, 2, 0, 1, 3, 4, 6]]
    {
        let data = Data::new();
        let mut store = data.store();
        for index in order {
            data.append(&observations[index]);
            data.drain(&mut store);
        }
        assert_eq!(rendered(&store), expected, "{order:?}");
        let session = &exported(&store)[0];
        assert_eq!((&session["title"], &session["prompts"]), (&"first".into(), &3.into()), "{order:?}");
        assert_eq!(session["started"], Timestamp::from_millis(START).to_string());
        assert_eq!(session["last"], Timestamp::from_millis(START + 2 * HOUR).to_string());
    }
}

#[test]
fn the_first_observation_says_which_project_a_session_belongs_to() {
    for order in [[0, 1], [1, 0]] {
        let data = Data::new();
        let mut store = data.store();
        let ls = command("ls");
        let elsewhere = Observation { cwd: "/home/dev/elsewhere".into(), ..tool_call("s", "1", 10, &ls) };
        let observations = [prompt("s", "1", 0, "go"), elsewhere];
        for index in order {
            data.append(&observations[index]);
            data.drain(&mut store);
        }
        assert_eq!(exported(&store)[0]["project"]["key"], "path:/home/dev/project", "{order:?}");
    }
}

/// A line of a version that is not known yet.
pub(super) fn future(text: &str) -> String {
    let version = VERSION + 1;
    format!(
        r#"{{"v":{version},"kind":"prompt","id":"p:7","ts":{START},"session":"s","cwd":"","data":{{"text":"{text}"}}}}"#
    )
}

#[test]
fn lines_that_cannot_be_read_are_kept_aside_and_block_nothing() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "before"));
    data.append(&Observation { at: u64::MAX - START, ..prompt("t", "3", 0, "at the end of time") });
    let file = data.folder.path().join("spool").join(&data.spool.files().unwrap()[0].name);
    let mut text = fs::read(&file).unwrap();
    text.extend_from_slice(format!("\n{}\n", future("from the future")).as_bytes());
    text.extend_from_slice(b"\n{\"v\":1,\"kind\":\n\n\xff\xfe\n");
    fs::write(&file, text).unwrap();
    data.append(&prompt("s", "4", 2, "after"));

    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.unread, progress.is_complete), (2, 4, true));
    assert_eq!(rendered(&store), "1 before\n2 after");
    assert_eq!(count(&store, "SELECT count(*) FROM unread_lines"), 4);
    assert_eq!(count(&store, "SELECT count(*) FROM unread_lines WHERE version = 3"), 1);
}

#[test]
fn a_line_that_an_earlier_version_put_aside_is_read_by_one_that_can() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "known"));
    let later = prompt("s", "2", 1, "was new once");
    let line = serde_json::to_vec(&later).unwrap();
    store
        .write(|transaction| {
            transaction.execute("INSERT INTO unread_lines VALUES ('d', 2, ?1)", [line])?;
            Ok::<_, store::Error>(())
        })
        .unwrap();
    data.drain(&mut store);
    assert_eq!(rendered(&store), "1 known\n2 was new once");
    assert_eq!(count(&store, "SELECT count(*) FROM unread_lines"), 0);
}

#[test]
fn only_one_drains_and_others_return_at_once() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "go"));
    let lock = Lock::exclusive(&data.spool.folder().join(".drain.lock"), Duration::ZERO).unwrap().unwrap();
    assert_eq!(Drain::bounded(&data.spool).run(&mut store, Timestamp::now()).unwrap(), Drained::Busy);
    drop(lock);
    assert_eq!(data.drain(&mut store).stored, 1);
}

#[test]
fn a_hook_does_not_wait_for_another_programs_transaction() {
    let data = Data::new();
    let (mut store, mut other) = (data.store(), data.store());
    data.append(&prompt("s", "1", 0, "go"));
    other
        .write(|_| {
            let drained = Drain::bounded(&data.spool).run(&mut store, Timestamp::now())?;
            assert_eq!(drained, Drained::Busy);
            Ok::<_, store::Error>(())
        })
        .unwrap();
    assert!(matches!(
        Drain::bounded(&data.spool).run(&mut store, Timestamp::now()).unwrap(),
        Drained::Done(_)
    ));
    assert_eq!(rendered(&store), "1 go");
}

#[test]
fn a_hook_drains_no_more_than_it_may_and_the_next_goes_on() {
    let data = Data::new();
    let mut store = data.store();
    for number in 0..2_500 {
        data.append(&prompt("s", &number.to_string(), number, "x"));
    }
    let mut lines = 0;
    loop {
        let Drained::Done(progress) = Drain::bounded(&data.spool).run(&mut store, Timestamp::now()).unwrap()
        else {
            panic!("no other process drains");
        };
        assert!(progress.lines <= 2_000);
        lines += progress.lines;
        if progress.is_complete {
            break;
        }
    }
    assert_eq!(lines, 2_500);
    assert_eq!(count(&store, "SELECT max(number) FROM prompts"), 2_500);
}

#[test]
fn a_file_is_deleted_when_it_is_old_and_stored_and_one_of_the_same_name_is_read_from_its_beginning() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "a rather long first prompt"));
    data.drain(&mut store);
    assert_eq!(data.spool.files().unwrap().len(), 1);
    let later = Timestamp::from_millis(Timestamp::now().millis() + 3 * HOUR);
    data.drain_at(&mut store, later);
    assert_eq!(data.spool.files().unwrap().len(), 0);
    assert_eq!(count(&store, "SELECT count(*) FROM spool_files"), 0);
    data.append(&prompt("s", "2", 1, "late"));
    assert_eq!(data.drain(&mut store).stored, 1);
}

#[test]
fn long_observations_are_stored_whole() {
    let data = Data::new();
    let mut store = data.store();
    let long = command(&"x".repeat(100_000));
    data.append(&tool_call("s", "1", 0, &long));
    data.drain(&mut store);
    assert_eq!(exported(&store)[1]["command"].as_str().unwrap().len(), 100_000);
}

/// Returns the folder of the session whose events are the only ones in the spool.
fn only_session(data: &Data) -> std::path::PathBuf {
    let file = data.spool.folder().join(&data.spool.files().unwrap()[0].name);
    file.parent().unwrap().to_owned()
}

#[test]
fn what_cannot_be_read_is_skipped_and_the_rest_is_drained() {
    let data = Data::new();
    let mut store = data.store();
    let long = command(&"x".repeat(100_000));
    data.append(&prompt("s", "1", 0, "before"));
    data.append(&tool_call("s", "1", 1, &long));
    data.append(&prompt("s", "2", 2, "behind"));
    let session = only_session(&data);
    fs::create_dir(session.join("1.jsonl")).unwrap();
    // A folder in the place of a file cannot be read, by whomever.
    let bulk = fs::read_dir(session.join("bulk")).unwrap().next().unwrap().unwrap().path();
    let event = fs::read(&bulk).unwrap();
    fs::remove_file(&bulk).unwrap();
    fs::create_dir(&bulk).unwrap();
    for other in ["a", "b", "c", "d"] {
        data.append(&prompt(other, "9", HOUR, "elsewhere"));
    }

    let later = Timestamp::from_millis(Timestamp::now().millis() + 3 * HOUR);
    let progress = data.drain_at(&mut store, later);
    assert_eq!((progress.stored, progress.unread, progress.skipped), (5, 0, 2));
    assert!(progress.is_complete);
    assert_eq!(data.spool.files().unwrap().len(), 1, "what is drained is deleted, what is not stays");
    assert_eq!(observations::backlog(Some(&store), &data.spool).unwrap().observations, 0);

    fs::remove_dir(&bulk).unwrap();
    fs::write(&bulk, event).unwrap();
    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.unread, progress.skipped), (2, 0, 1));
}

#[cfg(unix)]
#[test]
fn files_and_folders_of_others_are_skipped_and_the_rest_is_drained() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("folder", "1", 0, "one"));
    let folder = only_session(&data);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&folder).is_ok() {
        // Nothing is forbidden to root.
        return;
    }
    data.append(&prompt("file", "2", 0, "two"));
    let file = data.spool.folder().join(&data.spool.files().unwrap()[0].name);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    data.append(&prompt("mine", "3", 0, "three"));
    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.skipped, progress.is_complete), (1, 2, true));

    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let progress = data.drain(&mut store);
    assert_eq!((progress.stored, progress.skipped), (2, 0));
}

#[test]
fn a_long_observation_that_no_line_points_to_is_swept_once_it_is_old() {
    let data = Data::new();
    let mut store = data.store();
    let long = command(&"x".repeat(100_000));
    data.append(&tool_call("s", "1", 0, &long));
    let bulk = only_session(&data).join("bulk");
    fs::write(bulk.join("1-1-0.json"), "left").unwrap();
    data.drain(&mut store);
    assert_eq!(fs::read_dir(&bulk).unwrap().count(), 2);
    let later = Timestamp::from_millis(Timestamp::now().millis() + 3 * HOUR);
    data.drain_at(&mut store, later);
    assert!(!bulk.exists());
}

#[test]
fn an_observation_belongs_to_the_prompt_that_the_client_named_whenever_it_comes() {
    let (a, b, c) = (command("a"), command("b"), command("c"));
    let under =
        |id: &'static str, call: Observation<'static>| Observation { prompt_id: Some(id.into()), ..call };
    let (a, b, c): (&'static RawValue, &'static RawValue, &'static RawValue) =
        (Box::leak(a), Box::leak(b), Box::leak(c));
    let observations = [
        // Recorded by another hook of the same event, a little earlier than the prompt itself.
        under("1", tool_call("s", "a", 0, a)),
        prompt("s", "1", 5, "first"),
        prompt("s", "2", 100, "second"),
        // A subagent of the first prompt, which goes on in the background.
        under("1", tool_call("s", "b", 200, b)),
        // The client names a prompt that was not recorded: time decides.
        under("9", tool_call("s", "c", 300, c)),
    ];
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 4, 2, 1], [2, 4, 1, 3, 0]] {
        let data = Data::new();
        let mut store = data.store();
        for index in order {
            data.append(&observations[index]);
            data.drain(&mut store);
        }
        assert_eq!(rendered(&store), "  1 a\n1 first\n2 second\n  1 b\n  2 c", "{order:?}");
    }
}

#[test]
fn sessions_of_two_platforms_may_have_one_id() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "1", 0, "one"));
    data.append(&Observation { platform: Some("other".into()), ..prompt("s", "1", 1, "another") });
    data.drain(&mut store);
    let lines = exported(&store);
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["platform"], &lines[2]["platform"]), (&serde_json::Value::Null, &"other".into()));
}
