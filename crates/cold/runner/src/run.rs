//! A worker's life: take the lock, work until there is nothing to do, let go, look once more.

use crate::handler::Handlers;
use crate::log::Log;
use crate::program;
use crate::shift::Shift;
use crate::signal;
use base::lock::Lock;
use base::log::Level;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use journal::open_store;
use std::io;
use std::time::{Duration, SystemTime};
use store::jobs::{self, BackOff};

/// How long to wait for the lock: someone may hold it for a moment, to see whether a worker runs.
const LOCK_PATIENCE: Duration = Duration::from_millis(250);
/// How often work that came in at the last moment is gone back for. A request that cannot be taken in, for the rights
/// of its file, would come in for ever.
const MOST_SHIFTS: u32 = 3;
/// The longest rest of a job that failed.
const LONGEST_REST: Duration = Duration::from_secs(3_600);

/// How long a job runs alone: longer than most models take to answer.
const OVERTAKE_AFTER: Duration = Duration::from_secs(15);
/// How long a worker begins jobs; the next one continues.
const LONGEST_SHIFT: Duration = Duration::from_secs(4 * 3_600);
/// When the process of a worker is ended, whatever it is doing: two hours are longer than any job may take.
pub const CAP: Duration = LONGEST_SHIFT.saturating_add(Duration::from_secs(2 * 3_600));

/// Why a worker could not go on. Nothing is lost by it: the jobs are where they were.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database could not be used.
    #[error("could not use the database")]
    Store(#[from] store::Error),
    /// The lock could not be taken.
    #[error("could not take the worker's lock")]
    Lock(#[source] io::Error),
}

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long it waits for more work before it goes away.
    pub idle: Duration,
    /// How long failed jobs rest.
    pub back_off: BackOff,
    /// How long a job runs alone; then jobs of other projects begin beside it.
    pub overtake_after: Duration,
    /// How long it begins jobs.
    pub shift: Duration,
}

impl Options {
    /// Returns what the settings say.
    pub fn of(settings: &Settings) -> Self {
        let seconds = |name| Duration::from_secs(settings.number(name));
        let back_off = BackOff { first: seconds("worker.retry_seconds"), cap: LONGEST_REST };
        Self {
            idle: seconds("worker.idle_seconds"),
            back_off,
            overtake_after: OVERTAKE_AFTER,
            shift: LONGEST_SHIFT,
        }
    }
}

/// How a worker's life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There was nothing more to do.
    Idle,
    /// It was asked to.
    Stopped,
    /// There was nothing more to do, but for jobs of a project whose last one went on for longer than it may: that one
    /// cannot be ended but with this process.
    Overdue,
    /// It has worked for long enough.
    Relieved,
    /// An update took its place; the job that it had begun is done.
    Updated,
    /// Another worker is at it.
    Elsewhere,
}

/// Works until there is nothing to do, or until asked to stop.
///
/// When this returns, a job may still be running in a thread of its own; it ends with the process.
pub fn run(env: &Env, paths: &Paths, options: Options, handlers: &Handlers) -> Result<Ended, Error> {
    signal::listen();
    program::note();
    let settings = Settings::read(env, &paths.hook_settings());
    let log = Log::new(paths, &settings);
    // Before anything is drained or synced: afterwards sessions that only read along would be known, too.
    if let Err(error) = store::known::note(paths) {
        log.write(Level::Warn, "worker", &format!("publish/known: {}", base::error::with_causes(&error)));
    }
    let ended = work(env, paths, options, handlers, &log);
    if let Ok(Ended::Updated) = ended
        && is_work_left(paths).unwrap_or(true)
        && let Err(error) = program::start_successor(paths)
    {
        // A hook starts one at the end of a turn.
        log.write(Level::Warn, "worker", &format!("could not start the updated worker: {error}"));
    }
    match &ended {
        Ok(Ended::Elsewhere) => {}
        Ok(ended) => log.write(Level::Info, "worker", &format!("ended: {}", ended.name())),
        Err(error) => {
            log.write(Level::Error, "worker", &format!("ended: {}", base::error::with_causes(error)))
        }
    }
    ended
}

fn work(env: &Env, paths: &Paths, options: Options, handlers: &Handlers, log: &Log) -> Result<Ended, Error> {
    for shift in 0..MOST_SHIFTS {
        let lock = Lock::exclusive(&queue::lock_file(paths), LOCK_PATIENCE).map_err(Error::Lock)?;
        let Some(lock) = lock else {
            return Ok(if shift == 0 { Ended::Elsewhere } else { Ended::Idle });
        };
        // Tells since when a worker runs.
        let _ = lock.file().set_modified(SystemTime::now());
        let ended = Shift::begin(env, paths, options, handlers, log)?.work_and_leave()?;
        drop(lock);
        // A hook that requested a job between our last look and the release of the lock saw a worker, and started none.
        if ended != Ended::Idle || !is_work_left(paths)? {
            return Ok(ended);
        }
    }
    Ok(Ended::Idle)
}

