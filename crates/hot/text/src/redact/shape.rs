//! Secrets that are recognised by their own shape.

use super::random::{has_checksum, is_filler, is_mixed, is_random, is_worded};
use super::table::{self, ALNUM, Alphabet, COUNT, DASHED, Guard, Part, SHAPES, Shape};
use super::value::{SAMPLE, has_digit};
use super::{MARK, Pairs, Secret, line_break, run_end};

/// The shortest secret that is a single word: an Alibaba access key id.
const LONG_WORD: usize = 16;

/// How many letters may be glued to the front of a secret that is a single word.
const GLUE: usize = 24;

/// The shortest secret behind a prefix that is in no table.
const SHORTEST_UNLISTED: usize = 20;

/// How many lines one secret may be spread over.
const MOST_LINES: usize = 8;

/// The shapes sorted by a byte of their prefixes, with what decides about nearly all of them side by side.
struct Index {
    /// For each byte where its shapes start in the other arrays.
    starts: [u16; 129],
    order: [u16; COUNT],
    /// The byte of the prefix next to the one that they are sorted by.
    beside: [u8; COUNT],
    /// How long the first word of the prefix is.
    stems: [u8; COUNT],
    /// Whether that is the whole prefix.
    is_word: [bool; COUNT],
}

/// Sorts the shapes by their first byte, or by the last byte of the first word of their prefix, and keeps their order
/// otherwise.
const fn index(by_end: bool) -> Index {
    const N: usize = COUNT;
    let mut sorted =
        Index { starts: [0; 129], order: [0; N], beside: [0; N], stems: [0; N], is_word: [false; N] };
    let (mut byte, mut filled) = (0, 0);
    while byte < 128 {
        sorted.starts[byte] = filled as u16;
        let mut at = 0;
        while at < N {
            let prefix = table::prefix(at);
            let stem = table::stem(at);
            let key = if by_end { prefix[stem - 1] } else { prefix[0] };
            if key as usize == byte {
                sorted.order[filled] = at as u16;
                sorted.beside[filled] = match by_end {
                    true if stem < 2 => 0,
                    true => prefix[stem - 2],
                    false => prefix[1],
                };
                sorted.stems[filled] = stem as u8;
                sorted.is_word[filled] = stem == prefix.len();
                filled += 1;
            }
            at += 1;
        }
        byte += 1;
    }
    sorted.starts[128] = filled as u16;
    sorted
}

impl Index {
    /// Returns the positions of the shapes with this byte and the one beside it.
    fn of(&self, byte: u8, beside: u8) -> impl Iterator<Item = usize> {
        let byte = usize::from(byte & 127);
        let range = usize::from(self.starts[byte])..usize::from(self.starts[byte + 1]);
        range.filter(move |&at| self.beside[at] == beside)
    }

    fn shape(&self, at: usize) -> &'static Shape {
        &SHAPES[usize::from(self.order[at])]
    }
}

/// The shapes by the first byte of their prefix.
static BY_START: Index = index(false);

/// The shapes by the last letter of their prefix's first word.
static BY_STEM: Index = index(true);

/// How the shapes begin. Nearly every other word ends its search here.
static BEGINNINGS: Pairs = {
    let mut beginnings = Pairs::new();
    let mut index = 0;
    while index < COUNT {
        let prefix = table::prefix(index);
        beginnings.insert(prefix[0], prefix[1]);
        index += 1;
    }
    index = 0;
    while index < SPECIAL.len() {
        let prefix = SPECIAL[index].0.as_bytes();
        beginnings.insert(prefix[0], prefix[1]);
        index += 1;
    }
    beginnings
};

/// How the first words of prefixes end that are known behind other letters, too.
static STEM_ENDS: Pairs = {
    let mut ends = Pairs::new();
    let mut index = 0;
    while index < COUNT {
        let stem = table::stem(index);
        let prefix = table::prefix(index);
        if stem >= 2 && stem < prefix.len() && prefix.len() >= 4 {
            ends.insert(prefix[stem - 2], prefix[stem - 1]);
        }
        index += 1;
    }
    ends
};

