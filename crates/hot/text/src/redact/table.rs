//! The shapes of secrets, as their issuers document them: a fixed beginning, then runs of an alphabet.
//!
//! Lengths are documented ones where a shorter or longer run would be something else (`LTAI…`, hex), and otherwise a
//! minimum below them: issuers change lengths, and a prefix with twenty random characters is no accident.
//!
//! What ships is [`SHAPES`], made of the rows at compile time: it has offsets where the rows have pointers. Pointers are relocated
//! whenever a hook starts, and those of 361 rows are on pages that take a twentieth of a hook's time to touch.

/// A set of ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alphabet(u128);

impl Alphabet {
    const fn of(ranges: &[(u8, u8)]) -> Self {
        let mut set = 0;
        let mut index = 0;
        while index < ranges.len() {
            let (mut byte, last) = ranges[index];
            while byte <= last {
                set |= 1 << byte;
                byte += 1;
            }
            index += 1;
        }
        Self(set)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn contains(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }
}

const DIGIT: Alphabet = Alphabet::of(&[(b'0', b'9')]);
const LETTER: Alphabet = Alphabet::of(&[(b'a', b'z'), (b'A', b'Z')]);
/// Hexadecimal in lower case.
const HEX: Alphabet = Alphabet::of(&[(b'0', b'9'), (b'a', b'f')]);
const ANY_HEX: Alphabet = Alphabet::of(&[(b'0', b'9'), (b'a', b'f'), (b'A', b'F')]);
const UPPER: Alphabet = Alphabet::of(&[(b'0', b'9'), (b'A', b'Z')]);
const LOWER: Alphabet = Alphabet::of(&[(b'0', b'9'), (b'a', b'z')]);
pub(super) const ALNUM: Alphabet = DIGIT.and(LETTER);
const WORD: Alphabet = ALNUM.and(Alphabet::of(&[(b'_', b'_')]));
pub(super) const DASHED: Alphabet = WORD.and(Alphabet::of(&[(b'-', b'-')]));
const DOTTED: Alphabet = DASHED.and(Alphabet::of(&[(b'.', b'.')]));
const PADDED: Alphabet = DOTTED.and(Alphabet::of(&[(b'=', b'=')]));
const UUID: Alphabet = HEX.and(Alphabet::of(&[(b'-', b'-')]));
const BASE64: Alphabet = ALNUM.and(Alphabet::of(&[(b'+', b'+'), (b'/', b'/'), (b'=', b'=')]));
const ANY_BASE64: Alphabet = BASE64.and(DASHED);
const PERCENT: Alphabet = DASHED.and(Alphabet::of(&[(b'%', b'%')]));

/// What follows a prefix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<T> {
    Run {
        alphabet: Alphabet,
        least: usize,
        /// The documented length. A run that a line break interrupts is joined to this length only.
        real: usize,
        most: usize,
    },
    Text(T),
}

/// A part as a row has it.
type Written = Part<&'static str>;

/// Exactly so many characters.
const fn of(alphabet: Alphabet, length: usize) -> Written {
    Part::Run { alphabet, least: length, real: length, most: length }
}

/// At least so many characters, and usually `real`.
const fn from(alphabet: Alphabet, least: usize, real: usize) -> Written {
    Part::Run { alphabet, least, real, most: usize::MAX }
}

/// Between so many characters.
const fn between(alphabet: Alphabet, least: usize, most: usize) -> Written {
    Part::Run { alphabet, least, real: most, most }
}

/// What else the text after the prefix must be. A row of `x` and the like is no secret of any shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// Not made of words.
    Unworded,
    /// As well with a digit: ordinary names begin like this, too.
    Digit,
    /// As well with upper case, lower case and digits.
    Mixed,
    /// A checksum of the issuer's: where it is right, nothing else is asked.
    Checksum,
}

/// A shape as it is written down.
struct Row {
    prefix: &'static str,
    kind: &'static str,
    parts: &'static [Written],
    guard: Guard,
}

const fn shape(prefix: &'static str, kind: &'static str, parts: &'static [Written]) -> Row {
    Row { prefix, kind, parts, guard: Guard::Unworded }
}

impl Row {
    const fn with(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }
}

/// A part of [`TEXTS`] or of [`PARTS`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: u16,
    length: u8,
}

impl Span {
    const NONE: Self = Self { start: 0, length: 0 };

    /// Returns the text.
    pub(super) fn bytes(self) -> &'static [u8] {
        &TEXTS[self.range()]
    }

    fn range(self) -> std::ops::Range<usize> {
        let start = usize::from(self.start);
        start..start + usize::from(self.length)
    }
}

/// A shape as it ships.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    prefix: Span,
    kind: Span,
    parts: Span,
    pub(super) guard: Guard,
}

impl Shape {
    pub(super) fn prefix(&self) -> &'static [u8] {
        self.prefix.bytes()
    }

    pub(super) fn kind(&self) -> &'static str {
        std::str::from_utf8(self.kind.bytes()).unwrap_or_default()
    }

    pub(super) fn parts(&self) -> &'static [Part<Span>] {
        &PARTS[self.parts.range()]
    }
}

