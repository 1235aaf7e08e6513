//! Secrets that are known by the name in front of them: `DB_PASSWORD=…`, `"clientSecret": "…"`,
//! `--token …`, `Authorization: Bearer …`.
//!
//! A name alone is weak evidence, since programs speak of passwords and tokens all day. How much the value
//! must look like a secret depends on the name and on how the two are joined; see `Place::holds_secret`.

use std::collections::VecDeque;

use super::random::{is_filler, is_random, is_worded};
use super::value::{self, Look, Quote, SAMPLE, bare_end, has_digit, is_expression};
use super::{MARK, Pairs, Secret, encoded, follows_escape, format, is_word, line_break, run_end, shape};

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
    /// `…_key`: as often the name of a column as a secret, so that the value must be random.
    Key,
    /// A parameter of a URL, whose value must be random.
    Query,
    /// A number of a few digits.
    Pin,
}
use Family::{Authorization, Key, Password, Pin, Query, Scheme, Signature, Token};

/// The names, longest first where one ends in another. A dash matches `_`, `-`, a space or nothing.
#[rustfmt::skip]
const NAMES: &[(&str, Family, &str)] = &[
    ("password", Password, "password"),
    ("passphrase", Password, "password"),
    ("passcode", Password, "password"),
    ("passwd", Password, "password"),
    ("pwd", Password, "password"),
    ("storepass", Password, "password"),
    ("keypass", Password, "password"),
    ("mot-de-passe", Password, "password"),
    ("pass", Password, "password"),
    ("bindpw", Password, "password"),
    ("rootpw", Password, "password"),
    ("pw", Password, "password"),
    ("passwort", Password, "password"),
    ("kennwort", Password, "password"),
    ("contrasena", Password, "password"),
    ("wachtwoord", Password, "password"),
    ("senha", Password, "password"),
    ("identified-by", Password, "password"),
    ("password-by", Password, "password"),
    ("convertto-securestring", Password, "password"),
    ("secret", Family::Secret, "secret"),
    ("access-token", Family::Secret, "token"),
    ("refresh-token", Family::Secret, "token"),
    ("auth-token", Family::Secret, "token"),
    ("api-token", Family::Secret, "token"),
    ("bot-token", Family::Secret, "token"),
    ("gitlab-token", Family::Secret, "token"),
    ("token", Token, "token"),
    ("github-oauth", Family::Secret, "token"),
    ("gitlab-oauth", Family::Secret, "token"),
    ("api-key", Family::Secret, "api-key"),
    ("secret-access-key", Family::Secret, "aws-secret"),
    ("shared-access-key", Family::Secret, "azure-key"),
    ("account-key", Family::Secret, "azure-key"),
    ("access-key", Family::Secret, "secret"),
    ("secret-key", Family::Secret, "secret"),
    ("secret-key-base", Family::Secret, "secret"),
    ("private-key", Family::Secret, "private-key"),
    ("preshared-key", Family::Secret, "private-key"),
    ("client-key-data", Family::Secret, "private-key"),
    ("signing-key", Family::Secret, "secret"),
    ("encryption-key", Family::Secret, "secret"),
    ("master-key", Family::Secret, "secret"),
    ("consumer-key", Family::Secret, "secret"),
    ("auth-key", Family::Secret, "secret"),
    ("key", Key, "secret"),
    ("psk", Family::Secret, "secret"),
    ("creds", Token, "secret"),
    ("credentials", Token, "secret"),
    ("credential", Token, "secret"),
    ("auth-header", Authorization, "authorization"),
    ("auth", Token, "secret"),
    ("authorization", Authorization, "authorization"),
    ("bearer", Scheme, "authorization"),
    ("basic", Scheme, "authorization"),
    ("amz-signature", Signature, "aws-signature"),
    ("goog-signature", Signature, "google-signature"),
    ("signature", Signature, "signature"),
    ("sig", Signature, "azure-sas"),
    ("code", Query, "code"),
    ("pin", Pin, "pin"),
];

/// Words for a password in other scripts, and what precedes those that start in ours.
#[rustfmt::skip]
const FOREIGN: &[(&str, &str)] = &[
    ("", "пароль"), ("", "Пароль"), ("", "ПАРОЛЬ"), ("", "密码"), ("", "密碼"), ("", "口令"), ("", "パスワード"), ("", "비밀번호"), ("", "암호"),
    ("contrase", "ña"), ("CONTRASE", "ÑA"), ("l", "ösenord"), ("L", "ösenord"), ("has", "ło"), ("Has", "ło"),
];

