//! One exchange with the remote: publish, fetch, merge into the local copy. Every sync goes through here.

use crate::repository::checkout::{CheckedOut, remove_from_copy};
use crate::repository::fetch::Fetched;
use crate::repository::{Error, Leave, Merge, Published, Team};
use place::Reason;
use std::time::Instant;

/// What an exchange publishes besides the local copy.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The user's leave to publish.
    pub leave: &'a Leave,
    /// The session that the commit names.
    pub session: Option<&'a str>,
    /// Files to remove for the whole team, relative to `.wyren/`.
    pub removed: &'a [String],
    /// Things on the remote that are left out, as [`crate::repository::LeftOut`] names them, to remove for the whole team. Unlike
    /// files they are not queued here: the caller names them again.
    pub taken_away: &'a [String],
    /// Whether what is here replaces what is left out on the remote, such as a memory that is too large.
    pub replaces: bool,
}

impl<'a> Outgoing<'a> {
    /// Returns what publishes the local copy alone.
    pub fn with(leave: &'a Leave) -> Self {
        Self { leave, session: None, removed: &[], taken_away: &[], replaces: false }
    }
}

/// The result of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// How the publication ended, or why the remote could not be asked.
    pub published: Published,
    /// The local copy; `None` when nothing was merged into it.
    pub copy: Option<CheckedOut>,
}

impl Team {
    /// Publishes the local copy, unless `outgoing` is `None`, and merges what the remote has into it.
    pub fn exchange(
        &self,
        outgoing: Option<&Outgoing<'_>>,
        merge: &dyn Merge,
        deadline: Instant,
    ) -> Result<Exchanged, Error> {
        let mut published = match outgoing {
            Some(outgoing) => self.publish(outgoing, merge, deadline)?,
            None => Published::Nothing,
        };
        // What is not queued would come back with the checkout, so it is not removed here either.
        if !matches!(published, Published::Queued(Reason::Busy | Reason::Detached | Reason::NotAllowed)) {
            let removed = outgoing.map_or(&[][..], |outgoing| outgoing.removed);
            remove_from_copy(&self.folder, &self.copy_folder(), removed)?;
        }
        if published == Published::Nothing
            && let Fetched::Failed(reason) = self.fetch(deadline)?
        {
            published = Published::Queued(reason);
        }
        match self.checkout(merge, deadline) {
            Ok(copy) => Ok(Exchanged { published, copy: Some(copy) }),
            Err(Error::Rewritten) => {
                Ok(Exchanged { published: Published::Queued(Reason::Rewritten), copy: None })
            }
            Err(Error::Busy) => Ok(Exchanged { published, copy: None }),
            Err(error) => Err(error),
        }
    }
}
