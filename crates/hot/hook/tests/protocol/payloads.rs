//! Recorded payloads and hand-typed ones: what is understood of each is golden.
//!
//! `UPDATE_GOLDEN=1 cargo test -p wyren-hook` writes the golden files anew; look at the difference.

use crate::{for_event, host, inputs};
use hook::{Answer, Event, Host, Silence};
use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

/// Events of the client that no hook of ours is for.
const UNTYPED: [&str; 8] = [
    "FileChanged",
    "InstructionsLoaded",
    "PostCompact",
    "PostToolBatch",
    "TaskCompleted",
    "TaskCreated",
    "UserPromptExpansion",
    "statusline_start",
];

#[test]
fn every_recorded_payload_is_understood() {
    check_folder("payloads");
}

#[test]
fn every_hand_typed_payload_is_understood() {
    check_folder("hand-typed");
}

#[test]
fn every_event_of_the_table_has_a_type_and_its_hooks_end_before_the_client_ends_them() {
    for event in tables::hooks::EVENTS {
        let deadline =
            for_event!(event.name, deadline()).unwrap_or_else(|| panic!("no type for {}", event.name));
        for hook in tables::hooks::HOOKS.iter().filter(|hook| hook.events.contains(&event.name)) {
            assert!(deadline < Duration::from_secs(hook.timeout), "{} at {}", hook.name, event.name);
        }
    }
}

fn deadline<E: Event>() -> Duration {
    E::DEADLINE
}

fn check_folder(folder: &str) {
    let mut understood = 0;
    for (event, path, input) in inputs(folder) {
        match for_event!(&*event, understanding(input)) {
            Some(text) => {
                check_golden(folder, &path, &text);
                understood += 1;
            }
            None => assert!(UNTYPED.contains(&&*event) || event.starts_with("statusline"), "{event}"),
        }
    }
    assert!(understood > 15, "{understood}");
}

/// Returns what the hook's body was handed.
fn understanding<E: Event + Debug>(input: Vec<u8>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let seen = RefCell::new(None);
    let body = |call: E, _: &Host| {
        seen.replace(Some(format!("{call:#?}\n")));
        Ok(Answer::silent())
    };
    hook::respond(input.leak(), &host, Silence::Empty, body);
    seen.into_inner().expect("the body was not called")
}

#[track_caller]
fn check_golden(folder: &str, payload: &Path, text: &str) {
    let name = payload.with_extension("txt");
    let name = name.file_name().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/understood").join(folder).join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        base::files::write_atomic(&golden, text.as_bytes()).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(text, expected, "{}", golden.display());
}
