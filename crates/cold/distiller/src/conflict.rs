//! When two entries cannot both hold.
//!
//! Only what code can be sure of counts: the same sentence with another value or a negation, and a thing that is
//! decided in one entry and rejected in another. Everything else is for the model to see: when in doubt, both stay.

use std::collections::BTreeSet;

use memory::section::{DECISIONS, REJECTED};

use language::folded;
use language::{content_words, words};

/// The fewest words that make a sentence comparable.
const MIN_WORDS: usize = 2;

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "don't", "doesn't", "isn't", "won't", "without", "nicht", "kein", "keine", "nie",
    "pas", "jamais", "nunca", "não", "не", "нет",
];

/// Words before a figure that is a value. Behind any other word it may belong to a name: what holds for Android 12 or
/// issue 812 says nothing about Android 13 or issue 913.
const BEFORE_VALUE: &[&str] = &[
    "is",
    "are",
    "at",
    "to",
    "than",
    "most",
    "least",
    "under",
    "below",
    "above",
    "max",
    "maximum",
    "min",
    "minimum",
    "every",
    "within",
    "after",
    "ist",
    "sind",
    "um",
    "auf",
    "höchstens",
    "mindestens",
    "alle",
    "est",
    "sont",
    "es",
    "son",
    "máximo",
    "mínimo",
    "são",
    "cada",
];

/// What is counted or measured; a figure before it is a value.
const UNITS: &[&str] = &[
    "times",
    "x",
    "percent",
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hour",
    "hours",
    "d",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "kb",
    "mb",
    "gb",
    "tb",
    "kib",
    "mib",
    "gib",
    "bytes",
    "characters",
    "chars",
    "px",
    "retries",
    "attempts",
    "mal",
    "prozent",
    "sekunden",
    "minuten",
    "stunden",
    "tage",
    "tagen",
    "wochen",
    "monate",
    "jahre",
    "fois",
    "secondes",
    "heures",
    "jours",
    "semaines",
    "mois",
    "ans",
    "veces",
    "segundos",
    "minutos",
    "horas",
    "días",
    "semanas",
    "meses",
    "años",
    "vezes",
    "dias",
    "anos",
    "раз",
    "секунд",
    "минут",
    "часов",
    "дней",
];

/// Words that come and go between two versions of one sentence.
const FILLERS: &[&str] = &["the", "a", "an", "do", "does"];

/// What separates the thing that is decided from the one it takes the place of.
const AGAINST: &[&str] =
    &[" instead of ", " rather than ", " not ", " over ", " statt ", " au lieu de ", " en vez de ", ", no "];

/// Words that only say that something is decided or rejected.
const DECIDING: &[&str] = &[
    "use", "using", "go", "going", "stick", "chose", "choose", "decided", "switch", "move", "adopt", "pick",
    "rejected", "tried", "scrap", "avoid", "drop",
];

/// Returns whether an entry of one section contradicts an entry of another, or of the same.
pub(crate) fn contradict(one: (&str, &str), two: (&str, &str)) -> bool {
    contradict_in_words(one, two) || one.0 == two.0 && differ_in_value(one.1, two.1)
}

/// Returns whether two entries contradict each other whatever values they give.
pub(crate) fn contradict_in_words(one: (&str, &str), two: (&str, &str)) -> bool {
    match (one.0, two.0) {
        (DECISIONS, REJECTED) => is_decided_and_rejected(one.1, two.1),
        (REJECTED, DECISIONS) => is_decided_and_rejected(two.1, one.1),
        (section, other) if section == other => differ_in_negation(one.1, two.1),
        _ => false,
    }
}

/// A sentence, taken apart into what tells it from another one like it and the rest.
struct Claim {
    values: BTreeSet<String>,
    is_negated: bool,
    rest: BTreeSet<String>,
}

impl Claim {
    fn of(text: &str) -> Self {
        let words = words(text);
        let is_value = |at: usize| {
            let before = words[..at].iter().rev().find(|word| !is_figure(word));
            let mut after = words[at..].iter().map(String::as_str).skip_while(|word| is_figure(word));
            let is_measured = match (after.next(), after.next()) {
                // "Node 5 times out" gives no value.
                (Some("times"), Some("out")) => false,
                (after, _) => after.is_some_and(|word| UNITS.contains(&word)),
            };
            // "30s" is "30 s".
            let unit = words[at].trim_start_matches(|c: char| c.is_ascii_digit());
            before.is_some_and(|word| BEFORE_VALUE.contains(&word.as_str()))
                || is_measured
                || UNITS.contains(&unit)
        };
        let mut claim = Self { values: BTreeSet::new(), is_negated: false, rest: BTreeSet::new() };
        for (at, word) in words.iter().enumerate() {
            if is_figure(word) && is_value(at) {
                claim.values.insert(word.clone());
            } else if NEGATIONS.contains(&word.as_str()) {
                claim.is_negated = true;
            } else if !FILLERS.contains(&word.as_str()) {
                claim.rest.insert(word.clone());
            }
        }
        claim
    }

