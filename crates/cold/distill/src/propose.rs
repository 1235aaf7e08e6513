//! Step two: what the slice changes in the memory, by a model's answer or by extraction.

use crate::intent::Intent;
use crate::note::Note;
use crate::session::{Session, Step, Work};
use base::notice::{About, Key, Notice};
use base::project::Project;
use distiller::{Evidence, Operation, Question, Slice, Summary};
use memory::Memory;
use model::{Asker, Outcome as Asked, Reason, Request, Schema, Scope};
use serde_json::Value;

/// How many bad answers in a row a model may give about the same messages before they are distilled without one.
pub(crate) const MAX_BAD_ANSWERS: u64 = 3;

/// Who proposed the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A model.
    Model(String),
    /// Extraction, and why no model was asked.
    Extraction(String),
}

/// What a slice is to change.
pub(crate) struct Proposal {
    pub(crate) operations: Vec<Operation>,
    /// What the slice was about, for the journal; a model alone writes one.
    pub(crate) summary: Option<Summary>,
    pub(crate) way: Way,
}

/// What is wrong with a model's answer.
pub(crate) struct BadAnswer(pub(crate) String);

/// What asking a model gave.
pub(crate) enum Answer {
    /// JSON of the shape that was asked for, and the model's name.
    Value(Value, String),
    Bad(String),
    /// None, and why.
    Missing(String),
}

impl Proposal {
    /// Returns what extraction finds, and why no model was asked.
    pub(crate) fn by_extraction(slice: &Slice, why: String) -> Self {
        Self { operations: distiller::extract(slice), summary: None, way: Way::Extraction(why) }
    }

    /// Returns the operations with everything that applying them again needs.
    pub(crate) fn intent(&self, work: &Work<'_>, slice: &Slice) -> Intent {
        let Session { id, transcript, now, .. } = work.session;
        let mut intent = Intent::new(id, transcript, &work.share.author(), *now, slice.next.clone());
        intent.evidence = Evidence::cited_by(slice, &self.operations);
        intent.operations.clone_from(&self.operations);
        intent.journal = self.summary.clone().map(|summary| Note::of(slice, work.session, summary));
        if let Way::Model(model) = &self.way {
            intent.model.clone_from(model);
        }
        intent
    }

    pub(crate) fn log(&self, work: &Work<'_>, memory: &Memory, slice: &Slice) {
        let model = match &self.way {
            Way::Model(name) => name.clone(),
            Way::Extraction(why) => format!("none ({why})"),
        };
        work.log(&format!(
            "distiller: transcript={} lines={} slice_chars={} memory_chars={} model={model}",
            work.session.transcript.display(),
            slice.messages.len(),
            slice.render().chars().count(),
            memory.render().chars().count(),
        ));
    }
}

/// Asks the model, once; extracts where it gives no answer or is not to be asked.
pub(crate) fn propose(
    session: &Session<'_>,
    memory: &Memory,
    slice: &Slice,
    asks: bool,
) -> Result<Proposal, BadAnswer> {
    if !asks {
        let why = format!("{MAX_BAD_ANSWERS} bad answers of the model");
        return Ok(Proposal::by_extraction(slice, why));
    }
    match ask(session, distiller::question(memory, slice), schedule::KIND) {
        Answer::Value(answer, model) => {
            let summary = Summary::in_answer(&answer);
            let operations = distiller::parse_value(answer);
            let operations = operations.map_err(|refusal| BadAnswer(unusable(&refusal.to_string())))?;
            Ok(Proposal { operations, summary, way: Way::Model(model) })
        }
        Answer::Missing(why) => Ok(Proposal::by_extraction(slice, why)),
        Answer::Bad(problem) => Err(BadAnswer(problem)),
    }
}

/// Asks the model once, within the user's budget.
pub(crate) fn ask(session: &Session<'_>, question: Question, job: &str) -> Answer {
    let schema = match Schema::new(question.schema) {
        Ok(schema) => schema,
        Err(error) => return Answer::Missing(error.to_string()),
    };
    let (options, chosen) = (&session.settings.model_options, &session.settings.model);
    let name = chosen.clone().or_else(|| Some(options.name.clone()).filter(|name| !name.is_empty()));
    let request = Request {
        job: job.to_owned(),
        project: Project::of(session.cwd).key,
        system: question.system,
        prompt: question.prompt,
        schema,
        model: chosen.clone(),
        max_output: distiller::budget::ANSWER_TOKENS,
    };
    session.observer.reached(Step::Asking);
    match Asker::new(session.env, session.paths, options.clone()).once().ask(request) {
        Asked::Answered(answer) => {
            Answer::Value(answer, name.unwrap_or_else(|| "the provider's own choice".to_owned()))
        }
        Asked::Unavailable { reason: Reason::BadAnswer(problem) } => Answer::Bad(unusable(&problem)),
        Asked::Unavailable { reason } => {
            if let Reason::NoBudget(exhausted) = &reason {
                leave_budget_notice(session, exhausted.scope);
            }
            Answer::Missing(reason.to_string())
        }
    }
}

/// Returns what is wrong with an answer, in few words: where in it a parser stopped helps no reader of the log.
fn unusable(problem: &str) -> String {
    let openings = ["the answer is ", "the answer has ", "it is "];
    let problem = openings.iter().find_map(|opening| problem.strip_prefix(opening)).unwrap_or(problem);
    let problem = if problem.starts_with("not JSON") { "not JSON" } else { problem };
    format!("the model's answer was not usable ({problem})")
}

/// Has the user read, once a day, that the budget is used up.
fn leave_budget_notice(session: &Session<'_>, scope: Scope) {
    let whose = if scope == Scope::Project { " for this project" } else { "" };
    let text = format!(
        "today's model budget{whose} is used up; until tomorrow Wyren finds decisions by rules; see wyren spend"
    );
    let notice = Notice::new(Key::Budget, text).once(model::ledger::day_of(session.now));
    // `wyren spend` and the log say it, too.
    let _ = notice.leave(session.paths, About::Everything);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_13_an_answer_that_is_not_json_is_called_that() {
        for problem in ["it is not JSON: expected value at line 1 column 1", "the answer is not JSON: x"] {
            assert_eq!(unusable(problem), "the model's answer was not usable (not JSON)");
        }
        assert_eq!(unusable("it is empty"), "the model's answer was not usable (empty)");
        assert!(unusable("the answer has another shape: x").ends_with("(another shape: x)"));
    }
}
