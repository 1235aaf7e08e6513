//! Splits a message into sentences, without code, quotations, headings and tables.

use memory::hygiene;

use crate::words::is_unspaced;

/// A sentence, without the mark at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    pub is_question: bool,
}

/// Returns the sentences of a message.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let text = hygiene::without_code(text);
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let is_of_layout = line.starts_with(['>', '|', '#']) || line.starts_with("    ");
        if is_of_layout {
            continue;
        }
        let line = without_number(hygiene::without_bullet(line)).replace("**", "");
        split_line(&line, &mut found);
    }
    found
}

fn split_line(line: &str, found: &mut Vec<Sentence>) {
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let is_end = match character {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                next.is_none_or(|next| next.is_whitespace() || is_unspaced(next))
                    && !is_abbreviation(&line[start..at])
            }
            // A dash or a semicolon between spaces parts what could be two sentences.
            ';' => next.is_some_and(char::is_whitespace),
            _ => false,
        };
        if is_end {
            push(&line[start..at], matches!(character, '?' | '？'), found);
            start = at + character.len_utf8();
        }
    }
    push(&line[start..], false, found);
}

fn push(text: &str, is_question: bool, found: &mut Vec<Sentence>) {
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '!' | '?' | '…'));
    if text.chars().any(char::is_alphanumeric) {
        found.push(Sentence { text: text.to_owned(), is_question: is_question || text.starts_with('¿') });
    }
}

/// Returns whether the dot behind `before`, the sentence so far, ends no sentence: `e.g.`, `am 17. November`.
pub fn is_abbreviation(before: &str) -> bool {
    let mut words = before.rsplit(|c: char| c.is_whitespace() || c == '(');
    let last = words.next().unwrap_or_default().to_lowercase();
    let is_short_number = (1..=2).contains(&last.len()) && last.bytes().all(|byte| byte.is_ascii_digit());
    if is_short_number {
        let article = words.next().unwrap_or_default().to_lowercase();
        return BEFORE_ORDINALS.contains(&article.as_str());
    }
    matches!(
        last.as_str(),
        "e.g" | "i.e" | "eg" | "ie" | "etc" | "vs" | "approx" | "z.b" | "bzw" | "ca" | "no" | "p.ex" | "ej"
    ) && before.len() > last.len()
}

/// What comes before an ordinal in German, which is written with a dot.
const BEFORE_ORDINALS: [&str; 14] =
    ["am", "dem", "den", "der", "die", "das", "des", "vom", "zum", "zur", "bis", "ab", "seit", "jeden"];

/// Returns `line` without the number of a list: `1. text`, `2) text`.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    rest.filter(|_| digits > 0).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = sentences(text)
            .into_iter()
            .map(|sentence| sentence.text + if sentence.is_question { "?" } else { "" })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        check("ok. pin it to 5.60! why? because", &["ok", "pin it to 5.60", "why?", "because"]);
        check("1. use `x`, e.g. now\n- two\n> quoted\n```\ncode.\n```", &["use `x`, e.g. now", "two"]);
        check("我们用回调。可以吗？好", &["我们用回调", "可以吗?", "好"]);
        check("¿vale", &["¿vale?"]);
        check(
            "Seit dem 17. November ist Port 25 zu. Wir nehmen 587.",
            &["Seit dem 17. November ist Port 25 zu", "Wir nehmen 587"],
        );
        check("It was port 25. Now it is 587.", &["It was port 25", "Now it is 587"]);
    }
}
