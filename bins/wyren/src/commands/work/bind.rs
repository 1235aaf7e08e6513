//! `wyren work bind`: what `prompt-bind` asks.

use anyhow::{Context as _, Result};
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use binding::Asked;
use capture::Spool;
use std::io::{self, Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};
use store::Store;
use store::observations::{Drain, Drained};
use work::bind::{Desk, Taste};

/// How long to wait for another drain, and how often to try.
const PATIENCE: Duration = Duration::from_millis(800);
const PAUSE: Duration = Duration::from_millis(5);
/// The most lines that are taken in while a prompt waits.
const MOST_LINES: usize = 5_000;
/// More than a prompt has, in bytes.
const MAX_INPUT: u64 = 16 * 1024 * 1024;

pub(super) fn run(env: &Env, paths: &Paths) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input)?;
    let asked: Asked<'_> =
        serde_json::from_slice(&input).context("standard input is no question of prompt-bind")?;
    let mut database = Database { paths, store: None, is_current: false };
    let settings = Settings::read(env, &paths.hook_settings());
    let taste = Taste {
        most_bytes: usize::try_from(settings.number("recall.work_bytes")).unwrap_or(usize::MAX),
        shared_list: env.text(capture::task::LIST_ID).filter(|list| !list.is_empty()),
    };
    let bound = work::bind::bind(&asked, &taste, paths, &mut database, Timestamp::now())?;
    // The process ends now, which is quicker than giving everything back.
    std::mem::forget(database);
    if bound != binding::Bound::default() {
        crate::terminal::exact_output().write_all(&serde_json::to_vec(&bound)?)?;
    }
    Ok(())
}

/// The database, opened when it is asked for, and made only when it has to be up to date.
struct Database<'a> {
    paths: &'a Paths,
    store: Option<Store>,
    is_current: bool,
}

impl Desk for Database<'_> {
    fn store(&mut self) -> Option<&Store> {
        if self.store.is_none() {
            let opened = Store::open_for_hook(&self.paths.database(), store::TABLES).ok().flatten();
            self.store = opened.map(|store| store.deriving(journal::DERIVED));
        }
        self.store.as_ref()
    }

    fn catch_up(&mut self) {
        if self.is_current {
            return;
        }
        self.is_current = true;
        // One that cannot be opened is repaired by a command that a person runs.
        self.store = journal::open_store(self.paths).ok();
        // Before anything is drained: afterwards this session would count as one from before publishing needed leave.
        let _ = store::known::note(self.paths);
        let Some(store) = &mut self.store else { return };
        let spool = Spool::new(self.paths.spool());
        let began = Instant::now();
        // The worker may be at it: the end of a session has started it a moment ago.
        while let Ok(Drained::Busy) =
            Drain::unbounded(&spool).at_most(MOST_LINES).run(store, Timestamp::now())
            && began.elapsed() < PATIENCE
        {
            thread::sleep(PAUSE);
        }
    }
}
