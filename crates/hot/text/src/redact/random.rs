//! Tells random characters from words, fillers and identifiers.

/// The pairs of letters that nearly all English words and identifiers are made of: for each first letter the second ones.
/// Of random letters a third are such pairs.
const PAIRS: [&str; 26] = [
    "bcdgiklmnprstuvy",
    "aeilorsu",
    "acehiklortu",
    "aeiorsu",
    "acdefgilmnprstvwx",
    "aefilou",
    "ehinorsu",
    "aeiot",
    "abcdefglmnoprstvz",
    "",
    "eis",
    "adeilostuy",
    "aeimop",
    "acdefgiknostuv",
    "abcdgiklmnoprstuvw",
    "aeiloprstu",
    "u",
    "acdegikmnorstuy",
    "acehikopstuy",
    "acehilorstuy",
    "abcdeilmnprst",
    "aei",
    "aehinor",
    "pt",
    "s",
    "e",
];

static COMMON: [u32; 26] = {
    let mut common = [0; 26];
    let mut first = 0;
    while first < PAIRS.len() {
        let seconds = PAIRS[first].as_bytes();
        let mut index = 0;
        while index < seconds.len() {
            common[first] |= 1 << (seconds[index] - b'a');
            index += 1;
        }
        first += 1;
    }
    common
};

/// How many pairs of letters say something about a text.
const FEW_PAIRS: usize = 10;

/// Returns whether `value` is made of words: most pairs of its letters are common, and it has few digits.
pub(super) fn is_worded(value: &[u8]) -> bool {
    let (mut pairs, mut common, mut digits) = (0_usize, 0_usize, 0_usize);
    for (index, byte) in value.iter().enumerate() {
        digits += usize::from(byte.is_ascii_digit());
        let Some(next) = value.get(index + 1) else { continue };
        // Between two humps of `camelCase` any letters meet.
        if !byte.is_ascii_alphabetic()
            || !next.is_ascii_alphabetic()
            || (byte.is_ascii_lowercase() && next.is_ascii_uppercase())
        {
            continue;
        }
        let (first, second) = (byte.to_ascii_lowercase() - b'a', next.to_ascii_lowercase() - b'a');
        pairs += 1;
        common += usize::from(COMMON[usize::from(first)] >> second & 1 == 1);
    }
    pairs >= FEW_PAIRS && common * 100 >= pairs * 68 && digits * 8 <= value.len()
}

/// Returns whether `value` fills the place of a secret in documentation: `xxxxxxxx`, `your-key-here`.
pub(super) fn is_filler(value: &[u8]) -> bool {
    const WORDS: &[&[u8]] =
        &[b"xxxxx", b"your", b"placeholder", b"redacted", b"changeme", b"replace", b"goeshere", b"dummy"];
    let mut counts = [0_u8; 128];
    let mut letters = 0_usize;
    for &byte in value.iter().take(200) {
        counts[usize::from(byte & 127)] += 1;
        letters += 1;
    }
    let fills = |byte: u8| usize::from(counts[usize::from(byte)]) * 10 >= letters * 6;
    if letters == 0 || b"xX*0.#-_?".iter().any(|&byte| fills(byte)) {
        return true;
    }
    let mut runs = value.chunk_by(|a, b| a == b);
    if letters >= 16 && runs.all(|run| run.len() >= 4) {
        return true;
    }
    value.iter().enumerate().any(|(at, byte)| {
        // The first letters of the words.
        matches!(byte | 0x20, b'x' | b'y' | b'p' | b'r' | b'c' | b'g' | b'd')
            && WORDS
                .iter()
                .any(|word| value[at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
    })
}

/// Returns whether `value` has lower and upper case letters and digits.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
}

/// Returns whether `value` is `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns whether `value` was drawn at random, as far as that can be seen: letters and digits alternate, or both cases
/// and digits occur, and no words.
pub(super) fn is_random(value: &[u8]) -> bool {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if value.len() < 12 || digits == 0 || letters < 4 {
        return false;
    }
    let changes = value.windows(2).filter(|pair| {
        let (first, second) = (kind(pair[0]), kind(pair[1]));
        first != second && first != 0 && second != 0 && (first == 1 || second == 1)
    });
    (changes.count() >= 4 || (is_mixed(value) && digits >= 2))
        && !is_uuid(value)
        && !is_filler(value)
        && !is_worded(value)
}

/// Returns whether `token`, of 30 random characters and 6 more, ends in the checksum that GitHub and npm append: the CRC-32
/// of the first 30 in base 62.
pub(super) fn has_checksum(token: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some((random, sum)) = token.split_last_chunk::<6>() else { return false };
    if random.len() != 30 {
        return false;
    }
    let mut rest = !random.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    });
    sum.iter().rev().all(|&digit| {
        let expected = DIGITS[(rest % 62) as usize];
        rest /= 62;
        digit == expected
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_random_letters_differ() {
        for words in [
            "requiredCharacteristicTypesForDisplayMetadata",
            "servingcellpriorityparameters",
            "handleAuthenticationCallbackResponse",
            "user-service-account-credentials",
            "production_database_connection",
        ] {
            assert!(is_worded(words.as_bytes()), "{words}");
        }
        for random in [
            "kqzvXwPjTnGcBxHvKrWqZdLf",
            "wjxqkzvbnpfhgtrqmkzxwvqj",
            "QmZkTxWvBnHgRfPqLjDs",
            "a8f3k2j9d7s6g5h4",
        ] {
            assert!(!is_worded(random.as_bytes()), "{random}");
        }
    }

    #[test]
    fn a_checksum_is_right_or_wrong() {
        // The example of the issuer's announcement, with its random part and its sum.
        assert!(has_checksum(concat!("zQWBuTSOoRi4A9spHcVY5ncn", "sDkxkJ0mLq17").as_bytes()));
        assert!(!has_checksum(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18"));
        assert!(!has_checksum(b"0mLq17"));
    }
}
