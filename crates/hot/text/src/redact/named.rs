//! Secrets that are known by the name in front of them: `DB_PASSWORD=…`, `"clientSecret": "…"`,
//! `--token …`, `Authorization: Bearer …`.
//!
//! A name alone is weak evidence, since programs speak of passwords and tokens all day. How much the value
//! must look like a secret depends on the name and on how the two are joined; see `Place::holds_secret`.

use super::value::{self, Look, Quote, SAMPLE, bare_end, has_digit, is_expression};
use super::{MARK, Pairs, Secret, follows_escape, is_word, run_end, shape};

/// How far a name, the blanks around a separator or a type annotation are followed.
const REACH: usize = 64;

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Chosen by people: any word may be one.
    Password,
    /// Made by machines, and hardly ever the name of anything else.
    Secret,
    /// `token` alone: as often a word of a grammar as a secret.
    Token,
    /// The header, whose value starts with a scheme.
    Authorization,
    /// The scheme `Bearer` without the header.
    Scheme,
    /// The signature that makes a URL a credential.
    Signature,
}
use Family::{Authorization, Password, Scheme, Signature, Token};

/// The names, longest first where one ends in another. A dash matches `_`, `-`, a space or nothing.
const NAMES: &[(&str, Family, &str)] = &[
    ("password", Password, "password"),
    ("passphrase", Password, "password"),
    ("passwd", Password, "password"),
    ("pwd", Password, "password"),
    ("pass", Password, "password"),
    ("secret", Family::Secret, "secret"),
    ("access-token", Family::Secret, "token"),
    ("refresh-token", Family::Secret, "token"),
    ("auth-token", Family::Secret, "token"),
    ("api-token", Family::Secret, "token"),
    ("bot-token", Family::Secret, "token"),
    ("token", Token, "token"),
    ("api-key", Family::Secret, "api-key"),
    ("secret-access-key", Family::Secret, "aws-secret"),
    ("shared-access-key", Family::Secret, "azure-key"),
    ("account-key", Family::Secret, "azure-key"),
    ("access-key", Family::Secret, "secret"),
    ("secret-key", Family::Secret, "secret"),
    ("secret-key-base", Family::Secret, "secret"),
    ("private-key", Family::Secret, "private-key"),
    ("signing-key", Family::Secret, "secret"),
    ("encryption-key", Family::Secret, "secret"),
    ("master-key", Family::Secret, "secret"),
    ("auth-key", Family::Secret, "secret"),
    ("auth", Token, "secret"),
    ("authorization", Authorization, "authorization"),
    ("bearer", Scheme, "authorization"),
    ("amz-signature", Signature, "aws-signature"),
    ("goog-signature", Signature, "google-signature"),
    ("sig", Signature, "azure-sas"),
];

/// How the names end. Nearly every other word ends its search here.
static ENDINGS: Pairs = {
    let mut endings = Pairs::new();
    let mut index = 0;
    while index < NAMES.len() {
        let [.., before_last, last] = NAMES[index].0.as_bytes() else { panic!("a name has two letters") };
        endings.insert(*before_last, *last);
        index += 1;
    }
    endings
};

/// Returns the secret that the name which ends at `end` announces.
pub(super) fn after(text: &[u8], end: usize) -> Option<Secret> {
    let name = Name::before(text, end)?;
    if name.family == Scheme {
        let start = skip_blanks(text, end);
        return if start > end { credential(text, start, &name) } else { None };
    }
    let place = Place::after(text, end, &name)?;
    if name.family == Authorization
        && let Some(start) = after_scheme(text, place.start)
    {
        return credential(text, start, &name);
    }
    place.secret(text, &name)
}

/// A name that announces a secret.
struct Name {
    start: usize,
    family: Family,
    kind: &'static str,
    /// Written as an environment variable is.
    is_upper: bool,
}

