//! Words as far as they carry what a sentence is about.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// Words that say nothing about what a sentence is about.
const ENGLISH: &[&str] = &[
    "the", "and", "for", "are", "was", "were", "been", "being", "with", "from", "into", "onto", "that",
    "this", "these", "those", "there", "here", "then", "than", "them", "they", "their", "its", "it's", "our",
    "ours", "your", "you", "we", "we'll", "we're", "we've", "let's", "i'll", "i'm", "i've", "i'd", "not",
    "but", "all", "any", "each", "every", "some", "can", "can't", "could", "should", "would", "will",
    "won't", "don't", "doesn't", "didn't", "isn't", "aren't", "has", "have", "had", "does", "did", "done",
    "use", "uses", "used", "using", "only", "just", "also", "too", "very", "more", "most", "now", "yet",
    "still", "until", "because", "since", "when", "where", "which", "what", "who", "how", "why", "out",
    "off", "over", "under", "after", "before", "instead", "rather", "about", "one", "two", "get", "gets",
    "got", "let", "make", "makes", "made", "keep", "keeps", "stay", "stays", "going", "goes", "want", "need",
    "needs", "ok", "okay", "yes", "yeah", "no", "never", "always", "must", "may", "might", "per", "via",
    "like", "so", "as", "at", "be", "by", "do", "go", "if", "in", "is", "it", "me", "my", "of", "on", "or",
    "to", "up", "us", "an", "thing", "things",
];

/// The same in the other languages that people mostly write here.
const OTHERS: &[&str] = &[
    // German
    "der",
    "die",
    "das",
    "den",
    "dem",
    "des",
    "ein",
    "eine",
    "einen",
    "einem",
    "einer",
    "und",
    "oder",
    "aber",
    "wir",
    "ich",
    "sie",
    "ist",
    "sind",
    "war",
    "wird",
    "werden",
    "mit",
    "auf",
    "für",
    "von",
    "bei",
    "nicht",
    "noch",
    "auch",
    "nur",
    "dann",
    "wenn",
    "als",
    "aus",
    "uns",
    "haben",
    "hat",
    "erst",
    "zum",
    "zur",
    "kein",
    "keine",
    "bitte",
    // French
    "les",
    "des",
    "une",
    "est",
    "sont",
    "dans",
    "pour",
    "pas",
    "par",
    "sur",
    "avec",
    "que",
    "qui",
    "nous",
    "vous",
    "elle",
    "mais",
    "plus",
    "cette",
    "aux",
    "son",
    "ses",
    "déjà",
    "encore",
    "être",
    "fait",
    // Spanish and Portuguese
    "los",
    "las",
    "una",
    "uno",
    "con",
    "por",
    "para",
    "del",
    "como",
    "pero",
    "más",
    "mas",
    "este",
    "esta",
    "esto",
    "está",
    "son",
    "hay",
    "que",
    "muy",
    "porque",
    "cuando",
    "nos",
    "sin",
    "sobre",
    "ese",
    "esa",
    "não",
    "nao",
    "uma",
    "com",
    "dos",
    "das",
    "mais",
    "isso",
    "ele",
    "ela",
    "ainda",
    "fica",
    "gente",
    "todavía",
    "ya",
    // Russian
    "это",
    "как",
    "что",
    "для",
    "или",
    "все",
    "так",
    "его",
    "она",
    "они",
    "мы",
    "вы",
    "не",
    "на",
    "по",
    "из",
    "уже",
    "ещё",
    "был",
    "быть",
    "при",
    "если",
    "только",
];

/// Each with whether it is one in English.
static STOP_WORDS: LazyLock<HashMap<&'static str, bool>> = LazyLock::new(|| {
    let of = |words: &'static [&'static str], is_english| words.iter().map(move |word| (*word, is_english));
    of(OTHERS, false).chain(of(ENGLISH, true)).collect()
});

/// Returns whether a word in lower case is so common that it says nothing about a text.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains_key(word)
}

/// Returns whether a word in lower case is so common in English that it says nothing about a text.
pub fn is_english_stop_word(word: &str) -> bool {
    STOP_WORDS.get(word).is_some_and(|is_english| *is_english)
}

/// Returns the words of `text` in lower case. Letters of scripts without spaces come in pairs, so that they can be
/// compared like words.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for character in text.chars().map(|c| if c == '’' { '\'' } else { c }) {
        if is_unspaced(character) {
            take(&mut word, &mut words);
            if let Some(previous) = previous.filter(|previous| is_unspaced(*previous)) {
                words.push([previous, character].iter().collect());
            }
        } else if is_inside_word(character) {
            word.extend(character.to_lowercase());
        } else {
            take(&mut word, &mut words);
        }
        previous = Some(character);
    }
    take(&mut word, &mut words);
    words
}

fn take(word: &mut String, words: &mut Vec<String>) {
    let trimmed = word.trim_matches('\'');
    if !trimmed.is_empty() {
        words.push(trimmed.to_owned());
    }
    word.clear();
}

/// Returns the words that `text` is about, each once. Plurals count as their singular.
pub fn content_words(text: &str) -> BTreeSet<String> {
    words(text).into_iter().filter(|word| is_content(word)).map(|word| stem(&word)).collect()
}

fn is_content(word: &str) -> bool {
    let is_unspaced_pair = word.chars().all(is_unspaced);
    let is_long = word.chars().count() >= 3 || word.chars().any(|c| c.is_ascii_digit());
    (is_unspaced_pair || is_long) && !is_stop_word(word)
}

fn stem(word: &str) -> String {
    let plural =
        word.strip_suffix('s').filter(|stem| stem.len() >= 3 && stem.is_ascii() && !stem.ends_with('s'));
    plural.unwrap_or(word).to_owned()
}

/// Returns whether `character` is a part of a word: letters, digits, the marks that Devanagari writes vowels with, and
/// the apostrophe of contractions.
pub(crate) fn is_inside_word(character: char) -> bool {
    character.is_alphanumeric() || character == '\'' || matches!(character, '\u{900}'..='\u{97f}')
}

/// Returns whether `character` belongs to a script that puts no spaces between words.
pub const fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_what_a_sentence_is_about() {
        let found = content_words("We'll use the Redis caches for 5 tenants, not DynamoDB");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["5", "cache", "dynamodb", "redi", "tenant"]);
        assert_eq!(words("用回调"), ["用回", "回调"]);
        assert_eq!(words("don’t फैसला 'x'"), ["don't", "फैसला", "x"]);
    }
}
