//! The loop over the slices of a session, through all four steps.

use crate::plan::{Plan, Worth};
use crate::progress::Begun;
use crate::propose::{BadAnswer, MAX_BAD_ANSWERS, Proposal, Way};
use crate::session::{Session, Step, Work};
use crate::{Error, apply, intent, plan, progress, propose, publish, summarise};
use base::error::with_causes;
use distiller::{Applied, Score, Slice};
use std::time::{Duration, Instant};
use team_sync::Synced;

/// How many slices of a session are distilled in a row. One holds what a session says in hours.
pub(crate) const MAX_SLICES: usize = 4;

/// How long after the beginning another slice is still begun.
pub(crate) const SLICES_TIME: Duration = Duration::from_secs(300);

/// The result of a distillation.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The score of the last slice; `None` when there was nothing to score.
    pub score: Option<Score>,
    /// What was done to the memory, including by an intent that an interrupted distillation left.
    pub applied: Vec<Applied>,
    /// Whether a part of the session is left for the next distillation.
    pub has_more: bool,
    /// The result of publishing; `None` when nothing was published.
    pub synced: Option<Synced>,
}

/// How a distillation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing new.
    Empty,
    /// The score was too low.
    LowSignal,
    /// The model's answer could not be used: the memory is unchanged, and the same messages are distilled next time.
    BadAnswer(String),
    /// The session was distilled.
    Distilled(Way),
}

impl Session<'_> {
    /// Distills what the session said since its last distillation.
    pub fn distill(&self) -> Result<Report, Error> {
        let work = Work::open(self)?;
        // Whatever failed for want of the project fails again.
        self.distill_in(&work).map_err(|error| work.gone().map_or(error, Error::Gone))
    }

    fn distill_in(&self, work: &Work<'_>) -> Result<Report, Error> {
        let _lock = progress::lock(&work.state)?;
        let begun = progress::begin(work)?;
        work.reached(Step::Begun);
        // A memory that cannot be read fails where it is needed.
        if let Ok(memory) = work.share.memory() {
            self.note_size(&work.share, &memory);
        }
        let mut report = distill_slices(work, &begun).or_else(|error| {
            work.log(&format!("distiller error: {}", with_causes(&error)));
            match error {
                // It will not come back: nothing of the session is left to distill.
                Error::NoTranscript(_) => {
                    progress::mark(work, &self.last_mark(&work.state).unwrap_or_default(), Some(&begun))?;
                }
                _ => progress::give_up(work, None)?,
            }
            Err(error)
        })?;
        let is_unchanged = matches!(report.outcome, Outcome::BadAnswer(_)) && report.applied.is_empty();
        if self.settings.publishes && !is_unchanged && !self.observer.is_stopping() {
            report.synced = publish::publish(work);
        }
        Ok(report)
    }
}

fn distill_slices(work: &Work<'_>, begun: &Begun) -> Result<Report, Error> {
    let started = Instant::now();
    let mut report =
        Report { outcome: Outcome::Empty, score: None, applied: Vec::new(), has_more: false, synced: None };
    let (mut mark, mut bad_answers) = (begun.mark.clone(), begun.bad_answers);
    if let Some(intent) = plan::left_intent(&work.state, work.session.id, mark.as_ref()) {
        work.log("distiller: continuing with the intent of an interrupted distillation");
        (mark, bad_answers) = (Some(work.session.after(&intent)), 0);
        // It may have been applied already, to a memory that has changed since.
        work.taken.set(apply::noted(&work.share, &intent));
        report.applied.extend(apply::apply(work, &intent, None)?);
    }
    intent::remove(&work.state, work.session.id)?;
    for number in 1.. {
        let plan = Plan::read(work.session, mark.as_ref())?;
        plan.log(work);
        distill_slice(work, begun, &plan, bad_answers, &mut report)?;
        if !plan.slice.has_more || matches!(report.outcome, Outcome::BadAnswer(_)) {
            break;
        }
        let message = plan.slice.next.message;
        let is_late = number == MAX_SLICES || started.elapsed() > SLICES_TIME;
        if is_late || work.session.observer.is_stopping() {
            work.log(&format!("distiller: what follows message {message} is left for the next distillation"));
            progress::give_up(work, None)?;
            report.has_more = true;
            break;
        }
        work.log(&format!("distiller: too long for one slice; continuing after message {message}"));
        (mark, bad_answers) = (Some(plan.slice.next), 0);
    }
    Ok(report)
}

/// Distills one slice and adds the result to the report.
fn distill_slice(
    work: &Work<'_>,
    begun: &Begun,
    plan: &Plan,
    bad_answers: u64,
    report: &mut Report,
) -> Result<(), Error> {
    let (slice, ended) = (&plan.slice, (!plan.slice.has_more).then_some(begun));
    if plan.worth == Worth::Empty {
        return progress::mark(work, &slice.next, ended);
    }
    report.score = Some(plan.score.clone());
    if plan.worth == Worth::LowSignal {
        if report.outcome == Outcome::Empty {
            report.outcome = Outcome::LowSignal;
        }
        return match summary_of(work, plan) {
            Some(proposal) => carry_out(work, &proposal, slice, ended).map(drop),
            None => progress::mark(work, &slice.next, ended),
        };
    }
    let memory = work.share.memory()?;
    let proposal = match propose::propose(work.session, &memory, slice, bad_answers < MAX_BAD_ANSWERS) {
        Ok(proposal) => proposal,
        Err(BadAnswer(problem)) => {
            work.log(&format!("distiller: {problem}; nothing changed, trying again with the next turns"));
            report.outcome = Outcome::BadAnswer(problem);
            return progress::give_up(work, Some(bad_answers + 1));
        }
    };
    proposal.log(work, &memory, slice);
    report.applied.extend(carry_out(work, &proposal, slice, ended)?);
    report.outcome = Outcome::Distilled(proposal.way);
    Ok(())
}

/// Carries a proposal out; killed at any moment, the next distillation goes on with it.
fn carry_out(
    work: &Work<'_>,
    proposal: &Proposal,
    slice: &Slice,
    ended: Option<&Begun>,
) -> Result<Option<Applied>, Error> {
    let intent = proposal.intent(work, slice);
    intent.write(&work.state)?;
    work.reached(Step::Intended);
    let applied = apply::apply(work, &intent, ended)?;
    intent::remove(&work.state, work.session.id)?;
    work.reached(Step::Applied);
    Ok(applied)
}

/// Returns a model's summary of a slice that is not worth distilling, as a proposal that changes nothing in the memory; `None`
/// where the user wants none, or there is none.
fn summary_of(work: &Work<'_>, plan: &Plan) -> Option<Proposal> {
    let session = work.session;
    if !summarise::is_wanted(session, plan) {
        return None;
    }
    match summarise::ask(session, &plan.slice) {
        Ok((summary, model)) => {
            work.log(&format!("distiller: a summary for the journal, by {model}"));
            Some(Proposal { operations: Vec::new(), summary: Some(summary), way: Way::Model(model) })
        }
        Err(why) => {
            work.log(&format!("distiller: no summary by a model: {why}"));
            None
        }
    }
}