fn is_work_left(paths: &Paths) -> Result<bool, Error> {
    let due = jobs::next_due(&open_store(paths)?)?;
    Ok(!queue::pending(paths).is_empty() || due.is_some_and(|due| due <= Timestamp::now()))
}

impl Ended {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "nothing to do",
            Self::Stopped => "asked to stop",
            Self::Overdue => "a job took too long",
            Self::Relieved => "worked for long enough",
            Self::Updated => "updated",
            Self::Elsewhere => "another worker runs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::{Context, Handler, Progress};
    use base::notice::{self, About, Key, Line};
    use queue::Request;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Instant;
    use store::jobs::{Failure, Job, State};

    /// Does as the job's kind says.
    struct Scripted(&'static str, fn(&mut Context) -> Result<Progress, Failure>);

    impl Handler for Scripted {
        fn kind(&self) -> &'static str {
            self.0
        }

        fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
            self.1(context)
        }

        fn limit(&self, _settings: &Settings) -> Duration {
            if self.0 == "endless" { Duration::from_millis(200) } else { Duration::from_secs(600) }
        }
    }

    const AT_ONCE: Options = Options {
        idle: Duration::ZERO,
        back_off: BackOff { first: Duration::ZERO, cap: Duration::ZERO },
        overtake_after: Duration::from_secs(600),
        shift: Duration::from_secs(600),
    };

    struct Bench {
        _folder: tempfile::TempDir,
        env: Env,
        paths: Paths,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let env = Env::fixed([("WYREN_DATA_DIR", folder.path())]);
            Self { paths: Paths::of(&env), env, _folder: folder }
        }

        fn ask(&self, kind: &str) {
            queue::request(&self.paths, &Request::new(kind), Timestamp::now()).unwrap();
        }

        fn ask_for(&self, kind: &str, project: &str) {
            let request = Request { project: Some(project.into()), ..Request::new(kind) };
            queue::request(&self.paths, &request, Timestamp::now()).unwrap();
        }

        fn work(&self, options: Options, handlers: &Handlers) -> Ended {
            let log = Log::new(&self.paths, &Settings::read(&self.env, &self.paths.hook_settings()));
            work(&self.env, &self.paths, options, handlers, &log).unwrap()
        }

        fn jobs(&self) -> Vec<Job> {
            jobs::list(&open_store(&self.paths).unwrap()).unwrap()
        }
    }

    fn always(kind: &'static str, run: fn(&mut Context) -> Result<Progress, Failure>) -> Handlers {
        Handlers::default().and(Scripted(kind, run))
    }

    #[test]
    fn what_was_asked_for_is_done_and_then_the_worker_goes() {
        let bench = Bench::new();
        bench.ask("easy");
        bench.ask("easy");
        assert_eq!(bench.work(AT_ONCE, &always("easy", |_| Ok(Progress::Done))), Ended::Idle);
        assert!(bench.jobs().iter().all(|job| job.state == State::Done && job.attempts == 1));
        assert_eq!(bench.jobs().len(), 2);
        assert!(!queue::is_running(&bench.paths).unwrap());
        assert_eq!(queue::due(&bench.paths), None);
    }

    #[test]
    fn a_job_that_fails_comes_again_until_it_is_done() {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let bench = Bench::new();
        bench.ask("moody");
        let handlers = always("moody", |_| match RUNS.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Failure::Again("not now".to_owned())),
            1 => panic!("a defect in the handler"),
            _ => Ok(Progress::Done),
        });
        bench.work(AT_ONCE, &handlers);
        let job = &bench.jobs()[0];
        assert_eq!((job.state, job.attempts, job.reason.as_deref()), (State::Done, 3, None));
    }

    #[test]
    fn a_job_of_an_unknown_kind_fails_with_the_reason() {
        let bench = Bench::new();
        bench.ask("of tomorrow");
        bench.work(AT_ONCE, &Handlers::default());
        let job = &bench.jobs()[0];
        assert_eq!(job.state, State::Dead);
        assert!(job.reason.as_deref().is_some_and(|reason| reason.contains("of tomorrow")), "{job:?}");
    }

    #[test]
    fn the_user_reads_once_how_many_jobs_were_given_up() {
        let bench = Bench::new();
        let line = || {
            let line = Line::of(notice::waiting(&bench.paths, None, None, Timestamp::now()), "important");
            line.remember(&bench.paths, About::Everything).unwrap();
            line.text
        };
        bench.ask("easy");
        bench.work(AT_ONCE, &always("easy", |_| Ok(Progress::Done)));
        assert_eq!(line(), "");
        bench.ask("of tomorrow");
        bench.work(AT_ONCE, &Handlers::default());
        bench.ask("of tomorrow, too");
        bench.work(AT_ONCE, &Handlers::default());
        assert_eq!(line(), "Wyren: gave up 2 background jobs; see wyren jobs.");
        bench.work(AT_ONCE, &Handlers::default());
        assert_eq!(line(), "");
    }

    #[test]
    fn a_job_whose_workers_all_died_is_given_up_and_told() {
        let bench = Bench::new();
        bench.ask("deadly");
        let store = &mut open_store(&bench.paths).unwrap();
        crate::intake::take_in_logged(store, &bench.paths, Timestamp::now(), None).unwrap();
        let job = &bench.jobs()[0];
        for _ in 0..job.max_attempts {
            let leased = jobs::lease_elsewhere(store, "gone", Timestamp::now(), Duration::from_secs(60), &[]);
            assert!(leased.unwrap().is_some());
            bench.work(Options { shift: Duration::ZERO, ..AT_ONCE }, &Handlers::default());
        }
        assert_eq!(bench.jobs()[0].state, State::Dead);
        assert_eq!(notice::count_waiting(&bench.paths, About::Everything, Key::Jobs), 1);
    }

    #[test]
    fn a_full_disk_is_news_again_once_a_worker_has_drained() {
        let bench = Bench::new();
        notice::leave_disk_full(&bench.paths).unwrap();
        notice::waiting(&bench.paths, None, None, Timestamp::now())[0].remember().unwrap();
        notice::leave_disk_full(&bench.paths).unwrap();
        assert!(notice::waiting(&bench.paths, None, None, Timestamp::now()).is_empty());
        bench.work(AT_ONCE, &Handlers::default());
        notice::leave_disk_full(&bench.paths).unwrap();
        assert_eq!(notice::waiting(&bench.paths, None, None, Timestamp::now()).len(), 1);
    }

    #[test]
    fn a_job_that_rests_leaves_word_when_it_is_due() {
        let bench = Bench::new();
        bench.ask("failing");
        let rest = BackOff { first: Duration::from_secs(60), cap: Duration::from_secs(60) };
        let handlers = always("failing", |_| Err(Failure::Again("no".to_owned())));
        bench.work(Options { back_off: rest, ..AT_ONCE }, &handlers);
        assert_eq!(queue::due(&bench.paths), Some(bench.jobs()[0].not_before));
    }

    #[test]
    fn a_second_worker_leaves_the_first_alone() {
        let bench = Bench::new();
        bench.ask("easy");
        let lock = Lock::exclusive(&queue::lock_file(&bench.paths), Duration::ZERO).unwrap();
        assert_eq!(bench.work(AT_ONCE, &always("easy", |_| Ok(Progress::Done))), Ended::Elsewhere);
        drop(lock);
        assert_eq!(queue::pending(&bench.paths).len(), 1);
    }

    #[test]
    fn a_worker_that_is_to_stop_lets_a_job_end_or_gives_it_back() {
        let bench = Bench::new();
        bench.ask("listening");
        let listening = always("listening", |context| {
            std::fs::write(queue::stop_file(&context.paths), "").unwrap();
            while !context.is_stopping() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(Progress::Done)
        });
        assert_eq!(bench.work(AT_ONCE, &listening), Ended::Stopped);
        assert_eq!(bench.jobs()[0].state, State::Done);

        let bench = Bench::new();
        bench.ask("deaf");
        let deaf = always("deaf", |context| {
            std::fs::write(queue::stop_file(&context.paths), "").unwrap();
            loop {
                std::thread::park();
            }
        });
        assert_eq!(bench.work(AT_ONCE, &deaf), Ended::Stopped);
        assert_eq!((bench.jobs()[0].state, bench.jobs()[0].attempts), (State::Queued, 0));
    }

    #[test]
    fn a_job_in_pieces_lets_others_in_between_and_is_done_in_the_end() {
        static PIECES: AtomicU32 = AtomicU32::new(0);
        static BETWEEN: AtomicU32 = AtomicU32::new(0);
        let bench = Bench::new();
        bench.ask("long");
        let handlers = always("long", |context| {
            assert_eq!(context.job.attempts, 1, "a piece that went well is no attempt that failed");
            match PIECES.fetch_add(1, Ordering::SeqCst) {
                0 => queue::request(&context.paths, &Request::new("short"), Timestamp::now()).unwrap(),
                10 => return Ok(Progress::Done),
                _ => {}
            }
            Ok(Progress::Again { not_before: Timestamp::now() })
        });
        let handlers = handlers.and(Scripted("short", |_| {
            BETWEEN.store(PIECES.load(Ordering::SeqCst), Ordering::SeqCst);
            Ok(Progress::Done)
        }));
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Idle);
        assert!(bench.jobs().iter().all(|job| job.state == State::Done), "{:?}", bench.jobs());
        assert_eq!(PIECES.load(Ordering::SeqCst), 11);
        assert!(BETWEEN.load(Ordering::SeqCst) < 10, "the short job waited for {BETWEEN:?} pieces");
    }

    #[test]
    fn a_worker_that_is_to_stop_ends_between_two_pieces_and_leaves_word_of_the_rest() {
        let bench = Bench::new();
        bench.ask("long");
        let handlers = always("long", |context| {
            std::fs::write(queue::stop_file(&context.paths), "").unwrap();
            Ok(Progress::Again { not_before: Timestamp::now() })
        });
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Stopped);
        let job = &bench.jobs()[0];
        assert_eq!((job.state, job.attempts), (State::Queued, 0));
        assert_eq!(queue::due(&bench.paths), Some(job.not_before));
    }

    #[test]
    fn an_update_waits_for_the_job_that_is_running_and_for_no_other() {
        let bench = Bench::new();
        bench.ask("first");
        let handlers = always("first", |context| {
            queue::request(&context.paths, &Request::new("second"), Timestamp::now()).unwrap();
            queue::wish_for(&context.paths, queue::Wish::Relief, Timestamp::now()).unwrap();
            Ok(Progress::Done)
        });
        let handlers = handlers.and(Scripted("second", |_| Ok(Progress::Done)));
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Updated);
        let states =
            |bench: &Bench| bench.jobs().iter().map(|job| (job.state, job.attempts)).collect::<Vec<_>>();
        assert_eq!(states(&bench), [(State::Done, 1), (State::Queued, 0)]);
        assert_eq!(queue::due(&bench.paths), Some(bench.jobs()[1].not_before));
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Idle, "the next worker was not asked to go");
        assert_eq!(states(&bench), [(State::Done, 1), (State::Done, 1)]);
    }

    #[test]
    fn an_update_comes_between_two_pieces_of_a_job() {
        let bench = Bench::new();
        bench.ask("long");
        let handlers = always("long", |context| {
            queue::wish_for(&context.paths, queue::Wish::Relief, Timestamp::now()).unwrap();
            Ok(Progress::Again { not_before: Timestamp::now() })
        });
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Updated);
        assert_eq!((bench.jobs()[0].state, bench.jobs()[0].attempts), (State::Queued, 0));
    }

    #[test]
    fn a_piece_for_later_waits_for_its_moment() {
        let bench = Bench::new();
        bench.ask("long");
        let handlers = always("long", |_| {
            Ok(Progress::Again { not_before: Timestamp::from_millis(Timestamp::now().millis() + 60_000) })
        });
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Idle);
        assert_eq!(queue::due(&bench.paths), Some(bench.jobs()[0].not_before));
    }

    #[test]
    fn a_large_spool_is_drained_in_pieces_until_nothing_is_left() {
        const LINES: usize = 20_001;
        let bench = Bench::new();
        let session = bench.paths.session_spool("s");
        std::fs::create_dir_all(&session).unwrap();
        let line = |number: usize| {
            let id = format!(r#""id":"p{number}","ts":{number}"#);
            format!(r#"{{"v":1,"kind":"prompt",{id},"session":"s","prompt":"t"}}"#) + "\n"
        };
        let lines: String = (0..LINES).map(line).collect();
        std::fs::write(session.join("1.jsonl"), lines).unwrap();
        assert_eq!(bench.work(AT_ONCE, &crate::kinds::all()), Ended::Idle);
        let store = open_store(&bench.paths).unwrap();
        let spool = capture::Spool::new(bench.paths.spool());
        assert_eq!(store::observations::backlog(Some(&store), &spool).unwrap().observations, 0);
        let [job] = &bench.jobs()[..] else { panic!("{:?}", bench.jobs()) };
        assert_eq!((job.kind.as_str(), job.state), ("drain", State::Done));
    }

    #[test]
    fn a_job_without_end_counts_as_failed_and_the_worker_goes() {
        let bench = Bench::new();
        bench.ask("endless");
        let endless = always("endless", |_| {
            loop {
                std::thread::park();
            }
        });
        assert_eq!(bench.work(AT_ONCE, &endless), Ended::Overdue);
        let job = &bench.jobs()[0];
        assert_eq!((job.state, job.attempts), (State::Queued, 1));
        assert_eq!(job.reason.as_deref(), Some("took longer than 0 s"));
    }

    #[test]
    fn a_job_without_end_keeps_none_of_another_project_waiting() {
        let bench = Bench::new();
        // Requests of one moment have no order.
        bench.ask_for("stuck", "a");
        take_in_now(&bench);
        bench.ask_for("easy", "a");
        bench.ask_for("easy", "b");
        bench.ask_for("stuck", "c");
        bench.ask_for("easy", "d");
        let handlers = always("easy", |_| Ok(Progress::Done)).and(Scripted("stuck", |context| {
            // Ends only when the worker is to stop, which comes after all others are done.
            loop {
                let store = open_store(&context.paths).unwrap();
                let jobs = jobs::list(&store).unwrap();
                let done = jobs.iter().filter(|job| job.state == State::Done).count();
                if done >= 2 {
                    std::fs::write(queue::stop_file(&context.paths), "").unwrap();
                    return Ok(Progress::Done);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }));
        let options = Options { overtake_after: Duration::ZERO, ..AT_ONCE };
        assert_eq!(bench.work(options, &handlers), Ended::Stopped);
        let state = |kind: &str, project: &str| {
            let is_meant = |job: &&Job| job.kind == kind && job.project.as_deref() == Some(project);
            bench.jobs().iter().find(is_meant).map(|job| job.state)
        };
        assert_eq!((state("easy", "b"), state("easy", "d")), (Some(State::Done), Some(State::Done)));
        assert_eq!(
            state("easy", "a"),
            Some(State::Queued),
            "jobs of one project do not run beside each other"
        );
    }

    fn take_in_now(bench: &Bench) {
        crate::intake::take_in(&mut open_store(&bench.paths).unwrap(), &bench.paths, Timestamp::now())
            .unwrap();
    }

    #[test]
    fn after_a_job_without_end_the_worker_goes_on_with_other_projects() {
        let bench = Bench::new();
        bench.ask_for("endless", "a");
        take_in_now(&bench);
        bench.ask_for("easy", "b");
        bench.ask_for("easy", "a");
        let handlers = always("easy", |_| Ok(Progress::Done)).and(Scripted("endless", |_| {
            loop {
                std::thread::park();
            }
        }));
        assert_eq!(bench.work(AT_ONCE, &handlers), Ended::Overdue);
        let state = |kind: &str, project: &str| {
            let is_meant = |job: &&Job| job.kind == kind && job.project.as_deref() == Some(project);
            bench.jobs().into_iter().find(|job| is_meant(&job)).unwrap()
        };
        assert_eq!(state("easy", "b").state, State::Done);
        assert_eq!((state("endless", "a").state, state("endless", "a").attempts), (State::Queued, 1));
        assert_eq!(state("easy", "a").state, State::Queued, "the job without end may still be at it");
        assert!(queue::due(&bench.paths).is_some(), "the next worker continues");
    }

    #[test]
    fn a_worker_that_worked_for_long_enough_leaves_the_rest_to_the_next() {
        let bench = Bench::new();
        bench.ask("easy");
        let options = Options { shift: Duration::ZERO, ..AT_ONCE };
        assert_eq!(bench.work(options, &always("easy", |_| Ok(Progress::Done))), Ended::Relieved);
        assert_eq!(bench.jobs()[0].state, State::Queued);
        assert!(queue::due(&bench.paths).is_some());
    }

    #[test]
    fn an_idle_worker_waits_for_more() {
        let bench = Bench::new();
        let patient = Options { idle: Duration::from_secs(60), ..AT_ONCE };
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| bench.work(patient, &always("easy", |_| Ok(Progress::Done))));
            let wait_for = |condition: &dyn Fn() -> bool| {
                let deadline = Instant::now() + Duration::from_secs(10);
                while !condition() {
                    assert!(Instant::now() < deadline);
                    std::thread::sleep(Duration::from_millis(5));
                }
            };
            wait_for(&|| queue::is_running(&bench.paths).unwrap());
            bench.ask("easy");
            wait_for(&|| bench.jobs().iter().any(|job| job.state == State::Done));
            std::fs::write(queue::stop_file(&bench.paths), "").unwrap();
            assert_eq!(worker.join().unwrap(), Ended::Stopped);
        });
    }
}
