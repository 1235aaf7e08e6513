//! One distillation, from the transcript to the remote, in steps of which each may be the last.
//!
//! ```text
//! begin ─► slice ─► score ─► ask or extract ─► plan ─► memory ─► watermark ─► plan forgotten ─┬─► remote
//!            ▲                                                        what was too long goes on │
//!            └──────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Killed before the plan is written, a distillation has changed nothing. Killed after it, the next one finds the plan,
//! applies it (which changes nothing that was changed already) and goes on behind it. So the memory and the watermark
//! agree in the end, no turn is distilled twice, and none is passed over.

use super::plan::Plan;
use base::lock::Lock;
use base::project::Project;
use base::{Env, Paths, Timestamp, files};
use config::Config;
use distiller::{Applied, Context, Evidence, Mark, Operation, Question, Score, Slice};
use memory::Memory;
use model::{Asker, Outcome as Asked, Reason, Request, Schema};
use place::Folder;
use schedule::marks::{self, Position};
use schedule::{Hold, Watermark};
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use team_sync::repository::Published;
use team_sync::{Share, Synced};
use transcript::Reader;

/// How long to wait for another distillation of the same clone.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// How long to wait for the watermark, which hooks hold for a millisecond.
const WATERMARK_PATIENCE: Duration = Duration::from_secs(5);

/// How long after a request the flag stays, however quick the distillation was: whoever asked may look at it.
const SETTLE_MILLIS: u64 = 300;

/// How many slices of a session are distilled in a row: one is all that a session says in hours.
const MAX_SLICES: usize = 4;

/// How long after the beginning another slice is still begun.
const SLICES_TIME: Duration = Duration::from_secs(300);

/// How often a model may give a bad answer about the same turns before they are distilled without one.
const MAX_BAD_ANSWERS: u64 = 3;

/// How many lines of a transcript are looked at for the session's id.
const MAX_LINES_TO_ID: usize = 200;

/// Why a distillation did not come to its end. The memory is as it was, or the next distillation goes on with it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another one of the same clone is running.
    #[error("another distillation of this repository is running")]
    Busy,
    /// There is no transcript.
    #[error("there is no transcript at {}", .0.display())]
    NoTranscript(PathBuf),
    /// The transcript could not be read.
    #[error("could not read the transcript: {0}")]
    Transcript(#[from] transcript::Error),
    /// The watermark could not be used.
    #[error("could not keep the state of the distillation: {0}")]
    State(#[from] io::Error),
    /// The memory could not be changed.
    #[error(transparent)]
    Share(#[from] team_sync::Error),
    /// A test asked to stop here.
    #[error("interrupted after {0:?}")]
    Interrupted(Step),
}

/// A point at which a distillation may be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The flag says that it runs.
    Begun,
    /// The plan is written.
    Planned,
    /// The memory is changed.
    Changed,
    /// The watermark says how far the session is distilled.
    Marked,
    /// The plan is forgotten.
    Forgotten,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 5] = [Self::Begun, Self::Planned, Self::Changed, Self::Marked, Self::Forgotten];
}

/// What a distillation is of, and how it is done.
pub struct Distillation<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The user's folders.
    pub paths: &'a Paths,
    /// The folder that the session works in.
    pub cwd: &'a Path,
    /// Its transcript.
    pub transcript: &'a Path,
    /// Its id.
    pub session: &'a str,
    /// Where to begin, instead of where the session was distilled last.
    pub since: Option<Mark>,
    /// Whether a low score is no reason to stop.
    pub is_forced: bool,
    /// The model, instead of the one in the settings.
    pub model: Option<String>,
    /// Whether the memory is published afterwards.
    pub publishes: bool,
    /// When this is. Entries carry the day.
    pub now: Timestamp,
    /// Is told what goes into the log of the clone as well.
    pub tell: &'a dyn Fn(&str),
    /// Is told what is going on, for whoever waits.
    pub progress: &'a dyn Fn(&str),
    /// Says after each step whether to stop there, for tests.
    pub stops_after: &'a dyn Fn(Step) -> bool,
}

/// What came of a distillation.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How promising the slice was, of several the last; `None` when there was nothing to score.
    pub score: Option<Score>,
    /// What was done to the memory, also by a plan that somebody had left.
    pub applied: Vec<Applied>,
    /// What came of publishing; `None` when nothing was to be published.
    pub synced: Option<Synced>,
}

