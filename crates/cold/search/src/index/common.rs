//! Words of a question that say little about what is looked for.

/// How much a word counts that only frames a question.
pub(super) const FRAMING: f64 = 0.25;

/// Words that hold a sentence together, which the general list of common words leaves out: there they may matter.
const JOINING: [&str; 86] = [
    "a", "about", "above", "across", "after", "again", "against", "along", "also", "am", "among", "an",
    "and", "any", "around", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "by", "could", "de", "did", "do", "does", "done", "during", "each", "either", "else", "ever",
    "few", "had", "has", "have", "having", "he", "her", "him", "his", "i", "if", "in", "into", "is", "it",
    "its", "may", "me", "might", "more", "most", "must", "my", "no", "nor", "of", "off", "on", "or", "other",
    "our", "own", "same", "shall", "should", "so", "such", "than", "then", "to", "too", "under", "up",
    "upon", "us", "we", "whose", "within", "would",
];

/// Words that ask rather than name: who looks for something uses them, what is looked for need not have them.
const ASKING: [&str; 75] = [
    "already",
    "anybody",
    "anyone",
    "anything",
    "article",
    "articles",
    "asked",
    "available",
    "concerning",
    "conversation",
    "conversations",
    "dealing",
    "describe",
    "described",
    "discuss",
    "discussed",
    "discussion",
    "document",
    "documents",
    "earlier",
    "everything",
    "exist",
    "existing",
    "exists",
    "explain",
    "find",
    "finding",
    "found",
    "get",
    "give",
    "given",
    "happened",
    "information",
    "kind",
    "know",
    "known",
    "last",
    "list",
    "look",
    "looking",
    "mention",
    "mentioned",
    "note",
    "notes",
    "ones",
    "paper",
    "papers",
    "please",
    "possible",
    "previous",
    "previously",
    "recent",
    "recently",
    "reference",
    "references",
    "regarding",
    "related",
    "relating",
    "remember",
    "remind",
    "report",
    "reports",
    "said",
    "say",
    "search",
    "show",
    "somebody",
    "someone",
    "something",
    "talked",
    "tell",
    "thing",
    "things",
    "told",
    "wondering",
];

/// Says whether a word, in lower case, says nothing at all.
pub(super) fn is_joining(word: &str) -> bool {
    JOINING.binary_search(&word).is_ok() || language::is_stop_word(word)
}

/// Says whether a word, in lower case, only frames the question.
pub(super) fn is_asking(word: &str) -> bool {
    ASKING.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_can_be_searched_by_halves() {
        assert!(JOINING.is_sorted() && ASKING.is_sorted());
        assert!(is_joining("between") && is_joining("the") && !is_joining("boundary"));
        assert!(is_asking("wondering") && !is_asking("wonder"));
    }
}
