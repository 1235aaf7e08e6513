//! The third identical failing call pauses once, as the two hooks see it.

use base::Env;
use hook::{Answer, Claim, Event, Host, PreToolUse, Silence, ToolOutcome};
use serde_json::{Value, json};

struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        let variables = vec![("WYREN_DATA_DIR", format!("{path}/data")), ("XDG_RUNTIME_DIR", path)];
        Self { folder, variables }
    }

    fn host(&self) -> Host {
        Host::new("test", Env::fixed(self.variables.clone()))
    }

    fn run<E: Event>(&self, call: &Value, body: impl FnOnce(E, &Host) -> Answer<E>) -> Value {
        let input = call.to_string().into_bytes().leak();
        let response =
            hook::respond(input, &self.host(), Silence::EmptyObject, |call, host| Ok(body(call, host)));
        response.claims.into_iter().for_each(Claim::confirm);
        serde_json::from_slice(&response.stdout).unwrap()
    }

    /// Has a call end: with an error, or well.
    fn ends(&self, call: &Value, error: Option<&str>) {
        let mut call = call.clone();
        call["error"] = error.into();
        self.run(&call, |call: ToolOutcome, host| {
            attempts::observe(&call, host, || true);
            Answer::silent()
        });
    }

    /// Returns why a call that is about to begin is refused; empty when it is not.
    fn begins(&self, call: &Value) -> String {
        let pause =
            |call: PreToolUse, host: &Host| attempts::pause(&call, host).unwrap_or_else(Answer::silent);
        let answer = self.run(call, pause);
        answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
    }

    fn notes(&self) -> usize {
        let windows = walk(&self.folder.path().join("wyren"));
        windows.iter().filter(|file| file.ends_with(".attempts")).count()
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.into_iter().flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn bash(command: &str) -> Value {
    json!({"session_id": "s", "prompt_id": "p", "tool_name": "Bash", "tool_input": {"command": command}})
}

fn with(mut call: Value, name: &str, value: &str) -> Value {
    call[name] = value.into();
    call
}

const ERROR: Option<&str> = Some("Exit code 2\nmake: *** No rule to make target 'tset'.");

#[test]
fn the_third_identical_failing_call_pauses_once() {
    let desk = Desk::new();
    let make = bash("make tset");
    for _ in 0..2 {
        assert_eq!(desk.begins(&make), "");
        desk.ends(&make, ERROR);
        desk.ends(&with(bash(""), "tool_name", "Read"), None);
    }
    assert_eq!(desk.begins(&bash("make test")), "");
    let reason = desk.begins(&make);
    for part in [
        "Wyren paused this call once: it failed twice with the same error",
        "make tset",
        "No rule to make target",
        "Change something first; if it is right as it is, make the same call again and it passes.",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(desk.begins(&make), "", "the repeat goes on");
    desk.ends(&make, ERROR);
    assert_eq!(desk.begins(&make), "", "one pause is enough");
}

#[test]
fn without_a_failure_and_after_a_change_there_is_no_note() {
    let desk = Desk::new();
    desk.ends(&bash("make"), None);
    assert!(!desk.folder.path().join("wyren").exists());
    desk.ends(&bash("make"), ERROR);
    assert_eq!(desk.notes(), 1);
    desk.ends(&with(bash("x"), "tool_name", "Edit"), None);
    assert_eq!(desk.notes(), 0);
}

#[test]
fn a_new_run_of_failures_pauses_again() {
    let desk = Desk::new();
    let make = bash("make tset");
    for round in 0..2 {
        desk.ends(&make, ERROR);
        desk.ends(&make, ERROR);
        assert_ne!(desk.begins(&make), "", "{round}");
        desk.ends(&with(bash("x"), "tool_name", "Edit"), None);
        // The next run of failures begins at a later moment.
        let now = base::Timestamp::now().millis();
        while base::Timestamp::now().millis() == now {
            std::hint::spin_loop();
        }
    }
}

#[test]
fn each_agent_and_each_session_is_for_itself() {
    let desk = Desk::new();
    let make = bash("make tset");
    desk.ends(&make, ERROR);
    desk.ends(&with(make.clone(), "agent_id", "a"), ERROR);
    desk.ends(&with(make.clone(), "session_id", "t"), ERROR);
    assert_eq!(desk.notes(), 3);
    assert_eq!(desk.begins(&make), "");
    desk.ends(&make, ERROR);
    assert_eq!(desk.begins(&with(make.clone(), "agent_id", "a")), "");
    assert_ne!(desk.begins(&make), "");
}

#[test]
fn a_new_window_forgets() {
    let desk = Desk::new();
    let make = bash("make tset");
    for forget in [hook::Claims::forget_compacted, hook::Claims::forget_all] {
        desk.ends(&make, ERROR);
        desk.ends(&make, ERROR);
        desk.run(&make, |call: PreToolUse, host| {
            forget(&host.claims(&call)).unwrap();
            Answer::silent()
        });
        assert_eq!((desk.begins(&make), desk.notes()), (String::new(), 0));
    }
}

#[test]
fn nothing_is_noted_where_nothing_may_be_kept_or_the_user_switched_it_off() {
    let mut desk = Desk::new();
    let make = bash("make tset");
    desk.run(&with(make.clone(), "error", "no"), |call: ToolOutcome, host| {
        attempts::observe(&call, host, || false);
        Answer::silent()
    });
    assert_eq!(desk.notes(), 0);
    desk.ends(&make, ERROR);
    desk.ends(&make, ERROR);
    let spool = desk.host().paths.session_spool("s");
    std::fs::create_dir_all(&spool).unwrap();
    std::fs::write(spool.join(base::paths::PRIVATE_MARKER), "").unwrap();
    assert_eq!(desk.begins(&make), "", "under a private prompt nothing is repeated");
    std::fs::remove_dir_all(&spool).unwrap();
    desk.variables.push(("WYREN_LOOPS", "false".to_owned()));
    assert_eq!(desk.begins(&make), "");
    desk.ends(&make, ERROR);
    assert_eq!(desk.notes(), 0);
}

#[test]
fn notes_can_be_forgotten_without_the_claims_beside_them() {
    let desk = Desk::new();
    let make = bash("make tset");
    desk.ends(&make, ERROR);
    desk.ends(&with(make.clone(), "agent_id", "a"), ERROR);
    let claims = |host: &Host| hook::Claims::new(&[host.paths.claims()], Some("s"), None);
    assert!(claims(&desk.host()).take_for_good("lesson", hook::Keep::UntilCompaction));
    attempts::forget_notes(&desk.host().paths);
    assert_eq!(desk.notes(), 0);
    assert!(claims(&desk.host()).is_taken("lesson"));
}

#[cfg(unix)]
#[test]
fn a_note_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    desk.ends(&bash("make"), ERROR);
    let files = walk(&desk.folder.path().join("wyren"));
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
}