impl Name {
    /// Returns the name that ends at `end`, if it is one; a number at its end is ignored.
    fn before(text: &[u8], end: usize) -> Option<Self> {
        let next = text.get(end)?;
        if !matches!(next, b'=' | b':' | b'"' | b'\'' | b'`' | b'\\' | b' ' | b'\t' | b'>' | b'*') {
            return None;
        }
        let number = text[..end].iter().rev().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = end - number;
        if number > 0 && text[..end].ends_with(b"_") {
            end -= 1;
        }
        let [.., before_last, last] = text[..end] else { return None };
        if !ENDINGS.contains(before_last.to_ascii_lowercase(), last.to_ascii_lowercase()) {
            return None;
        }
        NAMES.iter().find_map(|&(pattern, family, kind)| {
            let start = start_of(text, end, pattern)?;
            let is_upper = text[start..end].iter().all(|byte| !byte.is_ascii_lowercase());
            let family =
                if family == Token && pattern == "token" && is_upper { Family::Secret } else { family };
            let fits = match pattern {
                // `PWD` alone is the working directory.
                "pwd" => begins_word(text, start) && (!is_upper || follows_name_byte(text, start)),
                "auth" | "bearer" => begins_word(text, start),
                "pass" => begins_word(text, start) && follows_name_byte(text, start),
                "sig" => matches!(text[..start], [.., b'?' | b'&' | b';']) || follows_escape(text, start),
                _ => true,
            };
            fits.then_some(Self { start, family, kind, is_upper })
        })
    }

    /// Returns where the whole word begins, of which the name may be only the end.
    fn word_start(&self, text: &[u8]) -> usize {
        self.start
            - text[..self.start].iter().rev().take(REACH).take_while(|&&byte| is_name_byte(byte)).count()
    }

    /// Returns whether the word is an option of a command. One that follows a replacement is the rest of what
    /// was no option before.
    fn is_flag(&self, text: &[u8]) -> bool {
        let (before, word) = text.split_at(self.word_start(text));
        match before.last() {
            Some(b'\\') => matches!(word, [b'n' | b'r' | b't', b'-', ..]),
            before => word[0] == b'-' && before.is_none_or(|&byte| byte != b']' && !is_name_byte(byte)),
        }
    }

    /// Returns whether only indentation precedes the word on its line.
    fn starts_line(&self, text: &[u8]) -> bool {
        let word = self.word_start(text);
        let indent = text[..word].iter().rev().take(REACH);
        let indent = indent.take_while(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'"' | b'\'')).count();
        let before = &text[..word - indent];
        before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\\n")
    }
}

/// How a name and its value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The value is in quotes.
    Quoted,
    /// `name=value`.
    Tight,
    /// `name: value`.
    Colon,
    /// `name = value`.
    Loose,
    /// `--name value`, or the next element of a list.
    Flag,
}

/// The position of a name's value.
struct Place {
    start: usize,
    form: Form,
    quote: Option<Quote>,
    /// Whether the name is quoted, so that a bare value may be a number in JSON.
    name_is_quoted: bool,
}

