//! Words: quotes, escapes and expansions. The commands in a substitution are handed to the grammar.

use super::{Parser, is_name};
use crate::Word;

impl<'text> Parser<'text, '_> {
    /// Reads one word. It is empty, and nothing is read, where none starts.
    pub(super) fn word(&mut self) -> Word {
        let first_break = self.breaks.len();
        let word = self.splitting_word();
        self.breaks.truncate(first_break);
        word
    }

    /// Reads one word, and notes where a variable's value splits it.
    fn splitting_word(&mut self) -> Word {
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
                b'$' => {
                    let start = word.text.len();
                    self.dollar(&mut word, false);
                    if self.was_expanded {
                        self.note_breaks(&word.text, start);
                    }
                }
                b'`' => self.backticks(&mut word, false),
                _ => self.copy_until(&mut word, Stops::Word),
            }
        }
        word
    }

    /// Notes the blanks in an unquoted value, which begins at `start`.
    fn note_breaks(&mut self, text: &str, start: usize) {
        let mut rest = start;
        while let Some(blank) = text[rest..].find([' ', '\t', '\n']).map(|blank| rest + blank) {
            let length = text[blank..].bytes().take_while(|byte| b" \t\n".contains(byte)).count();
            rest = blank + length;
            self.breaks.push(blank..rest);
        }
    }

    /// Reads the rest of the text as the inside of double quotes: only its expansions mean anything.
    pub(super) fn expansions(&mut self) -> Word {
        let mut word = Word::default();
        self.double_quoted_until(&mut word, None);
        word
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
    pub(super) fn array(&mut self) -> (Word, Vec<Word>) {
        let mut elements = Vec::new();
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
                    elements.push(element);
                }
            }
        }
        array.text.push(')');
        (array, elements)
    }

    /// Reads a word, and notes where a variable's value splits it; where none starts, skips the operator.
    pub(super) fn splitting_word_or_byte(&mut self) -> Word {
        let before = self.position;
        let word = self.splitting_word();
        if self.position == before {
            self.position += 1;
        }
        word
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

    fn copy_until(&mut self, word: &mut Word, stops: Stops) {
        let rest = &self.text[self.position..];
        let stops = |byte: u8| STOPS[usize::from(byte)] & stops as u8 != 0;
        let length = rest.bytes().position(stops).unwrap_or(rest.len());
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
        self.copy_until(word, Stops::SingleQuotes);
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
                _ => self.copy_until(word, Stops::DoubleQuotes),
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
                self.position += 1;
                if self.known_parameter(word, is_in_double_quotes) {
                    return;
                }
                word.is_dynamic = true;
                word.text.push_str("${");
                self.nested(|parser| parser.parameter(word, is_in_double_quotes));
                word.text.push('}');
            }
            Some(byte) if is_name(byte) => {
                let name = self.name();
                self.position += name.len();
                if !self.expand(name, word) {
                    word.is_dynamic = true;
                    word.text.push('$');
                    word.text.push_str(name);
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

    /// Reads the inside of `${ … }` if it is a variable whose value is known, with a default at most.
    fn known_parameter(&mut self, word: &mut Word, is_in_double_quotes: bool) -> bool {
        let start = self.position;
        let name = self.name();
        if name.is_empty() {
            return false;
        }
        let rest = &self.text.as_bytes()[start + name.len()..];
        if rest.starts_with(b"[@]}") || rest.starts_with(b"[*]}") {
            let is_known = self.expand_array(name, word);
            self.position += if is_known { name.len() + 4 } else { 0 };
            return is_known;
        }
        let is_for_empty = rest.first() == Some(&b':');
        let operator = rest.get(usize::from(is_for_empty)).copied().unwrap_or_default();
        let is_supported = matches!(operator, b'-' | b'=' | b'?' | b'+') || !is_for_empty && operator == b'}';
        let removed = if is_supported { None } else { removed_part(rest) };
        let length = word.text.len();
        if !(is_supported || removed.is_some()) || !self.expand(name, word) {
            return false;
        }
        self.position += name.len();
        if let Some((part, is_suffix)) = removed {
            let value = &word.text[length..];
            if is_suffix && value.ends_with(part) {
                word.text.truncate(word.text.len() - part.len());
            } else if !is_suffix && value.starts_with(part) {
                word.text.drain(length..length + part.len());
            }
            let operators = rest.iter().take_while(|byte| matches!(byte, b'%' | b'#')).count();
            self.position += operators + part.len() + 1;
            return true;
        }
        self.position += usize::from(is_for_empty) + 1;
        if operator == b'}' {
            return true;
        }
        let is_empty = is_for_empty && word.text.len() == length;
        let takes_other = match operator {
            b'+' => !is_empty,
            b'?' => false,
            _ => is_empty,
        };
        if takes_other {
            word.text.truncate(length);
            self.nested(|parser| parser.parameter(word, is_in_double_quotes));
        } else {
            let mut unused = Word::default();
            self.nested(|parser| parser.parameter(&mut unused, is_in_double_quotes));
        }
        true
    }

    /// Returns the name that starts here.
    fn name(&self) -> &'text str {
        let text = self.text;
        let rest = &text.as_bytes()[self.position..];
        let length = rest.iter().take_while(|byte| is_name(**byte)).count();
        &text[self.position..self.position + length]
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
                _ => self.copy_until(word, Stops::Parameter),
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
                _ => self.copy_until(&mut script, Stops::Backticks),
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
                _ => self.copy_until(word, Stops::AnsiQuotes),
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
                _ => self.copy_until(word, Stops::Pattern),
            }
        }
    }
}

