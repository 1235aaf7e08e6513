//! One shift: from taking the lock to letting it go.

use crate::handler::{Context, Handlers, Progress};
use crate::intake::take_in_logged;
use crate::log::Log;
use crate::run::{Ended, Error, Options};
use crate::{kinds, program, signal};
use base::log::Level;
use base::notice::{self, About, Key, Notice};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, files};
use journal::open_store;
use journal::retain::Limits;
use queue::Wish;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};
use store::Store;
use store::jobs::{self, Failure, Gone, Job, Lease, NewJob, Verdict};

/// How often an idle worker looks for work, and a busy one whether it is to stop.
const TICK: Duration = Duration::from_millis(100);
/// How long a job stays leased without a sign of life.
const LEASE: Duration = Duration::from_secs(60);
/// How often a lease is renewed while its job runs.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// How long a running job is waited for when the worker is to stop; then its lease is given back.
const STOP_GRACE: Duration = Duration::from_secs(3);
/// How many jobs run at once at most, when the earlier ones are slow. One that has run for this long hardly ends, and
/// is not counted.
const MAX_AT_ONCE: usize = 3;
const HARDLY_ENDS: Duration = Duration::from_secs(120);
/// How long a job that was done stays on record.
const KEEP_DONE: Duration = Duration::from_secs(7 * 86_400);
/// How long a worker that could not begin or drain is left alone.
const LATER: Duration = Duration::from_secs(600);

pub(crate) struct Shift<'a> {
    env: &'a Env,
    paths: &'a Paths,
    options: Options,
    handlers: &'a Handlers,
    log: &'a Log,
    store: Store,
    /// Whether the spool may hold something still, though nothing more was recorded.
    is_spool_left: bool,
    /// Tells this worker's leases from those of the ones before it.
    holder: String,
    running: Vec<Running>,
    /// Where jobs took too long: their threads may still be at it, so no other job begins there.
    overdue: Vec<String>,
    sender: Sender<(i64, Outcome)>,
    receiver: Receiver<(i64, Outcome)>,
}

/// A job that a thread of its own is at.
struct Running {
    job: Job,
    began: Instant,
    renewed: Instant,
    limit: Duration,
    stopping: Arc<AtomicBool>,
}

type Outcome = Result<Progress, Failure>;

impl<'a> Shift<'a> {
    /// Begins a shift. The caller holds the worker's lock.
    pub(crate) fn begin(
        env: &'a Env,
        paths: &'a Paths,
        options: Options,
        handlers: &'a Handlers,
        log: &'a Log,
    ) -> Result<Self, Error> {
        // A wish to stop that is older than this worker was meant for another.
        let _ = fs::remove_file(queue::stop_file(paths));
        // Should this worker be killed, the next hook knows that there is work.
        leave_word(paths, Some(Timestamp::from_millis(0)), log);
        Self::take_over(env, paths, options, handlers, log).inspect_err(|_| {
            // A database that cannot be used is not tried again at every turn.
            leave_word(paths, Some(later()), log);
        })
    }

    /// Opens the database and takes over what hooks and earlier workers left.
    fn take_over(
        env: &'a Env,
        paths: &'a Paths,
        options: Options,
        handlers: &'a Handlers,
        log: &'a Log,
    ) -> Result<Self, Error> {
        let store = open_store(paths)?;
        let holder = format!("{:016x}", RandomState::new().build_hasher().finish());
        let (sender, receiver) = mpsc::channel();
        let mut shift = Self {
            env,
            paths,
            options,
            handlers,
            log,
            store,
            is_spool_left: false,
            holder,
            running: Vec::new(),
            overdue: Vec::new(),
            sender,
            receiver,
        };
        let (now, gone) = (Timestamp::now(), Gone::AllBut(&shift.holder));
        let dead = jobs::counts(&shift.store)?.dead;
        let reclaimed = jobs::reclaim(&mut shift.store, gone, options.back_off, now)?;
        shift.tell_of_given_up(jobs::counts(&shift.store)?.dead.saturating_sub(dead));
        if reclaimed > 0 {
            log.write(Level::Warn, "worker", &format!("took back {reclaimed} of a worker that ended"));
        }
        log.write(Level::Info, "worker", "began");
        // What was done long ago goes after the requests are in: one of them may be the source of such a job.
        shift.take_in()?;
        let long_ago = now.millis().saturating_sub(KEEP_DONE.as_millis() as u64);
        jobs::forget_done(&mut shift.store, Timestamp::from_millis(long_ago))?;
        shift.drain()?;
        if Limits::of(env, paths).is_on() {
            jobs::enqueue(&mut shift.store, &kinds::retain_job(&kinds::retain_request(now)), now)?;
        }
        Ok(shift)
    }

