use super::*;
use std::collections::BTreeSet;
use std::path::Path;

const LEASE: Duration = Duration::from_secs(60);
const BACK_OFF: BackOff = BackOff { first: Duration::from_secs(10), cap: Duration::from_secs(100) };

fn open(folder: &Path) -> Store {
    Store::open(&folder.join("wyren.db"), &[TABLES]).unwrap()
}

/// Runs `test` with an empty queue.
fn check(test: impl FnOnce(&mut Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&mut open(folder.path()));
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_794_796_000_000 + seconds * 1_000)
}

fn add(store: &mut Store, kind: &str, now: Timestamp) -> i64 {
    match enqueue(store, &NewJob::new(kind, "{}"), now).unwrap() {
        Enqueued::Added(id) => id,
        known @ Enqueued::Known(_) => panic!("{known:?}"),
    }
}

fn take(store: &mut Store, now: Timestamp) -> Option<i64> {
    lease(store, "w", now, LEASE).unwrap().map(|job| job.id)
}

fn held(job: i64) -> Lease<'static> {
    Lease { job, holder: "w" }
}

fn job(store: &Store, id: i64) -> Job {
    list(store).unwrap().into_iter().find(|job| job.id == id).unwrap()
}

fn again(reason: &str) -> Failure {
    Failure::Again(reason.to_owned())
}

#[test]
fn the_oldest_due_job_comes_first_and_each_comes_once() {
    check(|store| {
        let (first, second) = (add(store, "drain", at(0)), add(store, "drain", at(1)));
        assert_eq!(take(store, at(2)), Some(first));
        assert_eq!(take(store, at(2)), Some(second));
        assert_eq!(take(store, at(2)), None);
        assert!(complete(store, held(first), at(3)).unwrap());
        assert_eq!(job(store, first).state, State::Done);
        assert_eq!(counts(store).unwrap(), Counts { leased: 1, done: 1, ..Counts::default() });
    });
}

#[test]
fn the_same_work_is_queued_once_until_someone_is_at_it() {
    check(|store| {
        let wanted = NewJob { dedup_key: Some("session 1"), ..NewJob::new("summarise", "{}") };
        let Enqueued::Added(id) = enqueue(store, &wanted, at(0)).unwrap() else { panic!() };
        assert_eq!(enqueue(store, &wanted, at(1)).unwrap(), Enqueued::Known(id));
        let other = NewJob { kind: "distill", ..wanted };
        assert!(matches!(enqueue(store, &other, at(1)).unwrap(), Enqueued::Added(_)));
        take(store, at(2));
        // What is being done may have missed what the new request is about.
        assert!(matches!(enqueue(store, &wanted, at(3)).unwrap(), Enqueued::Added(_)));
    });
}

#[test]
fn a_request_that_is_taken_in_twice_is_done_once() {
    check(|store| {
        let wanted = NewJob { request: Some("1-a"), ..NewJob::new("drain", "{}") };
        let Enqueued::Added(id) = enqueue(store, &wanted, at(0)).unwrap() else { panic!() };
        take(store, at(1));
        complete(store, held(id), at(2)).unwrap();
        assert_eq!(enqueue(store, &wanted, at(3)).unwrap(), Enqueued::Known(id));
        assert_eq!(take(store, at(4)), None);
    });
}

#[test]
fn a_job_for_later_is_not_leased_before_its_moment_and_comes_forward_when_asked_for_at_once() {
    check(|store| {
        let later = NewJob { dedup_key: Some("k"), not_before: Some(at(60)), ..NewJob::new("drain", "{}") };
        let Enqueued::Added(id) = enqueue(store, &later, at(0)).unwrap() else { panic!() };
        assert_eq!((take(store, at(59)), next_due(store).unwrap()), (None, Some(at(60))));
        assert_eq!(
            enqueue(store, &NewJob { not_before: Some(at(90)), ..later }, at(1)).unwrap(),
            Enqueued::Known(id)
        );
        assert_eq!(next_due(store).unwrap(), Some(at(60)));
        assert_eq!(
            enqueue(store, &NewJob { not_before: None, ..later }, at(2)).unwrap(),
            Enqueued::Known(id)
        );
        assert_eq!(take(store, at(2)), Some(id));
    });
}