/// Returns whether a parenthesis behind this part of a word opens a pattern.
fn is_glob_group(word: &Word) -> bool {
    matches!(word.text.as_bytes().last(), Some(b'?' | b'*' | b'+' | b'@' | b'!'))
}

/// Returns what `%part}` or `#part}` takes off a value, and whether it does so at the end; nothing for patterns.
fn removed_part(rest: &[u8]) -> Option<(&str, bool)> {
    let operators = rest.iter().take_while(|byte| matches!(byte, b'%' | b'#')).count();
    let end = rest.iter().take(MAX_PART).position(|byte| *byte == b'}')?;
    let part = std::str::from_utf8(rest.get(operators..end)?).ok()?;
    let is_literal = !part.contains(['*', '?', '[', '$', '`', '\'', '"', '\\', '{']);
    ((1..=2).contains(&operators) && is_literal).then_some((part, rest[0] == b'%'))
}

/// A longer part is not taken off, in bytes.
const MAX_PART: usize = 64;

/// Where a part of a word ends that is copied as it is.
#[derive(Clone, Copy)]
enum Stops {
    Word = 1,
    SingleQuotes = 2,
    DoubleQuotes = 4,
    Parameter = 8,
    Backticks = 16,
    AnsiQuotes = 32,
    Pattern = 64,
}

/// The parts that each byte ends.
static STOPS: [u8; 256] = {
    let mut table = [0; 256];
    let kinds: [(Stops, &[u8]); 7] = [
        (Stops::Word, b" \t\r\n;&|<>()\\'\"$`"),
        (Stops::SingleQuotes, b"'"),
        (Stops::DoubleQuotes, b"\"\\$`"),
        (Stops::Parameter, b"}\\'\"$`"),
        (Stops::Backticks, b"`\\"),
        (Stops::AnsiQuotes, b"'\\"),
        (Stops::Pattern, b"\n\\'\"$`()"),
    ];
    let mut kind = 0;
    while kind < kinds.len() {
        let (stops, mut bytes) = kinds[kind];
        while let Some((byte, rest)) = bytes.split_first() {
            table[*byte as usize] |= stops as u8;
            bytes = rest;
        }
        kind += 1;
    }
    table
};
