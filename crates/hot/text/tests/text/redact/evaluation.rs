//! How many secrets are found, and how much else is changed: `cargo test -p wyren-text evaluation -- --nocapture` prints it.

#![expect(clippy::print_stdout, reason = "the figures are for people")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use text::redact::redact;

/// How many samples are drawn of each shape.
const SAMPLES: usize = 5;

/// How a token is met: alone, and behind names.
const FORMS: &[&str] = &[
    "deploy with {} now",
    "SERVICE_TOKEN={}",
    "{\"token\": \"{}\"}",
    "api_key: {}",
    "run --token {}",
    "https://x.example/y?access_token={}",
    "Authorization: Bearer {}",
];

/// Random numbers that are the same in every run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % limit as u64) as usize
    }

    fn draw(&mut self, letters: &str, count: usize) -> String {
        let letters = letters.as_bytes();
        let mut drawn: String = (0..count).map(|_| char::from(letters[self.below(letters.len())])).collect();
        // Issuers avoid a dash at the end, because a double click does not select it.
        while drawn.ends_with(['-', '_', '+', '/']) {
            drawn.pop();
            drawn.push('x');
        }
        drawn
    }

    /// Fills the places of a pattern such as `ghp_{A36}`.
    pub(super) fn fill(&mut self, pattern: &str) -> String {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const DIGITS: &str = "0123456789";
        let upper = LOWER.to_uppercase();
        let mut filled = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, after) = after.split_once('}').expect("a place ends");
            filled.push_str(before);
            rest = after;
            let (kind, count) = place.split_at(1);
            let count: usize = count.parse().unwrap_or(0);
            let alphabet = match kind {
                "A" => format!("{LOWER}{upper}{DIGITS}"),
                "L" => format!("{LOWER}{upper}"),
                "d" => DIGITS.to_owned(),
                "h" => format!("{DIGITS}abcdef"),
                "H" => format!("{DIGITS}abcdefABCDEF"),
                "U" => format!("{upper}{DIGITS}"),
                "l" => format!("{LOWER}{DIGITS}"),
                "w" => format!("{LOWER}{upper}{DIGITS}_"),
                "-" => format!("{LOWER}{upper}{DIGITS}{LOWER}{upper}{DIGITS}_-"),
                "b" => format!("{LOWER}{upper}{DIGITS}+/"),
                "u" => {
                    let hex = format!("{DIGITS}abcdef");
                    let parts = [8, 4, 4, 4, 12].map(|count| self.draw(&hex, count));
                    filled.push_str(&parts.join("-"));
                    continue;
                }
                other => panic!("{other} is no alphabet"),
            };
            filled.push_str(&self.draw(&alphabet, count));
        }
        filled + rest
    }
}

fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("##"))
}

/// Returns whether nothing useful of `secret` is left: no ten characters of its second half.
pub(super) fn is_gone(redacted: &str, secret: &str) -> bool {
    let tail = &secret.as_bytes()[secret.len() / 2..];
    !tail
        .windows(10.min(tail.len()))
        .any(|part| redacted.as_bytes().windows(part.len()).any(|other| other == part))
}

/// Prints and returns how many of the samples are found bare, and behind each name.
fn recall(title: &str, shapes: &str) -> Vec<f64> {
    let mut report = format!("{title}\n");
    let mut rates = Vec::new();
    for form in FORMS {
        let mut random = Random::new(1);
        let (mut tried, mut found, mut missed) = (0, 0, BTreeSet::new());
        for line in lines(shapes) {
            let (name, pattern) = line.split_once(' ').expect("a name and a pattern");
            for _ in 0..SAMPLES {
                let secret = random.fill(pattern);
                tried += 1;
                if is_gone(&redact(&form.replace("{}", &secret)), &secret) {
                    found += 1;
                } else {
                    missed.insert(name);
                }
            }
        }
        let rate = f64::from(found) / f64::from(tried);
        writeln!(report, "  {form:40} {found} of {tried} ({:.1} %) {missed:?}", rate * 100.0)
            .expect("a string");
        rates.push(rate);
    }
    println!("{report}");
    rates
}

#[track_caller]
fn check_recall(title: &str, shapes: &str) {
    let rates = recall(title, shapes);
    assert!(rates[0] >= 0.95, "{:.3} of the bare tokens are found", rates[0]);
    for (rate, form) in rates[1..].iter().zip(&FORMS[1..]) {
        assert!(*rate >= 0.99, "{rate:.3} of the tokens in {form:?} are found");
    }
}

#[test]
fn documented_tokens_are_found() {
    check_recall("documented tokens", include_str!("shapes.txt"));
}

#[test]
fn tokens_that_the_table_was_not_made_for_are_found() {
    check_recall("held out", include_str!("held_out.txt"));
}

/// Texts that look like secrets and are none, made of patterns that logs, lock files and programs are full of.
fn generated_look_alikes() -> Vec<String> {
    let mut random = Random::new(7);
    let mut texts = Vec::new();
    for pattern in lines(include_str!("look_alike_patterns.txt")) {
        for _ in 0..8 {
            texts.push(random.fill(pattern));
        }
    }
    texts
}

#[test]
fn look_alikes_stay() {
    let written = lines(include_str!("look_alikes.txt")).map(str::to_owned);
    let texts: Vec<String> = written.chain(generated_look_alikes()).collect();
    let mut changed = Vec::new();
    for text in &texts {
        for around in ["{}", "see {} there"] {
            let text = around.replace("{}", text);
            let redacted = redact(&text).into_owned();
            if redacted != text {
                changed.push((text, redacted));
            }
        }
    }
    println!("look-alikes: {} of {} changed", changed.len(), texts.len() * 2);
    assert!(texts.len() >= 500, "only {} look-alikes", texts.len());
    assert!(
        changed.len() * 200 <= texts.len() * 2,
        "{} of {} were changed: {changed:#?}",
        changed.len(),
        texts.len() * 2
    );
}
