//! SHA-256, as the hexadecimal names that Wyren gives to sessions, projects and files.

use sha2::{Digest as _, Sha256};
use std::sync::OnceLock;

/// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// How long an input may be for [`short_hex`] to remember it, in bytes: the id of a session is shorter.
const MAX_REMEMBERED: usize = 64;

/// Returns the first 16 hexadecimal digits of the SHA-256 of `bytes`: a short, safe file name.
///
/// The first short input of the process is remembered: a hook names its session several times, and the digest is one
/// of the dearest things that it does.
pub fn short_hex(bytes: &[u8]) -> String {
    static FIRST: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    let name = || hex(&Sha256::digest(bytes)[..8]);
    if bytes.len() > MAX_REMEMBERED {
        return name();
    }
    let (first, remembered) = FIRST.get_or_init(|| (bytes.to_vec(), name()));
    if first == bytes { remembered.clone() } else { name() }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_sha256() {
        for _ in 0..2 {
            assert_eq!(short_hex(b""), "e3b0c44298fc1c14");
            assert_eq!(short_hex(b"abc"), "ba7816bf8f01cfea");
            assert_eq!(short_hex(&[b'a'; 100]), sha256_hex(&[b'a'; 100])[..16]);
        }
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
