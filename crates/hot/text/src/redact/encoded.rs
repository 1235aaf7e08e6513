//! Secrets that cannot be read as they are written: with terminal sequences or invisible characters inside, behind `%3D`,
//! or in base64.
//!
//! Each is made readable in a copy, which is searched like any text; what is found is replaced in the original.

use std::ops::Range;

use super::{Secret, line_break, run_end};

/// How far a chunk of a URL is followed.
const LONGEST_CHUNK: usize = 4 * 1024;

/// How many bytes of base64 of one text are decoded.
pub(super) const DECODED_BYTES: usize = 64 * 1024;

/// The shortest base64 that is decoded.
pub(super) const SHORTEST_BASE64: usize = 40;

/// How many characters of base64 decide whether it is text.
const BASE64_SAMPLE: usize = 24;

/// The longest parameters of a terminal sequence that is skipped.
const LONGEST_SEQUENCE: usize = 256;

/// A readable copy of a part of a text, and where each of its bytes comes from.
#[derive(Default)]
pub(super) struct Copy {
    pub(super) bytes: Vec<u8>,
    origins: Vec<Range<usize>>,
}

impl Copy {
    fn push(&mut self, byte: u8, origin: Range<usize>) {
        self.bytes.push(byte);
        self.origins.push(origin);
    }

    /// Returns the place in the original of what was found here.
    pub(super) fn original(&self, secret: Secret) -> Secret {
        Secret { start: self.origins[secret.start].start, end: self.origins[secret.end - 1].end, ..secret }
    }

    /// Copies `text` without what interrupts words invisibly.
    pub(super) fn without_interruptions(text: &[u8]) -> Self {
        let mut copy = Self::default();
        let mut at = 0;
        while at < text.len() {
            if let Some(end) = interruption(text, at) {
                at = end;
                continue;
            }
            copy.push(text[at], at..at + 1);
            at += 1;
        }
        copy
    }

    /// Copies the part of a text around the percent sign at `at`, not before `from`, with percent encoding resolved. Returns
    /// where it ends, too.
    pub(super) fn of_url(text: &[u8], from: usize, at: usize) -> (Self, usize) {
        let belongs = |byte: u8| byte > b' ' && byte != 0x7f && !b"\"'`<>[]{}\\".contains(&byte);
        let before =
            text[from..at].iter().rev().take(LONGEST_CHUNK).take_while(|&&byte| belongs(byte)).count();
        let limit = text.len().min(at + LONGEST_CHUNK);
        let end = run_end(&text[..limit], at, belongs);
        let mut copy = Self::default();
        let start = at - before;
        let backslashes = text[..start].iter().rev().take_while(|&&byte| byte == b'\\').count();
        // The letter of an escape is no part of what follows it.
        let is_escape = !backslashes.is_multiple_of(2) && before > 0 && b"nrtbf".contains(&text[start]);
        let mut at = start + usize::from(is_escape);
        while at < end {
            match percent(&text[at..end]) {
                Some(byte) => {
                    copy.push(byte, at..at + 3);
                    at += 3;
                }
                None => {
                    copy.push(text[at], at..at + 1);
                    at += 1;
                }
            }
        }
        (copy, end)
    }
}

