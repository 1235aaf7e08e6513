//! When the remote is asked, and how long a hook waits for it. A stand-in takes the place of `wyren sync`.
#![cfg(unix)]

use crate::support::{Clone, memory, millis_ago};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any machine takes for a prompt that waits for nothing.
const WAIT_MS: u64 = 1_200;

/// What was started, and what it does.
struct StandIn<'a> {
    started: RefCell<Vec<String>>,
    does: &'a dyn Fn(&Path) -> io::Result<Child>,
}

impl<'a> StandIn<'a> {
    fn new(does: &'a dyn Fn(&Path) -> io::Result<Child>) -> Self {
        Self { started: RefCell::default(), does }
    }

    fn launch(&self, arguments: &[&str], folder: &Path) -> io::Result<Child> {
        self.started.borrow_mut().push(arguments.join(" "));
        (self.does)(folder)
    }

    /// Returns what was started since the last look.
    fn started(&self) -> Vec<String> {
        self.started.take()
    }
}

/// Ends at once.
fn quick(_folder: &Path) -> io::Result<Child> {
    Command::new("true").spawn()
}

/// Runs for as long as a hook waits for it.
fn hanging(_folder: &Path) -> io::Result<Child> {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()
}

fn prompt(clone: &Clone, stand_in: &StandIn<'_>) -> (String, Duration) {
    let begun = Instant::now();
    let call = json!({"session_id": "s", "cwd": clone.root()});
    let told = clone.prompt_with(call, &|arguments, folder| stand_in.launch(arguments, folder));
    (told, begun.elapsed())
}

fn start(clone: &Clone, stand_in: &StandIn<'_>) -> (String, Duration) {
    let begun = Instant::now();
    let call = json!({"session_id": "s", "cwd": clone.root(), "source": "startup"});
    let told = clone.start_with(call, &|arguments, folder| stand_in.launch(arguments, folder));
    (told, begun.elapsed())
}

fn impatient(clone: Clone) -> Clone {
    clone.with_remote().with("WYREN_WAIT_MS", &WAIT_MS.to_string()).with("WYREN_FETCH_SECONDS", "5")
}

#[test]
fn news_from_the_remote_is_shown_with_the_prompt_that_fetched_it() {
    let clone = impatient(Clone::new(&["a"]));
    let brings = |folder: &Path| {
        let text = memory(&["a", "from a teammate"]);
        Command::new("sh")
            .current_dir(folder)
            .args(["-c", "printf %s \"$0\" > .wyren/memory.md", &text])
            .spawn()
    };
    let stand_in = StandIn::new(&quick);
    assert!(start(&clone, &stand_in).0.contains("- a\n"));
    assert_eq!(stand_in.started(), ["sync --background"]);
    clone.fetched(json!({"tried_at": 5, "fetched_at": 6, "took_ms": 40}));
    let stand_in = StandIn::new(&brings);
    let (told, _) = prompt(&clone, &stand_in);
    assert!(told.contains("- from a teammate\n") && !told.contains("- a\n"), "{told}");
    assert_eq!(stand_in.started(), ["sync --background"]);
}

#[test]
fn the_remote_is_asked_when_the_last_look_is_old_and_not_before() {
    let clone = impatient(Clone::new(&["a"]));
    let stand_in = StandIn::new(&quick);
    for (fields, is_asked) in [
        (json!({"tried_at": millis_ago(1_000), "fetched_at": millis_ago(900)}), false),
        (json!({"tried_at": millis_ago(9_000), "fetched_at": millis_ago(2_000)}), false),
        (json!({"tried_at": millis_ago(9_000), "fetched_at": millis_ago(8_000)}), true),
        (json!({"tried_at": millis_ago(1_000), "fetched_at": 0}), false),
        (json!({}), true),
    ] {
        clone.fetched(fields.clone());
        prompt(&clone, &stand_in);
        assert_eq!(!stand_in.started().is_empty(), is_asked, "{fields}");
    }
}

