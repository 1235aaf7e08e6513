//! SHA-256, as the hexadecimal names that Wyren gives to sessions, projects and files.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the first 16 hexadecimal digits of the SHA-256 of `bytes`: a short, safe file name.
pub fn short_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_sha256() {
        assert_eq!(short_hex(b""), "e3b0c44298fc1c14");
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
