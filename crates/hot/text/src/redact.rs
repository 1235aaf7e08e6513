//! Replaces secrets in text with what they were: `[redacted:github]`.
//!
//! A secret is known by its shape (`ghp_…`), by the name in front of it (`DB_PASSWORD=…`), by its place in a
//! URL, or by the block around it. One pass walks the words of the text, and each rule below either takes
//! what it has read or gives up within `value::SAMPLE` bytes, so the time stays linear on hostile text.
//!
//! The text may be raw JSON: a match never contains a quote of its own level nor half an escape, so valid
//! JSON stays valid. Redacting twice changes nothing, because no rule accepts what contains `MARK`.
//!
//! This is no proof that a text is free of secrets: a secret without a known shape, name or place stays.

mod key_block;
mod named;
mod shape;
mod url;
mod value;

use std::borrow::Cow;

/// How every replacement starts.
const MARK: &str = "[redacted:";

/// Replaces every known secret in `text` with `[redacted:<kind>]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut copied = 0;
    for secret in Scanner::new(text.as_bytes()) {
        redacted.push_str(&text[copied..secret.start]);
        redacted.push_str(MARK);
        redacted.push_str(secret.kind);
        redacted.push(']');
        copied = secret.end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[copied..]);
    Cow::Owned(redacted)
}

/// Returns whether a secret can contain `byte`.
///
/// Code that cuts a long text drops such bytes on both sides of the cut: half a secret has no recognisable shape.
pub const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !ends_bare_value(byte)
}

/// Returns whether `byte` ends a value that is not quoted.
const fn ends_bare_value(byte: u8) -> bool {
    byte <= b' '
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b')' | b'}' | b']' | b'<' | b'>' | b'|' | 0x7f
        )
}

/// A part of the text that must not spread. Both ends lie beside an ASCII byte or at an end of the text.
#[derive(Debug, Clone, Copy)]
struct Secret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The secrets of a text, from left to right, without overlap.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Found together with the one just returned.
    queued: Option<Secret>,
    /// Whether a string literal ended inside a private key, so that the next literal may continue it.
    inside_key: bool,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, queued: None, inside_key: false }
    }

    /// Reads the run of letters and digits that starts here.
    fn word(&mut self) -> Option<Secret> {
        let start = self.at;
        let end = run_end(self.text, start, is_word);
        self.at = end;
        shape::at(self.text, start, end).or_else(|| named::after(self.text, end))
    }

    /// Steps over a run of backslashes and the escape that it may start, so that the word after `\n` is
    /// seen whole.
    fn escape(&mut self) -> Option<Secret> {
        let start = self.at;
        self.at = run_end(self.text, start, |byte| byte == b'\\');
        let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
        let escape = match &self.text[self.at..] {
            [b'n' | b'r' | b't' | b'b' | b'f', ..] => "n".len(),
            [b'u', a, b, c, d, ..] if [a, b, c, d].into_iter().all(is_hex) => "u0000".len(),
            _ => return None,
        };
        // After an even run the letter may be text (`\\npm_…`) or an escape of an inner level (`\\nghp_…`).
        if (self.at - start).is_multiple_of(2) {
            let end = run_end(self.text, self.at, is_word);
            if let Some(secret) = shape::at(self.text, self.at, end) {
                return Some(secret);
            }
        }
        self.at += escape;
        None
    }

    /// Reads a run of dashes, which may start a private key.
    fn dashes(&mut self) -> Option<Secret> {
        self.at = run_end(self.text, self.at, |byte| byte == b'-');
        let (secret, interrupted) = key_block::at(self.text, self.at)?;
        self.inside_key = interrupted;
        Some(secret)
    }

    /// Reads a colon, which may stand between the scheme and the credentials of a URL.
    fn colon(&mut self) -> Option<Secret> {
        let colon = self.at;
        self.at += 1;
        let credentials = url::credentials(self.text, colon)?;
        self.at = credentials.end;
        if credentials.user.is_some() {
            self.queued = credentials.password;
        }
        credentials.user.or(credentials.password)
    }
}

impl Iterator for Scanner<'_> {
    type Item = Secret;

    fn next(&mut self) -> Option<Secret> {
        let mut found = self.queued.take();
        if found.is_none() && self.inside_key {
            found = key_block::next_line(self.text, self.at);
            self.inside_key = found.is_some();
        }
        while found.is_none() {
            found = match CLASSES[usize::from(*self.text.get(self.at)?)] {
                Class::Plain => {
                    self.at += 1;
                    None
                }
                Class::Word => self.word(),
                Class::Backslash => self.escape(),
                Class::Dash => self.dashes(),
                Class::Colon => self.colon(),
            };
        }
        self.at = found?.end;
        found
    }
}

/// What a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Word,
    Backslash,
    Dash,
    Colon,
}

/// A table, because every byte of every text is looked up here.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Class::Word,
            b'\\' => Class::Backslash,
            b'-' => Class::Dash,
            b':' => Class::Colon,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

/// Returns whether `byte` is a letter or a digit.
fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Word
}

/// A set of pairs of ASCII bytes: for each first byte the second ones, as bits.
struct Pairs([u128; 128]);

impl Pairs {
    const fn new() -> Self {
        Self([0; 128])
    }

    const fn insert(&mut self, first: u8, second: u8) {
        self.0[first as usize] |= 1 << second;
    }

    fn contains(&self, first: u8, second: u8) -> bool {
        first.is_ascii() && second.is_ascii() && self.0[usize::from(first)] >> second & 1 == 1
    }
}

/// Returns whether the text before `start` ends in an escape such as `\n`, so that a word starts here.
fn follows_escape(text: &[u8], start: usize) -> bool {
    matches!(text[..start], [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] | [.., b'\\', b'u', _, _, _, _])
}

/// Returns where the run of bytes that satisfy `belongs` and start at `start` ends.
fn run_end(text: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    text[start..].iter().position(|&byte| !belongs(byte)).map_or(text.len(), |length| start + length)
}
