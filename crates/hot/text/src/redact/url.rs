//! Passwords in URLs: `postgres://user:PASSWORD@host`. User and host stay.

use super::value::{contains, is_template};
use super::{MARK, Secret, is_word, run_end, shape};

/// The part of a URL before its host.
pub(super) struct Credentials {
    /// The user, when that is a secret too.
    pub(super) user: Option<Secret>,
    /// The password, unless it was replaced before.
    pub(super) password: Option<Secret>,
    /// Where the host is announced.
    pub(super) end: usize,
}

/// Returns the credentials of the URL whose scheme ends at `colon`, if it has a password.
pub(super) fn credentials(text: &[u8], colon: usize) -> Option<Credentials> {
    let user = match &text[colon..] {
        [b':', b'/', b'/', ..] => colon + 3,
        [b':', b'\\', b'/', b'\\', b'/', ..] => colon + 5,
        _ => return None,
    };
    // Outside the web people write `?` and `#` in passwords as they are.
    let web = text[..colon].ends_with(b"http") || text[..colon].ends_with(b"https");
    // Ends at the first slash, so no two URLs read the same bytes.
    let authority_end = run_end(text, user, |byte| {
        byte > b' '
            && !matches!(byte, b'/' | b'\\' | b'"' | b'\'' | b'`' | b'<' | b'>')
            && !(web && matches!(byte, b'?' | b'#'))
    });
    let authority_end = end_behind_slash(text, user, authority_end).unwrap_or(authority_end);
    let authority = &text[user..authority_end];
    let at_sign = memchr::memrchr(b'@', authority)?;
    let user_end = memchr::memchr(b':', &authority[..at_sign])?;
    let (start, end) = (user + user_end + 1, user + at_sign);
    let password = &text[start..end];
    // When the user was replaced before, the colon is the one of the replacement.
    let was_replaced = contains(&authority[..at_sign], MARK);
    if !was_replaced && (password.is_empty() || is_template(password)) {
        return None;
    }
    let user_word_end = run_end(text, user, is_word);
    Some(Credentials {
        user: shape::at(text, user, user_word_end).filter(|secret| secret.end < start),
        password: (!was_replaced).then_some(Secret { start, end, kind: "password" }),
        end,
    })
}

/// How far a password with a slash in it is followed.
const REACH: usize = 128;

/// Returns where the authority ends whose password contains slashes: people do not always encode them. Without a slash it
/// ends at `end`.
fn end_behind_slash(text: &[u8], user: usize, end: usize) -> Option<usize> {
    let authority = &text[user..end];
    let colon = memchr::memchr(b':', authority)?;
    let host = memchr::memrchr(b'@', authority).map(|at_sign| &authority[at_sign + 1..]);
    let is_host = |host: &[u8]| host.is_empty() || host.iter().any(|byte| matches!(byte, b'.' | b':' | b','));
    let is_port = authority[colon + 1..].iter().all(u8::is_ascii_digit);
    if text.get(end) != Some(&b'/') || is_port || host.is_some_and(is_host) || contains(authority, MARK) {
        return None;
    }
    let limit = text.len().min(end + REACH);
    let token_end = run_end(&text[..limit], end, |byte| byte > b' ' && !b"\"'`<>\\?,;()".contains(&byte));
    let at_sign = end + memchr::memrchr(b'@', &text[end..token_end])?;
    let host_end = run_end(&text[..token_end], at_sign + 1, |byte| {
        byte.is_ascii_alphanumeric() || b".-:".contains(&byte)
    });
    let is_whole = host_end > at_sign + 2
        && matches!(
            text.get(host_end),
            None | Some(b'/' | b'?' | b'"' | b'\'' | b'\\' | b' ' | b'\n' | b'#')
        );
    (is_whole && text[at_sign + 1].is_ascii_alphanumeric()).then_some(host_end)
}
