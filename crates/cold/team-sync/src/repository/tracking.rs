//! What the user's own git has fetched: `refs/remotes/<remote>/<branch>`, in branch mode.
//!
//! A `git pull` moves it, and with that tells what the remote had: news of the remote like those of a fetch, and no edit of the
//! user's. The remote itself is asked first; without a network the branch counts as its tip, until the remote says otherwise.
//!
//! It is only a reference, which an archive can bring. Taken for the remote's tip it shows entries here and takes entries out
//! here, and goes no further: a push names the tip that it expects on the remote, and a remote that turns out not to have that
//! tip counts as rewritten, which loses nothing without a decision.

use crate::repository::Error;
use crate::repository::lock::SyncLock;
use crate::repository::team::{Ref, Refs, Team};
use place::{Mode, Verdict};
use std::time::Instant;

impl Team {
    /// Returns whether the user's own git has seen a later tip of the remote's branch than Wyren has.
    pub fn is_behind_tracking(&self) -> Result<bool, Error> {
        self.is_behind(&self.refs()?)
    }

    /// Takes the tip that the user's own git has seen for the remote's, if it is a later one. Returns whether it is.
    pub fn follow_tracking(&self, deadline: Instant) -> Result<bool, Error> {
        if !self.is_behind_tracking()? {
            return Ok(false);
        }
        let lock = SyncLock::take(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let (Some(_lock), Ok((remote, branch))) = (lock, self.target()) else { return Ok(false) };
        let refs = self.refs()?;
        let Some(tracking) = refs.tracking.filter(|_| self.is_behind(&refs).unwrap_or_default()) else {
            return Ok(false);
        };
        // Noted first: what is merged from here on has been on the remote as far as this clone knows.
        let mut state = self.known_state(remote, branch, refs.tip);
        state.previous = state.tip.replace(tracking.to_string());
        state.verdict = Some(if state.previous.is_some() { Verdict::FastForward } else { Verdict::New });
        self.write_state(&mut state)?;
        match self.update_refs(&refs, &[(Ref::Remote, Some(tracking)), (Ref::Seen, Some(tracking))]) {
            Err(Error::Busy) => Ok(false),
            updated => updated.map(|()| true),
        }
    }

    /// Reads our references, with the tip that the user's own git has seen where that is the later one.
    pub(crate) fn newest_refs(&self) -> Result<Refs, Error> {
        let mut refs = self.refs()?;
        if self.is_behind(&refs)? {
            refs.tip = refs.tracking;
        }
        Ok(refs)
    }

    fn is_behind(&self, refs: &Refs) -> Result<bool, Error> {
        // What it had when the remote last answered is no news.
        let tracking = refs.tracking.filter(|_| refs.seen != refs.tracking && refs.before.is_none());
        let Some(tracking) = tracking.filter(|_| self.mode == Mode::Branch && refs.tip != refs.tracking)
        else {
            return Ok(false);
        };
        refs.tip.map_or(Ok(true), |tip| self.is_ancestor(tip, tracking))
    }
}