#[test]
fn asking_again_does_not_shorten_the_rest_of_a_job_that_failed() {
    check(|store| {
        let wanted = NewJob { dedup_key: Some("k"), ..NewJob::new("probe", "{}") };
        let Enqueued::Added(id) = enqueue(store, &wanted, at(0)).unwrap() else { panic!() };
        take(store, at(0));
        fail(store, held(id), &again("no"), BACK_OFF, at(0)).unwrap();
        let rest = next_due(store).unwrap();
        assert_eq!(enqueue(store, &wanted, at(1)).unwrap(), Enqueued::Known(id));
        assert_eq!(next_due(store).unwrap(), rest);
    });
}

#[test]
fn a_job_in_pieces_is_queued_again_without_an_attempt_and_only_by_its_holder() {
    check(|store| {
        let id = add(store, "drain", at(0));
        take(store, at(0));
        fail(store, held(id), &again("no"), BACK_OFF, at(0)).unwrap();
        assert_eq!(take(store, at(50)), Some(id));
        assert!(!go_on(store, Lease { job: id, holder: "other" }, at(70), at(51)).unwrap());
        assert!(go_on(store, held(id), at(70), at(51)).unwrap());
        let job = job(store, id);
        assert_eq!((job.state, job.attempts, job.not_before, job.reason), (State::Queued, 0, at(70), None));
        assert!(!go_on(store, held(id), at(70), at(51)).unwrap());
    });
}

#[test]
fn a_failed_job_rests_longer_each_time_and_is_given_up_with_the_reason() {
    check(|store| {
        let id = add(store, "probe", at(0));
        let (mut now, mut rests) = (at(0), Vec::new());
        for attempt in 1..=MAX_ATTEMPTS {
            assert_eq!(take(store, now), Some(id), "attempt {attempt}");
            match fail(store, held(id), &again("no answer"), BACK_OFF, now).unwrap() {
                Verdict::Again(next) => {
                    assert_eq!(take(store, Timestamp::from_millis(next.millis() - 1)), None);
                    rests.push(next.millis_since(now) / 1_000);
                    now = next;
                }
                verdict => assert_eq!((verdict, attempt), (Verdict::Dead, MAX_ATTEMPTS)),
            }
        }
        for (rest, doubled) in rests.iter().zip([10, 20, 40, 80]) {
            assert!((doubled..=doubled + doubled / 4).contains(rest), "{rests:?}");
        }
        let dead = job(store, id);
        assert_eq!((dead.state, dead.attempts, dead.reason.as_deref()), (State::Dead, 5, Some("no answer")));
        assert_eq!(take(store, at(1_000_000)), None);
    });
}

#[test]
fn the_rest_is_capped_and_the_same_for_the_same_job() {
    let rest = BACK_OFF.rest(7, 40);
    assert!(rest >= BACK_OFF.cap && rest <= BACK_OFF.cap.mul_f64(1.25), "{rest:?}");
    assert_eq!(rest, BACK_OFF.rest(7, 40));
    let distinct: BTreeSet<Duration> = (1..=100).map(|job| BACK_OFF.rest(job, 1)).collect();
    assert!(distinct.len() > 90, "jobs that failed together come back together");
}

#[test]
fn a_failure_that_no_retry_can_heal_is_final() {
    check(|store| {
        let id = add(store, "unheard-of", at(0));
        take(store, at(0));
        let failure = Failure::Final("no program does this".to_owned());
        assert_eq!(fail(store, held(id), &failure, BACK_OFF, at(1)).unwrap(), Verdict::Dead);
        assert_eq!(job(store, id).reason.as_deref(), Some("no program does this"));
    });
}

#[test]
fn an_expired_lease_counts_as_an_attempt_and_a_renewed_one_does_not_expire() {
    check(|store| {
        let (lost, kept) = (add(store, "probe", at(0)), add(store, "probe", at(0)));
        take(store, at(0));
        take(store, at(0));
        assert!(renew(store, held(kept), at(50), LEASE).unwrap());
        assert_eq!(reclaim(store, Gone::Expired, BACK_OFF, at(61)).unwrap(), 1);
        let reclaimed = job(store, lost);
        assert_eq!((reclaimed.state, reclaimed.attempts), (State::Queued, 1));
        assert_eq!(reclaimed.reason.as_deref(), Some(WORKER_ENDED));
        assert_eq!(job(store, kept).state, State::Leased);
        // A worker that comes back late finds that it no longer holds the job.
        assert!(!complete(store, held(lost), at(62)).unwrap());
        assert!(!renew(store, held(lost), at(62), LEASE).unwrap());
        assert_eq!(fail(store, held(lost), &again(""), BACK_OFF, at(62)).unwrap(), Verdict::NotHeld);
    });
}

