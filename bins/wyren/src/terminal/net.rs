//! The net under all output: no control character of a name, a path, an error or a text reaches a terminal.
//!
//! Line breaks, tabs and our own styles pass. Everything else that steers a terminal or the direction of text is shown
//! as `\u001b`, which is also how JSON writes it: what a script reads is the same text as before.

use super::{DIM, FAILURE, FOUND, STRONG, SUCCESS, WARNING};
use anstyle::Style;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// A writer that shows control characters instead of passing them on.
///
/// A style is known by being written alone, as `{STRONG}` in a format string is: text of others that holds the same
/// sequence comes with more around it. A text of ours with styles in it goes through [`Styled`].
pub(crate) struct Net<W: Write> {
    inner: W,
    /// The beginning of a character whose rest comes with the next write.
    pending: Vec<u8>,
}

impl<W: Write> Net<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, pending: Vec::new() }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        if is_style(bytes) || bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
            return self.inner.write_all(bytes);
        }
        let mut shown = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                push(&mut shown, character);
            }
            if !chunk.invalid().is_empty() {
                shown.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.inner.write_all(shown.as_bytes())
    }
}

impl<W: Write> Write for Net<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let whole = bytes.len();
        let joined = if self.pending.is_empty() {
            bytes.to_vec()
        } else {
            [std::mem::take(&mut self.pending).as_slice(), bytes].concat()
        };
        // An error at the very end is a character that may go on.
        let complete = match str::from_utf8(&joined) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => joined.len(),
        };
        self.pending = joined[complete..].to_vec();
        self.pass(&joined[..complete])?;
        Ok(whole)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Net<W> {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let _ = self.inner.write_all("\u{fffd}".as_bytes());
        }
    }
}

/// A text of ours that was formatted with styles in it. What it holds of others is safe already.
pub(crate) struct Styled<T>(pub(crate) T);

impl<T: AsRef<str>> fmt::Display for Styled<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_ref();
        while let Some(at) = rest.find('\u{1b}') {
            let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
            formatter.write_str(&rest[..at])?;
            formatter.write_str(&rest[at..end])?;
            rest = &rest[end..];
        }
        formatter.write_str(rest)
    }
}

/// In the headings of clap's help.
const UNDERLINED: Style = Style::new().underline();

fn is_style(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x1b)
        && [DIM, STRONG, SUCCESS, WARNING, FAILURE, FOUND, UNDERLINED].iter().any(|style| {
            [style.render().to_string(), style.render_reset().to_string()]
                .iter()
                .any(|s| s.as_bytes() == bytes)
        })
}

/// Returns whether a character steers the terminal, or the direction of what is shown.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push(shown: &mut String, character: char) {
    if is_control(character) {
        // None of them is beyond four digits.
        let _ = write!(shown, "\\u{:04x}", character as u32);
    } else {
        shown.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(write: impl FnOnce(&mut Net<&mut Vec<u8>>)) -> String {
        let mut bytes = Vec::new();
        write(&mut Net::new(&mut bytes));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn control_characters_of_others_are_shown_and_not_passed_on() {
        let name = "di\u{1b}]0;PWNED\u{7}\u{1b}[31mRED\u{9b}5n\u{202e}r\u{7f}\r\u{8}";
        let shown = through(|net| writeln!(net, "{STRONG}{name}{STRONG:#}\tü 日本").unwrap());
        assert_eq!(
            shown,
            "\u{1b}[1mdi\\u001b]0;PWNED\\u0007\\u001b[31mRED\\u009b5n\\u202er\\u007f\\u000d\\u0008\u{1b}[0m\tü 日本\n"
        );
    }

    #[test]
    fn every_style_of_ours_passes() {
        for style in [DIM, STRONG, SUCCESS, WARNING, FAILURE, FOUND] {
            let expected = format!("{style}x{style:#}\n");
            assert_eq!(through(|net| writeln!(net, "{style}x{style:#}").unwrap()), expected);
            assert_eq!(through(|net| write!(net, "{}", Styled(&expected)).unwrap()), expected);
        }
        assert_eq!(through(|net| net.write_all(b"\x1b[8m").unwrap()), "\\u001b[8m");
    }

    #[test]
    fn review_14_the_styles_of_the_help_pass() {
        let mut program = crate::commands::program();
        program.build();
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let help = command.clone().render_long_help().ansi().to_string();
            assert!(help.contains('\u{1b}'), "{help}");
            assert_eq!(through(|net| write!(net, "{}", Styled(&help)).unwrap()), help);
        }
    }

    #[test]
    fn json_says_the_same_as_before() {
        let value = serde_json::json!({"name": "a\u{1b}[31m\u{9b}\u{202e}\u{7f}"});
        let shown = through(|net| write!(net, "{value:#}").unwrap());
        assert!(!shown.contains(is_control), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn characters_in_parts_and_bytes_that_are_none_are_whole_again() {
        let split = through(|net| "é\u{9b}".bytes().for_each(|byte| net.write_all(&[byte]).unwrap()));
        assert_eq!(split, "é\\u009b");
        assert_eq!(through(|net| net.write_all(b"a\x9b31m").unwrap()), "a\u{fffd}31m");
        assert_eq!(through(|net| net.write_all(b"a\xc3").unwrap()), "a\u{fffd}");
    }
}
