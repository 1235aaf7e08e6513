//! `scan`: looks for lessons in what happened since the last time, a bounded piece at a time.

use crate::handler::{Context, Handler, Progress};
use base::Timestamp;
use base::error::with_causes;
use base::settings::Settings;
use learning::keep::Error;
use learning::scan::{self, Observer, Options};
use learning::words::MOST;
use lessons_admin::catalogue::Places;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::jobs::Failure;

/// How long one piece takes.
const PIECE: Duration = Duration::from_secs(5);
/// How long a job may take beside the answers of a model.
const LIMIT_WITHOUT_ANSWERS: Duration = Duration::from_secs(120);
/// How long to wait for another scan.
const LATER: Duration = Duration::from_secs(60);

/// Does jobs of this kind.
pub(super) struct Scan;

/// Ends a scan between two transcripts when the worker is asked to stop.
struct Stopping(Arc<AtomicBool>);

impl Observer for Stopping {
    fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Handler for Scan {
    fn kind(&self) -> &'static str {
        schedule::SCAN
    }

    fn limit(&self, settings: &Settings) -> Duration {
        let answers = MOST as u64 * settings.number("model.timeout_s");
        LIMIT_WITHOUT_ANSWERS + Duration::from_secs(answers)
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let now = Timestamp::now();
        // What waits in the spool happened as well.
        super::drain(&mut context.store, &context.env, &context.paths, now)
            .map_err(|error| Failure::Again(error.to_string()))?;
        let options = Options { most_time: Some(PIECE), ..Options::of(&context.env, &context.paths) };
        // Candidates are the user's, whatever project they are about.
        let places = Places {
            paths: context.paths.clone(),
            cwd: context.paths.data().to_owned(),
            env: context.env.clone(),
        };
        let mut observer = Stopping(Arc::clone(&context.stopping));
        let again = |rest: Duration| {
            let not_before = Timestamp::from_millis(Timestamp::now().millis() + rest.as_millis() as u64);
            Progress::Again { not_before }
        };
        let scanned = scan::run(&mut context.store, &places, &options, &mut observer);
        if let Ok(report) = &scanned {
            crate::words::improve(&places, &report.kept.new)
                .map_err(|error| Failure::Again(with_causes(&error)))?;
        }
        match scanned {
            // What is over the bound of new candidates waits until the next scan is due.
            Ok(report) if !report.is_cut => Ok(Progress::Done),
            Ok(_) => Ok(again(Duration::ZERO)),
            Err(Error::Busy) => Ok(again(LATER)),
            Err(error) => Err(Failure::Again(with_causes(&error))),
        }
    }
}
