//! JSON text that a parser has passed already: where its parts end, and strings that may be a megabyte.
//!
//! A large string is looked through piece by piece: to write all of it down once more would cost more than the look-up,
//! since every page that is touched for the first time does.

use std::borrow::Cow;
use std::cell::OnceCell;
use text::bytes;

/// The size of a piece.
const PIECE_BYTES: usize = 32 * 1024;

/// How much of a piece is repeated at the beginning of the next one: what is no longer than this is whole in one of them.
pub(crate) const OVERLAP_BYTES: usize = 256;

/// A text that is written to a file.
#[derive(Clone, Debug, Default)]
pub struct Content<'a> {
    /// As in JSON, between its quotes.
    escaped: &'a str,
    /// Whether no character is written as its number.
    is_plain: bool,
    /// Resolved, when first asked for.
    whole: OnceCell<Cow<'a, str>>,
}

/// A part of a content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
}

impl<'a> Piece<'a> {
    /// Returns the piece that is all there is.
    pub(crate) fn only(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), is_first: true, is_last: true }
    }
}

impl<'a> Content<'a> {
    /// Returns the content that is written like this in JSON; `is_plain` when no character of it is written as its number.
    pub(crate) fn escaped(escaped: &'a str, is_plain: bool) -> Self {
        Self { escaped, is_plain, whole: OnceCell::new() }
    }

    /// Returns all of the text.
    pub fn whole(&self) -> &str {
        self.whole.get_or_init(|| resolve(self.escaped))
    }

    /// Goes through the text, until `look` fails: all of it, as it is or as JSON writes it, or piece by piece. Printable
    /// characters but for quotes, backslashes and slashes are in each of them as they are.
    pub(crate) fn each_piece<E>(&self, mut look: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.escaped.len() <= PIECE_BYTES || self.whole.get().is_some() {
            return look(Piece::only(self.whole()));
        }
        if self.is_plain {
            return look(Piece::only(self.escaped));
        }
        let mut rest = self.escaped;
        let mut piece: Vec<u8> = Vec::with_capacity(2 * PIECE_BYTES);
        let mut is_first = true;
        loop {
            resolve_some(&mut rest, &mut piece, PIECE_BYTES);
            let is_last = rest.is_empty();
            look(Piece { bytes: &piece, is_first, is_last })?;
            if is_last {
                return Ok(());
            }
            is_first = false;
            piece.drain(..piece.len() - OVERLAP_BYTES);
        }
    }
}

impl From<String> for Content<'_> {
    fn from(text: String) -> Self {
        Self { escaped: "", is_plain: false, whole: OnceCell::from(Cow::Owned(text)) }
    }
}

/// Returns what is between the quotes when the value is a string.
pub(crate) fn string(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// Resolves the escapes of a string.
pub(crate) fn resolve(escaped: &str) -> Cow<'_, str> {
    if bytes::find(b'\\', escaped.as_bytes()).is_none() {
        return Cow::Borrowed(escaped);
    }
    let mut text = Vec::with_capacity(escaped.len());
    resolve_some(&mut { escaped }, &mut text, usize::MAX);
    // What was put together from whole characters is text.
    Cow::Owned(String::from_utf8(text).unwrap_or_default())
}

/// Resolves escapes until `text` has about `enough` bytes. What is between two of them is copied in one piece.
fn resolve_some(rest: &mut &str, text: &mut Vec<u8>, enough: usize) {
    while !rest.is_empty() && text.len() < enough {
        let plain = bytes::find(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let taken = plain.min(enough - text.len());
        text.extend_from_slice(&rest.as_bytes()[..rest.ceil_char_boundary(taken)]);
        *rest = &rest[rest.ceil_char_boundary(taken)..];
        if taken < plain || rest.is_empty() {
            continue;
        }
        let simple = match rest.as_bytes().get(1).copied().unwrap_or(b'\\') {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                // Rare, and in pairs for what lies beyond 16 bits: that is left to the parser.
                let end = unicode_end(rest);
                let characters: String =
                    serde_json::from_str(&format!("\"{}\"", &rest[..end])).unwrap_or_default();
                text.extend_from_slice(characters.as_bytes());
                *rest = &rest[end..];
                continue;
            }
            other => other,
        };
        text.push(simple);
        *rest = rest.get(2..).unwrap_or_default();
    }
}

/// Returns where the run of `\\u` escapes ends that a text begins with.
fn unicode_end(text: &str) -> usize {
    const ESCAPE_BYTES: usize = 6;
    let mut end = 0;
    while text.get(end..).is_some_and(|rest| rest.starts_with("\\u"))
        && text.is_char_boundary(end + ESCAPE_BYTES)
    {
        end += ESCAPE_BYTES;
    }
    end.max(2).min(text.len())
}

/// The members of a JSON object that a parser has passed already: names without their quotes, values as they are written.
///
/// A value may be a megabyte, which need not be parsed again to find its end.
pub(crate) struct Members<'a> {
    rest: &'a str,
}

