//! English words without their endings, by Porter's rules ("An algorithm for suffix stripping", 1980).

/// Words that are shorter keep their endings, in bytes.
const MIN_BYTES: usize = 3;

/// Takes the ending off a word of plain small letters; other words stay as they are. Names with digits are no words.
pub fn stem(word: &mut String) {
    if word.len() < MIN_BYTES || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    plural(word);
    past(word);
    y_to_i(word);
    replace_first(word, &STEP_2, 0);
    replace_first(word, &STEP_3, 0);
    step_4(word);
    step_5(word);
}

/// Returns what a word is as the last part of a compound: `fehl` for `Fehler`, which stays whole by itself, since a longer word
/// loses its ending. Where much more would be lost than by itself (`vers` of `version`), that is what it is by itself.
pub fn stem_of_ending(word: &str) -> String {
    let (mut alone, mut long) = (word.to_owned(), format!("{BEFORE}{word}"));
    stem(&mut alone);
    stem(&mut long);
    let ending = long.strip_prefix(BEFORE).unwrap_or_default();
    let lost = alone.len().saturating_sub(ending.len());
    let most = if ending.len() < ENOUGH_LEFT { 2 } else { 3 };
    if lost <= most { ending.to_owned() } else { alone }
}

/// Of how many letters that are left more may be lost.
const ENOUGH_LEFT: usize = 5;
/// Any beginning of a compound that has enough syllables.
const BEFORE: &str = "anana";

/// Endings and what takes their place.
type Rules = [(&'static str, &'static str)];

/// The longest of several endings comes first.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("ization", "ize"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("entli", "ent"),
    ("ousli", "ous"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("ator", "ate"),
    ("logi", "log"),
    ("eli", "e"),
];
const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];
const STEP_4: [&str; 19] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic", "ou",
];

/// Plurals of two letters; other words of three, such as `ios`, end in their own `s`.
const SHORT_PLURALS: [&str; 8] = ["dbs", "fds", "ids", "mrs", "pcs", "prs", "uis", "vms"];

/// Says whether the letter at `at` is a consonant; `y` is one at the start and after a vowel.
fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

/// Counts how often a consonant follows a vowel: about the number of syllables.
fn measure(stem: &str) -> usize {
    let word = stem.as_bytes();
    (1..word.len()).filter(|at| is_consonant(word, *at) && !is_consonant(word, at - 1)).count()
}

fn has_vowel(stem: &str) -> bool {
    (0..stem.len()).any(|at| !is_consonant(stem.as_bytes(), at))
}

fn ends_in_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    let length = bytes.len();
    length >= 2 && bytes[length - 1] == bytes[length - 2] && is_consonant(bytes, length - 1)
}

/// Says whether it ends in consonant, vowel, consonant, of which the last is not `w`, `x` or `y`: `hop`.
fn ends_short(word: &str) -> bool {
    let bytes = word.as_bytes();
    let length = bytes.len();
    length >= 3
        && is_consonant(bytes, length - 3)
        && !is_consonant(bytes, length - 2)
        && is_consonant(bytes, length - 1)
        && !matches!(bytes[length - 1], b'w' | b'x' | b'y')
}

fn plural(word: &mut String) {
    if word.ends_with("sses") || (word.ends_with("ies") && word.len() > 4) {
        word.truncate(word.len() - 2);
    } else if word.len() <= 3 {
        if SHORT_PLURALS.contains(&word.as_str()) {
            word.truncate(word.len() - 1);
        }
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        word.truncate(word.len() - 1);
    }
}

fn past(word: &mut String) {
    if word.ends_with("eed") {
        if measure(&word[..word.len() - 3]) > 0 {
            word.truncate(word.len() - 1);
        }
        return;
    }
    let stem =
        ["ed", "ing"].iter().find_map(|ending| word.strip_suffix(ending).filter(|stem| has_vowel(stem)));
    let Some(length) = stem.map(str::len) else { return };
    word.truncate(length);
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_in_double_consonant(word) && !matches!(word.as_bytes()[length - 1], b'l' | b's' | b'z') {
        word.pop();
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn y_to_i(word: &mut String) {
    let is_after_consonant = word.len() > 2 && is_consonant(word.as_bytes(), word.len() - 2);
    if word.ends_with('y') && is_after_consonant && has_vowel(&word[..word.len() - 1]) {
        word.pop();
        word.push('i');
    }
}

/// Replaces the first ending that fits, if what goes before it has more than `least` syllables.
fn replace_first(word: &mut String, rules: &Rules, least: usize) {
    let rule =
        rules.iter().find_map(|(ending, instead)| word.strip_suffix(ending).map(|stem| (stem, instead)));
    if let Some((stem, instead)) = rule
        && measure(stem) > least
    {
        let length = stem.len();
        word.truncate(length);
        word.push_str(instead);
    }
}

fn step_4(word: &mut String) {
    let Some((ending, stem)) = STEP_4.iter().find_map(|ending| Some((*ending, word.strip_suffix(ending)?)))
    else {
        return;
    };
    let fits = ending != "ion" || stem.ends_with('s') || stem.ends_with('t');
    if fits && measure(stem) > 1 {
        let length = stem.len();
        word.truncate(length);
    }
}

fn step_5(word: &mut String) {
    if let Some(stem) = word.strip_suffix('e') {
        let syllables = measure(stem);
        if syllables > 1 || (syllables == 1 && !ends_short(stem)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (words, expected) in [
            ("connect connected connecting connection connections", "connect"),
            ("relate related relating", "relat"),
            ("cache caches cached caching", "cach"),
            ("token tokens tokenize", "token"),
            ("verify verified verifies verifying", "verifi"),
            ("happy", "happi"),
            ("hopping hop hops", "hop"),
            ("fail failed failing fails", "fail"),
            ("status", "status"),
            ("bus", "bus"),
            ("address addresses", "address"),
            ("controlling controlled control", "control"),
            ("generalization generalizations", "gener"),
            ("id ids", "id"),
            ("url urls", "url"),
        ] {
            for word in words.split(' ') {
                let mut stemmed = word.to_owned();
                stem(&mut stemmed);
                assert_eq!(stemmed, expected, "{word}");
            }
        }
    }

    #[test]
    fn a_compound_loses_the_ending_of_its_last_part() {
        for (compound, part) in [
            ("verbindungsfehler", "fehler"),
            ("datenbankabfrage", "abfrage"),
            ("netzwerkschnittstelle", "schnittstelle"),
            ("hilfsfunktion", "funktion"),
            ("fehlerbehandlung", "behandlung"),
        ] {
            let mut stemmed = compound.to_owned();
            stem(&mut stemmed);
            let ending = stem_of_ending(part);
            assert!(stemmed.ends_with(&ending) && ending.len() >= 4, "{compound}: {stemmed} {ending}");
        }
        for (word, ending) in
            [("version", "version"), ("table", "tabl"), ("current", "current"), ("größe", "größe")]
        {
            assert_eq!(stem_of_ending(word), ending);
        }
    }

    #[test]
    fn other_words_stay() {
        for word in ["e0382", "über", "is", "sha256", "1.2.3", "ios", "gas", "dns"] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, word);
        }
    }
}
