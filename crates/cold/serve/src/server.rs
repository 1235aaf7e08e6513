//! What the routes share: folders, the database, the feed, and what is known about sessions that came in.

use crate::feed::Feed;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Rules, Spool};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use store::Store;
use store::observations::Drain;

/// What a request that reads drains before it answers, at most.
const MOST_LINES: usize = 5_000;
/// How long a request waits for another program that drains.
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
    store: Mutex<Option<Store>>,
    pub(crate) sessions: Mutex<HashMap<(String, String), Known>>,
    /// How many observations came in since the last drain.
    pub(crate) waiting: AtomicU64,
    pub(crate) last_came: Mutex<Option<Instant>>,
    pub(crate) wake: Condvar,
    pub(crate) is_over: AtomicBool,
    pub(crate) over: tokio::sync::Notify,
    number: AtomicU64,
    /// What the notes of forgotten things looked like when the feed last had nothing of them.
    forgotten: Mutex<Notes>,
}

/// The size and the time of a file; `None` where there is none.
type Notes = Option<(u64, Option<SystemTime>)>;

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
        let forgotten = Mutex::new(notes(&paths));
        Self {
            forgotten,
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

    /// Has the feed replay nothing that `wyren forget` deleted since.
    pub(crate) fn drop_forgotten(&self) {
        let now = notes(&self.paths);
        let mut before = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        if *before != now {
            *before = now;
            self.feed.drop_kept();
        }
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
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = match store.take() {
            Some(store) => store,
            None => journal::open_store(&self.paths)?,
        };
        let drained = self.drain(&mut open);
        let answer = drained.and_then(|()| ask(&mut open));
        // A connection that failed is opened anew: the file may have been repaired or replaced.
        if answer.is_ok() {
            *store = Some(open);
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
                Ok(store::observations::Drained::Done(_)) => {
                    let left = |waiting: u64| Some(waiting.saturating_sub(before));
                    let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
                    return Ok(());
                }
                Ok(store::observations::Drained::Busy)
                | Err(store::Error::Busy | store::Error::Locked(_)) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= until {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn notes(paths: &Paths) -> Notes {
    let metadata = std::fs::metadata(store::repair::notes_of_forgotten(&paths.database())).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
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
