//! Retention: what the database may let go once it is old, or once there is too much. Payloads of calls first, entries later;
//! summaries, pinned entries and what a person had remembered never. Off unless a setting says otherwise.

use crate::derive::{self, Key};
use crate::kept::{self, Kept};
use crate::write::BY_HAND;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Data, Observation};
use serde_json::value::to_raw_value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use store::observations::retain;
use store::rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use store::{Error, Store};

const MILLIS_PER_DAY: u64 = 86_400_000;
const BYTES_PER_MB: u64 = 1_000_000;
/// How many turns one transaction is about: over before anyone has to wait.
const TURNS_AT_ONCE: usize = 50;
/// What is younger than this many days stays even where the database is too large.
const YOUNG_PAYLOADS_DAYS: u64 = 1;
const YOUNG_ENTRIES_DAYS: u64 = 30;
/// A turn with something besides its prompt, its summaries and what was pinned or given by hand.
const HAS_ENTRIES: &str = "o.kind IN ('tool', 'refused', 'turn-end', 'said')
    OR (o.kind = 'made' AND coalesce(o.data, '') || coalesce((SELECT data FROM payloads WHERE observation = o.row), '')
        LIKE '%\"is_pinned\":false%')
    OR (o.kind = 'entry' AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END IS NOT 'by-hand'
        AND o.row NOT IN (SELECT anchor FROM entries WHERE is_pinned = 1))";

/// What may stay, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    payload_days: Option<u64>,
    entry_days: Option<u64>,
    max_bytes: Option<u64>,
}

impl Limits {
    /// Returns what the settings say; 0 is no limit.
    pub fn of(env: &Env, paths: &Paths) -> Self {
        let settings = Settings::read(env, &paths.hook_settings());
        let number = |name: &str| Some(settings.number(name)).filter(|number| *number > 0);
        Self {
            payload_days: number("journal.keep_payloads_days"),
            entry_days: number("journal.keep_entries_days"),
            max_bytes: number("journal.max_mb").map(|megabytes| megabytes * BYTES_PER_MB),
        }
    }

    /// Returns whether there is any.
    pub fn is_on(&self) -> bool {
        *self != Self::default()
    }

