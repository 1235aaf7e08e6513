//! What is compared of a line: its text without spaces, and how much it says.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Words that any file has at many places.
const COMMON: [&str; 16] = [
    "else", "return", "end", "break", "pass", "try", "begin", "fi", "done", "continue", "finally", "endif",
    "none", "null", "self", "default",
];

/// How many letters and digits a line has that says as much as a line can.
const LONG: f32 = 25.0;

/// A line, as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Of the text without spaces; 0 for a line without any text.
    pub(super) hash: u64,
    /// How many letters and digits it has that say something; at most [`Key::MOST`].
    pub(super) words: u8,
}

impl Key {
    const MOST: u8 = 200;

    pub(super) fn of(text: &str) -> Self {
        let compact = compact(text);
        if compact.is_empty() && text.trim().is_empty() {
            return Self { hash: 0, words: 0 };
        }
        let mut hasher = DefaultHasher::new();
        // What consists of commas and semicolons alone is still no blank line.
        if compact.is_empty() {
            text.trim().hash(&mut hasher)
        } else {
            compact.hash(&mut hasher)
        }
        let letters = compact.trim_matches(|c: char| !c.is_alphanumeric());
        let words = match COMMON.iter().any(|word| word.eq_ignore_ascii_case(letters)) {
            true => 0,
            false => compact.chars().filter(|c| c.is_alphanumeric()).count(),
        };
        Self { hash: hasher.finish().max(1), words: u8::try_from(words).unwrap_or(Self::MOST) }
    }

    /// Returns the hash of a text with its spaces.
    pub(super) fn exact(text: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        text.trim_end().hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn is_blank(self) -> bool {
        self.hash == 0
    }

    /// Returns how much the line says, from 0 to 1.
    pub(super) fn fullness(self) -> f32 {
        (f32::from(self.words) / LONG).min(1.0)
    }

    /// Returns whether the line alone says where it is from.
    pub(super) fn is_telling(self) -> bool {
        self.words >= 6
    }
}

/// Returns a text without what formatters change: spaces, the kind of quotes, commas and semicolons.
pub(super) fn compact(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | ';'));
    kept.map(|c| if matches!(c, '\'' | '`') { '"' } else { c }).collect()
}

/// Returns the text of a line of a notebook, which has each line of its cells as a string of JSON.
pub fn of_notebook(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    let source: String = serde_json::from_str(text).ok()?;
    Some(source.trim_end_matches('\n').to_owned())
}

/// Returns the names in lines of code that say something: of several words, or of one that is long.
pub(super) fn names<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let words = lines.iter().flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let is_compound = |word: &str| {
        let inner = word.trim_matches('_');
        inner.contains('_')
            || inner.chars().skip(1).any(char::is_uppercase) && inner.chars().any(char::is_lowercase)
    };
    let mut names: Vec<&str> = words.filter(|word| word.len() >= 6 && is_compound(word)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
