//! Composes letters and combining marks, so that a text typed on one system equals the same text typed on another.
//!
//! Some systems write `é` as one character, some as `e` and a mark. This covers the lower-case letters of common
//! languages, in place of the Unicode tables, which are too large for a hot hook.

/// A mark, the letters it is put on, and what they become.
const MARKED: &[(char, &str, &str)] = &[
    ('\u{300}', "aeiounwy", "àèìòùǹẁỳ"),
    ('\u{301}', "acegiklmnoprsuwyz", "áćéǵíḱĺḿńóṕŕśúẃýź"),
    ('\u{302}', "aceghijosuwyz", "âĉêĝĥîĵôŝûŵŷẑ"),
    ('\u{303}', "aeinouvy", "ãẽĩñõũṽỹ"),
    ('\u{304}', "aeiou", "āēīōū"),
    ('\u{306}', "aegiouи", "ăĕğĭŏŭй"),
    ('\u{307}', "cegz", "ċėġż"),
    ('\u{308}', "aeiouyеі", "äëïöüÿёї"),
    ('\u{30a}', "au", "åů"),
    ('\u{30b}', "ou", "őű"),
    ('\u{30c}', "cdelnrstz", "čďěľňřšťž"),
    ('\u{326}', "st", "șț"),
    ('\u{327}', "cst", "çşţ"),
    ('\u{328}', "aeiu", "ąęįų"),
    (
        '\u{3099}',
        "かきくけこさしすせそたちつてとはひふへほカキクケコサシスセソタチツテトハヒフヘホ",
        "がぎぐげござじずぜぞだぢづでどばびぶべぼガギグゲゴザジズゼゾダヂヅデドバビブベボ",
    ),
    ('\u{309a}', "はひふへほハヒフヘホ", "ぱぴぷぺぽパピプペポ"),
];

/// Returns the one character that `letter` and the `mark` after it are, when there is one.
pub(crate) fn compose(letter: char, mark: char) -> Option<char> {
    let (_, letters, composed) = MARKED.iter().find(|(known, ..)| *known == mark)?;
    letters.chars().zip(composed.chars()).find_map(|(plain, marked)| (plain == letter).then_some(marked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_its_marked_form() {
        for (mark, letters, composed) in MARKED {
            assert_eq!(letters.chars().count(), composed.chars().count(), "U+{:X}", *mark as u32);
        }
        assert_eq!(compose('o', '\u{308}'), Some('ö'));
        assert_eq!(compose('z', '\u{30c}'), Some('ž'));
        assert_eq!(compose('q', '\u{301}'), None);
    }
}