    /// Does what is due until nothing was for a while, or until asked to stop.
    pub(crate) fn work_and_leave(mut self) -> Result<Ended, Error> {
        let mut ended = self.work()?;
        // What hooks recorded meanwhile.
        while ended == Ended::Idle && !self.drain()? {
            ended = self.work()?;
        }
        // Hooks start no worker for what was recorded before one began.
        let again = self.is_spool_left.then(later);
        leave_word(self.paths, jobs::next_due(&self.store)?.into_iter().chain(again).min(), self.log);
        Ok(if ended == Ended::Idle && !self.overdue.is_empty() { Ended::Overdue } else { ended })
    }

    fn work(&mut self) -> Result<Ended, Error> {
        let began = Instant::now();
        let (mut last_work, mut stop_seen) = (began, None);
        loop {
            if stop_seen.is_none() && self.is_to_stop() {
                stop_seen = Some(Instant::now());
                self.running.iter().for_each(|running| running.stopping.store(true, Ordering::Relaxed));
            }
            match stop_seen {
                Some(_) if self.running.is_empty() => return Ok(Ended::Stopped),
                Some(seen) if seen.elapsed() > STOP_GRACE => {
                    self.give_back_all()?;
                    return Ok(Ended::Stopped);
                }
                _ => {}
            }
            let is_over = began.elapsed() >= self.options.shift;
            let is_updated = program::is_replaced() || queue::wish(self.paths) == Some(Wish::Relief);
            self.take_in()?;
            let begun =
                stop_seen.is_none() && !is_over && !is_updated && self.may_begin() && self.begin_next()?;
            if begun || !self.running.is_empty() {
                last_work = Instant::now();
            } else if is_updated {
                // Its successor must not take this for a wish of its own.
                let _ = fs::remove_file(queue::stop_file(self.paths));
                return Ok(Ended::Updated);
            } else if is_over {
                return Ok(if jobs::next_due(&self.store)?.is_some() {
                    Ended::Relieved
                } else {
                    Ended::Idle
                });
            } else if last_work.elapsed() >= self.options.idle {
                return Ok(Ended::Idle);
            }
            if let Ok((job, outcome)) = self.receiver.recv_timeout(TICK) {
                self.end(job, outcome)?;
            }
            self.look_after_running()?;
        }
    }

    fn take_in(&mut self) -> Result<(), Error> {
        take_in_logged(&mut self.store, self.paths, Timestamp::now(), Some(self.log))?;
        Ok(())
    }

    /// Returns whether another job may begin: jobs run one by one, unless those that run take long.
    fn may_begin(&self) -> bool {
        let is_slow = |running: &Running| running.began.elapsed() >= self.options.overtake_after;
        let counted = self.running.iter().filter(|running| running.began.elapsed() < HARDLY_ENDS).count();
        self.running.iter().all(is_slow) && counted < MAX_AT_ONCE
    }

