//! What the user reads in a session: one line, each notice once, at its moment.

use crate::support::Clone;
use base::notice::{self, About, Key, Notice};
use base::{Paths, leave, left};
use std::fs;
use std::path::PathBuf;

fn paths(clone: &Clone) -> Paths {
    clone.host("test").paths
}

fn leave_for(clone: &Clone, key: Key, text: &str) {
    let wyren = clone.path(".wyren");
    Notice::new(key, text).leave(&paths(clone), About::Memory(&wyren)).unwrap();
}

/// Makes a user who has read nothing yet.
fn newcomer(clone: Clone) -> Clone {
    fs::remove_dir_all(paths(&clone).told()).unwrap();
    clone
}

#[test]
fn the_first_session_ever_says_what_is_on_where_data_goes_and_how_to_change_it() {
    let clone = newcomer(Clone::empty());
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(clone.line_at_prompt(elsewhere.path(), "s", true), "", "a prompt is not its moment");
    let line = clone.line_at_start(elsewhere.path(), "s");
    assert_eq!(
        line,
        "Wyren: team memory, lessons and recording are on; data is in ~/data. A model finds decisions with your Claude \
         login, at most $0.50 a day. See /wyren:status; to turn parts off: wyren config."
    );
    assert!(notice::is_introduced(&paths(&clone)));
    assert_eq!(clone.line_at_start(elsewhere.path(), "t"), "");
}

#[test]
fn the_first_line_goes_by_the_settings() {
    let off = newcomer(Clone::new(&[])).with("WYREN_MODEL_PROVIDER", "off").with("WYREN_CAPTURE", "0");
    let line = off.line_at_start(&off.root(), "s");
    assert!(
        line.starts_with("Wyren: team memory and lessons are on; data is in ~/data. See /wyren:status;"),
        "{line}"
    );
    let key =
        newcomer(Clone::new(&[])).with("WYREN_MODEL_PROVIDER", "api").with("WYREN_DAILY_BUDGET_USD", "2");
    assert!(key.line_at_start(&key.root(), "s").contains("with your API key, at most $2 a day"));
}

#[test]
fn review_16_the_first_line_is_the_same_after_a_command_has_made_the_database() {
    let first = || newcomer(Clone::new(&[]));
    let (fresh, used) = (first(), first());
    fs::write(paths(&used).database(), "").unwrap();
    let line = used.line_at_start(&used.root(), "s");
    assert_eq!(line, fresh.line_at_start(&fresh.root(), "s"));
    assert!(line.starts_with("Wyren: team memory, lessons"), "{line}");
}

#[test]
fn review_8_a_newcomer_reads_at_once_that_a_memory_was_found() {
    let clone = newcomer(Clone::new(&["a"]));
    let found = "found a team memory on origin: 12 entries by Ada, Grace and others; to ignore it here: \
                 git config wyren.discover false";
    leave_for(&clone, Key::Found, found);
    let line = clone.line_at_start(&clone.root(), "s");
    assert!(line.ends_with(&format!("to turn parts off: wyren config · {found}.")), "{line}");
    assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "");
}

#[test]
fn a_session_that_no_person_sees_says_nothing_and_keeps_everything_for_one() {
    for entry in ["sdk-cli", "sdk-ts"] {
        let clone = newcomer(Clone::new(&["a"])).with("CLAUDE_CODE_ENTRYPOINT", entry);
        leave_for(&clone, Key::Learned, "learned");
        left::note(&paths(&clone), &clone.path(".wyren"), 1).unwrap();
        assert_eq!(clone.line_at_start(&clone.root(), "s"), "");
        assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "");
        assert!(!notice::is_introduced(&paths(&clone)));
        let clone = clone.with("CLAUDE_CODE_ENTRYPOINT", "cli");
        let line = clone.line_at_start(&clone.root(), "t");
        assert!(line.contains("are on;"), "{line}");
        let line = clone.line_at_prompt(&clone.root(), "t", true);
        assert!(line.contains("removed 1 entry") && line.contains("learned"), "{line}");
    }
}

#[test]
fn a_start_with_several_things_to_say_has_one_line() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/broadcast/skills/deploy.md", "deploy");
    leave::note_kept(&paths(&clone), &clone.path(".git"), 2).unwrap();
    leave_for(&clone, Key::Trust, "2 guards of app wait for your review: /wyren:trust");
    leave_for(&clone, Key::Entries, "Grace decided: prices are integer cents");
    let line = clone.line_at_start(&clone.root(), "s");
    assert_eq!(line.lines().count(), 1);
    assert_eq!(
        line,
        "Wyren: 2 guards of app wait for your review: /wyren:trust · 1 team skill (deploy) is shown to Claude; /wyren:trust \
         lets Claude follow it · 2 changes to the team memory stay on this machine until you run wyren sync here in a \
         terminal. (1 more with your next prompt)"
    );
    let next = clone.line_at_prompt(&clone.root(), "s", true);
    assert_eq!(next, "Wyren: Grace decided: prices are integer cents.");
    assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "");
    assert_eq!(clone.line_at_start(&clone.root(), "t"), "");
}

