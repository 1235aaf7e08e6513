//! Secrets that are known by their place in a file of a known format: .pgpass, manifests of Kubernetes, cookies, tables.

use std::collections::VecDeque;

use super::random::{is_filler, is_random, is_worded};
use super::value::{self, Look, SAMPLE};
use super::{MARK, Secret, line_break, run_end};

/// How many rows of a table are read.
const MOST_ROWS: usize = 200;

/// How many columns of a table are looked at.
const MOST_COLUMNS: usize = 32;

/// How many entries of a manifest or cookies of a header are read.
const MOST_ENTRIES: usize = 100;

/// The longest line that is read as a row or an entry.
const LONGEST_LINE: usize = 4 * 1024;

/// Returns the secret access key that follows an access key id of AWS on the same or the next line.
pub(super) fn secret_beside_key(text: &[u8], end: usize) -> Option<Secret> {
    const REACH: usize = 16;
    let mut start = end;
    while let Some(byte) = text.get(start)
        && start - end < REACH
    {
        match line_break(text, start) {
            Some(next) => start = next,
            None if matches!(byte, b' ' | b'\t' | b',' | b';' | b':' | b'|' | b'"' | b'\'' | b'/') => {
                start += 1
            }
            None => break,
        }
    }
    let limit = text.len().min(start + 41);
    let last =
        run_end(&text[..limit], start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let key = &text[start..last];
    (start > end && key.len() == 40 && super::random::is_mixed(key) && is_random(key)).then_some(Secret {
        start,
        end: last,
        kind: "aws-secret",
    })
}

/// Returns the password of a line `host:port:database:user:password`, whose port is `start..end`.
pub(super) fn pgpass(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let is_field = |byte: u8| byte > b' ' && byte < 0x7f && !b":\"'\\/()[]{}<>,".contains(&byte);
    if end - start < 3 || !text[..start].ends_with(b":") || text.get(end) != Some(&b':') {
        return None;
    }
    let host = text[..start - 1].iter().rev().take(SAMPLE).take_while(|&&byte| is_field(byte)).count();
    let host_start = start - 1 - host;
    let begins_line = matches!(text[..host_start], [] | [.., b'\n' | b'"' | b'\'' | b'\\']);
    let is_host = text[host_start..start - 1].iter().any(|byte| byte.is_ascii_alphabetic() || *byte == b'*')
        && text[host_start..start - 1]
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(byte));
    if host == 0 || !begins_line || !is_host {
        return None;
    }
    let mut at = end;
    for _ in 0..2 {
        let field_end = run_end(&text[..text.len().min(at + SAMPLE)], at + 1, is_field);
        if field_end == at + 1 || text.get(field_end) != Some(&b':') {
            return None;
        }
        at = field_end;
    }
    let last = run_end(&text[..text.len().min(at + SAMPLE)], at + 1, |byte| {
        is_field(byte) || b"/()[]{}<>,".contains(&byte)
    });
    let password = &text[at + 1..last];
    let ends_line = matches!(text.get(last), None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'\\'));
    let is_password =
        password.len() >= 4 && !value::is_template(password) && !password.iter().all(u8::is_ascii_digit);
    (ends_line && is_password && !value::contains(password, MARK)).then_some(Secret {
        start: at + 1,
        end: last,
        kind: "password",
    })
}

/// Returns whether `kind: Secret` is in the text, in YAML or JSON.
pub(super) fn has_manifest(text: &[u8]) -> bool {
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&text[from..], b"Secret") {
        let at = from + found;
        let before = &text[at.saturating_sub(24)..at];
        let name = before.iter().rposition(|byte| byte.is_ascii_alphabetic()).map_or(0, |last| last + 1);
        let is_joined =
            before[name..].iter().all(|byte| b" \t:\"'\\".contains(byte)) && before[name..].contains(&b':');
        let is_whole = !text.get(at + "Secret".len()).is_some_and(u8::is_ascii_alphanumeric);
        if is_joined && is_whole && before[..name].ends_with(b"kind") {
            return true;
        }
        from = at + "Secret".len();
    }
    false
}