/// Returns the ASCII character that `%XX` at the start of `text` encodes.
pub(super) fn percent(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = digit(high)? * 16 + digit(low)?;
    u8::try_from(byte)
        .ok()
        .filter(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Returns where the terminal sequence or invisible character at `at` ends, which may be an escape of a string.
pub(super) fn interruption(text: &[u8], at: usize) -> Option<usize> {
    match text[at] {
        0x1B => sequence(text, at + 1),
        b'\\' => {
            let escape = run_end(&text[..text.len().min(at + 8)], at, |byte| byte == b'\\');
            let rest = &text[escape..];
            let code = match *rest {
                [b'u', a, b, c, d, ..] => Some(([a, b, c, d], 5)),
                _ => None,
            };
            if let Some((digits, length)) = code {
                let digits = digits.map(|digit| digit.to_ascii_lowercase());
                return match &digits {
                    b"001b" => sequence(text, escape + length),
                    b"200b" | b"200c" | b"200d" | b"2060" | b"feff" | b"00ad" => Some(escape + length),
                    _ => None,
                };
            }
            let length =
                ["x1b", "x1B", "033", "e"].into_iter().find(|name| rest.starts_with(name.as_bytes()))?.len();
            if rest.get(length) == Some(&b'[') { sequence(text, escape + length) } else { None }
        }
        0xE2 => match text[at..] {
            [_, 0x80, 0x8B..=0x8F, ..] | [_, 0x81, 0xA0..=0xA4, ..] => Some(at + 3),
            _ => None,
        },
        0xEF if text[at..].starts_with(b"\xEF\xBB\xBF") => Some(at + 3),
        0xC2 if text[at..].starts_with(b"\xC2\xAD") => Some(at + 2),
        _ => None,
    }
}

/// Returns where the terminal sequence ends whose escape character ended at `at`.
fn sequence(text: &[u8], at: usize) -> Option<usize> {
    let limit = text.len().min(at + LONGEST_SEQUENCE);
    match text.get(at)? {
        b'[' => {
            let end = run_end(&text[..limit], at + 1, |byte| matches!(byte, b' '..=b'?'));
            text.get(end).filter(|byte| matches!(byte, b'@'..=b'~')).map(|_| end + 1)
        }
        b']' => {
            let end = run_end(&text[..limit], at + 1, |byte| !matches!(byte, 0x07 | 0x1B | b'"' | b'\n'));
            match text.get(end)? {
                0x07 => Some(end + 1),
                0x1B if text.get(end + 1) == Some(&b'\\') => Some(end + 2),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the text that the base64 at `start` encodes, and where it ends. Gives up at the first characters that decode to
/// no text; `budget` limits how much is decoded.
pub(super) fn base64(text: &[u8], start: usize, budget: usize) -> Option<(Vec<u8>, usize)> {
    let end = run_end(&text[..text.len().min(start + BASE64_SAMPLE)], start, is_base64);
    if end - start < BASE64_SAMPLE || !Decoder::new(text[start..end].iter().copied()).all(is_text) {
        return None;
    }
    let (mut end, mut at) = (start, start);
    let mut characters = Vec::new();
    while characters.len() < budget {
        let limit = text.len().min(at + budget - characters.len());
        end = run_end(&text[..limit], at, is_base64);
        characters.extend_from_slice(&text[at..end]);
        // Encoders break lines at 64 or 76 characters.
        let is_full_line = end - at >= 60;
        match line_break(text, end) {
            Some(next) if is_full_line && text.get(next).is_some_and(|&byte| is_base64(byte)) => at = next,
            _ => break,
        }
    }
    if characters.len() < SHORTEST_BASE64 {
        return None;
    }
    let text = decoded(characters.into_iter());
    let others = text.iter().filter(|&&byte| !is_text(byte) && byte.is_ascii()).count();
    (others * 20 <= text.len()).then_some((text, end))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Decodes base64 of both alphabets up to its padding.
pub(super) fn decoded(characters: impl Iterator<Item = u8>) -> Vec<u8> {
    Decoder::new(characters).collect()
}

struct Decoder<I> {
    characters: I,
    bits: u32,
    held: u32,
}

impl<I: Iterator<Item = u8>> Decoder<I> {
    fn new(characters: I) -> Self {
        Self { characters, bits: 0, held: 0 }
    }
}

impl<I: Iterator<Item = u8>> Iterator for Decoder<I> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        while self.held < 8 {
            let character = self.characters.next()?;
            let value = match character {
                b'A'..=b'Z' => character - b'A',
                b'a'..=b'z' => character - b'a' + 26,
                b'0'..=b'9' => character - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            self.bits = self.bits << 6 | u32::from(value);
            self.held += 6;
        }
        self.held -= 8;
        Some((self.bits >> self.held) as u8)
    }
}
