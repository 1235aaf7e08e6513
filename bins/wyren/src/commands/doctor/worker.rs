//! The worker and its jobs: none stuck, none failed.

use super::database::REPAIR;
use super::{Check, Repair, Subject};
use crate::terminal::counted;
use crate::when::duration;
use anyhow::Result;
use base::{Paths, Timestamp};
use queue::Start;
use runner::kinds::KINDS;
use std::time::{Duration, Instant};
use store::Error;
use store::jobs::{self, Job, State};

const NAME: &str = "worker";
/// A job due for longer than this without a worker is stuck.
const STUCK_MILLIS: u64 = 3_600_000;
/// How long a worker may take to begin, and how often that is looked at.
const START_PATIENCE: Duration = Duration::from_secs(5);
const START_PAUSE: Duration = Duration::from_millis(20);
const WORK: &str = "wyren worker run --until-idle";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let (paths, now) = (subject.paths, subject.now);
    let is_running = match queue::is_running(paths) {
        Ok(is_running) => is_running,
        Err(error) => {
            let lock = queue::lock_file(paths);
            return Check::bad(
                NAME,
                format!("could not check its lock: {error}"),
                format!("ls -l '{}'", lock.display()),
            );
        }
    };
    let requested = queue::pending(paths).len();
    let jobs = match jobs(subject) {
        Ok(jobs) => jobs,
        // The check of the database says what is wrong with it.
        Err(error @ Error::Locked(_)) => {
            return Check::odd(NAME, format!("could not read its jobs: {error}"), "wyren worker status");
        }
        Err(error) => return Check::odd(NAME, format!("could not read its jobs: {error}"), REPAIR),
    };
    let dead = jobs.iter().filter(|job| job.state == State::Dead);
    if let Some(last) = dead.clone().max_by_key(|job| job.updated) {
        let reason = text::sanitize::one_line(last.reason.as_deref().unwrap_or("no reason recorded"), 120);
        let message = format!(
            "{} failed, the last one ({}): {reason}",
            dead.count(),
            text::sanitize::one_line(&last.kind, 40)
        );
        // A retry cannot help where this version has no handler.
        let fix = match KINDS.iter().any(|known| known.name == last.kind) {
            true => "wyren jobs retry --all".to_owned(),
            false => format!("wyren jobs drop {}, or wyren update", last.id),
        };
        return Check::odd(NAME, message, fix);
    }
    let waited =
        jobs.iter().filter_map(|job| waits_since(job, now)).map(|since| now.millis_since(since)).max();
    if let Some(waited) = waited.filter(|waited| *waited > STUCK_MILLIS && !is_running) {
        let message = format!("a job has been due for {}, but no worker is running", duration(waited));
        let paths = paths.clone();
        let repair = Repair::new("start a worker", move || start(&paths));
        return Check::odd(NAME, message, WORK).with(repair);
    }
    let waiting = requested + jobs.iter().filter(|job| job.state == State::Queued).count();
    let state = if is_running { "running" } else { "not running: starts when there is work" };
    Check::good(NAME, format!("{state}; {} queued", counted(waiting, "job", "jobs")))
}

/// Starts a worker, and waits until it is at work.
fn start(paths: &Paths) -> Result<()> {
    let started = queue::start_worker(paths, Timestamp::now())?;
    let deadline = Instant::now() + START_PATIENCE;
    while matches!(started, Start::Started(_)) && !queue::is_running(paths)? {
        // One that had little to do has gone again.
        if queue::due(paths).is_none() {
            break;
        }
        anyhow::ensure!(Instant::now() < deadline, "it did not begin within {} s", START_PATIENCE.as_secs());
        std::thread::sleep(START_PAUSE);
    }
    Ok(())
}

fn jobs(subject: &Subject<'_>) -> std::result::Result<Vec<Job>, Error> {
    if !subject.paths.database().exists() {
        return Ok(Vec::new());
    }
    jobs::list(&journal::open_store(subject.paths)?)
}

/// Returns since when a job has been due.
fn waits_since(job: &Job, now: Timestamp) -> Option<Timestamp> {
    let since = match job.state {
        State::Queued => job.not_before,
        State::Leased => job.lease_until?,
        State::Done | State::Dead => return None,
    };
    (since <= now).then_some(since)
}
