//! Advisory file locks with a bound on the wait.
//!
//! A lock belongs to an open file and goes with the process that holds it, however that process ends: nothing
//! has to be cleaned up after a kill, and no process id is needed.

use crate::{files, system};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to pause between two attempts at a lock that someone else holds.
const RETRY_PAUSE: Duration = Duration::from_millis(2);

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the exclusive lock at `path`, waiting at most `patience`; `None` when another process kept it.
    /// Refuses symbolic links.
    pub fn exclusive(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let file = files::open_append_here(path)?;
        let deadline = Instant::now() + patience;
        loop {
            match system::try_lock(&file) {
                Ok(()) => return Ok(Some(Self { file })),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY_PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Returns the locked file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        system::unlock_closing(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::exclusive(&path, Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert!(Lock::exclusive(&path, Duration::from_millis(5)).unwrap().is_none());
        drop(held);
        assert!(Lock::exclusive(&path, Duration::ZERO).unwrap().is_some());
    }
}
