//! Makes a clean line of a sentence as it was spoken.

use std::sync::LazyLock;

use language::lexicon::{self, CONVERSATION};

/// Beginnings of speech and what a line says instead.
const SPOKEN: &[(&str, &str)] = &[
    ("let's go with ", "Use "),
    ("lets go with ", "Use "),
    ("we're going with ", "Use "),
    ("we'll go with ", "Use "),
    ("i've decided we ", "We "),
    ("i've decided to ", ""),
    ("i decided to ", ""),
    ("we've decided to ", ""),
    ("we decided to ", ""),
    ("let's ", ""),
    ("lets ", ""),
    ("we'll ", ""),
    ("we will ", ""),
    ("i want you to ", ""),
    ("i'd like you to ", ""),
    ("you can ", ""),
    ("go with ", "Use "),
    ("vamos con ", ""),
    ("wir nehmen ", ""),
    ("on part sur ", ""),
];

/// Ends of speech that say nothing.
const ENDINGS: &[&str] = &[
    " please",
    " thx",
    " thanks",
    " lol",
    " ok",
    " btw",
    " though",
    " haha",
    " bitte",
    " merci",
    " por favor",
    " xd",
    " :)",
    " ;)",
];

/// Returns the sentence as an entry says it.
pub(super) fn line(sentence: &str) -> String {
    let mut text = sentence.trim();
    while let Some(rest) = without_interjection(text) {
        text = rest;
    }
    let lowered = text.to_lowercase();
    let spoken = SPOKEN.iter().find(|(beginning, _)| lowered.starts_with(beginning));
    let mut line = match spoken {
        // Lower case keeps the length of these beginnings: they are ASCII.
        Some((beginning, replacement)) => format!("{replacement}{}", &text[beginning.len()..]),
        None => text.to_owned(),
    };
    while let Some(ending) = ENDINGS.iter().find(|ending| line.to_lowercase().ends_with(*ending)) {
        line.truncate(line.len() - ending.len());
    }
    capitalised(line.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–' | '—' | '，' | '、' | '.')
    }))
}

fn without_interjection(text: &str) -> Option<&str> {
    static INTERJECTIONS: LazyLock<Vec<&str>> =
        LazyLock::new(|| lexicon::list(CONVERSATION, "interjection").collect());
    static BEFORE_COMMA: LazyLock<Vec<&str>> =
        LazyLock::new(|| lexicon::list(CONVERSATION, "before comma").collect());
    let is_mark = |c: char| {
        c.is_whitespace() || matches!(c, ',' | '.' | '!' | ':' | ';' | '-' | '–' | '—' | '，' | '、' | '…')
    };
    let beginning_of = |words: &[&str], needs_mark: bool| {
        words
            .iter()
            .filter_map(|word| {
                let start = text.get(..word.len())?;
                let rest = &text[word.len()..];
                let next = rest.chars().next()?;
                let ends = if needs_mark { is_mark(next) && !next.is_whitespace() } else { is_mark(next) };
                (start.to_lowercase() == *word && ends).then(|| rest.trim_start_matches(is_mark))
            })
            .min_by_key(|rest| rest.len())
    };
    beginning_of(&INTERJECTIONS, false)
        .or_else(|| beginning_of(&BEFORE_COMMA, true))
        .filter(|rest| !rest.is_empty())
}

/// Returns the line with a capital letter, unless it begins with a name that is written small.
fn capitalised(line: &str) -> String {
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_word =
        first.trim_end_matches([',', ':']).chars().all(|c| c.is_lowercase() || c == '\'' || c == '-');
    let mut characters = line.chars();
    match characters.next() {
        Some(initial) if is_word => initial.to_uppercase().chain(characters).collect(),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: &str) {
        assert_eq!(line(sentence), expected);
    }

    #[test]
    fn chat_is_taken_off() {
        check("ok, let's go with dark mode please", "Use dark mode");
        check("yeah leave the iframe light for now", "Leave the iframe light for now");
        check("no, dark by default", "Dark by default");
        check("no flag, we do it in one go", "No flag, we do it in one go");
        check("we'll stay on dynamodb locking", "Stay on dynamodb locking");
        check("好，我们决定用本地存储", "我们决定用本地存储");
        check("tsc_config stays", "tsc_config stays");
        check("and so but", "But");
    }
}
