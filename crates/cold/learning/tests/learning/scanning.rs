//! Scans of whole folders: what is kept, counted, merged and left away.

use base::{Env, Paths};
use capture::{Data, Observation, Spool, ToolCall};
use fixture::conversation::{self, Where};
use learning::keep::Error;
use learning::scan::{self, Observer, Options, Report, Silent};
use lessons::Lesson;
use lessons_admin::catalogue::{Catalogue, Places, State};
use lessons_admin::change::{Change, Owner};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use store::observations::{Drain, Selection};
use store::{Store, sightings};

const JOBS: &str = "> build\n$ git status\n$ cargo build --jobs-max 4\n! error: unexpected argument '--jobs-max' found\n$ cargo build --jobs 4\n= Finished\n$ cargo test\n= ok\n";

struct World {
    folder: tempfile::TempDir,
    places: Places,
}

impl World {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut all = vec![("WYREN_DATA_DIR", data.to_str().unwrap()), ("HOME", "/home/ada")];
        all.extend(variables);
        let env = Env::fixed(all);
        let paths = Paths::of(&env);
        let places = Places { paths, cwd: folder.path().to_owned(), env };
        fs::create_dir_all(folder.path().join("projects/p")).unwrap();
        Self { folder, places }
    }

    fn projects(&self) -> PathBuf {
        self.folder.path().join("projects")
    }

    fn say(&self, session: &str, cwd: &str, text: &str) {
        let place = Where { session, cwd, minute: 600 };
        let file = self.projects().join(format!("p/{session}.jsonl"));
        fs::write(file, conversation::transcript(text, place)).unwrap();
    }

    fn store(&self) -> Store {
        store::open_store(&self.places.paths, &[]).unwrap()
    }

    fn options(&self) -> Options {
        Options { folders: vec![self.projects()], ..Options::of(&self.places.env, &self.places.paths) }
    }

    fn scan(&self) -> Report {
        self.scan_with(&self.options())
    }

    fn scan_with(&self, options: &Options) -> Report {
        scan::run(&mut self.store(), &self.places, options, &mut Silent).unwrap()
    }

    fn candidates(&self) -> Vec<Lesson> {
        let items = Catalogue::read(&self.places).items;
        items.into_iter().filter(|item| item.state == State::Candidate).map(|item| item.lesson).collect()
    }
}

#[test]
fn a_candidate_is_a_file_that_can_be_put_to_work_as_it_is() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    assert_eq!(world.scan().kept.new.len(), 1);
    let [candidate] = &world.candidates()[..] else { panic!("{:?}", world.candidates()) };
    assert_eq!(candidate.scope.as_deref(), Some("path:/home/ada/engine"));
    let mut change = Change::begin(&world.places).unwrap();
    change.enable(&candidate.slug, None).unwrap();
    let text = fs::read_to_string(world.places.personal().join(format!("{}.md", candidate.slug))).unwrap();
    assert_eq!(&lessons::format::parse(&candidate.slug, &text).unwrap(), candidate);
}

#[test]
fn line_12_a_mistake_seen_again_raises_its_counts_and_two_projects_make_it_global() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let first = world.candidates()[0].clone();
    world.say("two", "/home/ada/engine", JOBS);
    assert_eq!(world.scan().kept.again, std::slice::from_ref(&first.slug));
    let second = world.candidates()[0].clone();
    assert!(second.priority > first.priority && second.confidence > first.confidence);
    assert!(second.scope.is_some());
    world.say("three", "/home/ada/website", JOBS);
    world.scan();
    let [third] = &world.candidates()[..] else { panic!("{:?}", world.candidates()) };
    assert!(third.priority > second.priority);
    assert_eq!(third.scope, None);
    let counts = sightings::counts(world.store().connection(), &third.slug).unwrap();
    assert_eq!((counts.sessions, counts.projects), (3, 2));
}

#[test]
fn nothing_is_searched_or_counted_twice() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let again = world.scan();
    assert_eq!((again.files, again.read, again.kept.new.len(), again.kept.again.len()), (1, 0, 0, 0));
    let full = world.scan_with(&Options { is_full: true, ..world.options() });
    assert_eq!((full.read, full.kept.new.len(), full.kept.again.len()), (1, 0, 0));
    assert_eq!(world.candidates().len(), 1);
}

#[test]
fn line_22_two_scans_at_once_make_nothing_twice() {
    let world = World::new();
    for number in 0..12 {
        world.say(&format!("s{number}"), "/home/ada/engine", JOBS);
    }
    drop(world.store());
    let options = world.options();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let scanned = scan::run(&mut world.store(), &world.places, &options, &mut Silent);
                assert!(matches!(scanned, Ok(_) | Err(Error::Busy)), "{scanned:?}");
            });
        }
    });
    world.scan();
    let [candidate] = &world.candidates()[..] else { panic!("{:?}", world.candidates()) };
    assert_eq!(sightings::counts(world.store().connection(), &candidate.slug).unwrap().sessions, 12);
}

