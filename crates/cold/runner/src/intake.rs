//! Taking requests in: from the files that hooks wrote into the database.

use crate::log::Log;
use base::log::Level;
use base::{Paths, Timestamp};
use queue::{Problem, Request};
use store::jobs::{self, NewJob};
use store::{Error, Store};

/// Takes in every request that is there, each once; returns how many there were.
///
/// A request is removed after it is in the database, under its own name: a process that dies in between leaves it to the
/// next, who finds it known.
pub fn take_in(store: &mut Store, paths: &Paths, now: Timestamp) -> Result<usize, Error> {
    take_in_logged(store, paths, now, None)
}

pub(crate) fn take_in_logged(
    store: &mut Store,
    paths: &Paths,
    now: Timestamp,
    log: Option<&Log>,
) -> Result<usize, Error> {
    let mut taken = 0;
    let tell = |message: String| log.into_iter().for_each(|log| log.write(Level::Warn, "request", &message));
    for pending in queue::pending(paths) {
        let id = pending.id();
        match pending.read(|request| enqueue(store, &id, request, now)) {
            Ok(enqueued) => {
                enqueued?;
                taken += 1;
                if let Err(error) = pending.remove() {
                    tell(format!("could not remove the request {id}: {error}"));
                }
            }
            Err(Problem::Gone) => {}
            Err(Problem::Unreadable(error)) => tell(format!("could not read the request {id}: {error}")),
            Err(Problem::Foreign(reason)) => {
                let aside = match pending.put_aside() {
                    Ok(aside) => format!("it was put aside as {}", aside.display()),
                    Err(error) => format!("it could not be put aside: {error}"),
                };
                tell(format!("could not understand the request {id}: {reason}; {aside}"));
            }
        }
    }
    Ok(taken)
}

fn enqueue(store: &mut Store, id: &str, request: &Request<'_>, now: Timestamp) -> Result<(), Error> {
    let payload = request.payload.map_or("null", |payload| payload.get());
    let job = NewJob {
        project: request.project.as_deref(),
        dedup_key: request.key.as_deref(),
        request: Some(id),
        not_before: request.not_before.map(Timestamp::from_millis),
        ..NewJob::new(&request.kind, payload)
    };
    jobs::enqueue(store, &job, now).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    fn check(test: impl FnOnce(&mut Store, &Paths)) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        test(&mut journal::open_store(&paths).unwrap(), &paths);
    }

    #[test]
    fn a_request_becomes_one_job_and_its_file_goes() {
        check(|store, paths| {
            let wanted = Request { key: Some("k".into()), ..Request::new("drain") };
            queue::request(paths, &wanted, Timestamp::now()).unwrap();
            queue::request(paths, &wanted, Timestamp::now()).unwrap();
            assert_eq!(take_in(store, paths, Timestamp::now()).unwrap(), 2);
            assert_eq!(jobs::counts(store).unwrap().queued, 1);
            assert!(queue::pending(paths).is_empty());
        });
    }

    #[test]
    fn a_request_whose_file_outlived_a_killed_worker_is_not_queued_again() {
        check(|store, paths| {
            queue::request(paths, &Request::new("drain"), Timestamp::now()).unwrap();
            let id = queue::pending(paths)[0].id();
            enqueue(store, &id, &Request::new("drain"), Timestamp::now()).unwrap();
            assert_eq!(take_in(store, paths, Timestamp::now()).unwrap(), 1);
            assert_eq!(jobs::counts(store).unwrap().queued, 1);
            assert!(queue::pending(paths).is_empty());
        });
    }

    #[test]
    fn a_request_for_later_becomes_a_job_that_is_due_then() {
        check(|store, paths| {
            let now = Timestamp::now();
            let later = Request { not_before: Some(now.millis() + 60_000), ..Request::new("drain") };
            queue::request(paths, &later, now).unwrap();
            take_in(store, paths, now).unwrap();
            let due = Timestamp::from_millis(now.millis() + 60_000);
            assert_eq!(jobs::next_due(store).unwrap(), Some(due));
        });
    }

    #[test]
    fn a_file_that_is_no_request_does_not_hold_up_the_others() {
        check(|store, paths| {
            std::fs::create_dir_all(paths.data().join("jobs")).unwrap();
            std::fs::write(paths.data().join("jobs/0-x.json"), "nonsense").unwrap();
            queue::request(paths, &Request::new("drain"), Timestamp::now()).unwrap();
            assert_eq!(take_in(store, paths, Timestamp::now()).unwrap(), 1);
            assert!(paths.data().join("jobs/0-x.bad").exists());
        });
    }
}