    /// Returns whether the database is larger than it may be.
    fn is_exceeded(&self, store: &Store) -> Result<bool, Error> {
        Ok(self.max_bytes.is_some() && retain::used_bytes(store)? > self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Returns the steps of retention in their order: whose turns, how old, and whether only while there is too much.
    fn steps(&self, now: Timestamp) -> Vec<Step> {
        let before = |days: u64| now.millis().saturating_sub(days.saturating_mul(MILLIS_PER_DAY));
        let aged = |takes: Takes, days: Option<u64>| {
            days.map(|days| Step { takes, before: before(days), is_for_room: false })
        };
        let sized = |takes: Takes, days: u64| {
            self.max_bytes.map(|_| Step { takes, before: before(days), is_for_room: true })
        };
        [
            aged(Takes::Payloads, self.payload_days),
            aged(Takes::Entries, self.entry_days),
            sized(Takes::Payloads, YOUNG_PAYLOADS_DAYS),
            sized(Takes::Entries, YOUNG_ENTRIES_DAYS),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Payloads,
    Entries,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    takes: Takes,
    /// In milliseconds since 1970.
    before: u64,
    is_for_room: bool,
}

impl Step {
    fn turns(&self, connection: &Connection, after: i64, most: usize) -> Result<Vec<(Key, i64)>, Error> {
        let condition = match self.takes {
            Takes::Payloads => retain::HAS_PAYLOAD,
            Takes::Entries => HAS_ENTRIES,
        };
        retain::old_turns(connection, condition, self.before, after, most)
    }
}

/// What a piece of retention did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Turns whose payloads went.
    pub payloads: u64,
    /// Turns whose entries went.
    pub entries: u64,
    /// Whether nothing is left to do.
    pub is_complete: bool,
}

/// Lets go of what the limits say, for about `most_time`.
pub fn release(
    store: &mut Store,
    limits: &Limits,
    now: Timestamp,
    most_time: Duration,
) -> Result<Released, Error> {
    let began = Instant::now();
    let mut released = Released::default();
    // Which entries are pinned is in the tables.
    if !is_caught_up(store)? {
        return Ok(released);
    }
    for step in limits.steps(now) {
        let mut after = 0;
        loop {
            if step.is_for_room && !limits.is_exceeded(store)? {
                break;
            }
            if began.elapsed() >= most_time {
                retain::give_back(store)?;
                return Ok(released);
            }
            let turns = step.turns(store.connection(), after, TURNS_AT_ONCE)?;
            let Some((_, last)) = turns.last() else { break };
            after = *last;
            let derived = store.derived();
            store.write(|transaction| {
                turns.iter().try_for_each(|(turn, _)| match step.takes {
                    Takes::Payloads => release_payloads(transaction, *turn),
                    Takes::Entries => release_entries(transaction, derived, *turn),
                })
            })?;
            match step.takes {
                Takes::Payloads => released.payloads += turns.len() as u64,
                Takes::Entries => released.entries += turns.len() as u64,
            }
        }
    }
    if released.payloads + released.entries > 0 {
        retain::give_back(store)?;
    }
    Ok(Released { is_complete: true, ..released })
}

/// What retention would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// The size of the database, in bytes.
    pub bytes: u64,
    /// Turns whose payloads, and turns whose entries, are older than they may get.
    pub payloads: u64,
    pub entries: u64,
    /// Whether the database is larger than it may be.
    pub is_too_large: bool,
}

/// Returns what retention would do now.
pub fn outlook(store: &Store, limits: &Limits, now: Timestamp) -> Result<Outlook, Error> {
    let mut outlook = Outlook {
        bytes: retain::used_bytes(store)?,
        is_too_large: limits.is_exceeded(store)?,
        ..Outlook::default()
    };
    // Without the tables it is not known what is pinned.
    let steps = if is_caught_up(store)? { limits.steps(now) } else { Vec::new() };
    for step in steps.iter().filter(|step| !step.is_for_room) {
        let turns = step.turns(store.connection(), 0, usize::MAX >> 1)?.len() as u64;
        match step.takes {
            Takes::Payloads => outlook.payloads = turns,
            Takes::Entries => outlook.entries = turns,
        }
    }
    Ok(outlook)
}

fn is_caught_up(store: &Store) -> Result<bool, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT watermark >= coalesce((SELECT max(row) FROM observations), 0) FROM derived
         WHERE name = 'journal' AND version = ?1",
    )?;
    let is_caught_up = select.query_row([crate::schema::VERSION], |row| row.get(0)).optional()?;
    Ok(is_caught_up.unwrap_or_default())
}

fn release_payloads(transaction: &Transaction<'_>, turn: Key) -> Result<(), Error> {
    keep(transaction, turn)?;
    retain::let_go(transaction, turn).map(drop)
}

