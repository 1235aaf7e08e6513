//! What a session gets to know of earlier ones at its start: the work that it goes on with ([`work::restore`]), and an index,
//! short enough to be read every time, of what is recent and of what the session seems to be about.
//!
//! ```text
//! tables ──restore::look──► Parts ──text──► Restored ┐
//!        ──look, rank────► Past ──index──► Index    ┴─ answer: one text under one cap
//! ```
//!
//! [`index`] and what it uses touch nothing; [`answer`] is the hook around it. A start must not wait: what does not come in
//! time is left out, and every problem is a line in the log.

mod around;
mod choose;
mod day;
mod look;
mod tasks;
pub(crate) mod tree;
mod word;

pub use choose::{Order, Situation};
pub use day::{Moment, local};
pub use look::look;
pub use word::{Field, Index, Past, Taste, index};

use crate::{DERIVED, file_cache};
use base::Timestamp;
use base::log::Level;
use base::project::{Project, Repository};
use base::settings::Settings;
use capture::{CLAUDE_CODE, Rules, Spool};
use hook::event::Source;
use hook::{Answer, Event as _, Host, SessionStart};
use std::path::Path;
use std::time::{Duration, Instant};
use store::observations::{Drain, Drained};
use store::{Error, Store};
use work::restore::{self, Parts, Restored, Start};

/// How long a start derives from what came since the last time.
const DERIVE_TIME: Duration = Duration::from_millis(10);
/// How long a new window waits for another program that takes in what was recorded last: without it, work would be missing.
const PATIENCE: Duration = Duration::from_millis(700);
const POLL: Duration = Duration::from_millis(5);
/// The most bytes of the whole text: the client takes no more than 10,000 UTF-16 units.
const MAX_BYTES: usize = 9_000;
/// The least room for an index that is worth its opening.
const LEAST_INDEX_BYTES: usize = 512;

/// Prepares a program that does nothing but [`answer`]; to be called first.
pub fn prepare() {
    store::memory::use_allocator_of_program();
}

/// Answers the beginning of a session: with the work that it goes on with and an index, or silently on resume, when the window
/// still has them, and in a subagent.
pub fn answer(call: &SessionStart, host: &Host) -> Answer<SessionStart> {
    let cwd = host.cwd(call);
    let is_ours = call.source() != Source::Resume && call.agent_id().is_none();
    let settings = host.settings();
    let is_wanted = settings.is_on("recall.enabled") || goes_on(call, host);
    if !is_ours || !is_wanted || Rules::of(settings, &host.env).excludes(&cwd) {
        return Answer::silent();
    }
    let (work, index) = recall(call, host, &cwd).unwrap_or_else(|error| {
        host.log(Level::Warn, &format!("could not recall: {error}"));
        Default::default()
    });
    let told = format!("An index of {} entries: {}", index.ids.len(), index.ids.join(" "));
    let parts = [(work.text, work.told), (index.text, told)];
    let (texts, told): (Vec<String>, Vec<String>) =
        parts.into_iter().filter(|(text, _)| !text.is_empty()).unzip();
    if texts.is_empty() {
        return Answer::silent();
    }
    capture::told_as(Answer::context(texts.join("\n\n")), call, host, Some(&told.join(". ")))
}

/// Says whether a start may go on with the work of a window before it, and is to be shown that.
fn goes_on(call: &SessionStart, host: &Host) -> bool {
    matches!(call.source(), Source::Clear | Source::Compact)
        && host.settings().number("recall.work_bytes") > 0
}

