//! The program that this process runs: an update puts another in its place, and this one goes on with what it has begun.

use base::{Paths, Timestamp};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A program as it was when it was noted.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    identity: Identity,
}

/// What another file of the same name does not have.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    node: (u64, u64),
    length: u64,
    modified: Option<std::time::SystemTime>,
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            #[cfg(unix)]
            node: (
                std::os::unix::fs::MetadataExt::dev(&metadata),
                std::os::unix::fs::MetadataExt::ino(&metadata),
            ),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

impl Program {
    fn at(path: PathBuf) -> Option<Self> {
        let identity = Identity::of(&path).ok()?;
        Some(Self { path, identity })
    }

    /// Returns whether another program has its place, or none. A place that cannot be looked at tells nothing.
    fn is_replaced(&self) -> bool {
        match Identity::of(&self.path) {
            Ok(identity) => identity != self.identity,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// Noted before an update can come: afterwards the system gives this process the name of a file that is gone.
static OURS: OnceLock<Option<Program>> = OnceLock::new();

/// Notes which program this process runs.
pub(crate) fn note() {
    OURS.get_or_init(|| Program::at(std::env::current_exe().ok()?));
}

fn ours() -> Option<&'static Program> {
    OURS.get().and_then(Option::as_ref)
}

/// Returns whether an update has replaced the program since it was noted.
pub(crate) fn is_replaced() -> bool {
    ours().is_some_and(Program::is_replaced)
}

/// Starts the worker that took the place of this one.
pub(crate) fn start_successor(paths: &Paths) -> io::Result<()> {
    let Some(program) = ours().filter(|program| program.is_replaced()) else { return Ok(()) };
    let worker = program.path.with_file_name(format!("wyren-worker{}", std::env::consts::EXE_SUFFIX));
    queue::start_worker_at(&worker, paths, Timestamp::now()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_replaced_by_another_file_and_by_none() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("program"), folder.path().join("new"));
        fs::write(&path, "one").unwrap();
        let program = Program::at(path.clone()).unwrap();
        assert!(!program.is_replaced());
        fs::write(&new, "two").unwrap();
        fs::rename(&new, &path).unwrap();
        assert!(program.is_replaced());
        fs::remove_file(&path).unwrap();
        assert!(program.is_replaced());
    }
}
