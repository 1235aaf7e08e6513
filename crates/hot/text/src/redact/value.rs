//! Classifies the text in the place of a secret: a literal to redact, or a placeholder, a type or an expression.

use super::ends_bare_value;

/// How much of a value is looked at before it is taken. What is longer is judged by its beginning.
pub(super) const SAMPLE: usize = 128;

/// The shortest value that is worth hiding.
const SHORTEST: usize = 6;

/// The longest run of letters that can still be a word.
const LONGEST_WORD: usize = 24;

/// A quote, and how many backslashes precede it: one per level of string in string, doubled at each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    byte: u8,
    backslashes: usize,
    /// The first byte after the quote.
    pub(super) after: usize,
}

impl Quote {
    /// Returns the quote at `at`, which may be escaped for up to three levels.
    pub(super) fn at(text: &[u8], at: usize) -> Option<Self> {
        let backslashes = text[at..].iter().take(8).take_while(|&&byte| byte == b'\\').count();
        let byte = *text.get(at + backslashes)?;
        (matches!(byte, b'"' | b'\'' | b'`') && matches!(backslashes, 0 | 1 | 3 | 7)).then_some(Self {
            byte,
            backslashes,
            after: at + backslashes + 1,
        })
    }

    /// Returns whether the quote opens a string: after the closing quote of a JSON string only these bytes
    /// follow.
    pub(super) fn opens(self, text: &[u8]) -> bool {
        !matches!(text.get(self.after), None | Some(b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// Returns where the string that this quote opened ends: before its closing quote, a quote of the string
    /// around it, or the end of the line. Reads on from `from` and no further than `limit`.
    pub(super) fn string_end(self, text: &[u8], from: usize, limit: usize) -> usize {
        let mut at = from;
        while let Some(found) = memchr::memchr3(self.byte, b'"', b'\n', &text[at..limit]) {
            let end = at + found;
            if text[end] == b'\n' {
                return end;
            }
            let backslashes = text[self.after..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
            let level = self.backslashes + 1;
            if text[end] == self.byte && backslashes % (2 * level) == self.backslashes {
                return end - self.backslashes;
            }
            let outer_ends = match self.byte {
                b'"' => backslashes % level != self.backslashes,
                _ => text[end] == b'"' && backslashes.is_multiple_of(2),
            };
            if outer_ends {
                return end - backslashes;
            }
            at = end + 1;
        }
        limit
    }
}

/// Returns where the unquoted value that is read on from `from` ends, at `limit` at the latest.
pub(super) fn bare_end(text: &[u8], from: usize, limit: usize, ends_at_ampersand: bool) -> usize {
    let is_end = |&byte: &u8| ends_bare_value(byte) && (byte != b'&' || ends_at_ampersand);
    text[from..limit].iter().position(is_end).map_or(limit, |length| from + length)
}

pub(super) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// How a literal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing that could be a secret: too short, a placeholder, a template, a path, a URL.
    Harmless,
    /// Several words with spaces between them.
    Prose,
    Digits,
    /// One word: `swordfish`, `required`.
    Word,
    /// Words that are joined as programmers join them: `user_token`, `nextToken`, `auth.password.label`.
    Identifier,
    /// Anything else.
    Opaque,
}

/// Returns how `value`, the first [`SAMPLE`] bytes of a literal, looks.
pub(super) fn look(value: &[u8]) -> Look {
    if value.len() < SHORTEST || is_template(value) || is_description(value) || is_reference(value) {
        return Look::Harmless;
    }
    if value.iter().any(u8::is_ascii_whitespace) {
        return Look::Prose;
    }
    if value.iter().all(u8::is_ascii_digit) {
        return Look::Digits;
    }
    match words(value) {
        None => Look::Opaque,
        Some(_) if matches!(value[0], b'/' | b'.' | b'~') => Look::Harmless,
        Some(1) => Look::Word,
        Some(_) => Look::Identifier,
    }
}

/// Returns whether `value` is a placeholder for a secret that is filled in elsewhere.
pub(super) fn is_template(value: &[u8]) -> bool {
    let variable = match value {
        [b'$', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'('),
        [b'%', next, ..] => next.is_ascii_alphabetic() || *next == b'(',
        [b'<' | b'[' | b'{', ..] => true,
        _ => false,
    };
    let braces =
        memchr::memchr(b'{', value).is_some_and(|open| memchr::memchr(b'}', &value[open..]).is_some());
    variable || braces || contains(value, "${") || is_masked(value)
}

/// Returns whether `value` is a row of `*`, `x`, `•` or the like. No letter outside ASCII starts with 0xE2.
fn is_masked(value: &[u8]) -> bool {
    value.iter().all(|&byte| match byte {
        b'x' | b'X' => true,
        0xE2 | 0x80..=0xBF => true,
        _ => byte.is_ascii() && !byte.is_ascii_alphanumeric(),
    })
}

/// Returns whether `value` says of what kind the secret is, or that there is none.
fn is_description(value: &[u8]) -> bool {
    let letters = value.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    TYPES.iter().any(|name| value[..letters].eq_ignore_ascii_case(name.as_bytes()))
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || ["your", "example", "placeholder", "xxx", "..."].iter().any(|start| starts_with(value, start))
}

/// Types, which may end in a size: `uint256`.
const TYPES: &[&str] =
    &["base", "boolean", "bytes", "float", "integer", "number", "object", "string", "uint", "varchar"];

/// States and names of fields.
const WORDS: &[&str] = &[
    "accepted",
    "changed",
    "correct",
    "default",
    "disabled",
    "enabled",
    "expired",
    "encrypted",
    "hashed",
    "hidden",
    "incorrect",
    "invalid",
    "missing",
    "nullable",
    "optional",
    "password",
    "passwd",
    "private",
    "public",
    "redacted",
    "rejected",
    "required",
    "secret",
    "unchanged",
    "undefined",
    "unknown",
    "updated",
];

/// Returns whether `value` says where the secret is kept, or is looked for by another rule.
fn is_reference(value: &[u8]) -> bool {
    ["process.env", "os.environ", "os.getenv", "import.meta.env", "env.", "ENV[", "arn:", "-----"]
        .iter()
        .any(|start| value.starts_with(start.as_bytes()))
        || contains(value, "://")
        || contains(value, ":\\/\\/")
        || contains(value, "-----BEGIN ")
}

/// Returns whether an unquoted `value`, which `next` follows, is an expression of a program.
pub(super) fn is_expression(value: &[u8], next: Option<u8>) -> bool {
    let path =
        value.iter().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.' | b':'));
    let after = path.map_or(next, |end| Some(value[end]));
    let starts_as_value = value[0].is_ascii_alphanumeric()
        || !value[0].is_ascii()
        || matches!(value[0], b'_' | b'/' | b'+' | b'!' | b'@' | b'^' | b'~' | b'%' | b'.' | b'$');
    !starts_as_value || matches!(after, Some(b'(' | b'[' | b'{')) || contains(value, "::")
}

/// Returns of how many words `value` is made, or nothing when it is not made of words.
fn words(value: &[u8]) -> Option<usize> {
    let mut count = 0;
    let several = value.iter().any(|byte| matches!(byte, b'_' | b'.' | b'/'));
    for part in value.split(|byte| matches!(byte, b'_' | b'-' | b'.' | b'/' | b'~')) {
        let letters = part.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        if letters < part.len() && !(several && part.len() - letters <= 2) {
            return None;
        }
        let mut rest = &part[..letters];
        while !rest.is_empty() {
            let upper = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let lower = rest[upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
            if !(2..=LONGEST_WORD).contains(&(upper + lower)) {
                return None;
            }
            rest = &rest[upper + lower..];
            count += 1;
        }
    }
    (count > 0).then_some(count)
}

/// Returns whether `value` contains `ascii`, in this case.
pub(super) fn contains(value: &[u8], ascii: &str) -> bool {
    memchr::memmem::find(value, ascii.as_bytes()).is_some()
}

fn starts_with(value: &[u8], ascii: &str) -> bool {
    value.get(..ascii.len()).is_some_and(|start| start.eq_ignore_ascii_case(ascii.as_bytes()))
}
