//! Step four: the changed memory is published. What does not reach the remote now goes with the next sync.

use crate::session::{Step, Work};
use std::time::Instant;
use team_sync::Synced;
use team_sync::repository::Published;

/// Publishes the memory; returns `None` when that failed. The log says why.
pub(crate) fn publish(work: &Work<'_>) -> Option<Synced> {
    work.reached(Step::Publishing);
    let deadline = Instant::now() + work.session.settings.publish_time;
    match work.share.sync(Some(work.session.id), deadline) {
        Ok(synced) => {
            let has_remote = work.share.team().is_some_and(|team| team.remote().is_some());
            if let Published::Queued(reason) = &synced.published
                && has_remote
            {
                work.log(&format!("distiller: saved locally, not published yet: {reason}"));
            }
            Some(synced)
        }
        Err(error) => {
            work.log(&format!("distiller: saved locally, could not publish: {error}"));
            None
        }
    }
}
