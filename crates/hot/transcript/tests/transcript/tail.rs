//! The end of a transcript, without the rest.

use std::fs::File;
use std::path::{Path, PathBuf};

use transcript::{Reader, Record, Scope, Since, Slice, tail};

use crate::{sample, transcript_of, uuids_from};

const LAST_UUID: &str = "736e40c0-cc98-4282-9e47-1f2e10c684e5";

#[test]
fn the_last_uuid_and_usage_are_found_behind_bookkeeping() {
    let path = sample("tools_subagent_hookctx.jsonl");
    assert_eq!(tail::last_uuid(&path).unwrap().as_deref(), Some(LAST_UUID));
    let last = tail::last_usage(&path, Scope::Main).unwrap().unwrap();
    assert_eq!(last.usage.context_tokens(), 21_926);
    assert_eq!(last.model.as_deref(), Some("claude-opus-4-8"));
}

#[test]
fn the_last_usage_is_the_main_models() {
    let (_folder, path) = transcript_of(concat!(
        r#"{"type":"assistant","message":{"usage":{"input_tokens":5}}}"#,
        "\n",
        r#"{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":9}}}"#,
        "\n",
        r#"{"type":"assistant","message":{"model":"<synthetic>","usage":{"input_tokens":0}}}"#,
        "\n",
        r#"{"type":"user","message":{"content":"x"},"toolUseResult":{"usage":{"input_tokens":7}}}"#,
        "\n",
        r#"{"type":"assistant","message":{"usage":{"input_tok"#,
    ));
    assert_eq!(tail::last_usage(&path, Scope::Main).unwrap().unwrap().usage.input_tokens, 5);
}

/// Returns the tokens of the last usage in a transcript of these lines.
fn last_tokens(lines: &[&str], scope: Scope) -> Option<u64> {
    let (_folder, path) = transcript_of(&(lines.join("\n") + "\n"));
    tail::last_usage(&path, scope).unwrap().map(|last| last.usage.context_tokens())
}

/// Returns a message of the model's with a call whose input has this many bytes, as the client writes it.
fn message_with_input(bytes: usize, tokens: u64) -> String {
    let input = r#"\"usage\":{}"#.repeat(bytes / 13);
    format!(
        r#"{{"isSidechain":false,"message":{{"id":"m","content":[{{"type":"tool_use","input":{{"usage":{{"input_tokens":1}},"content":"{input}"}}}}],"usage":{{"input_tokens":{tokens},"iterations":[]}},"stop_details":null}},"requestId":"r","type":"assistant","uuid":"u"}}"#
    )
}

#[test]
fn a_subagents_own_file_has_a_usage_of_its_own() {
    let inside = r#"{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":9}}}"#;
    assert_eq!(last_tokens(&[inside], Scope::Subagent), Some(9));
    assert_eq!(last_tokens(&[inside], Scope::Main), None);
}

#[test]
fn the_blocks_of_one_message_are_not_added_up() {
    let block = |output: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","usage":{{"input_tokens":100,"output_tokens":{output}}}}}}}"#
        )
    };
    assert_eq!(last_tokens(&[&block(1), &block(1), &block(40)], Scope::Main), Some(140));
}

#[test]
fn a_message_longer_than_what_is_read_has_its_usage_at_its_end() {
    assert_eq!(last_tokens(&["{}", &message_with_input(200_000, 777)], Scope::Main), Some(777));
    assert_eq!(last_tokens(&[&message_with_input(10_000, 777), "{}"], Scope::Main), Some(777));
}

#[test]
fn the_usage_in_a_long_result_is_not_the_windows() {
    let output = "x".repeat(200_000);
    let result = format!(
        r#"{{"type":"user","message":{{"content":"{output}"}},"toolUseResult":{{"usage":{{"input_tokens":7}},"a":1}},"uuid":"u"}}"#
    );
    assert_eq!(last_tokens(&[&message_with_input(100, 777), &result], Scope::Main), None);
    let half = &message_with_input(200_000, 777);
    assert_eq!(last_tokens(&["{}", &half[..half.len() - 9]], Scope::Main), None);
}

#[test]
fn what_was_used_before_a_compaction_does_not_count() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}"#;
    let message = message_with_input(100, 777);
    assert_eq!(last_tokens(&[&message, boundary], Scope::Main), None);
    assert_eq!(last_tokens(&[&message, boundary, &message_with_input(9, 30)], Scope::Main), Some(30));
    // Text about a compaction is none.
    let about = r#"{"type":"user","message":{"content":"compact_boundary"}}"#;
    assert_eq!(last_tokens(&[&message, about], Scope::Main), Some(777));
}

