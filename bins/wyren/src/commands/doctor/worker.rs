//! The worker and its jobs: none stuck, none failed.

use super::{Check, Subject, describe};
use crate::when::duration;
use base::Timestamp;
use store::jobs::{self, Job, State};

const NAME: &str = "worker";
/// A job due for longer than this without a worker is stuck.
const STUCK_MILLIS: u64 = 3_600_000;
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
        Err(error) => {
            return Check::odd(
                NAME,
                format!("could not read its jobs: {}", describe(&error)),
                "wyren doctor",
            );
        }
    };
    let dead = jobs.iter().filter(|job| job.state == State::Dead);
    if let Some(last) = dead.clone().max_by_key(|job| job.updated) {
        let reason = text::sanitize::one_line(last.reason.as_deref().unwrap_or("no reason recorded"), 120);
        let message = format!("{} failed, the last one ({}): {reason}", dead.count(), last.kind);
        return Check::odd(NAME, message, "wyren jobs retry --all");
    }
    let waited =
        jobs.iter().filter_map(|job| waits_since(job, now)).map(|since| now.millis_since(since)).max();
    if let Some(waited) = waited.filter(|waited| *waited > STUCK_MILLIS && !is_running) {
        return Check::odd(
            NAME,
            format!("a job has been due for {}, but no worker is running", duration(waited)),
            WORK,
        );
    }
    let waiting = requested + jobs.iter().filter(|job| job.state == State::Queued).count();
    let state = if is_running { "running" } else { "not running: starts when there is work" };
    Check::good(NAME, format!("{state}; {waiting} jobs queued"))
}

fn jobs(subject: &Subject<'_>) -> Result<Vec<Job>, store::Error> {
    if !subject.paths.database().exists() {
        return Ok(Vec::new());
    }
    jobs::list(&store::open_store(subject.paths)?)
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
