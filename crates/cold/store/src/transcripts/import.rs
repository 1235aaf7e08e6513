//! Everything that the transcripts below a folder tell.

use super::put::{Forgotten, Putter};
use super::{Agent, ReadBy, Source, offset, set_offset};
use crate::observations;
use crate::open::{Error, Store};
use crate::transcribe::{self, Passed, Transcriber, Wanted, codex, cursor};
use capture::{Observation, Rules, Spool};
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use std::{mem, thread};
use transcript::tree;

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
    rules: Rules,
    sessions: Vec<Source>,
    /// Folders that could not be listed, and transcripts that are packed.
    unreadable: u64,
    /// Transcripts of subagents without that of their session.
    orphans: u64,
    is_trial: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions whose transcripts were read.
    pub sessions: u64,
    /// Sessions that an earlier import has read.
    pub unchanged: u64,
    /// Sessions of Cursor's that hooks have recorded.
    pub recorded: u64,
    /// Transcripts and folders that could not be read.
    pub unreadable: u64,
    /// Observations that were new.
    pub stored: u64,
    /// Those that were there before.
    pub known: u64,
    /// Those that the user has forgotten, and that stay so.
    pub forgotten: u64,
    /// Prompts that are wholly private, or that hooks left out; they and what was done under them were left out.
    pub private: u64,
    /// Sessions and subagents that were left out because their folder, or the session that started them, is not known.
    pub unplaced: u64,
}

impl<'a> Import<'a> {
    /// Looks which of Claude Code's transcripts there are below `folder`; `spool` has the lock that keeps drains away meanwhile.
    pub fn of(folder: &Path, spool: &'a Spool, rules: &Rules) -> Result<Self, transcript::Error> {
        Self::of_agent(Agent::ClaudeCode, folder, spool, rules)
    }

    /// As [`Self::of`], for the transcripts of any agent.
    pub fn of_agent(
        agent: Agent,
        folder: &Path,
        spool: &'a Spool,
        rules: &Rules,
    ) -> Result<Self, transcript::Error> {
        let (mut sessions, unreadable, orphans) = match agent {
            Agent::ClaudeCode => {
                let tree = tree::walk(folder)?;
                let paths = tree.transcripts.into_iter().filter(|path| !transcribe::is_of_subagent(path));
                (paths.map(Source::claude_code).collect::<Vec<_>>(), tree.unreadable_folders, 0)
            }
            Agent::Codex => {
                let found = codex::find(folder)?;
                (found.sources, found.unreadable, found.orphans)
            }
            Agent::Cursor => {
                let found = cursor::find(folder)?;
                let sources = found.sessions.into_iter().map(Source::cursor).collect();
                (sources, found.unreadable, found.orphans)
            }
        };
        // A session that goes on under another id repeats what the earlier one told, and is the later one.
        sessions.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
        // What hooks left out does not come back this way.
        let rules = rules.clone().knowing(spool);
        Ok(Self { spool, rules, sessions, unreadable, orphans, is_trial: false })
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
        let mut imported =
            Imported { unreadable: self.unreadable, unplaced: self.orphans, ..Imported::default() };
        let mut putter = Putter::new(store, forgotten, self.is_trial)?;
        let mut left = Vec::new();
        for session in &self.sessions {
            let read = offset(putter.connection(), &session.path, ReadBy::Import, &self.rules)?;
            if read == Some(session.bytes) {
                imported.unchanged += 1;
            } else if session.is_recorded(putter.connection())? {
                imported.recorded += 1;
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
                        imported.unplaced += passed.map_or(0, |passed| passed.unplaced);
                        putter.flush(|transaction| {
                            set_offset(transaction, &session.path, ReadBy::Import, &self.rules, session.bytes)
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
    fn read<'s>(&self, sessions: Vec<&'s Source>, sender: SyncSender<Told<'s>>) {
        let mut transcriber = Transcriber::new(&self.rules, Wanted::Everything);
        for session in sessions {
            let mut batch = Vec::new();
            let mut bytes = 0;
            let passed = session.read(&mut transcriber, &self.rules, &mut |observation| {
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
    End(&'s Source, Option<Passed>),
}
