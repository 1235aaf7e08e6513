//! A JSON cursor for lines that are mostly passed over.
//!
//! Two thirds of a transcript are long strings full of `\n`, and half of those are a copy that is never read. A
//! general parser stops at every escape of every string. This cursor looks for the closing quote only and decodes
//! just the strings that are asked for, which makes a full scan more than twice as quick as serde's typed parse.
//!
//! It takes what it knows and lets the rest go: a value of another type than the one asked for counts as absent, and
//! what is passed over is checked for balance only. One thing is certain, and [`crate::stream`] relies on it: the
//! beginning of an object is never taken for the whole of it.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;

/// The place at which a line stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) at: usize,
}

/// A raw string of a record, decoded on demand.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Text<'a> {
    quoted: &'a str,
}

impl<'a> Text<'a> {
    /// Returns the text, borrowed when it has no escapes.
    ///
    /// Half a surrogate pair becomes the replacement character: the client cuts long strings by UTF-16 units, and a
    /// cut through an emoji must not cost the text. An invalid escape stays unchanged.
    pub fn decode(self) -> Cow<'a, str> {
        let Some(first) = memchr(b'\\', self.quoted.as_bytes()) else {
            return Cow::Borrowed(self.quoted);
        };
        let mut decoded = String::with_capacity(self.quoted.len());
        let mut rest = self.quoted;
        let mut next = Some(first);
        while let Some(escape) = next {
            decoded.push_str(&rest[..escape]);
            let (character, length) = decode_escape(&rest[escape..]).unwrap_or(('\\', 1));
            decoded.push(character);
            rest = &rest[escape + length..];
            next = memchr(b'\\', rest.as_bytes());
        }
        decoded.push_str(rest);
        Cow::Owned(decoded)
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.decode(), formatter)
    }
}

/// A place in a JSON text. Every method that reads a value leaves the cursor just past it.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads an object; `field` must read the value of every field it is given. Returns whether there was an object.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&'a str, &mut Self) -> Result<(), Malformed>,
    ) -> Result<bool, Malformed> {
        if self.peek() != Some(b'{') {
            self.pass()?;
            return Ok(false);
        }
        self.at += 1;
        if self.take(b'}') {
            return Ok(true);
        }
        self.field(&mut field)?;
        self.rest_of_object(field)?;
        Ok(true)
    }

    /// Reads what is left of an object after one of its values.
    pub(crate) fn rest_of_object(
        &mut self,
        mut field: impl FnMut(&'a str, &mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        while !self.take(b'}') {
            if !self.take(b',') {
                return Err(self.malformed());
            }
            self.field(&mut field)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &mut impl FnMut(&'a str, &mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let key = self.quoted()?;
        if !self.take(b':') {
            return Err(self.malformed());
        }
        field(key, self)
    }

    /// Reads a list; `element` must read every element it is given. Returns whether there was a list.
    pub(crate) fn list(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<bool, Malformed> {
        if self.peek() != Some(b'[') {
            self.pass()?;
            return Ok(false);
        }
        self.at += 1;
        if self.take(b']') {
            return Ok(true);
        }
        loop {
            element(self)?;
            if self.take(b']') {
                return Ok(true);
            }
            if !self.take(b',') {
                return Err(self.malformed());
            }
        }
    }

    pub(crate) fn text(&mut self) -> Result<Option<Text<'a>>, Malformed> {
        if self.is_text() {
            return Ok(Some(Text { quoted: self.quoted()? }));
        }
        self.pass()?;
        Ok(None)
    }

    /// Reads a short string and decodes it.
    pub(crate) fn word(&mut self) -> Result<Option<Cow<'a, str>>, Malformed> {
        Ok(self.text()?.map(Text::decode))
    }

    /// Reads a boolean; anything else is false.
    pub(crate) fn flag(&mut self) -> Result<bool, Malformed> {
        Ok(self.pass()? == "true")
    }

    /// Reads a non-negative whole number.
    pub(crate) fn count(&mut self) -> Result<Option<u64>, Malformed> {
        Ok(self.pass()?.parse().ok())
    }

    /// Reads any value but null, raw.
    pub(crate) fn raw(&mut self) -> Result<Option<&'a str>, Malformed> {
        Ok(Some(self.pass()?).filter(|value| *value != "null"))
    }

    /// Skips any value and returns it raw.
    pub(crate) fn pass(&mut self) -> Result<&'a str, Malformed> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => {
                self.quoted()?;
            }
            Some(b'{' | b'[') => self.pass_nested()?,
            _ => self.pass_scalar()?,
        }
        Ok(&self.text[start..self.at])
    }

    /// Returns whether the next value is a string.
    pub(crate) fn is_text(&mut self) -> bool {
        self.peek() == Some(b'"')
    }

    /// Checks that nothing but white space follows.
    pub(crate) fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_some() { Err(self.malformed()) } else { Ok(()) }
    }

    /// Returns the next byte that is not white space and moves to it.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads a string without decoding it.
    fn quoted(&mut self) -> Result<&'a str, Malformed> {
        if !self.take(b'"') {
            return Err(self.malformed());
        }
        let bytes = self.text.as_bytes();
        let start = self.at;
        while let Some(distance) = memchr(b'"', &bytes[self.at..]) {
            let quote = self.at + distance;
            self.at = quote + 1;
            // A quote after an odd number of backslashes is escaped.
            let backslashes = bytes[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                return Ok(&self.text[start..quote]);
            }
        }
        Err(self.malformed())
    }

    /// Passes over an object or a list by counting brackets, so that no depth of nesting can exhaust the stack.
    fn pass_nested(&mut self) -> Result<(), Malformed> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.quoted()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.malformed())
    }

    /// Passes over a number, a boolean or null.
    fn pass_scalar(&mut self) -> Result<(), Malformed> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let length = rest.iter().take_while(is_part).count();
        let is_scalar = match &rest[..length] {
            b"true" | b"false" | b"null" => true,
            [first, ..] => first.is_ascii_digit() || *first == b'-',
            [] => false,
        };
        if !is_scalar {
            return Err(self.malformed());
        }
        self.at += length;
        Ok(())
    }

    fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }
}

