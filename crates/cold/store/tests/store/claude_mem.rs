use super::*;
use base::Env;
use base::settings::Settings;
use fixture::{ClaudeMem, Shape};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use store::claude_mem::{Import, Imported, last_row, take_back};
use store::observations::Selection;
use store::repair;

const AT: i64 = START as i64;

fn rules(variables: &[(&str, &str)]) -> capture::Rules {
    let env = Env::fixed(variables.iter().copied());
    capture::Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env)
}

fn file(data: &Data) -> PathBuf {
    data.folder.path().join("claude-mem/claude-mem.db")
}

fn import(data: &Data, store: &mut Store) -> Imported {
    let rules = rules(&[]);
    Import::open(&file(data), &data.spool, &rules).unwrap().run(store, |_| ()).unwrap()
}

fn import_with(data: &Data, store: &mut Store, projects: &[(&str, &Path)]) -> Imported {
    let rules = rules(&[]);
    let named: BTreeMap<String, PathBuf> =
        projects.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect();
    let import = Import::open(&file(data), &data.spool, &rules).unwrap().with_projects(named);
    import.run(store, |_| ()).unwrap()
}

/// Returns `kind id` of what is stored in a session.
fn ids(store: &Store) -> Vec<String> {
    let line = |line: &serde_json::Value| {
        format!("{} {}", line["type"].as_str().unwrap(), line["id"].as_str().unwrap_or_default())
    };
    exported(store).iter().filter(|line| line["type"] != "session").map(line).collect()
}

fn keys(store: &Store) -> Vec<String> {
    let mut select = store
        .connection()
        .prepare("SELECT DISTINCT key FROM sessions JOIN projects ON projects.row = project ORDER BY 1")
        .unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn line_28_a_database_of_13_15_3_with_5000_observations_imports_completely_and_idempotently() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    theirs.fill(5_000, AT);
    let mut store = data.store();
    let imported = import(&data, &mut store);
    assert_eq!(
        (imported.prompts.stored, imported.entries.stored, imported.summaries.stored),
        (500, 5_000, 500)
    );
    assert_eq!((imported.schema, imported.sessions), (Some(49), 100));
    assert_eq!(imported.projects.len(), 10);
    let again = import(&data, &mut store);
    assert_eq!((again.stored(), again.known()), (0, 6_000));
    assert_eq!(count(&store, "SELECT count(*) FROM observations"), 6_000);
    assert_eq!(count(&store, "SELECT count(DISTINCT prompt) FROM observations WHERE kind = 'entry'"), 5);
}