/// How a distillation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing new.
    Empty,
    /// The score was too low.
    LowSignal,
    /// The model's answer was no good: nothing was changed, and the same turns come again.
    BadAnswer(String),
    /// It was distilled.
    Distilled(Way),
}

/// Who found what is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A model.
    Model(String),
    /// Extraction, and why no model was asked.
    Extraction(String),
}

/// What a slice is to do to the memory.
struct Proposal {
    operations: Vec<Operation>,
    way: Way,
}

/// What a distillation would do.
#[derive(Debug)]
pub struct Considered {
    /// What is new.
    pub slice: Slice,
    /// How promising it is.
    pub score: Score,
    /// The score below which nothing is distilled.
    pub threshold: u32,
    /// What a model is asked about it.
    pub question: Question,
    /// What is to be done to the memory.
    pub operations: Vec<Operation>,
    /// Who says what is to be done, and what it does to the memory; the fault of a model's answer that was no good.
    pub done: Result<(Way, Applied), String>,
}

impl Considered {
    /// Says whether the slice is worth distilling.
    pub fn passes(&self) -> bool {
        self.score.passes(self.threshold)
    }
}

/// What was so when a distillation began.
struct Begun {
    /// The session's turns so far: the slice holds them all.
    turns: u64,
    /// When it was asked for.
    requested_at: u64,
    bad_answers: u64,
    mark: Option<Mark>,
}