/// What precedes `key` in the names of things that are no secrets.
#[rustfmt::skip]
const HARMLESS_KEYS: &[&str] = &[
    "primary", "public", "pub", "foreign", "sort", "cache", "idempotency", "partition", "hash", "range", "object", "storage", "row", "group", "map",
    "index", "unique", "natural", "composite", "shortcut", "registry", "translation", "locale", "message", "query", "react", "bucket", "routing",
    "lookup", "join", "dedup", "dedupe", "merge", "node", "item", "data", "config", "field", "column", "parent", "child", "host", "lock", "file",
    "blob", "tree", "state", "event", "metric", "label", "tag", "build", "task", "job", "run", "content", "etag", "request", "redis", "store", "dict",
    "property", "attribute", "header", "param", "option", "setting", "arrow", "hot", "modifier", "menu", "tab", "list", "sequence", "fingerprint",
    "artifact", "asset", "image", "answer", "entry", "section", "issue", "project", "release", "restore", "i18n", "trace", "span", "chunk", "module",
    "package", "dependency", "schema", "document", "doc", "page", "user", "sitekey", "site", "publishable", "anon", "map", "verify", "verification",
];

/// The names by their last letter, as positions in the table.
struct Index {
    order: [u8; NAMES.len()],
    starts: [u8; 27],
}

static BY_END: Index = {
    let mut sorted = Index { order: [0; NAMES.len()], starts: [0; 27] };
    let (mut letter, mut filled) = (0, 0);
    while letter < 26 {
        sorted.starts[letter] = filled as u8;
        let mut at = 0;
        while at < NAMES.len() {
            let name = NAMES[at].0.as_bytes();
            if (name[name.len() - 1] - b'a') as usize == letter {
                sorted.order[filled] = at as u8;
                filled += 1;
            }
            at += 1;
        }
        letter += 1;
    }
    sorted.starts[26] = filled as u8;
    sorted
};

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

/// What the last letter but one of a name follows.
static BEFORE_ENDINGS: Pairs = {
    let mut pairs = Pairs::new();
    let mut index = 0;
    while index < NAMES.len() {
        let name = NAMES[index].0.as_bytes();
        let before_last = name[name.len() - 2];
        let third = if name.len() > 2 { name[name.len() - 3] } else { b'-' };
        if third == b'-' {
            // A name that starts here, or the second word of one.
            let mut any = 0;
            while any < 128 {
                pairs.insert(any, before_last);
                any += 1;
            }
        } else {
            pairs.insert(third, before_last);
        }
        index += 1;
    }
    pairs
};

/// Returns the secret that the name which ends at `end` announces. Further ones go to `found`; `rows_end` is where the last
/// table ends.
pub(super) fn after(
    text: &[u8],
    end: usize,
    found: &mut VecDeque<Secret>,
    rows_end: &mut usize,
) -> Option<Secret> {
    let mut name = Name::before(text, end)?;
    if name.family == Scheme {
        let start = skip_blanks(text, end);
        if start > end {
            return credential(text, start, &name);
        }
        // A map from hosts to tokens, in the file of a package manager.
        name.family = Family::Secret;
    }
    if matches!(name.family, Password | Family::Secret | Token)
        && matches!(text.get(end), Some(b',' | b' ' | b'|' | b'\n' | b'\r' | b'\\'))
        && end > *rows_end
        && let Some(column) = format::column(text, name.word_start(text), end)
    {
        *rows_end = column.secrets(text, name.kind, found);
        return found.pop_front();
    }
    let place = Place::after(text, end, &name)?;
    // The parts of such a value have names of their own.
    if name.family == Authorization && text[place.start..].starts_with(b"AWS4-HMAC") {
        return None;
    }
    if name.family == Authorization
        && let Some(start) = after_scheme(text, place.start)
    {
        return credential(text, start, &name);
    }
    place.secret(text, &name)
}

/// Returns where a word for a password in another script ends that starts at `at`, or whose first foreign letter is there.
pub(super) fn foreign_end(text: &[u8], at: usize) -> Option<usize> {
    FOREIGN.iter().find_map(|(before, word)| {
        let fits = text[at..].starts_with(word.as_bytes()) && text[..at].ends_with(before.as_bytes());
        fits.then_some(at + word.len())
    })
}