/// A member of an object.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Whether no character of the value is written as its number.
    pub(crate) is_plain: bool,
}

impl<'a> Members<'a> {
    /// Begins with an object; anything else has no members.
    pub(crate) fn of(object: &'a str) -> Self {
        Self { rest: object.trim_start().strip_prefix('{').unwrap_or_default() }
    }

    /// Returns the text up to `end` and goes on behind it.
    fn take(&mut self, end: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(taken)
    }

    fn skip(&mut self, marks: &[char]) {
        self.rest =
            self.rest.trim_start_matches(|mark: char| mark.is_ascii_whitespace() || marks.contains(&mark));
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip(&[',']);
        let mut is_plain = true;
        let name = self.take(string_end(self.rest.as_bytes(), 0, &mut is_plain)?)?;
        self.skip(&[':']);
        is_plain = true;
        let value = self.take(value_end(self.rest.as_bytes(), &mut is_plain)?)?;
        Some(Member { name: name.get(1..name.len() - 1)?, value, is_plain })
    }
}

/// Returns where the string that begins at `start` ends, behind its quote. A character that is written as its number is
/// noted.
fn string_end(text: &[u8], start: usize, is_plain: &mut bool) -> Option<usize> {
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        at += bytes::find_either(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        *is_plain &= text.get(at + 1) != Some(&b'u');
        at += 2;
    }
}

/// Returns where the value ends that the text begins with.
fn value_end(text: &[u8], is_plain: &mut bool) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at, is_plain)?,
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' => (at, depth) = (at + 1, depth.checked_sub(1)?),
            _ => {
                let is_end = |byte: &u8| b",:}]\"{[".contains(byte) || byte.is_ascii_whitespace();
                let word = text[at..].iter().position(is_end).unwrap_or(text.len() - at);
                // White space, a comma or a colon, within a list or an object.
                at += word.max(1);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_text_without_numbered_characters_is_looked_through_as_it_is_written() {
        for (line, is_plain) in [("say(\"x\")\n\\ / \u{e9}", true), ("x\u{1}", false), ("\\u0041", true)] {
            let json = serde_json::json!({"a": line.repeat(2 * PIECE_BYTES)}).to_string();
            let member = Members::of(&json).next().unwrap();
            let escaped = string(member.value).unwrap();
            let mut pieces = 0;
            Content::escaped(escaped, member.is_plain)
                .each_piece(|piece| {
                    pieces += 1;
                    assert_eq!(piece.bytes == escaped.as_bytes(), is_plain, "{line}");
                    Ok::<(), ()>(())
                })
                .unwrap();
            assert_eq!(pieces == 1, is_plain, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn escapes_are_resolved_as_the_parser_does(text in ".{0,80}", escaped in proptest::bool::ANY) {
            let mut json = serde_json::to_string(&text).unwrap();
            if escaped {
                json = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                json = format!("\"{json}\"");
            }
            proptest::prop_assert_eq!(resolve(string(&json).unwrap()), text);
        }

        #[test]
        fn members_are_found_as_the_parser_does(
            fields in proptest::collection::btree_map(".{0,6}", (".{0,60}", 0..6_u8), 0..6),
            is_spread in proptest::bool::ANY,
        ) {
            let value = |(text, shape): &(String, u8)| match shape {
                0 => serde_json::json!(text),
                1 => serde_json::json!([text, 1.5e-3, [], {"}": "]"}]),
                2 => serde_json::json!({text.clone(): {"a": [true, null, text]}, "b": "\\\""}),
                3 => serde_json::json!(-12.5e7),
                4 => serde_json::json!(null),
                _ => serde_json::json!(text.len() % 2 == 0),
            };
            let object: serde_json::Map<String, serde_json::Value> =
                fields.iter().map(|(name, shape)| (name.clone(), value(shape))).collect();
            let json = if is_spread { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
            let json = json.unwrap();
            let found: serde_json::Map<String, serde_json::Value> = Members::of(&json)
                .map(|member| (resolve(member.name).into_owned(), serde_json::from_str(member.value).unwrap()))
                .collect();
            proptest::prop_assert_eq!(found, object);
        }

        #[test]
        fn pieces_overlap_and_hold_the_whole(text in ".{0,3}", count in 0..40_000_usize) {
            let whole = format!("{text}\n\u{e9}\u{1}").repeat(count);
            let json = serde_json::to_string(&whole).unwrap();
            let mut found: Vec<u8> = Vec::new();
            Content::escaped(string(&json).unwrap(), false).each_piece(|piece| {
                let overlap = if piece.is_first { 0 } else { OVERLAP_BYTES };
                found.extend_from_slice(&piece.bytes[overlap..]);
                Ok::<(), ()>(())
            }).unwrap();
            proptest::prop_assert!(found == whole.as_bytes());
        }
    }
}