// 15
#[test]
fn a_hanging_remote_costs_one_prompt_the_wait_and_later_ones_nothing() {
    let clone = impatient(Clone::new(&["a"])).with("WYREN_FETCH_SECONDS", "0");
    let stand_in = StandIn::new(&hanging);
    clone.fetched(json!({"tried_at": 5, "fetched_at": 6, "took_ms": 40}));
    let (_, first) = prompt(&clone, &stand_in);
    let wait = Duration::from_millis(WAIT_MS);
    assert!(first >= wait && first < wait * 2, "{first:?}");
    // What was started has noted that it asked, and got no answer.
    clone.fetched(json!({"tried_at": millis_ago(2_000), "fetched_at": millis_ago(60_000), "took_ms": 40}));
    let (_, second) = prompt(&clone, &stand_in);
    assert!(second < wait, "{second:?}");
    assert_eq!(stand_in.started().len(), 2);
    // It failed: left alone until then, asked again afterwards, waited for only once it is well again.
    let failed = |retry_at: u64| json!({"tried_at": millis_ago(9_000), "failures": 1, "retry_at": retry_at, "took_ms": 40});
    clone.fetched(failed(millis_ago(0) + 30_000));
    let (_, third) = prompt(&clone, &stand_in);
    assert!(third < wait && stand_in.started().is_empty(), "{third:?}");
    clone.fetched(failed(millis_ago(1)));
    let (_, fourth) = prompt(&clone, &stand_in);
    assert!(fourth < wait, "{fourth:?}");
    assert_eq!(stand_in.started(), ["sync --background"]);
}

#[test]
fn d9_a_prompt_waits_only_for_a_remote_whose_last_answer_came_in_less_time() {
    let clone = impatient(Clone::new(&["a"])).with("WYREN_FETCH_SECONDS", "0");
    let stand_in = StandIn::new(&hanging);
    let wait = Duration::from_millis(WAIT_MS);
    let check = |took: Value, is_waited_for: bool| {
        clone.fetched(json!({"tried_at": 5, "fetched_at": 6, "took_ms": took}));
        let (_, elapsed) = prompt(&clone, &stand_in);
        assert_eq!(elapsed >= wait, is_waited_for, "{took}: {elapsed:?}");
        assert_eq!(stand_in.started(), ["sync --background"], "{took}");
    };
    check(json!(WAIT_MS - 1), true);
    check(json!(WAIT_MS), false);
    check(json!(60_000), false);
    // Never measured.
    check(Value::Null, false);
}

/// Ends a turn in a clone.
fn stop(clone: &Clone, stand_in: &StandIn<'_>) -> Result<(), briefing::Error> {
    let folder = place::Folder::find(&clone.root()).unwrap();
    let launch = |arguments: &[&str], folder: &Path| stand_in.launch(arguments, folder);
    briefing::pull::at_stop_with(&folder, &clone.host("stop-distill"), &launch)
}

#[test]
fn the_end_of_a_turn_asks_when_a_prompt_would_and_waits_for_nothing() {
    let clone = impatient(Clone::new(&["a"]));
    let stand_in = StandIn::new(&hanging);
    for (fields, is_asked) in [
        (json!({"tried_at": 5, "fetched_at": 6, "took_ms": 1}), true),
        (json!({"tried_at": millis_ago(1_000), "fetched_at": millis_ago(900)}), false),
        (json!({"failures": 2, "retry_at": millis_ago(0) + 30_000}), false),
        (json!({}), true),
    ] {
        clone.fetched(fields.clone());
        let begun = Instant::now();
        stop(&clone, &stand_in).unwrap();
        assert!(begun.elapsed() < Duration::from_millis(WAIT_MS), "{fields}");
        assert_eq!(stand_in.started().len(), usize::from(is_asked), "{fields}");
    }
}

#[test]
fn the_end_of_a_turn_asks_no_remote_that_is_missing_or_unwanted_and_logs_a_failure() {
    let stand_in = StandIn::new(&quick);
    for clone in [Clone::new(&["a"]), Clone::new(&["a"]).with_remote().with("WYREN_PULL", "off")] {
        stop(&clone, &stand_in).unwrap();
        assert!(stand_in.started().is_empty());
    }
    let missing = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let clone = impatient(Clone::new(&["a"]));
    stop(&clone, &StandIn::new(&missing)).unwrap_err();
    assert!(clone.read(".wyren/log").contains("] error: could not start `wyren sync --background`"));
}

// 15
#[test]
fn a_start_waits_for_a_healthy_remote_and_for_no_other() {
    let clone = Clone::new(&["a"]).with_remote();
    let stand_in = StandIn::new(&hanging);
    let wait = briefing::pull::START_PATIENCE;
    let check = |fields: Value, started: usize, is_waited_for: bool| {
        clone.fetched(fields.clone());
        let (told, elapsed) = start(&clone, &stand_in);
        assert!(told.contains("- a\n"));
        assert_eq!(stand_in.started().len(), started, "{fields}");
        assert_eq!(elapsed >= wait, is_waited_for, "{fields}: {elapsed:?}");
        assert!(elapsed < wait * 2, "{fields}: {elapsed:?}");
    };
    check(json!({}), 1, true);
    check(json!({"tried_at": 5, "fetched_at": 6, "took_ms": 700}), 1, true);
    check(json!({"tried_at": 5, "fetched_at": 6, "took_ms": 1_500}), 1, false);
    check(json!({"tried_at": millis_ago(9_000), "fetched_at": millis_ago(20_000)}), 1, false);
    check(json!({"tried_at": 5, "fetched_at": 6, "failures": 2, "retry_at": millis_ago(1)}), 1, false);
    check(json!({"failures": 2, "retry_at": millis_ago(0) + 30_000}), 0, false);
}

