//! Makes a value fit to be kept: private text out, large texts cut, secrets out — in this order, so that a 10 MB value
//! costs little more than reading it, and no half of a secret survives at a cut.
//!
//! JSON goes in and comes out as text and is never built up in memory: strings are found, cut and joined where they
//! stand. What is inside a JSON string stays escaped throughout.

use crate::observation::Fields;
use memchr::memmem;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Write as _;
use text::bytes::find;
use text::{privacy, redact};
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes that one text keeps.
pub const MAX_TEXT_BYTES: usize = 16 * 1024;
/// The most bytes that one JSON value keeps in all.
pub const MAX_VALUE_BYTES: usize = 128 * 1024;
/// The most levels of arrays and objects that a value keeps; SQLite reads 1000. A value that is too short to have more
/// than those is not looked at.
const MAX_LEVELS: usize = 200;
/// How much of a cut text is its beginning, and how much its end.
const HEAD_BYTES: usize = 10 * 1024;
const TAIL_BYTES: usize = 4 * 1024;
/// A text of at least this length that begins like Base64 is data, not text.
const BINARY_BYTES: usize = 1_024;

/// Returns a text without what is private, not longer than [`MAX_TEXT_BYTES`], without known secrets.
pub fn text(text: &str) -> Cow<'_, str> {
    let kept = match privacy::strip(text).text {
        Cow::Borrowed(text) => cut(text),
        Cow::Owned(text) => Cow::Owned(cut(&text).into_owned()),
    };
    redacted(kept)
}

/// Returns a text as [`text`] does, but whole up to `most` bytes: one that is worth more than its beginning and its end.
pub fn long_text(text: &str, most: usize) -> Cow<'_, str> {
    let kept = privacy::strip(text).text;
    let kept = if kept.len() > most { Cow::Owned(cut(&kept).into_owned()) } else { kept };
    redacted(kept)
}

/// Returns a JSON value treated alike: every text in it is cut by itself, and the whole is at most
/// [`MAX_VALUE_BYTES`] long. What goes in must be valid JSON; what comes out is.
pub fn json(raw: &str) -> Cow<'_, str> {
    if raw.len() <= BINARY_BYTES && !privacy::may_have_tag(raw) && !raw.contains("\\u") {
        return redact::redact(raw);
    }
    let (shrunk, levels) = shrink_strings(raw);
    if shrunk.len() > MAX_VALUE_BYTES || levels > MAX_LEVELS {
        // Too many small parts, or one in another: the value is kept as the beginning and the end of its text.
        let whole = redacted(cut(&shrunk));
        return Cow::Owned(serde_json::to_string(&*whole).unwrap_or_else(|_| "null".to_owned()));
    }
    redacted(shrunk)
}

/// The contents that a file tool repeats in its response, by their names there and in its input.
const COPIES: [(&str, &str); 3] =
    [("content", "content"), ("oldString", "old_string"), ("newString", "new_string")];
/// The file as it was before; the patch in the response says what changed.
const ORIGINAL: &str = "originalFile";

/// Returns a tool's response as [`json`] does, without the contents that its input has already, and without the file as
/// it was before.
pub fn response<'a>(tool: &str, input: Option<&str>, output: &'a str) -> Cow<'a, str> {
    if !matches!(tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit") {
        return json(output);
    }
    let Some(mut fields) = Fields::read(output) else { return json(output) };
    let input = input.and_then(Fields::read).unwrap_or_default();
    fields.retain(|name, value| {
        let copy = COPIES.iter().find(|(response, _)| *response == name);
        let is_copy = |sent: &RawValue| sent.get() == value.get();
        name != ORIGINAL && !copy.is_some_and(|(_, sent)| input.get(sent).is_some_and(is_copy))
    });
    Cow::Owned(json(&fields.json()).into_owned())
}

fn redacted(text: Cow<'_, str>) -> Cow<'_, str> {
    match redact::redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => Cow::Owned(redacted),
    }
}

