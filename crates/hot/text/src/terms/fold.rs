//! Letters without case and accents.

use unicode_normalization::char::decompose_canonical;

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
            // Signs of Devanagari are letters, not ornaments.
            '\u{900}'..='\u{97f}' => folded.push(letter),
            _ => decompose_canonical(letter, |part| {
                if !matches!(part, '\u{300}'..='\u{36f}') {
                    folded.push(part);
                }
            }),
        }
    }
}

/// Returns the plain form of a full-width letter.
fn plain_width(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        _ => letter,
    }
}
