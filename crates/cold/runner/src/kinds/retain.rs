//! `retain`: lets go of what is older than the settings allow, or more than they allow, a bounded piece at a time.

use crate::handler::{Context, Handler, Progress};
use base::Timestamp;
use journal::retain::{self, Limits};
use std::time::Duration;
use store::jobs::{Failure, NewJob};

/// The name of the kind.
pub(crate) const KIND: &str = "retain";

/// How long one piece takes.
const PIECE: Duration = Duration::from_secs(5);
/// How long to wait where the journal is not made up to date yet.
const LATER: Duration = Duration::from_secs(60);
const MILLIS_PER_DAY: u64 = 86_400_000;

/// Does jobs of this kind.
pub(super) struct Retain;

impl Handler for Retain {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let limits = Limits::of(&context.env, &context.paths);
        if !limits.is_on() {
            return Ok(Progress::Needless { reason: "retention is off".to_owned() });
        }
        let again = |error: store::Error| Failure::Again(error.to_string());
        // Deriving goes on with each drain.
        super::drain(&mut context.store, &context.env, &context.paths, Timestamp::now()).map_err(again)?;
        let now = Timestamp::now();
        let released = retain::release(&mut context.store, &limits, now, PIECE).map_err(again)?;
        // What was kept is derived from once more.
        super::drain(&mut context.store, &context.env, &context.paths, now).map_err(again)?;
        let did_something = released.payloads + released.entries > 0;
        let rest = if did_something { Duration::ZERO } else { LATER };
        let not_before = Timestamp::from_millis(now.millis() + rest.as_millis() as u64);
        Ok(match released.is_complete {
            true => Progress::Done,
            false => Progress::Again { not_before },
        })
    }
}

/// Returns the job of a day, by its request: there is one a day at most.
pub(crate) fn request(now: Timestamp) -> String {
    format!("{KIND}-{}", now.millis() / MILLIS_PER_DAY)
}

/// Returns the job for a request.
pub(crate) fn job(request: &str) -> NewJob<'_> {
    NewJob { dedup_key: Some(KIND), request: Some(request), ..NewJob::new(KIND, "null") }
}
