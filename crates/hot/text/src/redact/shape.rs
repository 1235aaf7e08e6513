//! Secrets that are recognised by their own shape.

use super::value::{SAMPLE, has_digit};
use super::{MARK, Pairs, Secret, run_end};

/// A fixed beginning and what follows it.
struct Shape {
    prefix: &'static str,
    kind: &'static str,
    body: fn(u8) -> bool,
    length: Length,
    /// Whether ordinary names begin like this too, so that the body must contain a digit.
    common: bool,
}

#[derive(Clone, Copy)]
enum Length {
    Exactly(usize),
    AtLeast(usize),
}
use Length::{AtLeast, Exactly};

impl Length {
    fn least(self) -> usize {
        let (Exactly(length) | AtLeast(length)) = self;
        length
    }

    fn fits(self, length: usize) -> bool {
        match self {
            Exactly(exact) => length == exact,
            AtLeast(least) => length >= least,
        }
    }
}

/// The shortest secret that is a single word: an AWS access key id.
const LONG_WORD: usize = 20;

const fn shape(prefix: &'static str, kind: &'static str, body: fn(u8) -> bool, length: Length) -> Shape {
    Shape { prefix, kind, body, length, common: false }
}

impl Shape {
    const fn common(mut self) -> Self {
        self.common = true;
        self
    }
}

/// A longer prefix comes before a shorter one that it starts with. The minimum lengths are below the real
/// ones: issuers change them, and a prefix with twenty random characters is no accident.
static SHAPES: &[Shape] = &[
    shape("sk-ant-", "anthropic", dashed, AtLeast(16)),
    shape("sk-proj-", "openai", dashed, AtLeast(16)),
    shape("sk-svcacct-", "openai", dashed, AtLeast(16)),
    shape("sk-admin-", "openai", dashed, AtLeast(16)).common(),
    shape("sk-or-v1-", "openrouter", dashed, AtLeast(16)),
    shape("sk-", "openai", alphanumeric, AtLeast(20)).common(),
    shape("AKIA", "aws-access-key", upper, Exactly(16)),
    shape("ASIA", "aws-access-key", upper, Exactly(16)),
    shape("ABIA", "aws-access-key", upper, Exactly(16)),
    shape("ACCA", "aws-access-key", upper, Exactly(16)),
    shape("AIza", "google-api-key", dashed, AtLeast(30)),
    shape("GOCSPX-", "google-oauth", dashed, AtLeast(20)),
    shape("ya29.", "google-oauth", dotted, AtLeast(20)),
    shape("ghp_", "github", underscored, AtLeast(20)),
    shape("gho_", "github", underscored, AtLeast(20)),
    shape("ghu_", "github", underscored, AtLeast(20)),
    shape("ghs_", "github", dotted, AtLeast(20)),
    shape("ghr_", "github", underscored, AtLeast(20)),
    shape("github_pat_", "github", underscored, AtLeast(20)),
    shape("glpat-", "gitlab", dotted, AtLeast(16)),
    shape("gldt-", "gitlab", dotted, AtLeast(20)),
    shape("glrt-", "gitlab", dotted, AtLeast(20)),
    shape("glptt-", "gitlab", dotted, AtLeast(20)),
    shape("glcbt-", "gitlab", dotted, AtLeast(20)),
    shape("xoxa-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxb-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxe-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxo-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxp-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxr-", "slack", dashed, AtLeast(10)).common(),
    shape("xoxs-", "slack", dashed, AtLeast(10)).common(),
    shape("xapp-", "slack", dashed, AtLeast(20)).common(),
    shape("sk_live_", "stripe", alphanumeric, AtLeast(16)),
    shape("sk_test_", "stripe", alphanumeric, AtLeast(16)),
    shape("rk_live_", "stripe", alphanumeric, AtLeast(16)),
    shape("rk_test_", "stripe", alphanumeric, AtLeast(16)),
    shape("whsec_", "stripe", base64, AtLeast(16)),
    shape("npm_", "npm", alphanumeric, AtLeast(30)),
    shape("pypi-", "pypi", dashed, AtLeast(32)).common(),
    shape("dckr_pat_", "docker", dashed, AtLeast(16)),
    shape("dckr_oat_", "docker", dashed, AtLeast(16)),
    shape("hf_", "huggingface", alphanumeric, AtLeast(24)),
    shape("SK", "twilio", lower_hex, Exactly(32)),
    shape("dop_v1_", "digitalocean", alphanumeric, AtLeast(32)),
    shape("doo_v1_", "digitalocean", alphanumeric, AtLeast(32)),
    shape("dor_v1_", "digitalocean", alphanumeric, AtLeast(32)),
    shape("dapi", "databricks", lower_hex, Exactly(32)),
    shape("AGE-SECRET-KEY-1", "age", upper, AtLeast(20)),
    shape("AGE-SECRET-KEY-PQ-1", "age", upper, AtLeast(20)),
    shape("hvs.", "vault", dashed, AtLeast(20)),
    shape("glsa_", "grafana", underscored, AtLeast(20)),
    shape("gsk_", "groq", alphanumeric, AtLeast(32)),
    shape("xai-", "xai", alphanumeric, AtLeast(40)),
    shape("lin_api_", "linear", alphanumeric, AtLeast(20)),
    shape("shpat_", "shopify", alphanumeric, AtLeast(20)),
    shape("rubygems_", "rubygems", lower_hex, AtLeast(32)),
    shape("nvapi-", "nvidia", dashed, AtLeast(32)),
];