/// Finds the values of the map that the name `start..end` announces in a manifest.
pub(super) fn manifest(text: &[u8], start: usize, end: usize, found: &mut VecDeque<Secret>) {
    let mut at = end;
    at = run_end(&text[..text.len().min(at + 8)], at, |byte| matches!(byte, b'"' | b'\\' | b'\'' | b' '));
    if text.get(at) != Some(&b':') {
        return;
    }
    let is_plain = text[start..end] == *b"stringData";
    let after = run_end(&text[..text.len().min(at + 64)], at + 1, |byte| matches!(byte, b' ' | b'\t'));
    let mut push = |start: usize, end: usize| {
        let value = &text[start..end];
        let is_base64 = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
        if value.len() >= 4
            && (is_plain || is_base64)
            && !value::is_template(value)
            && !value::contains(value, MARK)
        {
            found.push_back(Secret { start, end, kind: "secret" });
        }
    };
    if text.get(after) == Some(&b'{') {
        let mut at = after + 1;
        for _ in 0..MOST_ENTRIES {
            at = run_end(text, at, |byte| byte.is_ascii_whitespace() || byte == b',');
            if let Some(next) = line_break(text, at) {
                at = next;
                continue;
            }
            if at >= text.len() {
                break;
            }
            let Some(quote) = value::Quote::at(text, at) else { break };
            let name_end = quote.string_end(text, quote.after, text.len().min(quote.after + SAMPLE));
            let colon = run_end(&text[..text.len().min(name_end + 32)], name_end, |byte| {
                byte != b':' && byte != b'\n'
            }) + 1;
            let value =
                run_end(&text[..text.len().min(colon + 32)], colon.min(text.len()), |byte| byte == b' ');
            let Some(quote) = text.get(value).and_then(|_| value::Quote::at(text, value)) else { break };
            let value_end = quote.string_end(text, quote.after, text.len());
            push(quote.after, value_end);
            at = run_end(text, value_end, |byte| byte == b'\\');
            at += usize::from(at < text.len());
        }
        return;
    }
    let Some(mut line) = line_break(text, after) else { return };
    for _ in 0..MOST_ENTRIES {
        let limit = text.len().min(line + LONGEST_LINE);
        let name_end =
            run_end(&text[..limit], line, |byte| byte.is_ascii_alphanumeric() || b"._-\"'".contains(&byte));
        let indented = line > 0 && matches!(text[line - 1], b' ' | b'\t');
        if !indented || name_end == line || text.get(name_end) != Some(&b':') {
            return;
        }
        let mut value = run_end(&text[..limit], name_end + 1, |byte| matches!(byte, b' ' | b'"' | b'\''));
        if matches!(text.get(value), Some(b'|' | b'>')) {
            let marker = run_end(&text[..limit], value, |byte| b"|>-+0123456789".contains(&byte));
            let Some(next) = line_break(text, marker) else { return };
            value = next;
        }
        let value_end = run_end(&text[..limit], value, |byte| byte > b' ' && !b"\"'\\".contains(&byte));
        push(value, value_end);
        let line_end = run_end(&text[..limit], value_end, |byte| b" \"'".contains(&byte));
        let Some(next) = line_break(text, line_end) else { return };
        line = next;
    }
}

/// Finds the values of the cookies in a header whose name ends at `end`.
pub(super) fn cookies(text: &[u8], end: usize, found: &mut VecDeque<Secret>) {
    let at = run_end(&text[..text.len().min(end + 8)], end, |byte| b"\"'\\ ".contains(&byte));
    if !matches!(text.get(at), Some(b':' | b'=' | b',')) {
        return;
    }
    let mut at = run_end(&text[..text.len().min(at + 16)], at + 1, |byte| b"\"'\\ ".contains(&byte));
    for _ in 0..MOST_ENTRIES {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.$%~!#".contains(&byte);
        let name_end = run_end(&text[..text.len().min(at + SAMPLE)], at, is_name);
        if name_end == at || text.get(name_end) != Some(&b'=') {
            // An attribute such as `HttpOnly`.
            if name_end == at || text.get(name_end) != Some(&b';') {
                return;
            }
            at = name_end;
        } else {
            let limit = text.len().min(name_end + LONGEST_LINE);
            let value_end =
                run_end(&text[..limit], name_end + 1, |byte| byte > b' ' && !b";,\"'\\`".contains(&byte));
            let value = &text[name_end + 1..value_end];
            let name = text[at..name_end].to_ascii_lowercase();
            let is_session =
                ["sess", "sid", "auth", "token", "jwt", "remember", "csrf", "xsrf", "login", "secret"]
                    .iter()
                    .any(|word| value::contains(&name, word));
            let sample = &value[..value.len().min(SAMPLE)];
            let attribute = ["path", "domain", "expires", "samesite", "max-age", "priority"]
                .iter()
                .any(|known| name == known.as_bytes());
            let is_secret = !attribute
                && !value::is_template(sample)
                && !value::contains(sample, MARK)
                && if is_session {
                    value.len() >= 8 && !is_filler(sample) && !is_worded(sample)
                } else {
                    value.len() >= 16 && is_random(sample)
                };
            if is_secret {
                found.push_back(Secret { start: name_end + 1, end: value_end, kind: "cookie" });
            }
            // `Expires=Wed, 21 Oct` has blanks and a comma.
            at = if attribute {
                run_end(&text[..limit], value_end, |byte| !b";\"'\\\n".contains(&byte))
            } else {
                value_end
            };
        }
        if text.get(at) != Some(&b';') {
            return;
        }
        at = run_end(&text[..text.len().min(at + 8)], at + 1, |byte| byte == b' ');
    }
}

