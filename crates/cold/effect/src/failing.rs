//! Programs and tools that fail often, by what was recorded.

use crate::known;
use base::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use store::{Error, Store};

/// How far back is looked, in milliseconds.
const SINCE_MILLIS: u64 = 90 * 86_400_000;
/// The fewest failures that say something.
const FEWEST: u64 = 10;
/// The least share of failures, in percent: a test suite fails now and then.
const LEAST_PERCENT: u64 = 30;
/// The fewest sessions: one bad evening is no habit.
const SESSIONS: usize = 3;

/// A program or tool that fails often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The program that a shell ran, else the tool.
    pub name: String,
    /// How often it failed.
    pub failed: u64,
    /// How often it was called.
    pub calls: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    input: Input,
    interrupted: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    command: Option<String>,
}

/// Returns what fails often, the worst first. A line with several programs counts for none: which of them failed is not known.
pub fn failing(store: &Store, now: Timestamp) -> Result<Vec<Failing>, Error> {
    let mut select = store.connection().prepare(
        "SELECT tool, failed, session, data FROM observations
         WHERE kind = 'tool' AND tool IS NOT NULL AND at >= ?1",
    )?;
    let mut rows = select.query([now.millis().saturating_sub(SINCE_MILLIS)])?;
    let mut counts: BTreeMap<String, (u64, u64, BTreeSet<i64>)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (tool, has_failed, session): (String, bool, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let data = row.get_ref(3)?.as_str_or_null().ok().flatten().unwrap_or("{}");
        let data: Data = serde_json::from_str(data).unwrap_or_default();
        if data.interrupted {
            continue;
        }
        let name = match &data.input.command {
            Some(command) => known::only_program(command),
            None => Some(tool),
        };
        let Some(name) = name else { continue };
        let (failed, calls, sessions) = counts.entry(name).or_default();
        *calls += 1;
        if has_failed {
            *failed += 1;
            sessions.insert(session);
        }
    }
    let is_often = |(_, (failed, calls, sessions)): &(String, (u64, u64, BTreeSet<i64>))| {
        *failed >= FEWEST && failed * 100 >= LEAST_PERCENT * calls && sessions.len() >= SESSIONS
    };
    let mut found: Vec<Failing> = counts
        .into_iter()
        .filter(is_often)
        .map(|(name, (failed, calls, _))| Failing { name, failed, calls })
        .collect();
    found.sort_by(|one, other| (other.failed, &one.name).cmp(&(one.failed, &other.name)));
    Ok(found)
}
