//! What prompts and answers say: the gist, what they decide, what they found out, what is left.

use language::lexicon::{self, JOURNAL, LANGUAGES, PEOPLE};
use language::{Phrases, folded, sentences, words};
use std::sync::LazyLock;
use text::sanitize;

/// What a person's sentence must weigh to count as a decision.
const DECIDES: f64 = 0.7;
/// What a phrase of another language weighs, and a normative word.
const FOREIGN: f64 = 0.7;
const NORMATIVE: f64 = 0.3;
/// A sentence of fewer words says nothing a month later.
const FEWEST_WORDS: usize = 4;
/// The longest sentence that is kept, in characters.
const MOST_CHARS: usize = 300;

/// Phrases of a person that decide, reject or cut, with what each counts.
static DECISIONS: LazyLock<Phrases<f64>> = LazyLock::new(|| {
    let is_wanted = |name: &str| matches!(name, "decision" | "rejection" | "scope");
    let people = lexicon::weighed(PEOPLE)
        .filter(move |(name, ..)| is_wanted(name))
        .map(|(_, phrase, weight)| (phrase, weight));
    let foreign = lexicon::phrases(LANGUAGES).filter_map(move |(heading, phrase)| match heading {
        "normative" => Some((phrase, NORMATIVE)),
        heading => is_wanted(heading).then_some((phrase, FOREIGN)),
    });
    Phrases::new(people.chain(foreign))
});

/// Tables of one heading each.
macro_rules! phrases {
    ($($name:ident, $file:expr, $heading:literal;)*) => {
        $(static $name: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of($file, $heading));)*
    };
}
phrases! {
    FOUND, JOURNAL, "found";
    CHOSE, JOURNAL, "chose";
    NORMS, JOURNAL, "norms";
    NEXT, JOURNAL, "next";
    NOTHING, JOURNAL, "nothing";
    FIX, JOURNAL, "fix";
    FEATURE, JOURNAL, "feature";
    REFACTOR, JOURNAL, "refactor";
    SUPERSEDES, JOURNAL, "supersedes";
    DECIDED, LANGUAGES, "decision";
}

/// What a text says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) decisions: Vec<String>,
    pub(super) discoveries: Vec<String>,
    pub(super) next: Vec<String>,
}

/// Returns what a person's text decides.
pub(super) fn of_person(text: &str) -> Said {
    let mut said = Said::default();
    for sentence in sentences(text) {
        if sentence.is_question || words(&sentence.text).len() < FEWEST_WORDS {
            continue;
        }
        let folded = folded(&sentence.text);
        if weight(&DECISIONS, &folded) >= DECIDES {
            said.decisions.push(shown(&sentence.text));
        } else if FOUND.occur(&folded) && has_figures(&sentence.text) {
            said.discoveries.push(shown(&sentence.text));
        }
    }
    said
}

/// Returns what a model's text says that it chose, found and left.
pub(super) fn of_model(text: &str) -> Said {
    let mut said = Said::default();
    for sentence in sentences(text) {
        if sentence.is_question || words(&sentence.text).len() < FEWEST_WORDS {
            continue;
        }
        let folded = folded(&sentence.text);
        if NEXT.occur(&folded) {
            said.next.push(shown(&sentence.text));
        } else if FOUND.occur(&folded) || compares_figures(&sentence.text) {
            said.discoveries.push(shown(&sentence.text));
        } else if CHOSE.occur(&folded) || DECIDED.occur(&folded) || NORMS.begin(&folded) {
            said.decisions.push(shown(&sentence.text));
        }
    }
    said
}

fn weight(table: &Phrases<f64>, folded: &str) -> f64 {
    let (mut weight, mut covered) = (0.0, 0);
    for hit in table.find(folded) {
        // A phrase inside another one has been heard already.
        if hit.start >= covered {
            weight += hit.label;
            covered = hit.end;
        }
    }
    weight
}

