//! A model's summary for the journal where nothing is distilled, for want of a team memory or of something worth keeping there:
//! the question of a distillation without its first half.
//!
//! The summary is an observation, and says where the next one begins. So nothing else has to be kept, and a process that is
//! killed after the answer asks again only if it did not come to append it.

use crate::Error;
use crate::note::{self, Note};
use crate::plan::Plan;
use crate::propose::{self, Answer};
use crate::session::Session;
use distiller::{Slice, Summary};
use transcript::Mark;

/// The name under which the ledger has these calls.
const JOB: &str = "summarise";

/// The result of summarising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summarised {
    /// There is a summary, by this model.
    Kept(String),
    /// There is none, and why: the summary by rules stays.
    ByRules(String),
}

impl Session<'_> {
    /// Summarises what the session said since `since`, by one question to a model.
    pub fn summarise(&self, since: Option<&Mark>) -> Result<Summarised, Error> {
        if !note::is_recorded(self) {
            // An answer that is not kept would be asked for again and again.
            return Ok(Summarised::ByRules("nothing is recorded here".to_owned()));
        }
        let plan = Plan::read(self, since)?;
        let note = |summary: Summary| Note::of(&plan.slice, self, summary);
        let by_rules = |why: String| {
            note(Summary::default()).keep_mark(self, &why)?;
            Ok(Summarised::ByRules(why))
        };
        if !plan.is_worth_a_summary() {
            return by_rules("nothing that needs a model".to_owned());
        }
        match ask(self, &plan.slice) {
            Ok((summary, model)) => {
                note(summary).keep(self)?;
                Ok(Summarised::Kept(model))
            }
            Err(why) => by_rules(why),
        }
    }
}

/// Returns whether the user has a model summarise what is not worth distilling, and this is worth a summary.
pub(crate) fn is_wanted(session: &Session<'_>, plan: &Plan) -> bool {
    session.settings.summarises && plan.is_worth_a_summary() && note::is_recorded(session)
}

/// Asks a model for the summary of a slice alone; returns it with the model's name, or why there is none.
pub(crate) fn ask(session: &Session<'_>, slice: &Slice) -> Result<(Summary, String), String> {
    match propose::ask(session, distiller::summary_question(slice), JOB) {
        Answer::Value(answer, model) => match Summary::in_answer(&answer) {
            Some(summary) => Ok((summary, model)),
            None => Err("the model's answer has no summary".to_owned()),
        },
        Answer::Bad(why) | Answer::Missing(why) => Err(why),
    }
}
