//! The client's program, `claude`.

use crate::bounded;
use base::{Env, Paths};
use model::Cli;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use text::sanitize;

/// How long the client may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// In characters.
const MAX_CHARS: usize = 40;

/// Returns the client's program: on the PATH, or where it is usually installed.
pub(crate) fn program(env: &Env, paths: &Paths) -> Option<PathBuf> {
    Cli::new(env, "", paths.cache(), "").program().map(Path::to_owned)
}

/// A version of the client: three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// Reads what the client says: `2.1.197 (Claude Code)`.
    pub(crate) fn read(said: &str) -> Option<Self> {
        let mut numbers = said.split_whitespace().next()?.split('.').map(|number| {
            let digits = number.split(|letter: char| !letter.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        Some(Self([numbers.next()??, numbers.next()??, numbers.next()??]))
    }
}

/// Asks the client for its version; fails with what it said instead.
pub(crate) fn version(program: &Path) -> Result<Version, String> {
    let mut command = Command::new(program);
    match bounded::run(command.arg("--version"), PATIENCE) {
        Err(error) => Err(format!("could not be started: {error}")),
        Ok(None) => Err(format!("did not say its version within {} s", PATIENCE.as_secs())),
        Ok(Some(finished)) => {
            let said = String::from_utf8_lossy(&finished.stdout).into_owned();
            Version::read(&said).ok_or_else(|| {
                let said = if said.trim().is_empty() {
                    String::from_utf8_lossy(&finished.stderr)
                } else {
                    said.into()
                };
                format!("did not say its version but {:?}", sanitize::one_line(said.trim(), MAX_CHARS))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        assert_eq!(Version::read("2.1.197 (Claude Code)\n"), Some(Version([2, 1, 197])));
        assert_eq!(Version::read("2.10.0-beta.1"), Some(Version([2, 10, 0])));
        for other in ["", "claude", "2.1", "a.b.c"] {
            assert_eq!(Version::read(other), None, "{other}");
        }
        assert!(Version([2, 10, 0]) > Version([2, 9, 99]));
    }
}