/// Reads the secret that starts at an index of the text.
type Read = fn(&[u8], usize) -> Option<Secret>;

/// Shapes that the table cannot express.
static SPECIAL: &[(&str, Read)] = &[
    ("eyJ", json_web_token),
    ("SG.", sendgrid),
    ("hooks.slack.com", |text, start| {
        webhook(text, start, &["hooks.slack.com"], &["services", "workflows", "triggers"], "slack-webhook")
    }),
    ("discord.com", |text, start| {
        webhook(text, start, &["discord.com", "api"], &["webhooks"], "discord-webhook")
    }),
    ("discordapp.com", |text, start| {
        webhook(text, start, &["discordapp.com", "api"], &["webhooks"], "discord-webhook")
    }),
    ("webhook.office.com", |text, start| {
        webhook(text, start, &["webhook.office.com"], &["webhookb2"], "teams-webhook")
    }),
    ("outlook.office.com", |text, start| {
        webhook(text, start, &["outlook.office.com"], &["webhook"], "teams-webhook")
    }),
    ("hooks.zapier.com", |text, start| {
        webhook(text, start, &["hooks.zapier.com", "hooks"], &["catch", "standard"], "zapier-webhook")
    }),
    ("maker.ifttt.com", |text, start| {
        webhook(text, start, &["maker.ifttt.com"], &["trigger", "use"], "ifttt-webhook")
    }),
    ("open.feishu.cn", |text, start| {
        webhook(text, start, &["open.feishu.cn", "open-apis", "bot", "v2"], &["hook"], "feishu-webhook")
    }),
];

/// Returns the secret that the word `start..end` begins, or that begins within it.
pub(super) fn at(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let length = end - start;
    // Every shape continues past its first word, or is one long word.
    let next = text.get(end).copied();
    let is_joined = match next {
        Some(b'-' | b'_' | b'.' | b'~' | b'$') => true,
        Some(b':') => {
            let joined = if text[end - 1].is_ascii_digit() { telegram(text, start, end) } else { None };
            let joined = joined.or_else(|| firebase(text, start, end));
            return joined.or_else(|| if length >= LONG_WORD { prefixed(text, start, end) } else { None });
        }
        Some(b'/') if length == 1 => return slashed(text, start),
        Some(b'|') if (15..=16).contains(&length) => return facebook(text, start, end),
        // The base64 of some has a slash or a plus early on.
        Some(b'/' | b'+') if (4..LONG_WORD).contains(&length) => return prefixed(text, start, end),
        _ if length < LONG_WORD => return None,
        _ => false,
    };
    let found = prefixed(text, start, end);
    if found.is_some() {
        return found;
    }
    if length >= 21 && text[start + 11..start + 21].iter().all(|&byte| byte == b'A') {
        let last = run_end(&text[..text.len().min(start + 80)], start, dashed);
        if last - start == 64 && is_mixed(&text[start..last]) {
            return Some(Secret { start, end: last, kind: "dropbox" });
        }
    }
    if is_joined {
        return parted(text, start, end)
            .or_else(|| glued(text, start, end))
            .or_else(|| unlisted(text, start, end));
    }
    long_word(text, start, end)
}

/// Returns the secret whose prefix starts with the word `start..end`.
fn prefixed(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let rest = &text[start..];
    let [first, second, ..] = *rest else { return None };
    if !BEGINNINGS.contains(first, second) {
        return None;
    }
    let length = end - start;
    let known = BY_START.of(first, second).find_map(|at| {
        let stem = usize::from(BY_START.stems[at]);
        let fits = if BY_START.is_word[at] { length >= stem } else { length == stem };
        let shape = BY_START.shape(at);
        if fits && rest.starts_with(shape.prefix()) { read(text, start, shape, shape.guard) } else { None }
    });
    known.or_else(|| {
        SPECIAL.iter().find_map(|(prefix, read)| {
            let is_there = prefix.as_bytes()[0] == first && rest.starts_with(prefix.as_bytes());
            if is_there { read(text, start) } else { None }
        })
    })
}

