//! What makes two entries the same one, and how alike two different ones are.
//!
//! The identity of an entry is its text without what people and models change in passing: case, white space,
//! emphasis, quotation marks and dashes of another shape, invisible characters, punctuation at the end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use text::sanitize;

use crate::compose::compose;
use crate::memory::Entry;

/// From here on a removed and an added entry of one section are one entry, reworded.
pub(crate) const REWORDED: f64 = 0.5;

/// From here on two entries say the same in other words, unless a number or a negation tells them apart.
const NEAR_DUPLICATE: f64 = 0.85;

/// Words that turn a sentence into its opposite.
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "don", "doesn", "isn", "won", "without", "nicht", "kein", "keine", "nie", "ohne",
    "pas", "jamais", "sans", "ne", "nunca", "sin", "non", "mai", "não", "sem", "не", "нет", "без", "不",
    "没", "無", "无", "非",
];

/// Returns the text that an entry is known by.
pub fn identity(text: &str) -> String {
    let text = without_emphasis(sanitize::sanitize(text));
    let identity = if text.is_ascii() { folded_ascii(&text) } else { folded(&text) };
    if identity.is_empty() {
        // Nothing but marks: then the marks are what it says.
        return text.trim().to_owned();
    }
    identity
}

/// Does for ASCII what `folded` does for any text. Most entries are, and every hook waits for this.
fn folded_ascii(text: &str) -> String {
    let mut bytes = text.to_ascii_lowercase().into_bytes();
    let mut length = 0;
    let mut is_spaced = true;
    for at in 0..bytes.len() {
        let byte = bytes[at];
        let is_space = byte <= b' ';
        bytes[length] = if is_space { b' ' } else { byte };
        length += usize::from(byte != b'`' && !(is_space && is_spaced));
        is_spaced = is_space || byte == b'`' && is_spaced;
    }
    bytes.truncate(length);
    while bytes.pop_if(|byte| ends_loosely(char::from(*byte))).is_some() {}
    // ASCII in, ASCII out.
    String::from_utf8(bytes).unwrap_or_default()
}

fn folded(text: &str) -> String {
    let mut identity = String::with_capacity(text.len());
    for character in text.chars() {
        let folded = match character {
            '`' => continue,
            '!'..='~' => character.to_ascii_lowercase(),
            _ if character.is_whitespace() => {
                if !identity.is_empty() && !identity.ends_with(' ') {
                    identity.push(' ');
                }
                continue;
            }
            '‘' | '’' | '‚' | '‛' => '\'',
            '“' | '”' | '„' | '‟' | '«' | '»' => '"',
            '‐'..='―' | '−' => '-',
            'ς' => 'σ',
            _ => {
                match identity.chars().next_back().and_then(|letter| compose(letter, character)) {
                    Some(composed) => {
                        identity.pop();
                        identity.push(composed);
                    }
                    None => identity.extend(character.to_lowercase()),
                }
                continue;
            }
        };
        identity.push(folded);
    }
    identity.truncate(identity.trim_end_matches(ends_loosely).len());
    identity
}

fn ends_loosely(character: char) -> bool {
    matches!(character, '.' | ',' | ';' | ':' | '!' | '…' | '。' | '，' | '；' | '：' | '！' | '、')
        || character.is_whitespace()
}

/// Removes the marks of emphasis that come in pairs around words; `*.rs` and `snake_case` keep theirs.
fn without_emphasis(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.bytes().any(is_mark) {
        return text;
    }
    let bytes = text.as_bytes();
    let mut open: Vec<&[u8]> = Vec::new();
    let mut open_at: Vec<usize> = Vec::new();
    let mut removed: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| is_mark(*byte)) {
        at += next;
        let length = bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count();
        let run = &bytes[at..at + length];
        let before = text[..at].chars().next_back();
        let after = text[at + length..].chars().next();
        let is_text = |side: Option<char>| side.is_some_and(|c| !c.is_whitespace());
        let is_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        let opener = open.iter().rposition(|opened| *opened == run);
        match opener {
            Some(opener) if is_text(before) && !is_word(after) => {
                removed.extend([(open_at[opener], length), (at, length)]);
                open.truncate(opener);
                open_at.truncate(opener);
            }
            // Deeper nesting than this is no emphasis; the bound keeps hostile text linear.
            _ if is_text(after) && !is_word(before) && open.len() < 16 => {
                open.push(run);
                open_at.push(at);
            }
            _ => {}
        }
        at += length;
    }
    if removed.is_empty() {
        return text;
    }
    removed.sort_unstable();
    let mut plain = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, length) in removed {
        plain.push_str(&text[copied..start]);
        copied = start + length;
    }
    plain.push_str(&text[copied..]);
    Cow::Owned(plain)
}

const fn is_mark(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'~')
}

/// The identities of many entries, each as a number. Versions of one memory have most entries in common to the
/// byte, so that a look at the bytes saves most of the work.
#[derive(Debug, Default)]
pub(crate) struct Identities<'a> {
    by_body: HashMap<&'a str, usize>,
    by_identity: HashMap<Rc<str>, usize>,
    identities: Vec<Rc<str>>,
}

