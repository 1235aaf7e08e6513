//! Ids as claude-mem has them: numbers. An id of the journal is 40 bits in 8 characters, so it is a number that every JSON
//! reader keeps whole, and the other way round.

/// Digits and letters of the journal's ids, each by its value.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 8;
/// The first number that no id has.
pub(crate) const END: u64 = 1 << (5 * LENGTH);

/// Returns the number of an id; `None` for what is no id of the journal.
pub(crate) fn of(id: &str) -> Option<u64> {
    if id.len() != LENGTH {
        return None;
    }
    id.bytes().try_fold(0, |number: u64, byte| {
        let digit = ALPHABET.iter().position(|letter| *letter == byte)?;
        Some(number << 5 | digit as u64)
    })
}

/// Returns the id with this number.
pub(crate) fn id(number: u64) -> Option<String> {
    let digit = |place: usize| char::from(ALPHABET[(number >> (5 * (LENGTH - 1 - place))) as usize & 31]);
    (number < END).then(|| (0..LENGTH).map(digit).collect())
}

/// Returns a number for something that has a name but no id, such as a session.
pub(crate) fn of_name(name: &str) -> u64 {
    let hex = base::digest::sha256_hex(name.as_bytes());
    u64::from_str_radix(&hex[..10], 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_number_and_a_number_one_id() {
        for name in ["t:1", "t:2", "x"] {
            let written = journal::entry_id("claude-code", "s", "entry", name);
            let number = of(&written).unwrap();
            assert!(number < END);
            assert_eq!(id(number), Some(written));
        }
        for wrong in ["", "0000000", "0000000i", "000000000", "0000000\u{e9}"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(id(END), None);
    }
}