/// Treats every string of a JSON text; returns also how many levels it has.
fn shrink_strings(raw: &str) -> (Cow<'_, str>, usize) {
    let bytes = raw.as_bytes();
    let mut shrunk = String::new();
    // Everything before this is in `shrunk`, or nothing had to be changed yet.
    let mut copied = 0;
    let mut at = 0;
    let mut levels = Levels::default();
    while let Some(quote) = find(b'"', &bytes[at..]) {
        let start = at + quote + 1;
        levels.pass(&bytes[at..start]);
        let end = string_end(bytes, start);
        if let Cow::Owned(string) = shrink_string(&raw[start..end]) {
            shrunk.push_str(&raw[copied..start]);
            shrunk.push_str(&string);
            copied = end;
        }
        at = (end + 1).min(bytes.len());
    }
    levels.pass(&bytes[at..]);
    if copied == 0 {
        return (Cow::Borrowed(raw), levels.most);
    }
    shrunk.push_str(&raw[copied..]);
    (Cow::Owned(shrunk), levels.most)
}

/// How deep a JSON text is nested.
#[derive(Default)]
struct Levels {
    now: usize,
    most: usize,
}

impl Levels {
    /// Goes on over what is between two strings.
    fn pass(&mut self, between: &[u8]) {
        for byte in between {
            match byte {
                b'[' | b'{' => {
                    self.now += 1;
                    self.most = self.most.max(self.now);
                }
                b']' | b'}' => self.now = self.now.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// Returns where the string that begins at `start` ends: the place of its closing quote.
///
/// A quote is a rarer sight than a backslash, so quotes are looked for, and what is before them only then.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = find(b'"', &bytes[at..]) {
        let quote = at + found;
        let backslashes = bytes[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return quote;
        }
        at = quote + 1;
    }
    bytes.len()
}

/// Shrinks the text between the quotes of a JSON string.
fn shrink_string(escaped: &str) -> Cow<'_, str> {
    if escaped.len() <= BINARY_BYTES && !escaped.contains('\\') && !privacy::may_have_tag(escaped) {
        return Cow::Borrowed(escaped);
    }
    // A tag could hide behind escapes; then the string is written without them.
    if hides_bracket(escaped.as_bytes())
        && let Ok(text) = serde_json::from_str::<String>(&format!("\"{escaped}\""))
        && matches!(privacy::strip(&text).text, Cow::Owned(_))
    {
        let stripped = privacy::strip(&text).text;
        let encoded = serde_json::to_string(&*stripped).unwrap_or_else(|_| "\"\"".to_owned());
        let inside = encoded.get(1..encoded.len() - 1).unwrap_or_default();
        return Cow::Owned(cut(inside).into_owned());
    }
    match privacy::strip(escaped).text {
        Cow::Borrowed(text) => cut(text),
        Cow::Owned(text) => Cow::Owned(cut(&text).into_owned()),
    }
}

/// Returns whether a text of JSON has a character escaped that a tag could begin with.
fn hides_bracket(escaped: &[u8]) -> bool {
    /// `<`, its wide and its small form, and the `&` of an entity.
    const BRACKETS: [&[u8]; 4] = [b"003c", b"ff1c", b"fe64", b"0026"];
    memmem::find_iter(escaped, b"\\u").any(|at| {
        let digits = escaped.get(at + 2..at + 6);
        digits.is_some_and(|digits| BRACKETS.iter().any(|bracket| digits.eq_ignore_ascii_case(bracket)))
    })
}

/// Returns a text's beginning and end where it is too long, with its size and digest between them; data is only named.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() >= BINARY_BYTES
        && let Some(kind) = binary_kind(text)
    {
        let mut name = format!("[{kind}: ");
        push_measure(&mut name, text);
        name.push(']');
        return Cow::Owned(name);
    }
    if text.len() <= MAX_TEXT_BYTES {
        return Cow::Borrowed(text);
    }
    let head = head(text);
    let tail = tail(text);
    let mut kept = String::with_capacity(head.len() + tail.len() + 64);
    kept.push_str(head);
    kept.push_str(" …[cut: ");
    push_measure(&mut kept, text);
    kept.push_str("]… ");
    kept.push_str(tail);
    Cow::Owned(kept)
}

fn push_measure(text: &mut String, whole: &str) {
    let _ = write!(text, "{} bytes, xxh3 {:016x}", whole.len(), xxh3_64(whole.as_bytes()));
}

