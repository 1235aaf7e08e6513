//! `drain`: what hooks recorded goes from the spool into the database.

use crate::handler::{Context, Handler};
use base::{Paths, Timestamp};
use capture::Spool;
use store::Store;
use store::jobs::Failure;
use store::observations::Drain;

/// Does jobs of this kind.
pub(super) struct DrainSpool;

impl Handler for DrainSpool {
    fn kind(&self) -> &'static str {
        "drain"
    }

    fn run(&self, context: &mut Context) -> Result<(), Failure> {
        drain(&mut context.store, &context.paths).map_err(|error| Failure::Again(error.to_string()))
    }
}

/// Drains the whole spool. Someone else who is draining does the same work.
pub(crate) fn drain(store: &mut Store, paths: &Paths) -> Result<(), store::Error> {
    Drain::unbounded(&Spool::new(paths.spool())).run(store, Timestamp::now()).map(|_| ())
}
