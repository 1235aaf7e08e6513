//! `secret` in the data folder: 32 random bytes of this installation, made once.
//!
//! The fence around text of others carries a word that is derived from it. Only hooks that show such text read it. It
//! is never exported, logged or synced; a new one takes its place when it is removed.

use crate::{Paths, digest, files, system};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;

/// The length of the secret, in bytes.
const BYTES: usize = 32;

/// The length of a word, in hexadecimal digits.
const WORD_DIGITS: usize = 16;

type Secret = [u8; BYTES];

/// Returns the word for the fences of a session: always the same one for the same session, and another one for another
/// session or installation.
pub fn word(paths: &Paths, session: &str) -> String {
    static OF_PROCESS: OnceLock<Secret> = OnceLock::new();
    let file = paths.secret();
    let secret = read(&file).or_else(|| make(&file).ok());
    // Where nothing can be kept, the word of this process is as hard to guess.
    let secret = secret.unwrap_or_else(|| *OF_PROCESS.get_or_init(random));
    let mut word = digest::sha256_hex(&[&secret, b"fence\0".as_slice(), session.as_bytes()].concat());
    word.truncate(WORD_DIGITS);
    word
}

/// Reads the secret; `None` when there is none that is whole.
fn read(file: &Path) -> Option<Secret> {
    let mut bytes = Vec::with_capacity(BYTES + 1);
    files::read_start(file, BYTES + 1, &mut bytes).ok()?;
    bytes.try_into().ok()
}

/// Makes the secret. Of two processes that make one at the same time, both return that of the first.
fn make(file: &Path) -> io::Result<Secret> {
    let folder = file.parent().unwrap_or(Path::new("."));
    files::create_private_folder(folder)?;
    let damaged = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let secret = random();
    if damaged {
        files::write_atomic(file, &secret)?;
    } else {
        // Written whole before it has its name: a process that dies in between leaves no half of a secret.
        let temporary = folder.join(format!(".secret.{}.tmp", std::process::id()));
        let mut new = files::private_options().write(true).create_new(true).open(&temporary)?;
        let linked = new.write_all(&secret).and_then(|()| fs::hard_link(&temporary, file));
        let kept = match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // A file system without links.
            Err(_) => system::rename(&temporary, file),
            linked => linked,
        };
        let _ = fs::remove_file(&temporary);
        kept?;
    }
    read(file).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns bytes that cannot be guessed.
fn random() -> Secret {
    let mut secret = [0; BYTES];
    if system::random(&mut secret).is_err() {
        // The standard library takes the keys of its hashers from the system.
        for part in secret.chunks_mut(8) {
            part.copy_from_slice(&RandomState::new().hash_one(std::process::id()).to_ne_bytes());
        }
    }
    secret
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;

    fn paths(data: &Path) -> Paths {
        Paths::of(&Env::fixed([("WYREN_DATA_DIR", data)]))
    }

    #[test]
    fn two_runs_agree_and_two_sessions_or_installations_differ() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let first = word(&paths(one.path()), "a");
        assert!(first.len() == WORD_DIGITS && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
        assert_eq!(word(&paths(one.path()), "a"), first);
        assert_ne!(word(&paths(one.path()), "b"), first);
        assert_ne!(word(&paths(other.path()), "a"), first);
        assert_eq!(fs::read(one.path().join("secret")).unwrap().len(), BYTES);
        assert_eq!(fs::read_dir(one.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn the_secret_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        word(&paths(&data), "a");
        assert_eq!(fs::metadata(data.join("secret")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn processes_that_start_together_agree() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let first = make(&file).unwrap();
        assert_eq!(make_beside(&file), first);
    }

    /// Does what a process does that looked before the secret was there.
    fn make_beside(file: &Path) -> Secret {
        let temporary = file.with_extension("tmp");
        fs::write(&temporary, random()).unwrap();
        assert_eq!(fs::hard_link(&temporary, file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        read(file).unwrap()
    }

    #[test]
    fn a_damaged_secret_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        for damage in [0, 31, 33] {
            fs::write(folder.path().join("secret"), vec![0; damage]).unwrap();
            let made = word(&paths(folder.path()), "a");
            assert_eq!(word(&paths(folder.path()), "a"), made);
            assert_eq!(fs::read(folder.path().join("secret")).unwrap().len(), BYTES);
        }
    }

    #[test]
    fn without_a_place_to_keep_it_the_word_is_random() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        fs::write(&blocked, "").unwrap();
        let one = word(&paths(&blocked), "a");
        assert_eq!(one.len(), WORD_DIGITS);
        assert_eq!(word(&paths(&blocked), "a"), one, "the same in one process");
    }
}