/// Returns the column of a table of which the name `start..end` is the heading, and where the first row starts: `a,b` and
/// `| a | b |`.
pub(super) fn column(text: &[u8], start: usize, end: usize) -> Option<Column> {
    let line = line_start(text, start)?;
    let limit = text.len().min(end + LONGEST_LINE);
    let line_end = run_end(&text[..limit], end, |byte| byte != b'\n' && byte != b'\\');
    let rows = line_break(text, line_end)?;
    let heading = &text[line..line_end];
    let separator = if heading.trim_ascii_start().starts_with(b"|") { b'|' } else { b',' };
    let separators = heading.iter().filter(|&&byte| byte == separator).count();
    let is_heading = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t_-.|,:\r()\"'".contains(byte);
    let before = text[line..start].iter().rev().find(|&&byte| byte != b' ' && byte != b'"');
    let after = text[end..line_end].iter().find(|&&byte| byte != b' ' && byte != b'"');
    let is_cell = before.is_none_or(|&byte| byte == separator)
        && after.is_none_or(|&byte| byte == separator || byte == b'\r');
    if separators == 0 || separators > MOST_COLUMNS || !is_cell || !heading.iter().all(is_heading) {
        return None;
    }
    let index = text[line..start].iter().filter(|&&byte| byte == separator).count();
    Some(Column { separator, separators, index, rows })
}

/// A column of a table.
pub(super) struct Column {
    separator: u8,
    separators: usize,
    index: usize,
    rows: usize,
}

impl Column {
    /// Finds the values below the heading, and returns where the rows end.
    pub(super) fn secrets(&self, text: &[u8], kind: &'static str, found: &mut VecDeque<Secret>) -> usize {
        let mut row = self.rows;
        for _ in 0..MOST_ROWS {
            let limit = text.len().min(row + LONGEST_LINE);
            let row_end = run_end(&text[..limit], row, |byte| byte != b'\n' && byte != b'\\');
            let line = &text[row..row_end];
            if line.iter().filter(|&&byte| byte == self.separator).count() != self.separators {
                break;
            }
            let mut start = row;
            for _ in 0..self.index {
                start = run_end(&text[..row_end], start, |byte| byte != self.separator) + 1;
            }
            let mut end = run_end(&text[..row_end], start.min(row_end), |byte| byte != self.separator);
            let is_around = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\r');
            start = run_end(&text[..end], start.min(end), is_around);
            end -= text[start..end].iter().rev().take_while(|&&byte| is_around(byte)).count();
            let value = &text[start..end];
            let look = value::look(&value[..value.len().min(SAMPLE)]);
            let is_secret = match look {
                Look::Opaque => true,
                Look::Word => kind == "password",
                _ => false,
            };
            if is_secret && !value::contains(value, MARK) {
                found.push_back(Secret { start, end, kind });
            }
            let Some(next) = line_break(text, row_end) else { return row_end };
            row = next;
        }
        row
    }
}

/// Returns where the line that contains `at` starts, unless that is far.
fn line_start(text: &[u8], at: usize) -> Option<usize> {
    let from = at.saturating_sub(512);
    match text[from..at].iter().rposition(|byte| matches!(byte, b'\n' | b'\\' | b'"')) {
        Some(found) => {
            let found = from + found;
            let is_escape = text[found] == b'\\' && matches!(text.get(found + 1), Some(b'n'));
            Some(at.min(found + 1 + usize::from(is_escape)))
        }
        None if from == 0 => Some(0),
        None => None,
    }
}
