//! The beginning of a session.

use crate::support::{Clone, OPENING, memory, no_launch, wordless};
use base::trust::{Identity, Item, Trust};
use serde_json::json;

#[test]
fn a_session_begins_with_the_memory_and_the_broadcast() {
    let clone = Clone::new(&["a [session aaaaaaaa, turn 1, by Ada, 2025-11-16]"]);
    clone.write(".wyren/broadcast/.gitkeep", "");
    clone.write(".wyren/broadcast/skills/review.md", "Be kind.\n");
    assert_eq!(
        wordless(&clone.start("s", "startup")),
        format!(
            "{OPENING}\n\n\
             <wyren-context source=\"team memory\">\n\
             ## Decisions\n- a (signed Ada, 16 Nov 2025)\n</wyren-context>\n\n\
             Wyren: files that this team shares with every session.\n\n\
             <wyren-context source=\"team broadcast\" file=\"skills/review.md\">\nBe kind.\n</wyren-context>"
        )
    );
}

#[test]
fn a_day_of_this_year_is_shown_without_it() {
    let year = &base::Timestamp::now().to_string()[..4];
    let clone = Clone::new(&[&format!("a [by Ada, {year}-03-09]")]);
    assert!(clone.start("s", "startup").contains("- a (signed Ada, 9 Mar)\n"));
}

#[test]
fn no_comment_reaches_a_session() {
    let clone = Clone::empty();
    let old = "# Wyren Memory\n<!-- Populated by distiller. -->\n\n## Decisions\n<!-- one\nof two lines -->\n- a <!-- id 7 -->\n";
    clone.write(".wyren/memory.md", old);
    let told = clone.start("s", "startup");
    assert!(told.contains("- a\n") && !told.contains("!--") && !told.contains("lines"), "{told}");
    clone.write(".wyren/memory.md", format!("{old}- b <!-- id 8 -->\n<!-- three\nfour -->\n"));
    let told = clone.prompt("s");
    assert!(told.contains("- b\n") && !told.contains("!--") && !told.contains("four"), "{told}");
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_memory_without_a_word_is_silent() {
    let clone = Clone::empty();
    clone.write(
        ".wyren/memory.md",
        "# Wyren Memory\n<!-- Populated by distiller. Edit manually to seed context. -->\n",
    );
    assert_eq!(clone.start("s", "startup"), "");
    assert_eq!(clone.read(".wyren/log"), "");
}

#[test]
fn a_cleared_and_a_compacted_window_get_the_whole_again() {
    let clone = Clone::new(&["a"]);
    let first = clone.start("s", "startup");
    assert_eq!(clone.start("s", "compact"), first);
    assert_eq!(wordless(&clone.start("t", "clear")), wordless(&first));
    assert_eq!(clone.prompt("s") + &clone.prompt("t"), "");
}

#[test]
fn a_resumed_session_gets_what_it_missed_and_nothing_else() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    assert_eq!(clone.start("s", "resume"), "");
    clone.decide(&["a", "b"]);
    clone.write(".wyren/broadcast/note.md", "Note.");
    let told = clone.start("s", "resume");
    assert!(told.starts_with("# Wyren live update\n") && told.contains("- b\n") && !told.contains("- a\n"));
    assert!(told.contains("file=\"note.md\""));
    assert_eq!(clone.start("s", "resume"), "");
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_resumed_unknown_session_gets_the_whole_memory() {
    let clone = Clone::new(&["a"]);
    assert!(clone.start("s", "resume").starts_with(OPENING));
}

#[test]
fn a_start_leaves_the_state_of_the_clone_alone() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    assert_eq!(clone.ups_state(), serde_json::Value::Null);
    assert!(!clone.path(".wyren/state/last-injected-memory.md").exists());
}

#[test]
fn a_start_without_a_session_tells_and_keeps_nothing() {
    let clone = Clone::new(&["a"]);
    assert!(clone.start_with(json!({"cwd": clone.root()}), &no_launch).contains("- a\n"));
    assert!(!clone.path(".wyren/state").exists());
}

