//! What the spool holds and the database does not.

use crate::open::{Error, Store};
use base::Timestamp;
use capture::{Spool, SpoolFile};
use std::collections::HashMap;

/// How much is read at once to count observations.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// Observations that wait in the spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many there are.
    pub observations: u64,
    /// How much room they take.
    pub bytes: u64,
    /// When the oldest of them happened.
    pub oldest: Option<Timestamp>,
}

/// Counts what waits in the spool; without a database that is everything.
pub fn backlog(store: Option<&Store>, spool: &Spool) -> Result<Backlog, Error> {
    let offsets: HashMap<String, u64> = match store {
        Some(store) => super::drain::offsets(store)?,
        None => HashMap::new(),
    };
    let mut backlog = Backlog::default();
    for file in spool.files().map_err(Error::io(spool.folder()))? {
        let mut offset = offsets.get(&file.name).copied().unwrap_or_default();
        if file.size().is_ok_and(|size| offset > size) {
            offset = 0;
        }
        // What cannot be read cannot be counted either; the drain skips it as well.
        while let Ok(batch) = file.read(offset, usize::MAX, BYTES_AT_ONCE) {
            // Those of one file are in the order of their writing.
            let first = batch.lines.first().and_then(|line| stamp(line));
            backlog.oldest = backlog.oldest.into_iter().chain(first).min();
            backlog.observations += batch.lines.len() as u64;
            backlog.bytes += batch.offset - offset;
            let is_stuck = batch.offset == offset;
            offset = batch.offset;
            if batch.is_complete || is_stuck {
                break;
            }
        }
    }
    Ok(backlog)
}

/// Returns whether the spool has something that the database does not, without reading it.
pub fn is_anything_waiting(store: &Store, spool: &Spool) -> Result<bool, Error> {
    let files = spool.files().map_err(Error::io(spool.folder()))?;
    if files.is_empty() {
        return Ok(false);
    }
    let offsets = super::drain::offsets(store)?;
    let is_left = |file: &SpoolFile| {
        let offset = offsets.get(&file.name).copied().unwrap_or_default();
        file.size().map_or(true, |size| size != offset)
    };
    Ok(files.iter().any(is_left))
}

/// Returns when the observation in a line happened.
fn stamp(line: &[u8]) -> Option<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Stamped {
        ts: u64,
    }
    let Stamped { ts } = serde_json::from_slice(line).ok()?;
    Some(Timestamp::from_millis(ts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::{Drain, TABLES};
    use capture::{Data, Observation, Prompt};

    fn append(spool: &Spool, session: &str, millis: u64) {
        let data = Data::Prompt(Prompt { text: "x".into(), ..Prompt::default() });
        let observation = Observation::new(session, format!("p:{millis}"), millis, data);
        spool.append(&observation).unwrap();
    }

    #[test]
    fn what_waits_is_counted_until_it_is_drained() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        assert_eq!(backlog(None, &spool).unwrap(), Backlog::default());
        append(&spool, "late", 2_000_000);
        append(&spool, "early", 1_000_000);
        append(&spool, "early", 3_000_000);
        let waiting = backlog(None, &spool).unwrap();
        assert_eq!((waiting.observations, waiting.oldest), (3, Some(Timestamp::from_millis(1_000_000))));
        assert!(waiting.bytes > 200, "{waiting:?}");

        let mut store = Store::open(&folder.path().join("wyren.db"), &[TABLES]).unwrap();
        assert_eq!(backlog(Some(&store), &spool).unwrap(), waiting);
        assert!(is_anything_waiting(&store, &spool).unwrap());
        Drain::unbounded(&spool).run(&mut store, Timestamp::now()).unwrap();
        assert_eq!(backlog(Some(&store), &spool).unwrap(), Backlog::default());
        assert!(!is_anything_waiting(&store, &spool).unwrap());
        append(&spool, "early", 4_000_000);
        assert_eq!(backlog(Some(&store), &spool).unwrap().observations, 1);
        assert!(is_anything_waiting(&store, &spool).unwrap());
    }
}
