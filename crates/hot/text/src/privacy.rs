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

/// Removes every private tag with its content, from a text that is one thing: a prompt, a message, an output.
///
/// A tag that is never closed hides the rest, and a closing `private` without an opening one all that comes before it: a
/// forgotten or mistyped tag must not publish what it was meant to hide. `<private/>` counts as `<private>`.
pub fn strip(text: &str) -> Stripped<'_> {
    strip_tags(text, TAGS, Scope::Whole)
}

/// Removes every private tag with its content, from a text that is put together of several: a closing `private` without an
/// opening one hides what comes before it in its paragraph alone.
pub fn strip_composed(text: &str) -> Stripped<'_> {
    strip_tags(text, TAGS, Scope::Entry)
}

/// Removes only what its writer marked as private; what the client or a memory put into the text stays. A closing tag
/// without an opening one hides what comes before it in its entry or paragraph, not the whole memory.
pub fn strip_private(text: &str) -> Cow<'_, str> {
    strip_tags(text, &TAGS[..1], Scope::Entry).text
}

/// Removes what its writer marked as private from a memory, a text of entries by different writers. As [`strip_private`]
/// does, but a tag that is never closed hides the rest of its own entry or paragraph alone.
pub fn strip_memory(text: &str) -> Cow<'_, str> {
    let tags = matched_tags(text);
    if tags.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut copied) = (String::with_capacity(text.len()), 0);
    for (tag, partner) in &tags {
        if tag.start < copied {
            continue;
        }
        kept.push_str(text[copied..tag.start].trim_end_matches('\\'));
        copied = match (tag.role, partner) {
            (Role::Closing, _) => {
                kept.truncate(start_of_entry(&kept));
                tag.end
            }
            (_, Some(end)) => *end,
            (_, None) => end_of_entry(text, tag.start),
        };
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Returns the tags of the user with, for those that open something, where its closing tag ends. One pass: a scan from each
/// tag to the end would let a memory of many tags take its square in time.
fn matched_tags(text: &str) -> Vec<(Tag, Option<usize>)> {
    let mut tags: Vec<(Tag, Option<usize>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let (mut at, mut entry_end) = (0, 0);
    while let Some(mut tag) = Tag::next(text, at, &TAGS[..1]) {
        // What looks like attributes in another entry belongs to that one.
        if entry_end <= tag.start {
            entry_end = end_of_entry(text, tag.start);
        }
        tag.end = tag.end.min(entry_end);
        at = tag.end;
        if tag.role == Role::Closing {
            // A self-closing tag hides as much as an opening one, but closes nothing of another.
            while let Some(last) = open.pop() {
                tags[last].1 = Some(tag.end);
                if tags[last].0.role == Role::Opening {
                    break;
                }
            }
        } else {
            open.push(tags.len());
        }
        tags.push((tag, None));
    }
    tags
}

/// Returns where the entry or paragraph of a memory ends that goes on at `from`, before its last line break. An indented
/// paragraph below a blank line still belongs to the entry.
fn end_of_entry(text: &str, from: usize) -> usize {
    let end_of_line = |at: usize| text[at..].find('\n').map_or(text.len(), |length| at + length);
    let mut end = end_of_line(from);
    loop {
        let mut next = end + 1;
        let mut is_below_blank = false;
        while next < text.len() && text[next..end_of_line(next)].trim().is_empty() {
            next = end_of_line(next) + 1;
            is_below_blank = true;
        }
        let Some(line) = text.get(next..).filter(|rest| !rest.is_empty()) else { break };
        if line.starts_with(['#', '-', '*', '+']) || is_below_blank && !line.starts_with([' ', '\t']) {
            break;
        }
        end = end_of_line(next);
    }
    if text[..end].ends_with('\r') { end - 1 } else { end }
}

/// Returns whether a private part may end in the text.
pub fn has_closing_tag(text: &str) -> bool {
    let mut at = 0;
    while let Some(tag) = Tag::next(text, at, &TAGS[..1]) {
        if tag.role == Role::Closing {
            return true;
        }
        at = tag.end;
    }
    false
}

/// Returns whether the text has a character that a tag could begin with; nothing is private in one without.
pub fn may_have_tag(text: &str) -> bool {
    bytes::find_any(FIRST_BYTES, text.as_bytes()).is_some()
}

/// What a closing tag without an opening one hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Whole,
    Entry,
}

fn strip_tags<'a>(text: &'a str, tags: &[&'static str], scope: Scope) -> Stripped<'a> {
    let mut kept = String::new();
    let mut copied = 0;
    let mut hidden = false;
    let mut at = 0;
    while let Some(tag) = Tag::next(text, at, tags) {
        let is_private = tag.name == TAGS[0];
        let before = &text[copied..tag.start];
        // The backslash of `\<private\>` belongs to the tag.
        kept.push_str(if is_private { before.trim_end_matches('\\') } else { before });
        at = match tag.role {
            Role::SelfClosing if !is_private => tag.end,
            Role::Opening | Role::SelfClosing => {
                hidden = true;
                end_of_content(text, &tag)
            }
            Role::Closing => {
                if is_private {
                    hidden = true;
                    kept.truncate(if scope == Scope::Whole { 0 } else { start_of_entry(&kept) });
                }
                tag.end
            }
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

/// Returns where the last entry or paragraph of a memory begins.
fn start_of_entry(text: &str) -> usize {
    let mut end = text.len();
    loop {
        let begin = text[..end].rfind('\n').map_or(0, |line_end| line_end + 1);
        let line = &text[begin..end];
        if end < text.len() && line.trim().is_empty() {
            return end + 1;
        }
        if begin == 0 || line.starts_with(['#', '-', '*', '+']) {
            return begin;
        }
        end = begin - 1;
    }
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

/// How `<`, `>` and `/` are typed: plain, wide, small, or as an entity of HTML.
const OPENING: &[&str] = &["<", "\u{ff1c}", "\u{fe64}", "&lt;", "&#60;", "&#x3c;"];
const CLOSING: &[&str] = &[">", "\u{ff1e}", "\u{fe65}", "&gt;", "&#62;", "&#x3e;"];
const SLASH: &[&str] = &["/", "\u{ff0f}", "&#47;", "&#x2f;"];
/// The first bytes of what is in [`OPENING`].
const FIRST_BYTES: [u8; 3] = [b'<', b'&', 0xef];

impl Tag {
    /// Returns the first tag with one of `names` at or after `from`.
    fn next(text: &str, from: usize, names: &[&'static str]) -> Option<Self> {
        let text = text.as_bytes();
        let mut from = from;
        while let Some(offset) = bytes::find_any(FIRST_BYTES, &text[from..]) {
            if let Some(tag) = Self::at(text, from + offset, names) {
                return Some(tag);
            }
            from += offset + 1;
        }
        None
    }

    /// Returns the tag with one of `names` that starts with the bracket at `start`.
    fn at(text: &[u8], start: usize, names: &[&'static str]) -> Option<Self> {
        let after_bracket = symbol(text, start, OPENING)?;
        if text[start] == b'<'
            && let Some(tag) = Self::plain(text, start, names)
        {
            return Some(tag);
        }
        // The forms that people type: for the user's own tag alone, and without attributes, since `a < private && b > c`
        // is none.
        let name = *names.first().filter(|name| **name == TAGS[0])?;
        let at = skip_blanks(text, after_bracket);
        let slash = symbol(text, at, SLASH);
        let at = slash.map_or(at, |after| skip_blanks(text, after));
        let at = skip_blanks(text, end_of_name(text, at, name)?);
        let second_slash = symbol(text, at, SLASH).filter(|_| slash.is_none());
        let end = symbol(text, second_slash.map_or(at, |after| skip_blanks(text, after)), CLOSING)?;
        let role = match (slash, second_slash) {
            (Some(_), _) => Role::Closing,
            (None, Some(_)) => Role::SelfClosing,
            (None, None) => Role::Opening,
        };
        Some(Self { start, end, name, role })
    }

    /// Returns the tag with one of `names` at `start` if it is written as in HTML, attributes included.
    fn plain(text: &[u8], start: usize, names: &[&'static str]) -> Option<Self> {
        let is_closing = text.get(start + 1) == Some(&b'/');
        let name_start = start + 1 + usize::from(is_closing);
        let name = *names.iter().find(|name| is_name(&text[name_start..], name))?;
        let name_end = name_start + name.len();
        let (end, role) = if is_closing {
            let end = if name == FENCE { end_of_word(text, name_end) } else { name_end };
            let blanks = text[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let end = end + blanks;
            (text.get(end) == Some(&b'>')).then_some((end + 1, Role::Closing))?
        } else if text.get(name_end) == Some(&b'/') {
            // What goes on as in `#include <private/list.h>` is no tag.
            (text.get(name_end + 1) == Some(&b'>')).then_some((name_end + 2, Role::SelfClosing))?
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

/// Returns the end of the symbol at `at`, in whichever form it is written.
fn symbol(text: &[u8], at: usize, forms: &[&str]) -> Option<usize> {
    let rest = text.get(at..)?;
    let form = forms.iter().find(|form| {
        rest.get(..form.len()).is_some_and(|start| start.eq_ignore_ascii_case(form.as_bytes()))
    })?;
    Some(at + form.len())
}

/// Returns the next place that is neither a blank nor a backslash, which Markdown and JSON put before a symbol.
fn skip_blanks(text: &[u8], from: usize) -> usize {
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'\\';
    from + text[from..].iter().take_while(is_blank).count()
}

/// Returns the end of `name` at `at`, in whichever case and width its letters are.
fn end_of_name(text: &[u8], at: usize, name: &str) -> Option<usize> {
    let mut at = at;
    for letter in name.bytes() {
        at = match *text.get(at..)? {
            [byte, ..] if byte.eq_ignore_ascii_case(&letter) => at + 1,
            // U+FF21 to U+FF5A: the wide forms of the letters, in the order of ASCII.
            [0xef, second @ (0xbc | 0xbd), third, ..] => {
                let wide = u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f) | 0xf000;
                let plain = u8::try_from(wide.checked_sub(0xfee0)?).ok()?;
                plain.eq_ignore_ascii_case(&letter).then_some(at + 3)?
            }
            _ => return None,
        };
    }
    Some(at)
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
