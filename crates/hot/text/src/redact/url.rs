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
