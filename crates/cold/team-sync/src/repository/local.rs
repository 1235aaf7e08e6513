//! Where the local copy and the remote last agreed, and what has not landed yet.
//!
//! All of it is one tree in one reference, `refs/wyren/local/<branch>`, so that it changes as a whole whatever is killed:
//!
//! ```text
//! base/        the local copy when everything in it was last on the remote: what merges are based on
//! pending/     the local copy as it is to be on the remote; something is queued when it differs from base
//! sent/        the pending copy that `candidate` was built from
//! candidate    the commit that was pushed last, which may have landed although the process was killed before it knew
//! agreed       the newest commit on the remote that base has everything of
//! copy         the random name of the copy that base is about, once one was begun anew: see `origin.rs`
//! ```
//!
//! A tree and not a commit, so that `git log --all` does not show it.

use crate::repository::Error;
use crate::repository::objects::{Objects, Snapshot};
use git2::Oid;

/// The state of a local copy; what is missing is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) base: Option<Snapshot>,
    pub(crate) pending: Option<Snapshot>,
    pub(crate) sent: Option<Snapshot>,
    pub(crate) candidate: Option<Oid>,
    pub(crate) agreed: Option<Oid>,
    pub(crate) copy: Option<Oid>,
}

impl Local {
    /// Reads the state that a reference holds.
    pub(crate) fn read(objects: &Objects, bundle: Option<Oid>) -> Result<Self, Error> {
        let Some(bundle) = bundle else { return Ok(Self::default()) };
        let parts = objects.unbundle(bundle)?;
        // More than this program stores is not its own: what is not known counts neither as here nor as removed.
        let snapshot =
            |name: &str| Ok::<_, Error>(parts.get(name).map(|id| objects.stored(*id)).transpose()?.flatten());
        Ok(Self {
            base: snapshot("base")?,
            pending: snapshot("pending")?,
            sent: snapshot("sent")?,
            candidate: parts.get("candidate").copied(),
            agreed: parts.get("agreed").copied(),
            copy: parts.get("copy").copied(),
        })
    }

    /// Stores the state as what a reference can hold.
    pub(crate) fn write(&self, objects: &Objects) -> Result<Oid, Error> {
        let tree = |snapshot: &Option<Snapshot>| {
            snapshot.as_ref().map(|snapshot| objects.tree_of(snapshot)).transpose()
        };
        let trees =
            [("base", tree(&self.base)?), ("pending", tree(&self.pending)?), ("sent", tree(&self.sent)?)];
        let commits = [("candidate", self.candidate), ("agreed", self.agreed), ("copy", self.copy)];
        objects.bundle(&trees, &commits)
    }
}
