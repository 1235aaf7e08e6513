//! `.wyren/state/size.json`: since when this clone sees the memory over its size.
//!
//! Every distillation looks, also one that has nothing to distill. A memory that fits again begins anew, and so does one
//! of a clock that went back.

use crate::session::Session;
use base::{Timestamp, files};
use distiller::Clearance;
use distiller::budget::OVER_MILLIS;
use memory::Memory;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use team_sync::Share;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Stored {
    v: u32,
    /// In milliseconds since 1970.
    over_since: u64,
}

/// Notes whether the memory is over its size at `now`.
pub(crate) fn note(state: &Path, memory: &Memory, now: Timestamp) -> io::Result<()> {
    let known = read(state);
    let is_over = distiller::is_over(memory);
    match known.filter(|since| is_over && *since <= now) {
        Some(_) => Ok(()),
        None if is_over => {
            let stored = Stored { v: VERSION, over_since: now.millis() };
            files::write_atomic(&file(state), format!("{}\n", serde_json::to_string(&stored)?).as_bytes())
        }
        None => files::remove_if_there(&file(state)).map(drop),
    }
}

fn read(state: &Path) -> Option<Timestamp> {
    let text = files::read_capped(&file(state), files::cap::POINTER).ok()?;
    let Stored { v: VERSION, over_since } = serde_json::from_slice(&text).ok()? else { return None };
    Some(Timestamp::from_millis(over_since))
}

fn file(state: &Path) -> PathBuf {
    state.join("size.json")
}

/// What of a clone's memory may leave although nothing takes its place.
#[derive(Default)]
pub(crate) struct Room {
    is_long_over: bool,
    first_seen: BTreeMap<String, Timestamp>,
}

impl Room {
    /// Looks at a clone as it is `when` a distillation is applied. The commits are asked only where something may leave.
    pub(crate) fn of(share: &Share, memory: &Memory, when: Timestamp) -> Self {
        let since = read(&share.folder().state());
        let is_long_over = since.is_some_and(|since| when.millis_since(since) >= OVER_MILLIS);
        if !is_long_over || !distiller::is_over(memory) {
            return Self::default();
        }
        // Without it an entry that has no date counts as young.
        let first_seen = share.first_seen().unwrap_or_default();
        Self { is_long_over, first_seen }
    }

    /// Returns what may leave after `taken` entries left in the same distillation.
    pub(crate) fn clearance(&self, taken: usize) -> Clearance<'_> {
        Clearance { taken, is_long_over: self.is_long_over, first_seen: Some(&self.first_seen) }
    }
}

impl Session<'_> {
    /// Notes whether the memory of a clone is over its size now, for distillations to come.
    pub(crate) fn note_size(&self, share: &Share, memory: &Memory) {
        if let Err(error) = note(&share.folder().state(), memory, self.now) {
            share.log(&format!("distiller: could not note the size of the memory: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const WEEK: u64 = 7 * 86_400_000;

    fn memory(lines: usize) -> Memory {
        let lines: String =
            (0..lines).map(|n| format!("- Fact {n} [session 11112222, turn {n}]\n")).collect();
        Memory::parse(&format!("# Wyren Memory\n\n## Decisions\n\n{lines}"))
    }

    fn since(state: &Path, lines: usize, now: u64) -> Option<u64> {
        note(state, &memory(lines), Timestamp::from_millis(now)).unwrap();
        read(state).map(Timestamp::millis)
    }

    #[test]
    fn d2_the_moment_stays_until_the_memory_fits_again_or_the_clock_went_back() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        assert_eq!(since(state, 10, WEEK), None);
        assert_eq!(since(state, 100, 2 * WEEK), Some(2 * WEEK));
        assert_eq!(since(state, 200, 3 * WEEK), Some(2 * WEEK));
        assert_eq!(since(state, 10, 4 * WEEK), None);
        assert_eq!(since(state, 100, 5 * WEEK), Some(5 * WEEK));
        assert_eq!(since(state, 100, WEEK), Some(WEEK), "the clock went back");
    }

    #[test]
    fn nonsense_and_another_version_are_as_if_there_were_none() {
        let folder = tempfile::tempdir().unwrap();
        for nonsense in ["", "{", r#"{"v":2,"over_since":1}"#, r#"{"v":1}"#] {
            fs::write(file(folder.path()), nonsense).unwrap();
            assert_eq!(read(folder.path()), None, "{nonsense}");
            assert_eq!(since(folder.path(), 100, WEEK), Some(WEEK));
        }
    }
}
