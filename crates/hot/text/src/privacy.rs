//! Removes what its writer marked as private, and what the client or a memory put into the text.
//!
//! For text as a person typed it or a model wrote it, not for raw JSON: an unclosed tag hides the rest.

use crate::bytes;
use std::borrow::Cow;

/// The tags that are hidden together with their content; the first is the user's own.
pub(crate) const TAGS: &[&str] = &[
    "private",
    FENCE,
    "claude-mem-context",
    "system_instruction",
    "system-instruction",
    "persisted-output",
    "system-reminder",
];

/// The tag of [`crate::sanitize::Fence`], whose closing tag repeats its word.
const FENCE: &str = "wyren-context";

/// What is left of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped<'a> {
    /// The text without its private parts.
    pub text: Cow<'a, str>,
    /// Whether something was hidden and nothing but white space is left.
    pub wholly_private: bool,
}

/// Removes every private tag with its content.
///
/// A tag that is never closed hides the rest: a forgotten closing tag must not publish what it was meant to
/// hide. A self-closing tag and a closing tag without an opening one hide nothing and are removed.
pub fn strip(text: &str) -> Stripped<'_> {
    strip_tags(text, TAGS)
}

/// Removes only what its writer marked as private; what the client or a memory put into the text stays.
pub fn strip_private(text: &str) -> Cow<'_, str> {
    strip_tags(text, &TAGS[..1]).text
}

fn strip_tags<'a>(text: &'a str, tags: &[&'static str]) -> Stripped<'a> {
    let mut kept = String::new();
    let mut copied = 0;
    let mut hidden = false;
    let mut at = 0;
    while let Some(tag) = Tag::next(text, at, tags) {
        kept.push_str(&text[copied..tag.start]);
        at = match tag.role {
            Role::Opening => {
                hidden = true;
                end_of_content(text, &tag)
            }
            Role::Closing | Role::SelfClosing => tag.end,
        };
        copied = at;
    }
    let text = if copied == 0 {
        Cow::Borrowed(text)
    } else {
        kept.push_str(&text[copied..]);
        Cow::Owned(kept)
    };
    let wholly_private = hidden && text.trim().is_empty();
    Stripped { text, wholly_private }
}

/// Returns where the closing tag of `opening` ends. Other tags in between are content.
fn end_of_content(text: &str, opening: &Tag) -> usize {
    let mut depth = 1;
    let mut at = opening.end;
    while let Some(tag) = Tag::next(text, at, &[opening.name]) {
        at = tag.end;
        match tag.role {
            Role::Opening => depth += 1,
            Role::Closing if depth == 1 => return at,
            Role::Closing => depth -= 1,
            Role::SelfClosing => {}
        }
    }
    text.len()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Opening,
    Closing,
    SelfClosing,
}

/// A private tag in a text.
struct Tag {
    start: usize,
    end: usize,
    name: &'static str,
    role: Role,
}

impl Tag {
    /// Returns the first tag with one of `names` at or after `from`.
    fn next(text: &str, from: usize, names: &[&'static str]) -> Option<Self> {
        let text = text.as_bytes();
        let mut from = from;
        while let Some(offset) = bytes::find(b'<', &text[from..]) {
            if let Some(tag) = Self::at(text, from + offset, names) {
                return Some(tag);
            }
            from += offset + 1;
        }
        None
    }

    /// Returns the tag with one of `names` that starts with the `<` at `start`.
    fn at(text: &[u8], start: usize, names: &[&'static str]) -> Option<Self> {
        let is_closing = text.get(start + 1) == Some(&b'/');
        let name_start = start + 1 + usize::from(is_closing);
        let name = *names.iter().find(|name| is_name(&text[name_start..], name))?;
        let name_end = name_start + name.len();
        let (end, role) = if is_closing {
            let end = if name == FENCE { end_of_word(text, name_end) } else { name_end };
            let blanks = text[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let end = end + blanks;
            (text.get(end) == Some(&b'>')).then_some((end + 1, Role::Closing))?
        } else {
            match end_of_attributes(text, name_end) {
                Some(end) if text[..end].ends_with(b"/>") => (end, Role::SelfClosing),
                Some(end) => (end, Role::Opening),
                None => (text.len(), Role::Opening),
            }
        };
        Some(Self { start, end, name, role })
    }
}

/// Returns where the word of a closing fence ends: ` id="…"` behind the name at `from`; `from` without one.
fn end_of_word(text: &[u8], from: usize) -> usize {
    let word = text[from..].strip_prefix(b" id=\"").unwrap_or_default();
    let digits = word.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if word.get(digits) == Some(&b'"') { text.len() - word.len() + digits + 1 } else { from }
}

/// Returns whether `text` starts with `name` and the name ends there.
fn is_name(text: &[u8], name: &str) -> bool {
    let Some((start, rest)) = text.split_at_checked(name.len()) else { return false };
    let ends = rest.first().is_none_or(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    ends && start.eq_ignore_ascii_case(name.as_bytes())
}

/// Returns where the tag ends whose attributes start at `from`; a `>` in a quoted attribute does not end it.
fn end_of_attributes(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memchr::memchr3(b'>', b'"', b'\'', &text[at..])?;
        at = found + 1;
        if text[found] == b'>' {
            return Some(at);
        }
        if text[found - 1] == b'=' {
            at += memchr::memchr(text[found], &text[at..])? + 1;
        }
    }
}
