//! `drain`: what hooks recorded goes from the spool into the database, a bounded piece at a time.

use crate::handler::{Context, Handler, Progress};
use base::{Paths, Timestamp};
use capture::Spool;
use store::Store;
use store::jobs::Failure;
use store::observations::{Drain, Drained};

/// The name of the kind.
pub(crate) const KIND: &str = "drain";

/// What one piece drains: some seconds at most, and far more than a day of work records.
const MAX_LINES: usize = 20_000;

/// Does jobs of this kind.
pub(super) struct DrainSpool;

impl Handler for DrainSpool {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let now = Timestamp::now();
        let is_whole = drain(&mut context.store, &context.paths, now);
        let is_whole = is_whole.map_err(|error| Failure::Again(error.to_string()))?;
        Ok(if is_whole { Progress::Done } else { Progress::Again { not_before: now } })
    }
}

/// Drains a piece of the spool; says whether nothing is left. Another process that is draining does the same work.
pub(crate) fn drain(store: &mut Store, paths: &Paths, now: Timestamp) -> Result<bool, store::Error> {
    let drained = Drain::unbounded(&Spool::new(paths.spool())).at_most(MAX_LINES).run(store, now)?;
    Ok(match drained {
        Drained::Busy => true,
        Drained::Done(progress) => progress.is_complete,
    })
}