#[test]
fn a_prompt_says_what_came_since_and_says_it_again_when_it_was_killed() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    leave_for(&clone, Key::Handoff, "Ada left a handoff note: checkout is next");
    for _ in 0..2 {
        let line = clone.line_at_prompt(&clone.root(), "s", false);
        assert_eq!(line, "Wyren: Ada left a handoff note: checkout is next.");
    }
    assert_ne!(clone.line_at_prompt(&clone.root(), "s", true), "");
    assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "");
    assert!(!paths(&clone).notices().exists());
}

#[test]
fn a_folder_without_a_memory_hears_of_jobs_budget_and_disk_and_of_no_project() {
    let clone = Clone::new(&["a"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let folder: PathBuf = elsewhere.path().into();
    leave_for(&clone, Key::Learned, "learned");
    for (key, text) in [(Key::Jobs, "jobs"), (Key::Budget, "budget")] {
        Notice::new(key, text).leave(&paths(&clone), About::Everything).unwrap();
    }
    notice::leave_disk_full(&paths(&clone)).unwrap();
    let line = clone.line_at_start(&folder, "s");
    assert_eq!(line, "Wyren: the disk is full; nothing is recorded until there is room · jobs · budget.");
    assert_eq!(clone.line_at_prompt(&folder, "s", true), "");
    assert_eq!(clone.line_at_prompt(&clone.root(), "t", true), "Wyren: learned.");
}

#[test]
fn the_setting_shows_all_or_what_needs_the_user_or_nothing() {
    for (setting, expected) in [("all", "Wyren: jobs · learned."), ("important", "Wyren: jobs."), ("off", "")]
    {
        let clone = Clone::new(&["a"]).with_setting("ui.messages", setting);
        leave_for(&clone, Key::Learned, "learned");
        leave_for(&clone, Key::Jobs, "jobs");
        assert_eq!(clone.line_at_start(&clone.root(), "s"), expected, "{setting}");
        assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "", "{setting}");
    }
    let clone = newcomer(Clone::new(&["a"])).with_setting("ui.messages", "important");
    assert!(clone.line_at_start(&clone.root(), "s").contains("a day"), "a model is announced");
    let clone = newcomer(Clone::new(&["a"])).with_setting("ui.messages", "off");
    assert_eq!(clone.line_at_start(&clone.root(), "s"), "");
    assert!(!notice::is_introduced(&paths(&clone)), "what was not shown was not announced");
}

#[test]
fn review_12_a_variable_does_not_hide_what_the_user_must_know() {
    let clone = Clone::new(&["a"]).with("WYREN_MESSAGES", "off");
    leave_for(&clone, Key::Found, "found");
    assert_eq!(clone.line_at_start(&clone.root(), "s"), "Wyren: found.");
}

#[test]
fn review_6_in_an_editor_the_user_reads_along() {
    let clone = Clone::new(&["a"]).with("CLAUDE_CODE_ENTRYPOINT", "claude-vscode");
    leave_for(&clone, Key::Learned, "learned");
    assert_eq!(clone.line_at_start(&clone.root(), "s"), "Wyren: learned.");
}

#[test]
fn review_7_the_command_of_the_notice_has_the_next_session_ignore_what_was_found() {
    let clone = Clone::new(&["a"]);
    place::note_found(&clone.path(".wyren"), true).unwrap();
    assert!(clone.start("s", "startup").contains("- a"));
    clone.write(".git/config", "[core]\n\tbare = false\n[wyren]\n\tdiscover = false\n");
    assert_eq!(clone.start("t", "startup"), "");
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.subagent(""), "");
}

#[test]
fn what_was_read_before_an_update_is_not_shown_again() {
    let clone = Clone::new(&["a"]);
    for file in [paths(&clone).kept_file(&clone.path(".git")), paths(&clone).left_file(&clone.path(".wyren"))]
    {
        base::files::write_atomic(&file, b"told\n").unwrap();
    }
    leave::note_kept(&paths(&clone), &clone.path(".git"), 3).unwrap();
    assert_eq!(clone.line_at_start(&clone.root(), "s"), "");
}

#[test]
fn lessons_that_do_not_help_are_named_at_a_start_and_not_at_a_prompt() {
    let clone = Clone::new(&["a"]);
    let notice = Notice::new(Key::Lessons, "1 lesson did not help: x").once("x");
    notice.leave(&paths(&clone), About::Everything).unwrap();
    assert_eq!(clone.line_at_prompt(&clone.root(), "s", true), "");
    assert_eq!(clone.line_at_start(&clone.root(), "s"), "Wyren: 1 lesson did not help: x.");
    assert_eq!(clone.line_at_start(&clone.root(), "t"), "");
    assert_eq!(notice::told(&paths(&clone), About::Everything, Key::Lessons), "x");
}
