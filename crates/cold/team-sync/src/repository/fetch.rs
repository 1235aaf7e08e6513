//! Fetching: what the remote has goes to `refs/wyren/remote/<branch>`, and what that means to `.wyren/state/fetch.json`.

use crate::repository::Error;
use crate::repository::bounds::MAX_DEPTH;
use crate::repository::config::Remote;
use crate::repository::git::Failure;
use crate::repository::lock::SyncLock;
use crate::repository::team::{Ref, Refs, Team};
use base::Timestamp;
use git2::Oid;
use place::{FOLDER, FetchState, Mode, Reason, Verdict};
use std::time::{Duration, Instant};

/// How long a remote must have had to answer before its silence counts as a failure: the time may have been used up by
/// others.
const FAIR_WAIT: Duration = Duration::from_millis(500);

/// What a fetch came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The remote answered.
    Done {
        /// How its tip is related to the one that was known.
        verdict: Verdict,
        /// Its tip, in hexadecimal; `None` when it does not have the branch.
        tip: Option<String>,
        /// The tip that was known before.
        previous: Option<String>,
    },
    /// The remote was not asked, or did not answer.
    Failed(Reason),
}

impl Team {
    /// Fetches the shared branch, unless the remote is to be left alone. Nothing of the user's changes.
    pub fn fetch(&self, deadline: Instant) -> Result<Fetched, Error> {
        if let Some(until) = self.backing_off() {
            return Ok(Fetched::Failed(Reason::BackingOff(until)));
        }
        match SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))? {
            Some(_lock) => self.fetch_locked(&mut self.refs()?, deadline),
            None => Ok(Fetched::Failed(Reason::Busy)),
        }
    }

    /// Notes how long a sync took that began at `began`, unless the remote did not answer it or another sync is at work.
    pub fn note_duration(&self, began: Timestamp, took: Duration) -> Result<(), Error> {
        let lock = SyncLock::take(&self.folder, Instant::now()).map_err(Error::file(&self.folder))?;
        let mut state = self.state();
        if lock.is_none() || !state.is_answering() || state.fetched_at < began.millis() {
            return Ok(());
        }
        state.took_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.write_state(&mut state)
    }

    /// Returns until when the remote is left alone.
    pub(crate) fn backing_off(&self) -> Option<Timestamp> {
        self.state().backing_off(Timestamp::now()).filter(|_| !self.is_insistent)
    }

    /// Returns the remote and the branch on it, or why there is none.
    pub(crate) fn target(&self) -> Result<(&Remote, &str), Reason> {
        let remote = self.remote.as_ref().ok_or(Reason::NoRemote)?;
        Ok((remote, self.branch.as_deref().ok_or(Reason::Detached)?))
    }

    /// Fetches while the lock is held, and brings `refs` up to date.
    pub(crate) fn fetch_locked(&self, refs: &mut Refs, deadline: Instant) -> Result<Fetched, Error> {
        let (remote, branch) = match self.target() {
            Ok(target) => target,
            Err(reason) => return Ok(Fetched::Failed(reason)),
        };
        let previous = refs.tip;
        let mut state = self.known_state(remote, branch, previous);
        // Noted first: should we be killed, the next one knows that the remote was asked.
        state.tried_at = Timestamp::now().millis();
        self.write_state(&mut state)?;

        let begun = Instant::now();
        let relay = self.relay()?;
        let have: Vec<Oid> =
            [previous, refs.tracking].into_iter().flatten().filter(|id| self.objects.has(*id)).collect();
        let seen = refs.tracking;
        let tip = match relay.fetch(&remote.name, branch, &have, deadline) {
            Err(Failure::Start(error)) => return Err(error),
            Err(Failure::TimedOut) => return self.timed_out(begun).map(Fetched::Failed),
            Ok((_, Some(tip))) => Some(tip),
            Ok((output, None)) if output.stderr.contains("couldn't find remote ref") => None,
            Ok((output, None)) => {
                let words = relay.explained(output.words());
                return self.failed(Reason::Unreachable(words)).map(Fetched::Failed);
            }
        };
        if tip.is_some() && tip != refs.tip {
            match self.update_refs(refs, &[(Ref::Remote, tip)]) {
                Err(Error::Busy) => return Ok(Fetched::Failed(Reason::Busy)),
                updated => updated?,
            }
            refs.tip = tip;
        }
        if let Some(tip) = tip {
            partial_objects(self, tip, deadline);
        }
        // The state names the tip that its readers know; another work tree may have fetched since.
        let known = state.tip.as_deref().and_then(|tip| Oid::from_str(tip).ok()).or(previous);
        let known = self.last_merged(refs, known)?;
        let verdict = self.verdict(known, tip)?;
        match verdict {
            // A branch of the user's that was merged and deleted is nothing to warn of.
            Verdict::Gone if self.mode == Mode::Branch => {
                refs.tip = None;
                self.update_refs(refs, &[(Ref::Remote, None)])?;
            }
            Verdict::Rewritten | Verdict::Gone => self.keep_before(refs, known, tip)?,
            _ => {}
        }
        if refs.seen != seen {
            self.update_refs(refs, &[(Ref::Seen, seen)])?;
            refs.seen = seen;
        }
        state.rewritten_from = refs.before.map(|before| before.to_string());
        state.previous = known.map(|known| known.to_string());
        state.tip = tip.map(|tip| tip.to_string());
        state.verdict = Some(verdict);
        state.succeed(Timestamp::now());
        self.write_state(&mut state)?;
        Ok(Fetched::Done { verdict, tip: state.tip, previous: state.previous })
    }

    /// Returns the state of the branch; that of another remote or branch does not count.
    pub(crate) fn known_state(&self, remote: &Remote, branch: &str, tip: Option<Oid>) -> FetchState {
        let mut state = self.state();
        if state.remote.as_ref() != Some(&remote.name) {
            state = FetchState::default();
        }
        if state.branch.as_deref() != Some(branch) {
            state = FetchState {
                tip: tip.map(|tip| tip.to_string()),
                previous: None,
                verdict: None,
                rewritten_from: None,
                fetched_at: 0,
                ..state
            };
        }
        state.mode = Some(self.mode);
        state.remote = Some(remote.name.clone());
        state.branch = Some(branch.to_owned());
        state
    }

    /// Returns the tip that the local copy was merged with last, if it is later than the `known` one: another work tree had
    /// fetched it.
    fn last_merged(&self, refs: &Refs, known: Option<Oid>) -> Result<Option<Oid>, Error> {
        let agreed = self.local(refs)?.agreed.filter(|agreed| known != Some(*agreed));
        match (known, agreed) {
            (Some(known), Some(agreed)) if self.is_ancestor(known, agreed)? => Ok(Some(agreed)),
            _ => Ok(known),
        }
    }

    fn verdict(&self, known: Option<Oid>, tip: Option<Oid>) -> Result<Verdict, Error> {
        Ok(match (known, tip) {
            (None, None) => Verdict::Absent,
            (Some(_), None) => Verdict::Gone,
            (None, Some(_)) => Verdict::New,
            (Some(known), Some(tip)) if known == tip => Verdict::Unchanged,
            (Some(known), Some(tip)) if self.is_ancestor(known, tip)? => Verdict::FastForward,
            _ => Verdict::Rewritten,
        })
    }

    /// Keeps the tip before a rewriting until that is accepted: the earliest, should there be several. A rewriting that
    /// lost nothing of the shared files is accepted at once: such is a rebase of the user's branch.
    fn keep_before(&self, refs: &mut Refs, known: Option<Oid>, tip: Option<Oid>) -> Result<(), Error> {
        let is_known = known.is_some_and(|known| self.objects.has(known));
        if tip.is_some() && is_known && refs.before.is_none() {
            let before = self.objects.snapshot(known)?;
            let after = self.survey(tip, &[&before])?.files;
            if !self.objects.has_lost(&before, &after)? {
                return Ok(());
            }
        }
        refs.before = refs.before.or(known);
        refs.tip = tip;
        self.update_refs(refs, &[(Ref::Before, refs.before), (Ref::Remote, refs.tip)])
    }

    /// Notes that the remote failed, and returns why.
    pub(crate) fn failed(&self, reason: Reason) -> Result<Reason, Error> {
        let mut state = self.state();
        state.fail(Timestamp::now(), reason.to_string());
        self.write_state(&mut state)?;
        Ok(reason)
    }

    /// Notes that the remote did not answer, if it had the time to.
    pub(crate) fn timed_out(&self, begun: Instant) -> Result<Reason, Error> {
        if begun.elapsed() < FAIR_WAIT { Ok(Reason::TimedOut) } else { self.failed(Reason::TimedOut) }
    }

    pub(crate) fn write_state(&self, state: &mut FetchState) -> Result<(), Error> {
        state.write(&self.folder).map_err(Error::file(&self.folder))
    }
}

/// Gets the shared files of a commit into a partial clone, where they may be missing. Should that fail, they are left out.
pub(crate) fn partial_objects(team: &Team, commit: Oid, deadline: Instant) {
    if !team.is_partial_clone || Instant::now() >= deadline {
        return;
    }
    let Ok(relay) = team.relay() else { return };
    // Git fetches what it is asked about: first the trees, level by level, then the blobs. Only what is within the bounds
    // is asked for.
    let ask = |objects: String| {
        let _ = relay.network(&["cat-file", "--batch-check"], objects.into_bytes(), deadline);
    };
    ask(format!("{commit}^{{tree}}\n{commit}:{FOLDER}\n"));
    let mut known = Vec::new();
    for _ in 0..MAX_DEPTH + 2 {
        let Ok(survey) = team.survey(Some(commit), &[]) else { return };
        if survey.missing.is_empty() || survey.missing == known {
            return;
        }
        ask(survey.missing.iter().map(|id| format!("{id}\n")).collect());
        known = survey.missing;
    }
}
