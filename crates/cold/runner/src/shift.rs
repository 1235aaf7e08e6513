//! One shift: from taking the lock to letting it go.

use crate::handler::{Context, Handler, Handlers, Progress};
use crate::intake::take_in_logged;
use crate::log::Log;
use crate::run::{Ended, Error, Options};
use crate::{kinds, signal};
use base::log::Level;
use base::{Env, Paths, Timestamp, files};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use store::Store;
use store::jobs::{self, Failure, Gone, Job, Lease, NewJob, Verdict};
use store::open_store;

/// How often an idle worker looks for work, and a busy one whether it is to stop.
const TICK: Duration = Duration::from_millis(100);
/// How long a job stays leased without a sign of life.
const LEASE: Duration = Duration::from_secs(60);
/// How often a lease is renewed while its job runs.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// How long a running job is waited for when the worker is to stop; then its lease is given back.
const STOP_GRACE: Duration = Duration::from_secs(3);
/// How long a job that was done stays on record.
const KEEP_DONE: Duration = Duration::from_secs(7 * 86_400);
/// How long a worker that could not begin is left alone.
const LATER: Duration = Duration::from_secs(600);

pub(crate) struct Shift<'a> {
    env: &'a Env,
    paths: &'a Paths,
    options: Options,
    handlers: &'a Handlers,
    log: &'a Log,
    store: Store,
    /// Tells this worker's leases from those of the ones before it.
    holder: String,
}

