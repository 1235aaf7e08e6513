//! The phrases that distillation and the journal listen for, as files that a person can read and add to.
//!
//! A file is lists under headings: `[heading]`, then phrases with `|` between them; `#` begins a comment. How a phrase is
//! written says [`Phrases`](crate::Phrases).

/// The words of the Node version, and decisions as people speak them.
pub const TIER0: &str = include_str!("../phrases/tier0.txt");
/// What decisions sound like in other languages.
pub const LANGUAGES: &str = include_str!("../phrases/languages.txt");
/// What people say when they settle something.
pub const PEOPLE: &str = include_str!("../phrases/people.txt");
/// What models say about what they found.
pub const MODELS: &str = include_str!("../phrases/models.txt");
/// How people and models talk.
pub const CONVERSATION: &str = include_str!("../phrases/conversation.txt");

/// What the journal listens for: discoveries, decisions of a model, kinds of work, prompts that say nothing.
pub const JOURNAL: &str = include_str!("../phrases/journal.txt");

/// What a handoff listens for between two calls: causes, choices, dead ends, and what a refusal is about.
pub const HANDOFF: &str = include_str!("../phrases/handoff.txt");

/// What gives away a mistake: how people correct, and how models say that they were wrong.
pub const LEARNING: &str = include_str!("../phrases/learning.txt");

/// Returns every phrase of a file with its heading.
pub fn phrases(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut heading = "";
    file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).flat_map(
        move |line| {
            let title = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            heading = title.unwrap_or(heading);
            let phrases = if title.is_some() { "" } else { line };
            phrases
                .split('|')
                .map(str::trim)
                .filter(|phrase| !phrase.is_empty())
                .map(move |phrase| (heading, phrase))
        },
    )
}

/// Returns the phrases under one heading.
pub fn list(file: &'static str, wanted: &'static str) -> impl Iterator<Item = &'static str> {
    phrases(file).filter(move |(heading, _)| *heading == wanted).map(|(_, phrase)| phrase)
}

/// Returns the phrases of a file whose headings are a name and a weight: `[decision 0.7]`.
pub fn weighed(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str, f64)> {
    phrases(file).filter_map(|(heading, phrase)| {
        let (name, weight) = heading.split_once(' ')?;
        Some((name, phrase, weight.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_lists_under_headings() {
        let file = "# comment\n[one]\na b | c\nd\n\n[two 0.5]\n~e";
        let found: Vec<_> = phrases(file).collect();
        assert_eq!(found, [("one", "a b"), ("one", "c"), ("one", "d"), ("two 0.5", "~e")]);
        assert_eq!(list(file, "one").count(), 3);
    }
}