#[test]
fn without_a_remote_or_with_pulling_off_nothing_is_started() {
    let stand_in = StandIn::new(&quick);
    for clone in [
        Clone::new(&["a"]),
        Clone::new(&["a"]).with_remote().with("WYREN_SKIP_PULL", "1"),
        Clone::new(&["a"]).with_remote().with("WYREN_PULL", "off"),
    ] {
        assert!(start(&clone, &stand_in).0.contains("- a\n"));
        prompt(&clone, &stand_in);
        assert!(stand_in.started().is_empty());
    }
}

#[test]
fn a_remote_that_is_added_in_mid_session_is_asked() {
    let clone = Clone::new(&["a"]);
    let stand_in = StandIn::new(&quick);
    start(&clone, &stand_in);
    prompt(&clone, &stand_in);
    assert!(stand_in.started().is_empty());
    clone.add_remote();
    prompt(&clone, &stand_in);
    assert_eq!(stand_in.started(), ["sync --background"]);
}

#[test]
fn a_wyren_that_cannot_be_started_is_logged_and_the_text_still_comes() {
    let clone = impatient(Clone::new(&["a"]));
    let missing = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let stand_in = StandIn::new(&missing);
    assert!(start(&clone, &stand_in).0.contains("- a\n"));
    clone.decide(&["a", "b"]);
    assert!(prompt(&clone, &stand_in).0.contains("- b\n"));
    let log = clone.read(".wyren/log");
    assert!(log.contains("] error: could not start `wyren sync --background` in the background: "), "{log}");
    assert!(log.contains("] [ups] error: could not start"), "{log}");
}

#[test]
fn in_a_work_tree_the_remote_is_asked_from_its_top() {
    let clone = Clone::new(&["a"]).with_remote();
    let deep = clone.path("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let folders = RefCell::new(Vec::new());
    let launch = |_: &[&str], folder: &Path| {
        folders.borrow_mut().push(folder.to_owned());
        quick(folder)
    };
    clone.prompt_with(json!({"session_id": "s", "cwd": deep}), &launch);
    assert_eq!(folders.take(), [clone.root()]);
}

#[test]
fn a_clone_that_shows_no_sign_of_a_memory_is_offered_one_once_a_day() {
    let clone = Clone::empty().with_remote();
    let stand_in = StandIn::new(&quick);
    assert_eq!(start(&clone, &stand_in).0, "");
    assert_eq!(stand_in.started(), ["sync --discover"]);
    start(&clone, &stand_in);
    assert!(stand_in.started().is_empty());
    let offers = base::files::files_in(&clone.data().join("cache/offers"));
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(25 * 60 * 60);
    std::fs::File::options().append(true).open(&offers[0]).unwrap().set_modified(yesterday).unwrap();
    // By then no hook waits for a memory that did not exist before.
    let hanging = StandIn::new(&hanging);
    assert!(start(&clone, &hanging).1 < briefing::pull::START_PATIENCE);
    assert_eq!(hanging.started(), ["sync --discover"]);
    // A prompt has no time for that.
    assert_eq!(prompt(&clone, &stand_in).0, "");
    assert!(stand_in.started().is_empty());
}

#[test]
fn a_clone_whose_remote_has_a_memory_gets_it_without_a_command() {
    let clone = Clone::empty().with_remote();
    let sets_up = |folder: &Path| {
        let script = "mkdir .wyren && printf %s \"$0\" > .wyren/memory.md";
        Command::new("sh").current_dir(folder).args(["-c", script, &memory(&["a"])]).spawn()
    };
    let idle = StandIn::new(&quick);
    start(&clone, &idle);
    idle.started();
    // The offer of the day is used up, but the user has fetched since.
    clone.write(".git/packed-refs", "0123 refs/remotes/origin/wyren/memory\n");
    let stand_in = StandIn::new(&sets_up);
    assert!(start(&clone, &stand_in).0.contains("- a\n"));
    assert_eq!(stand_in.started(), ["sync --discover"]);
}

#[test]
fn no_memory_is_looked_for_where_it_is_unwanted_or_impossible() {
    let stand_in = StandIn::new(&quick);
    for clone in [
        Clone::empty(),
        Clone::empty().with_remote().with("WYREN_DISCOVER", "0"),
        Clone::empty().with_remote().with("WYREN_SKIP_PULL", "1"),
    ] {
        assert_eq!(start(&clone, &stand_in).0, "");
        assert!(stand_in.started().is_empty());
    }
}
