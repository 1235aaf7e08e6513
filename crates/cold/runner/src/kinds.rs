//! The kinds of jobs there are. A new one is a file with its handler, a line in [`all`] and a row in [`KINDS`].

mod distill;
mod drain;
mod embed;
mod keep;
mod probe;
mod retain;
mod scan;
mod summarise;

pub(crate) use drain::{KIND as DRAIN, drain};
pub(crate) use embed::request as request_vectors;
pub use embed::server as embeddings;
pub(crate) use keep::request_due as request_transcripts;
pub use probe::ask as ask_model;
pub(crate) use retain::{job as retain_job, request as retain_request};
pub(crate) use summarise::request_due as request_summaries;

use crate::handler::Handlers;

/// Returns the handlers of every kind of jobs.
pub fn all() -> Handlers {
    Handlers::default()
        .and(distill::DistillSession)
        .and(drain::DrainSpool)
        .and(embed::Embed)
        .and(keep::KeepTranscript)
        .and(probe::Probe)
        .and(retain::Retain)
        .and(scan::Scan)
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
        job: "moves what hooks recorded from the spool into the database, derives the journal and brings the search index in step",
        payload: "none",
    },
    Kind {
        name: "embed",
        job: "gets the vectors of what is searched from `search.embeddings_endpoint`, once that is set; at most `search.embeddings_daily` a day",
        payload: "none",
    },
    Kind {
        name: "keep-transcript",
        job: "copies the transcript of a session that ended, once `capture.keep_transcripts` is on",
        payload: "`session`, `transcript`",
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
        name: "scan",
        job: "looks for lessons in observations and transcripts, from where the last scan ended",
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
