//! What a distillation would do, without doing it: `wyren distill --dry-run`, and with files of the caller's choice.

use crate::plan::{Plan, Worth};
use crate::propose::{self, Proposal, Way};
use crate::session::Session;
use crate::{Error, apply};
use distiller::{Applied, Context, Evidence, Operation, Question, Score, Slice};
use memory::Memory;
use team_sync::Share;

/// What a distillation would do.
#[derive(Debug)]
pub struct Considered {
    /// What is new.
    pub slice: Slice,
    /// Its score.
    pub score: Score,
    /// The score below which nothing is distilled.
    pub threshold: u32,
    /// What a model is asked about it.
    pub question: Question,
    /// What is to change in the memory.
    pub operations: Vec<Operation>,
    /// Who proposed the operations, and their effect on the memory; or what is wrong with the model's answer.
    pub done: Result<(Way, Applied), String>,
}

impl Considered {
    /// Returns whether the score reaches the threshold.
    pub fn passes(&self) -> bool {
        self.score.passes(self.threshold)
    }
}

impl Session<'_> {
    /// Returns what would be done to a memory, and changes nothing. `asks` allows asking a model. A slice whose score is too
    /// low gives no operations, unless the distillation is forced.
    pub fn consider(&self, memory: &Memory, author: &str, asks: bool) -> Result<Considered, Error> {
        let Plan { slice, score, worth, threshold } = Plan::read(self, self.settings.since.as_ref())?;
        let proposal = match (worth == Worth::Distill, asks) {
            (true, true) => propose::propose(self, memory, &slice, true),
            (true, false) => Ok(Proposal::by_extraction(&slice, "no model was asked".to_owned())),
            (false, _) => {
                let way = Way::Extraction("nothing to distill".to_owned());
                Ok(Proposal { operations: Vec::new(), way })
            }
        };
        let operations = proposal.as_ref().map(|proposal| proposal.operations.clone()).unwrap_or_default();
        let evidence = Evidence::of(&slice);
        let done = proposal.map_err(|answer| answer.0).map(|proposal| {
            let applied = distiller::apply(memory, &proposal.operations, &self.context(author, &evidence));
            (proposal.way, applied)
        });
        let question = distiller::question(memory, &slice);
        Ok(Considered { slice, score, threshold, question, operations, done })
    }

    /// Applies what was considered to the clone's memory as it is now: others may have changed it since.
    pub fn adopt(&self, share: &Share, considered: &Considered) -> Result<Applied, Error> {
        let (author, evidence) = (share.author(), Evidence::of(&considered.slice));
        Ok(apply::change(share, &considered.operations, &self.context(&author, &evidence))?)
    }

    fn context<'a>(&'a self, author: &'a str, evidence: &'a Evidence) -> Context<'a> {
        Context { session: self.id, author, when: self.now, evidence }
    }
}