/// Returns the secret of this shape whose prefix is at `start`.
fn read(text: &[u8], start: usize, shape: &Shape, guard: Guard) -> Option<Secret> {
    let body = start + shape.prefix().len();
    let mut at = body;
    let mut rest = None;
    for part in shape.parts() {
        match *part {
            Part::Text(expected) => {
                let expected = expected.bytes();
                if !text[at..].starts_with(expected) {
                    return None;
                }
                at += expected.len();
            }
            Part::Run { alphabet, least, real, most } => {
                let limit = text.len().min(at + if most == usize::MAX { SAMPLE } else { most + 1 });
                let end = run_end(&text[..limit], at, |byte| alphabet.contains(byte));
                let joined = if end - at < real { joined_end(text, at, end, alphabet, real) } else { None };
                if joined.is_none() && !(least..=most).contains(&(end - at)) {
                    return None;
                }
                at = joined.unwrap_or(end);
                rest = (joined.is_none() && most == usize::MAX).then_some(alphabet);
            }
        }
    }
    if !accepts(guard, &text[body..at.min(body + SAMPLE)]) {
        return None;
    }
    if let Some(alphabet) = rest {
        at = run_end(text, at, |byte| alphabet.contains(byte));
        at -= text[body..at].iter().rev().take_while(|&&byte| byte == b'.').count();
    }
    let whole = !text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    whole.then_some(Secret { start, end: at, kind: shape.kind() })
}

fn accepts(guard: Guard, body: &[u8]) -> bool {
    if guard == Guard::Checksum && has_checksum(body) {
        return true;
    }
    let fits = match guard {
        Guard::Unworded | Guard::Checksum => has_digit(body) || !is_worded(body),
        Guard::Digit => has_digit(body) && !is_worded(body),
        Guard::Mixed => is_mixed(body) && !is_worded(body),
    };
    fits && !is_filler(body)
}

/// Returns where a run of `alphabet` ends that started at `start` and was interrupted at `end` by line breaks, if it is
/// `real` bytes long without them.
fn joined_end(text: &[u8], start: usize, end: usize, alphabet: Alphabet, real: usize) -> Option<usize> {
    let (mut at, mut length) = (end, end - start);
    for _ in 0..MOST_LINES {
        let next = line_break(text, at)?;
        let limit = text.len().min(next + real + 1 - length);
        let line_end = run_end(&text[..limit], next, |byte| alphabet.contains(byte));
        if line_end == next {
            return None;
        }
        length += line_end - next;
        at = line_end;
        if length >= real {
            break;
        }
    }
    (length == real && !text.get(at).is_some_and(u8::is_ascii_alphanumeric)).then_some(at)
}

/// Returns the secret whose prefix ends the word `start..end` behind other letters: `tokenghp_…`.
fn glued(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let [.., before_last, last] = text[start..end] else { return None };
    if !STEM_ENDS.contains(before_last, last) {
        return None;
    }
    let length = end - start;
    BY_STEM.of(last, before_last).find_map(|at| {
        let stem = usize::from(BY_STEM.stems[at]);
        if stem >= length || BY_STEM.is_word[at] {
            return None;
        }
        let shape = BY_STEM.shape(at);
        let from = end - stem;
        let fits = shape.prefix().len() >= 4 && text[from..].starts_with(shape.prefix());
        let guard = if shape.guard == Guard::Mixed { Guard::Mixed } else { Guard::Digit };
        if fits { read(text, from, shape, guard) } else { None }
    })
}

