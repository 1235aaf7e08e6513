//! `distill`: what a session has said since it was last distilled goes into the team's memory.

use crate::handler::{Context, Handler, Progress};
use base::Timestamp;
use base::error::with_causes;
use distill::{Error, Observer, Session, Settings};
use schedule::Payload;
use std::path::Path;
use std::time::Duration;
use store::jobs::Failure;

/// How long such a job may take beside the answer of a model that is asked at the last moment: its slices, and what comes
/// before and after them.
const LIMIT_WITHOUT_ANSWER: Duration = Duration::from_secs(300 + 120);

/// Ends a distillation between two slices when the worker is asked to stop.
struct Stopping<'a>(&'a Context);

impl Observer for Stopping<'_> {
    fn is_stopping(&self) -> bool {
        self.0.is_stopping()
    }
}

/// Does jobs of this kind.
pub(super) struct DistillSession;

impl Handler for DistillSession {
    fn kind(&self) -> &'static str {
        schedule::KIND
    }

    fn limit(&self, settings: &base::settings::Settings) -> Duration {
        LIMIT_WITHOUT_ANSWER + Duration::from_secs(settings.number("model.timeout_s"))
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let payload: Payload = context.payload()?;
        // Another repository may be around the folder of one that was removed.
        if let Some(wyren) = payload.wyren.as_deref().filter(|wyren| !Path::new(wyren).is_dir()) {
            return needless(&Error::Gone(wyren.into()));
        }
        let session = Session {
            env: &context.env,
            paths: &context.paths,
            cwd: Path::new(&payload.cwd),
            transcript: Path::new(&payload.transcript),
            id: &payload.session,
            now: Timestamp::now(),
            settings: Settings::load(&context.env, &context.paths),
            observer: &Stopping(context),
        };
        if payload.is_hearsay && !session.happened_here() {
            return match session.disown() {
                Ok(()) => Ok(Progress::Done),
                Err(error) if is_gone(&error) => needless(&error),
                Err(error) => Err(Failure::Again(with_causes(&error))),
            };
        }
        match session.distill() {
            // Cut short by its bounds, or by a worker that is asked to stop.
            Ok(report) if report.has_more => Ok(Progress::Again { not_before: Timestamp::now() }),
            // The clone's log has the details. A missing transcript does not come back.
            Ok(_) | Err(Error::NoTranscript(_)) => Ok(Progress::Done),
            Err(error) if is_gone(&error) => needless(&error),
            Err(error) => {
                let is_last = context.job.attempts >= context.job.max_attempts;
                if is_last && let Err(error) = session.leave() {
                    return Err(Failure::Again(with_causes(&error)));
                }
                Err(Failure::Again(with_causes(&error)))
            }
        }
    }
}

/// Returns whether a distillation failed because its project was removed. Its request says that there was one.
fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Gone(_) | Error::Share(team_sync::Error::NotSetUp(_)))
}

fn needless(error: &Error) -> Result<Progress, Failure> {
    Ok(Progress::Needless { reason: error.to_string() })
}