/// Says what a text is when it is data: the media type of a data URL, or `binary`.
fn binary_kind(text: &str) -> Option<&str> {
    let is_base64 =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    if let Some(rest) = text.strip_prefix("data:") {
        let media_type = rest.split([';', ',']).next().unwrap_or_default();
        let is_plain = |byte: u8| is_base64(&byte) || byte == b'.';
        return (media_type.len() < 100 && media_type.bytes().all(is_plain)).then_some(media_type);
    }
    text.as_bytes().iter().take(BINARY_BYTES).all(is_base64).then_some("binary")
}

/// Bytes that cannot stand at a cut: what may belong to a token, or to an escape of JSON.
fn touches(byte: u8) -> bool {
    redact::is_token_byte(byte) || byte == b'\\' || byte.is_ascii_alphanumeric()
}

fn head(text: &str) -> &str {
    let end = text.floor_char_boundary(HEAD_BYTES);
    let kept = text.as_bytes()[..end].iter().rposition(|byte| !touches(*byte)).map_or(0, |last| last + 1);
    &text[..text.floor_char_boundary(kept)]
}

fn tail(text: &str) -> &str {
    // The second half of a private key has no beginning that it could be known by.
    const KEY_END: &str = "PRIVATE KEY-----";
    let tail = tail_at(text, text.ceil_char_boundary(text.len() - TAIL_BYTES));
    let begins = tail.find("-----BEGIN").unwrap_or(tail.len());
    match tail[..begins].rfind(KEY_END) {
        Some(at) => tail_at(tail, at + KEY_END.len()),
        None => tail,
    }
}

