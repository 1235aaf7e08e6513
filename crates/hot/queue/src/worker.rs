//! The worker from outside: whether one runs, whether one is needed, and its start.

use crate::request::pending;
use base::paths::PRIVATE_MARKER;
use base::{Paths, Timestamp, detached, files, system};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The least time between two starts.
const START_PAUSE_MILLIS: u64 = 30_000;
/// How long what a session recorded may wait in the spool before a hook starts a worker for it.
const DRAIN_EVERY_MILLIS: u64 = 600_000;
/// How far the clock of the file system may be behind ours.
const CLOCK_MILLIS: u64 = 1_000;

/// The result of trying to start a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// One was started, in this process.
    Started(u32),
    /// There is no work.
    NoWork,
    /// One runs already.
    Running,
    /// One was started a moment ago.
    TooSoon,
}

/// Returns the file that a running worker holds locked.
pub fn lock_file(paths: &Paths) -> PathBuf {
    paths.data().join("worker.lock")
}

/// Returns the file that asks a running worker to go away.
pub fn stop_file(paths: &Paths) -> PathBuf {
    paths.data().join("worker.stop")
}

/// What a running worker is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To go away, and to give its job back unless that ends in a moment.
    Stop,
    /// To make room for one of another version, after the job that it is at.
    Relief,
}

/// What the file of a wish begins with when it is for [`Wish::Relief`].
const RELIEF: &str = "update";

/// Returns what a running worker is asked for.
pub fn wish(paths: &Paths) -> Option<Wish> {
    let file = stop_file(paths);
    match files::read_text_capped(&file, files::cap::STATE) {
        Ok(text) if text.starts_with(RELIEF) => Some(Wish::Relief),
        Ok(_) => Some(Wish::Stop),
        Err(_) => file.exists().then_some(Wish::Stop),
    }
}

/// Asks a running worker for something.
pub fn wish_for(paths: &Paths, wish: Wish, now: Timestamp) -> io::Result<()> {
    let word = if wish == Wish::Relief { "update " } else { "" };
    files::write_atomic(&stop_file(paths), format!("{word}{now}\n").as_bytes())
}

/// Says whether a worker runs, by its lock.
pub fn is_running(paths: &Paths) -> io::Result<bool> {
    let file = match File::open(lock_file(paths)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // Shared, so that those who ask do not get in each other's way. A worker that starts at this very moment waits.
    match system::try_lock_shared(&file) {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns when the running worker began.
pub fn running_since(paths: &Paths) -> io::Result<Option<Timestamp>> {
    if !is_running(paths)? {
        return Ok(None);
    }
    Ok(Some(fs::metadata(lock_file(paths))?.modified()?.into()))
}

/// Returns when the next job in the database is due, as the last worker left word.
pub fn due(paths: &Paths) -> Option<Timestamp> {
    let text = files::read_text_capped(&due_file(paths), files::cap::STATE).ok()?;
    // Whatever else the file holds, someone has to look.
    Some(Timestamp::from_millis(text.trim().parse().unwrap_or(0)))
}

/// Leaves word when the next job in the database is due.
pub fn set_due(paths: &Paths, due: Option<Timestamp>) -> io::Result<()> {
    let file = due_file(paths);
    match due {
        Some(due) => files::write_atomic(&file, format!("{}\n", due.millis()).as_bytes()),
        None => files::remove_if_there(&file).map(|_| ()),
    }
}

/// Starts a worker when a job is due, or when no worker began for ten minutes and a request or an observation of
/// `session` waits. For hooks at the end of a turn: two file operations when there is nothing to do.
pub fn nudge(paths: &Paths, session: Option<&str>, now: Timestamp) -> io::Result<Start> {
    let is_due = due(paths).is_some_and(|due| due <= now);
    let began = last_began(paths, now);
    let is_long_since = began.is_none_or(|began| now.millis_since(began) >= DRAIN_EVERY_MILLIS);
    if is_due || (is_long_since && is_waiting(paths, session, began)) {
        start_unless_too_soon(paths, now)
    } else {
        Ok(Start::NoWork)
    }
}

/// Starts a worker when a job is due, or a request or an observation of `session` waits. For the end of a session, which may
/// have no next turn to drain what it recorded.
pub fn nudge_at_end(paths: &Paths, session: Option<&str>, now: Timestamp) -> io::Result<Start> {
    let is_due = due(paths).is_some_and(|due| due <= now);
    if is_due || is_waiting(paths, session, last_began(paths, now)) {
        start_worker_for_work(paths, now)
    } else {
        Ok(Start::NoWork)
    }
}

/// Returns whether a request waits, or something that a session recorded since the last worker `began`: that one has drained
/// what was there, but left the files. Should it have failed, it left word that there is work.
///
/// The spool folder of the session is looked into because a session whose prompts are all private has one, too.
fn is_waiting(paths: &Paths, session: Option<&str>, began: Option<Timestamp>) -> bool {
    let is_new = |entry: &fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).map(Timestamp::from);
        began.is_none_or(|began| {
            modified.is_ok_and(|modified| modified.millis() + CLOCK_MILLIS >= began.millis())
        })
    };
    let holds = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|it| it.file_name() != PRIVATE_MARKER && is_new(&it))
    };
    let recorded = session.and_then(|session| fs::read_dir(paths.session_spool(session)).ok());
    recorded.is_some_and(|mut entries| entries.any(holds)) || !pending(paths).is_empty()
}

