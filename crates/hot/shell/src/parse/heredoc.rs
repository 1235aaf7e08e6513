//! Here-documents: they start behind the line that asks for them, and wait until it is known who reads them.

use std::ops::Range;

use super::Parser;
use super::follow::Shell;

#[derive(Default)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
    /// The command that it is redirected to, once that is known.
    pub(super) owner: Option<usize>,
    /// Where the commands of the owner's pipeline end.
    pub(super) end: usize,
    /// Whether the owner's pipeline is complete, so that it is known who reads it.
    pub(super) is_decided: bool,
    /// Its place in the text, once it has been read.
    pub(super) body: Option<Range<usize>>,
    /// The shell that reads it.
    pub(super) shell: Option<Shell>,
}

impl Parser<'_, '_> {
    pub(super) fn read_heredocs(&mut self) {
        for index in self.unread..self.heredocs.len() {
            if self.heredocs[index].body.is_none() {
                self.heredocs[index].body = Some(self.read_heredoc(index));
            }
        }
        self.unread = self.heredocs.len();
    }

    fn read_heredoc(&mut self, index: usize) -> Range<usize> {
        let heredoc = &self.heredocs[index];
        let start = self.position;
        while self.position < self.text.len() {
            let rest = &self.text[self.position..];
            let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
            let end = self.position;
            let content = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
            if content.strip_suffix('\r').unwrap_or(content) == heredoc.delimiter {
                self.position = (end + line.len() + 1).min(self.text.len());
                return start..end;
            }
            // Inside a substitution, shells take `EOF)` for the end as well.
            if self.open_parentheses > 0
                && !heredoc.delimiter.is_empty()
                && content.strip_prefix(heredoc.delimiter.as_str()).is_some_and(|rest| rest.starts_with(')'))
            {
                self.position = end + line.len() - content.len() + heredoc.delimiter.len();
                return start..end;
            }
            self.position = (end + line.len() + 1).min(self.text.len());
        }
        start..self.text.len()
    }
}

impl Heredoc {
    /// Returns the body as the shell that reads it will see it.
    pub(super) fn script(&self, body: &str) -> String {
        let mut script = String::with_capacity(body.len());
        for line in body.split_inclusive('\n') {
            script.push_str(if self.strips_tabs { line.trim_start_matches('\t') } else { line });
        }
        if self.is_quoted { script } else { unescaped(&script) }
    }
}

/// Takes off the backslashes that an unquoted here-document needs to keep `$` from being expanded.
fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match chars.peek() {
            Some('$' | '`' | '\\') if char == '\\' => result.extend(chars.next()),
            _ => result.push(char),
        }
    }
    result
}
