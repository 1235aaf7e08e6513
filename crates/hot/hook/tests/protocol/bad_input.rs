//! Bad input gives the hook's silent answer and a line in the log.

use crate::{host, log_lines, respond, respond_silently};
use hook::{PreToolUse, SessionStart};

#[track_caller]
fn check(input: impl Into<Vec<u8>>, expected_reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    assert_eq!(respond::<PreToolUse>(input.into(), &host), "{}\n");
    let lines = log_lines(&host);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["level"], "warn");
    let message = lines[0]["msg"].as_str().unwrap();
    assert!(message.starts_with("bad input: ") && message.contains(expected_reason), "{message}");
}

#[test]
fn nothing_and_what_is_not_an_object() {
    check("", "empty");
    check(" \n\t ", "empty");
    check("null", "invalid type: null");
    check("[]", "");
    check("[1, 2]", "invalid type");
    check("42", "invalid type: integer");
    check("\"text\"", "invalid type: string");
    check("true", "invalid type: boolean");
}

#[test]
fn numbers_where_strings_belong() {
    check(r#"{"session_id": 5}"#, "invalid type: integer");
    check(r#"{"session_id": "s", "tool_name": ["Bash"]}"#, "invalid type: sequence");
    check(r#"{"cwd": {"a": 1}}"#, "invalid type: map");
}

#[test]
fn truncated_and_trailing_text() {
    check(r#"{"session_id": "s", "tool_name": "Ba"#, "EOF");
    check(r#"{"session_id": "s"} {"session_id": "t"}"#, "trailing");
    check("not json", "expected");
}

#[test]
fn invalid_utf8_and_a_byte_order_mark() {
    check(b"{\"session_id\": \"\xff\xfe\"}".to_vec(), "invalid unicode");
    check(b"\xef\xbb\xbf{\"session_id\": \"s\"}".to_vec(), "expected value");
}

#[test]
fn three_thousand_levels() {
    check("[".repeat(3_000), "");
    check("{\"cwd\":".repeat(3_000), "");
}

#[test]
fn another_event() {
    check(r#"{"hook_event_name": "Stop"}"#, "the event is \"Stop\", not \"PreToolUse\"");
}

#[test]
fn the_log_does_not_repeat_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    respond::<PreToolUse>(
        br#"{"tool_input": {}, "is": 1, "tool_name": "Bash", "tool_name": "secret"}"#.to_vec(),
        &host,
    );
    respond::<PreToolUse>(b"\"a very private text\"".to_vec(), &host);
    let log = std::fs::read_to_string(host.paths.hook_log()).unwrap();
    assert!(!log.contains("private") && !log.contains("secret"), "{log}");
}

#[test]
fn depth_inside_a_tools_input_is_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let deep = format!(r#"{{"tool_name":"Bash","tool_input":{}1{}}}"#, "[".repeat(3_000), "]".repeat(3_000));
    assert!(respond::<PreToolUse>(deep.into_bytes(), &host).contains("additionalContext"));
}

#[test]
fn fifty_megabytes_of_text_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let mut input = br#"{"tool_name":"Write","tool_input":{"content":""#.to_vec();
    input.resize(50 * 1024 * 1024, b'x');
    input.extend(br#""}}"#);
    assert!(respond::<PreToolUse>(input.clone(), &host).contains("additionalContext"));
    input.truncate(input.len() - 3);
    assert_eq!(respond::<PreToolUse>(input, &host), "{}\n");
    assert_eq!(respond_silently::<SessionStart>(vec![b'x'; 50 * 1024 * 1024], &host), "{}\n");
}
