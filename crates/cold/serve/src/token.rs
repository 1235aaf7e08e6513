//! The token: 32 random bytes in a file of the user's own, made with the first server and kept.
//!
//! A program that wants something sends it. `wyren serve stop` does not send it to a program that it does not know: the server
//! first proves that it has the same one.

use crate::Error;
use base::{Paths, digest, files, system};
use std::path::PathBuf;

/// The length in hexadecimal digits.
const DIGITS: usize = 64;

/// Returns the file of the token.
pub fn file(paths: &Paths) -> PathBuf {
    paths.data().join("serve/token")
}

/// Returns the token, if one was made.
pub fn read(paths: &Paths) -> Option<String> {
    let text = files::read_text_capped(&file(paths), DIGITS + 2).ok()?;
    let text = text.trim();
    (text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

/// Returns the token; makes one where there is none.
pub fn ensure(paths: &Paths) -> Result<String, Error> {
    if let Some(token) = read(paths) {
        return Ok(token);
    }
    let path = file(paths);
    let made = (|| {
        let mut bytes = [0; DIGITS / 2];
        system::random(&mut bytes)?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        files::create_private_folder(path.parent().unwrap_or(paths.data()))?;
        files::write_atomic(&path, format!("{token}\n").as_bytes())?;
        Ok(token)
    })();
    made.map_err(|source| Error::Token { path, source })
}

/// Returns whether two texts are the same, in a time that does not depend on where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (digest::sha256_hex(one.as_bytes()), digest::sha256_hex(other.as_bytes()));
    one.bytes().zip(other.bytes()).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

/// Returns what proves that a server has the token, for a word that it could not know before.
pub(crate) fn proof(token: &str, word: &str) -> String {
    digest::sha256_hex(format!("wyren serve\n{word}\n{token}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    #[test]
    fn a_token_is_made_once_and_a_damaged_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        assert_eq!(read(&paths), None);
        let token = ensure(&paths).unwrap();
        assert_eq!((token.len(), ensure(&paths).unwrap()), (DIGITS, token.clone()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(file(&paths)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(file(&paths), "short").unwrap();
        assert_ne!(ensure(&paths).unwrap(), token);
    }

    #[test]
    fn texts_are_the_same_or_not_and_a_proof_is_of_its_word() {
        assert!(is_same("abc", "abc") && !is_same("abc", "abd") && !is_same("abc", "abcd"));
        assert_ne!(proof("t", "a"), proof("t", "b"));
        assert_ne!(proof("t", "a"), proof("u", "a"));
    }
}