impl Distillation<'_> {
    /// Distils.
    pub fn run(&self) -> Result<Report, Error> {
        let share = Share::open(self.cwd, self.env)?;
        let state = share.folder().state();
        let _lock = self.lock(&state)?;
        let begun = self.begin(&state)?;
        self.reached(Step::Begun)?;
        let distilled = self.distil(&share, &state, &begun);
        match &distilled {
            // Nobody who was killed cleans up.
            Err(Error::Interrupted(_)) => {}
            // It will not come back: the session has nothing left.
            Err(error @ Error::NoTranscript(_)) => {
                self.log(&share, &format!("distiller error: {error}"));
                self.mark(&state, &self.last_mark(&state).unwrap_or_default(), Some(&begun))?;
            }
            Err(error) => {
                self.log(&share, &format!("distiller error: {error}"));
                self.give_up(&state, None)?;
            }
            Ok(_) => {}
        }
        let mut report = distilled?;
        let is_unchanged = matches!(report.outcome, Outcome::BadAnswer(_)) && report.applied.is_empty();
        if self.publishes && !is_unchanged {
            report.synced = self.publish(&share);
        }
        Ok(report)
    }

    /// Returns what would be done to a memory, and changes nothing. A model is asked only when that is wanted; what is not
    /// worth distilling is not distilled here either, unless it is forced.
    pub fn consider(&self, memory: &Memory, author: &str, asks: bool) -> Result<Considered, Error> {
        let slice = Slice::read(self.transcript, self.since.as_ref())?;
        let (score, threshold) = (distiller::score(&slice), self.threshold());
        let is_worth = !slice.is_empty() && (score.passes(threshold) || self.is_forced);
        let nothing =
            || Proposal { operations: Vec::new(), way: Way::Extraction("nothing to distil".to_owned()) };
        let proposal = match (is_worth, asks) {
            (true, true) => self.propose(memory, &slice, true),
            (true, false) => Ok(extraction(&slice, "no model was asked".to_owned())),
            (false, _) => Ok(nothing()),
        };
        let operations = proposal.as_ref().map(|proposal| proposal.operations.clone()).unwrap_or_default();
        let done = proposal.map(|proposal| {
            let evidence = Evidence::of(&slice);
            let context = Context { session: self.session, author, when: self.now, evidence: &evidence };
            (proposal.way, distiller::apply(memory, &proposal.operations, &context))
        });
        let question = distiller::question(memory, &slice);
        Ok(Considered { slice, score, threshold, question, operations, done })
    }

    /// Does to the memory of the clone what was considered: to what it is now, others may have changed it since.
    pub fn adopt(&self, share: &Share, considered: &Considered) -> Result<Applied, Error> {
        let (author, evidence) = (share.author(), Evidence::of(&considered.slice));
        let context = Context { session: self.session, author: &author, when: self.now, evidence: &evidence };
        Ok(change(share, &considered.operations, &context)?)
    }

    /// Keeps other distillations of the clone away until the lock is dropped.
    pub fn lock(&self, state: &Path) -> Result<Lock, Error> {
        files::refuse_link(state)?;
        Lock::exclusive(&state.join("distill.lock"), LOCK_PATIENCE)?.ok_or(Error::Busy)
    }

    /// Returns where the session was distilled last.
    pub fn last_mark(&self, state: &Path) -> Option<Mark> {
        let mark = mark_of(marks::position(state, &Watermark::read(state), self.session));
        (mark != Mark::default()).then_some(mark)
    }

    /// Notes how far a session is distilled that was distilled by other means.
    pub fn note(&self, state: &Path, next: &Mark) -> Result<(), Error> {
        self.mark(state, next, Some(&Begun { turns: 0, requested_at: 0, bad_answers: 0, mark: None }))
    }

    /// Says whether some of the transcript happened in this clone. Who knows of it by the watermark alone has to ask: that
    /// may have come with the repository, and name what is none of its business.
    pub fn happened_here(&self) -> bool {
        let Some(clone) = Folder::find(self.cwd) else { return false };
        let (mut is_here, mut looked_at) = (false, String::new());
        // One that cannot be read has nothing to say.
        let _ = Reader::new().read(self.transcript, 0, |_, record| {
            let place = record.cwd.as_deref().filter(|place| !is_here && *place != looked_at);
            if let Some(place) = place {
                is_here = Folder::find(Path::new(place)).is_some_and(|folder| folder.wyren == clone.wyren);
                place.clone_into(&mut looked_at);
            }
        });
        is_here
    }

    /// Forgets a session that is none of the clone's, and says so in the log.
    pub fn disown(&self) -> Result<(), Error> {
        let share = Share::open(self.cwd, self.env)?;
        let transcript = self.transcript.display();
        self.log(&share, &format!("distiller: nothing in {transcript} happened here; it was left alone"));
        let mut hold = self.hold(&share.folder().state())?;
        hold.watermark.sessions.remove(&schedule::watermark::key(self.session));
        if !hold.watermark.is_running_elsewhere(self.now) {
            hold.watermark.clear_running();
        }
        Ok(hold.write(self.now)?)
    }

    /// Notes that the session waits, for whoever comes by next.
    pub fn leave(&self) -> Result<(), Error> {
        let state = Share::open(self.cwd, self.env)?.folder().state();
        let mut hold = self.hold(&state)?;
        let session = hold.watermark.session_mut(self.session, None);
        session.turns = session.turns.max(1);
        Ok(hold.write(self.now)?)
    }

    /// Distils slice by slice: what is too long for one goes on in the next.
    fn distil(&self, share: &Share, state: &Path, begun: &Begun) -> Result<Report, Error> {
        let began = Instant::now();
        let mut report = Report { outcome: Outcome::Empty, score: None, applied: Vec::new(), synced: None };
        let (mut mark, mut bad_answers) = (begun.mark.clone(), begun.bad_answers);
        if let Some(plan) = Plan::left(state, self.session) {
            if is_ahead(&plan.next, mark.as_ref()) {
                self.log(share, "distiller: going on with what an interrupted distillation had planned");
                (mark, bad_answers) = (Some(plan.next.clone()), 0);
                report.applied.extend(self.carry_out(share, state, None, &plan)?);
            }
            Plan::forget(state, self.session)?;
        }
        for number in 1.. {
            if !self.transcript.is_file() {
                return Err(Error::NoTranscript(self.transcript.to_owned()));
            }
            let slice = Slice::read(self.transcript, mark.as_ref())?;
            self.distil_slice(share, state, begun, &slice, bad_answers, &mut report)?;
            if !slice.has_more || matches!(report.outcome, Outcome::BadAnswer(_)) {
                break;
            }
            let turn = slice.next.turn;
            if number == MAX_SLICES || began.elapsed() > SLICES_TIME {
                self.log(
                    share,
                    &format!("distiller: what follows turn {turn} is left to the next distillation"),
                );
                self.give_up(state, None)?;
                break;
            }
            self.log(share, &format!("distiller: too long for one slice; going on after turn {turn}"));
            (mark, bad_answers) = (Some(slice.next), 0);
        }
        Ok(report)
    }

    /// Distils one slice, and adds what came of it to the report.
    fn distil_slice(
        &self,
        share: &Share,
        state: &Path,
        begun: &Begun,
        slice: &Slice,
        bad_answers: u64,
        report: &mut Report,
    ) -> Result<(), Error> {
        let ended = (!slice.has_more).then_some(begun);
        if slice.is_empty() {
            self.log(share, "empty transcript slice; nothing to distill");
            return self.mark(state, &slice.next, ended);
        }
        if slice.left_out > 0 {
            let chars = slice.left_out;
            self.log(
                share,
                &format!("distiller: {chars} characters of what tools were given and put out are left out"),
            );
        }
        let (score, threshold) = (distiller::score(slice), self.threshold());
        let passes = score.passes(threshold);
        let points = score.points;
        self.log(share, &format!("[wyren] tier0 score={points} threshold={threshold} passes={passes}"));
        self.log(share, &format!("[wyren] tier0 reasons: {score}"));
        report.score = Some(score);
        if !passes && !self.is_forced {
            self.log(share, "distiller: low-signal session; skipping distillation");
            if report.outcome == Outcome::Empty {
                report.outcome = Outcome::LowSignal;
            }
            return self.mark(state, &slice.next, ended);
        }
        let memory = share.memory()?;
        let proposal = match self.propose(&memory, slice, bad_answers < MAX_BAD_ANSWERS) {
            Ok(proposal) => proposal,
            Err(fault) => {
                self.log(share, &format!("distiller: {fault}; memory unchanged, the same turns come again"));
                report.outcome = Outcome::BadAnswer(fault);
                return self.give_up(state, Some(bad_answers + 1));
            }
        };
        self.log(share, &self.summary(&memory, slice, &proposal.way));
        let mut plan =
            Plan::new(self.session, self.transcript, &share.author(), self.now, slice.next.clone());
        plan.evidence = Evidence::cited_by(slice, &proposal.operations);
        plan.operations = proposal.operations;
        if let Way::Model(model) = &proposal.way {
            plan.model.clone_from(model);
        }
        plan.write(state)?;
        self.reached(Step::Planned)?;
        report.applied.extend(self.carry_out(share, state, ended, &plan)?);
        Plan::forget(state, self.session)?;
        self.reached(Step::Forgotten)?;
        report.outcome = Outcome::Distilled(proposal.way);
        Ok(())
    }

    /// Notes that a distillation runs; returns what was so before.
    fn begin(&self, state: &Path) -> Result<Begun, Error> {
        let mut hold = self.hold(state)?;
        // A distiller of the Node system knows nothing of our lock.
        if hold.watermark.is_running_elsewhere(self.now) {
            // Since when it is known is noted, for it does not say when it began.
            hold.write(self.now)?;
            return Err(Error::Busy);
        }
        let position = marks::position(state, &hold.watermark, self.session);
        let transcript = self.transcript.to_string_lossy();
        let session = hold.watermark.session_mut(self.session, Some(&transcript));
        let begun = Begun {
            turns: session.turns,
            requested_at: session.requested_at,
            bad_answers: session.bad_answers,
            mark: self.since.clone().or_else(|| {
                let mark = mark_of(position);
                // The first session in a folder of the Node system takes over its record just now.
                let mark =
                    if mark.uuid.is_none() { Mark { uuid: session.uuid.clone(), ..mark } } else { mark };
                (mark != Mark::default()).then_some(mark)
            }),
        };
        session.requested_at = self.now.millis().max(session.requested_at);
        session.cwd = Some(self.cwd.to_string_lossy().into_owned());
        hold.watermark.set_running(Some(std::process::id()));
        hold.write(self.now)?;
        Ok(begun)
    }

    /// Applies a plan, and notes how far the session is distilled by it. Returns nothing when the plan was dropped.
    fn carry_out(
        &self,
        share: &Share,
        state: &Path,
        ended: Option<&Begun>,
        plan: &Plan,
    ) -> Result<Option<Applied>, Error> {
        let context = Context {
            session: &plan.session,
            author: &plan.author,
            when: Timestamp::from_millis(plan.when),
            evidence: &plan.evidence,
        };
        let applied = match change(share, &plan.operations, &context) {
            Ok(applied) => Some(applied),
            // The same turns would make the same plan again.
            Err(error @ team_sync::Error::Emptied(_)) => {
                self.log(share, &format!("distiller: the plan was dropped: {error}"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        self.reached(Step::Changed)?;
        self.mark(state, &plan.next, ended)?;
        self.reached(Step::Marked)?;
        if let Some(applied) = &applied {
            for refused in &applied.refused {
                self.log(share, &format!("distiller: refused an operation: {}", refused.why));
            }
            let uuid = plan.next.uuid.as_deref().unwrap_or("-");
            let chars = applied.memory.render().chars().count();
            let (path, did) = (share.folder().memory(), if applied.is_changed() { "wrote" } else { "kept" });
            self.log(
                share,
                &format!("distiller: {did} {} ({chars} chars). last_uuid={uuid}", path.display()),
            );
        }
        Ok(applied)
    }

    /// Returns what the slice is to do to the memory; the fault of a model's answer that is no good.
    fn propose(&self, memory: &Memory, slice: &Slice, may_ask: bool) -> Result<Proposal, String> {
        if !may_ask {
            return Ok(extraction(slice, format!("{MAX_BAD_ANSWERS} bad answers of the model")));
        }
        self.ask(memory, slice)?.map_or_else(|reason| Ok(extraction(slice, reason)), Ok)
    }

    /// Asks the model, once. The outer error is a bad answer, the inner one the reason why there is none.
    fn ask(&self, memory: &Memory, slice: &Slice) -> Result<Result<Proposal, String>, String> {
        let question = distiller::question(memory, slice);
        let schema = match Schema::new(question.schema) {
            Ok(schema) => schema,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let options = model::Options::of(&self.config());
        let name = self.model.clone().or_else(|| Some(options.name.clone()).filter(|name| !name.is_empty()));
        let request = Request {
            job: schedule::KIND.to_owned(),
            project: Project::of(self.cwd).key,
            system: question.system,
            prompt: question.prompt,
            schema,
            model: self.model.clone(),
            max_output: distiller::budget::ANSWER_TOKENS,
        };
        (self.progress)("asking the model");
        match Asker::new(self.env, self.paths, options).once().ask(request) {
            Asked::Answered(answer) => match distiller::parse_value(answer) {
                Ok(operations) => {
                    let way = Way::Model(name.unwrap_or_else(|| "the provider's own choice".to_owned()));
                    Ok(Ok(Proposal { operations, way }))
                }
                Err(refusal) => Err(refusal.to_string()),
            },
            Asked::Unavailable { reason: Reason::BadAnswer(fault) } => {
                Err(format!("the model's answer was no good: {fault}"))
            }
            Asked::Unavailable { reason } => Ok(Err(reason.to_string())),
        }
    }

    /// Notes how far the session is distilled; when that was the end of what was begun, also that nothing runs any more.
    fn mark(&self, state: &Path, next: &Mark, ended: Option<&Begun>) -> Result<(), Error> {
        if let Some(begun) = ended {
            // A request from the future is one of another clock.
            let age = Timestamp::now().millis().checked_sub(begun.requested_at).unwrap_or(SETTLE_MILLIS);
            std::thread::sleep(Duration::from_millis(SETTLE_MILLIS.saturating_sub(age)));
        }
        let turns = ended.map_or(0, |begun| begun.turns);
        let mut hold = self.hold(state)?;
        let transcript = self.transcript.to_string_lossy().into_owned();
        let watermark = &mut hold.watermark;
        watermark.turns_since_distill = watermark.turns_since_distill.saturating_sub(turns);
        let session = watermark.session_mut(self.session, Some(&transcript));
        session.turns = session.turns.saturating_sub(turns);
        (session.uuid, session.turn, session.offset) = (next.uuid.clone(), next.turn, next.offset);
        (session.distilled_at, session.bad_answers) = (self.now.millis(), 0);
        let session = session.clone();
        watermark.last_uuid = next.uuid.clone().or_else(|| watermark.last_uuid.take());
        watermark.last_distilled_at = Some(self.now.millis());
        watermark.last_transcript = Some(transcript);
        if ended.is_some() && !watermark.is_running_elsewhere(self.now) {
            watermark.clear_running();
        }
        hold.write(self.now)?;
        Ok(marks::keep(state, &session, self.now)?)
    }

    /// Notes that nothing runs any more and that the session still waits.
    fn give_up(&self, state: &Path, bad_answers: Option<u64>) -> Result<(), Error> {
        let mut hold = self.hold(state)?;
        let session = hold.watermark.session_mut(self.session, None);
        session.turns = session.turns.max(1);
        session.bad_answers = bad_answers.unwrap_or(session.bad_answers);
        hold.watermark.clear_running();
        Ok(hold.write(self.now)?)
    }

    fn publish(&self, share: &Share) -> Option<Synced> {
        (self.progress)("publishing");
        let time = Duration::from_secs(self.number("memory.sync_seconds").unwrap_or_default());
        match share.sync(Some(self.session), Instant::now() + time) {
            Ok(synced) => {
                let has_remote = share.team().is_some_and(|team| team.remote().is_some());
                if let Published::Queued(reason) = &synced.published
                    && has_remote
                {
                    self.log(share, &format!("distiller: kept here, not published yet: {reason}"));
                }
                Some(synced)
            }
            Err(error) => {
                self.log(share, &format!("distiller: kept here, could not be published: {error}"));
                None
            }
        }
    }

    /// Returns the score below which nothing is distilled.
    fn threshold(&self) -> u32 {
        let number = self.number("distill.min_score").and_then(|number| u32::try_from(number).ok());
        number.unwrap_or(distiller::DEFAULT_THRESHOLD)
    }

    fn number(&self, setting: &str) -> Option<u64> {
        self.config().get(setting).ok()?.value.parse().ok()
    }

    fn config(&self) -> Config {
        Config::load(self.env, self.paths)
    }

    fn hold(&self, state: &Path) -> Result<Hold, Error> {
        let busy = || io::Error::new(io::ErrorKind::WouldBlock, "the watermark is in use");
        Ok(Hold::take(state, WATERMARK_PATIENCE)?.ok_or_else(busy)?)
    }

    fn reached(&self, step: Step) -> Result<(), Error> {
        if (self.stops_after)(step) { Err(Error::Interrupted(step)) } else { Ok(()) }
    }

    fn summary(&self, memory: &Memory, slice: &Slice, way: &Way) -> String {
        let by = match way {
            Way::Model(name) => name.clone(),
            Way::Extraction(why) => format!("none ({why})"),
        };
        format!(
            "distiller: transcript={} lines={} slice_chars={} memory_chars={} model={by}",
            self.transcript.display(),
            slice.messages.len(),
            slice.render().chars().count(),
            memory.render().chars().count(),
        )
    }

    fn log(&self, share: &Share, message: &str) {
        (self.tell)(message);
        share.log(message);
    }
}

/// Applies operations to the memory as it is now, while nobody else writes it. What changes nothing writes nothing.
fn change(
    share: &Share,
    operations: &[Operation],
    context: &Context<'_>,
) -> Result<Applied, team_sync::Error> {
    let mut applied = distiller::apply(&share.memory()?, operations, context);
    if applied.is_changed() {
        share.change_telling(|memory| {
            applied = distiller::apply(memory, operations, context);
            (applied.memory.clone(), applied.removals.clone())
        })?;
    }
    Ok(applied)
}

fn extraction(slice: &Slice, why: String) -> Proposal {
    Proposal { operations: distiller::extract(slice), way: Way::Extraction(why) }
}

fn mark_of(position: Position) -> Mark {
    Mark { uuid: position.uuid, turn: position.turn, offset: position.offset }
}

/// Returns whether a plan's end lies behind a mark: it was not carried out yet.
fn is_ahead(next: &Mark, mark: Option<&Mark>) -> bool {
    mark.is_none_or(|mark| (next.turn, next.offset) > (mark.turn, mark.offset))
}

/// Returns the id of the session that a transcript is of, as its records say; else its name.
pub fn session_of(transcript: &Path) -> Option<String> {
    let lines = BufReader::new(fs::File::open(transcript).ok()?).lines().map_while(Result::ok);
    let id = lines.take(MAX_LINES_TO_ID).find_map(|line| {
        let record: serde_json::Value = serde_json::from_str(&line).ok()?;
        record["sessionId"].as_str().filter(|id| !id.is_empty()).map(str::to_owned)
    });
    id.or_else(|| Some(transcript.file_stem()?.to_str()?.to_owned()))
}
