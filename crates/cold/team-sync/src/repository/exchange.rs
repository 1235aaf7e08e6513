//! One exchange with the remote: publish, fetch, merge into the local copy. Every sync goes through here.

use crate::repository::checkout::{Change, remove_from_copy};
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
}

impl Team {
    /// Publishes the local copy, unless `outgoing` is `None`, and merges what the remote has into it. Returns how the
    /// publication ended, or why the remote could not be asked, and what changed in the local copy.
    pub fn exchange(
        &self,
        outgoing: Option<&Outgoing<'_>>,
        merge: &dyn Merge,
        deadline: Instant,
    ) -> Result<(Published, Vec<Change>), Error> {
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
            Ok(changes) => Ok((published, changes)),
            Err(Error::Rewritten) => Ok((Published::Queued(Reason::Rewritten), Vec::new())),
            Err(Error::Busy) => Ok((published, Vec::new())),
            Err(error) => Err(error),
        }
    }
}