/// How the time with one job ended.
enum Attempt {
    Over(Result<Progress, Failure>),
    Interrupted,
    Overdue(Duration),
}

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
            let later = Timestamp::now().millis() + LATER.as_millis() as u64;
            leave_word(paths, Some(Timestamp::from_millis(later)), log);
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
        let mut shift = Self { env, paths, options, handlers, log, store, holder };
        let (now, gone) = (Timestamp::now(), Gone::AllBut(&shift.holder));
        let reclaimed = jobs::reclaim(&mut shift.store, gone, options.back_off, now)?;
        if reclaimed > 0 {
            log.write(Level::Warn, "worker", &format!("took back {reclaimed} of a worker that ended"));
        }
        log.write(Level::Info, "worker", "began");
        // What was done long ago goes after the requests are in: one of them may be the source of such a job.
        shift.take_in()?;
        let long_ago = now.millis().saturating_sub(KEEP_DONE.as_millis() as u64);
        jobs::forget_done(&mut shift.store, Timestamp::from_millis(long_ago))?;
        shift.drain()?;
        Ok(shift)
    }

    /// Does what is due until nothing was for a while, or until asked to stop.
    pub(crate) fn work_and_leave(mut self) -> Result<Ended, Error> {
        let mut ended = self.work()?;
        // What hooks recorded meanwhile.
        while ended == Ended::Idle && !self.drain()? {
            ended = self.work()?;
        }
        leave_word(self.paths, jobs::next_due(&self.store)?, self.log);
        Ok(ended)
    }

    fn work(&mut self) -> Result<Ended, Error> {
        let mut last_work = Instant::now();
        loop {
            if self.is_to_stop() {
                return Ok(Ended::Stopped);
            }
            self.take_in()?;
            match self.lease()? {
                Some(job) => {
                    if let Some(ended) = self.attend(job)? {
                        return Ok(ended);
                    }
                    last_work = Instant::now();
                }
                None if last_work.elapsed() >= self.options.idle => return Ok(Ended::Idle),
                None => thread::sleep(TICK),
            }
        }
    }

    fn take_in(&mut self) -> Result<(), Error> {
        take_in_logged(&mut self.store, self.paths, Timestamp::now(), Some(self.log))?;
        Ok(())
    }

    fn lease(&mut self) -> Result<Option<Job>, Error> {
        let now = Timestamp::now();
        // Looking first: a transaction that may write keeps others from writing.
        if jobs::next_due(&self.store)?.is_none_or(|due| due > now) {
            return Ok(None);
        }
        Ok(jobs::lease(&mut self.store, &self.holder, now, LEASE)?)
    }

    /// Drains a piece of the spool, and queues a job for the rest; says whether there is none.
    fn drain(&mut self) -> Result<bool, Error> {
        let now = Timestamp::now();
        match kinds::drain(&mut self.store, self.paths, now) {
            Ok(piece) if piece.is_last => {
                for error in piece.derive_errors {
                    self.log.write(Level::Error, kinds::DRAIN, &error);
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
        signal::asked_to_end() || queue::stop_file(self.paths).exists()
    }

    /// Does one job and stores its result; returns how the shift ends if it cannot continue.
    fn attend(&mut self, job: Job) -> Result<Option<Ended>, Error> {
        let began = Instant::now();
        let Some(handler) = self.handlers.of(&job.kind) else {
            let reason = format!("this version of Wyren does not know jobs of the kind {:?}", job.kind);
            self.note(&job, Err(Failure::Final(reason)), began)?;
            return Ok(None);
        };
        match self.attempt(&job, handler)? {
            Attempt::Over(result) => {
                self.note(&job, result, began)?;
                Ok(None)
            }
            Attempt::Interrupted => {
                let lease = Lease { job: job.id, holder: &self.holder };
                jobs::give_back(&mut self.store, lease, Timestamp::now())?;
                self.log.write(Level::Info, &job.kind, &format!("job {} given back", job.id));
                Ok(Some(Ended::Stopped))
            }
            Attempt::Overdue(limit) => {
                let reason = format!("took longer than {} s", limit.as_secs());
                self.note(&job, Err(Failure::Again(reason)), began)?;
                Ok(Some(Ended::Overdue))
            }
        }
    }

    /// Runs a job in a thread of its own, so that its lease can be renewed and a wish to stop be heard.
    fn attempt(&mut self, job: &Job, handler: Arc<dyn Handler>) -> Result<Attempt, Error> {
        let stopping = Arc::new(AtomicBool::new(false));
        let mut context = Context {
            job: job.clone(),
            env: self.env.clone(),
            paths: self.paths.clone(),
            store: open_store(self.paths)?,
            stopping: Arc::clone(&stopping),
        };
        let limit = handler.limit();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(handler.run(&mut context)));
        self.attend_thread(job, &receiver, &stopping, limit)
    }

    fn attend_thread(
        &mut self,
        job: &Job,
        receiver: &Receiver<Result<Progress, Failure>>,
        stopping: &AtomicBool,
        limit: Duration,
    ) -> Result<Attempt, Error> {
        let began = Instant::now();
        let (mut renewed, mut stop_seen) = (began, None);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(result) => return Ok(Attempt::Over(result)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Attempt::Over(Err(Failure::Again("the job panicked".to_owned()))));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if began.elapsed() > limit {
                return Ok(Attempt::Overdue(limit));
            }
            if stop_seen.is_none() && self.is_to_stop() {
                stopping.store(true, Ordering::Relaxed);
                stop_seen = Some(Instant::now());
            }
            if stop_seen.is_some_and(|seen| seen.elapsed() > STOP_GRACE) {
                return Ok(Attempt::Interrupted);
            }
            if renewed.elapsed() > RENEW_EVERY {
                let lease = Lease { job: job.id, holder: &self.holder };
                jobs::renew(&mut self.store, lease, Timestamp::now(), LEASE)?;
                renewed = Instant::now();
            }
        }
    }

    fn note(&mut self, job: &Job, result: Result<Progress, Failure>, began: Instant) -> Result<(), Error> {
        let (lease, now) = (Lease { job: job.id, holder: &self.holder }, Timestamp::now());
        let about = format!("job {}, attempt {} of {}", job.id, job.attempts, job.max_attempts);
        let (level, message) = match result {
            Ok(Progress::Done) => {
                jobs::complete(&mut self.store, lease, now)?;
                (Level::Info, format!("{about}: done in {} ms", began.elapsed().as_millis()))
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
                    Verdict::Dead => (Level::Error, format!("{about}: {reason}; given up")),
                    Verdict::NotHeld => (Level::Warn, format!("{about}: {reason}; someone else has it")),
                }
            }
        };
        self.log.write(level, &job.kind, &message);
        Ok(())
    }
}

/// Leaves word for hooks, which cannot look into the database. Without it a job waits for the next request.
fn leave_word(paths: &Paths, due: Option<Timestamp>, log: &Log) {
    if let Err(error) = files::create_private_folder(paths.data()).and_then(|()| queue::set_due(paths, due)) {
        log.write(Level::Warn, "worker", &format!("could not leave word when the next job is due: {error}"));
    }
}
