//! Everything that the transcripts below a folder tell.

use super::put::{Forgotten, Putter};
use super::{ReadBy, offset, set_offset};
use crate::observations;
use crate::open::{Error, Store};
use crate::transcribe::{self, Transcriber, Wanted};
use capture::{Rules, Spool};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use transcript::{subagent, tree};

/// How long an import waits for a drain.
const PATIENCE: Duration = Duration::from_secs(30);

/// An import of transcripts. A session is imported whole or again: one that an earlier import has read is passed over until it
/// changes, or the rules of what is recorded do.
#[derive(Debug)]
pub struct Import<'a> {
    spool: &'a Spool,
    rules: &'a Rules,
    sessions: Vec<Session>,
    /// Folders that could not be listed.
    unreadable: u64,
    is_trial: bool,
}

/// A session that has a transcript, with those of its subagents.
#[derive(Debug)]
struct Session {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions whose transcripts were read.
    pub sessions: u64,
    /// Sessions that an earlier import has read.
    pub unchanged: u64,
    /// Transcripts and folders that could not be read.
    pub unreadable: u64,
    /// Observations that were new.
    pub stored: u64,
    /// Those that were there before.
    pub known: u64,
    /// Those that the user has forgotten, and that stay so.
    pub forgotten: u64,
    /// Prompts that are wholly private; they and what was done under them were left out.
    pub private: u64,
}

impl<'a> Import<'a> {
    /// Looks which transcripts there are below `folder`; `spool` has the lock that keeps drains away meanwhile.
    pub fn of(folder: &Path, spool: &'a Spool, rules: &'a Rules) -> Result<Self, transcript::Error> {
        let tree = tree::walk(folder)?;
        let paths = tree.transcripts.into_iter().filter(|path| !transcribe::is_of_subagent(path));
        let mut sessions: Vec<Session> = paths.map(Session::of).collect();
        // A session that goes on under another id repeats what the earlier one told, and is the later one.
        sessions.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
        Ok(Self { spool, rules, sessions, unreadable: tree.unreadable_folders, is_trial: false })
    }

    /// Says what would be imported, and stores nothing.
    #[must_use]
    pub fn trial(self) -> Self {
        Self { is_trial: true, ..self }
    }

    /// Returns how many bytes there are to read.
    pub fn bytes(&self) -> u64 {
        self.sessions.iter().map(|session| session.bytes).sum()
    }

    /// Imports; `report` hears how many bytes are done.
    pub fn run(&self, store: &mut Store, report: impl FnMut(u64)) -> Result<Imported, Error> {
        let lock = observations::lock(self.spool, PATIENCE).map_err(Error::io(self.spool.folder()))?;
        let _lock = lock.ok_or(Error::Busy)?;
        let forgotten = Forgotten::of(store);
        store.in_bulk(|store| self.run_locked(store, forgotten, report))
    }

    /// Imports under the lock that the caller holds.
    pub(crate) fn run_locked(
        &self,
        store: &mut Store,
        forgotten: Forgotten,
        mut report: impl FnMut(u64),
    ) -> Result<Imported, Error> {
        let mut imported = Imported { unreadable: self.unreadable, ..Imported::default() };
        let mut putter = Putter::new(store, forgotten, self.is_trial)?;
        let mut transcriber = Transcriber::new(self.rules, Wanted::Everything);
        let mut done = 0;
        for session in &self.sessions {
            done += session.bytes;
            let read = offset(putter.connection(), &session.path, ReadBy::Import, self.rules)?;
            if read == Some(session.bytes) {
                imported.unchanged += 1;
                continue;
            }
            match transcriber.session(&session.path, 0, &mut |observation| putter.push(observation)) {
                Ok(passed) => {
                    imported.sessions += 1;
                    imported.private += passed.private;
                }
                // A transcript that cannot be read tells nothing; the others still do.
                Err(_) => imported.unreadable += 1,
            }
            putter.flush(|transaction| {
                set_offset(transaction, &session.path, ReadBy::Import, self.rules, session.bytes)
            })?;
            report(done);
        }
        let counts = putter.counts;
        Ok(Imported { stored: counts.stored, known: counts.known, forgotten: counts.forgotten, ..imported })
    }
}

impl Session {
    fn of(path: PathBuf) -> Self {
        let size = |path: &Path| fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
        let subagents = subagent::of_session(&path).unwrap_or_default();
        let bytes = size(&path) + subagents.iter().map(|subagent| size(&subagent.transcript)).sum::<u64>();
        let modified = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
        Self { path, bytes, modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) }
    }
}