/// Returns the secret that is a long word, without a prefix or behind other letters.
fn long_word(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    const GLUED: &[&[u8]] = &[b"AKIA", b"ASIA", b"AIza", b"LTAI", b"GR1348941", b"ATATT3", b"AKCp"];
    let word = &text[start..end];
    if word.len() > 160 {
        return None;
    }
    // Azure DevOps, and the keys of Azure services, have a mark of their issuer inside.
    let marks: &[&[u8]] = match word.len() {
        84 => &[b"AZDO", b"JQQJ99", b"ACAAAA"],
        50..=56 => &[b"AzSe", b"AzFu"],
        76..=86 => &[b"ACDb", b"JQQJ99"],
        _ => &[],
    };
    let has = |mark: &&[u8]| word.windows(mark.len()).any(|window| window == *mark);
    if !marks.is_empty() && is_mixed(word) && marks.iter().any(has) {
        return Some(Secret { start, end: run_end(text, end, |byte| byte == b'='), kind: "azure-key" });
    }
    if word.len() == 40 && word.ends_with(b"NRAL") {
        return Some(Secret { start, end, kind: "new-relic" });
    }
    let last = word.len().saturating_sub(LONG_WORD).min(GLUE);
    (1..=last).find_map(|offset| {
        let is_start = matches!(word[offset], b'A' | b'L' | b'G')
            && GLUED.iter().any(|prefix| word[offset..].starts_with(prefix));
        if is_start { prefixed(text, start + offset, end) } else { None }
    })
}

/// Returns a secret of several words, of which the first has no fixed beginning.
fn parted(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let after = &text[end..];
    let is_hex = |part: &[u8]| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let run = |from: usize, alphabet: Alphabet, most: usize| {
        run_end(&text[..text.len().min(from + most + 1)], from, |byte| alphabet.contains(byte))
    };
    let secret = |end, kind| Some(Secret { start, end, kind });
    match (word.len(), after[0]) {
        (14, b'.') if after.starts_with(b".atlasv1.") => {
            let from = end + ".atlasv1.".len();
            let last = run(from, DASHED, 4 * SAMPLE);
            if last - from >= 40 { secret(last, "terraform") } else { None }
        }
        (23..=28, b'.') if matches!(word[0], b'M' | b'N' | b'O') => {
            let middle = run(end + 1, DASHED, 8);
            if !(5..=7).contains(&(middle - end - 1)) || text.get(middle) != Some(&b'.') {
                return None;
            }
            let last = run(middle + 1, DASHED, 64);
            if (27..=64).contains(&(last - middle - 1)) { secret(last, "discord") } else { None }
        }
        (6, b'_') => {
            let middle = run(end + 1, ALNUM, 30);
            let fits = middle - end - 1 == 29 && text[middle..].starts_with(b"_mmk");
            if fits { secret(middle + "_mmk".len(), "maxmind") } else { None }
        }
        (26..=28, b'_') if matches!(word[0], b'1' | b'2') && is_mixed(word) => {
            let last = run(end + 1, ALNUM, 24);
            let tail = &text[end + 1..last];
            if (19..=23).contains(&tail.len()) && !is_worded(tail) { secret(last, "ngrok") } else { None }
        }
        (32, b'-') if is_hex(word) && has_digit(word) => {
            if after.starts_with(b"-us") {
                let last = run(end + 3, ALNUM, 3);
                let centre = &text[end + 3..last];
                let fits = (1..=2).contains(&centre.len()) && centre.iter().all(u8::is_ascii_digit);
                return if fits { secret(last, "mailchimp") } else { None };
            }
            let middle = run(end + 1, ALNUM, 9);
            let last = if text.get(middle) == Some(&b'-') { run(middle + 1, ALNUM, 9) } else { middle };
            let fits = middle == end + 9 && last == middle + 9 && is_hex(&text[end + 1..middle]);
            if fits { secret(last, "mailgun") } else { None }
        }
        (15..=20, b'-') if word.iter().all(u8::is_ascii_digit) => {
            let last = run(end + 1, ALNUM, 48);
            let tail = &text[end + 1..last];
            if (35..=46).contains(&tail.len()) && is_mixed(tail) { secret(last, "twitter") } else { None }
        }
        (2.., b'~') if word.ends_with(b"Q") && word[word.len() - 2].is_ascii_digit() => {
            // `abc8Q~` and 31 to 34 more, which may contain dots, dashes and tildes.
            let before = text[..end - 2]
                .iter()
                .rev()
                .take(3)
                .take_while(|&&byte| DASHED.contains(byte) || matches!(byte, b'.' | b'~'));
            let first = end - 2 - before.count();
            let last = run_end(&text[..text.len().min(end + 64)], end + 1, |byte| {
                DASHED.contains(byte) || matches!(byte, b'.' | b'~')
            });
            let fits = end - 2 - first == 3 && (30..=40).contains(&(last - end - 1));
            fits.then_some(Secret { start: first, end: last, kind: "azure-secret" })
        }
        _ => None,
    }
}

