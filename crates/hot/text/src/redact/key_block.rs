//! Private keys in PEM armour, whole or cut off at either end, with raw or escaped line breaks; keys of PuTTY.

use super::{Secret, run_end};

const KIND: &str = "private-key";
const DASHES: &[u8] = b"-----";

/// The shortest run of base64 that is taken for a line of a key when no line break says so.
const SHORTEST_LINE: usize = 16;

/// The longest line of a key that is looked for.
const LONGEST_LINE: usize = 4096;

/// The longest label (`ENCRYPTED PRIVATE KEY`) that is looked for.
const LONGEST_LABEL: usize = 64;

/// Returns the private key whose first dashes end at `dashes_end`, and whether a quote interrupted it.
///
/// A key without its last line goes on to the end of the text: a truncated key is still most of a key.
pub(super) fn at(text: &[u8], dashes_end: usize) -> Option<(Secret, bool)> {
    let rest = &text[dashes_end..];
    if !rest.starts_with(b"BEGIN ") || !text[..dashes_end].ends_with(DASHES) {
        return None;
    }
    let label = &rest[..run_end(rest, 0, is_label).min(LONGEST_LABEL)];
    if !super::value::contains(label, "PRIVATE KEY") || !rest[label.len()..].starts_with(DASHES) {
        return None;
    }
    let body = dashes_end + label.len() + DASHES.len();
    if !starts_key(&text[body..]) {
        return None;
    }
    let (end, interrupted) = end(text, body);
    Some((Secret { start: dashes_end - DASHES.len(), end, kind: KIND }, interrupted))
}

/// Returns the next line of an interrupted key: `"-----BEGIN PRIVATE KEY-----\n" + "MIIE…"`.
pub(super) fn next_line(text: &[u8], from: usize) -> Option<Secret> {
    let mut start = from;
    loop {
        match text.get(start)? {
            b'\\' if matches!(text.get(start + 1), Some(b'n' | b'r')) => start += 2,
            b'"' | b'\'' | b'\\' | b'+' | b',' | b'.' | b' ' | b'\t' | b'\r' | b'\n' => start += 1,
            _ => break,
        }
    }
    let end = run_end(text, start, is_base64);
    let line = &text[start..end.min(start + super::value::SAMPLE)];
    // A number between two strings of a JSON array is no line of a key.
    (line.len() >= SHORTEST_LINE && line.iter().any(u8::is_ascii_uppercase)).then_some(Secret {
        start,
        end,
        kind: KIND,
    })
}

/// Returns the rest of a private key whose beginning is missing, when the dashes `start..dashes_end` are those of its last
/// line: every line of base64 before, but nothing before `floor`.
pub(super) fn tail(text: &[u8], floor: usize, start: usize, dashes_end: usize) -> Option<Secret> {
    let rest = &text[dashes_end..];
    if !rest.starts_with(b"END ") || dashes_end - start < DASHES.len() {
        return None;
    }
    let label = &rest[..run_end(rest, 0, is_label).min(LONGEST_LABEL)];
    if !super::value::contains(label, "PRIVATE KEY") || !rest[label.len()..].starts_with(DASHES) {
        return None;
    }
    let mut first = start;
    let mut longest = 0;
    while first > floor {
        let break_start = before_break(text, floor, first);
        if break_start == first && first != start {
            break;
        }
        let line_start = break_start
            - text[floor..break_start]
                .iter()
                .rev()
                .take(LONGEST_LINE)
                .take_while(|&&byte| is_base64(byte))
                .count();
        // In a string the `n` of an escaped line break is no part of the line.
        let line_start = line_start
            + usize::from(
                line_start > 0 && text[line_start - 1] == b'\\' && matches!(text[line_start], b'n' | b'r'),
            );
        let is_last = first == start;
        let begins = line_start == floor
            || before_break(text, floor, line_start) < line_start
            || matches!(text[line_start - 1], b'"' | b'\'' | b'`');
        let length = break_start - line_start;
        if !begins || length == 0 || (length < SHORTEST_LINE && !is_last) {
            break;
        }
        longest = longest.max(length);
        first = line_start;
    }
    let end = dashes_end + label.len() + DASHES.len();
    (longest >= SHORTEST_LINE).then_some(Secret { start: first, end, kind: KIND })
}

/// Returns where the line break begins that ends at `at`, or `at`: raw or escaped, with indentation after it.
fn before_break(text: &[u8], floor: usize, at: usize) -> usize {
    let indentation =
        text[floor..at].iter().rev().take(64).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut start = at - indentation;
    loop {
        let before = match &text[floor..start] {
            [.., b'\n' | b'\r'] => 1,
            [.., b'\\', b'n' | b'r'] => {
                1 + text[floor..start - 1].iter().rev().take(8).take_while(|&&byte| byte == b'\\').count()
            }
            _ => 0,
        };
        if before == 0 {
            return if start == at - indentation { at } else { start };
        }
        start -= before;
    }
}

/// Returns the lines of base64 after `Private-Lines: 14` in a file of PuTTY, whose name ends at `end`.
pub(super) fn putty(text: &[u8], end: usize) -> Option<Secret> {
    if !text[..end].ends_with(b"Private-Lines") || !text[end..].starts_with(b": ") {
        return None;
    }
    let count_end = run_end(&text[..text.len().min(end + 8)], end + 2, |byte| byte.is_ascii_digit());
    let start = super::line_break(text, count_end)?;
    let mut at = run_end(text, start, is_base64);
    while let Some(next) = super::line_break(text, at) {
        let line_end = run_end(text, next, is_base64);
        let is_line =
            line_end > next && super::line_break(text, line_end).is_some() || line_end == text.len();
        if !is_line || line_end == next {
            break;
        }
        at = line_end;
    }
    (at - start >= SHORTEST_LINE).then_some(Secret { start, end: at, kind: KIND })
}

/// Returns whether what follows the first line is a key rather than the end of a sentence about keys.
fn starts_key(body: &[u8]) -> bool {
    let body = &body[run_end(body, 0, |byte| matches!(byte, b' ' | b'\t')).min(SHORTEST_LINE)..];
    let line_break = body.first().is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
    let escaped_break = {
        let backslashes = run_end(body, 0, |byte| byte == b'\\');
        backslashes > 0 && matches!(body.get(backslashes), Some(b'n' | b'r'))
    };
    line_break
        || escaped_break
        || (body.len() >= SHORTEST_LINE && body[..SHORTEST_LINE].iter().all(|&byte| is_base64(byte)))
}

/// Returns where the key ends, and whether that is at a quote before its last line.
fn end(text: &[u8], body: usize) -> (usize, bool) {
    let mut at = body;
    while let Some(found) = memchr::memchr2(b'"', b'-', &text[at..]) {
        let found = at + found;
        if text[found] == b'"' {
            let backslashes = text[body..found].iter().rev().take_while(|&&byte| byte == b'\\').count();
            return (found - backslashes, true);
        }
        if text[found..].starts_with(b"-----END ") {
            let label_end = run_end(text, found + DASHES.len(), is_label);
            return (run_end(text, label_end, |byte| byte == b'-'), false);
        }
        at = found + 1;
    }
    (text.len(), false)
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
