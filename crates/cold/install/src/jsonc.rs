//! JSON as people write it, with the place of every value: comments, commas after the last element, a byte order mark.
//!
//! A parser that builds values cannot give a file back as it was. This one says where things are, so that an edit replaces
//! those bytes and no others.

use serde_json::Value;
use std::ops::Range;

/// How deep values may be nested, as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// What the client and editors on Windows may put at the start of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A value and its place in the text.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// A string, number, `true`, `false` or `null`.
    Scalar(Value),
}

/// A member of an object; its place is from the key to the end of the value.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) span: Range<usize>,
    pub(crate) value: Node,
}

/// Where a text stops being JSON.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Invalid {
    /// From 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl Node {
    /// Returns the last member of this name: the one that counts.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// Returns the members of an object; nothing for anything else.
    pub(crate) fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    /// Returns the elements of an array, or the one value where an array belongs.
    pub(crate) fn elements(&self) -> &[Node] {
        if let Kind::Array(elements) = &self.kind { elements } else { std::slice::from_ref(self) }
    }

    /// Returns a string's contents.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Scalar(Value::String(text)) = &self.kind { Some(text) } else { None }
    }

    /// Returns the value without its place.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
            }
            Kind::Array(elements) => elements.iter().map(Node::value).collect(),
            Kind::Scalar(value) => value.clone(),
        }
    }
}

/// Returns the value of a text; `None` for one that is not JSON, or blank.
pub fn value(text: &str) -> Option<Value> {
    parse(text).ok()?.map(|root| root.value())
}

/// Returns the first line, from 1, that only people and editors take for JSON: with a comment, or a comma after the last element.
/// The client passes over the whole file then.
pub fn line_beyond_json(text: &str) -> Option<usize> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let error = serde_json::from_str::<Value>(text).err()?;
    (!text.trim().is_empty()).then(|| error.line())
}

/// Reads a text; `None` when there is nothing in it but space and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Invalid> {
    let mut scanner = Scanner { text, at: 0, depth: 0 };
    if text.starts_with(BYTE_ORDER_MARK) {
        scanner.at = BYTE_ORDER_MARK.len_utf8();
    }
    scanner.skip()?;
    if scanner.peek().is_none() {
        return Ok(None);
    }
    let root = scanner.value()?;
    scanner.skip()?;
    match scanner.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(scanner.invalid("something follows the end of the object")),
    }
}

/// Returns the place of the comma that follows the value that ends at `end`, if there is one.
pub(crate) fn comma_after(text: &str, end: usize) -> Option<usize> {
    let mut scanner = Scanner { text, at: end, depth: 0 };
    scanner.skip().ok()?;
    (scanner.peek() == Some(b',')).then_some(scanner.at)
}

/// Returns the end of what is not space before `at`.
pub(crate) fn end_before(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches([' ', '\t', '\r', '\n']).len()
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn invalid(&self, reason: &'static str) -> Invalid {
        Invalid { line: self.text[..self.at].matches('\n').count() + 1, reason }
    }

    /// Passes over space and comments.
    fn skip(&mut self) -> Result<(), Invalid> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.rest().starts_with("//") => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                Some(b'/') if self.rest().starts_with("/*") => {
                    let length = self.rest()[2..].find("*/");
                    self.at += 4 + length.ok_or_else(|| self.invalid("this comment has no end"))?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self) -> Result<Node, Invalid> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind, Invalid>) -> Result<Kind, Invalid> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.invalid("this is nested too deeply"));
        }
        self.at += 1;
        self.skip()?;
        let kind = read(self)?;
        self.at += 1;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> Result<Kind, Invalid> {
        let mut members = Vec::new();
        while self.peek() != Some(b'}') {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.invalid("expected a key in quotes, or `}`"));
            }
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.invalid("expected `:` after a key"));
            }
            self.at += 1;
            self.skip()?;
            let value = self.value()?;
            members.push(Member { key, span: start..self.at, value });
            self.separator(b'}')?;
        }
        Ok(Kind::Object(members))
    }

    fn array(&mut self) -> Result<Kind, Invalid> {
        let mut elements = Vec::new();
        while self.peek() != Some(b']') {
            elements.push(self.value()?);
            self.separator(b']')?;
        }
        Ok(Kind::Array(elements))
    }

    /// Passes over a comma, unless the container ends here.
    fn separator(&mut self, end: u8) -> Result<(), Invalid> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.skip()
            }
            Some(byte) if byte == end => Ok(()),
            _ => Err(self.invalid("expected a comma, or the end of what was begun")),
        }
    }

    fn string(&mut self) -> Result<String, Invalid> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.invalid("this string has no end")),
            }
        }
        let text = self.text.get(self.at..=end).and_then(|text| serde_json::from_str(text).ok());
        let text = text.ok_or_else(|| self.invalid("this string is not valid"))?;
        self.at = end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<Kind, Invalid> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
        let word = serde_json::from_str(&self.rest()[..length]);
        let word = word.map_err(|_| self.invalid("expected a value"))?;
        self.at += length;
        Ok(Kind::Scalar(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_those_of_json_whatever_is_between_them() {
        let text = "\u{feff}// first\r\n{ /* a */ \"a//b\": [1, -2.5e3, true,], // note\n \"c\\n\": {\"d\": null} }\n";
        assert_eq!(value(text), Some(json!({"a//b": [1, -2.5e3, true], "c\n": {"d": null}})));
        assert_eq!(parse(" // only a comment").unwrap().map(|root| root.value()), None);
    }

    #[test]
    fn comments_and_trailing_commas_are_named_by_their_line() {
        for (text, line) in [
            ("{\n\"a\": 1, // note\n\"b\": 2}", Some(2)),
            ("{\n\"a\": [1,\n]}", Some(3)),
            ("{\"a\": \"// no comment,]\", \"_comment\": 1}", None),
            ("\u{feff}{}\r\n", None),
            (" ", None),
        ] {
            assert_eq!(line_beyond_json(text), line, "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_line() {
        let deep = "[".repeat(200);
        for (text, line) in [
            ("{\n\"a\": 1\n\"b\": 2}", 3),
            ("{\"a\": }", 1),
            ("{a: 1}", 1),
            ("{\"a\": \"x}", 1),
            ("{\"a\" 1}", 1),
            ("{,}", 1),
            ("{} {}", 1),
            ("{ /* }", 1),
            ("{\"a\": \"\\q\"}", 1),
            ("{\"a\": [1}", 1),
            ("{", 1),
            (&deep, 1),
        ] {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
