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

mod command;
mod encoded;
mod format;
mod key_block;
mod named;
mod random;
mod shape;
mod table;
mod url;
mod value;

use std::borrow::Cow;
use std::collections::VecDeque;

/// How every replacement starts.
const MARK: &str = "[redacted:";

/// How often a text is searched again after something was replaced: what was hidden beside a secret may show then.
const MOST_ROUNDS: usize = 4;

/// How deep encodings in encodings are followed.
const DEEPEST: usize = 2;

/// Replaces every known secret in `text` with `[redacted:<kind>]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(mut redacted) = redacted_once(text) else { return Cow::Borrowed(text) };
    for _ in 1..MOST_ROUNDS {
        let Some(again) = redacted_once(&redacted) else { break };
        redacted = again;
    }
    Cow::Owned(redacted)
}

/// Replaces the secrets that one search finds, if there are any.
fn redacted_once(text: &str) -> Option<String> {
    let secrets = secrets(text.as_bytes(), 0);
    if secrets.is_empty() {
        return None;
    }
    let mut redacted = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in secrets {
        redacted.push_str(&text[copied..secret.start]);
        redacted.push_str(MARK);
        redacted.push_str(secret.kind);
        redacted.push(']');
        copied = secret.end;
    }
    redacted.push_str(&text[copied..]);
    Some(redacted)
}

/// Returns the secrets of `text` from left to right without overlap, also those in encodings.
fn secrets(text: &[u8], depth: usize) -> Vec<Secret> {
    let mut scanner = Scanner::new(text, depth);
    let mut secrets: Vec<Secret> = scanner.by_ref().collect();
    let mut encoded = scanner.encoded;
    if scanner.is_interrupted && depth < DEEPEST {
        let copy = encoded::Copy::without_interruptions(text);
        encoded.extend(self::secrets(&copy.bytes, DEEPEST).into_iter().map(|secret| copy.original(secret)));
    }
    if encoded.is_empty() {
        return secrets;
    }
    secrets.append(&mut encoded);
    secrets.sort_by_key(|secret| (secret.start, usize::MAX - secret.end));
    secrets.dedup_by(|next, before| {
        let overlaps = next.start < before.end;
        if overlaps {
            before.end = before.end.max(next.end);
        }
        overlaps
    });
    secrets
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
    /// Where the last secret ended: no later one starts before.
    floor: usize,
    /// Found together with the one just returned.
    queued: VecDeque<Secret>,
    /// Whether a string literal ended inside a private key, so that the next literal may continue it.
    inside_key: bool,
    /// How many encodings this text was in.
    depth: usize,
    /// Whether a terminal sequence or an invisible character was seen.
    is_interrupted: bool,
    /// The secrets behind percent encoding, which may overlap with others.
    encoded: Vec<Secret>,
    /// Where the last chunk with percent encoding ended.
    chunk_end: usize,
    /// Where the rows of the last table ended.
    rows_end: usize,
    /// How many bytes of base64 were decoded.
    decoded: usize,
    /// Whether a Kubernetes secret is somewhere in the text, once that was looked for.
    has_manifest: Option<bool>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8], depth: usize) -> Self {
        Self {
            text,
            at: 0,
            floor: 0,
            queued: VecDeque::new(),
            inside_key: false,
            depth,
            is_interrupted: false,
            encoded: Vec::new(),
            chunk_end: 0,
            rows_end: 0,
            decoded: 0,
            has_manifest: None,
        }
    }

    /// Reads the run of letters and digits that starts here.
    fn word(&mut self) -> Option<Secret> {
        let start = self.at;
        let end = run_end(self.text, start, is_word);
        self.at = end;
        if let Some(secret) = shape::at(self.text, start, end) {
            if secret.kind == "aws-access-key" {
                self.queued.extend(format::secret_beside_key(self.text, secret.end));
            }
            return Some(secret);
        }
        if end - start >= 16
            && let Some(secret) = self.base64(start)
        {
            return Some(secret);
        }
        if let Some(secret) = named::after(self.text, end, &mut self.queued, &mut self.rows_end) {
            return Some(secret);
        }
        self.formatted(start, end)
    }

    /// Reads what a word of a file format or a command announces.
    fn formatted(&mut self, start: usize, end: usize) -> Option<Secret> {
        let (text, found) = (self.text, &mut self.queued);
        let word = &text[start..end];
        // Length, first letter and next byte of nearly every word say that it is none of these.
        match (word.len(), word[0], *text.get(end)?) {
            (3..=5, b'0'..=b'9', b':') => found.extend(format::pgpass(text, start, end)),
            (4 | 10, b'd' | b's', b':' | b'"' | b'\\' | b'\'') if matches!(word, b"data" | b"stringData") => {
                if *self.has_manifest.get_or_insert_with(|| format::has_manifest(text)) {
                    format::manifest(text, start, end, found);
                }
            }
            (6, b'C' | b'c', b':' | b'=' | b'"' | b'\\' | b'\'' | b' ')
                if word.eq_ignore_ascii_case(b"cookie") =>
            {
                format::cookies(text, end, found);
            }
            (5, b'L', b':') => found.extend(key_block::putty(text, end)),
            (4, b'e', b' ') | (6, b'p', b' ') if matches!(word, b"echo" | b"printf") => {
                found.extend(command::piped(text, end));
            }
            (8, b'c', b' ') if word == b"chpasswd" => found.extend(command::here_string(text, end)),
            (8, b'h', b' ') if word == b"htpasswd" => found.extend(command::htpasswd(text, end)),
            (3, b'u', b' ') => found.extend(command::net_use(text, start, end)),
            (7, b'l', b'=' | b' ') => found.extend(command::from_literal(text, start, end)),
            _ => return None,
        }
        found.pop_front()
    }

    /// Reads base64 that starts here, if it is text with a secret in it.
    fn base64(&mut self, start: usize) -> Option<Secret> {
        if self.depth >= DEEPEST || matches!(self.text[..start], [.., b'/' | b'+' | b'-' | b'_' | b'.']) {
            return None;
        }
        let (decoded, end) =
            encoded::base64(self.text, start, encoded::DECODED_BYTES.saturating_sub(self.decoded))?;
        self.decoded += decoded.len();
        self.at = self.at.max(end);
        let has_secret = !secrets(&decoded, self.depth + 1).is_empty();
        has_secret.then_some(Secret { start, end, kind: "base64" })
    }

    /// Reads a percent sign, which may encode a character.
    fn percent(&mut self) {
        let at = self.at;
        self.at += 1;
        if at < self.chunk_end || self.depth >= DEEPEST || encoded::percent(&self.text[at..]).is_none() {
            return;
        }
        let (copy, end) = encoded::Copy::of_url(self.text, self.chunk_end, at);
        self.chunk_end = end;
        let secrets = secrets(&copy.bytes, self.depth + 1);
        self.encoded.extend(secrets.into_iter().map(|secret| copy.original(secret)));
    }

    /// Reads a byte that may start a terminal sequence or an invisible character, or a word in another script.
    fn foreign(&mut self) -> Option<Secret> {
        let at = self.at;
        self.at += 1;
        if matches!(self.text[at], 0x1B | 0xC2 | 0xE2 | 0xEF) {
            self.is_interrupted |= encoded::interruption(self.text, at).is_some();
            return None;
        }
        let end = named::foreign_end(self.text, at)?;
        self.at = end;
        named::after_foreign(self.text, at, end)
    }

    /// Steps over a run of backslashes and the escape that it may start, so that the word after `\n` is
    /// seen whole.
    fn escape(&mut self) -> Option<Secret> {
        let start = self.at;
        self.at = run_end(self.text, start, |byte| byte == b'\\');
        self.is_interrupted |= encoded::interruption(self.text, start).is_some();
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

    /// Reads a run of dashes, which may start or end a private key, or an option of a command.
    fn dashes(&mut self) -> Option<Secret> {
        let start = self.at;
        self.at = run_end(self.text, start, |byte| byte == b'-');
        if let Some((secret, interrupted)) = key_block::at(self.text, self.at) {
            self.inside_key = interrupted;
            return Some(secret);
        }
        key_block::tail(self.text, self.floor, start, self.at)
            .or_else(|| command::option(self.text, start, self.at))
    }

    /// Reads a colon, which may stand between the scheme and the credentials of a URL.
    fn colon(&mut self) -> Option<Secret> {
        let colon = self.at;
        self.at += 1;
        let credentials = url::credentials(self.text, colon)?;
        self.at = credentials.end;
        if credentials.user.is_some() {
            self.queued.extend(credentials.password);
        }
        credentials.user.or(credentials.password)
    }
}

