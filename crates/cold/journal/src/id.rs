//! The ids of entries and summaries: short enough to type, the same whenever a turn is made anew.

use base::digest;

/// How many characters an id has: 40 bits, of which a prefix is enough to name one.
const LENGTH: usize = 8;
/// Digits and letters without those that are taken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns the id of what is made of an observation: of the session that the platform calls `session`, and in it by `anchor`.
pub fn entry_id(platform: &str, session: &str, kind: &str, anchor: &str) -> String {
    let hex = digest::sha256_hex(format!("{platform}\n{session}\n{kind}\n{anchor}").as_bytes());
    let bits = hex.get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or_default();
    let digit = |place: usize| ALPHABET[(bits >> (59 - 5 * place)) as usize & 31];
    (0..LENGTH).map(|place| char::from(digit(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_stable_and_of_its_observation_alone() {
        let id = entry_id("claude-code", "s", "entry", "t:1");
        assert_eq!((id.len(), &id), (8, &entry_id("claude-code", "s", "entry", "t:1")));
        assert!(id.bytes().all(|byte| ALPHABET.contains(&byte)), "{id}");
        for other in [
            entry_id("codex", "s", "entry", "t:1"),
            entry_id("claude-code", "r", "entry", "t:1"),
            entry_id("claude-code", "s", "summary", "t:1"),
            entry_id("claude-code", "s", "entry", "t:2"),
        ] {
            assert_ne!(id, other);
        }
    }
}