    /// Leases the next job and begins it; returns whether there was one.
    fn begin_next(&mut self) -> Result<bool, Error> {
        let taken: Vec<&str> = self
            .running
            .iter()
            .map(|running| running.job.place())
            .chain(self.overdue.iter().map(String::as_str))
            .collect();
        let job = jobs::lease_elsewhere(&mut self.store, &self.holder, Timestamp::now(), LEASE, &taken)?;
        let Some(job) = job else { return Ok(false) };
        self.attempt(job)?;
        Ok(true)
    }

    /// Drains a piece of the spool, and queues a job for the rest; says whether there is none.
    fn drain(&mut self) -> Result<bool, Error> {
        let now = Timestamp::now();
        let drained = kinds::drain(&mut self.store, self.env, self.paths, now);
        self.is_spool_left = drained.as_ref().map_or(true, |piece| piece.is_elsewhere);
        match drained {
            Ok(piece) if piece.is_last => {
                // There is room on the disk: when there is none again, that is news.
                notice::withdraw(self.paths, About::Everything, Key::Disk);
                for error in piece.derive_errors {
                    self.log.write(Level::Error, kinds::DRAIN, &error);
                }
                if let Err(error) = kinds::request_summaries(&mut self.store, self.env, self.paths, now) {
                    self.log.write(Level::Error, kinds::DRAIN, &error.to_string());
                }
                kinds::request_vectors(&mut self.store, self.env, self.paths, now)?;
                if let Err(error) = kinds::request_transcripts(&mut self.store, self.env, self.paths, now) {
                    self.log.write(Level::Error, kinds::DRAIN, &error.to_string());
                }
                Ok(true)
            }
            Ok(_) => {
                let rest = NewJob { dedup_key: Some("spool"), ..NewJob::new(kinds::DRAIN, "null") };
                jobs::enqueue(&mut self.store, &rest, now)?;
                Ok(false)
            }
            Err(error) => {
                self.log.write(Level::Error, kinds::DRAIN, &error.to_string());
                Ok(true)
            }
        }
    }

    fn is_to_stop(&self) -> bool {
        signal::asked_to_end() || queue::wish(self.paths) == Some(Wish::Stop)
    }

