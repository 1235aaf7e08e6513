//! News that arrives during a turn: told beside a tool's result, once per turn, and never lost.

use crate::support::{Clone, memory};
use serde_json::{Value, json};

fn call(clone: &Clone) -> Value {
    json!({"session_id": "s", "prompt_id": "p1", "cwd": clone.root()})
}

/// Makes a clone whose session `s` has begun with one decision.
fn begun() -> Clone {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    clone
}

#[test]
fn what_arrives_during_a_turn_comes_with_the_next_tool_result_once() {
    let clone = begun();
    assert_eq!(clone.tool("s", "p1"), "");
    clone.arrive(&["a", "b"]);
    let told = clone.tool("s", "p1");
    assert!(told.contains("### New in Decisions\n- b\n") && !told.contains("- a\n"), "{told}");
    assert!(!clone.has_note("s"));
    assert_eq!((clone.tool("s", "p1"), clone.prompt("s"), clone.tool("s", "p2")), Default::default());
    let log = clone.read(".wyren/log");
    assert!(log.ends_with("] [ups] injection: post-tool-use\n"), "{log}");
}

#[test]
fn without_a_note_a_tool_call_reads_nothing_and_the_prompt_tells() {
    let clone = begun();
    clone.decide(&["a", "b"]);
    assert_eq!(clone.tool("s", "p1"), "");
    assert!(clone.prompt("s").contains("- b\n"));
}

#[test]
fn a_turn_gets_news_once_and_the_rest_comes_with_the_next_prompt() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    assert!(clone.tool("s", "p1").contains("- b\n"));
    clone.arrive(&["a", "b", "c"]);
    assert_eq!((clone.tool("s", "p1"), clone.tool("s", "p1")), Default::default());
    let told = clone.prompt("s");
    assert!(told.contains("- c\n") && !told.contains("- b\n"), "{told}");
    assert!(!clone.has_note("s"));
    // The next turn has its own.
    clone.arrive(&["a", "b", "c", "d"]);
    assert!(clone.tool("s", "p2").contains("- d\n"));
}

#[test]
fn a_turn_whose_prompt_had_news_still_gets_what_arrives_later() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    assert!(clone.prompt("s").contains("- b\n"));
    assert_eq!(clone.tool("s", "p1"), "", "the prompt took the note");
    clone.arrive(&["a", "b", "c"]);
    assert!(clone.tool("s", "p1").contains("- c\n"));
}

#[test]
fn a_client_that_names_no_prompt_gets_news_whenever_something_arrives() {
    let clone = begun();
    for decisions in [&["a", "b"][..], &["a", "b", "c"]] {
        clone.arrive(decisions);
        let call = json!({"session_id": "s", "cwd": clone.root()});
        assert!(clone.tool_with(call.clone()).contains("### New in Decisions"));
        assert_eq!(clone.tool_with(call), "");
    }
}

#[test]
fn a_subagent_is_not_told_and_takes_nothing_from_the_main_window() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    let mut inside = call(&clone);
    inside["agent_id"] = json!("agent");
    assert_eq!(clone.tool_with(inside), "");
    assert!(clone.has_note("s"));
    assert!(clone.tool("s", "p1").contains("- b\n"));
}

#[test]
fn every_session_of_the_clone_gets_the_news_and_no_other() {
    let clone = begun();
    clone.start("t", "startup");
    clone.arrive(&["a", "b"]);
    assert_eq!(clone.tool("unknown", "p"), "");
    assert!(clone.tool("s", "p1").contains("- b\n"));
    assert!(clone.tool("t", "p1").contains("- b\n"));
}

#[test]
fn a_call_in_a_folder_without_a_memory_leaves_the_note_for_the_clone_that_it_is_about() {
    let (clone, other) = (begun(), Clone::new(&["x"]));
    clone.arrive(&["a", "b"]);
    let elsewhere = tempfile::tempdir().unwrap();
    for cwd in [elsewhere.path().to_owned(), other.root()] {
        assert_eq!(clone.tool_with(json!({"session_id": "s", "prompt_id": "p1", "cwd": cwd})), "");
        assert!(clone.has_note("s"));
    }
    assert!(clone.tool("s", "p1").contains("- b\n"));
}