#[test]
fn a_trial_changes_nothing() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    let report = world.scan_with(&Options { is_trial: true, ..world.options() });
    assert_eq!((report.candidates.len(), world.candidates().len()), (1, 0));
    assert!(!schedule::scanned_file(&world.places.paths).exists());
    assert_eq!(world.scan().kept.new.len(), 1);
}

#[test]
fn what_is_like_an_archived_lesson_stays_away() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let slug = world.candidates()[0].slug.clone();
    let mut change = Change::begin(&world.places).unwrap();
    change.enable(&slug, None).unwrap();
    change.archive(&slug, None, None).unwrap();
    drop(change);
    world.say("two", "/home/ada/other", JOBS);
    let report = world.scan();
    assert_eq!((report.kept.archived, world.candidates().len()), (1, 0));
}

#[test]
fn a_mistake_that_a_lesson_is_about_is_counted_for_that_lesson() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let slug = world.candidates()[0].slug.clone();
    Change::begin(&world.places).unwrap().enable(&slug, None).unwrap();
    world.say("two", "/home/ada/engine", JOBS);
    assert_eq!(world.scan().kept.again, [slug]);
    assert_eq!(world.candidates().len(), 0);
}

#[test]
fn the_better_words_win_in_whichever_language_they_are() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let german = format!(
        "{JOBS}< Erledigt.\n  #lesson\n  tool: Bash\n  trigger: cargo build --jobs-max\n  problem: cargo kennt keine Option --jobs-max und bricht sofort ab.\n  solution: Nimm `cargo build --jobs N`; die Zahl der Prozesse heißt dort nur --jobs.\n  #/lesson\n"
    );
    world.say("two", "/home/ada/engine", &german);
    world.scan();
    let [candidate] = &world.candidates()[..] else { panic!("{:?}", world.candidates()) };
    assert!(candidate.problem.starts_with("cargo kennt keine Option"), "{}", candidate.problem);
}

#[test]
fn line_8_a_report_for_one_project_fires_there_alone_dotted_paths_included() {
    let world = World::new();
    let root = world.folder.path().join("my.app-v1.2");
    fs::create_dir_all(&root).unwrap();
    let text = "> deploy\n$ git status\n< #lesson\n  tool: Bash\n  trigger: make deploy --now\n  problem: make deploy --now skips the migrations of this app.\n  solution: Run `make migrate deploy`, which migrates the database before it deploys.\n  scope: project\n  #/lesson\n$ make migrate deploy\n= ok\n";
    world.say("one", root.to_str().unwrap(), text);
    world.scan();
    let [candidate] = &world.candidates()[..] else { panic!("{:?}", world.candidates()) };
    let scope = candidate.scope.as_deref().unwrap();
    assert!(lessons::inject::is_in_scope(scope, &root));
    assert!(!lessons::inject::is_in_scope(scope, world.folder.path()));
}

#[test]
fn what_a_model_withdraws_later_is_removed() {
    let world = World::new();
    let report = "> go\n$ git status\n< #lesson\n  tool: Bash\n  trigger: frob --widgets\n  problem: frob knows no --widgets any more, it is an error.\n  solution: Use frob --gadgets in its place, which takes the same values as before.\n  #/lesson\n$ frob --gadgets\n= ok\n";
    world.say("one", "/home/ada/engine", report);
    world.scan();
    assert_eq!(world.candidates().len(), 1);
    world.say(
        "one",
        "/home/ada/engine",
        &format!("{report}> sure?\n< No.\n  #lesson:cancel\n  problem: frob knows\n  #/lesson:cancel\n"),
    );
    assert_eq!(world.scan().kept.withdrawn.len(), 1);
    assert_eq!(world.candidates().len(), 0);
}

