//! The session that is distilled: what every step gets.

use crate::Error;
use base::{Env, Paths, Timestamp};
use config::{Config, Source};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;
use team_sync::Share;
use transcript::Mark;

/// A session and how it is distilled.
pub struct Session<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The user's folders.
    pub paths: &'a Paths,
    /// The folder that the session works in.
    pub cwd: &'a Path,
    /// Its transcript.
    pub transcript: &'a Path,
    /// The client's id for it.
    pub id: &'a str,
    /// The time of the distillation. Entries carry the day.
    pub now: Timestamp,
    /// How it is distilled.
    pub settings: Settings,
    /// Receives log lines and steps, and may ask for an early end.
    pub observer: &'a dyn Observer,
}

/// How a session is distilled: the user's configuration, read once, and what the caller changes of it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to begin, instead of where the session was distilled last.
    pub since: Option<Mark>,
    /// Whether to distill even when the score is below the threshold.
    pub is_forced: bool,
    /// The model to ask, instead of the configured one.
    pub model: Option<String>,
    /// Whether the memory is published afterwards; `memory.publish`.
    pub publishes: bool,
    /// The score below which nothing is distilled; `distill.min_score`.
    pub threshold: u32,
    /// Whether a model summarises also what is not distilled; `journal.model`.
    pub summarises: bool,
    /// How long publishing may take; `memory.sync_seconds`.
    pub publish_time: Duration,
    /// Which provider is asked, and its limits.
    pub model_options: model::Options,
}

impl Settings {
    /// Reads the user's configuration.
    pub fn load(env: &Env, paths: &Paths) -> Self {
        let config = Config::load(env, paths);
        let value = |name: &str| config.get(name).ok().map(|setting| setting.value.clone());
        let number = |name: &str| value(name).and_then(|value| value.parse::<u64>().ok());
        let threshold = number("distill.min_score").and_then(|number| u32::try_from(number).ok());
        Self {
            since: None,
            is_forced: false,
            model: None,
            publishes: value("memory.publish").as_deref() == Some("true"),
            threshold: threshold.unwrap_or(distiller::DEFAULT_THRESHOLD),
            summarises: wants_summaries(paths),
            publish_time: Duration::from_secs(number("memory.sync_seconds").unwrap_or_default()),
            model_options: model::Options::of(&config),
        }
    }
}

/// Returns whether the user's own file has a model summarise sessions for the journal. Neither a repository nor a variable may
/// spend their money.
pub fn wants_summaries(paths: &Paths) -> bool {
    let config = Config::load(&Env::fixed::<String, String>([]), paths);
    config
        .get("journal.model")
        .is_ok_and(|setting| setting.value == "on" && matches!(setting.source, Source::User(_)))
}

/// A point of a distillation. The process may be killed at any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The watermark says that a distillation runs.
    Begun,
    /// The model is about to be asked.
    Asking,
    /// The intent is written.
    Intended,
    /// The memory is changed.
    Changed,
    /// The watermark says how far the session is distilled.
    Marked,
    /// The intent is removed.
    Applied,
    /// The memory is about to be published.
    Publishing,
}

/// Follows a distillation. `()` ignores everything.
pub trait Observer {
    /// Receives a line that also goes into the clone's log.
    fn line(&self, _line: &str) {}

    /// Receives each step when it is reached.
    fn reached(&self, _step: Step) {}

    /// Returns whether to end before the next slice. What is left stays for the next distillation.
    fn is_stopping(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// A session with the memory of its clone.
pub(crate) struct Work<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) share: Share,
    /// `.wyren/state/` of the clone.
    pub(crate) state: PathBuf,
    /// How many entries left the memory so far without anything in their place.
    pub(crate) taken: Cell<usize>,
}

impl<'a> Work<'a> {
    pub(crate) fn open(session: &'a Session<'a>) -> Result<Self, Error> {
        let share = Share::open(session.cwd, session.env)?;
        let state = share.folder().state();
        Ok(Self { session, share, state, taken: Cell::new(0) })
    }

    /// Returns the `.wyren/` of the clone if it was removed meanwhile.
    pub(crate) fn gone(&self) -> Option<PathBuf> {
        let wyren = &self.share.folder().wyren;
        (!wyren.is_dir()).then(|| wyren.clone())
    }

    pub(crate) fn log(&self, message: &str) {
        self.session.observer.line(message);
        self.share.log(message);
    }

    pub(crate) fn reached(&self, step: Step) {
        self.session.observer.reached(step);
    }
}