fn recall(call: &SessionStart, host: &Host, cwd: &Path) -> Result<(Restored, Index), Error> {
    let is_going_on = goes_on(call, host);
    let until = Instant::now() + if is_going_on { PATIENCE } else { Duration::ZERO };
    let Some(store) = open(host, is_going_on, until)? else { return Ok(Default::default()) };
    let mut store = store.deriving(DERIVED);
    // Before anything is drained: afterwards this session would count as one from before publishing needed leave.
    if let Err(error) = store::known::note(&host.paths) {
        host.log(Level::Warn, &format!("could not note which clones are known: {error}"));
    }
    if let Err(error) = catch_up(&mut store, &Spool::new(host.paths.spool()), host.started, until) {
        host.log(Level::Warn, &format!("could not take in what was recorded last: {error}"));
    }
    // One look at the tables, and not as many as there are questions: each would lock the file and let it go.
    let looking = store.connection().unchecked_transaction()?;
    let work = if is_going_on { look_for_work(&store, call, host)? } else { Parts::default() };
    let mut taste = Taste::of(host.settings());
    let fence = host.fence(call);
    let room = usize::try_from(host.settings().number("recall.work_bytes")).unwrap_or(usize::MAX);
    let restored = work.text(room.min(MAX_BYTES), &fence);
    taste.max_bytes = taste.max_bytes.min(MAX_BYTES.saturating_sub(restored.text.len()));
    let is_shown = host.settings().is_on("recall.enabled") && taste.max_bytes >= LEAST_INDEX_BYTES;
    let past = if is_shown { look_for_past(&store, host, cwd, &taste)? } else { None };
    drop(looking);
    // The process ends soon, which is quicker than giving everything back.
    std::mem::forget(store);
    let Some(mut past) = past else { return Ok((restored, Index::default())) };
    if !restored.text.is_empty() {
        past.tasks.clear();
    }
    let index = index(&past, &taste, &fence, &local);
    Ok((restored, index))
}

fn look_for_work(store: &Store, call: &SessionStart, host: &Host) -> Result<Parts, Error> {
    let Some(session) = call.session_id() else { return Ok(Parts::default()) };
    let shared = host.env.text(capture::task::LIST_ID).filter(|list| !list.is_empty());
    let start = Start {
        platform: host.agent().map_or(CLAUDE_CODE, hook::Platform::name),
        session,
        prompt_id: call.prompt_id(),
        is_cleared: call.source() == Source::Clear,
        shared_list: shared.as_deref(),
    };
    restore::look(store.connection(), &start)
}

fn look_for_past(store: &Store, host: &Host, cwd: &Path, taste: &Taste) -> Result<Option<Past>, Error> {
    let repository = Repository::above(cwd);
    let project = repository.clone().map_or_else(|| Project::of(cwd), Repository::project);
    if repository.is_some()
        && let Err(error) = file_cache::lend(store, &host.paths, &project)
    {
        host.log(Level::Warn, &format!("could not give this work tree the cache of its project: {error}"));
    }
    look(store, &project, taste, |files| {
        repository.as_ref().map_or_else(Situation::default, |repository| Situation {
            branch: repository.branch(),
            changed: tree::changed(repository, files),
            ..Situation::default()
        })
    })
}

/// Opens the database. A window that goes on with work waits for a program that makes it, or makes it itself: in the first session
/// of all, no program with time was here yet.
fn open(host: &Host, is_going_on: bool, until: Instant) -> Result<Option<Store>, Error> {
    let database = host.paths.database();
    loop {
        let opened = Store::open_for_hook(&database, store::TABLES)?;
        if opened.is_some() || !is_going_on || !host.paths.spool().is_dir() {
            return Ok(opened);
        }
        if !database.exists() {
            return crate::open_store(&host.paths).map(Some);
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// Takes in what the last session left in the spool: as far as there is time, and until `until` once more while another program
/// keeps it or something is left.
fn catch_up(store: &mut Store, spool: &Spool, now: Timestamp, until: Instant) -> Result<(), Error> {
    loop {
        let drained = Drain::bounded(spool).run(store, now)?;
        store::derived::catch_up_in_hook(store, DERIVE_TIME)?;
        let is_complete = matches!(&drained, Drained::Done(progress) if progress.is_complete)
            && !store::derived::is_behind(store, &work::WorkObservations)?
            && !store::derived::is_behind(store, &work::contexts::Contexts)?;
        if is_complete || Instant::now() >= until {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
}

impl Taste {
    /// Reads what the user wants from the settings.
    pub fn of(settings: &Settings) -> Self {
        let number = |name: &str| usize::try_from(settings.number(name)).unwrap_or(usize::MAX);
        Self {
            max_bytes: number("recall.max_bytes"),
            entries: number("recall.entries"),
            summaries: number("recall.summaries"),
            full: number("recall.full"),
            full_field: if settings.get("recall.full_field") == "facts" {
                Field::Facts
            } else {
                Field::Narrative
            },
            tells_last_summary: settings.is_on("recall.last_summary"),
            shows_last_message: settings.is_on("recall.last_message"),
            shows_tokens: settings.is_on("recall.show_tokens"),
            order: Order::Relevance,
        }
    }
}