const PROMPT: &str = r#"{"type":"user","message":{"content":"do it"}}"#;
const REPLY: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"It is done."}]}}"#;

/// Returns what the model said last in a transcript of these lines.
fn last_reply(lines: &[&str]) -> Option<String> {
    let (_folder, path) = transcript_of(lines.join("\n") + "\n");
    tail::last_reply(&path).unwrap()
}

#[test]
fn the_last_reply_is_the_main_models_in_this_turn() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    let subagent =
        r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"Seen."}]}}"#;
    let made_up = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}"#;
    let note = r#"{"type":"system","subtype":"turn_duration"}"#;
    assert_eq!(last_reply(&[PROMPT, REPLY]).as_deref(), Some("It is done."));
    assert_eq!(
        last_reply(&[PROMPT, REPLY, call, subagent, made_up, note, "torn"]).as_deref(),
        Some("It is done.")
    );
    assert_eq!(last_reply(&[PROMPT, REPLY, PROMPT, call]), None, "that was the turn before");
    assert_eq!(last_reply(&[]), None);
}

#[test]
fn the_last_reply_is_looked_for_in_the_tail_alone() {
    let far = transcript::budget::MAX_TAIL_BYTES as usize;
    let result = |bytes: usize| {
        let output = "x".repeat(bytes);
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{output}"}}]}}}}"#
        )
    };
    assert_eq!(last_reply(&[PROMPT, REPLY, &result(far / 2)]).as_deref(), Some("It is done."));
    assert_eq!(last_reply(&[PROMPT, REPLY, &result(far)]), None);
    assert_eq!(last_reply(&[&result(far), REPLY]).as_deref(), Some("It is done."));
}

#[test]
fn spaces_between_tokens_make_no_difference() {
    let (_folder, path) = transcript_of(concat!(
        r#"{ "type" : "assistant", "uuid" : "a", "message" : { "usage" : { "input_tokens" : 5 } } }"#,
        "\n",
        r#"{ "uuid" : "b" }"#,
        "\n",
    ));
    assert_eq!(tail::last_uuid(&path).unwrap().as_deref(), Some("b"));
    assert_eq!(tail::last_usage(&path, Scope::Main).unwrap().unwrap().usage.input_tokens, 5);
    assert_eq!(uuids_from(&path, tail::offset_after(&path, "a").unwrap().unwrap()), ["b"]);
}

#[test]
fn an_empty_transcript_has_no_last_anything() {
    let (_folder, path) = transcript_of("");
    assert_eq!(tail::last_uuid(&path).unwrap(), None);
    assert_eq!(tail::last_usage(&path, Scope::Main).unwrap(), None);
    assert_eq!(tail::offset_of_last_turns(&path, 3, Scope::Main).unwrap(), 0);
    assert!(matches!(Slice::since(&path, "a").unwrap(), Since::Unknown));
}

#[test]
fn since_is_exclusive_and_an_unknown_uuid_is_not_the_whole_file() {
    let (_folder, path) =
        transcript_of("{\"uuid\":\"a\"}\n{\"uuid\":\"b\",\"parentUuid\":\"a\"}\nbad\n{\"uuid\":\"c\"}");
    let since = |uuid: &str| match Slice::since(&path, uuid).unwrap() {
        Since::Found(slice) => {
            Some(slice.records().map(|record| record.uuid.unwrap().into_owned()).collect::<Vec<_>>())
        }
        Since::Unknown => None,
    };
    assert_eq!(since("a").unwrap(), ["b", "c"]);
    assert_eq!(since("c").unwrap(), [""; 0]);
    assert_eq!(since("parent"), None);
    assert_eq!(since(""), None);
    assert_eq!(since("a\"}\n"), None);
}

#[test]
fn a_uuid_inside_a_record_is_not_the_records_own() {
    let (_folder, path) = transcript_of(concat!(
        r#"{"uuid":"a"}"#,
        "\n",
        r#"{"uuid":"b","toolUseResult":{"uuid":"a"}}"#,
        "\n",
        r#"{"uuid":"c","message":{"content":"\"uuid\":\"a\""}}"#,
        "\n",
    ));
    assert_eq!(uuids_from(&path, tail::offset_after(&path, "a").unwrap().unwrap()), ["b", "c"]);
}

#[test]
fn every_record_of_a_sample_is_found_from_the_end() {
    let path = sample("interactive_manual_compact.jsonl");
    let all = uuids_from(&path, 0);
    for (index, uuid) in all.iter().enumerate() {
        let offset = tail::offset_after(&path, uuid).unwrap().unwrap();
        assert_eq!(uuids_from(&path, offset), all[index + 1..], "{uuid}");
    }
}