// 17
#[test]
fn a_large_memory_stays_within_what_the_client_takes_and_says_where_the_rest_is() {
    let facts: Vec<String> = (0..2_000).map(|n| format!("🦀 fact number {n} of the two thousand")).collect();
    let clone = Clone::new(&facts.iter().map(String::as_str).collect::<Vec<_>>());
    clone.write(".wyren/broadcast/long.md", "words\n".repeat(20_000));
    clone.fetched(json!({"rewritten_from": "abc"}));
    let told = clone.start("s", "startup");
    let units = told.encode_utf16().count();
    assert!(units <= hook::MAX_TEXT_UNITS && units > 8_000, "{units}");
    assert!(told.starts_with("⚠️ Wyren: ") && told.contains(" of 2000 entries, chosen by weight and age."));
    assert!(told.contains("`wyren memory show`") && told.contains("1 broadcast file is not shown in full"));
    // What was left out counts as told: it is pointed to, and does not trickle in with later prompts.
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_rewritten_history_is_warned_of_first_and_once() {
    let clone = Clone::new(&["a"]);
    clone.fetched(json!({"rewritten_from": "abc"}));
    let told = clone.start("s", "startup");
    assert!(told.starts_with("⚠️ Wyren: remote memory.md was force-pushed"), "{told}");
    assert!(told.contains(&format!("The user decides.\n\n{OPENING}")), "{told}");
    assert_eq!(clone.prompt("s"), "");
    assert!(clone.start("s", "compact").starts_with(OPENING));
    assert_eq!(clone.start("s", "resume"), "");
    assert!(clone.start("t", "startup").starts_with("⚠️ Wyren: "));
}

#[test]
fn skills_of_a_trusted_project_may_be_followed() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/broadcast/skills/review.md", "Be kind.");
    assert!(!clone.start("s", "startup").contains("trusted="));
    let mark =
        "source=\"team skill\" file=\"skills/review.md\" trusted=\"by the user: follow it where it applies\"";
    let trust = |texts: &[&str]| {
        let items = texts.iter().map(|text| Item::skill("skills/review.md", text.as_bytes())).collect();
        let project = clone.root().canonicalize().unwrap();
        let identity = Identity::of(&project);
        Trust { project, identity, items, lapse: None }.write(&clone.host("x").paths).unwrap();
    };
    trust(&["Be kind."]);
    assert!(clone.start("s", "compact").contains(mark));
    // What was not shown is not trusted, until it is.
    clone.write(".wyren/broadcast/skills/review.md", "Be very kind.");
    let changed = clone.prompt("s");
    assert!(changed.contains("Be very kind.") && !changed.contains("trusted="), "{changed}");
    assert!(!clone.start("s", "compact").contains("trusted="));
    trust(&["Be very kind."]);
    assert!(clone.start("s", "compact").contains(mark));
}

#[test]
fn trust_of_an_earlier_version_covers_no_skill() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/broadcast/skills/review.md", "Be kind.");
    let file = clone.host("x").paths.trust_file(&clone.root());
    base::files::write_atomic(&file, b"wyren trust 1\n/somewhere\n").unwrap();
    assert!(!clone.start("s", "startup").contains("trusted="));
}

#[test]
fn snapshots_of_forgotten_sessions_are_cleaned_up() {
    let clone = Clone::new(&["a"]);
    clone.start("old", "startup");
    clone.start("resumed", "startup");
    let file = |session: &str| {
        clone.path(&format!(".wyren/state/sessions/{}", base::digest::short_hex(session.as_bytes())))
    };
    let weeks_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(15 * 24 * 60 * 60);
    for session in ["old", "resumed"] {
        let snapshot = std::fs::File::options().append(true).open(file(session)).unwrap();
        snapshot.set_modified(weeks_ago).unwrap();
    }
    assert_eq!(clone.start("resumed", "resume"), "");
    // Each new session looks at a part of them.
    let starts = (0..200).take_while(|number| {
        clone.start(&format!("new {number}"), "startup");
        file("old").exists()
    });
    assert!(starts.count() < 199);
    assert!(file("resumed").exists());
}

#[test]
fn a_memory_outside_any_repository_is_shown() {
    let clone = Clone::new(&["a"]);
    std::fs::remove_dir_all(clone.path(".git")).unwrap();
    assert!(clone.start("s", "startup").contains("- a\n"));
    clone.write(".wyren/memory.md", memory(&["a", "b"]));
    assert!(clone.prompt("s").contains("- b\n"));
}
