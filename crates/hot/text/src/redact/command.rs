//! Passwords in command lines: `curl -u user:PASSWORD`, `mysql -pPASSWORD`, `echo PASSWORD | docker login --password-stdin`.

use super::random::is_filler;
use super::value::{self, Look, Quote, SAMPLE};
use super::{MARK, Secret, line_break, run_end};

const KIND: &str = "password";

/// How far ahead the end of a command line is looked for.
const REACH: usize = 256;

/// How far back the name of a command is looked for from its option.
const REACH_BACK: usize = 512;

/// How an option and its value are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `-p VALUE` or `-p=VALUE`.
    Separate,
    /// `-pVALUE`.
    Attached,
    /// Either.
    Both,
    /// `-u USER:VALUE` or `-uUSER:VALUE`.
    AfterColon,
    /// `-U USER%VALUE` or `-UUSER%VALUE`.
    AfterPercent,
    /// `-u USER,VALUE` or `-uUSER,VALUE`.
    AfterComma,
    /// `-pass pass:VALUE`.
    AfterPass,
}
use Form::{AfterColon, AfterComma, AfterPass, AfterPercent, Attached, Both, Separate};

/// Commands (a star means any ending), a word that must be there too, and their options for passwords.
#[rustfmt::skip]
const OPTIONS: &[(&str, &str, &str, Form)] = &[
    ("curl", "", "u", AfterColon), ("curl", "", "user", AfterColon), ("curl", "", "proxy-user", AfterColon), ("curl", "", "U", AfterColon),
    ("http", "", "a", AfterColon), ("https", "", "a", AfterColon), ("http", "", "auth", AfterColon),
    ("xh", "", "a", AfterColon), ("lftp", "", "u", AfterComma), ("smbclient", "", "U", AfterPercent), ("rpcclient", "", "U", AfterPercent),
    ("mysql*", "", "p", Attached), ("mariadb*", "", "p", Attached), ("sshpass", "", "p", Both),
    ("mongo*", "", "p", Separate), ("cqlsh", "", "p", Separate), ("influx", "", "p", Separate), ("redis-cli", "", "a", Separate), ("valkey-cli", "", "a", Separate),
    ("docker", "login", "p", Both), ("podman", "login", "p", Both), ("helm", "login", "p", Both), ("buildah", "login", "p", Both),
    ("crane", "login", "p", Separate), ("oras", "login", "p", Separate), ("az", "login", "p", Separate), ("oc", "login", "p", Separate),
    ("nerdctl", "login", "p", Separate), ("cf", "login", "p", Separate), ("ibmcloud", "login", "p", Separate), ("twine", "upload", "p", Separate),
    ("gh", "secret", "body", Separate), ("gh", "secret", "b", Separate), ("ssh-keygen", "", "N", Separate), ("ssh-keygen", "", "P", Separate),
    ("openssl", "", "pass", AfterPass), ("openssl", "", "passin", AfterPass), ("openssl", "", "passout", AfterPass), ("openssl", "", "k", Separate), ("openssl", "", "passwd", Separate),
    ("zip", "", "P", Both), ("unzip", "", "P", Both), ("7z*", "", "p", Attached), ("rar", "", "p", Attached), ("unrar", "", "p", Attached), ("rar", "", "hp", Attached),
    ("ldap*", "", "w", Separate), ("sqlcmd", "", "P", Both), ("bcp", "", "P", Both), ("isql", "", "P", Both), ("tsql", "", "P", Separate), ("vsql", "", "w", Separate),
    ("ipmitool", "", "P", Separate), ("mosquitto_*", "", "P", Separate), ("snmp*", "", "A", Separate), ("snmp*", "", "X", Separate),
    ("rdesktop", "", "p", Separate), ("evil-winrm", "", "p", Separate), ("rabbitmqadmin", "", "p", Separate), ("qpdf", "", "encrypt", Separate),
];

