//! The background worker: leases jobs and does them, one at a time, then goes away. A job that takes long is overtaken by
//! those of other projects, and given up at its limit: one damaged repository keeps none of the others waiting.
//!
//! One worker per user, by a file lock. It does nothing that someone else could not do later: killed at any moment, it
//! leaves a lease behind that the next worker takes back, and nothing else. What a job does is its handler's business
//! ([`Handler`]); [`kinds`] lists the handlers.

mod handler;
mod intake;
pub mod kinds;
mod log;
mod program;
mod run;
mod shift;
mod signal;
pub mod words;

pub use handler::{Context, Handler, Handlers, Progress};
pub use intake::take_in;
pub use log::{log_cap, log_file};
pub use run::{CAP, Ended, Error, Options, run};
