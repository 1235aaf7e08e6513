//! Words of a question that say little about what is looked for.

/// What a word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It says what is looked for.
    Content,
    /// It only frames the question.
    Framing,
    /// It holds a sentence together.
    Joining,
    /// It does so in another language than English.
    OtherLanguage,
}

/// Words that hold a sentence together, which the general list of common words leaves out: there they may matter.
const JOINING: [&str; 123] = [
    "a",
    "about",
    "above",
    "across",
    "after",
    "again",
    "against",
    "ain",
    "along",
    "also",
    "although",
    "am",
    "among",
    "an",
    "and",
    "any",
    "aren",
    "around",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "by",
    "cannot",
    "could",
    "couldn",
    "de",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "don",
    "done",
    "during",
    "each",
    "either",
    "else",
    "ever",
    "few",
    "had",
    "hadn",
    "has",
    "hasn",
    "have",
    "haven",
    "having",
    "he",
    "her",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "however",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "mustn",
    "my",
    "myself",
    "needn",
    "no",
    "nor",
    "of",
    "off",
    "on",
    "or",
    "other",
    "our",
    "own",
    "same",
    "shall",
    "shan",
    "she",
    "should",
    "shouldn",
    "so",
    "such",
    "than",
    "themselves",
    "then",
    "therefore",
    "though",
    "through",
    "throughout",
    "thus",
    "to",
    "too",
    "under",
    "up",
    "upon",
    "us",
    "wasn",
    "we",
    "weren",
    "whether",
    "while",
    "whom",
    "whose",
    "within",
    "without",
    "would",
    "wouldn",
    "yourself",
];

/// Words that people ask with; the text that they look for need not have them.
const ASKING: [&str; 46] = [
    "already",
    "anybody",
    "anyone",
    "anything",
    "asked",
    "conversation",
    "conversations",
    "describe",
    "described",
    "discuss",
    "discussed",
    "discussion",
    "earlier",
    "everything",
    "explain",
    "find",
    "finding",
    "found",
    "give",
    "happened",
    "information",
    "know",
    "last",
    "look",
    "looking",
    "mention",
    "mentioned",
    "ones",
    "please",
    "previous",
    "previously",
    "recent",
    "recently",
    "regarding",
    "related",
    "remember",
    "remind",
    "said",
    "say",
    "somebody",
    "someone",
    "something",
    "talked",
    "tell",
    "told",
    "wondering",
];

/// Returns what a word, in lower case, is for.
pub(super) fn role_of(word: &str) -> Role {
    if JOINING.binary_search(&word).is_ok() || language::is_english_stop_word(word) {
        Role::Joining
    } else if language::is_stop_word(word) {
        Role::OtherLanguage
    } else if ASKING.binary_search(&word).is_ok() {
        Role::Framing
    } else {
        Role::Content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_can_be_searched_by_halves() {
        assert!(JOINING.is_sorted() && ASKING.is_sorted());
    }

    #[test]
    fn each_word_has_its_role() {
        for (word, role) in [
            ("between", Role::Joining),
            ("the", Role::Joining),
            ("doesn", Role::Joining),
            ("nicht", Role::OtherLanguage),
            ("hat", Role::OtherLanguage),
            ("mentioned", Role::Framing),
            ("boundary", Role::Content),
        ] {
            assert_eq!(role_of(word), role, "{word}");
        }
    }
}