/// Returns the password that the option announces whose dashes are `start..end`.
pub(super) fn option(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    if end - start > 2 || !matches!(text[..start], [.., b' ' | b'\t' | b'\n' | b'"' | b'\'' | b',']) {
        return None;
    }
    let first = *text.get(end)?;
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let is_long = end - start == 2;
    if is_long && !matches!(first, b'u' | b'p' | b'a' | b'b' | b'e') {
        return None;
    }
    let name_end =
        run_end(&text[..text.len().min(end + 16)], end, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let mut end = end;
    if !is_long {
        // One of these letters may be the option itself.
        let flags = run_end(&text[..name_end], end, is_flag);
        end = if flags < name_end { flags } else { end };
    }
    let name = &text[end..name_end];
    // Which rows of the table have this option, and of which of these the command, or the other word, is there.
    let (mut rows, mut commands, mut words) = (0_u128, 0_u128, 0_u128);
    for (row, &(_, word, option, form)) in OPTIONS.iter().enumerate() {
        let is_attached =
            !matches!(form, Separate | AfterPass) && !is_long && name.starts_with(option.as_bytes());
        let is_separate = form != Attached && name == option.as_bytes() && (!is_long || option.len() > 1);
        rows |= u128::from(is_attached || is_separate) << row;
        words |= u128::from(word.is_empty()) << row;
    }
    if rows == 0 {
        return None;
    }
    for word in segment_before(text, start).split(|byte| b" \t\"'/\\,[:=".contains(byte)) {
        if word.len() < 2 || word[0] == b'-' {
            continue;
        }
        // A line break of a string leaves its letter: `\ncurl`.
        let rest = word.strip_prefix(b"n").unwrap_or(word);
        let mut left = rows;
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            left &= left - 1;
            let (command, other, ..) = OPTIONS[row];
            commands |= u128::from(is_named(word, command) || is_named(rest, command)) << row;
            words |= u128::from(word == other.as_bytes()) << row;
        }
    }
    let row = (rows & commands & words).trailing_zeros() as usize;
    let &(_, _, option, form) = OPTIONS.get(row)?;
    let option_end = end + option.len();
    let is_attached = !matches!(form, Separate | AfterPass)
        && !is_long
        && text.get(option_end).is_some_and(|byte| !b" =\t\n,".contains(byte))
        && !text[option_end..].starts_with(b"\",");
    let at = if is_attached { option_end } else { after_blank(text, name_end)? };
    argument(text, at, form)
}

const _: () = assert!(OPTIONS.len() <= 128, "the rows are counted in 128 bits");

/// Returns whether a letter is an option without a value, which may stand before that of a password behind one dash: `-sSu`.
fn is_flag(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'e'..=b'g' | b'i'..=b'l' | b'n' | b'o' | b'q'..=b't' | b'v' | b'x')
        || matches!(byte, b'B' | b'G' | b'I' | b'J' | b'L' | b'N' | b'O' | b'R' | b'S')
}

/// Returns the part of the command line before `at`: since a line break that nothing escapes, or a sign that ends a command and
/// is in no quotes.
fn segment_before(text: &[u8], at: usize) -> &[u8] {
    let window = &text[at.saturating_sub(REACH_BACK)..at];
    let mut quotes = 0;
    let start = window.iter().enumerate().rposition(|(at, byte)| match byte {
        b'"' | b'\'' => {
            quotes ^= byte;
            false
        }
        b'\n' => at == 0 || window[at - 1] != b'\\',
        b'|' | b';' | b'&' | b'(' | b'`' => quotes == 0,
        _ => false,
    });
    &window[start.map_or(0, |last| last + 1)..]
}

/// Returns whether `word` is the command, of which a star at the end means anything.
fn is_named(word: &[u8], command: &str) -> bool {
    match command.strip_suffix('*') {
        Some(start) => word.starts_with(start.as_bytes()),
        None => word == command.as_bytes(),
    }
}

/// Returns where the value starts after the option that ends at `at`.
fn after_blank(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'=' => Some(at + 1),
        // The next element of a list, when it is a text.
        b'"' if text[at..].starts_with(b"\",") => {
            let start = run_end(&text[..text.len().min(at + 8)], at + 2, |byte| byte == b' ');
            text.get(start).filter(|&&byte| byte == b'"').map(|_| start)
        }
        b' ' | b'\t' => {
            let start = run_end(&text[..text.len().min(at + 16)], at, |byte| matches!(byte, b' ' | b'\t'));
            text.get(start).filter(|&&byte| byte != b'-').map(|_| start)
        }
        _ => None,
    }
}

/// The extent of the argument of a command that starts at `at`, without its quotes.
fn extent(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let limit = text.len().min(at + 4 * SAMPLE);
    match Quote::at(text, at) {
        Some(quote) if !quote.opens(text) => None,
        Some(quote) => Some((quote.after, quote.string_end(text, quote.after, limit))),
        None => {
            let end = run_end(&text[..limit], at, |byte| {
                byte > b' ' && byte != 0x7f && !b"\"'`\\|;<>".contains(&byte)
            });
            (end > at).then_some((at, end))
        }
    }
}

fn argument(text: &[u8], at: usize, form: Form) -> Option<Secret> {
    let (start, end) = extent(text, at)?;
    let after =
        |byte: u8| text[start..end].iter().position(|&other| other == byte).map(|found| start + found + 1);
    let start = match form {
        AfterColon => after(b':')?,
        AfterPercent => after(b'%')?,
        AfterComma => after(b',')?,
        AfterPass => {
            let rest = text[start..end].strip_prefix(b"pass:")?;
            end - rest.len()
        }
        Separate | Attached | Both => start,
    };
    password(text, start, end)
}

fn password(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let password = &text[start..end];
    if password.len() < 4
        || password[0] == b'$'
        || password[0] == b'%'
        || value::is_template(password)
        || value::contains(password, MARK)
        || is_filler(password)
    {
        return None;
    }
    let is_secret = match value::look(&password[..password.len().min(SAMPLE)]) {
        Look::Harmless => password.len() < 6 && value::has_digit(password),
        Look::Prose => value::has_digit(password),
        _ => true,
    };
    is_secret.then_some(Secret { start, end, kind: KIND })
}

