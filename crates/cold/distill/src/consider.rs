//! What a distillation would do, without doing it: `wyren distill --dry-run`, and with files of the caller's choice.

use crate::Error;
use crate::apply::{self, change};
use crate::distill::{MAX_SLICES, SLICES_TIME};
use crate::plan::{self, Plan, Worth};
use crate::propose::{self, MAX_BAD_ANSWERS, Proposal, Way};
use crate::session::Session;
use crate::size::Room;
use crate::summarise;
use base::Timestamp;
use distiller::{Applied, Clearance, Context, Evidence, Operation, Question, Score, Slice};
use memory::Memory;
use schedule::Watermark;
use std::time::Instant;
use team_sync::Share;

/// What a distillation would do with a slice.
#[derive(Debug)]
pub struct Considered {
    /// What is new.
    pub slice: Slice,
    /// Its score.
    pub score: Score,
    /// The score below which nothing is distilled.
    pub threshold: u32,
    /// Whether a distillation has a model summarise it for the journal: it is not worth distilling, and `journal.model` is on.
    pub is_summarised: bool,
    /// What a model is asked about it.
    pub question: Question,
    /// What is to change in the memory.
    pub operations: Vec<Operation>,
    /// Who proposed the operations, and their effect on the memory; or what is wrong with the model's answer.
    pub done: Result<(Way, Applied), String>,
}

/// What a distillation of a clone would do.
#[derive(Debug)]
pub struct Rehearsal {
    /// What the intent of an interrupted distillation would change first.
    pub continued: Option<Applied>,
    /// The slices that it would take, each with the memory as the ones before leave it.
    pub slices: Vec<Considered>,
    /// The message after which the rest would wait for the next distillation.
    pub rest_after: Option<u64>,
}

/// Who is asked about a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Model,
    /// No model: it gave too many bad answers.
    NotAgain,
    /// No model: this is a rehearsal without one.
    Nothing,
}

impl Considered {
    /// Returns whether the score reaches the threshold.
    pub fn passes(&self) -> bool {
        self.score.passes(self.threshold)
    }
}

impl Session<'_> {
    /// Returns what [`Session::distill`] would do now, and changes nothing. `asks` allows asking a model.
    pub fn rehearse(&self, share: &Share, asks: bool) -> Result<Rehearsal, Error> {
        let (started, state, author) = (Instant::now(), share.folder().state(), share.author());
        let begun = self.begun(&state, &mut Watermark::read(&state));
        let (mut memory, mut taken, mut mark) = (share.memory()?, 0, begun.mark.clone());
        let mut asks = match asks {
            true if begun.bad_answers >= MAX_BAD_ANSWERS => Asks::NotAgain,
            true => Asks::Model,
            false => Asks::Nothing,
        };
        let next_asks = if asks == Asks::NotAgain { Asks::Model } else { asks };
        let mut rehearsal = Rehearsal { continued: None, slices: Vec::new(), rest_after: None };
        if let Some(intent) = plan::left_intent(&state, self.id, mark.as_ref()) {
            let when = Timestamp::from_millis(intent.when);
            let room = Room::of(share, &memory, when);
            let clearance = room.clearance(apply::noted(share, &intent));
            let context = Context {
                session: &intent.session,
                author: &intent.author,
                when,
                evidence: &intent.evidence,
                clearance,
            };
            let applied = distiller::apply(&memory, &intent.operations, &context);
            (memory, taken) = (applied.memory.clone(), clearance.taken + applied.taken);
            (mark, asks) = (Some(self.after(&intent)), next_asks);
            rehearsal.continued = Some(applied);
        }
        for number in 1.. {
            let plan = Plan::read(self, mark.as_ref())?;
            let room = Room::of(share, &memory, self.now);
            let considered = self.consider_plan(plan, &memory, &author, asks, room.clearance(taken));
            if let Ok((_, applied)) = &considered.done {
                (memory, taken) = (applied.memory.clone(), taken + applied.taken);
            }
            let is_bad = considered.done.is_err();
            let (has_more, next) = (considered.slice.has_more, considered.slice.next.clone());
            rehearsal.slices.push(considered);
            if !has_more || is_bad {
                break;
            }
            if number == MAX_SLICES || started.elapsed() > SLICES_TIME {
                rehearsal.rest_after = Some(next.message);
                break;
            }
            (mark, asks) = (Some(next), next_asks);
        }
        Ok(rehearsal)
    }

    /// Returns what would be done to a memory by the next slice, and changes nothing. `asks` allows asking a model. A slice
    /// whose score is too low gives no operations, unless the distillation is forced. `share` is the clone that the memory
    /// is of.
    pub fn consider(
        &self,
        memory: &Memory,
        author: &str,
        asks: bool,
        share: Option<&Share>,
    ) -> Result<Considered, Error> {
        let plan = Plan::read(self, self.settings.since.as_ref())?;
        let room = share.map(|share| Room::of(share, memory, self.now)).unwrap_or_default();
        let asks = if asks { Asks::Model } else { Asks::Nothing };
        Ok(self.consider_plan(plan, memory, author, asks, room.clearance(0)))
    }

    fn consider_plan(
        &self,
        plan: Plan,
        memory: &Memory,
        author: &str,
        asks: Asks,
        clearance: Clearance<'_>,
    ) -> Considered {
        let is_summarised = plan.worth == Worth::LowSignal && summarise::is_wanted(self, &plan);
        let Plan { slice, score, worth, threshold } = plan;
        let proposal = match (worth == Worth::Distill, asks) {
            (true, Asks::Nothing) => Ok(Proposal::by_extraction(&slice, "no model was asked".to_owned())),
            (true, _) => propose::propose(self, memory, &slice, asks == Asks::Model),
            (false, _) => {
                let way = Way::Extraction("nothing to distill".to_owned());
                Ok(Proposal { operations: Vec::new(), summary: None, way })
            }
        };
        let operations = proposal.as_ref().map(|proposal| proposal.operations.clone()).unwrap_or_default();
        let evidence = Evidence::of(&slice);
        let done = proposal.map_err(|answer| answer.0).map(|proposal| {
            let context = self.context(author, &evidence, clearance);
            (proposal.way, distiller::apply(memory, &proposal.operations, &context))
        });
        let question = match is_summarised {
            true => distiller::summary_question(&slice),
            false => distiller::question(memory, &slice),
        };
        Considered { slice, score, threshold, is_summarised, question, operations, done }
    }

    /// Applies what was considered to the clone's memory as it is now: others may have changed it since.
    pub fn adopt(&self, share: &Share, considered: &Considered) -> Result<Applied, Error> {
        let (author, evidence) = (share.author(), Evidence::of(&considered.slice));
        let memory = share.memory()?;
        self.note_size(share, &memory);
        let room = Room::of(share, &memory, self.now);
        let context = self.context(&author, &evidence, room.clearance(0));
        let applied = change(share, &considered.operations, &context)?;
        self.tell(share, &applied);
        Ok(applied)
    }

    fn context<'a>(
        &'a self,
        author: &'a str,
        evidence: &'a Evidence,
        clearance: Clearance<'a>,
    ) -> Context<'a> {
        Context { session: self.id, author, when: self.now, evidence, clearance }
    }
}