#[test]
fn the_last_turns_begin_at_their_prompt() {
    let path = sample("interactive_manual_compact.jsonl");
    let first_prompt = |count| {
        let slice = Slice::last_turns(&path, count, Scope::Main).unwrap();
        let mut conversation = transcript::Conversation::new(Scope::Main);
        let record = slice.records().next().unwrap();
        let act = conversation.steps(&record).next().unwrap().act;
        (format!("{act:?}"), slice.end())
    };
    let end = std::fs::metadata(&path).unwrap().len();
    assert_eq!(first_prompt(2), (r#"Prompt { text: "fourth prompt", images: 0 }"#.to_owned(), end));
    assert!(first_prompt(1).0.starts_with(r#"Command { name: "/probe:probe-skill""#));
    assert_eq!(tail::offset_of_last_turns(&path, 0, Scope::Main).unwrap(), end);
    assert_eq!(tail::offset_of_last_turns(&path, 99, Scope::Main).unwrap(), 0);
}

#[test]
fn a_slice_tells_what_it_left_out() {
    let (_folder, path) = transcript_of("{\"uuid\":\"a\"}\nbad\n{\"uuid\":\"b\"}\n{\"half");
    let slice = Slice::read(&path, 0).unwrap();
    assert_eq!((slice.records().count(), slice.bad_lines(), slice.overlong_lines()), (2, 1, 0));
    assert_eq!((slice.start(), slice.end()), (0, 30));
    assert_eq!(Slice::last_records(&path, 1).unwrap().start(), 17);
}

/// Writes a transcript whose first 64 GiB are a hole; nothing that read them would come back within a test.
#[cfg(unix)]
fn huge_transcript() -> (tempfile::TempDir, PathBuf) {
    use std::os::unix::fs::FileExt;
    const HOLE: u64 = 64 * 1024 * 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.jsonl");
    let file = File::create(&path).unwrap();
    file.set_len(HOLE).unwrap();
    let mut text = "\n".to_owned();
    for turn in 0..12 {
        text += &format!(
            "{{\"type\":\"user\",\"uuid\":\"p{turn}\",\"message\":{{\"content\":\"prompt {turn}\"}}}}\n"
        );
        let long = "x".repeat(100_000);
        text += &format!(
            "{{\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{long}\"}}],\"usage\":{{\"input_tokens\":{turn}}}}},\"type\":\"assistant\",\"uuid\":\"r{turn}\"}}\n"
        );
    }
    file.write_all_at(text.as_bytes(), HOLE).unwrap();
    (folder, path)
}

#[cfg(unix)]
#[test]
fn a_huge_transcript_costs_only_its_tail() {
    let (_folder, path) = huge_transcript();
    assert_eq!(tail::last_uuid(&path).unwrap().as_deref(), Some("r11"));
    assert_eq!(tail::last_usage(&path, Scope::Main).unwrap().unwrap().usage.input_tokens, 11);
    assert_eq!(first_uuid(&path, tail::offset_of_last_records(&path, 3).unwrap()), "r10");
    assert_eq!(first_uuid(&path, tail::offset_of_last_turns(&path, 10, Scope::Main).unwrap()), "p2");
    assert_eq!(first_uuid(&path, tail::offset_after(&path, "p2").unwrap().unwrap()), "r2");
}

#[cfg(unix)]
fn first_uuid(path: &Path, offset: u64) -> String {
    let mut first = None;
    Reader::new()
        .read(path, offset, |_, record| {
            first.get_or_insert_with(|| record.uuid.as_deref().unwrap().to_owned());
        })
        .unwrap();
    first.unwrap()
}

#[test]
fn what_is_typed_during_a_turn_is_its_prompt_only_where_it_covers_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    let prompt = |text: &str| serde_json::json!({"type": "user", "uuid": "u", "promptId": "p", "message": {"role": "user", "content": text}});
    let typed = |text: &str| {
        serde_json::json!({"type": "attachment", "uuid": "a",
            "attachment": {"type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": {"kind": "human"}}})
    };
    let before = |lines: &[serde_json::Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, &text).unwrap();
        let covers = |_: &Record<'_>, typed: &str| typed == "hidden";
        tail::prompt_before(&file, text.len() as u64, covers).unwrap().unwrap()
    };
    let found = |text: &str, covers| (text.to_owned(), covers);
    assert_eq!(before(&[prompt("one"), typed("go on")]), found("one", false));
    assert_eq!(before(&[prompt("one"), typed("hidden"), typed("go on")]), found("hidden", true));
    assert_eq!(before(&[prompt("one"), typed("hidden"), prompt("two")]), found("two", false));
}
