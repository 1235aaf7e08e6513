//! Letters without case and accents.

use unicode_normalization::char::{compose, decompose_canonical};

/// Adds a letter to `folded`, in lower case and without accents.
pub(super) fn fold_into(letter: char, folded: &mut String) {
    if letter.is_ascii() {
        folded.push(letter.to_ascii_lowercase());
        return;
    }
    for letter in plain_width(letter).to_lowercase() {
        match letter {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            'þ' => folded.push_str("th"),
            'ﬀ' => folded.push_str("ff"),
            'ﬁ' => folded.push_str("fi"),
            'ﬂ' => folded.push_str("fl"),
            'ﬃ' => folded.push_str("ffi"),
            'ﬄ' => folded.push_str("ffl"),
            'ﬅ' | 'ﬆ' => folded.push_str("st"),
            // As Arabic is typed: without a difference between these, and Persian with the same letters.
            'ى' | 'ی' => folded.push('ي'),
            'ة' => folded.push('ه'),
            'ک' => folded.push('ك'),
            // Signs of Devanagari are letters, not ornaments.
            '\u{900}'..='\u{97f}' => folded.push(letter),
            _ => decompose_canonical(letter, |part| {
                if !is_ornament(part) {
                    folded.push(part);
                }
            }),
        }
    }
}

/// Says whether a character only adorns the letter before it (accents, points of Hebrew and Arabic, a stretched line), or is not
/// seen at all.
pub(super) fn is_ornament(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{ad}' | '\u{200b}' | '\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns the letter that two parts of one make, of the scripts whose letters come in pairs: syllables of Korean, and voiced ones of
/// Japanese.
pub(super) fn composed(letter: char, next: char) -> Option<char> {
    let is_part = matches!(next, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}' | '\u{3099}' | '\u{309a}');
    if is_part { compose(letter, next) } else { None }
}

/// Returns the plain form of a full-width letter.
fn plain_width(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        _ => letter,
    }
}