/// Decodes the escape at the start of a text and returns its length.
fn decode_escape(text: &str) -> Option<(char, usize)> {
    const SHORT: usize = 2;
    const LONG: usize = 6;
    let character = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'u' => {
            let high = code_unit(text)?;
            let pair = [high, text.get(LONG..).and_then(code_unit).unwrap_or(0)];
            return match char::decode_utf16(pair).next()? {
                Ok(character) => Some((character, if character.len_utf16() == 2 { 2 * LONG } else { LONG })),
                Err(_) => Some((char::REPLACEMENT_CHARACTER, LONG)),
            };
        }
        _ => return None,
    };
    Some((character, SHORT))
}

fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // The standard library would take a sign too.
    if digits.starts_with('+') {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Rebuilds a value through the cursor, so that it can be compared with what serde makes of the same text.
    fn rebuild(cursor: &mut Cursor<'_>) -> Result<Value, Malformed> {
        match cursor.peek() {
            Some(b'{') => {
                let mut fields = serde_json::Map::new();
                cursor.object(|key, cursor| {
                    fields.insert(key.to_owned(), rebuild(cursor)?);
                    Ok(())
                })?;
                Ok(Value::Object(fields))
            }
            Some(b'[') => {
                let mut elements = Vec::new();
                cursor.list(|cursor| {
                    elements.push(rebuild(cursor)?);
                    Ok(())
                })?;
                Ok(Value::Array(elements))
            }
            Some(b'"') => Ok(Value::String(cursor.word()?.unwrap().into_owned())),
            _ => Ok(serde_json::from_str(cursor.pass()?).unwrap()),
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            r#"[\\"/ue\n\t{}\[\],:😀]{0,12}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map("[a-z]{1,6}", inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_json_reads_as_serde_reads_it(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let mut cursor = Cursor::new(&text);
            prop_assert_eq!(rebuild(&mut cursor), Ok(value));
            prop_assert_eq!(cursor.end(), Ok(()));
            prop_assert_eq!(Cursor::new(&text).pass(), Ok(text.as_str()));
        }

        #[test]
        fn the_beginning_of_an_object_is_never_taken_for_the_whole(value in any_json(), cut in any::<prop::sample::Index>()) {
            let text = serde_json::json!({"a": value}).to_string();
            let cut = text.floor_char_boundary(cut.index(text.len()));
            prop_assert!(Cursor::new(&text[..cut]).pass().is_err());
            prop_assert!(Cursor::new(&text[..cut]).object(|_, cursor| cursor.pass().map(drop)).is_err());
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"[\\"u0-9a-fDd{}\[\],: é\-+]{0,40}"#) {
            let _ = Cursor::new(&text).pass();
            let _ = Cursor::new(&text).word();
            let _ = Cursor::new(&text).object(|_, cursor| cursor.word().map(drop));
            let _ = Cursor::new(&text).list(|cursor| cursor.count().map(drop));
        }
    }

    #[track_caller]
    fn check_text(json: &str, expected: Option<&str>) {
        assert_eq!(Cursor::new(json).word().ok().flatten().as_deref(), expected, "{json}");
    }

    #[test]
    fn escapes_are_decoded() {
        check_text(r#""a\n\t\"\\\/\b\f\r\u00e9""#, Some("a\n\t\"\\/\u{8}\u{c}\ré"));
        check_text(r#""\ud83d\ude00""#, Some("😀"));
        check_text(r#""C:\\ud83d""#, Some(r"C:\ud83d"));
    }

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        check_text(r#""cut \ud83d""#, Some("cut \u{fffd}"));
        check_text(r#""\ude00 cut""#, Some("\u{fffd} cut"));
        check_text(r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀"));
        check_text(r#""\ud83d\n""#, Some("\u{fffd}\n"));
    }

    #[test]
    fn an_invalid_escape_stays_unchanged() {
        for text in [r"\x", r"\u12", r"\u+123", r"\u12é4"] {
            check_text(&format!("\"{text}\""), Some(text));
        }
    }

    #[test]
    fn a_string_that_is_not_closed_is_malformed() {
        for json in [r#""open"#, r#""open\""#, r#"""#] {
            assert!(Cursor::new(json).text().is_err(), "{json}");
        }
    }
}