impl<'a> Identities<'a> {
    /// Returns the number of the entry: equal for entries of equal identity.
    pub(crate) fn number(&mut self, entry: &'a Entry) -> usize {
        *self.by_body.entry(entry.body()).or_insert_with(|| {
            let identity: Rc<str> = entry.identity().into();
            *self.by_identity.entry(Rc::clone(&identity)).or_insert_with(|| {
                self.identities.push(identity);
                self.identities.len() - 1
            })
        })
    }

    /// Returns the identity that got `number`.
    pub(crate) fn identity(&self, number: usize) -> &str {
        &self.identities[number]
    }
}

/// The words of an identity as a sorted set. Scripts without spaces count each character as a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(Vec<u64>);

impl Words {
    pub(crate) fn of(identity: &str) -> Self {
        let mut words: Vec<u64> = each_word(identity).map(hash).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Returns the Dice coefficient of the two sets: twice what they share over what they have.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        let total = self.0.len() + other.0.len();
        if total == 0 {
            return 0.0;
        }
        let (mut left, mut right, mut shared) = (0, 0, 0);
        while let (Some(one), Some(two)) = (self.0.get(left), other.0.get(right)) {
            shared += usize::from(one == two);
            left += usize::from(one <= two);
            right += usize::from(two <= one);
        }
        (2 * shared) as f64 / total as f64
    }
}

/// Returns how alike two texts are, from 0 to 1: the Dice coefficient of their sets of words.
pub fn similarity(one: &str, two: &str) -> f64 {
    Words::of(&identity(one)).similarity(&Words::of(&identity(two)))
}

/// Returns whether two texts say the same: equal in identity, or alike without another number or negation.
pub fn is_near_duplicate(one: &str, two: &str) -> bool {
    let (one, two) = (identity(one), identity(two));
    if one == two {
        return true;
    }
    let tells_apart = |text: &str, other: &str| {
        each_word(text).any(|word| {
            let weighs = word.chars().any(char::is_numeric) || NEGATIONS.contains(&word);
            weighs && !each_word(other).any(|candidate| candidate == word)
        })
    };
    Words::of(&one).similarity(&Words::of(&two)) >= NEAR_DUPLICATE
        && !tells_apart(&one, &two)
        && !tells_apart(&two, &one)
}

fn each_word(text: &str) -> impl Iterator<Item = &str> {
    let (ascii, other) = if text.is_ascii() { (text, "") } else { ("", text) };
    let is_between = |byte: char| !byte.is_ascii_alphanumeric();
    ascii.split(is_between).filter(|word| !word.is_empty()).chain(each_word_of_any_script(other))
}

fn each_word_of_any_script(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let first = rest.chars().next()?;
        let end = if is_unspaced(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| !c.is_alphanumeric() || is_unspaced(c)).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Returns whether the character belongs to a script that puts no spaces between words.
const fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// FNV-1a: the same number on every machine, which the order of pairs depends on.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_change_in_passing_is_no_part_of_the_identity() {
        for (one, two) in [
            ("Use  Postgres.", "use postgres"),
            ("**Use** `Postgres` for *queues*", "use postgres for queues"),
            ("don’t use “X” — ever", "Don't use \"X\" - ever!"),
            ("Cafe\u{301} ÜBER", "café u\u{308}ber"),
            ("ΟΔΟΣ", "οδος"),
            ("a\u{200b}b", "ab"),
            ("wrapped\n  line", "wrapped line"),
            ("__bold__: x…", "bold: x"),
        ] {
            assert_eq!(identity(one), identity(two), "{one} / {two}");
        }
    }

    #[test]
    fn ascii_is_folded_like_any_text() {
        for text in ["", " ", "a  b", " `A` ` b`\t\nc . ", "x`` `", "END!;:", "` `"] {
            assert_eq!(folded_ascii(text), folded(text), "{text:?}");
        }
    }

    #[test]
    fn what_carries_meaning_stays() {
        for (one, two) in [
            ("ignore *.rs", "ignore .rs"),
            ("snake_case", "snakecase"),
            ("2 * 3 * 4", "2 3 4"),
            ("schon", "schön"),
            ("use X?", "use X"),
            ("...", "!!!"),
            ("*.rs and *.toml", ".rs and .toml"),
        ] {
            assert_ne!(identity(one), identity(two), "{one} / {two}");
        }
        assert!(!identity("**").is_empty());
    }

    #[test]
    fn alike_means_words_in_common() {
        assert!(similarity("Use Postgres for the queue", "Use Postgres for queues, not Redis") >= REWORDED);
        assert!(similarity("使用数据库作为队列", "使用数据库作为缓存") >= REWORDED);
        assert!(similarity("Use Postgres", "Deploy on Fridays") < REWORDED);
        assert!(similarity("", "") < REWORDED);
    }

    #[test]
    fn another_number_or_a_negation_is_another_entry() {
        let long = "the staging database runs on Postgres 15 in the region eu west with replicas";
        assert!(is_near_duplicate(long, &long.replace("the region", "region")));
        assert!(!is_near_duplicate(long, &long.replace("15", "16")));
        assert!(!is_near_duplicate(
            "we do deploy the payments service on fridays after lunch",
            "we do not deploy the payments service on fridays after lunch",
        ));
    }
}
