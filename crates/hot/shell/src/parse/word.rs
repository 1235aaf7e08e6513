//! Words: quotes, escapes and expansions. The commands in a substitution are handed to the grammar.

use super::{Parser, is_name};
use crate::Word;

impl Parser<'_, '_> {
    /// Reads one word. It is empty, and nothing is read, where none starts.
    pub(super) fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    word.text.push_str(if byte == b'<' { "<()" } else { ">()" });
                    word.is_dynamic = true;
                    self.position += 2;
                    self.substitution();
                }
                b'<' | b'>' => break,
                b'(' if is_glob_group(&word) => self.glob_group(&mut word),
                b'(' => break,
                b'\\' => self.escape(&mut word),
                b'\'' => self.single_quoted(&mut word),
                b'"' => self.double_quoted(&mut word),
                b'$' => self.dollar(&mut word, false),
                b'`' => self.backticks(&mut word, false),
                _ => self.copy_until(&mut word, b" \t\r\n;&|<>()\\'\"$`"),
            }
        }
        word
    }

    /// Reads the rest of the text as the inside of double quotes: only its expansions mean anything.
    pub(super) fn expansions(&mut self) {
        self.double_quoted_until(&mut Word::default(), None);
    }

    /// Reads the inside of `(( … ))`, from behind the opening pair to behind the closing one. Returns `false`, and
    /// goes back, when the parentheses turn out to be nested subshells.
    pub(super) fn arithmetic(&mut self) -> bool {
        self.nested(Self::arithmetic_or_subshells).unwrap_or(true)
    }

    fn arithmetic_or_subshells(&mut self) -> bool {
        let checkpoint = self.checkpoint();
        let mut ignored = Word::default();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' if self.peek_at(1) == Some(b')') => {
                    self.position += 2;
                    return true;
                }
                b')' if self.go_back(&checkpoint) => return false,
                b'\\' | b'"' | b'$' | b'`' => {
                    match byte {
                        b'\\' => self.escape(&mut ignored),
                        b'"' => self.double_quoted(&mut ignored),
                        b'$' => self.dollar(&mut ignored, true),
                        _ => self.backticks(&mut ignored, true),
                    }
                    ignored.text.clear();
                    continue;
                }
                _ => {}
            }
            self.position += 1;
        }
        true
    }

    /// Reads `(a b …)` behind `name=`.
    pub(super) fn array(&mut self) -> Word {
        let mut array = Word { text: String::from("("), ..Word::default() };
        self.position += 1;
        loop {
            self.skip_lines();
            match self.peek() {
                None => break,
                Some(b')') => {
                    self.position += 1;
                    break;
                }
                Some(_) => {
                    let element = self.word_or_byte();
                    if array.text.len() > 1 {
                        array.text.push(' ');
                    }
                    array.text.push_str(&element.text);
                    array.is_quoted |= element.is_quoted;
                    array.is_dynamic |= element.is_dynamic;
                }
            }
        }
        array.text.push(')');
        array
    }

    /// Reads a word; where none starts, skips the operator.
    pub(super) fn word_or_byte(&mut self) -> Word {
        let before = self.position;
        let word = self.word();
        if self.position == before {
            self.position += 1;
        }
        word
    }

    fn copy_until(&mut self, word: &mut Word, stops: &[u8]) {
        let rest = &self.text[self.position..];
        let length = rest.bytes().position(|byte| stops.contains(&byte)).unwrap_or(rest.len());
        word.text.push_str(&rest[..length]);
        self.position += length;
    }

    fn copy_char(&mut self, word: &mut Word) {
        if let Some(char) = self.text[self.position..].chars().next() {
            word.text.push(char);
            self.position += char.len_utf8();
        }
    }

    fn escape(&mut self, word: &mut Word) {
        self.position += 1;
        if self.eat("\n") {
            return;
        }
        word.is_quoted = true;
        self.copy_char(word);
    }

    fn single_quoted(&mut self, word: &mut Word) {
        word.is_quoted = true;
        self.position += 1;
        self.copy_until(word, b"'");
        self.eat("'");
    }

    fn double_quoted(&mut self, word: &mut Word) {
        word.is_quoted = true;
        self.position += 1;
        self.double_quoted_until(word, Some(b'"'));
    }

    fn double_quoted_until(&mut self, word: &mut Word, end: Option<u8>) {
        while let Some(byte) = self.peek() {
            match byte {
                _ if Some(byte) == end => {
                    self.position += 1;
                    return;
                }
                b'\\' => match self.peek_at(1) {
                    Some(b'$' | b'`' | b'"' | b'\\' | b'\n') => self.escape(word),
                    _ => {
                        word.text.push('\\');
                        self.position += 1;
                    }
                },
                b'$' => self.dollar(word, true),
                b'`' => self.backticks(word, true),
                b'"' => {
                    word.text.push('"');
                    self.position += 1;
                }
                _ => self.copy_until(word, b"\"\\$`"),
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, is_in_double_quotes: bool) {
        self.position += 1;
        match self.peek() {
            Some(b'\'') if !is_in_double_quotes => self.ansi_quoted(word),
            Some(b'"') if !is_in_double_quotes => self.double_quoted(word),
            Some(b'(') => {
                word.is_dynamic = true;
                if self.eat("((") {
                    if self.arithmetic() {
                        word.text.push_str("$(())");
                        return;
                    }
                    self.position -= 1;
                } else {
                    self.position += 1;
                }
                word.text.push_str("$()");
                self.substitution();
            }
            Some(b'{') => {
                word.is_dynamic = true;
                word.text.push_str("${");
                self.position += 1;
                self.nested(|parser| parser.parameter(word, is_in_double_quotes));
                word.text.push('}');
            }
            Some(byte) if is_name(byte) => {
                word.is_dynamic = true;
                word.text.push('$');
                while let Some(byte) = self.peek().filter(|byte| is_name(*byte)) {
                    word.text.push(char::from(byte));
                    self.position += 1;
                }
            }
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                word.is_dynamic = true;
                word.text.push('$');
                word.text.push(char::from(byte));
                self.position += 1;
            }
            _ => word.text.push('$'),
        }
    }

    /// Reads the inside of `${ … }`, from behind the opening brace to behind the closing one.
    fn parameter(&mut self, word: &mut Word, is_in_double_quotes: bool) {
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.position += 1;
                    return;
                }
                b'\\' => self.escape(word),
                b'\'' if !is_in_double_quotes => self.single_quoted(word),
                b'"' => self.double_quoted(word),
                b'$' => self.dollar(word, is_in_double_quotes),
                b'`' => self.backticks(word, is_in_double_quotes),
                b'\'' => {
                    word.text.push('\'');
                    self.position += 1;
                }
                _ => self.copy_until(word, b"}\\'\"$`"),
            }
        }
    }

    fn backticks(&mut self, word: &mut Word, is_in_double_quotes: bool) {
        word.is_dynamic = true;
        word.text.push_str("$()");
        self.position += 1;
        let start = self.position;
        let mut script = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'`' => break,
                b'\\' => {
                    let is_escape = match self.peek_at(1) {
                        Some(b'`' | b'\\' | b'$') => true,
                        Some(b'"') => is_in_double_quotes,
                        _ => false,
                    };
                    self.position += 1;
                    if !is_escape {
                        script.text.push('\\');
                    }
                    self.copy_char(&mut script);
                }
                _ => self.copy_until(&mut script, b"`\\"),
            }
        }
        self.eat("`");
        self.substituted_string(&script.text, start);
    }

    /// Reads `$'…'`, from its first quote.
    fn ansi_quoted(&mut self, word: &mut Word) {
        word.is_quoted = true;
        self.position += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => {
                    self.position += 1;
                    return;
                }
                b'\\' => {
                    self.position += 1;
                    self.ansi_escape(word);
                }
                _ => self.copy_until(word, b"'\\"),
            }
        }
    }

    fn ansi_escape(&mut self, word: &mut Word) {
        let Some(byte) = self.peek() else { return };
        let (digits, radix) = match byte {
            b'x' => (2, 16),
            b'u' => (4, 16),
            b'U' => (8, 16),
            b'0'..=b'7' => (3, 8),
            _ => (0, 0),
        };
        if digits > 0 {
            self.position += usize::from(radix == 16);
            let rest = &self.text.as_bytes()[self.position..];
            let length =
                rest.iter().take(digits).take_while(|byte| char::from(**byte).is_digit(radix)).count();
            let code = u32::from_str_radix(&self.text[self.position..self.position + length], radix);
            word.text.extend(code.ok().and_then(char::from_u32));
            self.position += length;
            return;
        }
        let control = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'a' => '\x07',
            b'b' => '\x08',
            b'e' | b'E' => '\x1b',
            b'f' => '\x0c',
            b'v' => '\x0b',
            _ => return self.copy_char(word),
        };
        word.text.push(control);
        self.position += 1;
    }

    /// Reads the group of `@(a|b)`, `!(x)`, `*(.)`: a pattern, not a subshell.
    fn glob_group(&mut self, word: &mut Word) {
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return,
                b'\\' => self.escape(word),
                b'\'' => self.single_quoted(word),
                b'"' => self.double_quoted(word),
                b'$' => self.dollar(word, false),
                b'`' => self.backticks(word, false),
                b'(' | b')' => {
                    word.text.push(char::from(byte));
                    self.position += 1;
                    if byte == b'(' {
                        open += 1;
                    } else {
                        open -= 1;
                        if open == 0 {
                            return;
                        }
                    }
                }
                _ => self.copy_until(word, b"\n\\'\"$`()"),
            }
        }
    }
}

/// Returns whether a parenthesis behind this part of a word opens a pattern.
fn is_glob_group(word: &Word) -> bool {
    matches!(word.text.as_bytes().last(), Some(b'?' | b'*' | b'+' | b'@' | b'!'))
}
