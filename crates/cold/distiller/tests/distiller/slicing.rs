//! Slices: turn numbers, marks, what is shown and what is not.

use std::io::Write as _;

use distiller::{Anchor, Mark, Slice, budget};
use serde_json::json;

use crate::{SESSION, Transcript, conversation};

fn turns(slice: &Slice) -> Vec<u64> {
    slice.messages.iter().map(|message| message.number).collect()
}

fn append(transcript: Transcript, said: &str) -> Transcript {
    transcript.user(said)
}

#[test]
fn turn_numbers_go_on_across_slices() {
    let transcript = conversation(&["one", "two", "three"]);
    let first = transcript.slice();
    assert_eq!(turns(&first), [1, 2, 3]);
    assert_eq!(first.next.message, 3);
    assert_eq!(first.next.uuid.as_deref(), Some("u3"));
    let transcript = append(transcript, "four").assistant("five");
    let second = Slice::read(&transcript.path(), Some(&first.next)).unwrap();
    assert_eq!(turns(&second), [4, 5]);
    assert_eq!(second.anchor, Anchor::Uuid);
    assert!(second.render().starts_with("[turn 4, user]\nfour\n\n[turn 5, assistant]\nfive"));
    let third = Slice::read(&transcript.path(), Some(&second.next)).unwrap();
    assert!(third.is_empty());
    assert_eq!(third.next, second.next);
}

#[test]
fn a_mark_of_the_old_distiller_gets_its_turn_counted() {
    let transcript = conversation(&["one", "two", "three", "four"]);
    let slice = Slice::read(&transcript.path(), Some(&Mark::at("u2"))).unwrap();
    assert_eq!(turns(&slice), [3, 4]);
}

#[test]
fn an_unknown_record_means_since_the_last_known_turn() {
    let transcript = conversation(&["one", "two", "three", "four"]);
    let mark = Mark { uuid: Some("of another session".to_owned()), message: 3, offset: Some(7) };
    let slice = Slice::read(&transcript.path(), Some(&mark)).unwrap();
    assert_eq!(turns(&slice), [4]);
    assert_eq!(slice.anchor, Anchor::Message);
    let beyond = Mark { message: 40, ..mark };
    assert!(Slice::read(&transcript.path(), Some(&beyond)).unwrap().is_empty());
}

#[test]
fn records_without_a_uuid_are_found_by_offset() {
    let line = |text: &str| json!({"type": "user", "message": {"content": text}}).to_string();
    let transcript = Transcript::new().raw(&line("one")).raw(&line("two"));
    let first = transcript.slice();
    assert_eq!(first.next.uuid, None);
    let transcript = transcript.raw(&line("three"));
    let second = Slice::read(&transcript.path(), Some(&first.next)).unwrap();
    assert_eq!((turns(&second), second.anchor), (vec![3], Anchor::Offset));
    let inside_a_line = Mark { offset: Some(5), ..first.next };
    let found = Slice::read(&transcript.path(), Some(&inside_a_line)).unwrap();
    assert_eq!((turns(&found), found.anchor), (vec![3], Anchor::Message));
}

