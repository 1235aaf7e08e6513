//! Private keys in PEM armour, whole or cut off, with raw or escaped line breaks.

use super::{Secret, run_end};

const KIND: &str = "private-key";
const DASHES: &[u8] = b"-----";

/// The shortest run of base64 that is taken for a line of a key when no line break says so.
const SHORTEST_LINE: usize = 16;

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