#[test]
fn line_11_every_setting_and_variable_of_a_scan_has_an_effect() {
    let scored = World::with(&[("LESSONS_MAX_CANDIDATES_PER_SCAN", "1"), ("LESSONS_SCAN_PATH", "/one")]);
    let options = Options::of(&scored.places.env, &scored.places.paths);
    assert_eq!((options.most_candidates, options.folders), (1, vec![PathBuf::from("/one")]));
    let listed = World::with(&[("LESSONS_SCAN_PATHS", "/one:~/two")]);
    let options = Options::of(&listed.places.env, &listed.places.paths);
    assert_eq!(options.folders, [Path::new("/one"), Path::new("/home/ada/two")]);
    // One new candidate, and the rest with the next scan.
    scored.say("one", "/home/ada/engine", JOBS);
    scored.say("two", "/home/ada/engine", &JOBS.replace("--jobs-max", "--cores-max"));
    let options =
        Options { folders: vec![scored.projects()], ..Options::of(&scored.places.env, &scored.places.paths) };
    let first = scored.scan_with(&options);
    assert_eq!((first.kept.new.len(), first.kept.over), (1, 1));
    assert_eq!(scored.scan_with(&options).kept.new.len(), 1);
    let scoring = |sessions| learning::candidate::Scoring { multi_session: sessions, ..Default::default() };
    let lesson = Lesson::default();
    let priority = |sessions| scoring(sessions).priority(&lesson, learning::candidate::Tier::Fixed, 2, 1);
    assert!(priority(5) > priority(2));
}

#[test]
fn what_lessons_learned_has_read_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(&[("LESSONS_DATA_DIR", folder.path().to_str().unwrap())]);
    world.say("one", "/home/ada/engine", JOBS);
    world.say("two", "/home/ada/engine", &JOBS.replace("--jobs-max", "--cores-max"));
    let path = world.projects().join("p/one.jsonl");
    let size = fs::metadata(&path).unwrap().len();
    let state =
        format!("{{\"files\":{{{:?}:{{\"offset\":{size},\"fileSize\":{size}}}}}}}", path.to_str().unwrap());
    fs::write(folder.path().join("scan-state.json"), state).unwrap();
    assert_eq!(world.scan().read, 1);
}

#[test]
fn a_lesson_of_the_users_own_is_never_touched() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.scan();
    let mut own = world.candidates()[0].clone();
    own.slug = String::new();
    own.summary = "my own words about the jobs of cargo".into();
    Change::begin(&world.places).unwrap().add(vec![own.clone()], Owner::Personal, true).unwrap();
    world.say("two", "/home/ada/other", JOBS);
    world.scan();
    let items = Catalogue::read(&world.places).items;
    let kept = items.iter().find(|item| item.lesson.summary == own.summary).unwrap();
    assert_eq!((kept.state, &kept.lesson.problem), (State::Active, &own.problem));
}

#[test]
fn what_is_forgotten_is_seen_nowhere() {
    let world = World::new();
    world.say("one", "/home/ada/engine", JOBS);
    world.say("two", "/home/ada/other", JOBS);
    world.scan();
    let slug = world.candidates()[0].slug.clone();
    let forget = |selection: Selection| {
        let mut store = world.store();
        let notes = store::repair::notes_of_forgotten(&world.places.paths.database());
        let spool = capture::Spool::new(world.places.paths.spool());
        fs::create_dir_all(spool.folder()).unwrap();
        selection.forget(&mut store, &spool, &notes, base::Timestamp::now()).unwrap().lessons
    };
    assert_eq!(
        forget(Selection { session: Some("one".into()), ..Selection::default() }),
        Vec::<String>::new()
    );
    assert_eq!(sightings::counts(world.store().connection(), &slug).unwrap().sessions, 1);
    assert_eq!(
        forget(Selection { query: Some("jobs-max".into()), ..Selection::default() }),
        std::slice::from_ref(&slug)
    );
    assert_eq!(sightings::counts(world.store().connection(), &slug).unwrap().sessions, 0);
}

/// Records what hooks would of a session with the mistake, up to a number of its calls.
fn record(world: &World, session: &str, most: usize) {
    let spool = Spool::new(world.places.paths.spool());
    let calls = [
        ("git status", None),
        ("cargo build --jobs-max 4", Some("error: unexpected argument '--jobs-max' found")),
        ("cargo build --jobs 4", None),
        ("cargo test", None),
    ];
    for (at, (command, error)) in (1_u64..).zip(calls).take(most) {
        let input = RawValue::from_string(format!("{{\"command\":{command:?}}}")).unwrap();
        let id = format!("toolu_{at}");
        let call = ToolCall {
            tool: "Bash".into(),
            tool_use_id: Some(id.as_str().into()),
            input: Some(&input),
            error: error.map(Into::into),
            ..ToolCall::default()
        };
        let mut observation = Observation::new(session, format!("t:{id}"), at * 1_000, Data::Tool(call));
        observation.cwd = "/home/ada/engine".into();
        spool.append(&observation).unwrap();
    }
    Drain::unbounded(&spool).run(&mut world.store(), base::Timestamp::now()).unwrap();
}