#[test]
fn bookkeeping_after_the_mark_is_not_distilled_again() {
    let transcript =
        conversation(&["one"]).raw(r#"{"type":"user","message":{"content":"typed without uuid"}}"#);
    let first = transcript.slice();
    assert_eq!(turns(&first), [1, 2]);
    let second = Slice::read(&append(transcript, "three").path(), Some(&first.next)).unwrap();
    assert_eq!(turns(&second), [3]);
}

#[test]
fn an_incomplete_last_line_waits_for_its_end() {
    let transcript = conversation(&["one", "two"]);
    let path = transcript.path();
    let whole = json!({"type": "user", "uuid": "u3", "message": {"content": "three"}}).to_string();
    let (half, rest) = whole.split_at(20);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(half.as_bytes()).unwrap();
    let first = Slice::read(&path, None).unwrap();
    assert_eq!(turns(&first), [1, 2]);
    file.write_all(format!("{rest}\n").as_bytes()).unwrap();
    let second = Slice::read(&path, Some(&first.next)).unwrap();
    assert_eq!(turns(&second), [3]);
}

#[test]
fn malformed_lines_are_counted_and_passed_over() {
    let transcript =
        Transcript::new().raw("not json").user("one").raw("{\"half\":").raw("[]").assistant("two");
    let slice = transcript.slice();
    assert_eq!((slice.bad_lines, turns(&slice)), (3, vec![1, 2]));
    let nothing = Transcript::new().raw("x").raw("y").slice();
    assert!(nothing.is_empty());
    assert_eq!(nothing.bad_lines, 2);
}

#[test]
fn tools_are_rendered_and_cut_as_the_old_distiller_did() {
    let transcript = Transcript::new()
        .tool("Edit", json!({"file_path": "a.rs", "new_string": "y".repeat(600)}), &"z".repeat(1_000), false)
        .tool("Bash", json!({"command": "false"}), "Exit code 1", true)
        .record(json!({"type": "user", "message": {"content": [{"type": "text", "text": "see"}, {"type": "image", "source": {}}]}}));
    let rendered = transcript.slice().render();
    assert!(rendered.contains("[turn 1, assistant]\n[tool_use Edit] {\"file_path\":\"a.rs\""), "{rendered}");
    assert!(
        rendered
            .contains(&format!("[turn 2, user]\n[tool_result] {}... [truncated 200 chars]", "z".repeat(800)))
    );
    assert!(rendered.contains("[tool_result ERROR] Exit code 1"));
    assert!(rendered.contains("[turn 5, user]\nsee\n[image omitted]"));
}

#[test]
fn only_messages_of_people_the_model_and_tools_are_shown() {
    let transcript = Transcript::new()
        .record(json!({"type": "user", "isMeta": true, "message": {"content": "injected by the client"}}))
        .record(json!({"type": "attachment", "attachment": {"type": "hook_success", "stdout": "hook says"}}))
        .record(json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["hook context"]}}))
        .user("hello <system-reminder>remember the milk</system-reminder><wyren-context source=\"x\">old memory</wyren-context>")
        .record(json!({"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "secretly"}]}}))
        .record(json!({"type": "assistant", "isSidechain": true, "message": {"content": [{"type": "text", "text": "subagent"}]}}))
        .record(json!({"type": "user", "message": {"content": "<local-command-stdout>Compacted</local-command-stdout>"}}))
        .record(json!({"type": "user", "message": {"content": "<command-name>/compact</command-name><command-args>x</command-args>"}}))
        .record(json!({"type": "user", "message": {"content": "<command-message>fix</command-message><command-name>/fix</command-name><command-args>the bug</command-args>"}}));
    assert_eq!(transcript.slice().render(), "[turn 1, user]\nhello\n\n[turn 2, user]\n/fix the bug");
}

#[test]
fn a_compaction_summary_is_marked_and_earlier_turns_keep_their_numbers() {
    let transcript = conversation(&["one", "two"])
        .record(json!({"type": "system", "subtype": "compact_boundary", "content": "x", "compactMetadata": {"trigger": "auto"}}))
        .record(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Summary: we did things"}}))
        .user("three");
    let rendered = transcript.slice().render();
    assert!(rendered.ends_with(
        "[turn 3, user]\n[compaction summary of earlier turns, nothing new]\nSummary: we did things\n\n[turn 4, user]\nthree"
    ), "{rendered}");
}

#[test]
fn private_text_and_secrets_do_not_reach_the_slice() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let transcript = conversation(&["before <private>the merger</private> after", "ok"])
        .user(&format!("use {token} <private>never closed"))
        .user("<private>all of it</private>")
        .tool("Bash", json!({"command": format!("curl -H 'Authorization: Bearer {token}'")}), &token, false)
        .user("end");
    let slice = transcript.slice();
    let rendered = slice.render();
    for hidden in ["merger", "never closed", "all of it", token.as_str()] {
        assert!(!rendered.contains(hidden), "{hidden} in {rendered}");
    }
    assert!(rendered.contains("before") && rendered.contains("after"));
    // The wholly private message has its number, or the numbers behind it would depend on what is private.
    assert!(rendered.contains("[turn 7, user]\nend") && !rendered.contains("[turn 4,"), "{rendered}");
}

#[test]
fn what_is_typed_during_a_private_turn_lifts_no_privacy() {
    let command = "<command-message>go</command-message><command-name>/go</command-name>";
    for typed in ["go on", command] {
        let queued = json!({"type": "queued_command", "prompt": typed, "commandMode": "prompt"});
        let transcript = conversation(&["open", "ok", "<private>x</private>"])
            .record(json!({"type": "attachment", "attachment": queued}))
            .assistant("The merger it is.")
            .user("<bash-input>ls merger</bash-input>")
            .assistant("Still the merger.");
        let slice = transcript.slice();
        assert!(!slice.render().contains("merger"), "{}", slice.render());
        // What still comes may belong to it.
        let transcript = transcript.assistant("And the merger again.").user("end").assistant("done");
        let rest = Slice::read(&transcript.path(), Some(&slice.next)).unwrap().render();
        assert!(rest.contains("done") && !rest.contains("merger"), "{rest}");
    }
}

#[test]
fn a_private_prompt_with_a_picture_hides_what_is_done_under_it() {
    let content = json!([{"type": "image", "source": {}}, {"type": "text", "text": "<private>x</private>"}]);
    let transcript = conversation(&["open", "ok"])
        .record(json!({"type": "user", "message": {"role": "user", "content": content}}))
        .assistant("The merger it is.")
        .user("end");
    let rendered = transcript.slice().render();
    assert!(rendered.contains("end") && !rendered.contains("merger"), "{rendered}");
}

#[test]
fn a_summary_is_left_out_where_something_before_it_was_private() {
    let summary = json!({"type": "user", "isCompactSummary": true,
        "message": {"role": "user", "content": "They spoke of the merger."}});
    let shown = |said: &[&str]| {
        let transcript = conversation(said).record(summary.clone()).user("go on").assistant("done");
        let since = Slice::read(&conversation(said).path(), None).unwrap().next;
        let (whole, rest) = (transcript.slice(), Slice::read(&transcript.path(), Some(&since)).unwrap());
        [whole, rest].map(|slice| slice.render().contains("merger"))
    };
    assert_eq!(shown(&["open", "ok"]), [true; 2]);
    assert_eq!(shown(&["<private>x</private>", "ok", "open", "ok"]), [false; 2]);
}

#[test]
fn a_prompt_that_was_left_out_hides_what_is_done_under_it() {
    let asked = |id: &str, text: &str| json!({"type": "user", "promptId": id, "message": {"role": "user", "content": text}});
    let transcript = Transcript::new()
        .record(asked("1", "Implement the merger"))
        .assistant("The merger is done.")
        .record(asked("2", "open"))
        .assistant("done");
    let slice = Slice::read_without(&transcript.path(), None, &|id| id == "1").unwrap();
    assert!(slice.render().contains("done") && !slice.render().contains("merger"), "{}", slice.render());
    assert!(transcript.slice().render().contains("merger"));
}

#[test]
fn a_slice_that_is_too_long_ends_early_and_the_next_ones_go_on_until_nothing_is_left() {
    let said: Vec<String> = (1..=60).map(|number| format!("{number} {}", "word ".repeat(1_000))).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let transcript = conversation(&said);
    let mut seen = Vec::new();
    let mut mark = None;
    let mut has_more = true;
    while has_more {
        let slice = Slice::read(&transcript.path(), mark.as_ref()).unwrap();
        assert!(slice.render().chars().count() <= budget::SLICE_CHARS);
        assert_eq!(slice.next.message, *turns(&slice).last().unwrap());
        assert_eq!(slice.left_out, 0);
        seen.extend(turns(&slice));
        has_more = slice.has_more;
        mark = Some(slice.next);
    }
    assert_eq!(seen, (1..=60).collect::<Vec<u64>>());
    assert!(Slice::read(&transcript.path(), mark.as_ref()).unwrap().is_empty());
}

#[test]
fn a_slice_that_is_too_long_goes_on_where_it_ended_without_a_uuid_too() {
    let line = |text: &str| json!({"type": "user", "message": {"content": text}}).to_string();
    let text = "word ".repeat(1_000);
    let transcript = (0..30).fold(Transcript::new(), |transcript, _| transcript.raw(&line(&text)));
    let first = transcript.slice();
    assert!(first.has_more);
    let second = Slice::read(&transcript.path(), Some(&first.next)).unwrap();
    assert_eq!([turns(&first), turns(&second)].concat(), (1..=30).collect::<Vec<u64>>());
}

#[test]
fn tools_are_shed_before_a_slice_ends_and_what_people_said_stays() {
    let mut transcript = Transcript::new().user("the first word of a person").tool(
        "AskUserQuestion",
        json!({"question": format!("which? {}", "q".repeat(200))}),
        &format!("{} the answer of a person", "a".repeat(200)),
        false,
    );
    for _ in 0..200 {
        transcript = transcript.tool("Bash", json!({"command": "x ".repeat(150)}), &"y ".repeat(350), false);
    }
    let slice = transcript.user("the last word of a person").slice();
    assert!(!slice.has_more);
    assert!(slice.left_out > 0);
    let rendered = slice.render();
    assert!(rendered.chars().count() <= budget::SLICE_CHARS);
    for kept in ["the first word", "the answer of a person", "the last word", &"y ".repeat(350)[..699]] {
        assert!(rendered.contains(kept), "{kept}");
    }
}

#[test]
fn a_message_longer_than_a_slice_is_a_slice_of_its_own() {
    let blocks: Vec<_> = (0..20).map(|_| json!({"type": "text", "text": "word ".repeat(1_500)})).collect();
    let transcript = Transcript::new()
        .record(json!({"type": "assistant", "message": {"role": "assistant", "content": blocks}}))
        .user("and then");
    let first = transcript.slice();
    assert_eq!((turns(&first), first.has_more), (vec![1], true));
    let second = Slice::read(&transcript.path(), Some(&first.next)).unwrap();
    assert_eq!((turns(&second), second.has_more), (vec![2], false));
}

#[test]
fn a_transcript_of_two_hundred_turns_ends_with_turn_200() {
    let said: Vec<&str> = (0..200).map(|_| "hello").collect();
    let slice = conversation(&said).slice();
    assert!(slice.render().contains("[turn 200, assistant]"));
    assert_eq!(slice.session, SESSION);
}