#[test]
fn what_the_session_decided_itself_is_no_news_and_leaves_the_turn_its_own() {
    let clone = begun();
    clone.arrive(&["a", "mine [session s, turn 1, by Ada, 2026-11-16]"]);
    assert_eq!(clone.tool("s", "p1"), "");
    assert!(!clone.has_note("s"));
    clone.arrive(&["a", "mine [session s, turn 1, by Ada, 2026-11-16]", "b"]);
    assert!(clone.tool("s", "p1").contains("- b\n"));
}

#[test]
fn a_process_that_is_killed_before_its_answer_loses_nothing() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    clone.tool_killed(call(&clone));
    // The note is gone with it, the news is not: with the next note or the next prompt it comes.
    assert_eq!(clone.tool("s", "p1"), "");
    assert!(clone.prompt("s").contains("- b\n"));
    clone.arrive(&["a", "b", "c"]);
    clone.tool_killed(call(&clone));
    clone.arrive(&["a", "b", "c", "d"]);
    let told = clone.tool("s", "p1");
    assert!(told.contains("- c\n- d\n") && !told.contains("- b\n"), "{told}");
}

#[test]
fn of_calls_that_end_at_the_same_moment_one_tells() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    let host = clone.host("context-monitor");
    let first = clone.tool_response(&host, call(&clone));
    assert!(!first.stdout.is_empty());
    // More arrives before the first has written its answer.
    clone.arrive(&["a", "b", "c"]);
    assert_eq!(clone.tool("s", "p1"), "");
    first.claims.into_iter().for_each(hook::Claim::confirm);
    first.afterwards.into_iter().for_each(|task| hook::finish(task, &host));
    assert_eq!(clone.tool("s", "p1"), "");
    let told = clone.prompt("s");
    assert!(told.contains("- c\n") && !told.contains("- b\n"), "{told}");
}

#[test]
fn a_long_change_is_cut_to_two_thousand_bytes_and_the_prompts_tell_the_rest() {
    let clone = begun();
    let many: Vec<String> = (0..60).map(|number| format!("decision {number}: {}", "x".repeat(100))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    clone.arrive(&many);
    let during = clone.tool("s", "p1");
    assert!(!during.is_empty() && during.len() <= 2_000, "{}", during.len());
    assert!(during.contains("follow with the next prompt"), "{during}");
    let mut told = vec![during];
    while told.last().is_some_and(|text| !text.is_empty()) {
        told.push(clone.prompt("s"));
    }
    let told = told.concat();
    for decision in many {
        assert_eq!(told.matches(&format!("- {decision}\n")).count(), 1, "{decision}");
    }
    assert_eq!(told.matches("### Removed").count(), 1, "{told}");
}

#[test]
fn a_short_broadcast_comes_during_the_turn_and_a_long_one_whole_with_the_prompt() {
    let clone = begun();
    clone.write(".wyren/broadcast/freeze.md", "No deploys today.\n");
    clone.write(".wyren/broadcast/long.md", "line\n".repeat(500));
    clone.announce();
    let told = clone.tool("s", "p1");
    assert!(told.contains("No deploys today.") && !told.contains("long.md"), "{told}");
    assert!(told.contains("1 more changes of broadcast and lessons follow with the next prompt"), "{told}");
    let told = clone.prompt("s");
    assert_eq!(told.matches("line\n").count(), 500, "{told}");
    assert!(!told.contains("No deploys today."), "{told}");
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_session_that_begins_anew_has_seen_all() {
    let clone = begun();
    clone.arrive(&["a", "b"]);
    assert!(clone.start("s", "compact").contains("- b\n"));
    assert!(!clone.has_note("s"));
    clone.announce();
    assert_eq!((clone.tool("s", "p1"), clone.has_note("s")), (String::new(), false));
    assert_eq!(clone.read(".wyren/memory.md"), memory(&["a", "b"]));
}