pub(super) const COUNT: usize = ROWS.len();

/// Returns the prefix of a shape, by its place in the table.
pub(super) const fn prefix(at: usize) -> &'static [u8] {
    ROWS[at].prefix.as_bytes()
}

/// Returns how many bytes of a shape's prefix are letters and digits from its start.
pub(super) const fn stem(at: usize) -> usize {
    let prefix = prefix(at);
    let mut length = 0;
    while length < prefix.len() && prefix[length].is_ascii_alphanumeric() {
        length += 1;
    }
    length
}

/// The rows without pointers.
struct Packed {
    shapes: [Shape; COUNT],
    parts: [Part<Span>; SIZES.0],
    texts: [u8; SIZES.1],
}

/// How many parts the rows have, and how many bytes their texts.
const SIZES: (usize, usize) = {
    let (mut parts, mut texts, mut row) = (0, 0, 0);
    while row < COUNT {
        texts += ROWS[row].prefix.len() + ROWS[row].kind.len();
        let mut part = 0;
        while part < ROWS[row].parts.len() {
            if let Part::Text(text) = ROWS[row].parts[part] {
                texts += text.len();
            }
            part += 1;
        }
        parts += part;
        row += 1;
    }
    (parts, texts)
};

const PACKED: Packed = {
    const NO_SHAPE: Shape =
        Shape { prefix: Span::NONE, kind: Span::NONE, parts: Span::NONE, guard: Guard::Unworded };
    let mut packed =
        Packed { shapes: [NO_SHAPE; COUNT], parts: [Part::Text(Span::NONE); SIZES.0], texts: [0; SIZES.1] };
    let (mut parts, mut texts, mut row) = (0, 0, 0);
    while row < COUNT {
        let written = &ROWS[row];
        let prefix = put(&mut packed.texts, &mut texts, written.prefix);
        let kind = put(&mut packed.texts, &mut texts, written.kind);
        let first = parts;
        while parts - first < written.parts.len() {
            packed.parts[parts] = match written.parts[parts - first] {
                Part::Text(text) => Part::Text(put(&mut packed.texts, &mut texts, text)),
                Part::Run { alphabet, least, real, most } => Part::Run { alphabet, least, real, most },
            };
            parts += 1;
        }
        let span = Span { start: first as u16, length: (parts - first) as u8 };
        packed.shapes[row] = Shape { prefix, kind, parts: span, guard: written.guard };
        row += 1;
    }
    assert!(texts <= u16::MAX as usize && parts <= u16::MAX as usize, "an offset would be cut");
    packed
};

/// Copies a text to the end of what is there, and returns where it is.
const fn put<const N: usize>(texts: &mut [u8; N], end: &mut usize, text: &str) -> Span {
    let span = Span { start: *end as u16, length: text.len() as u8 };
    let mut at = 0;
    while at < text.len() {
        texts[*end] = text.as_bytes()[at];
        *end += 1;
        at += 1;
    }
    span
}

/// A longer prefix comes before a shorter one that it starts with.
pub(super) static SHAPES: [Shape; COUNT] = PACKED.shapes;
static PARTS: [Part<Span>; SIZES.0] = PACKED.parts;
static TEXTS: [u8; SIZES.1] = PACKED.texts;