impl Place {
    /// Returns the position of the value for the name that ends at `end`, if it has one.
    fn after(text: &[u8], end: usize, name: &Name) -> Option<Self> {
        let mut at = end;
        let name_quote = Quote::at(text, at);
        let name_is_quoted = name_quote.is_some();
        if let Some(quote) = name_quote {
            at = quote.after + usize::from(text.get(quote.after) == Some(&b']'));
        }
        at = skip_emphasis(text, at);
        let separator = skip_blanks(text, at);
        let is_spaced = separator > at;
        let listed =
            name.family == Authorization || name.kind == "api-key" || name.is_upper || name.is_flag(text);
        let (form, after) = match text.get(separator..)? {
            [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
            [b'=', b'>', ..] | [b':', b'=', ..] => (Form::Loose, separator + 2),
            [b'=', ..] if is_spaced => (Form::Loose, separator + 1),
            [b'=', b' ' | b'\t', ..] => (Form::Loose, separator + 1),
            [b'=', ..] => (Form::Tight, separator + 1),
            // `/etc/passwd: no such file`, also when part of the path was replaced.
            [b':', ..] if matches!(text[..name.word_start(text)], [.., b'/' | b']']) => return None,
            [b':', ..] => (Form::Colon, separator + 1),
            [b'>', ..] if text[..name.word_start(text)].ends_with(b"<") => (Form::Tight, separator + 1),
            [b',', ..] if name_is_quoted && listed => (Form::Flag, separator + 1),
            [b'\'', ..] if is_spaced && name.family == Password => (Form::Flag, separator),
            _ if is_spaced && !name_is_quoted && name.is_flag(text) => (Form::Flag, separator),
            _ => return None,
        };
        let start = skip_blanks(text, skip_emphasis(text, after));
        // The `b`, `r`, `f` or `@` in front of a string literal.
        let is_prefix = text.get(start).is_some_and(|byte| b"bBrRuUfF@L".contains(byte));
        let quote =
            Quote::at(text, start).or_else(|| if is_prefix { Quote::at(text, start + 1) } else { None });
        let quote = quote.or_else(|| if form == Form::Colon { quote_after_type(text, start) } else { None });
        match quote {
            Some(quote) if !quote.opens(text) => None,
            Some(quote) => {
                Some(Self { start: quote.after, form: Form::Quoted, quote: Some(quote), name_is_quoted })
            }
            None => Some(Self { start, form, quote: None, name_is_quoted }),
        }
    }

    /// Returns where the value ends when it is read on from `from`, at `limit` at the latest.
    fn end(&self, text: &[u8], from: usize, limit: usize) -> usize {
        match self.quote {
            Some(quote) => quote.string_end(text, from, limit),
            // Only `name=value` is found in query strings, which go on after `&`.
            None => bare_end(text, from, limit, self.form == Form::Tight),
        }
    }

    /// Returns the secret at this place, if there is one.
    fn secret(&self, text: &[u8], name: &Name) -> Option<Secret> {
        let sample_end = self.end(text, self.start, text.len().min(self.start + SAMPLE));
        // A mark that starts inside the sample may end outside.
        if value::contains(&text[self.start..text.len().min(sample_end + MARK.len())], MARK) {
            return None;
        }
        let mut end = sample_end;
        if self.quote.is_none() {
            let full_stops =
                text[self.start..end].iter().rev().take_while(|byte| matches!(byte, b'.' | b':')).count();
            end -= full_stops;
        }
        if !self.holds_secret(text, end, name) {
            return None;
        }
        if sample_end - self.start == SAMPLE {
            end = self.end(text, sample_end, text.len());
        }
        let word_end = run_end(text, self.start, is_word);
        let known = (word_end > self.start).then(|| shape::at(text, self.start, word_end)).flatten();
        known.filter(|secret| secret.end == end).or(Some(Secret { start: self.start, end, kind: name.kind }))
    }

    /// Returns whether the value that ends at `end`, or its sample, is a secret.
    fn holds_secret(&self, text: &[u8], end: usize, name: &Name) -> bool {
        let value = &text[self.start..end];
        let look = value::look(value);
        if look == Look::Harmless {
            return false;
        }
        if self.quote.is_none() {
            let is_number =
                value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
            let is_generic = self.form != Form::Tight && text.get(end) == Some(&b'<');
            let is_yaml_tag = self.form == Form::Colon && value[0] == b'!';
            if is_expression(value, text.get(end).copied())
                || is_generic
                || is_yaml_tag
                || (self.name_is_quoted && is_number)
            {
                return false;
            }
        }
        let is_literal = self.form == Form::Quoted || (self.form == Form::Tight && name.is_upper);
        match (name.family, look) {
            (Token | Authorization, Look::Opaque) => value.len() >= 8 && has_digit(value),
            (Signature, Look::Opaque) => self.form == Form::Tight && value.len() >= 32,
            (Token | Authorization | Scheme | Signature, _) => false,
            (_, Look::Opaque) => true,
            (_, Look::Digits) => name.family == Password || is_literal || self.form == Form::Tight,
            (_, Look::Word) => {
                let is_line = self.form == Form::Colon && name.starts_line(text) && ends_line(text, end);
                is_literal
                    || self.form == Form::Tight
                    || (is_line && value.iter().all(u8::is_ascii_lowercase))
            }
            (Password, Look::Identifier) => is_literal && !names_secret(value),
            (_, Look::Identifier) => is_literal && has_digit(value) && !names_secret(value),
            (Password, Look::Prose) => self.form == Form::Quoted && has_digit(value),
            (_, Look::Prose | Look::Harmless) => false,
        }
    }
}

/// Returns where the credential starts when `at` is the start of a known scheme.
fn after_scheme(text: &[u8], at: usize) -> Option<usize> {
    const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "api-key", "bot", "jwt", "negotiate"];
    let limit = text.len().min(at + REACH);
    let end = at + run_end(&text[at..limit], 0, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    let start = skip_blanks(text, end);
    let is_known = SCHEMES.iter().any(|scheme| text[at..end].eq_ignore_ascii_case(scheme.as_bytes()));
    (is_known && start > end).then_some(start)
}

/// Returns the credential at `start`, where a scheme ended. Outside its header more is asked of it.
fn credential(text: &[u8], start: usize, name: &Name) -> Option<Secret> {
    let place = Place { start, form: Form::Flag, quote: None, name_is_quoted: false };
    let sample_end = place.end(text, start, text.len().min(start + SAMPLE));
    let value = &text[start..sample_end];
    let in_header = name.family == Authorization;
    let accepted = match value::look(value) {
        Look::Opaque => in_header || (value.len() >= 16 && has_digit(value)),
        Look::Digits => in_header,
        Look::Word | Look::Identifier => in_header && ends_line(text, sample_end) && !names_secret(value),
        Look::Harmless | Look::Prose => false,
    };
    let marked = value::contains(&text[start..text.len().min(sample_end + MARK.len())], MARK);
    if !accepted || marked || is_expression(value, text.get(sample_end).copied()) {
        return None;
    }
    let end = place.end(text, sample_end, text.len());
    let known = shape::at(text, start, run_end(text, start, is_word));
    known.filter(|secret| secret.end == end).or(Some(Secret { start, end, kind: name.kind }))
}

/// Returns the quote that opens the value in `name: type = "value"`.
fn quote_after_type(text: &[u8], start: usize) -> Option<Quote> {
    let window = &text[start..text.len().min(start + REACH)];
    let is_type = |byte: u8| is_name_byte(byte) || b" <>[]&'|,*?.;".contains(&byte);
    let equals = run_end(window, 0, is_type);
    if equals == 0 || window.get(equals) != Some(&b'=') || window.get(equals + 1) == Some(&b'=') {
        return None;
    }
    Quote::at(text, skip_blanks(text, start + equals + 1))
}

/// Returns where `pattern` starts when the text before `end` ends in it.
fn start_of(text: &[u8], end: usize, pattern: &str) -> Option<usize> {
    let mut start = end;
    for &expected in pattern.as_bytes().iter().rev() {
        if expected == b'-' {
            start -= usize::from(matches!(text[..start], [.., b'_' | b'-' | b' ']));
        } else {
            start = start.checked_sub(1).filter(|&at| text[at].eq_ignore_ascii_case(&expected))?;
        }
    }
    Some(start)
}

/// Returns whether a word, or a hump of a camelCase word, starts at `start`.
fn begins_word(text: &[u8], start: usize) -> bool {
    let Some(&before) = text[..start].last() else { return true };
    !before.is_ascii_alphanumeric()
        || (text[start].is_ascii_uppercase() && !before.is_ascii_uppercase())
        || follows_escape(text, start)
}

/// Returns whether the line, or the string that holds it, ends at `end`.
fn ends_line(text: &[u8], end: usize) -> bool {
    matches!(text.get(end), None | Some(b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`'))
}

/// Returns whether `value` speaks of secrets, as the names of variables that hold them do.
fn names_secret(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    ["pass", "secret", "token", "key", "pwd", "cred"].iter().any(|word| value::contains(&value, word))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn follows_name_byte(text: &[u8], start: usize) -> bool {
    text[..start].last().is_some_and(|&byte| is_name_byte(byte))
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(REACH).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips the asterisks of `**Password:** …`.
fn skip_emphasis(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(2).take_while(|&&byte| byte == b'*').count()
}
