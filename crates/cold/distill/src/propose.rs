//! Step two: what the slice changes in the memory, by a model's answer or by extraction.

use crate::intent::Intent;
use crate::session::{Session, Step, Work};
use base::project::Project;
use distiller::{Evidence, Operation, Slice};
use memory::Memory;
use model::{Asker, Outcome as Asked, Reason, Request, Schema};

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
    pub(crate) way: Way,
}

/// What is wrong with a model's answer.
pub(crate) struct BadAnswer(pub(crate) String);

/// What asking a model gave.
enum Answer {
    Proposal(Proposal),
    Bad(String),
    /// None, and why.
    Missing(String),
}

impl Proposal {
    /// Returns what extraction finds, and why no model was asked.
    pub(crate) fn by_extraction(slice: &Slice, why: String) -> Self {
        Self { operations: distiller::extract(slice), way: Way::Extraction(why) }
    }

    /// Returns the operations with everything that applying them again needs.
    pub(crate) fn intent(&self, work: &Work<'_>, slice: &Slice) -> Intent {
        let Session { id, transcript, now, .. } = work.session;
        let mut intent = Intent::new(id, transcript, &work.share.author(), *now, slice.next.clone());
        intent.evidence = Evidence::cited_by(slice, &self.operations);
        intent.operations.clone_from(&self.operations);
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
    match ask(session, memory, slice) {
        Answer::Proposal(proposal) => Ok(proposal),
        Answer::Missing(why) => Ok(Proposal::by_extraction(slice, why)),
        Answer::Bad(problem) => Err(BadAnswer(problem)),
    }
}

fn ask(session: &Session<'_>, memory: &Memory, slice: &Slice) -> Answer {
    let question = distiller::question(memory, slice);
    let schema = match Schema::new(question.schema) {
        Ok(schema) => schema,
        Err(error) => return Answer::Missing(error.to_string()),
    };
    let (options, chosen) = (&session.settings.model_options, &session.settings.model);
    let name = chosen.clone().or_else(|| Some(options.name.clone()).filter(|name| !name.is_empty()));
    let request = Request {
        job: schedule::KIND.to_owned(),
        project: Project::of(session.cwd).key,
        system: question.system,
        prompt: question.prompt,
        schema,
        model: chosen.clone(),
        max_output: distiller::budget::ANSWER_TOKENS,
    };
    session.observer.reached(Step::Asking);
    match Asker::new(session.env, session.paths, options.clone()).once().ask(request) {
        Asked::Answered(answer) => match distiller::parse_value(answer) {
            Ok(operations) => {
                let way = Way::Model(name.unwrap_or_else(|| "the provider's own choice".to_owned()));
                Answer::Proposal(Proposal { operations, way })
            }
            Err(refusal) => Answer::Bad(refusal.to_string()),
        },
        Asked::Unavailable { reason: Reason::BadAnswer(problem) } => {
            Answer::Bad(format!("the model's answer could not be used: {problem}"))
        }
        Asked::Unavailable { reason } => Answer::Missing(reason.to_string()),
    }
}
