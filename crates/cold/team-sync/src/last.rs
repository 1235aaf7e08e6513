//! How the last sync ended: `state/sync.json`, for `wyren status` and `wyren doctor`.

use crate::repository::LeftOut;
use crate::{Error, Share, Synced, repository};
use base::{Timestamp, files};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of `state/sync.json`.
const VERSION: u32 = 1;

/// The most things that one sync names in the log.
const MAX_LOGGED: usize = 20;

/// How the last sync ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastSync {
    v: u32,
    /// Since when that is so, in milliseconds since 1970.
    pub at: u64,
    /// What stopped it, other than the remote's silence.
    pub error: Option<String>,
    /// What it left out, here or on the remote.
    pub left_out: Vec<LeftOut>,
}

impl Share {
    /// Returns how the last sync ended; empty when there was none.
    pub fn last_sync(&self) -> LastSync {
        let last: LastSync = serde_json::from_slice(
            &files::read_capped(&self.last_sync_file(), files::cap::STATE).unwrap_or_default(),
        )
        .unwrap_or_default();
        if last.v == VERSION { last } else { LastSync::default() }
    }

    /// Notes how a sync ended, and says in the log what it left out that the one before did not.
    pub(crate) fn note_end(&self, before: LastSync, synced: &Result<Synced, Error>) {
        let (error, left_out) = match synced {
            Ok(synced) => (None, synced.left_out.clone()),
            // Another process is at work, and notes how that ends.
            Err(Error::Busy | Error::Sync(repository::Error::Busy)) => return,
            Err(error) => (Some(error.to_string()), before.left_out.clone()),
        };
        let is_new = |it: &&LeftOut| !before.left_out.contains(it);
        for it in left_out.iter().filter(is_new).take(MAX_LOGGED) {
            let place = if it.here { "here" } else { "on the remote" };
            self.log(&format!("sync: left out {} {place}: {}", it.path, it.why));
        }
        if let Ok(synced) = synced {
            for (from, to) in &synced.renamed {
                self.log(&format!("sync: renamed {from} to {to}: the team uses that name otherwise"));
            }
        }
        if (&error, &left_out) != (&before.error, &before.left_out) {
            let last = LastSync { v: VERSION, at: Timestamp::now().millis(), error, left_out };
            let mut text = serde_json::to_vec(&last).unwrap_or_default();
            text.push(b'\n');
            let _ = files::write_atomic(&self.last_sync_file(), &text);
        }
    }

    fn last_sync_file(&self) -> PathBuf {
        self.folder().state().join("sync.json")
    }
}
