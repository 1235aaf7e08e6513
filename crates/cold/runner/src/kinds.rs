//! The kinds of jobs there are. A new one is a file with its handler, and one line here.

mod distill;
mod drain;
mod probe;

pub(crate) use drain::{KIND as DRAIN, drain};

use crate::handler::Handlers;

/// Returns the handlers of every kind of jobs.
pub fn all() -> Handlers {
    Handlers::default().and(distill::DistillSession).and(drain::DrainSpool).and(probe::Probe)
}
