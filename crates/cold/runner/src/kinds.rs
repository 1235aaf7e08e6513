//! The kinds of jobs there are. A new one is a file with its handler, a line in [`all`] and a row in [`KINDS`].

mod distill;
mod drain;
mod probe;
mod retain;
mod summarise;

pub(crate) use drain::{KIND as DRAIN, drain};
pub use probe::ask as ask_model;
pub(crate) use retain::{job as retain_job, request as retain_request};
pub(crate) use summarise::request_due as request_summaries;

use crate::handler::Handlers;

/// Returns the handlers of every kind of jobs.
pub fn all() -> Handlers {
    Handlers::default()
        .and(distill::DistillSession)
        .and(drain::DrainSpool)
        .and(probe::Probe)
        .and(retain::Retain)
        .and(summarise::SummariseSession)
}

/// What the documentation says about a kind of jobs.
#[derive(Debug)]
pub struct Kind {
    /// What [`crate::Handler::kind`] returns.
    pub name: &'static str,
    /// What it does.
    pub job: &'static str,
    /// The fields of its payload.
    pub payload: &'static str,
}

/// Every kind of jobs, for the table in `docs/formats.md`.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "distill",
        job: "distills what a session added since its last distillation into the team's memory",
        payload: "`session`, `transcript`, `cwd`; `wyren`, the `.wyren/` that counted its turns; `is_hearsay` when only the watermark names the session",
    },
    Kind {
        name: "drain",
        job: "moves what hooks recorded from the spool into the database",
        payload: "none",
    },
    Kind {
        name: "probe",
        job: "asks the model one small question, to check that it answers",
        payload: "none",
    },
    Kind {
        name: "retain",
        job: "lets go of what `journal.keep_payloads_days`, `journal.keep_entries_days` and `journal.max_mb` do not keep; once a day at most",
        payload: "none",
    },
    Kind {
        name: "summarise",
        job: "has a model summarise what a session without a team memory added since its last summary, once `journal.model` is on",
        payload: "`session`, `transcript`, `cwd`; `since`, where the last summary ended",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_has_a_handler_is_documented() {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names, all().kinds());
    }
}