fn shown(sentence: &str) -> String {
    sanitize::one_line(sentence, MOST_CHARS)
}

/// Returns whether a sentence has a number in it.
fn has_figures(sentence: &str) -> bool {
    sentence.chars().any(|c| c.is_ascii_digit())
}

/// Returns whether a sentence compares two figures: `from 3 s to 20 ms`, `480 → 12`, `40 % faster`.
fn compares_figures(sentence: &str) -> bool {
    let folded = folded(sentence);
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let numbers =
        folded.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).filter(is_number).count();
    let has = |marks: &[&str]| marks.iter().any(|mark| folded.contains(mark));
    if numbers == 1 {
        return has(&[
            "faster",
            "slower",
            "smaller",
            "larger",
            "fewer",
            "schneller",
            "langsamer",
            "plus rapide",
            "más rápido",
        ]);
    }
    let pairs = [
        (" from ", " to "),
        ("from ", " to "),
        ("von ", " auf "),
        ("de ", " à "),
        ("de ", " a "),
        ("was ", "now"),
        ("から", "に"),
        ("从", "到"),
    ];
    numbers >= 2
        && (has(&[
            "→",
            "->",
            "instead of",
            "down to",
            " vs ",
            "versus",
            "before",
            "compared to",
            " statt ",
            "vorher",
            "au lieu de",
            "en vez de",
        ]) || pairs.iter().any(|(one, other)| folded.contains(one) && folded.contains(other)))
}

/// Returns whether a later decision says that it takes the place of an earlier one, and the words behind that phrase.
pub(crate) fn superseded(text: &str) -> Option<String> {
    let folded = folded(text);
    let hit = *SUPERSEDES.find(&folded).first()?;
    Some(folded[hit.end..].to_owned())
}

/// Returns whether a prompt says nothing by itself: `continue`, `yes, please`.
pub(super) fn is_nothing(prompt: &str) -> bool {
    const MOST_WORDS: usize = 6;
    let folded = folded(prompt.trim());
    if folded.chars().count() > 60 || words(&folded).len() > MOST_WORDS {
        return false;
    }
    let mut covered = vec![false; folded.len()];
    for hit in NOTHING.find(&folded) {
        covered[hit.start..hit.end].fill(true);
    }
    folded.char_indices().all(|(at, character)| !character.is_alphanumeric() || covered[at])
}

/// The kinds of work, told from what was asked for and what commits say.
pub(super) fn kind_of_work(texts: &[&str]) -> &'static str {
    use crate::entry::Kind;
    let folded: Vec<String> = texts.iter().map(|text| folded(text)).collect();
    let first =
        |table: &Phrases<()>| folded.iter().find_map(|text| table.find(text).first().map(|hit| hit.start));
    let found =
        [(first(&FIX), Kind::FIX), (first(&REFACTOR), Kind::REFACTOR), (first(&FEATURE), Kind::FEATURE)];
    let found = found.into_iter().filter_map(|(start, kind)| Some((start?, kind)));
    found.min_by_key(|(start, _)| *start).map_or(Kind::CHANGE, |(_, kind)| kind)
}

/// Returns the beginning of a text on one line, without code: whole sentences up to `most` characters where possible.
pub(super) fn gist(text: &str, most: usize) -> String {
    let text = memory_free(text);
    let line = sanitize::one_line(&text, most * 4);
    let line = line.trim();
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let end = line.char_indices().nth(most).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let stop = head
        .char_indices()
        .filter(|(at, c)| match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => head[at + 1..].starts_with(' '),
            _ => false,
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back();
    match stop {
        Some(stop) if stop * 2 >= head.len() => head[..stop].to_owned(),
        _ => sanitize::one_line(line, most),
    }
}

/// Returns a text without blocks of code, tables, headings' marks, bullets and emphasis.
fn memory_free(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || bare.is_empty() || bare.starts_with('|') || bare.starts_with("---") {
            continue;
        }
        let bare = bare.trim_start_matches(['#', '>', ' ']);
        let bare = ["- ", "* ", "• "].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare);
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let bare = bare[digits..].strip_prefix(". ").filter(|_| digits > 0).unwrap_or(bare);
        kept.push_str(&bare.replace("**", ""));
        kept.push(' ');
        // A line without an end of a sentence is one all the same.
        if kept.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '`' || c == ')')
            && line.trim_start().starts_with(['-', '*', '#'])
        {
            let length = kept.trim_end().len();
            kept.truncate(length);
            kept.push_str(". ");
        }
    }
    kept
}

