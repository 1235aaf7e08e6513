//! What the routes share: folders, the database, the feed, and what is known about sessions that came in.

use crate::feed::Feed;
use base::settings::Settings;
use base::{Env, Paths, Timestamp, system};
use capture::{Rules, Spool};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store::Store;
use store::observations::{Drain, Drained};

/// What is drained at a time.
const MOST_LINES: usize = 5_000;
/// How long a request drains before it answers, or waits for another program that does.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many sessions are known at a time.
const MOST_SESSIONS: usize = 10_000;

/// A server.
#[derive(Debug)]
pub struct Server {
    pub(crate) env: Env,
    pub(crate) paths: Paths,
    pub(crate) token: String,
    pub(crate) port: u16,
    pub(crate) version: &'static str,
    pub(crate) feed: Feed,
    pub(crate) began: Instant,
    store: Mutex<Option<Open>>,
    pub(crate) sessions: Mutex<HashMap<(String, String), Known>>,
    /// How many observations came in since the last drain.
    pub(crate) waiting: AtomicU64,
    pub(crate) last_came: Mutex<Option<Instant>>,
    pub(crate) wake: Condvar,
    pub(crate) is_over: AtomicBool,
    pub(crate) over: tokio::sync::Notify,
    number: AtomicU64,
}

/// The database, and which file it is.
#[derive(Debug)]
struct Open {
    store: Store,
    file: Option<u64>,
}

/// What is known about a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) prompts: u64,
    pub(crate) cwd: Option<PathBuf>,
    /// The last prompt's digest, and when it came.
    pub(crate) last_prompt: Option<(String, Instant)>,
}

impl Server {
    /// Returns a server of the user's data; `version` is the program's.
    pub fn new(env: Env, paths: Paths, token: String, port: u16, version: &'static str) -> Self {
        let word = format!("{:x}{:x}", Timestamp::now().millis(), std::process::id());
        Self {
            env,
            paths,
            token,
            port,
            version,
            feed: Feed::new(word),
            began: Instant::now(),
            store: Mutex::default(),
            sessions: Mutex::default(),
            waiting: AtomicU64::new(0),
            last_came: Mutex::default(),
            wake: Condvar::new(),
            is_over: AtomicBool::new(false),
            over: tokio::sync::Notify::new(),
            number: AtomicU64::new(0),
        }
    }

    /// Returns the settings as they are now: a change needs no restart.
    pub(crate) fn settings(&self) -> Settings {
        Settings::read(&self.env, &self.paths.hook_settings())
    }

    pub(crate) fn rules(&self) -> Rules {
        Rules::of(&self.settings(), &self.env)
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::new(self.paths.spool())
    }

    /// Returns an id that no other observation has.
    pub(crate) fn unique_id(&self, now: Timestamp) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        format!("n:{}-{}-{number}", now.millis(), std::process::id())
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, HashMap<(String, String), Known>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() > MOST_SESSIONS {
            sessions.clear();
        }
        sessions
    }

    /// Takes note that something is in the spool.
    pub(crate) fn came(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        *self.last_came.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.wake.notify_one();
    }

    /// Drains the spool and hands on the database: what was acknowledged before is seen. While another program drains, what is
    /// there answers.
    pub(crate) fn read<T>(&self, ask: impl FnOnce(&mut Store) -> Result<T, Failed>) -> Result<T, Failed> {
        let mut kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let number = || file_number(&self.paths.database());
        // A repair puts another file in its place. What is drained into the old one is lost with it.
        let mut open = match kept.take().filter(|open| open.file == number()) {
            Some(open) => open,
            None => {
                let store = journal::open_store(&self.paths)?;
                Open { store, file: number() }
            }
        };
        let drained = self.drain(&mut open.store);
        let answer = drained.and_then(|()| ask(&mut open.store));
        // A connection that failed is opened anew.
        if answer.is_ok() {
            *kept = Some(open);
        }
        answer
    }

    /// Lets the database go, so that another program may replace it.
    pub(crate) fn close(&self) {
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn drain(&self, store: &mut Store) -> Result<(), Failed> {
        if store.ahead().is_some() {
            return Ok(());
        }
        let (spool, rules) = (self.spool(), self.rules());
        let until = Instant::now() + PATIENCE;
        loop {
            let before = self.waiting.load(Ordering::Relaxed);
            let drain = Drain::unbounded(&spool).at_most(MOST_LINES).following(&rules);
            match drain.run(store, Timestamp::now()) {
                Ok(Drained::Done(progress)) => {
                    let left = |waiting: u64| {
                        // What is left counts as one at least: the keeper goes on.
                        let of_rest = || waiting.saturating_sub(progress.lines).max(1);
                        Some(if progress.is_complete { waiting.saturating_sub(before) } else { of_rest() })
                    };
                    let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
                    if progress.is_complete || Instant::now() >= until {
                        return Ok(());
                    }
                    continue;
                }
                Ok(Drained::Busy) | Err(store::Error::Busy | store::Error::Locked(_)) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= until {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Returns the number of a file; always the same one where the system lets no file take the place of one that is open.
fn file_number(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| system::file_number(&metadata))
}

/// Why a question could not be answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("{0}")]
    Wrong(String),
    #[error("{0}")]
    Missing(String),
    #[error("the disk is full: nothing was recorded")]
    NoRoom,
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Search(#[from] search::sources::Error),
    #[error(transparent)]
    Index(#[from] search::index::Error),
    #[error(transparent)]
    Record(#[from] capture::RecordError),
    #[error(transparent)]
    Spool(#[from] capture::Error),
}

impl From<String> for Failed {
    fn from(wrong: String) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<store::rusqlite::Error> for Failed {
    fn from(error: store::rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}