/// Returns the password that such a word `start..end` announces.
pub(super) fn after_foreign(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let name = Name { start, family: Password, kind: "password", is_upper: false, pattern: "" };
    let place = Place::after(text, end, &name)?;
    let sample_end = place.end(text, place.start, text.len().min(place.start + SAMPLE));
    let value = &text[place.start..sample_end];
    let accepted = match value::look(value) {
        Look::Opaque | Look::Digits => true,
        Look::Word => {
            place.form == Form::Quoted || (place.form == Form::Colon && ends_line(text, sample_end))
        }
        _ => false,
    };
    let is_number = place.name_is_quoted && place.quote.is_none();
    if !accepted || is_number || value::contains(value, MARK) || sample_end - place.start == SAMPLE {
        return None;
    }
    Some(Secret { start: place.start, end: sample_end, kind: "password" })
}

/// A name that announces a secret.
struct Name {
    start: usize,
    family: Family,
    kind: &'static str,
    /// Written as an environment variable is.
    is_upper: bool,
    /// The row of the table.
    pattern: &'static str,
}

impl Name {
    /// Returns the name that ends at `end`, if it is one; a number at its end is ignored.
    fn before(text: &[u8], end: usize) -> Option<Self> {
        let next = text.get(end)?;
        if !matches!(
            next,
            b'=' | b':'
                | b'"'
                | b'\''
                | b'`'
                | b'\\'
                | b' '
                | b'\t'
                | b'>'
                | b'*'
                | b','
                | b'|'
                | b'\n'
                | b'\r'
                | 0x80..
        ) {
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
        let third = end.checked_sub(3).map_or(b' ', |third| text[third].to_ascii_lowercase());
        if third.is_ascii() && !BEFORE_ENDINGS.contains(third, before_last.to_ascii_lowercase()) {
            return None;
        }
        let letter = usize::from(last.to_ascii_lowercase() - b'a');
        let rows = usize::from(BY_END.starts[letter])..usize::from(BY_END.starts[letter + 1]);
        BY_END.order[rows].iter().find_map(|&row| {
            let (pattern, family, kind) = NAMES[usize::from(row)];
            let start = start_of(text, end, pattern)?;
            let is_upper = text[start..end].iter().all(|byte| !byte.is_ascii_lowercase());
            let family =
                if family == Token && pattern == "token" && is_upper { Family::Secret } else { family };
            let in_query =
                || matches!(text[..start], [.., b'?' | b'&' | b';']) || follows_escape(text, start);
            let fits = match pattern {
                // `PWD` alone is the working directory.
                "pwd" => begins_word(text, start) && (!is_upper || follows_name_byte(text, start)),
                "auth" | "bearer" | "basic" | "pw" | "pin" | "psk" | "creds" | "senha" | "signature" => {
                    begins_word(text, start)
                }
                "pass" => begins_word(text, start) && follows_name_byte(text, start),
                "sig" => in_query(),
                "code" => in_query() && matches!(text[..start], [.., b'?' | b'&']),
                "key" => {
                    begins_word(text, start)
                        && if follows_name_byte(text, start) {
                            !is_harmless_key(text, start)
                        } else {
                            in_query()
                        }
                }
                _ => true,
            };
            fits.then_some(Self { start, family, kind, is_upper, pattern })
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

    /// Returns whether the word is the argument of a command whose next argument is its value: `ENV API_KEY x`.
    fn is_argument(&self, text: &[u8]) -> bool {
        const COMMANDS: &[&str] = &["ENV", "ARG", "setx", "set", "-x", "-gx", "-Ux", "setenv", "config:set"];
        let before = text[..self.word_start(text)].trim_ascii_end();
        let is_command = COMMANDS.iter().any(|command| {
            before.strip_suffix(command.as_bytes()).is_some_and(|rest| {
                !rest.last().is_some_and(u8::is_ascii_alphanumeric) || rest.ends_with(b"\\n")
            })
        });
        let is_netrc = || {
            let before = &before[before.len().saturating_sub(2 * REACH)..];
            self.family == Password
                && value::contains(before, "login ")
                && (value::contains(before, "machine ") || value::contains(before, "default "))
        };
        matches!(self.family, Password | Family::Secret | Key) && (is_command || is_netrc())
    }

    /// Returns whether the next word may be the password without a verb: in `.netrc`, or "with password …".
    fn is_spoken(&self, text: &[u8]) -> bool {
        let before = &text[self.start.saturating_sub(2 * REACH)..self.start];
        self.family == Password
            && (["login ", "account "].iter().any(|word| value::contains(before, word))
                || ["with ", "with the ", "use ", "the ", "using "]
                    .iter()
                    .any(|word| before.ends_with(word.as_bytes())))
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
    /// `name is value`.
    Said,
    /// The value is on the next line.
    Below,
    /// The value is a block on the next lines, in YAML.
    Block,
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
        if let Some(start) = value_key(text, name, at, name_is_quoted) {
            let quote = Quote::at(text, start);
            let form = if quote.is_some() { Form::Quoted } else { Form::Tight };
            return Some(Self {
                start: quote.map_or(start, |quote| quote.after),
                form,
                quote,
                name_is_quoted: false,
            });
        }
        let (form, after) = match text.get(separator..)? {
            [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
            [b'=', b'>', ..] | [b':', b'=', ..] => (Form::Loose, separator + 2),
            [b'=', ..] if is_spaced => (Form::Loose, separator + 1),
            [b'=', b' ' | b'\t', ..] => (Form::Loose, separator + 1),
            [b'=', ..] => (Form::Tight, separator + 1),
            // `/etc/passwd: no such file`, also when part of the path was replaced.
            [b':', ..] if matches!(text[..name.word_start(text)], [.., b'/' | b']']) => return None,
            [b':', ..] if is_arn(text, name.start) => return None,
            [b':', ..] => (Form::Colon, separator + 1),
            [b'>', ..] if text[..name.word_start(text)].ends_with(b"<") => (Form::Tight, separator + 1),
            [b',', ..] if name_is_quoted && listed => (Form::Flag, separator + 1),
            [b'\'', ..] if is_spaced && name.family == Password => (Form::Flag, separator),
            [b'"', ..] | [b'\\', b'"', ..]
                if is_spaced
                    && matches!(name.pattern, "identified-by" | "password-by" | "convertto-securestring") =>
            {
                (Form::Flag, separator)
            }
            // The next cell of a table.
            [b'|', ..] if text[..name.word_start(text)].trim_ascii_end().ends_with(b"|") => {
                (Form::Said, separator + 1)
            }
            // `AWS Secret Access Key [None]: …`.
            [b'[', ..] if is_spaced => {
                let close = run_end(&text[..text.len().min(separator + REACH)], separator, |byte| {
                    byte != b']' && byte != b'\n'
                });
                if !text[close..].starts_with(b"]:") {
                    return None;
                }
                (Form::Colon, close + 2)
            }
            // A colon of full width, and words for "is".
            [0xEF, 0xBC, 0x9A, ..]
            | [0xE6, 0x98, 0xAF, ..]
            | [0xE4, 0xB8, 0xBA, ..]
            | [0xE3, 0x81, 0xAF, ..] => (Form::Said, separator + 3),
            _ if is_spaced && !name_is_quoted && name.is_flag(text) => (Form::Flag, separator),
            _ if is_spaced && !name_is_quoted && name.is_argument(text) => (Form::Flag, separator),
            _ if is_spaced && !name_is_quoted => {
                (Form::Said, after_is(text, separator).or_else(|| name.is_spoken(text).then_some(separator))?)
            }
            _ => return None,
        };
        if let Some((start, form)) = below(text, after, form, name) {
            return Some(Self { start, form, quote: None, name_is_quoted: false });
        }
        let after = match after_host(text, after, name) {
            Some(after) => after,
            None if matches!(name.pattern, "bearer" | "basic") => return None,
            None => after,
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
            None if matches!(self.form, Form::Below | Form::Block) => {
                from + run_end(&text[from..limit], 0, |byte| byte > b' ' && !matches!(byte, b'"' | b'\\'))
            }
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
        known.filter(|secret| secret.end >= end).or(Some(Secret { start: self.start, end, kind: name.kind }))
    }

    /// Returns whether the value that ends at `end`, or its sample, is a secret.
    fn holds_secret(&self, text: &[u8], end: usize, name: &Name) -> bool {
        let value = &text[self.start..end];
        if name.family == Pin {
            let is_whole = text.get(end).is_none_or(|byte| !b".-/:(".contains(byte));
            return (4..=8).contains(&value.len()) && value.iter().all(u8::is_ascii_digit) && is_whole;
        }
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
        if self.form == Form::Said {
            return self.is_spoken(text, end, name, look);
        }
        if self.form == Form::Block && !(ends_line(text, end) && look == Look::Opaque) {
            return false;
        }
        if self.form == Form::Below
            && !(ends_line(text, end)
                && look == Look::Opaque
                && (is_random(value) || name.family == Password))
        {
            return false;
        }
        match (name.family, look) {
            (Key, Look::Opaque) => value.len() >= 16 && is_random(value),
            (Query, Look::Opaque) => self.form == Form::Tight && value.len() >= 16 && is_random(value),
            (Key | Query | Pin, _) => false,
            (Signature, Look::Opaque) if name.pattern == "signature" => {
                self.form == Form::Tight && value.len() >= 40 && value.iter().all(u8::is_ascii_hexdigit)
            }
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

impl Place {
    /// Returns whether a value after "is" or in the next cell is a secret: as a word it would be prose.
    fn is_spoken(&self, text: &[u8], end: usize, name: &Name, look: Look) -> bool {
        let value = &text[self.start..end];
        if look != Look::Opaque || is_worded(value) || is_filler(value) {
            return false;
        }
        let has_letter = value.iter().any(u8::is_ascii_alphabetic);
        let has_symbol = value.iter().any(|byte| b"!@#$%^&*+?".contains(byte));
        match name.family {
            Password => has_letter && (has_digit(value) || has_symbol) && !is_version(value),
            Family::Secret => has_letter && has_digit(value) && value.len() >= 8 && !is_version(value),
            Token | Key => value.len() >= 16 && is_random(value),
            _ => false,
        }
    }
}

/// Returns whether `value` is a version, a size or a date: `v1.2`, `sha256`, `64KB`.
fn is_version(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let others = value.len() - letters - digits;
    let is_dotted = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-:/_".contains(byte));
    is_dotted
        && (letters <= 2
            || (others == 0 && value.len() <= 7 && value[letters..].iter().all(u8::is_ascii_digit)))
}

/// Returns where the credential starts when `at` is the start of a known scheme.
fn after_scheme(text: &[u8], at: usize) -> Option<usize> {
    const SCHEMES: &[&str] = &[
        "bearer",
        "basic",
        "token",
        "apikey",
        "api-key",
        "bot",
        "jwt",
        "negotiate",
        "ssws",
        "splunk",
        "key",
    ];
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
        _ if name.pattern == "basic" => is_basic(value),
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
    known.filter(|secret| secret.end >= end).or(Some(Secret { start, end, kind: name.kind }))
}

/// Returns whether `value` is base64 of `user:password`.
fn is_basic(value: &[u8]) -> bool {
    let pair = encoded::decoded(value.iter().copied());
    value.len() >= 8
        && pair.contains(&b':')
        && pair.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
}

/// Returns where the value starts after a name that is itself a value: `- name: DB_PASSWORD`, `value: …`, and
/// `<input type="password" value="…">`.
fn value_key(text: &[u8], name: &Name, at: usize, is_quoted: bool) -> Option<usize> {
    let limit = text.len().min(at + 2 * REACH);
    let mut next = at;
    let mut has_break = false;
    loop {
        match line_break(text, next) {
            Some(line) => {
                next = line;
                has_break = true;
            }
            None if next < limit && matches!(text[next], b' ' | b',' | b'\t') => {
                has_break |= text[next] == b',';
                next += 1;
            }
            None => break,
        }
    }
    let before = &text[..name.word_start(text)];
    let is_attribute =
        is_quoted && [&b"=\""[..], b"=\\\"", b"='"].iter().any(|quote| before.ends_with(quote));
    if is_attribute {
        // Other attributes may come between.
        let window = &text[at..limit];
        let window = &window[..run_end(window, 0, |byte| !matches!(byte, b'>' | b'<' | b'\n'))];
        let found = memchr::memmem::find(window, b" value=")?;
        return Some(at + found + " value=".len());
    }
    if !has_break {
        return None;
    }
    let quote = Quote::at(text, next.min(text.len()));
    let key = quote.map_or(next, |quote| quote.after);
    let word = text.get(key..key + "value".len())?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let after = key + "value".len();
    let after = match quote {
        Some(_) => Quote::at(text, after)?.after,
        None => after,
    };
    (text.get(after) == Some(&b':')).then(|| skip_blanks(text, after + 1))
}

/// Returns where the value starts after "is" in English and other languages.
fn after_is(text: &[u8], at: usize) -> Option<usize> {
    const VERBS: &[&str] = &[
        "is ",
        "is: ",
        "was ",
        "ist ",
        "lautet ",
        "es ",
        "est ",
        "e ",
        "\u{e8} ",
        "\u{e9} ",
        "\u{2014} ",
        "\u{2013} ",
        "- ",
        "-> ",
    ];
    let verb = |at: usize| {
        VERBS.iter().find(|verb| text[at..].starts_with(verb.as_bytes())).map(|verb| at + verb.len())
    };
    if !text[at..].starts_with(b"for ") && !text[at..].starts_with(b"of ") {
        return verb(at);
    }
    // "the password for the database is …".
    let window = &text[at..text.len().min(at + REACH)];
    let window =
        &window[..run_end(window, 0, |byte| byte >= b' ' && !matches!(byte, b'.' | b',' | b'"' | b'\\'))];
    memchr::memmem::find(window, b" is").and_then(|found| verb(at + found + 1))
}

/// Returns where the value starts on the line after a name: behind the sign of a block in YAML, or nothing else.
fn below(text: &[u8], after: usize, form: Form, name: &Name) -> Option<(usize, Form)> {
    if !matches!(form, Form::Tight | Form::Loose | Form::Colon)
        || matches!(name.family, Query | Pin | Scheme | Signature)
    {
        return None;
    }
    let at = skip_blanks(text, after);
    let block =
        run_end(&text[..text.len().min(at + 4)], at, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+'));
    let is_block = block > at && form == Form::Colon && matches!(text[at], b'|' | b'>');
    if !is_block && (block > at || name.family == Token) {
        return None;
    }
    let start = line_break(text, block)?;
    let form = if is_block { Form::Block } else { Form::Below };
    text.get(start).filter(|byte| byte.is_ascii_graphic() && **byte != b'-').map(|_| (start, form))
}

/// Returns where the value starts in `"github-oauth": {"github.com": "…"}`.
fn after_host(text: &[u8], at: usize, name: &Name) -> Option<usize> {
    if !matches!(name.pattern, "github-oauth" | "gitlab-oauth" | "gitlab-token" | "bearer") {
        return None;
    }
    let skip = |at: usize| {
        run_end(&text[..text.len().min(at + REACH)], at, |byte| byte.is_ascii_whitespace() || byte == b'{')
    };
    let open = skip(at);
    let quote = (open > at).then(|| Quote::at(text, open.min(text.len() - 1))).flatten()?;
    let host_end = quote.string_end(text, quote.after, text.len().min(quote.after + REACH));
    let colon = run_end(&text[..text.len().min(host_end + 8)], host_end, |byte| byte != b':');
    text.get(colon).filter(|&&byte| byte == b':').map(|_| colon + 1)
}

/// Returns whether the name at `start` is a part of an ARN: `arn:aws:secretsmanager:…:secret:prod/db`.
fn is_arn(text: &[u8], start: usize) -> bool {
    let window = &text[start.saturating_sub(2 * REACH)..start];
    let token = window
        .iter()
        .rposition(|byte| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'='))
        .map_or(0, |last| last + 1);
    window.ends_with(b":") && window[token..].starts_with(b"arn:")
}

/// Returns whether the word before `key`, which starts at `start`, makes it the name of something that is no secret.
fn is_harmless_key(text: &[u8], start: usize) -> bool {
    let before = &text[..start];
    let before = match before {
        [before @ .., b'_' | b'-'] => before,
        before => before,
    };
    HARMLESS_KEYS.iter().any(|word| {
        let word = word.as_bytes();
        let Some((rest, tail)) = before.len().checked_sub(word.len()).map(|at| before.split_at(at)) else {
            return false;
        };
        tail.eq_ignore_ascii_case(word)
            && (tail[0].is_ascii_uppercase() || !rest.last().is_some_and(u8::is_ascii_alphanumeric))
    })
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