/// Starts a worker if there is work, none runs, and none was started a moment ago.
pub fn start_worker_if_needed(paths: &Paths, now: Timestamp) -> io::Result<Start> {
    if pending(paths).is_empty() && due(paths).is_none_or(|due| due > now) {
        return Ok(Start::NoWork);
    }
    start_worker_for_work(paths, now)
}

/// Starts a worker for work that is known to be there, if none runs and none was started a moment ago. When it starts
/// none, the next [`nudge`] does.
pub fn start_worker_for_work(paths: &Paths, now: Timestamp) -> io::Result<Start> {
    let started = start_unless_too_soon(paths, now);
    if matches!(started, Ok(Start::TooSoon) | Err(_)) && due(paths).is_none_or(|due| due > now) {
        // Without the word, a request waits ten minutes at most.
        let _ = set_due(paths, Some(now));
    }
    started
}

fn start_unless_too_soon(paths: &Paths, now: Timestamp) -> io::Result<Start> {
    // `now` is when the hook began, so a worker that it started itself is a moment ahead. A start much later than that is
    // from before the clock was set back, and does not count.
    if started(paths).is_some_and(|started| started.millis().abs_diff(now.millis()) < START_PAUSE_MILLIS) {
        return Ok(Start::TooSoon);
    }
    start_worker(paths, now)
}

/// Starts a worker unless one runs.
pub fn start_worker(paths: &Paths, now: Timestamp) -> io::Result<Start> {
    start_worker_at(&detached::beside_us("wyren-worker")?, paths, now)
}

/// Starts a worker from a program, unless one runs.
pub fn start_worker_at(program: &Path, paths: &Paths, now: Timestamp) -> io::Result<Start> {
    if is_running(paths)? {
        return Ok(Start::Running);
    }
    // Two that come here at once start two workers, and the lock sends one home.
    let mut started = open_started(paths)?;
    started.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(now.millis()))?;
    let worker = detached::command(program, paths)?.spawn()?.id();
    // Always of one length: a file that is cut to nothing before it is written goes to the disk at once.
    started.write_all(format!("{worker:>10}\n").as_bytes())?;
    Ok(Start::Started(worker))
}

/// Opens the file about the last start. It is there but for the first time.
fn open_started(paths: &Paths) -> io::Result<File> {
    let file = started_file(paths);
    let open = || files::private_options().write(true).create(true).truncate(false).open(&file);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::create_private_folder(paths.data())?;
            open()
        }
        opened => opened,
    }
}

/// Returns the process that was last started as a worker, for formats that name one. It may be gone, or another worker
/// may have been quicker: only the lock shows whether one runs.
pub fn last_started(paths: &Paths) -> Option<u32> {
    files::read_text_capped(&started_file(paths), files::cap::STATE).ok()?.trim().parse().ok()
}

fn started(paths: &Paths) -> Option<Timestamp> {
    modified(&started_file(paths))
}

/// Returns when a worker last began; one that was started and did not get as far as its lock does not count. A moment in the
/// future was written by a clock that was wrong.
fn last_began(paths: &Paths, now: Timestamp) -> Option<Timestamp> {
    modified(&lock_file(paths)).filter(|began| *began <= now)
}

fn modified(file: &Path) -> Option<Timestamp> {
    Some(fs::metadata(file).ok()?.modified().ok()?.into())
}

fn started_file(paths: &Paths) -> PathBuf {
    paths.data().join("worker.started")
}

