//! `distill`: what a session has said since it was last distilled goes into the team's memory.

use crate::handler::{Context, Handler, Progress};
use base::error::with_causes;
use base::{Env, Paths, Timestamp, notice};
use config::{Config, Source};
use distill::{Error, Observer, Report, Session, Settings};
use distiller::{Change, Done};
use place::{FetchState, Folder, Reason};
use schedule::Payload;
use std::path::Path;
use std::time::Duration;
use store::jobs::Failure;
use team_sync::repository::Published;

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
        let stopping = Stopping(context);
        let session = Named { session: &payload.session, transcript: &payload.transcript, cwd: &payload.cwd }
            .open(context, &stopping);
        if payload.is_hearsay && !session.happened_here() {
            return match session.disown() {
                Ok(()) => Ok(Progress::Done),
                Err(error) if is_gone(&error) => needless(&error),
                Err(error) => Err(Failure::Again(with_causes(&error))),
            };
        }
        let distilled = session.distill().inspect(|report| tell_what_was_learned(&session, report));
        match distilled {
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

/// The session that the payload of a job names.
pub(super) struct Named<'p> {
    pub(super) session: &'p str,
    pub(super) transcript: &'p str,
    pub(super) cwd: &'p str,
}

impl<'p> Named<'p> {
    /// Returns it as it is distilled or summarised.
    pub(super) fn open(self, context: &'p Context, observer: &'p dyn Observer) -> Session<'p> {
        Session {
            env: &context.env,
            paths: &context.paths,
            cwd: Path::new(self.cwd),
            transcript: Path::new(self.transcript),
            id: self.session,
            now: Timestamp::now(),
            settings: settings(context),
            observer,
        }
    }
}

/// Returns how the user has sessions distilled. A model is asked with their own login only once they have read so, or chose
/// it themselves.
fn settings(context: &Context) -> Settings {
    let mut settings = Settings::load(&context.env, &context.paths);
    settings.model_options.is_unannounced =
        !notice::is_introduced(&context.paths) && !is_chosen_by_a_person(&context.paths);
    settings
}

/// Returns whether the user's own file chooses a model, or wants no lines in sessions. A variable is no person's word: a
/// repository may bring it.
fn is_chosen_by_a_person(paths: &Paths) -> bool {
    let config = Config::load(&Env::fixed::<String, String>([]), paths);
    config.settings().iter().filter(|setting| matches!(setting.source, Source::User(_))).any(|setting| {
        setting.key.name.starts_with("model.")
            || (setting.key.name == "journal.model" && setting.value == "on")
            || (setting.key.name == "ui.messages" && setting.value == "off")
    })
}

/// Has the user read how many entries the session added, and where they are.
fn tell_what_was_learned(session: &Session<'_>, report: &Report) {
    let added = |done: &&Done| matches!(done.change, Change::Added { .. } | Change::Replaced { .. });
    let count = report.applied.iter().flat_map(|applied| &applied.done).filter(added).count();
    let Some(folder) = Folder::find(session.cwd).filter(|_| count > 0) else { return };
    let whereto = match report.synced.as_ref().map(|synced| &synced.published) {
        Some(Published::Landed(_)) => {
            let remote = FetchState::read(&folder.wyren).remote;
            format!("pushed to {}", remote.as_deref().unwrap_or("the remote"))
        }
        Some(Published::Queued(Reason::NoRemote | Reason::NotAllowed)) | None => "kept here".to_owned(),
        Some(_) => "kept here until the next sync".to_owned(),
    };
    // `wyren memory` and the log say it, too.
    let _ = notice::learned(session.paths, &folder.wyren, session.id, count as u64, &whereto);
}

/// Returns whether a distillation failed because its project was removed. Its request says that there was one.
fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Gone(_) | Error::Share(team_sync::Error::NotSetUp(_)))
}

fn needless(error: &Error) -> Result<Progress, Failure> {
    Ok(Progress::Needless { reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_chosen(config: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        std::fs::write(paths.config_file(), config).unwrap();
        is_chosen_by_a_person(&paths)
    }

    #[test]
    fn only_the_users_own_file_chooses_a_model_before_a_session_has_said_so() {
        assert!(!is_chosen(""));
        assert!(is_chosen("[model]\nprovider = \"cli\"\n"));
        assert!(is_chosen("[model]\ndaily_budget_usd = \"1\"\n"));
        assert!(is_chosen("[journal]\nmodel = \"on\"\n"));
        assert!(!is_chosen("[journal]\nmodel = \"off\"\n"));
        assert!(is_chosen("[ui]\nmessages = \"off\"\n"), "who wants no line gets none");
        assert!(!is_chosen("[ui]\nmessages = \"important\"\n[distill]\nturns = 3\n"));
    }
}