    /// Begins a job in a thread of its own, so that its lease can be renewed and a wish to stop be heard.
    fn attempt(&mut self, job: Job) -> Result<(), Error> {
        let began = Instant::now();
        let Some(handler) = self.handlers.of(&job.kind) else {
            let reason = format!("this version of Wyren does not know jobs of the kind {:?}", job.kind);
            return self.note(&job, Err(Failure::Final(reason)), began);
        };
        let stopping = Arc::new(AtomicBool::new(false));
        let mut context = Context {
            job: job.clone(),
            env: self.env.clone(),
            paths: self.paths.clone(),
            store: open_store(self.paths)?,
            stopping: Arc::clone(&stopping),
        };
        let limit = handler.limit(&Settings::read(self.env, &self.paths.hook_settings()));
        let (id, sender) = (job.id, self.sender.clone());
        thread::spawn(move || {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| handler.run(&mut context)));
            let outcome = outcome.unwrap_or_else(|_| Err(Failure::Again("the job panicked".to_owned())));
            // Closed before the outcome is known, so that the process that waits for it finds the database free.
            drop(context);
            sender.send((id, outcome))
        });
        self.running.push(Running { job, began, renewed: began, limit, stopping });
        Ok(())
    }

    /// Notes how a job ended; one that took too long is not waited for any more.
    fn end(&mut self, job: i64, outcome: Outcome) -> Result<(), Error> {
        let Some(at) = self.running.iter().position(|running| running.job.id == job) else { return Ok(()) };
        let running = self.running.swap_remove(at);
        self.note(&running.job, outcome, running.began)
    }

    /// Gives up jobs that took too long, and renews the leases of the others.
    fn look_after_running(&mut self) -> Result<(), Error> {
        let is_overdue = |running: &Running| running.began.elapsed() > running.limit;
        while let Some(at) = self.running.iter().position(is_overdue) {
            let running = self.running.swap_remove(at);
            let reason = format!("took longer than {} s", running.limit.as_secs());
            self.overdue.push(running.job.place().to_owned());
            self.note(&running.job, Err(Failure::Again(reason)), running.began)?;
        }
        for running in &mut self.running {
            if running.renewed.elapsed() > RENEW_EVERY {
                let lease = Lease { job: running.job.id, holder: &self.holder };
                jobs::renew(&mut self.store, lease, Timestamp::now(), LEASE)?;
                running.renewed = Instant::now();
            }
        }
        Ok(())
    }

    fn give_back_all(&mut self) -> Result<(), Error> {
        for running in std::mem::take(&mut self.running) {
            let (id, kind) = (running.job.id, &running.job.kind);
            let lease = Lease { job: id, holder: &self.holder };
            jobs::give_back(&mut self.store, lease, Timestamp::now())?;
            self.log.write(Level::Info, kind, &format!("job {id} given back"));
        }
        Ok(())
    }

    /// Has the user read that jobs were given up.
    fn tell_of_given_up(&self, count: u64) {
        if count == 0 {
            return;
        }
        let count = count + notice::count_waiting(self.paths, About::Everything, Key::Jobs);
        let jobs = if count == 1 { "job" } else { "jobs" };
        let text = format!("gave up {count} background {jobs}; see wyren jobs");
        let notice = Notice::new(Key::Jobs, text).counting(count);
        if let Err(error) = notice.leave(self.paths, About::Everything) {
            self.log.write(Level::Warn, "worker", &format!("could not leave a notice: {error}"));
        }
    }

    fn note(&mut self, job: &Job, result: Outcome, began: Instant) -> Result<(), Error> {
        let (lease, now) = (Lease { job: job.id, holder: &self.holder }, Timestamp::now());
        let about = format!("job {}, attempt {} of {}", job.id, job.attempts, job.max_attempts);
        let (level, message) = match result {
            Ok(Progress::Done) => {
                jobs::complete(&mut self.store, lease, now)?;
                (Level::Info, format!("{about}: done in {} ms", began.elapsed().as_millis()))
            }
            Ok(Progress::Needless { reason }) => {
                jobs::abandon(&mut self.store, lease, &reason, now)?;
                (Level::Info, format!("{about}: done: {reason}"))
            }
            Ok(Progress::Again { not_before }) => {
                jobs::go_on(&mut self.store, lease, not_before, now)?;
                let millis = began.elapsed().as_millis();
                (Level::Info, format!("{about}: a piece done in {millis} ms; again at {not_before}"))
            }
            Err(failure) => {
                let verdict = jobs::fail(&mut self.store, lease, &failure, self.options.back_off, now)?;
                let (Failure::Again(reason) | Failure::Final(reason)) = failure;
                match verdict {
                    Verdict::Again(at) => (Level::Warn, format!("{about}: {reason}; again at {at}")),
                    Verdict::Dead => {
                        self.tell_of_given_up(1);
                        (Level::Error, format!("{about}: {reason}; given up"))
                    }
                    Verdict::NotHeld => (Level::Warn, format!("{about}: {reason}; someone else has it")),
                }
            }
        };
        self.log.write(level, &job.kind, &message);
        Ok(())
    }
}

/// Returns the moment for another attempt at what could not be begun or drained.
fn later() -> Timestamp {
    Timestamp::from_millis(Timestamp::now().millis() + LATER.as_millis() as u64)
}

/// Leaves word for hooks, which cannot look into the database. Without it a job waits for the next request.
fn leave_word(paths: &Paths, due: Option<Timestamp>, log: &Log) {
    if let Err(error) = files::create_private_folder(paths.data()).and_then(|()| queue::set_due(paths, due)) {
        log.write(Level::Warn, "worker", &format!("could not leave word when the next job is due: {error}"));
    }
}