fn due_file(paths: &Paths) -> PathBuf {
    paths.data().join("worker.due")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Request, request};
    use base::Env;
    use base::lock::Lock;
    use std::time::Duration;

    fn check(test: impl FnOnce(&Paths)) {
        let folder = tempfile::tempdir().unwrap();
        test(&Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())])));
    }

    fn start(paths: &Paths, now: Timestamp) -> Result<Start, io::ErrorKind> {
        start_worker_if_needed(paths, now).map_err(|error| error.kind())
    }

    /// No program of that name is beside the test, so a start shows in its failure.
    const TRIED: Result<Start, io::ErrorKind> = Err(io::ErrorKind::NotFound);

    #[test]
    fn without_work_nothing_is_started_and_nothing_is_written() {
        check(|paths| {
            assert_eq!(start(paths, Timestamp::now()), Ok(Start::NoWork));
            assert_eq!(files::files_in(paths.data()), Vec::<PathBuf>::new());
        });
    }

    #[test]
    fn a_request_starts_a_worker_and_another_one_soon_after_does_not() {
        check(|paths| {
            let now = Timestamp::now();
            request(paths, &Request::new("drain"), now).unwrap();
            assert_eq!(start(paths, now), TRIED);
            assert_eq!(start(paths, Timestamp::from_millis(now.millis() + 29_000)), Ok(Start::TooSoon));
            assert_eq!(start(paths, Timestamp::from_millis(now.millis() + 30_000)), TRIED);
        });
    }

    #[test]
    fn a_start_that_lies_in_the_future_does_not_hold_up_the_next() {
        check(|paths| {
            let now = Timestamp::now();
            request(paths, &Request::new("drain"), now).unwrap();
            assert_eq!(start(paths, Timestamp::from_millis(now.millis() + 3_600_000)), TRIED);
            assert_eq!(start(paths, now), TRIED);
        });
    }

    #[test]
    fn a_hook_that_has_just_started_a_worker_starts_no_second_one() {
        check(|paths| {
            let began = Timestamp::now();
            request(paths, &Request::new("distill"), began).unwrap();
            let later = Timestamp::from_millis(began.millis() + 40);
            assert_eq!(start(paths, later), TRIED);
            assert_eq!(nudge(paths, None, began).map_err(|error| error.kind()), Ok(Start::TooSoon));
        });
    }

    #[test]
    fn a_running_worker_is_enough() {
        check(|paths| {
            request(paths, &Request::new("drain"), Timestamp::now()).unwrap();
            assert!(!is_running(paths).unwrap());
            let lock = Lock::exclusive(&lock_file(paths), Duration::ZERO).unwrap();
            assert!(is_running(paths).unwrap() && running_since(paths).unwrap().is_some());
            assert_eq!(start(paths, Timestamp::now()), Ok(Start::Running));
            drop(lock);
            // A program that another test starts holds the lock, too, until it runs.
            let deadline = std::time::Instant::now() + Duration::from_secs(10);
            while is_running(paths).unwrap() {
                assert!(std::time::Instant::now() < deadline, "the lock is still held");
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn a_job_that_rests_starts_a_worker_when_it_is_due() {
        check(|paths| {
            let now = Timestamp::now();
            set_due(paths, Some(Timestamp::from_millis(now.millis() + 5_000))).unwrap();
            assert_eq!(start(paths, now), Ok(Start::NoWork));
            assert_eq!(start(paths, Timestamp::from_millis(now.millis() + 5_000)), TRIED);
            set_due(paths, None).unwrap();
            assert_eq!(start(paths, Timestamp::from_millis(now.millis() + 60_000)), Ok(Start::NoWork));
        });
    }
    const TEN_MINUTES: u64 = 600_000;

    fn nudged(paths: &Paths, now: Timestamp) -> Result<Start, io::ErrorKind> {
        nudge(paths, Some("s"), now).map_err(|error| error.kind())
    }

    fn record(paths: &Paths, name: &str) {
        files::open_append(&paths.session_spool("s").join(name)).unwrap();
    }

    fn began(paths: &Paths, at: Timestamp) {
        let lock = files::open_append(&lock_file(paths)).unwrap();
        lock.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(at.millis())).unwrap();
    }

    #[test]
    fn a_nudge_without_work_starts_and_writes_nothing() {
        check(|paths| {
            assert_eq!(nudged(paths, Timestamp::now()), Ok(Start::NoWork));
            assert_eq!(nudge(paths, None, Timestamp::now()).unwrap(), Start::NoWork);
            assert_eq!(files::files_in(paths.data()), Vec::<PathBuf>::new());
        });
    }

    #[test]
    fn a_nudge_starts_a_worker_for_what_the_session_recorded_every_ten_minutes() {
        check(|paths| {
            let now = Timestamp::now();
            record(paths, "1.jsonl");
            assert_eq!(nudge(paths, Some("another"), now).unwrap(), Start::NoWork);
            assert_eq!(nudged(paths, now), TRIED);
            assert_eq!(nudged(paths, now), Ok(Start::TooSoon));
            let later = |millis| Timestamp::from_millis(now.millis() + millis);
            began(paths, now);
            assert_eq!(nudged(paths, later(TEN_MINUTES - 1)), Ok(Start::NoWork));
            assert_eq!(nudged(paths, later(TEN_MINUTES)), TRIED);
            began(paths, later(9 * TEN_MINUTES));
            assert_eq!(nudged(paths, later(2 * TEN_MINUTES)), TRIED, "the clock was set back");
        });
    }

    fn recorded_at(paths: &Paths, at: Timestamp) {
        let file = files::open_append(&paths.session_spool("s").join("1.jsonl")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(at.millis())).unwrap();
    }

    #[test]
    fn what_a_worker_has_drained_starts_no_other_while_its_file_stays() {
        check(|paths| {
            let now = Timestamp::now();
            let later = |millis| Timestamp::from_millis(now.millis() + millis);
            recorded_at(paths, now);
            began(paths, later(CLOCK_MILLIS + 1));
            for hours in 1..3 {
                assert_eq!(nudged(paths, later(hours * 6 * TEN_MINUTES)), Ok(Start::NoWork));
            }
            // What is recorded afterwards does, and so does a worker that left word of a failure.
            recorded_at(paths, later(2 * TEN_MINUTES));
            assert_eq!(nudged(paths, later(3 * TEN_MINUTES)), TRIED);
            recorded_at(paths, now);
            set_due(paths, Some(Timestamp::from_millis(0))).unwrap();
            assert_eq!(nudged(paths, later(4 * TEN_MINUTES)), TRIED);
        });
    }

    #[test]
    fn the_end_of_a_session_does_not_wait_for_ten_minutes() {
        check(|paths| {
            let at_end = |now| nudge_at_end(paths, Some("s"), now).map_err(|error| error.kind());
            let now = Timestamp::now();
            let later = |millis| Timestamp::from_millis(now.millis() + millis);
            assert_eq!(at_end(now), Ok(Start::NoWork));
            began(paths, now);
            recorded_at(paths, later(1_000));
            assert_eq!(nudged(paths, later(2_000)), Ok(Start::NoWork));
            assert_eq!(at_end(later(2_000)), TRIED);
            // Too soon for another start, and left to the next turn of any session.
            set_due(paths, None).unwrap();
            assert_eq!(at_end(later(3_000)), Ok(Start::TooSoon));
            assert_eq!(nudge(paths, Some("another"), later(40_000)).map_err(|error| error.kind()), TRIED);
            set_due(paths, None).unwrap();
            recorded_at(paths, now);
            began(paths, later(60_000));
            assert_eq!(at_end(later(120_000)), Ok(Start::NoWork), "all of it is drained");
        });
    }

    #[test]
    fn a_nudge_starts_no_worker_for_a_private_session() {
        check(|paths| {
            record(paths, PRIVATE_MARKER);
            assert_eq!(nudged(paths, Timestamp::now()), Ok(Start::NoWork));
        });
    }

    #[test]
    fn a_nudge_starts_a_worker_for_a_due_job_and_for_a_request_that_was_left_behind() {
        check(|paths| {
            let now = Timestamp::now();
            began(paths, now);
            set_due(paths, Some(now)).unwrap();
            assert_eq!(nudged(paths, now), TRIED);
        });
        check(|paths| {
            let now = Timestamp::now();
            request(paths, &Request::new("drain"), now).unwrap();
            assert_eq!(nudged(paths, now), TRIED);
        });
    }

    #[test]
    fn a_request_that_came_too_soon_for_a_start_is_due_at_the_next_nudge() {
        check(|paths| {
            let now = Timestamp::now();
            let soon = Timestamp::from_millis(now.millis() + 1_000);
            request(paths, &Request::new("drain"), now).unwrap();
            assert_eq!(start(paths, now), TRIED);
            set_due(paths, None).unwrap();
            began(paths, now);
            assert_eq!(start(paths, soon), Ok(Start::TooSoon));
            assert_eq!(nudged(paths, Timestamp::from_millis(now.millis() + 30_000)), TRIED);
        });
    }
}