impl Iterator for Scanner<'_> {
    type Item = Secret;

    fn next(&mut self) -> Option<Secret> {
        let mut found = self.queued.pop_front();
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
                Class::Percent => {
                    self.percent();
                    None
                }
                Class::Foreign => self.foreign(),
            };
            // What was found out of order is part of what came before.
            found = found.filter(|secret| secret.end > self.floor);
        }
        let mut secret = found?;
        secret.start = secret.start.max(self.floor);
        self.at = secret.end;
        self.floor = secret.end;
        Some(secret)
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
    Percent,
    /// Starts a terminal sequence, an invisible character, or a word for a password in another script.
    Foreign,
}

/// A table, because every byte of every text is looked up here.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Class::Word,
            b'\\' => Class::Backslash,
            b'-' => Class::Dash,
            b':' => Class::Colon,
            b'%' => Class::Percent,
            0x1B | 0xC2 | 0xC3 | 0xC5 | 0xD0 | 0xD1 | 0xE2 | 0xE3 | 0xE5 | 0xEB | 0xEC | 0xEF => {
                Class::Foreign
            }
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

/// Returns where the next line's text starts when a line ends at `at`: after the line break, which may be escaped in a
/// string or follow a backslash, and indentation.
fn line_break(text: &[u8], at: usize) -> Option<usize> {
    let next = match text.get(at..)? {
        [b'\n', ..] => at + 1,
        [b'\r', b'\n', ..] => at + 2,
        [b'\\', b'\n', ..] => at + 2,
        [b'\\', ..] => {
            let escape = run_end(&text[..text.len().min(at + 8)], at, |byte| byte == b'\\');
            match text.get(escape..)? {
                [b'n', ..] => escape + 1,
                [b'r', b'\\', b'n', ..] => escape + 3,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(next + text[next..].iter().take(64).take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}