#[test]
fn what_hooks_recorded_is_searched_as_transcripts_are_and_counted_once() {
    let world = World::new();
    record(&world, "one", 4);
    let options = Options { folders: Vec::new(), ..world.options() };
    let report = world.scan_with(&options);
    assert_eq!(report.kept.new.len(), 1);
    // The transcript of the same session tells the same.
    world.say("one", "/home/ada/engine", JOBS);
    let report = world.scan();
    assert_eq!((report.read, report.kept.new.len(), report.kept.again.len()), (1, 0, 0));
}

/// Ends a scan after it has asked so many times whether to go on.
struct Patience(Cell<usize>);

impl Observer for Patience {
    fn is_stopping(&self) -> bool {
        self.0.replace(self.0.get().saturating_sub(1)) == 0
    }
}

#[test]
fn a_scan_that_was_cut_goes_on_where_it_ended() {
    let world = World::new();
    ["one", "two", "three"].into_iter().for_each(|session| record(&world, session, 4));
    world.say("four", "/home/ada/engine", JOBS);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let mut patience = Patience(Cell::new(1));
        let report = scan::run(&mut world.store(), &world.places, &world.options(), &mut patience).unwrap();
        assert_eq!((report.sessions + report.read, report.is_cut), (1, seen.len() < 3));
        seen.extend(report.kept.new.into_iter().chain(report.kept.again));
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    let slug = world.candidates()[0].slug.clone();
    assert_eq!(sightings::counts(world.store().connection(), &slug).unwrap().sessions, 4);
    // A session that goes on is looked at again, from its beginning.
    record(&world, "five", 2);
    assert_eq!(world.scan().sessions, 1);
    record(&world, "five", 4);
    assert_eq!(world.scan().kept.again, [slug]);
}

const REPORTED: &str = "> put it aside\n$ git stash save --everything\n! error: unknown option `everything'\n$ git stash push --all\n= Saved\n< #lesson\n  tool: Bash\n  trigger: git stash save --everything\n  problem: git stash has no option --everything, so nothing is saved at all.\n  solution: Run `git stash push --all`, then check with `git stash list` that an entry is there.\n  #/lesson\n$ git stash list\n= stash@{0}\n";

#[test]
fn a_report_that_a_second_session_confirms_is_promoted_only_where_the_user_wants_that() {
    for is_wanted in [false, true] {
        let world = World::new();
        let options = Options { is_promoting: is_wanted, ..world.options() };
        world.say("one", "/home/ada/engine", REPORTED);
        assert_eq!(world.scan_with(&options).kept.promoted, [""; 0], "one session is not enough");
        let slug = world.candidates()[0].slug.clone();
        world.say("two", "/home/ada/engine", REPORTED);
        let promoted = world.scan_with(&options).kept.promoted;
        if is_wanted {
            assert_eq!((promoted, world.candidates().len()), (vec![slug.clone()], 0));
            // As any decision it can be taken back.
            Change::begin(&world.places).unwrap().undo().unwrap().unwrap();
            assert_eq!(world.candidates()[0].slug, slug);
        } else {
            assert_eq!((promoted.len(), world.candidates().len()), (0, 1));
        }
    }
    // What rules found waits for a person, however often it was seen.
    let world = World::new();
    let options = Options { is_promoting: true, ..world.options() };
    for session in ["one", "two", "three"] {
        world.say(session, "/home/ada/engine", JOBS);
        assert_eq!(world.scan_with(&options).kept.promoted, [""; 0]);
    }
    assert!(!Options::of(&world.places.env, &world.places.paths).is_promoting, "off by default");
}

#[test]
fn a_fact_about_one_project_is_no_lesson_and_waits_for_a_person() {
    let world = World::new();
    let report = |scope: &str| {
        format!(
            "> where are the prices?\n$ ls\n= src\n< #lesson\n  problem: Prices are in /home/ada/engine/data/prices.csv, not in the database.\n  solution: Change the file, then run the importer.{scope}\n  #/lesson\n"
        )
    };
    world.say("one", "/home/ada/engine", &report("\n  scope: project"));
    world.say("two", "/home/ada/engine", &report("\n  scope: project"));
    world.say("three", "/home/ada/engine", &report(""));
    let kept = world.scan().kept;
    assert_eq!((kept.facts, kept.new.len(), world.candidates().len()), (2, 0, 0));
    let store = world.store();
    let facts = sightings::facts(store.connection(), "path:/home/ada/engine").unwrap();
    let texts: Vec<&str> = facts.iter().map(|fact| fact.failing.as_str()).collect();
    assert_eq!(
        texts,
        ["Prices are in data/prices.csv, not in the database. Change the file, then run the importer"]
    );
    assert_eq!(sightings::facts(store.connection(), "path:/home/ada/website").unwrap(), []);
}