/// Deletes what entries were made of, and those that came whole. What was made of the turn stays as far as it is pinned.
fn release_entries(
    transaction: &Transaction<'_>,
    derived: &[&dyn store::Derived],
    turn: Key,
) -> Result<(), Error> {
    let pinned = pinned(transaction, turn)?;
    let before = kept_row(transaction, turn)?;
    let kept = derive::load(transaction, turn)?.map(|turn| kept::keep(&turn)).unwrap_or_default();
    let gone_ids: Vec<String> =
        kept.entries.iter().map(|of| of.made.id.clone()).filter(|id| !pinned.contains(id)).collect();
    let mut gone: Vec<i64> = before.into_iter().collect();
    let mut select = transaction.prepare_cached(
        "SELECT o.row FROM observations AS o
         WHERE o.session = ?1 AND o.prompt = ?2 AND (o.kind IN ('tool', 'refused', 'turn-end', 'said') OR (o.kind = 'entry'
             AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END IS NOT ?3
             AND o.row NOT IN (SELECT anchor FROM entries WHERE session = ?1 AND is_pinned = 1)))",
    )?;
    for row in select.query_map(params![turn.0, turn.1, BY_HAND], |row| row.get(0))? {
        gone.push(row?);
    }
    let mut select = transaction.prepare_cached(
        "SELECT observation FROM amends WHERE entry IN (SELECT value FROM json_each(?1))
             OR entry IN (SELECT id FROM entries WHERE anchor IN (SELECT value FROM json_each(?2)) AND is_pinned = 0)",
    )?;
    let lists = (serde_json::to_string(&gone_ids)?, serde_json::to_string(&gone)?);
    for row in select.query_map([&lists.0, &lists.1], |row| row.get(0))? {
        gone.push(row?);
    }
    let mut rest = Kept { entries: kept.entries, summaries: kept.summaries };
    rest.entries.retain(|of| pinned.contains(&of.made.id));
    // So that the turn is not looked at again.
    rest.entries.iter_mut().for_each(|of| of.made.is_pinned = true);
    let place = place(transaction, turn)?;
    retain::delete(transaction, derived, &gone)?;
    put(transaction, place, &rest)
}

/// Keeps what was made of a turn, unless that is kept already.
fn keep(transaction: &Transaction<'_>, turn: Key) -> Result<(), Error> {
    if kept_row(transaction, turn)?.is_some() {
        return Ok(());
    }
    let Some(loaded) = derive::load(transaction, turn)? else { return Ok(()) };
    let place = place(transaction, turn)?;
    put(transaction, place, &kept::keep(&loaded))
}

fn kept_row(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<Option<i64>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT row FROM observations WHERE session = ?1 AND prompt = ?2 AND kind = ?3 LIMIT 1",
    )?;
    Ok(select.query_row(params![session, prompt, kept::KIND], |row| row.get(0)).optional()?)
}

fn pinned(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<HashSet<String>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT entries.id FROM entries JOIN observations AS o ON o.row = anchor
         WHERE entries.session = ?1 AND o.prompt = ?2 AND is_pinned = 1",
    )?;
    let ids = select.query_map(params![session, prompt], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Where the observation of what was made of a turn belongs.
struct Place {
    platform: String,
    session: String,
    cwd: String,
    /// When the turn ended, in milliseconds since 1970.
    at: u64,
    prompt_id: Option<String>,
    id: String,
}

fn place(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<Option<Place>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT platform, sessions.id, o.cwd, max(o.at), asked.id FROM observations AS o
         JOIN sessions ON sessions.row = o.session
         LEFT JOIN observations AS asked ON asked.session = o.session AND asked.kind = 'prompt' AND asked.prompt = o.prompt
         WHERE o.session = ?1 AND o.prompt = ?2",
    )?;
    let place = select.query_row(params![session, prompt], |row| {
        let asked: Option<String> = row.get(4)?;
        let (platform, session): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Place {
            platform,
            session,
            cwd: row.get(2)?,
            at: row.get(3)?,
            prompt_id: asked.as_deref().and_then(|id| id.strip_prefix("p:")).map(str::to_owned),
            id: format!("k:{}", asked.unwrap_or_else(|| "start".to_owned())),
        })
    });
    Ok(place.optional()?)
}

fn put(transaction: &Transaction<'_>, place: Option<Place>, kept: &Kept) -> Result<(), Error> {
    let Some(place) = place.filter(|_| !kept.is_empty()) else { return Ok(()) };
    let data = Data::Kept(capture::Kept { kind: kept::KIND.into(), data: Cow::Owned(to_raw_value(kept)?) });
    let observation = Observation {
        platform: Some(place.platform.into()),
        cwd: place.cwd.into(),
        prompt_id: place.prompt_id.map(Cow::from),
        ..Observation::new(&place.session, &*place.id, place.at, data)
    };
    retain::put(transaction, &observation).map(drop)
}