/// Returns a token with a prefix that is in no table: `acme_sk_…`, `acme_live_…`.
fn unlisted(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    /// Words before a dash or underscore that say that a secret follows, with the shortest that counts.
    const STRONG: &[&str] =
        &["sk", "rk", "pat", "tkn", "token", "secret", "oauth", "apikey", "pw", "SECRET", "PAT"];
    const WEAK: &[&str] =
        &["live", "prod", "test", "key", "api", "auth", "access", "svc", "v1", "KEY", "API", "sandbox"];
    let word = &text[start..end];
    // Nearly every word that follows is shorter.
    let is_long = text.get(end + SHORTEST_UNLISTED).is_some_and(|&byte| super::is_word(byte));
    if !is_long || word.len() > 10 || !matches!(text[end], b'_' | b'-') || text[start].is_ascii_digit() {
        return None;
    }
    let limit = text.len().min(end + 1 + SAMPLE);
    let sample_end = run_end(&text[..limit], end + 1, super::is_word);
    let body = &text[end + 1..sample_end];
    if body.len() < SHORTEST_UNLISTED {
        return None;
    }
    let is = |words: &[&str]| words.iter().any(|known| word == known.as_bytes());
    let fits = if is(STRONG) {
        is_random(body)
    } else if is(WEAK) {
        is_random(body) && is_mixed(body)
    } else {
        let is_prefix = (2..=8).contains(&word.len())
            && word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        text[end] == b'_'
            && is_prefix
            && body.len() >= 36
            && body.len() < SAMPLE
            && is_random(body)
            && is_mixed(body)
    };
    if !fits || matches!(text.get(sample_end), Some(b'/' | b'+' | b'.')) {
        return None;
    }
    let last = run_end(text, sample_end, super::is_word);
    Some(Secret { start, end: last, kind: "token" })
}

/// `eyJ<header>.eyJ<claims>.<signature>`, signed, or `eyJ<header>.<key>.<iv>.<text>.<tag>`, encrypted. The signature may
/// be missing, but not its dot.
fn json_web_token(text: &[u8], start: usize) -> Option<Secret> {
    // Inside a run of base64 there would be a beginning every few bytes, each with the whole run to read.
    if start > 0 && dashed(text[start - 1]) && !super::follows_escape(text, start) {
        return None;
    }
    let header = wrapped_end(text, start);
    if header - start < 10 || text.get(header) != Some(&b'.') {
        return None;
    }
    if !text[header..].starts_with(b".eyJ") {
        return encrypted(text, start, header);
    }
    let claims = wrapped_end(text, header + 1);
    let mut end = (text.get(claims) == Some(&b'.')).then(|| run_end(text, claims + 1, dashed))?;
    // Signatures of 32, 64 and 256 bytes, interrupted by a line break.
    if let Some(joined) =
        [43, 86, 342].iter().find_map(|&real| joined_end(text, claims + 1, end, DASHED, real))
    {
        end = joined;
    }
    Some(Secret { start, end, kind: "jwt" })
}

