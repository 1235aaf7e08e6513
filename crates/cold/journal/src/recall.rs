//! What a session gets to know of earlier ones at its start: an index, short enough to be read every time, of what is recent
//! and of what the session seems to be about.
//!
//! ```text
//! tables ──look, rank──► Past ──index──► Index
//! ```
//!
//! [`index`] and what it uses touch nothing; [`answer`] is the hook around it. A start must not wait: what does not come in
//! time is left out, and every problem is a line in the log.

mod choose;
mod day;
mod look;
mod tasks;
mod tree;
mod word;

pub use choose::{Order, Situation};
pub use day::{Moment, local};
pub use look::look;
pub use word::{Field, Index, Past, Taste, index};

use crate::DERIVED;
use base::Timestamp;
use base::log::Level;
use base::project::{Project, Repository};
use base::settings::Settings;
use capture::{Rules, Spool};
use hook::event::Source;
use hook::{Answer, Event as _, Host, SessionStart};
use std::path::Path;
use std::time::Duration;
use store::observations::Drain;
use store::{Error, Store};

/// How long a start derives from what came since the last time.
const DERIVE_TIME: Duration = Duration::from_millis(10);

/// Answers the beginning of a session: with an index, or silently on resume, when the window still has it, and in a subagent.
pub fn answer(call: &SessionStart, host: &Host) -> Answer<SessionStart> {
    let cwd = host.cwd(call);
    let is_ours = call.source() != Source::Resume && call.agent_id().is_none();
    let settings = host.settings();
    if !is_ours || !settings.is_on("recall.enabled") || Rules::of(settings, &host.env).excludes(&cwd) {
        return Answer::silent();
    }
    let index = recall(call, host, &cwd).unwrap_or_else(|error| {
        host.log(Level::Warn, &format!("could not recall: {error}"));
        Index::default()
    });
    if index.text.is_empty() {
        return Answer::silent();
    }
    let told = format!("An index of {} entries: {}", index.ids.len(), index.ids.join(" "));
    capture::told_as(Answer::context(index.text), call, host, Some(&told))
}

fn recall(call: &SessionStart, host: &Host, cwd: &Path) -> Result<Index, Error> {
    let Some(store) = Store::open_for_hook(&host.paths.database(), store::TABLES)? else {
        return Ok(Index::default());
    };
    let mut store = store.deriving(DERIVED);
    if let Err(error) = catch_up(&mut store, &Spool::new(host.paths.spool()), host.started) {
        host.log(Level::Warn, &format!("could not take in what was recorded last: {error}"));
    }
    let repository = Repository::above(cwd);
    let project = repository.clone().map_or_else(|| Project::of(cwd), Repository::project);
    let taste = Taste::of(host.settings());
    // One look at the tables, and not as many as there are questions: each would lock the file and let it go.
    let looking = store.connection().unchecked_transaction()?;
    let found = look(&store, &project, &taste, |files| {
        repository.as_ref().map_or_else(Situation::default, |repository| Situation {
            branch: repository.branch(),
            changed: tree::changed(repository, files),
            ..Situation::default()
        })
    })?;
    drop(looking);
    // The process ends soon, which is quicker than giving everything back.
    std::mem::forget(store);
    let Some(past) = found else { return Ok(Index::default()) };
    Ok(index(&past, &taste, &host.fence(call), &local))
}

/// Takes in what the last session left in the spool, as far as there is time.
fn catch_up(store: &mut Store, spool: &Spool, now: Timestamp) -> Result<(), Error> {
    Drain::bounded(spool).run(store, now)?;
    store::derived::catch_up_in_hook(store, DERIVE_TIME)
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