use Guard::{Checksum, Digit, Mixed};
use Part::Text;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Language models.
    shape("sk-ant-", "anthropic", &[from(DASHED, 16, 101)]),
    shape("sk-proj-", "openai", &[from(DASHED, 16, 156)]),
    shape("sk-svcacct-", "openai", &[from(DASHED, 16, 156)]),
    shape("sk-service-", "openai", &[from(DASHED, 16, 48)]).with(Digit),
    shape("sk-admin-", "openai", &[from(DASHED, 16, 156)]).with(Digit),
    shape("sk-None-", "openai", &[from(DASHED, 16, 48)]),
    shape("sk-or-v1-", "openrouter", &[from(DASHED, 16, 64)]),
    shape("sk-lf-", "langfuse", &[from(UUID, 32, 36)]),
    shape("sk-helicone-", "helicone", &[from(DASHED, 20, 32)]).with(Digit),
    shape("sk-litellm-", "litellm", &[from(DASHED, 16, 22)]).with(Digit),
    shape("sk-kimi-", "moonshot", &[from(DASHED, 20, 64)]).with(Digit),
    shape("sk-", "openai", &[from(ALNUM, 20, 48)]).with(Digit),
    shape("sess-", "openai", &[of(ALNUM, 40)]).with(Digit),
    shape("xai-", "xai", &[from(ALNUM, 40, 80)]),
    shape("gsk_", "groq", &[from(ALNUM, 32, 52)]),
    shape("pplx-", "perplexity", &[from(ALNUM, 32, 48)]),
    shape("hf_", "huggingface", &[from(ALNUM, 30, 34)]),
    shape("api_org_", "huggingface", &[from(ALNUM, 30, 34)]),
    shape("r8_", "replicate", &[from(ALNUM, 30, 37)]),
    shape("fw_", "fireworks", &[from(ALNUM, 20, 24)]).with(Digit),
    shape("nvapi-", "nvidia", &[from(DASHED, 32, 64)]),
    shape("csk-", "cerebras", &[from(LOWER, 32, 48)]).with(Digit),
    shape("tgp_v1_", "together", &[from(DASHED, 32, 43)]),
    shape("esecret_", "anyscale", &[from(ALNUM, 20, 32)]).with(Digit),
    shape("lsv2_pt_", "langsmith", &[from(WORD, 32, 43)]),
    shape("lsv2_sk_", "langsmith", &[from(WORD, 32, 43)]),
    shape("ls__", "langsmith", &[from(ALNUM, 30, 32)]).with(Digit),
    shape("wandb_v1_", "wandb", &[from(WORD, 32, 77)]),
    shape("pcsk_", "pinecone", &[from(WORD, 40, 70)]),
    shape("jina_", "jina", &[from(DASHED, 40, 60)]).with(Digit),
    shape("tvly-", "tavily", &[from(DASHED, 24, 32)]).with(Digit),
    shape("fc-", "firecrawl", &[of(HEX, 32)]).with(Digit),
    shape("e2b_", "e2b", &[of(HEX, 40)]),
    shape("bb_live_", "browserbase", &[from(DASHED, 24, 27)]).with(Digit),
    shape("m0-", "mem0", &[of(ALNUM, 40)]).with(Digit),
    shape("pa-", "voyage", &[of(DASHED, 43)]).with(Mixed),
    shape("ABSK", "aws-bedrock", &[from(BASE64, 80, 132)]),
    shape("bedrock-api-key-", "aws-bedrock", &[from(BASE64, 40, 200)]),
    shape("ak-", "modal", &[of(ALNUM, 22)]).with(Mixed),
    shape("as-", "modal", &[of(ALNUM, 22)]).with(Mixed),
    shape("rpa_", "runpod", &[from(UPPER, 40, 46)]),
    shape("llx-", "llamaindex", &[from(ALNUM, 40, 48)]).with(Digit),
    shape("sk_car_", "cartesia", &[from(ALNUM, 20, 22)]).with(Digit),
    shape("BSA", "brave", &[between(DASHED, 27, 30)]).with(Mixed),
    // Clouds.
    shape("AKIA", "aws-access-key", &[of(UPPER, 16)]),
    shape("ASIA", "aws-access-key", &[of(UPPER, 16)]),
    shape("ABIA", "aws-access-key", &[of(UPPER, 16)]),
    shape("ACCA", "aws-access-key", &[of(UPPER, 16)]),
    shape("A3T", "aws-access-key", &[of(UPPER, 17)]).with(Digit),
    shape("AIza", "google-api-key", &[from(DASHED, 30, 35)]),
    shape("GOCSPX-", "google-oauth", &[from(DASHED, 20, 28)]),
    shape("ya29.", "google-oauth", &[from(DOTTED, 20, 200)]),
    shape("GOOG1E", "google-hmac", &[from(UPPER, 50, 55)]),
    shape("GOOG", "google-hmac", &[of(UPPER, 20)]).with(Digit),
    shape("LTAI", "alibaba", &[between(ALNUM, 12, 26)]),
    shape("AKID", "tencent", &[between(ALNUM, 32, 44)]).with(Digit),
    shape("AKLT", "volcengine", &[from(ALNUM, 32, 47)]).with(Digit),
    shape("ALTAK", "baidu", &[between(ALNUM, 20, 24)]).with(Mixed),
    shape("bce-v3", "baidu", &[Text("/ALTAK-"), from(ALNUM, 16, 21), Text("/"), of(HEX, 40)]),
    shape("AQVN", "yandex", &[between(DASHED, 35, 38)]).with(Digit),
    shape("t1.", "yandex", &[between(ANY_BASE64, 20, 512), Text("."), between(ANY_BASE64, 80, 90)]),
    shape("y0_", "yandex", &[from(DASHED, 40, 55)]).with(Digit),
    shape("y0__", "yandex", &[from(DASHED, 40, 55)]).with(Digit),
    shape("YC", "yandex", &[of(DASHED, 38)]).with(Mixed),
    shape("dop_v1_", "digitalocean", &[from(ALNUM, 32, 64)]),
    shape("doo_v1_", "digitalocean", &[from(ALNUM, 32, 64)]),
    shape("dor_v1_", "digitalocean", &[from(ALNUM, 32, 64)]),
    shape("DO00", "digitalocean", &[of(UPPER, 16)]),
    shape("v1.0-", "cloudflare", &[of(HEX, 24), Text("-"), from(HEX, 100, 146)]),
    shape("cfut_", "cloudflare", &[from(DASHED, 32, 48)]),
    shape("cfat_", "cloudflare", &[from(DASHED, 32, 48)]),
    shape("cfk_", "cloudflare", &[from(DASHED, 32, 48)]),
    shape("HRKU-", "heroku", &[from(DASHED, 32, 60)]),
    shape("fo1_", "fly.io", &[from(DASHED, 32, 43)]),
    shape("fm1a_", "fly.io", &[from(BASE64, 40, 200)]),
    shape("fm1r_", "fly.io", &[from(BASE64, 40, 200)]),
    shape("fm2_", "fly.io", &[from(BASE64, 40, 200)]),
    shape("tk-us-", "scalingo", &[from(DASHED, 40, 48)]),
    shape("tk-eu-", "scalingo", &[from(DASHED, 40, 48)]),
    shape("rnd_", "render", &[from(ALNUM, 20, 28)]).with(Digit),
    shape("nfp_", "netlify", &[from(ALNUM, 30, 36)]),
    shape("nfc_", "netlify", &[from(ALNUM, 30, 36)]),
    shape("nfo_", "netlify", &[from(ALNUM, 30, 36)]),
    shape("nfu_", "netlify", &[from(ALNUM, 30, 36)]),
    shape("vcp_", "vercel", &[from(ALNUM, 24, 56)]),
    shape("vci_", "vercel", &[from(ALNUM, 24, 56)]),
    shape("vca_", "vercel", &[from(ALNUM, 24, 56)]),
    shape("vcr_", "vercel", &[from(ALNUM, 24, 56)]),
    shape("vck_", "vercel", &[from(ALNUM, 24, 56)]),
    shape("vercel_blob_rw_", "vercel", &[from(WORD, 30, 48)]),
    shape("ddp_", "deno", &[from(ALNUM, 32, 36)]),
    shape("ddo_", "deno", &[from(ALNUM, 32, 36)]),
    shape("sha256~", "openshift", &[from(DASHED, 40, 43)]),
    shape("aikido_", "aikido", &[from(WORD, 32, 48)]).with(Digit),
    shape("dapi", "databricks", &[of(HEX, 32), Text("-"), of(DIGIT, 1)]),
    shape("dapi", "databricks", &[of(HEX, 32)]),
    shape("dkea", "databricks", &[of(HEX, 32)]),
    shape("doseb", "databricks", &[of(HEX, 32)]),
    shape("dose", "databricks", &[of(HEX, 32)]),
    shape("4b1d", "clickhouse", &[of(ALNUM, 38)]),
    shape("CCDB1_", "cockroach", &[from(WORD, 30, 63)]),
    shape("mdb_sa_sk_", "mongodb", &[from(DASHED, 32, 40)]),
    shape("mdb_sa_id_", "mongodb", &[of(HEX, 24)]),
    shape("napi_", "neon", &[from(ALNUM, 32, 64)]).with(Digit),
    shape("npg_", "neon", &[from(ALNUM, 12, 12)]).with(Digit),
    shape("pscale_tkn_", "planetscale", &[from(PADDED, 32, 43)]),
    shape("pscale_pw_", "planetscale", &[from(PADDED, 32, 43)]),
    shape("pscale_oauth_", "planetscale", &[from(PADDED, 32, 43)]),
    shape("pscale_api_", "planetscale", &[from(PADDED, 32, 43)]),
    shape("sbp_", "supabase", &[from(HEX, 32, 40)]),
    shape("sbp_v0_", "supabase", &[from(HEX, 32, 40)]),
    shape("sb_secret_", "supabase", &[from(DASHED, 20, 31)]).with(Digit),
    shape("xau_", "xata", &[from(ALNUM, 32, 40)]).with(Digit),
    shape("AVNS_", "aiven", &[from(DASHED, 16, 19)]),
    shape("tskey-", "tailscale", &[from(DASHED, 20, 48)]).with(Digit),
    shape("nbp_", "netbird", &[from(ALNUM, 36, 36)]).with(Digit),
    shape("dnkey-", "defined-networking", &[from(DASHED, 40, 79)]),
    shape("pul-", "pulumi", &[of(HEX, 40)]),
    shape("ico-", "infracost", &[from(ALNUM, 32, 32)]).with(Digit),
    shape("tfe-", "terraform", &[from(DASHED, 40, 64)]).with(Digit),
    shape("AKCp", "artifactory", &[between(ALNUM, 60, 90)]),
    shape("cmVmd", "artifactory", &[from(ALNUM, 55, 59)]),
    shape("ATATT3", "atlassian", &[from(PADDED, 40, 186)]),
    shape("ATCTT3", "atlassian", &[from(PADDED, 40, 186)]),
    shape("ATSTT3", "atlassian", &[from(PADDED, 40, 186)]),
    shape("ATBB", "bitbucket", &[between(PADDED, 28, 40)]).with(Digit),
    shape("BBDC-", "bitbucket", &[from(BASE64, 32, 44)]),
    // Code hosts, builds and packages.
    shape("ghp_", "github", &[from(WORD, 20, 36)]).with(Checksum),
    shape("gho_", "github", &[from(WORD, 20, 36)]).with(Checksum),
    shape("ghu_", "github", &[from(WORD, 20, 36)]).with(Checksum),
    shape("ghs_", "github", &[from(DOTTED, 20, 36)]).with(Checksum),
    shape("ghr_", "github", &[from(WORD, 20, 76)]).with(Checksum),
    shape("github_pat_", "github", &[from(WORD, 20, 82)]),
    shape("glpat-", "gitlab", &[from(DOTTED, 16, 20)]),
    shape("gldt-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glrt-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glrtr-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glptt-", "gitlab", &[from(DOTTED, 20, 40)]),
    shape("glcbt-", "gitlab", &[from(DOTTED, 20, 23)]),
    shape("glffct-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glft-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glimt-", "gitlab", &[from(DOTTED, 20, 25)]),
    shape("glagent-", "gitlab", &[from(DOTTED, 20, 50)]),
    shape("gloas-", "gitlab", &[from(DOTTED, 20, 64)]),
    shape("glsoat-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("glwt-", "gitlab", &[from(DOTTED, 20, 20)]),
    shape("GR1348941", "gitlab", &[from(DASHED, 20, 20)]),
    shape("npm_", "npm", &[from(ALNUM, 30, 36)]).with(Checksum),
    shape("pypi-", "pypi", &[from(DASHED, 32, 170)]).with(Digit),
    shape("dckr_pat_", "docker", &[from(DASHED, 16, 27)]),
    shape("dckr_oat_", "docker", &[from(DASHED, 16, 32)]),
    shape("rubygems_", "rubygems", &[from(HEX, 32, 48)]),
    shape("oy2", "nuget", &[of(LOWER, 43)]),
    shape("cio", "crates.io", &[between(ALNUM, 32, 32)]).with(Mixed),
    shape("CLOJARS_", "clojars", &[from(ALNUM, 40, 60)]),
    shape("clojars_", "clojars", &[from(ALNUM, 40, 60)]).with(Digit),
    shape("bkua_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("bkaj_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("bkct_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("bkpt_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("bkar_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("bkat_", "buildkite", &[from(ALNUM, 32, 40)]),
    shape("CCIPAT_", "circleci", &[from(WORD, 40, 63)]),
    shape("CCIPRJ_", "circleci", &[from(WORD, 40, 63)]),
    shape("pat.", "harness", &[between(DASHED, 20, 24), Text("."), of(ALNUM, 24), Text("."), of(ALNUM, 20)]),
    shape("sat.", "harness", &[between(DASHED, 20, 24), Text("."), of(ALNUM, 24), Text("."), of(ALNUM, 20)]),
    shape("API-", "octopus", &[between(UPPER, 25, 32)]).with(Digit),
    shape("sqp_", "sonar", &[from(HEX, 32, 40)]),
    shape("squ_", "sonar", &[from(HEX, 32, 40)]),
    shape("sqa_", "sonar", &[from(HEX, 32, 40)]),
    shape("sqb_", "sonar", &[from(HEX, 32, 40)]),
    shape("sgp_", "sourcegraph", &[from(DASHED, 40, 64)]),
    shape("sgd_", "sourcegraph", &[of(HEX, 64)]),
    shape("slk_", "sourcegraph", &[of(HEX, 64)]),
    shape("snyk_uat.", "snyk", &[from(DOTTED, 32, 88)]),
    shape("snyk_sat.", "snyk", &[from(DOTTED, 32, 88)]),
    shape("lin_api_", "linear", &[from(ALNUM, 20, 40)]),
    shape("lin_oauth_", "linear", &[from(ALNUM, 32, 64)]),
    shape("figd_", "figma", &[from(DASHED, 32, 40)]),
    shape("figo_", "figma", &[from(DASHED, 32, 40)]),
    shape("figor_", "figma", &[from(DASHED, 32, 40)]),
    shape("figu_", "figma", &[from(DASHED, 32, 40)]),
    shape("figoh_", "figma", &[from(DASHED, 32, 40)]),
    shape("ntn_", "notion", &[from(ALNUM, 40, 46)]),
    shape("secret_", "notion", &[of(ALNUM, 43)]).with(Mixed),
    shape("pat", "airtable", &[of(ALNUM, 14), Text("."), of(HEX, 64)]),
    shape("PMAK-", "postman", &[of(ANY_HEX, 24), Text("-"), of(ANY_HEX, 34)]),
    shape("PMAT-", "postman", &[from(UPPER, 24, 26)]),
    shape("pnu_", "prefect", &[from(ALNUM, 30, 36)]),
    shape("pnb_", "prefect", &[from(ALNUM, 30, 36)]),
    shape("rdme_", "readme", &[from(LOWER, 60, 70)]),
    shape("CFPAT-", "contentful", &[from(DASHED, 40, 43)]),
    shape("waka_", "wakatime", &[of(UUID, 36)]),
    shape("vtwn_", "val.town", &[from(ALNUM, 24, 28)]).with(Digit),
    shape("zpka_", "zuplo", &[from(WORD, 32, 41)]),
    shape("mka_", "mergify", &[from(ALNUM, 32, 64)]).with(Digit),
    shape("tss_", "thunderstore", &[from(ALNUM, 32, 40)]).with(Digit),
    shape("lip_", "lichess", &[from(ALNUM, 20, 20)]).with(Digit),
    shape("ion_", "ionic", &[from(ALNUM, 40, 42)]).with(Digit),
    shape("ctp_", "chief-tools", &[from(ALNUM, 32, 40)]).with(Digit),
    shape("apify_api_", "apify", &[from(ALNUM, 32, 36)]),
    shape("apify_proxy_", "apify", &[from(ALNUM, 16, 20)]).with(Digit),
    shape("phx_", "posthog", &[from(ALNUM, 32, 47)]),
    shape("phc_", "posthog", &[from(ALNUM, 32, 43)]),
    shape("phs_", "posthog", &[from(ALNUM, 32, 43)]),
    // Observation and operation.
    shape("glsa_", "grafana", &[from(WORD, 20, 41)]),
    shape("glc_", "grafana", &[from(BASE64, 32, 150)]),
    shape("eyJrIjoi", "grafana", &[from(BASE64, 50, 90)]),
    shape("sntrys_", "sentry", &[from(ANY_BASE64, 40, 160)]),
    shape("sntryu_", "sentry", &[from(HEX, 40, 64)]),
    shape("sntrya_", "sentry", &[from(HEX, 40, 64)]),
    shape("sntryi_", "sentry", &[from(HEX, 40, 64)]),
    shape("NRAK-", "new-relic", &[from(ALNUM, 20, 27)]).with(Digit),
    shape("NRII-", "new-relic", &[from(DASHED, 30, 32)]).with(Digit),
    shape("NRIQ-", "new-relic", &[from(DASHED, 30, 32)]).with(Digit),
    shape("NRJS-", "new-relic", &[from(HEX, 19, 19)]),
    shape("NRRA-", "new-relic", &[from(HEX, 40, 42)]),
    shape("NRAL-", "new-relic", &[from(ALNUM, 20, 27)]).with(Digit),
    shape("NRSP-", "new-relic", &[from(ALNUM, 20, 40)]).with(Digit),
    shape("dt0", "dynatrace", &[of(ALNUM, 3), Text("."), from(ALNUM, 8, 24), Text("."), of(ALNUM, 64)]),
    shape("ddapp_", "datadog", &[from(ALNUM, 30, 34)]),
    shape("ddpat_", "datadog", &[from(ALNUM, 30, 40)]),
    shape("rootly_", "rootly", &[of(HEX, 64)]),
    shape("hvs.", "vault", &[from(DASHED, 20, 95)]),
    shape("hvb.", "vault", &[from(DASHED, 20, 150)]),
    shape("hvr.", "vault", &[from(DASHED, 20, 95)]),
    shape("s.", "vault", &[of(ALNUM, 24)]).with(Mixed),
    shape("b.AAAAAQ", "vault", &[from(DASHED, 80, 150)]),
    shape("dp.pt.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("dp.st.", "doppler", &[from(DOTTED, 40, 43)]),
    shape("dp.ct.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("dp.sa.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("dp.said.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("dp.scim.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("dp.audit.", "doppler", &[from(ALNUM, 40, 43)]),
    shape("ops_eyJ", "1password", &[from(ANY_BASE64, 60, 300)]),
    shape("A3-", "1password", &[of(UPPER, 6), Text("-"), of(UPPER, 6), Text("-"), of(UPPER, 5), Text("-"), of(UPPER, 5), Text("-"), of(UPPER, 5), Text("-"), of(UPPER, 5)]),
    shape("A3-", "1password", &[of(UPPER, 6), Text("-"), of(UPPER, 11), Text("-"), of(UPPER, 5), Text("-"), of(UPPER, 5), Text("-"), of(UPPER, 5)]),
    shape("AGE-SECRET-KEY-1", "age", &[from(UPPER, 20, 58)]),
    shape("AGE-SECRET-KEY-PQ-1", "age", &[from(UPPER, 20, 58)]),
    shape("AGE-PLUGIN-", "age", &[between(UPPER, 2, 32), Text("-1"), from(UPPER, 20, 58)]),
    shape("st.", "infisical", &[between(UUID, 24, 36), Text("."), from(HEX, 32, 32), Text("."), from(HEX, 32, 32)]),
    // Messages.
    shape("xoxa-", "slack", &[from(DASHED, 10, 50)]).with(Digit),
    shape("xoxb-", "slack", &[from(DIGIT, 1, 12), Text("-"), from(DASHED, 4, 50)]).with(Digit),
    shape("xoxc-", "slack", &[from(DASHED, 10, 100)]).with(Digit),
    shape("xoxd-", "slack", &[from(PERCENT, 20, 150)]).with(Digit),
    shape("xoxe.xox", "slack", &[of(LETTER, 1), Text("-"), from(DASHED, 20, 166)]),
    shape("xoxe-", "slack", &[from(DIGIT, 1, 12), Text("-"), from(DASHED, 4, 147)]).with(Digit),
    shape("xoxo-", "slack", &[from(DIGIT, 1, 12), Text("-"), from(DASHED, 4, 49)]).with(Digit),
    shape("xoxp-", "slack", &[from(DIGIT, 1, 12), Text("-"), from(DASHED, 4, 71)]).with(Digit),
    shape("xoxr-", "slack", &[from(DASHED, 10, 50)]).with(Digit),
    shape("xoxs-", "slack", &[from(DIGIT, 1, 12), Text("-"), from(DASHED, 4, 49)]).with(Digit),
    shape("xapp-", "slack", &[from(DASHED, 20, 100)]).with(Digit),
    shape("xwfp-", "slack", &[from(DASHED, 20, 80)]).with(Digit),
    shape("SK", "twilio", &[of(ANY_HEX, 32)]),
    shape("xkeysib-", "brevo", &[of(HEX, 64), Text("-"), of(ALNUM, 16)]),
    shape("xsmtpsib-", "brevo", &[of(HEX, 64), Text("-"), of(ALNUM, 16)]),
    shape("key-", "mailgun", &[of(HEX, 32)]).with(Digit),
    shape("pubkey-", "mailgun", &[of(HEX, 32)]).with(Digit),
    shape("mlsn.", "mailersend", &[of(HEX, 64)]),
    shape("re_", "resend", &[between(ALNUM, 8, 10), Text("_"), between(ALNUM, 22, 26)]).with(Digit),
    shape("KEY0", "telnyx", &[of(UPPER, 31), Text("_"), of(ALNUM, 22)]),
    shape("tfp_", "typeform", &[from(PADDED, 40, 59)]),
    shape("pat-na1-", "hubspot", &[of(UUID, 36)]),
    shape("pat-eu1-", "hubspot", &[of(UUID, 36)]),
    shape("fio-u-", "frame.io", &[from(DASHED, 40, 64)]),
    shape("sl.u.", "dropbox", &[from(DASHED, 60, 1300)]),
    shape("sl.", "dropbox", &[from(DASHED, 60, 135)]).with(Mixed),
    shape("lmb_", "logicmonitor", &[from(BASE64, 32, 80)]),
    shape("lma_", "logicmonitor", &[from(BASE64, 32, 80)]),
    shape("sk.eyJ", "mapbox", &[from(DOTTED, 40, 80)]),
    shape("pk.eyJ", "mapbox", &[from(DOTTED, 40, 80)]),
    shape("tk.eyJ", "mapbox", &[from(DOTTED, 40, 80)]),
    shape("pk.", "mapbox", &[of(ALNUM, 60), Text("."), of(ALNUM, 22)]),
    shape("sk.", "mapbox", &[of(ALNUM, 60), Text("."), of(ALNUM, 22)]),
    shape("dG9rO", "intercom", &[from(BASE64, 40, 60)]),
    shape("EAAA", "square", &[between(DASHED, 50, 64)]).with(Mixed),
    shape("EAAC", "facebook", &[from(ALNUM, 80, 180)]).with(Digit),
    shape("EAAM", "facebook", &[from(ALNUM, 80, 180)]).with(Digit),
    shape("EAA", "facebook", &[from(ALNUM, 80, 180)]).with(Mixed),
    shape("IGQ", "instagram", &[from(DASHED, 80, 160)]).with(Mixed),
    shape("IGAA", "instagram", &[from(DASHED, 80, 160)]).with(Mixed),
    shape("pina_", "pinterest", &[from(ALNUM, 40, 90)]),
    shape("AQED", "linkedin", &[from(DASHED, 80, 150)]).with(Mixed),
    shape("AAAAAAAAAAAAAAAAAAAA", "twitter", &[from(PERCENT, 50, 92)]).with(Mixed),
    shape("aio_", "adafruit", &[from(ALNUM, 28, 28)]).with(Digit),
    // Money and trade.
    shape("sk_live_", "stripe", &[from(WORD, 16, 99)]),
    shape("sk_test_", "stripe", &[from(WORD, 16, 99)]),
    shape("sk_prod_", "stripe", &[from(WORD, 16, 99)]),
    shape("rk_live_", "stripe", &[from(WORD, 16, 99)]),
    shape("rk_test_", "stripe", &[from(WORD, 16, 99)]),
    shape("rk_prod_", "stripe", &[from(WORD, 16, 99)]),
    shape("sk_org_live_", "stripe", &[from(WORD, 16, 99)]),
    shape("ek_live_", "stripe", &[from(WORD, 16, 99)]),
    shape("ek_test_", "stripe", &[from(WORD, 16, 99)]),
    shape("whsec_", "stripe", &[from(BASE64, 16, 32)]),
    shape("sk_sbox_", "checkout", &[from(LOWER, 20, 28)]),
    shape("sk_", "elevenlabs", &[of(HEX, 48)]),
    shape("sq0atp-", "square", &[from(DASHED, 20, 22)]),
    shape("sq0csp-", "square", &[from(DASHED, 20, 43)]),
    shape("sq0idp-", "square", &[from(DASHED, 20, 22)]),
    shape("sandbox-sq0", "square", &[from(DASHED, 20, 48)]),
    shape("shpat_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shpca_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shppa_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shpss_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shpua_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shptka_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shprt_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("shpcd_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("prtapi_", "shopify", &[from(ANY_HEX, 20, 32)]),
    shape("atkn_", "shopify", &[from(ALNUM, 32, 64)]).with(Digit),
    shape("shippo_live_", "shippo", &[from(ANY_HEX, 32, 40)]),
    shape("shippo_test_", "shippo", &[from(ANY_HEX, 32, 40)]),
    shape("duffel_test_", "duffel", &[from(DASHED, 32, 43)]),
    shape("duffel_live_", "duffel", &[from(DASHED, 32, 43)]),
    shape("EZAK", "easypost", &[from(ALNUM, 50, 54)]),
    shape("EZTK", "easypost", &[from(ALNUM, 50, 54)]),
    shape("FLWSECK_TEST-", "flutterwave", &[from(DASHED, 12, 34)]),
    shape("FLWSECK-", "flutterwave", &[from(DASHED, 12, 34)]),
    shape("FLWPUBK_TEST-", "flutterwave", &[from(DASHED, 32, 34)]),
    shape("FLWPUBK-", "flutterwave", &[from(DASHED, 32, 34)]),
    shape("live_pub_", "lob", &[of(HEX, 31)]),
    shape("test_pub_", "lob", &[of(HEX, 31)]),
    shape("live_", "lob", &[of(HEX, 35)]),
    shape("test_", "lob", &[of(HEX, 35)]),
    shape("live_", "gocardless", &[of(DASHED, 40)]).with(Mixed),
    shape("sandbox_", "gocardless", &[of(DASHED, 40)]).with(Mixed),
    shape("access-sandbox-", "plaid", &[of(UUID, 36)]),
    shape("access-development-", "plaid", &[of(UUID, 36)]),
    shape("access-production-", "plaid", &[of(UUID, 36)]),
    shape("access_token$", "braintree", &[between(LOWER, 7, 10), Text("$"), between(LOWER, 12, 20), Text("$"), of(HEX, 32)]),
    shape("pdl_live_apikey_", "paddle", &[from(WORD, 40, 50)]),
    shape("pdl_sdbx_apikey_", "paddle", &[from(WORD, 40, 50)]),
    shape("pdl_ntfset_", "paddle", &[from(WORD, 32, 59)]),
    shape("rzp_live_", "razorpay", &[from(ALNUM, 14, 14)]),
    shape("rzp_test_", "razorpay", &[from(ALNUM, 14, 14)]),
    shape("samsara_api_", "samsara", &[from(ALNUM, 24, 30)]),
    shape("sm_aat_", "settlemint", &[from(ALNUM, 16, 16)]),
    shape("sm_pat_", "settlemint", &[from(ALNUM, 16, 16)]),
    shape("sm_sat_", "settlemint", &[from(ALNUM, 16, 16)]),
    shape("persona_production_", "persona", &[from(DASHED, 24, 36)]),
    shape("persona_sandbox_", "persona", &[from(DASHED, 24, 36)]),
    shape("Mid-server-", "midtrans", &[from(DASHED, 20, 24)]),
    shape("SB-Mid-server-", "midtrans", &[from(DASHED, 20, 24)]),
    shape("secret-token:mercury_", "mercury", &[from(WORD, 24, 60)]),
    shape("cko_", "checkout", &[from(ALNUM, 40, 48)]).with(Digit),
    shape("AQE", "adyen", &[from(BASE64, 80, 160)]).with(Mixed),
    shape("p8e-", "adobe", &[of(ALNUM, 32)]),
    shape("s-s4t2ud-", "intra42", &[of(ANY_HEX, 64)]),
    shape("s-s4t2af-", "intra42", &[of(ANY_HEX, 64)]),
    shape("secret-live-", "stytch", &[from(PADDED, 30, 36)]),
    shape("secret-test-", "stytch", &[from(PADDED, 30, 36)]),
    shape("sc_", "authress", &[between(ALNUM, 5, 30), Text("."), between(ALNUM, 4, 6), Text(".acc"), from(ANY_BASE64.and(DOTTED), 40, 100)]),
    shape("ext_", "authress", &[between(ALNUM, 5, 30), Text("."), between(ALNUM, 4, 6), Text(".acc"), from(ANY_BASE64.and(DOTTED), 40, 100)]),
    shape("scauth_", "authress", &[between(ALNUM, 5, 30), Text("."), between(ALNUM, 4, 6), Text(".acc"), from(ANY_BASE64.and(DOTTED), 40, 100)]),
    shape("authress_", "authress", &[between(ALNUM, 5, 30), Text("."), between(ALNUM, 4, 6), Text(".acc"), from(ANY_BASE64.and(DOTTED), 40, 100)]),
    shape("00", "okta", &[of(DASHED, 40)]).with(Mixed),
    shape("ZXlK", "jwt", &[from(ANY_BASE64, 60, 150)]),
    shape("xprv", "bitcoin", &[from(ALNUM, 100, 107)]).with(Mixed),
    shape("nsec1", "nostr", &[of(LOWER, 58)]),
];