/// Returns where a part of a token ends that goes on over line breaks until its dot.
fn wrapped_end(text: &[u8], start: usize) -> usize {
    let end = run_end(text, start, dashed);
    let mut at = end;
    for _ in 0..MOST_LINES {
        let Some(next) = line_break(text, at) else { break };
        let line_end = run_end(&text[..text.len().min(next + 4 * SAMPLE)], next, dashed);
        if line_end == next {
            break;
        }
        at = line_end;
        if text.get(at) == Some(&b'.') {
            return at;
        }
    }
    end
}

/// Four parts after the header, of which the first may be empty.
fn encrypted(text: &[u8], start: usize, header: usize) -> Option<Secret> {
    if header - start < 20 {
        return None;
    }
    let mut at = header;
    for least in [0, 8, 8, 8] {
        if text.get(at) != Some(&b'.') {
            return None;
        }
        let end = run_end(text, at + 1, dashed);
        if end - at - 1 < least {
            return None;
        }
        at = end;
    }
    Some(Secret { start, end: at, kind: "jwt" })
}

/// `SG.<id>.<key>`.
fn sendgrid(text: &[u8], start: usize) -> Option<Secret> {
    let id = start + "SG.".len();
    let id_end = run_end(text, id, dashed);
    if id_end - id < 16 {
        return None;
    }
    if text.get(id_end) != Some(&b'.') {
        let is_whole = (60..=70).contains(&(id_end - id)) && is_mixed(&text[id..id_end]);
        return is_whole.then_some(Secret { start, end: id_end, kind: "sendgrid" });
    }
    let end = run_end(text, id_end + 1, dashed);
    (end - id_end > 16).then_some(Secret { start, end, kind: "sendgrid" })
}

/// `<bot id>:<35 characters>`, also as `bot<bot id>:…` in a URL.
fn telegram(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let id = if text[start..].starts_with(b"bot") { start + "bot".len() } else { start };
    if !(8..=10).contains(&(end - id)) || !text[id..end].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let key_end = run_end(text, end + 1, dashed);
    let key = &text[end + 1..key_end];
    // A longer run does not become a key when a secret at its end is replaced.
    let whole = (30..=40).contains(&key.len()) && !text[key_end..].starts_with(MARK.as_bytes());
    (whole && has_digit(key)).then_some(Secret { start: id, end: key_end, kind: "telegram" })
}

/// `AAAA<7 characters>:APA91b<134 characters>`.
fn firebase(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    if !text[end..].starts_with(b":APA91b") {
        return None;
    }
    let last = run_end(text, end + 1, dashed);
    (last - end > 60).then_some(Secret { start, end: last, kind: "firebase" })
}

/// `<app id>|<27 to 40 characters>`.
fn facebook(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let limit = text.len().min(end + 48);
    let last = run_end(&text[..limit], end + 1, dashed);
    let key = &text[end + 1..last];
    let fits =
        text[start..end].iter().all(u8::is_ascii_digit) && (27..=40).contains(&key.len()) && is_random(key);
    fits.then_some(Secret { start, end: last, kind: "facebook" })
}

/// `1//0<refresh token>` of Google, `1/<account>:<32 hex>` of Asana.
fn slashed(text: &[u8], start: usize) -> Option<Secret> {
    if text[start..].starts_with(b"1//0") {
        let end = run_end(text, start + 3, dashed);
        let body = &text[start + 3..end.min(start + SAMPLE)];
        return (body.len() >= 30 && has_digit(body) && !is_worded(body)).then_some(Secret {
            start,
            end,
            kind: "google-oauth",
        });
    }
    let mut account = start + 2;
    for _ in 0..2 {
        let limit = text.len().min(account + 24);
        let account_end = run_end(&text[..limit], account, |byte| byte.is_ascii_digit());
        if account_end - account < 12 {
            return None;
        }
        match text.get(account_end) {
            Some(b'/') => account = account_end + 1,
            Some(b':') => {
                let limit = text.len().min(account_end + 40);
                let end = run_end(
                    &text[..limit],
                    account_end + 1,
                    |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
                );
                return (end - account_end - 1 == 32).then_some(Secret { start, end, kind: "asana" });
            }
            _ => return None,
        }
    }
    None
}