    /// Returns whether both say the same of the same, but for what tells them apart. One other word may be what they are
    /// about: the EU tenant is not the US tenant.
    fn is_like(&self, other: &Self) -> bool {
        self.rest.len() >= MIN_WORDS && self.rest == other.rest
    }
}

fn differ_in_value(one: &str, two: &str) -> bool {
    let (one, two) = (Claim::of(one), Claim::of(two));
    let both_give_one = !one.values.is_empty() && !two.values.is_empty();
    one.is_like(&two) && one.is_negated == two.is_negated && both_give_one && one.values != two.values
}

fn differ_in_negation(one: &str, two: &str) -> bool {
    let (one, two) = (Claim::of(one), Claim::of(two));
    one.is_like(&two) && one.values == two.values && one.is_negated != two.is_negated
}

/// Returns whether a word is a figure; `m1` is a name, and a statement about `m2` does not contradict it.
fn is_figure(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn is_decided_and_rejected(decision: &str, rejection: &str) -> bool {
    let decided = subject(decision, AGAINST);
    // "approach: reason"
    let rejected = subject(rejection, &[": ", " because ", " — "]);
    // A decision about much more than what was rejected is not undone by it.
    let is_about_it = decided.len() <= rejected.len() + 1;
    rejected.len() >= MIN_WORDS && is_about_it && rejected.is_subset(&decided)
}

/// Returns what a text is about, up to the first of `ends`.
fn subject(text: &str, ends: &[&str]) -> BTreeSet<String> {
    let text = folded(text);
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let mut words = content_words(&text[..end]);
    words.retain(|word| !DECIDING.contains(&word.as_str()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: (&str, &str), two: (&str, &str), expected: bool) {
        assert_eq!(contradict(one, two), expected, "{one:?} {two:?}");
        assert_eq!(contradict(two, one), expected, "{two:?} {one:?}");
    }

    #[test]
    fn another_number_or_a_negation_contradicts() {
        check(
            (DECISIONS, "Retry failed mails 10 times"),
            (DECISIONS, "Retry the failed mails 3 times"),
            true,
        );
        check((DECISIONS, "The upload limit is 8 MB"), (DECISIONS, "The upload limit is 16 MB"), true);
        check((DECISIONS, "Sessions end after 30s"), (DECISIONS, "Sessions end after 2.5 minutes"), false);
        check((DECISIONS, "The API port is 8080"), (DECISIONS, "The API port is 9090"), true);
        check((DECISIONS, "Deploy on Fridays"), (DECISIONS, "Never deploy on Fridays"), true);
        check((DECISIONS, "Do not deploy on Fridays"), (DECISIONS, "Never deploy on Fridays"), false);
        check((DECISIONS, "API port is 8080"), (DECISIONS, "Admin port is 9090"), false);
        check((DECISIONS, "Issue 812 is left open"), (DECISIONS, "Issue 913 is left open"), false);
        check((DECISIONS, "Module m1 speaks gRPC"), (DECISIONS, "Module m2 speaks gRPC"), false);
        check((DECISIONS, "Use Postgres"), (DECISIONS, "Use Postgres"), false);
    }

    #[test]
    fn a_statement_about_another_thing_contradicts_nothing() {
        for (one, two) in [
            (
                "The nightly export of the EU tenant runs at 2",
                "The nightly export of the US tenant runs at 3",
            ),
            ("The EU tenant does not get the nightly export", "The US tenant does get the nightly export"),
            ("Android 12 crashes on start", "Android 13 crashes on start"),
            ("The app crashes on Android 12", "The app crashes on Android 13"),
            ("Python 3.11 is supported", "Python 3.12 is supported"),
            ("We support Python 3.11", "We support Python 3.12"),
            ("Test 3 times out on Windows", "Test 4 times out on Windows"),
            ("Staging runs Postgres 15", "Staging runs Postgres 16"),
        ] {
            check((DECISIONS, one), (DECISIONS, two), false);
        }
    }

    #[test]
    fn what_is_rejected_is_not_decided() {
        check(
            (DECISIONS, "Use Redis for sessions"),
            (REJECTED, "Redis for sessions: too much to operate"),
            true,
        );
        check(
            (DECISIONS, "Use Postgres for the queue, not Redis"),
            (REJECTED, "Redis for the queue: memory"),
            false,
        );
        check((DECISIONS, "Use Redis for sessions"), (REJECTED, "Redis for the price cache: memory"), false);
        check(
            (DECISIONS, "Use Redis for sessions"),
            (REJECTED, "Redis for sessions in the EU region: latency"),
            false,
        );
    }
}
