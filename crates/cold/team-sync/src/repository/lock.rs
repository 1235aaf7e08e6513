//! One sync at a time per local copy, the Node version's included.

use base::lock::Lock;
use place::node::PushLock;
use place::state_folder;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another writer of the memory, which holds the lock for some milliseconds.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);

/// Takes the lock for reading, changing and writing a file of the local copy; `None` when it did not become free. It is
/// held for as long as that takes, unlike the lock of a sync, which waits for the network.
pub fn lock_copy(wyren: &Path) -> io::Result<Option<Lock>> {
    Lock::exclusive(&state_folder(wyren).join("memory.lock"), WRITE_PATIENCE)
}

/// The lock on a sync, held until it is dropped.
#[derive(Debug)]
pub(crate) struct SyncLock {
    // Given back first: its holder has the other one.
    push_lock: Option<PushLock>,
    _lock: Lock,
}

impl SyncLock {
    /// Takes the lock against other processes of this program; `None` when it was not free before the deadline.
    pub(crate) fn take(folder: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let patience = deadline.saturating_duration_since(Instant::now());
        let lock = Lock::exclusive(&state_folder(folder).join("sync.lock"), patience)?;
        Ok(lock.map(|lock| Self { push_lock: None, _lock: lock }))
    }

    /// Takes the lock against the Node version, too, as that does around a push.
    pub(crate) fn take_with_node(folder: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        let Some(mut lock) = Self::take(folder, deadline)? else { return Ok(None) };
        lock.push_lock = PushLock::take(&state_folder(folder), deadline)?;
        Ok(lock.push_lock.is_some().then_some(lock))
    }

    /// Keeps the lock from looking left behind while the push goes on.
    pub(crate) fn renew(&self) {
        self.push_lock.iter().for_each(PushLock::renew);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_excludes_others_and_a_push_of_the_node_version_excludes_only_pushes() {
        let folder = tempfile::tempdir().unwrap();
        let soon = || Instant::now() + Duration::from_millis(30);
        let lock = SyncLock::take_with_node(folder.path(), soon()).unwrap();
        assert!(lock.is_some() && SyncLock::take(folder.path(), soon()).unwrap().is_none());
        drop(lock);
        std::fs::write(folder.path().join("state/.lock"), "2026-11-16T02:26:41.123Z").unwrap();
        assert!(SyncLock::take_with_node(folder.path(), soon()).unwrap().is_none());
        assert!(SyncLock::take(folder.path(), soon()).unwrap().is_some());
    }
}