/// A URL whose path, after the known segments and one of `last`, is the secret. The slashes may be JSON-escaped.
fn webhook(
    text: &[u8],
    start: usize,
    segments: &[&str],
    last: &[&str],
    kind: &'static str,
) -> Option<Secret> {
    let after_slash = |at: usize| match text.get(at..)? {
        [b'/', ..] => Some(at + 1),
        [b'\\', b'/', ..] => Some(at + 2),
        _ => None,
    };
    let in_path = |byte: u8| dashed(byte) || byte == b'@';
    let mut path = start;
    for segment in segments {
        let rest = text[path..].strip_prefix(segment.as_bytes())?;
        path = after_slash(text.len() - rest.len())?;
    }
    let segment = last.iter().find(|segment| text[path..].starts_with(segment.as_bytes()))?;
    path = after_slash(path + segment.len())?;
    let mut end = run_end(text, path, in_path);
    while let Some(next) = after_slash(end) {
        let next_end = run_end(text, next, in_path);
        if next_end == next {
            break;
        }
        end = next_end;
    }
    let least = if kind == "zapier-webhook" { 12 } else { 20 };
    (end - path >= least).then_some(Secret { start: path, end, kind })
}

fn dashed(byte: u8) -> bool {
    DASHED.contains(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::redact;

    /// Random numbers that are the same in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % limit as u64) as usize
        }

        fn sample(&mut self, shape: &Shape) -> String {
            let mut sample = String::from_utf8_lossy(shape.prefix()).into_owned();
            for part in shape.parts() {
                match *part {
                    Part::Text(text) => sample.push_str(&String::from_utf8_lossy(text.bytes())),
                    Part::Run { alphabet, real, .. } => {
                        let letters: Vec<u8> = (0..128)
                            .filter(|&byte| alphabet.contains(byte) && byte.is_ascii_alphanumeric())
                            .collect();
                        sample.extend((0..real).map(|_| char::from(letters[self.below(letters.len())])));
                    }
                }
            }
            sample
        }
    }

    const ROUNDS: usize = 20;

    /// Fails unless 99 of 100 samples of every shape are replaced by nothing but their mark.
    #[track_caller]
    fn check_samples(around: &str, change: impl Fn(&mut Random, String) -> String) {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let (mut tried, mut missed) = (0, Vec::new());
        for shape in &SHAPES {
            for _ in 0..ROUNDS {
                let sample = random.sample(shape);
                let changed = change(&mut random, sample);
                let text = around.replace("{}", &changed);
                tried += 1;
                let (before, after) = around.split_once("{}").expect("a place for the sample");
                let redacted = redact(&text);
                let middle = redacted.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                if !middle.is_some_and(|middle| {
                    middle.starts_with(MARK) && middle.ends_with(']') && middle.len() < 40
                }) {
                    missed.push(text);
                }
            }
        }
        assert!(
            tried >= 5_000 && missed.len() * 100 <= tried,
            "{} of {tried} missed: {missed:#?}",
            missed.len()
        );
    }

    #[test]
    fn a_sample_of_every_shape_is_found() {
        check_samples("deploy with {} now", |_, sample| sample);
    }

    #[test]
    fn a_sample_of_every_shape_is_found_as_the_value_of_a_name() {
        check_samples("SERVICE_TOKEN={}\n", |_, sample| sample);
        check_samples("{\"token\":\"{}\"}", |_, sample| sample);
    }
}
