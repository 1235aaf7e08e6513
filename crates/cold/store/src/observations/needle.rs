//! Whether a text mentions what a person typed: in any script, case and normal form, also behind the escapes of JSON.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization as _;

/// How often escapes are undone: JSON may be a string in other JSON.
const MAX_UNESCAPED: usize = 3;

/// A text to look for.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    folded: String,
}

impl Needle {
    pub(super) fn new(text: &str) -> Self {
        Self { folded: fold(text).into_owned() }
    }

    /// Says whether `text`, which need not be valid, contains this one.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        let mut text = String::from_utf8_lossy(text);
        for _ in 0..=MAX_UNESCAPED {
            if fold(&text).contains(&self.folded) {
                return true;
            }
            match unescaped(&text) {
                Some(plain) => text = Cow::Owned(plain),
                None => return false,
            }
        }
        false
    }
}

/// Returns a text in the form in which texts are compared: composed, so that `cafe` is not found in `café`, and without case.
fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Owned(text.nfkc().flat_map(folded).nfkc().collect())
}

/// Returns a character without case. Both cases are tried, since some letters have a pair in one direction only: `ẞ` is
/// the capital of `ß`, whose capitals are `SS`; `ς` and `σ` share one.
fn folded(character: char) -> impl Iterator<Item = char> {
    // Its small form would be an `i` with a dot above that no one types.
    let character = if character == 'İ' { 'i' } else { character };
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Returns a text without the escapes of JSON; `None` where it has none. What is no escape stays as it is.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at..]).unwrap_or(('\\', 1));
        is_changed |= length > 1;
        plain.push(character);
        rest = &rest[at + length..];
    }
    plain.push_str(rest);
    is_changed.then_some(plain)
}

/// Returns the character that the escape at the beginning of `text` means, and the escape's length.
fn escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((character, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| -> Option<u32> {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    // A character beyond the first 65,536 is written as two units.
    let second = unit(6).filter(|second| (0xdc00..0xe000).contains(second))?;
    let high = first.checked_sub(0xd800).filter(|high| *high < 0x400)?;
    Some((char::from_u32(0x1_0000 + (high << 10) + (second - 0xdc00))?, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, query: &str, is_found: bool) {
        assert_eq!(Needle::new(query).is_in(text.as_bytes()), is_found, "{query:?} in {text:?}");
    }

    #[test]
    fn case_and_form_do_not_matter_in_any_script() {
        let same = [
            ("Straße", "STRASSE"),
            ("STRAẞE", "straße"),
            ("\u{e9}clair", "E\u{301}CLAIR"),
            ("ΟΔΟΣ", "οδος"),
            ("οδοσ", "ΟΔΟΣ"),
            ("İSTANBUL", "istanbul"),
            ("I\u{307}stanbul", "istanbul"),
            ("DIYARBAKIR", "dıyarbakır"),
            ("МОСКВА", "москва"),
            ("ＡＣＭＥ", "acme"),
            ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
            ("日本語", "日本"),
            ("Å", "\u{212b}"),
        ];
        for (text, query) in same {
            check(text, query, true);
            check(&format!("before {text} after"), query, true);
        }
        check("καλημέρα", "ΚΑΛΗΜΈΡΑ", true);
        for (text, query) in [("café", "cafe"), ("cafe", "café"), ("日本", "日木"), ("", "x")] {
            check(text, query, false);
        }
    }

    #[test]
    fn escapes_hide_nothing() {
        check(r#"{"a":"stra\u00dfe"}"#, "Straße", true);
        check(r#"{"a":"\u65E5\u672c"}"#, "日本", true);
        check(r#"{"a":"\ud83d\ude00"}"#, "😀", true);
        check(r#"{"a":"{\"b\":\"stra\\u00dfe\"}"}"#, "straße", true);
        check(r#"{"a":"the \"deal\" with acme"}"#, r#"the "deal""#, true);
        check(r#"{"a":"C:\\temp\nnext"}"#, "c:\\temp\nnext", true);
        check(r#"{"a":"C:\\temp"}"#, r"c:\temp", true);
        check(r"\ud83d \u12 \x \", "x", true);
        check(r"\ud83d\u0041 \u+123", "a \\u+123", true);
    }

    #[test]
    fn bytes_that_are_no_text_are_searched_as_well() {
        assert!(Needle::new("acme").is_in(b"\xff\xfe ACME \xff"));
    }
}
