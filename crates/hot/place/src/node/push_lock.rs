//! `.wyren/state/.lock`: held by the Node version around a push.

use base::{Timestamp, files};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How old the lock may get before it counts as left behind, as in the Node version.
const PATIENCE: Duration = Duration::from_secs(60);

/// How old an empty lock file may get.
const EMPTY_PATIENCE: Duration = Duration::from_secs(1);

/// How long to pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Tells our lock file from the Node version's, which holds a time and nothing else.
const OUR_MARK: &str = " wyren-sync";

/// The lock, held until it is dropped.
#[derive(Debug)]
pub struct PushLock {
    path: PathBuf,
}

impl PushLock {
    /// Takes the lock; `None` when it was not free before the deadline. The caller holds the clone's `sync.lock`.
    pub fn take(state: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let path = state.join(".lock");
        loop {
            match files::private_options().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let lock = Self { path };
                    write!(file, "{}{OUR_MARK}", Timestamp::now())?;
                    return Ok(Some(lock));
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) if is_left_behind(&path) => {
                    files::remove_if_there(&path)?;
                }
                Err(_) if Instant::now() >= deadline => return Ok(None),
                Err(_) => std::thread::sleep(RETRY_PAUSE),
            }
        }
    }

    /// Keeps the lock from looking left behind while the push goes on.
    pub fn renew(&self) {
        let _ = files::open_regular(&self.path).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

impl Drop for PushLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns whether no process holds the lock any more. The caller holds `sync.lock`, so a lock with our mark is of a process
/// that was killed.
fn is_left_behind(path: &Path) -> bool {
    let text = files::read_text_capped(path, files::cap::STATE).unwrap_or_default();
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let is_older = |limit| modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= limit));
    // A lock that stays empty is of a process that was killed before the first byte.
    text.ends_with(OUR_MARK) || is_older(if text.is_empty() { EMPTY_PATIENCE } else { PATIENCE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with_lock(text: &str, age: Duration) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        folder
    }

    fn take(folder: &tempfile::TempDir) -> Option<PushLock> {
        PushLock::take(folder.path(), Instant::now() + Duration::from_millis(30)).unwrap()
    }

    #[test]
    fn the_lock_of_the_node_version_is_respected_for_a_minute() {
        assert!(take(&folder_with_lock("2026-11-16T02:26:41.123Z", Duration::from_secs(58))).is_none());
        assert!(take(&folder_with_lock("2026-11-16T02:26:41.123Z", Duration::from_secs(61))).is_some());
    }

    #[test]
    fn a_lock_of_ours_goes_with_its_holder_even_a_killed_one() {
        assert!(take(&folder_with_lock("", Duration::from_secs(2))).is_some());
        let killed = folder_with_lock("2026-11-16T02:26:41.123Z wyren-sync", Duration::ZERO);
        let lock = take(&killed);
        assert!(lock.is_some());
        drop(lock);
        assert!(!killed.path().join(".lock").exists());
    }
}
