//! Step one: which part of the session is next, and whether it is worth distilling.

use crate::Error;
use crate::intent::Intent;
use crate::session::{Session, Work};
use base::settings::Settings;
use capture::{Rules, Spool};
use distiller::{Score, Slice};
use place::node;
use std::path::Path;
use transcript::Mark;

/// The next part of a session.
pub(crate) struct Plan {
    pub(crate) slice: Slice,
    pub(crate) score: Score,
    pub(crate) worth: Worth,
    pub(crate) threshold: u32,
}

/// Whether a slice is distilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// It says nothing.
    Empty,
    /// Its score is too low.
    LowSignal,
    /// Yes.
    Distill,
}

impl Plan {
    /// Reads what follows `since`, and scores it.
    pub(crate) fn read(session: &Session<'_>, since: Option<&Mark>) -> Result<Self, Error> {
        if !session.transcript.is_file() {
            return Err(Error::NoTranscript(session.transcript.to_owned()));
        }
        // The transcript also has what hooks left out, such as what was done while recording was paused.
        let rules = Rules::of(&Settings::read(session.env, &session.paths.hook_settings()), session.env);
        let rules = rules.knowing(&Spool::new(session.paths.spool()));
        let slice = Slice::read_without(session.transcript, since, &|id| rules.keeps_from_team(Some(id)))?;
        let (score, threshold) = (distiller::score(&slice), session.settings.threshold);
        let worth = if slice.is_empty() {
            Worth::Empty
        } else if score.passes(threshold) || session.settings.is_forced {
            Worth::Distill
        } else {
            Worth::LowSignal
        };
        Ok(Self { slice, score, worth, threshold })
    }

    /// Returns whether a model may be asked for a summary of it: something was done or said that a journal tells of. Most
    /// work decides nothing, and so scores too low to be distilled.
    pub(crate) fn is_worth_a_summary(&self) -> bool {
        match self.worth {
            Worth::Empty => false,
            Worth::LowSignal => self.slice.has_calls() || self.score.points > 0,
            Worth::Distill => true,
        }
    }

    /// Logs what was found, in the Node version's words where it has some.
    pub(crate) fn log(&self, work: &Work<'_>) {
        if self.worth == Worth::Empty {
            return work.log("empty transcript slice; nothing to distill");
        }
        if self.slice.left_out > 0 {
            let chars = self.slice.left_out;
            work.log(&format!("distiller: {chars} characters of tool inputs and outputs are left out"));
        }
        let (points, threshold) = (self.score.points, self.threshold);
        let passes = self.score.passes(threshold);
        work.log(&node::score_line(points, threshold, passes));
        work.log(&node::reasons_line(&self.score.to_string()));
        if self.worth == Worth::LowSignal {
            work.log("distiller: low-signal session; skipping distillation");
        }
    }
}

impl Session<'_> {
    /// Returns where to begin after the intent of an interrupted distillation: where it ended, unless the caller chose.
    pub(crate) fn after(&self, intent: &Intent) -> Mark {
        self.settings.since.clone().unwrap_or_else(|| intent.next.clone())
    }
}

/// Returns the intent of an interrupted distillation of a session that was not marked as done yet.
pub(crate) fn left_intent(state: &Path, session: &str, mark: Option<&Mark>) -> Option<Intent> {
    let position = |mark: &Mark| (mark.message, mark.offset);
    let is_open = |intent: &Intent| mark.is_none_or(|mark| position(&intent.next) > position(mark));
    Intent::left(state, session).filter(is_open)
}