/// Returns what `echo` or `printf`, which ends at `end`, writes to a command that reads a password.
pub(super) fn piped(text: &[u8], end: usize) -> Option<Secret> {
    const READERS: &[&str] = &[
        "-password-stdin",
        "chpasswd",
        "--stdin",
        "sudo -S",
        "secret create",
        "secret set",
        "--with-token",
        "pass stdin",
        "passwd",
        "secrets versions add",
        "login --username",
        "--passphrase-fd",
    ];
    if !matches!(text.get(end), Some(b' ')) {
        return None;
    }
    let mut at = end + 1;
    while let [b'-', b'n' | b'e' | b'E', b' ', ..] = text[at..] {
        at += 3;
    }
    let (mut start, mut last) = extent(text, at)?;
    let after_quote =
        |last: usize| run_end(&text[..text.len().min(last + 8)], last, |byte| b"\\\"'".contains(&byte));
    if text[start..last].contains(&b'%') {
        let format_end = after_quote(last);
        let next = run_end(&text[..text.len().min(last + 8)], format_end, |byte| byte == b' ');
        if next == format_end {
            return None;
        }
        (start, last) = extent(text, next)?;
    }
    let pipe = run_end(&text[..text.len().min(last + 16)], after_quote(last), |byte| byte == b' ');
    if text.get(pipe) != Some(&b'|') {
        return None;
    }
    let rest = &text[pipe..text.len().min(pipe + REACH)];
    let rest = &rest[..run_end(rest, 0, |byte| byte != b'\n')];
    if !READERS.iter().any(|reader| value::contains(rest, reader)) {
        return None;
    }
    let colon = if value::contains(rest, "chpasswd") {
        text[start..last].iter().position(|&byte| byte == b':')
    } else {
        None
    };
    password(text, start + colon.map_or(0, |found| found + 1), last)
}

/// Returns the password in `chpasswd <<< user:PASSWORD`, also as a document on the next line.
pub(super) fn here_string(text: &[u8], end: usize) -> Option<Secret> {
    let at = run_end(&text[..text.len().min(end + 4)], end, |byte| byte == b' ');
    let at = match text.get(at..)? {
        [b'<', b'<', b'<', ..] => run_end(&text[..text.len().min(at + 8)], at + 3, |byte| byte == b' '),
        [b'<', b'<', ..] => {
            let name = run_end(&text[..text.len().min(at + 32)], at + 2, |byte| {
                byte.is_ascii_alphanumeric() || b"-'\"_ ".contains(&byte)
            });
            line_break(text, name)?
        }
        _ => return None,
    };
    argument(text, at, AfterColon)
}

/// Returns the password in `net use z: \\server\share PASSWORD /user:name`, whose second word is `start..end`.
pub(super) fn net_use(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    if !text[..start].ends_with(b"net ") {
        return None;
    }
    let line = &text[..text.len().min(end + REACH)];
    let mut at = end;
    let mut is_next = false;
    loop {
        at = run_end(line, at, |byte| byte == b' ');
        let word_end = run_end(line, at, |byte| byte > b' ' && byte != b'"');
        let word = &line[at..word_end];
        if word.is_empty() {
            return None;
        }
        if is_next && !matches!(word[0], b'/' | b'*') {
            return password(text, at, word_end);
        }
        is_next =
            (word.starts_with(b"\\\\")) || (word.len() > 6 && word[..6].eq_ignore_ascii_case(b"/user:"));
        at = word_end;
    }
}

/// Returns the password in `htpasswd -b file user PASSWORD`.
pub(super) fn htpasswd(text: &[u8], end: usize) -> Option<Secret> {
    let line = &text[..text.len().min(end + REACH)];
    let (mut at, mut words, mut is_batch) = (end, 0, false);
    let mut needed = 3;
    loop {
        at = run_end(line, at, |byte| byte == b' ');
        let (start, word_end) = extent(line, at)?;
        if line[start] == b'-' {
            is_batch |= line[start..word_end].contains(&b'b');
            needed -= usize::from(line[start..word_end].contains(&b'n'));
        } else {
            words += 1;
            if words == needed {
                return if is_batch { password(text, start, word_end) } else { None };
            }
        }
        at = run_end(&line[..line.len().min(word_end + 4)], word_end, |byte| b"\"'\\".contains(&byte));
    }
}

/// Returns the value in `--from-literal=name=VALUE`, of which the word `start..end` is the end of the option.
pub(super) fn from_literal(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    if !text[..start].ends_with(b"--from-") {
        return None;
    }
    let at = run_end(&text[..text.len().min(end + 8)], end, |byte| b"= \"'\\".contains(&byte));
    let name_end = run_end(&text[..text.len().min(at + SAMPLE)], at, |byte| {
        byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
    });
    if text.get(name_end) != Some(&b'=') {
        return None;
    }
    argument(text, name_end + 1, Separate)
}
