//! The database and the search index, opened together.
//!
//! Most often both are in step, which is known after a few questions: then nothing is drained, derived or written.

use crate::Error;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Rules, Spool};
use queue::Request;
use search::Query;
use search::index::Index;
use search::meaning::{self, Vectors};
use search::query::Found;
use search::sources::{self, Refreshed};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::Store;
use store::observations::{self, Drain, Drained};

/// How long a question waits for a drain elsewhere, and brings the index in step, before what is there answers it.
pub const MOST_TIME: Duration = Duration::from_millis(1_000);

/// How long the embeddings server may take for a question.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How often a drain elsewhere is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// The database and the index.
pub struct Finder {
    pub store: Store,
    pub index: Index,
    /// The folder that was asked from.
    pub cwd: PathBuf,
    /// Whether the index lacks nothing.
    pub is_complete: bool,
    /// Whether the database was only read.
    is_only_read: bool,
}

/// What a refresh left of the difference between the database and the index.
#[derive(Debug)]
pub enum InStep {
    Yes,
    /// The index is being made: some documents may be missing.
    NotYet,
    Failed(sources::Error),
}

impl Finder {
    /// Returns both where nothing waits for either.
    pub fn in_step(paths: &Paths, cwd: &Path) -> Option<Self> {
        let store = Store::open_for_hook(&paths.database(), store::TABLES).ok().flatten()?;
        let index = Index::open(&sources::folder(paths)).ok()?;
        let is_current = sources::is_current(&store, paths, Some(cwd), &index).ok()?;
        let is_waiting = observations::is_anything_waiting(&store, &Spool::new(paths.spool())).ok()?;
        (is_current && !is_waiting).then(|| Self {
            store,
            index,
            cwd: cwd.to_owned(),
            is_complete: true,
            is_only_read: true,
        })
    }

    /// Brings the index in step with a database that was drained. What is left, the worker does.
    pub fn refreshed(
        mut store: Store,
        is_drained: bool,
        paths: &Paths,
        cwd: &Path,
    ) -> Result<(Self, InStep), Error> {
        let refreshed = sources::refresh(&mut store, paths, Some(cwd), MOST_TIME);
        let index = Index::open(&sources::folder(paths))?;
        let step = match refreshed {
            Ok(Refreshed { is_complete: true, .. }) => InStep::Yes,
            Err(error) if !error.is_busy() => InStep::Failed(error),
            _ => InStep::NotYet,
        };
        if !matches!(step, InStep::Yes) || !index.is_tidy() {
            have_worker_finish(paths);
        }
        let is_complete = is_drained && matches!(step, InStep::Yes);
        Ok((Self { store, index, cwd: cwd.to_owned(), is_complete, is_only_read: false }, step))
    }

    /// Opens both for a server: what is recorded so far is drained, and a damaged database is an error that names the repair.
    pub fn open(env: &Env, paths: &Paths, cwd: &Path) -> Result<Self, Error> {
        if let Some(finder) = Self::in_step(paths, cwd) {
            return Ok(finder);
        }
        let (store, is_drained) = open_drained(env, paths)?;
        Self::refreshed(store, is_drained, paths, cwd).map(|(finder, _)| finder)
    }

    /// Answers a question: by its words, and by its meaning where an embeddings server is set up and answers in time. The second is
    /// why the meaning was left out.
    pub fn search(&self, query: &Query, env: &Env, paths: &Paths) -> (Found, Option<model::Error>) {
        match self.by_meaning(query, env, paths) {
            Ok(Some(found)) => (found, None),
            Ok(None) => (self.index.search(query), None),
            Err(error) => (self.index.search(query), Some(error)),
        }
    }

    /// Leaves both to the end of the process, which is near: to close a database that was only read would take longer than to
    /// search it.
    pub fn leave(self) {
        if self.is_only_read {
            std::mem::forget(self);
        }
    }

    /// Returns `None` where no server is set up, or nothing was asked of it yet.
    fn by_meaning(&self, query: &Query, env: &Env, paths: &Paths) -> Result<Option<Found>, model::Error> {
        let folder = meaning::folder(&sources::folder(paths));
        if !folder.is_dir() {
            return Ok(None);
        }
        let Some(server) = runner::kinds::embeddings(env, paths)? else { return Ok(None) };
        let vectors = Vectors::open(&folder, server.model());
        if vectors.is_empty() {
            return Ok(None);
        }
        let vector = server.embed(&[&query.text], Instant::now() + PATIENCE)?;
        let Some(vector) = vector.first() else { return Ok(None) };
        Ok(Some(meaning::search(&self.index, &vectors, vector, query)))
    }
}

/// Opens the database and drains the spool; returns also whether everything is drained. A drain elsewhere is waited for, but not
/// for long: what is there already answers.
pub fn open_drained(env: &Env, paths: &Paths) -> Result<(Store, bool), Error> {
    let began = Instant::now();
    let rules = Rules::of(&Settings::read(env, &paths.hook_settings()), env);
    let mut store = loop {
        match journal::open_store(paths) {
            Err(store::Error::Busy | store::Error::Locked(_)) if began.elapsed() < MOST_TIME => {
                std::thread::sleep(PAUSE);
            }
            opened => break opened?,
        }
    };
    if store.ahead().is_some() {
        return Ok((store, true));
    }
    let spool = Spool::new(paths.spool());
    let is_drained = loop {
        match Drain::unbounded(&spool).following(&rules).run(&mut store, Timestamp::now()) {
            Ok(Drained::Done(_)) => break true,
            Ok(Drained::Busy) | Err(store::Error::Busy | store::Error::Locked(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if began.elapsed() >= MOST_TIME {
            break false;
        }
        std::thread::sleep(PAUSE);
    };
    // Hooks do without; the next drain tries again.
    let _ = journal::file_cache::refresh(&store, paths);
    Ok((store, is_drained))
}

/// The next worker finds the rest without a request, too.
fn have_worker_finish(paths: &Paths) {
    let now = Timestamp::now();
    let request = Request { key: Some("spool".into()), ..Request::new("drain") };
    let _ = queue::request(paths, &request, now).and_then(|()| queue::start_worker(paths, now));
}
