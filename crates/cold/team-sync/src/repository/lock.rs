//! One sync at a time per local copy, the Node system's included.

use base::lock::Lock;
use base::{Timestamp, files};
use place::state_folder;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How old the Node system's lock may get before it counts as left behind; the Node system counts the same.
const NODE_PATIENCE: Duration = Duration::from_secs(60);

/// How old an empty lock file may get.
const EMPTY_PATIENCE: Duration = Duration::from_secs(1);

/// How long to pause between two attempts at a lock that the Node system holds.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// What tells our lock file from the Node system's, which holds a time and nothing else.
const OUR_MARK: &str = " wyren-sync";

/// How long to wait for whoever writes the memory: they hold the lock for some milliseconds.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);

/// Takes the lock of whoever reads, changes and writes a file of the local copy; `None` when it did not become free. It
/// is held for as long as that takes, unlike the lock of a sync, which waits for the network.
pub fn lock_copy(wyren: &Path) -> io::Result<Option<Lock>> {
    Lock::exclusive(&state_folder(wyren).join("memory.lock"), WRITE_PATIENCE)
}

/// The lock on a sync, held until it is dropped.
#[derive(Debug)]
pub(crate) struct SyncLock {
    node_lock: Option<PathBuf>,
    _lock: Lock,
}

impl SyncLock {
    /// Takes the lock against other processes of this program; `None` when it was not free before the deadline.
    pub(crate) fn take(folder: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let patience = deadline.saturating_duration_since(Instant::now());
        let lock = Lock::exclusive(&state_folder(folder).join("sync.lock"), patience)?;
        Ok(lock.map(|lock| Self { node_lock: None, _lock: lock }))
    }

    /// Takes the lock against the Node system, too, as it does itself around a push.
    pub(crate) fn take_with_node(folder: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let Some(mut lock) = Self::take(folder, deadline)? else { return Ok(None) };
        let path = state_folder(folder).join(".lock");
        loop {
            match files::private_options().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    lock.node_lock = Some(path);
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

    /// Keeps the Node system's lock from looking left behind while we are still at it.
    pub(crate) fn renew(&self) {
        if let Some(path) = &self.node_lock {
            let file = fs::File::options().write(true).open(path);
            let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        }
    }
}

impl Drop for SyncLock {
    fn drop(&mut self) {
        if let Some(path) = &self.node_lock {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns whether nobody holds the Node system's lock any more. We hold our own, so one with our mark is of a process
/// that was killed.
fn is_left_behind(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let is_older = |limit| modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= limit));
    // Whoever made it was killed before the first byte, if it stays empty.
    text.ends_with(OUR_MARK) || is_older(if text.is_empty() { EMPTY_PATIENCE } else { NODE_PATIENCE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with_node_lock(text: &str, age: Duration) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        let path = folder.path().join("state/.lock");
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        folder
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(30)
    }

    #[test]
    fn the_node_systems_lock_is_respected_for_a_minute() {
        let held = folder_with_node_lock("2026-11-16T02:26:41.123Z", Duration::from_secs(58));
        assert!(SyncLock::take_with_node(held.path(), soon()).unwrap().is_none());
        assert!(SyncLock::take(held.path(), soon()).unwrap().is_some());
        let old = folder_with_node_lock("2026-11-16T02:26:41.123Z", Duration::from_secs(61));
        assert!(SyncLock::take_with_node(old.path(), soon()).unwrap().is_some());
    }

    #[test]
    fn a_lock_of_ours_goes_with_its_holder_even_a_killed_one() {
        let early = folder_with_node_lock("", Duration::from_secs(2));
        assert!(SyncLock::take_with_node(early.path(), soon()).unwrap().is_some());
        let killed = folder_with_node_lock("2026-11-16T02:26:41.123Z wyren-sync", Duration::ZERO);
        let lock = SyncLock::take_with_node(killed.path(), soon()).unwrap();
        assert!(lock.is_some());
        assert!(SyncLock::take(killed.path(), soon()).unwrap().is_none());
        drop(lock);
        assert!(!killed.path().join("state/.lock").exists());
        assert!(SyncLock::take(killed.path(), soon()).unwrap().is_some());
    }
}