#[test]
fn the_only_living_worker_takes_back_what_the_dead_ones_left() {
    check(|store| {
        let id = add(store, "probe", at(0));
        take(store, at(0));
        assert_eq!(reclaim(store, Gone::AllBut("w"), BACK_OFF, at(1)).unwrap(), 0);
        assert_eq!(reclaim(store, Gone::AllBut("w2"), BACK_OFF, at(1)).unwrap(), 1);
        assert_eq!(job(store, id).state, State::Queued);
    });
}

#[test]
fn a_worker_that_dies_every_time_does_not_try_for_ever() {
    check(|store| {
        let id = add(store, "crashing", at(0));
        for attempt in 1..=u64::from(MAX_ATTEMPTS) {
            assert_eq!(take(store, at(attempt * 1_000)), Some(id));
            reclaim(store, Gone::AllBut("next"), BACK_OFF, at(attempt * 1_000 + 1)).unwrap();
        }
        let dead = job(store, id);
        assert_eq!((dead.state, dead.reason.as_deref()), (State::Dead, Some(WORKER_ENDED)));
    });
}

#[test]
fn a_lease_that_is_given_back_costs_no_attempt() {
    check(|store| {
        let id = add(store, "probe", at(0));
        take(store, at(0));
        assert!(give_back(store, held(id), at(1)).unwrap());
        assert_eq!((job(store, id).attempts, take(store, at(1))), (0, Some(id)));
    });
}

#[test]
fn dead_jobs_can_be_retried_and_dropped() {
    check(|store| {
        let ids = [add(store, "a", at(0)), add(store, "b", at(0)), add(store, "c", at(0))];
        for id in ids {
            take(store, at(0));
            fail(store, held(id), &Failure::Final("no".to_owned()), BACK_OFF, at(1)).unwrap();
        }
        assert_eq!(retry(store, Some(ids[0]), at(2)).unwrap(), 1);
        assert_eq!(retry(store, Some(ids[0]), at(2)).unwrap(), 0, "it is queued now");
        assert!(drop(store, ids[1]).unwrap() && !drop(store, ids[1]).unwrap());
        assert_eq!(retry(store, None, at(2)).unwrap(), 1);
        assert_eq!(take(store, at(2)), Some(ids[0]));
        assert!(!drop(store, ids[0]).unwrap(), "a job that runs is left alone");
        assert_eq!(next_due(store).unwrap(), Some(at(2)));
    });
}

#[test]
fn what_was_done_long_ago_is_forgotten() {
    check(|store| {
        let (done, queued) = (add(store, "a", at(0)), add(store, "b", at(0)));
        take(store, at(0));
        complete(store, held(done), at(10)).unwrap();
        assert_eq!(forget_done(store, at(10)).unwrap(), 0);
        assert_eq!(forget_done(store, at(11)).unwrap(), 1);
        assert_eq!(list(store).unwrap().iter().map(|job| job.id).collect::<Vec<_>>(), [queued]);
    });
}

#[test]
fn eight_workers_at_once_get_every_job_once() {
    const JOBS: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for _ in 0..JOBS {
        add(&mut store, "probe", at(0));
    }
    let leased: Vec<i64> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let mut store = open(folder.path());
            let holder = format!("worker {worker}");
            std::iter::from_fn(|| {
                let job = lease(&mut store, &holder, at(1), LEASE).unwrap()?;
                assert!(complete(&mut store, Lease { job: job.id, holder: &holder }, at(1)).unwrap());
                Some(job.id)
            })
            .collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..8).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let distinct: BTreeSet<i64> = leased.iter().copied().collect();
    assert_eq!((leased.len(), distinct.len()), (JOBS, JOBS));
}
