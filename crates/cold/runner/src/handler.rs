//! What does jobs of one kind, and what it is given for it.

use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::Store;
use store::jobs::{Failure, Job};

/// How long a job may take unless its handler says otherwise.
const LIMIT: Duration = Duration::from_secs(600);

/// How far a job came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is done.
    Done,
    /// It needs no doing any more, and counts as done.
    Needless {
        /// Why.
        reason: String,
    },
    /// A piece of it is done. The job is queued again, so that other jobs and a wish to stop come in between.
    Again {
        /// The earliest moment for the next piece.
        not_before: Timestamp,
    },
}

/// Does the jobs of one kind.
pub trait Handler: Send + Sync {
    /// Returns the kind of its jobs.
    fn kind(&self) -> &'static str;

    /// Does a job, or a piece of it. It may have been begun before, by a worker that died: doing it again must be
    /// harmless. A job that may take minutes does a bounded piece and returns [`Progress::Again`].
    fn run(&self, context: &mut Context) -> Result<Progress, Failure>;

    /// Returns how long one job may take; then it counts as failed.
    fn limit(&self, _settings: &Settings) -> Duration {
        LIMIT
    }
}

/// The surroundings of one job.
pub struct Context {
    /// The job.
    pub job: Job,
    /// The environment.
    pub env: Env,
    /// The user's folders.
    pub paths: Paths,
    /// The database.
    pub store: Store,
    pub(crate) stopping: Arc<AtomicBool>,
}

impl Context {
    /// Parses the payload; a failure is final, since a retry would read the same.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.job.payload)
            .map_err(|error| Failure::Final(format!("could not understand the payload: {error}")))
    }

    /// Says whether the worker was asked to stop: the job is then to return [`Progress::Again`] between two steps.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// The handlers that a worker knows.
#[derive(Clone, Default)]
pub struct Handlers {
    all: Vec<Arc<dyn Handler>>,
}

impl Handlers {
    /// Returns these handlers and one more.
    #[must_use]
    pub fn and(mut self, handler: impl Handler + 'static) -> Self {
        self.all.push(Arc::new(handler));
        self
    }

    /// Returns the handler for a kind of jobs.
    pub fn of(&self, kind: &str) -> Option<Arc<dyn Handler>> {
        self.all.iter().find(|handler| handler.kind() == kind).cloned()
    }

    /// Returns the kinds of jobs that can be done.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.all.iter().map(|handler| handler.kind()).collect()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.kinds()).finish()
    }
}
