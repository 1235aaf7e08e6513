//! When two entries cannot both hold.
//!
//! Only what code can be sure of counts: the same sentence with another number or a negation, and a thing that is
//! decided in one entry and rejected in another. Everything else is for the model to see.

use std::collections::BTreeSet;

use memory::section::{DECISIONS, REJECTED};

use crate::phrases::folded;
use crate::words::{content_words, words};

/// From here on two sentences are the same but for what tells them apart.
const SAME_SENTENCE: f64 = 0.85;

/// The fewest words that make a sentence comparable.
const MIN_WORDS: usize = 2;

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "don't", "doesn't", "isn't", "won't", "without", "nicht", "kein", "keine", "nie",
    "pas", "jamais", "nunca", "não", "не", "нет",
];

/// What is told apart by its number: what holds for issue 812 says nothing about issue 913.
const NUMBERED: &[&str] = &[
    "issue",
    "ticket",
    "pr",
    "bug",
    "case",
    "task",
    "rule",
    "line",
    "error",
    "code",
    "http",
    "port",
    "node",
    "shard",
    "part",
    "step",
    "phase",
    "page",
    "test",
    "section",
    "number",
    "no",
    "chapter",
    "migration",
    "version",
    "release",
    "sprint",
    "stage",
];

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
    match (one.0, two.0) {
        (DECISIONS, REJECTED) => is_decided_and_rejected(one.1, two.1),
        (REJECTED, DECISIONS) => is_decided_and_rejected(two.1, one.1),
        (section, other) if section == other => differ_in_what_matters(one.1, two.1),
        _ => false,
    }
}

fn differ_in_what_matters(one: &str, two: &str) -> bool {
    let split = |text: &str| -> (BTreeSet<String>, BTreeSet<String>) {
        let words = words(text);
        let is_name = |at: usize| at > 0 && NUMBERED.contains(&words[at - 1].as_str());
        let is_telling = |at: usize, word: &str| is_figure(word) && !is_name(at) || NEGATIONS.contains(&word);
        let (telling, rest): (Vec<_>, Vec<_>) =
            words.iter().enumerate().partition(|(at, word)| is_telling(*at, word));
        let collect =
            |words: Vec<(usize, &String)>| words.into_iter().map(|(_, word)| word.clone()).collect();
        (collect(telling), collect(rest))
    };
    let ((telling_one, rest_one), (telling_two, rest_two)) = (split(one), split(two));
    let total = rest_one.len() + rest_two.len();
    let shared = rest_one.intersection(&rest_two).count();
    telling_one != telling_two
        && rest_one.len().min(rest_two.len()) >= MIN_WORDS
        && 2.0 * shared as f64 >= SAME_SENTENCE * total as f64
}

/// Returns whether a word is a figure; `m1` is a name, and what is said of `m2` does not contradict it.
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
        check((DECISIONS, "Staging runs Postgres 15"), (DECISIONS, "Staging runs Postgres 16"), true);
        check((DECISIONS, "Deploy on Fridays"), (DECISIONS, "Never deploy on Fridays"), true);
        check((DECISIONS, "API port is 8080"), (DECISIONS, "Admin port is 9090"), false);
        check((DECISIONS, "Issue 812 is left open"), (DECISIONS, "Issue 913 is left open"), false);
        check((DECISIONS, "Module m1 speaks gRPC"), (DECISIONS, "Module m2 speaks gRPC"), false);
        check((DECISIONS, "Use Postgres"), (DECISIONS, "Use Postgres"), false);
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
