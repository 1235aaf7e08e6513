//! Opens the database and the search index for a command that looks something up.
//!
//! Most often both are in step, which is known after a few questions: then nothing is drained, derived or written.

use crate::database::{self, Look};
use crate::terminal::{self, WARNING, counted};
use anyhow::{Context as _, Result};
use base::error::with_causes;
use base::{Env, Paths, Timestamp};
use capture::Spool;
use queue::Request;
use search::Query;
use search::index::Index;
use search::meaning::{self, Vectors};
use search::query::Found;
use search::sources::{self, Refreshed};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::{Store, observations};

/// How long a command waits for a drain elsewhere, and brings the index in step, before it answers from what is there.
const MOST_TIME: Duration = Duration::from_millis(1_000);

/// How long the embeddings server may take for a question.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The database and the index.
pub(crate) struct Finder {
    pub(crate) store: Store,
    pub(crate) index: Index,
    /// The folder that the command was given in.
    pub(crate) cwd: PathBuf,
    /// Whether the index lacks nothing.
    pub(crate) is_complete: bool,
}

impl Finder {
    pub(crate) fn open(env: &Env, paths: &Paths) -> Result<Self> {
        let cwd = std::env::current_dir().context("could not find out which folder this is")?;
        if let Some((store, index)) = in_step(paths, &cwd) {
            return Ok(Self { store, index, cwd, is_complete: true });
        }
        // While the worker takes in a lot, what is there already answers.
        let (mut store, drained) = database::open_drained_within(env, paths, Look::Quick, MOST_TIME)?;
        let is_drained = match drained {
            Err(store::Error::Busy | store::Error::Locked(_)) => false,
            drained => drained.map(|()| true).context("could not drain the spool")?,
        };
        let spinner = terminal::spinner("Bringing the search index in step…");
        let refreshed = sources::refresh(&mut store, paths, Some(&cwd), MOST_TIME);
        spinner.finish_and_clear();
        let index = Index::open(&sources::folder(paths))?;
        let is_complete = tell(refreshed, &index, paths)? && is_drained;
        Ok(Self { store, index, cwd, is_complete })
    }
}

impl Finder {
    /// Answers a question: by its words, and by its meaning where an embeddings server is set up and answers in time.
    pub(crate) fn search(&self, query: &Query, env: &Env, paths: &Paths) -> Found {
        match self.by_meaning(query, env, paths) {
            Ok(Some(found)) => found,
            Ok(None) => self.index.search(query),
            Err(error) => {
                let reason = with_causes(&error);
                let mut errors = terminal::errors();
                let _ = writeln!(errors, "{WARNING}Searched by words alone{WARNING:#}: {reason}");
                self.index.search(query)
            }
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

/// Returns both where nothing waits for either. The long way reports what fails here.
fn in_step(paths: &Paths, cwd: &Path) -> Option<(Store, Index)> {
    let store = Store::open_for_hook(&paths.database(), store::TABLES).ok().flatten()?;
    let index = Index::open(&sources::folder(paths)).ok()?;
    let is_current = sources::is_current(&store, paths, Some(cwd), &index).ok()?;
    let is_waiting = observations::is_anything_waiting(&store, &Spool::new(paths.spool())).ok()?;
    (is_current && !is_waiting).then_some((store, index))
}

/// Says what is left to do, and has the worker do it; returns whether that is nothing.
fn tell(refreshed: Result<Refreshed, sources::Error>, index: &Index, paths: &Paths) -> Result<bool> {
    let mut errors = terminal::errors();
    match refreshed {
        Ok(Refreshed { is_complete: true, .. }) => return Ok(true),
        Err(error) if !error.is_busy() => {
            writeln!(
                errors,
                "{WARNING}Could not bring the search index in step{WARNING:#}: {}",
                with_causes(&error)
            )?;
        }
        _ => {
            let documents = counted(index.len() as u64, "document", "documents");
            writeln!(
                errors,
                "{WARNING}The search index is being made{WARNING:#}: {documents} so far. Some may be missing."
            )?;
        }
    }
    let now = Timestamp::now();
    let request = Request { key: Some("spool".into()), ..Request::new("drain") };
    // The next worker finds the rest without a request, too.
    let _ = queue::request(paths, &request, now).and_then(|()| queue::start_worker(paths, now));
    Ok(false)
}