/// Returns the text from `start` on, less what touches the cut.
fn tail_at(text: &str, mut start: usize) -> &str {
    let bytes = text.as_bytes();
    loop {
        while start < bytes.len() && touches(bytes[start]) {
            start += 1;
        }
        let backslashes = bytes[..start].iter().rev().take_while(|byte| **byte == b'\\').count();
        // An odd number of them escapes what follows, which then belongs to what was cut away.
        if start >= bytes.len() || backslashes % 2 == 0 {
            return &text[text.ceil_char_boundary(start)..];
        }
        start += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = concat!("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789");
    const COMMIT: &str = "9fceb02d0ae598e95dc970b74767f19372d61af8";

    fn words(bytes: usize) -> String {
        "some words of text ".repeat(bytes / 19 + 1)[..bytes].to_owned()
    }

    #[test]
    fn a_small_value_stays_as_it_is() {
        let raw = r#"{"command":"ls -la","n":[1,2,{"a":null}]}"#;
        assert!(matches!(json(raw), Cow::Borrowed(same) if same == raw));
    }

    #[test]
    fn a_large_text_keeps_head_tail_size_and_digest() {
        let large = words(10_000_000);
        let kept = text(&large);
        assert!(kept.len() < MAX_TEXT_BYTES);
        assert!(kept.starts_with("some words") && kept.contains("…[cut: 10000000 bytes, xxh3 "), "{kept}");
        let raw = format!(r#"{{"a":"{large}","b":"after"}}"#);
        let value: serde_json::Value = serde_json::from_str(&json(&raw)).unwrap();
        assert_eq!(value["b"], "after");
        assert!(value["a"].as_str().unwrap().contains("cut: 10000000 bytes"));
    }

    #[test]
    fn a_token_that_touches_the_cut_is_dropped() {
        for at in HEAD_BYTES - 45..HEAD_BYTES + 5 {
            let large = format!("{} {KEY} {}", words(at), words(100_000));
            let kept = text(&large);
            for length in 8..KEY.len() {
                assert!(!kept.contains(&KEY[..length]), "{at}: {length}");
            }
        }
        for from_end in TAIL_BYTES - 5..TAIL_BYTES + 45 {
            let large = format!("{} {KEY} {}", words(100_000), words(from_end - KEY.len().min(from_end)));
            let kept = text(&large);
            assert!(!kept.contains(&KEY[KEY.len() - 12..]), "{from_end}");
        }
    }

    #[test]
    fn half_a_private_key_does_not_survive_a_cut() {
        let lines = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(40);
        let key = format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n");
        for after in (0..TAIL_BYTES + 500).step_by(97) {
            let kept = text(&format!("{}\n{key}{}", words(100_000), words(after))).into_owned();
            assert!(!kept.contains("MIIEvQIBADANBgkqhkiG9w0"), "{after}");
        }
    }

    #[test]
    fn secrets_go_and_commit_hashes_stay() {
        let raw = format!(r#"{{"stdout":"token {KEY} at {COMMIT}"}}"#);
        let kept = json(&raw);
        assert!(!kept.contains(KEY) && kept.contains(COMMIT), "{kept}");
    }

    #[test]
    fn private_text_is_removed_everywhere() {
        for raw in [
            r#"{"a":"x <private>hidden</private> y"}"#.to_owned(),
            r#"{"a":"x <private>hidden","b":"y"}"#.to_owned(),
            r#"{"a":"x \u003cprivate\u003ehidden\u003c/private\u003e y"}"#.to_owned(),
            r#"{"a":"x \uff1cprivate\uFF1ehidden\u0026lt;/private&gt; y"}"#.to_owned(),
            format!(r#"{{"a":"{} <private>hidden {} hidden</private>"}}"#, words(9_000), words(90_000)),
            format!(r#"{{"a":"<private>{} hidden"}}"#, words(90_000)),
        ] {
            let kept = json(&raw);
            assert!(!kept.contains("hidden"), "{kept}");
            assert!(serde_json::from_str::<serde_json::Value>(&kept).is_ok(), "{kept}");
        }
    }

    #[test]
    fn images_and_binaries_are_named_not_stored() {
        let data = "iVBORw0KGgo".repeat(1_000);
        let raw = format!(r#"{{"type":"image","data":"{data}","url":"data:image/png;base64,{data}"}}"#);
        let value: serde_json::Value = serde_json::from_str(&json(&raw)).unwrap();
        assert!(value["data"].as_str().unwrap().starts_with("[binary: 11000 bytes, xxh3 "));
        assert!(value["url"].as_str().unwrap().starts_with("[image/png: 11022 bytes, xxh3 "));
        assert_eq!(value["type"], "image");
    }

    #[test]
    fn many_small_parts_are_bounded_as_a_whole() {
        let raw = format!("[{}1]", r#""some words","#.repeat(100_000));
        let kept = json(&raw);
        assert!(kept.len() <= MAX_TEXT_BYTES * 2, "{}", kept.len());
        assert!(serde_json::from_str::<String>(&kept).unwrap().contains("cut: "));
    }

    #[test]
    fn a_value_that_is_nested_too_deeply_is_kept_as_text() {
        let nested = |levels: usize| {
            format!("{{\"a\":{}\"{}\"{}}}", "[".repeat(levels - 1), words(1_100), "]".repeat(levels - 1))
        };
        assert!(matches!(json(&nested(MAX_LEVELS)), Cow::Borrowed(_)));
        let kept = json(&nested(5_000)).into_owned();
        assert!(serde_json::from_str::<String>(&kept).unwrap().starts_with("{\"a\":[[["), "{kept}");
        // Brackets in a text are none.
        let text = format!("[\"{}\"]", "[ { ".repeat(1_000));
        assert!(matches!(json(&text), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn json_stays_json_at_every_cut(pieces in prop::collection::vec(
            prop_oneof![
                Just("\\\"".to_owned()), Just("\\\\".to_owned()), Just("\\u00e9".to_owned()), Just("\\n".to_owned()),
                Just("é🦀".to_owned()), Just("<private>".to_owned()), Just("</private>".to_owned()), Just(" ".to_owned()),
                "[a-z .]{1,9}",
            ], 1..60), repeat in 1usize..900)
        {
            let string = pieces.concat().repeat(repeat);
            let raw = format!("{{\"a\":\"{string}\",\"b\":[\"{string}\"]}}");
            prop_assume!(serde_json::from_str::<serde_json::Value>(&raw).is_ok());
            let kept = json(&raw);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&kept).is_ok(), "{}", kept);
        }
    }
}