/// Returns the sentences of a text with their marks, without code, on one line each.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let text = memory_free(text);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let is_end = match character {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[end..].starts_with(char::is_whitespace) && at > start + 3,
            _ => false,
        };
        if is_end {
            pieces.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    pieces.push(text[start..].trim().to_owned());
    pieces.retain(|piece| piece.chars().any(char::is_alphanumeric));
    pieces
}

/// What a prompt asks for, as a person would repeat it.
pub(super) fn asked(prompt: &str, most: usize) -> String {
    let prompt = prompt.trim();
    if let Some(command) = slash_command(prompt) {
        return sanitize::one_line(&command, most);
    }
    let is_media = prompt.is_empty() || (prompt.starts_with("[Image") && prompt.ends_with(']'));
    if is_media {
        return "[media prompt]".to_owned();
    }
    gist(prompt, most)
}

/// Returns the slash command that a prompt is, with its arguments.
pub(super) fn slash_command(prompt: &str) -> Option<String> {
    let between = |tag: &str| {
        let rest = prompt.split_once(&format!("<{tag}>"))?.1;
        rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim().to_owned())
    };
    if let Some(name) = between("command-name") {
        let name = format!("/{}", name.trim_start_matches('/'));
        let arguments = between("command-args").unwrap_or_default();
        return Some(format!("{name} {arguments}").trim().to_owned());
    }
    let first = prompt.split_whitespace().next()?;
    let is_command = first.len() > 1
        && first.starts_with('/')
        && first[1..].chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_command.then(|| prompt.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_discoveries_are_heard() {
        let said = of_person(
            "Fix the login. We'll use Redis for sessions because Postgres is too slow. Is that ok?",
        );
        assert_eq!(said.decisions, ["We'll use Redis for sessions because Postgres is too slow"]);
        let said = of_model(
            "Done. The root cause was a missing index on orders.created_at. The query went from 480 ms to 12 ms. I kept the retry in the client instead of the queue, because jobs are not idempotent. Next step: add a metric for it.",
        );
        assert_eq!(
            said.discoveries,
            [
                "The root cause was a missing index on orders.created_at",
                "The query went from 480 ms to 12 ms"
            ]
        );
        assert_eq!(
            said.decisions,
            ["I kept the retry in the client instead of the queue, because jobs are not idempotent"]
        );
        assert_eq!(said.next.len(), 1);
        assert_eq!(of_person("Wir nehmen Postgres statt MySQL, weil es schon da ist.").decisions.len(), 1);
    }

    #[test]
    fn a_prompt_that_says_nothing_is_known() {
        for prompt in
            ["continue", "Yes, please.", "ok go ahead", "はい", "ja, mach weiter", "thanks!", "继续"]
        {
            assert!(is_nothing(prompt), "{prompt}");
        }
        for prompt in ["yes, use Redis", "fix it in auth.rs", "why?"] {
            assert!(!is_nothing(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_gist_ends_with_a_sentence() {
        assert_eq!(
            gist(
                "Fix the login page. It shows the wrong name for users. And more that is not needed here.",
                60
            ),
            "Fix the login page. It shows the wrong name for users."
        );
        assert_eq!(
            asked("<command-name>/review</command-name><command-args>src</command-args>", 60),
            "/review src"
        );
        assert_eq!(asked("[Image #1]", 60), "[media prompt]");
    }
}