#[test]
fn every_field_of_an_observation_is_kept() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    let session = theirs.session("s", "claude", "web", AT, "ignored");
    theirs.prompt((session, "s"), AT + 1, "make it quick");
    let text = |text: &str| text.to_owned().into();
    let more = [
        ("type", text("bugfix")),
        ("subtitle", text("sub")),
        ("narrative", text("told")),
        ("facts", text(r#"["a","b"]"#)),
        ("concepts", text(r#"["gotcha"]"#)),
        ("files_read", text(r#"["r.rs"]"#)),
        ("files_modified", text("not JSON.rs")),
        ("prompt_number", 1.into()),
        ("discovery_tokens", 77.into()),
        ("generated_by_model", text("haiku")),
        ("relevance_count", 2.into()),
        ("content_hash", text("abc")),
        ("metadata", text(r#"{"k":1}"#)),
        ("agent_id", text("a1")),
        ("agent_type", text("explore")),
    ];
    theirs.observation("s", "web", AT + 2, "the title", &more);
    theirs.summary("s", "web", AT + 3, "asked", "knows");
    let mut store = data.store();
    import(&data, &mut store);
    assert_eq!(ids(&store), ["prompt m:p1", "entry m:1", "summary m:1"]);
    let lines = exported(&store);
    let entry = lines.iter().find(|line| line["type"] == "entry").unwrap();
    assert_eq!(
        entry["data"],
        serde_json::json!({
            "type": "bugfix", "title": "the title", "subtitle": "sub", "narrative": "told", "facts": ["a", "b"],
            "concepts": ["gotcha"], "files_read": ["r.rs"], "files_modified": ["not JSON.rs"], "prompt_number": 1, "tokens": 77,
            "source": "claude-mem", "model": "haiku", "relevance": 2, "hash": "abc", "metadata": {"k": 1},
        })
    );
    assert_eq!((&entry["agent"], &entry["agent_type"]), (&"a1".into(), &"explore".into()));
    let summary = lines.iter().find(|line| line["type"] == "summary").unwrap();
    assert_eq!(
        summary["data"],
        serde_json::json!({"request": "asked", "learned": "knows", "files_edited": ["src/a.rs"], "source": "claude-mem"})
    );
}

#[test]
fn databases_of_every_shape_are_read_and_none_is_changed() {
    for (shape, expected) in [
        (Shape::Current, vec!["prompt m:p1", "entry m:1", "summary m:1"]),
        (Shape::Middle, vec!["prompt m:p1", "entry m:1", "summary m:1"]),
        (Shape::First, vec!["prompt m:s1", "entry m:1"]),
    ] {
        for is_open in [true, false] {
            let data = Data::new();
            let theirs = ClaudeMem::new(&file(&data), shape);
            let session = theirs.session("s", "claude", "web", AT, "make it quick");
            theirs.prompt((session, "s"), AT + 1, "make it quick");
            theirs.observation("s", "web", AT + 2, "it is quick", &[]);
            theirs.summary("s", "web", AT + 3, "asked", "knows");
            // Open, all of it is in the log; closed, SQLite has merged and removed that.
            let open = Some(theirs).filter(|_| is_open);
            let files = || -> Vec<(PathBuf, Vec<u8>)> {
                let paths = base::files::files_in(file(&data).parent().unwrap());
                let paths = paths.into_iter().filter(|path| !path.ends_with("claude-mem.db-shm"));
                paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
            };
            let before = files();
            assert_eq!(before.len(), if is_open { 2 } else { 1 });
            let mut store = data.store();
            import(&data, &mut store);
            assert_eq!(ids(&store), expected, "{shape:?}");
            assert_eq!(files(), before, "{shape:?}: nothing changed");
            assert_eq!(keys(&store), ["name:web"]);
            drop(open);
        }
    }
}

#[test]
fn what_is_private_or_secret_stays_out() {
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    for shape in Shape::ALL {
        let data = Data::new();
        let theirs = ClaudeMem::new(&file(&data), shape);
        // It keeps the raw text of a wholly private prompt with the session.
        let session = theirs.session("s", "claude", "web", AT, "<private>hidden</private>");
        theirs.prompt((session, "s"), AT + 1, "<private>hidden");
        theirs.prompt((session, "s"), AT + 2, &format!("use {key} and <private>hidden</private> go on"));
        theirs.observation("s", "web", AT + 3, &format!("found {key} <private>hidden</private>"), &[]);
        let mut store = data.store();
        let imported = import(&data, &mut store);
        assert!(imported.private > 0, "{shape:?}");
        let stored = serde_json::to_string(&exported(&store)).unwrap();
        assert!(!stored.contains("hidden") && !stored.contains(&key), "{shape:?}: {stored}");
        assert!(stored.contains("[redacted:"), "{shape:?}: {stored}");
    }
}

#[test]
fn a_session_that_was_recorded_is_the_same_one_and_its_prompts_are_not_doubled() {
    let data = Data::new();
    let mut store = data.store();
    data.append(&prompt("s", "aa", 0, "make it quick"));
    data.drain(&mut store);
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    let session = theirs.session("s", "claude", "project", AT - 50, "");
    theirs.prompt((session, "s"), AT + 900, "make it quick");
    theirs.prompt((session, "s"), AT + 20_000, "and small");
    theirs.observation("s", "project", AT + 1_000, "it is quick", &[]);
    let imported = import(&data, &mut store);
    assert_eq!((imported.prompts.stored, imported.prompts.known, imported.sessions), (1, 1, 1));
    assert_eq!(ids(&store), ["prompt p:aa", "entry m:1", "prompt m:p2"]);
    assert_eq!(keys(&store), ["path:/home/dev/project"]);
    assert_eq!(count(&store, "SELECT prompt FROM observations WHERE kind = 'entry'"), 1);
}

#[test]
fn names_of_projects_are_matched_when_only_one_has_them() {
    let data = Data::new();
    let mut store = data.store();
    for (number, folder) in ["/home/dev/web", "/home/dev/one/api", "/home/dev/two/api"].iter().enumerate() {
        let session = format!("before-{number}");
        data.append(&Observation { cwd: (*folder).into(), ..prompt(&session, "aa", number as u64, "go") });
    }
    data.drain(&mut store);
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    for (number, project) in ["web", "web/feature-x", "api", "other"].iter().enumerate() {
        let id = format!("s{number}");
        theirs.session(&id, "claude", project, AT + 100, "");
        theirs.observation(&id, project, AT + 200, "something", &[]);
    }
    // One session, two projects that nothing is known of.
    theirs.observation("s3", "elsewhere", AT + 300, "something else", &[]);
    let imported = import(&data, &mut store);
    let expected = [
        ("api", "name:api"),
        ("elsewhere", "name:elsewhere"),
        ("other", "name:other"),
        ("web", "path:/home/dev/web"),
        ("web/feature-x", "path:/home/dev/web"),
    ];
    let expected: BTreeMap<String, String> =
        expected.map(|(name, key)| (name.to_owned(), key.to_owned())).into();
    assert_eq!(imported.projects, expected);
    assert_eq!(imported.unmatched().collect::<Vec<_>>(), ["api", "elsewhere", "other"]);
    assert_eq!(count(&store, "SELECT count(*) FROM sessions WHERE id = 's3 (elsewhere)'"), 1);

    // A name finds what is kept by it only where no other project has it.
    let rows = |folder: &str| {
        observations::project_rows(&store, &base::project::Project::of(Path::new(folder))).unwrap().len()
    };
    assert_eq!(
        (rows("/home/dev/web"), rows("/home/dev/one/api"), rows("/new/other"), rows("/new/api")),
        (1, 1, 1, 0)
    );

    // What the user says counts, also afterwards.
    let again = import_with(&data, &mut store, &[("api", Path::new("/home/dev/two/api"))]);
    assert_eq!((again.stored(), again.projects["api"].as_str()), (0, "path:/home/dev/two/api"));
    let sql = "SELECT key FROM sessions JOIN projects ON projects.row = project WHERE id = 's2'";
    let key: String = store.connection().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(key, "path:/home/dev/two/api");
    // Said once is enough.
    assert_eq!(import(&data, &mut store).projects["api"], "path:/home/dev/two/api");
}

#[test]
fn an_import_that_is_repeated_after_it_was_killed_completes() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    theirs.fill(2_500, AT);
    let mut store = data.store();
    let rules = rules(&[]);
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let import = Import::open(&file(&data), &data.spool, &rules).unwrap();
        import.run(&mut store, |done| assert!(done < 2_000, "killed")).unwrap();
    }));
    assert!(killed.is_err());
    drop(store);
    let mut store = data.store();
    let before = count(&store, "SELECT count(*) FROM observations");
    assert!(before > 0 && before < 3_000, "{before}");
    let imported = import(&data, &mut store);
    assert_eq!(imported.known(), before as u64);
    assert_eq!(count(&store, "SELECT count(*) FROM observations"), 2_500 + 250 + 250);
}

#[test]
fn a_trial_says_what_would_come_and_stores_nothing() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    theirs.fill(100, AT);
    let mut store = data.store();
    let rules = rules(&[]);
    let trial = |store: &mut Store| {
        Import::open(&file(&data), &data.spool, &rules).unwrap().trial().run(store, |_| ()).unwrap()
    };
    let tried = trial(&mut store);
    assert_eq!(count(&store, "SELECT count(*) FROM sessions"), 0);
    assert_eq!(tried, import(&data, &mut store));
    let tried = trial(&mut store);
    assert_eq!((tried.stored(), tried.known()), (0, 120));
}

#[test]
fn what_is_forgotten_stays_so_and_what_is_taken_back_may_come_again() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    theirs.session("s", "claude", "web", AT, "");
    theirs.observation("s", "web", AT + 1, "the merger", &[]);
    theirs.observation("s", "web", AT + 2, "the weather", &[]);
    let mut store = data.store();
    import(&data, &mut store);
    let selection = Selection { query: Some("merger".into()), ..Selection::default() };
    let notes = repair::notes_of_forgotten(&data.database());
    selection.forget(&mut store, &data.spool, &notes, Timestamp::now()).unwrap();
    let imported = import(&data, &mut store);
    assert_eq!((imported.stored(), imported.forgotten), (0, 1));

    data.append(&prompt("t", "aa", 0, "recorded"));
    data.drain(&mut store);
    let before = last_row(&store).unwrap();
    theirs.observation("s", "web", AT + 3, "the rain", &[]);
    import(&data, &mut store);
    assert_eq!(take_back(&mut store, &data.spool, before).unwrap(), 1);
    assert_eq!(ids(&store), ["entry m:2", "prompt p:aa"]);
    assert_eq!(take_back(&mut store, &data.spool, 0).unwrap(), 1);
    assert_eq!(keys(&store), ["path:/home/dev/project"]);
    assert_eq!(import(&data, &mut store).stored(), 2);
}

#[test]
fn excluded_projects_are_left_out_and_what_is_no_database_is_refused() {
    let data = Data::new();
    let theirs = ClaudeMem::new(&file(&data), Shape::Current);
    theirs.session("s", "claude", "secret-plans", AT, "");
    theirs.observation("s", "secret-plans", AT + 1, "something", &[]);
    let mut store = data.store();
    let rules = rules(&[("CLAUDE_MEM_EXCLUDED_PROJECTS", "*secret*")]);
    let imported = Import::open(&file(&data), &data.spool, &rules).unwrap().run(&mut store, |_| ()).unwrap();
    assert_eq!((imported.stored(), imported.excluded), (0, 1));

    let other = data.folder.path().join("other.db");
    fs::write(&other, "this is no database ".repeat(1_000)).unwrap();
    let error = Import::open(&other, &data.spool, &rules).unwrap_err();
    assert!(matches!(error, store::Error::WrongKind { .. }), "{error:?}");
    let error = Import::open(&data.database(), &data.spool, &rules).unwrap_err();
    assert!(error.to_string().contains("claude-mem"), "{error}");
}
