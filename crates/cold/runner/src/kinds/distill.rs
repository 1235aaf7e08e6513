//! `distill`: what a session has said since it was last distilled goes into the team's memory.

use crate::handler::{Context, Handler, Progress};
use base::Timestamp;
use config::Config;
use distill::{Distillation, Error};
use schedule::Payload;
use std::path::Path;
use std::time::Duration;
use store::jobs::Failure;

/// How long such a job may take: the longest answer that the settings allow a model, begun at the last moment, and what
/// comes before and after it.
const LIMIT: Duration = Duration::from_secs(3_600 + 300 + 120);

/// Does jobs of this kind.
pub(super) struct DistillSession;

impl Handler for DistillSession {
    fn kind(&self) -> &'static str {
        schedule::KIND
    }

    fn limit(&self) -> Duration {
        LIMIT
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let payload: Payload = context.payload()?;
        let config = Config::load(&context.env, &context.paths);
        let publishes = config.get("memory.publish").is_ok_and(|setting| setting.value == "true");
        let distillation = Distillation {
            env: &context.env,
            paths: &context.paths,
            cwd: Path::new(&payload.cwd),
            transcript: Path::new(&payload.transcript),
            session: &payload.session,
            since: None,
            is_forced: false,
            model: None,
            publishes,
            now: Timestamp::now(),
            tell: &|_| {},
            progress: &|_| {},
            stops_after: &|_| false,
        };
        if payload.is_hearsay && !distillation.happened_here() {
            let disowned = distillation.disown().map_err(|error| Failure::Again(error.to_string()));
            return disowned.map(|()| Progress::Done);
        }
        match distillation.run() {
            // The log says so, and there is nothing to wait for.
            Ok(_) | Err(Error::NoTranscript(_)) => Ok(Progress::Done),
            Err(error @ Error::Share(team_sync::Error::NotSetUp(_))) => {
                Err(Failure::Final(error.to_string()))
            }
            Err(error) => {
                let is_last = context.job.attempts >= context.job.max_attempts;
                if is_last && let Err(error) = distillation.leave() {
                    return Err(Failure::Again(error.to_string()));
                }
                Err(Failure::Again(error.to_string()))
            }
        }
    }
}