/// How the shapes begin. Nearly every other word ends its search here.
static BEGINNINGS: Pairs = {
    let mut beginnings = Pairs::new();
    let mut index = 0;
    while index < SHAPES.len() {
        let prefix = SHAPES[index].prefix.as_bytes();
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

/// Reads the secret that starts at an index of the text.
type Read = fn(&[u8], usize) -> Option<Secret>;

/// Shapes of more than one part.
static SPECIAL: &[(&str, Read)] = &[
    ("eyJ", json_web_token),
    ("SG.", sendgrid),
    ("hooks.slack.com", slack_webhook),
    ("discord.com", discord_webhook),
];

/// Returns the secret that the word `start..end` begins.
pub(super) fn at(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    // Every shape continues past its first word, or is one long word.
    match text.get(end) {
        Some(b'-' | b'_' | b'.') => {}
        Some(b':') if text[end - 1].is_ascii_digit() => return telegram(text, start, end),
        _ if end - start < LONG_WORD => return None,
        _ => {}
    }
    let rest = &text[start..];
    let [first, second, ..] = *rest else { return None };
    if !BEGINNINGS.contains(first, second) {
        return None;
    }
    if let Some((_, read)) = SPECIAL.iter().find(|(prefix, _)| rest.starts_with(prefix.as_bytes())) {
        return read(text, start);
    }
    SHAPES.iter().find_map(|shape| {
        if !rest.starts_with(shape.prefix.as_bytes()) {
            return None;
        }
        let body = start + shape.prefix.len();
        let sample = &text[body..text.len().min(body + SAMPLE)];
        let sample = &sample[..run_end(sample, 0, shape.body)];
        if sample.len() < shape.length.least() || (shape.common && !has_digit(sample)) {
            return None;
        }
        let end = run_end(text, body + sample.len(), shape.body);
        let whole = !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        (whole && shape.length.fits(end - body)).then_some(Secret { start, end, kind: shape.kind })
    })
}

/// `eyJ<header>.eyJ<claims>.<signature>`; the signature may be missing, but not its dot.
fn json_web_token(text: &[u8], start: usize) -> Option<Secret> {
    // Inside a run of base64 there would be a beginning every few bytes, each with the whole run to read.
    if start > 0 && dashed(text[start - 1]) && !super::follows_escape(text, start) {
        return None;
    }
    let header = run_end(text, start, dashed);
    if header - start < 10 || !text[header..].starts_with(b".eyJ") {
        return None;
    }
    let claims = run_end(text, header + 1, dashed);
    let end = (text.get(claims) == Some(&b'.')).then(|| run_end(text, claims + 1, dashed))?;
    Some(Secret { start, end, kind: "jwt" })
}

/// `SG.<id>.<key>`.
fn sendgrid(text: &[u8], start: usize) -> Option<Secret> {
    let id = start + "SG.".len();
    let id_end = run_end(text, id, dashed);
    if id_end - id < 16 || text.get(id_end) != Some(&b'.') {
        return None;
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

/// `hooks.slack.com/services/<path>`.
fn slack_webhook(text: &[u8], start: usize) -> Option<Secret> {
    webhook(text, start, &["hooks.slack.com", "services"], "slack-webhook")
}

/// `discord.com/api/webhooks/<path>`.
fn discord_webhook(text: &[u8], start: usize) -> Option<Secret> {
    webhook(text, start, &["discord.com", "api", "webhooks"], "discord-webhook")
}

/// A URL whose path, after the known segments, is the secret. The slashes may be JSON-escaped.
fn webhook(text: &[u8], start: usize, segments: &[&str], kind: &'static str) -> Option<Secret> {
    let after_slash = |at: usize| match text.get(at..)? {
        [b'/', ..] => Some(at + 1),
        [b'\\', b'/', ..] => Some(at + 2),
        _ => None,
    };
    let mut path = start;
    for segment in segments {
        let rest = text[path..].strip_prefix(segment.as_bytes())?;
        path = after_slash(text.len() - rest.len())?;
    }
    let mut end = run_end(text, path, dashed);
    while let Some(next) = after_slash(end) {
        let next_end = run_end(text, next, dashed);
        if next_end == next {
            break;
        }
        end = next_end;
    }
    (end - path >= 20).then_some(Secret { start: path, end, kind })
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn underscored(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    underscored(byte) || byte == b'-'
}

fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
