//! Everything that the transcripts below a folder tell.

use super::put::{Forgotten, Putter};
use super::{ReadBy, offset, set_offset};
use crate::observations;
use crate::open::{Error, Store};
use crate::transcribe::{self, Passed, Transcriber, Wanted};
use capture::{Observation, Rules, Spool};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, SystemTime};
use std::{fs, mem, thread};
use transcript::{subagent, tree};

/// How long an import waits for a drain.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much the reader sends at once, and how often it may before something is stored.
const BATCH_BYTES: usize = 256 * 1024;
const BATCHES_AHEAD: usize = 8;

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
        let mut left = Vec::new();
        for session in &self.sessions {
            let read = offset(putter.connection(), &session.path, ReadBy::Import, self.rules)?;
            if read == Some(session.bytes) {
                imported.unchanged += 1;
            } else {
                left.push(session);
            }
        }
        let mut done = self.bytes() - left.iter().map(|session| session.bytes).sum::<u64>();
        // Reading and redacting take as long as storing does: a thread for each.
        thread::scope(|scope| {
            let (sender, told) = mpsc::sync_channel(BATCHES_AHEAD);
            scope.spawn(|| self.read(left, sender));
            for told in told {
                match told {
                    Told::Observations(observations) => {
                        observations.into_iter().for_each(|observation| putter.push(observation));
                    }
                    Told::End(session, passed) => {
                        imported.sessions += u64::from(passed.is_some());
                        // A transcript that cannot be read tells nothing; the others still do.
                        imported.unreadable += u64::from(passed.is_none());
                        imported.private += passed.map_or(0, |passed| passed.private);
                        putter.flush(|transaction| {
                            set_offset(transaction, &session.path, ReadBy::Import, self.rules, session.bytes)
                        })?;
                        done += session.bytes;
                        report(done);
                    }
                }
            }
            Ok::<_, Error>(())
        })?;
        let counts = putter.counts;
        Ok(Imported { stored: counts.stored, known: counts.known, forgotten: counts.forgotten, ..imported })
    }

    /// Reads sessions and sends what they tell, until the receiver is gone.
    fn read<'s>(&self, sessions: Vec<&'s Session>, sender: SyncSender<Told<'s>>) {
        let mut transcriber = Transcriber::new(self.rules, Wanted::Everything);
        for session in sessions {
            let mut batch = Vec::new();
            let mut bytes = 0;
            let passed = transcriber.session(&session.path, 0, &mut |observation| {
                bytes += observation.data.json().map_or(0, |data| data.get().len());
                batch.push(observation);
                if bytes >= BATCH_BYTES {
                    // Without a receiver the next end of a session ends it.
                    let _ = sender.send(Told::Observations(mem::take(&mut batch)));
                    bytes = 0;
                }
            });
            let is_sent = sender.send(Told::Observations(batch)).is_ok();
            if !is_sent || sender.send(Told::End(session, passed.ok())).is_err() {
                return;
            }
        }
    }
}

/// What the reader sends.
enum Told<'s> {
    Observations(Vec<Observation<'static>>),
    /// The session is read; with nothing where it could not be.
    End(&'s Session, Option<Passed>),
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
