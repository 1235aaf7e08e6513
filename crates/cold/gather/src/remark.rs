//! What a model says between two calls, as far as it outlives them: causes it found, ways it chose, and dead ends.
//!
//! Most of it only announces the next call. A paragraph with words that explain, choose or give up is kept whole: the reason is
//! beside what follows from it.

use crate::budget::REMARK_CHARS;
use crate::thread::Call;
use language::lexicon::{CONVERSATION, HANDOFF, JOURNAL};
use language::{Phrases, content_words, folded, words};
use std::sync::LazyLock;

/// Fewer words say too little without what is around them.
const FEWEST_WORDS: usize = 6;

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was found out, or which way was taken.
    Finding,
    /// What did not work, or cannot.
    DeadEnd,
}

struct Talk {
    dead_ends: Phrases<()>,
    findings: Phrases<()>,
    refusing: Phrases<()>,
    backward: Phrases<()>,
    turning: Phrases<()>,
    nothing: Phrases<()>,
}

static TALK: LazyLock<Talk> = LazyLock::new(|| {
    let of = |lists: &[(&'static str, &'static str)]| {
        let phrases = lists.iter().flat_map(|(file, heading)| language::lexicon::list(file, heading));
        Phrases::new(phrases.map(|phrase| (phrase, ())).collect::<Vec<_>>())
    };
    Talk {
        dead_ends: of(&[(HANDOFF, "dead end"), (JOURNAL, "reports")]),
        findings: of(&[(HANDOFF, "explains"), (HANDOFF, "prefers"), (JOURNAL, "found"), (JOURNAL, "chose")]),
        refusing: of(&[(HANDOFF, "refuses")]),
        backward: of(&[(CONVERSATION, "backward")]),
        turning: of(&[(HANDOFF, "turns away")]),
        nothing: of(&[(JOURNAL, "nothing")]),
    }
});

/// Returns what is worth keeping of what a model said between two calls.
pub(crate) fn remarks(said: &str) -> Vec<(Kind, String)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in said.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.starts_with(['#', '|', '>']) {
            continue;
        }
        let text = folded(line);
        let is_unspaced = text.chars().any(language::is_unspaced);
        if words(&text).len() < FEWEST_WORDS && !is_unspaced || line.ends_with(':') {
            continue;
        }
        let kind = match (TALK.dead_ends.occur(&text), TALK.findings.occur(&text)) {
            (true, _) => Kind::DeadEnd,
            (false, true) => Kind::Finding,
            (false, false) => continue,
        };
        let line = language::without_bullet(line);
        found.push((kind, text::sanitize::one_line(line, REMARK_CHARS)));
    }
    found
}

/// Says whether a prompt is about a call that was refused before it: it says no, points at it, or names something of it.
pub(crate) fn is_about(prompt: &str, call: &Call) -> bool {
    let text = folded(prompt);
    if TALK.turning.begin(&text) {
        return false;
    }
    let first = text.lines().next().unwrap_or_default();
    let named = |text: &str| content_words(&text.replace(['-', '_', '/', '.', '='], " "));
    let names_it = || !named(prompt).is_disjoint(&named(&call.about));
    TALK.refusing.begin(first) || TALK.backward.begin(first) || names_it()
}

/// Says whether a text says nothing by itself: `ok, go on`.
pub(crate) fn says_nothing(text: &str) -> bool {
    let text = folded(text);
    let hits = TALK.nothing.find(&text);
    let mut end = 0;
    let mut rest = String::new();
    for hit in hits {
        if hit.start >= end {
            rest.push_str(&text[end..hit.start]);
        }
        end = end.max(hit.end);
    }
    rest.push_str(&text[end..]);
    !rest.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::Ending;

    #[test]
    fn causes_choices_and_dead_ends_are_kept_and_announcements_are_not() {
        for said in [
            "A row lock can't help here: the retries run one after the other. So I'll store it on the order.",
            "WAL mode did not work on the network share, the file stays locked.",
            "Das alte Skript funktioniert damit nicht, weil nodeadm es nicht liest.",
            "Le cache ne suffit pas ici : la clé change à chaque requête.",
            "Mocking the clock won't work since the library reads it natively.",
            "Still the same error after the upgrade, so the version is not the cause.",
        ] {
            assert_eq!(remarks(said).first().map(|(kind, _)| *kind), Some(Kind::DeadEnd), "{said}");
        }
        for said in [
            "The consumer died because the amount has three decimals.",
            "It turns out that the proxy strips the header on redirects.",
            "I went with a queue rather than a lock, other modules share it.",
            "Die Ursache ist das PodDisruptionBudget ledger-worker: minAvailable 2 bei 2 Replikas.",
            "La causa es que el índice no cubre la columna de fecha.",
        ] {
            assert_eq!(remarks(said).first().map(|(kind, _)| *kind), Some(Kind::Finding), "{said}");
        }
        for said in [
            "I'll look at the staging model first.",
            "Now the checkout.",
            "Let me run the tests again to see where we are.",
            "Good. Next, the second file and its tests.",
            "Ich schaue mir zuerst den Stand an.",
            "```\nbecause of this line of code we fail here\n```",
        ] {
            assert!(remarks(said).is_empty(), "{said}: {:?}", remarks(said));
        }
    }

    #[test]
    fn a_prompt_is_about_a_refused_call_or_another_matter() {
        let call = |about: &str| Call::new("Bash", about.to_owned(), Ending::Refused(String::new()));
        for (about, prompt) in [
            ("rm -r cache", "that is the only copy"),
            ("git push --force origin main", "never force on main"),
            ("terraform apply", "wait until 14:00"),
            ("xcrun simctl erase all", "ça efface mes autres simulateurs"),
            ("npm publish", "we publish from CI only"),
            ("dropdb shop_dev", "nimm shop_test"),
        ] {
            assert!(is_about(prompt, &call(about)), "{about}: {prompt}");
        }
        for (about, prompt) in [
            ("git push --force origin main", "Before anything else: what does the nightly report count?"),
            ("terraform apply", "btw, can you also check the DNS record of www?"),
            ("npm publish", "Summarize what changed in the parser"),
            ("rm -r cache", "Übrigens: wie viele Kunden hat die Tabelle?"),
            ("docker compose down -v", "Write the release notes for 2.4"),
        ] {
            assert!(!is_about(prompt, &call(about)), "{about}: {prompt}");
        }
    }

    #[test]
    fn ok_and_go_on_say_nothing() {
        for text in ["ok", "Yes, go on.", "weiter bitte", "oui, vas-y !", "👍"] {
            assert!(says_nothing(text), "{text}");
        }
        for text in ["ok, commit", "go on with the cart", "second prompt"] {
            assert!(!says_nothing(text), "{text}");
        }
    }
}
