//! The database: opens, is intact, and was not made by a later version.

use super::{Check, Subject, size};
use crate::terminal::counted;
use journal::retain::{self, Limits};
use std::error::Error as _;
use store::{Error, Store};

const NAME: &str = "database";

/// A larger database takes more than a second to check page by page.
const QUICK_BYTES: u64 = 64_000_000;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let path = subject.paths.database();
    let shown = path.display();
    if !path.exists() {
        return Check::good(NAME, "does not exist yet; the first drain creates it");
    }
    let store = match journal::open_store(subject.paths) {
        Ok(store) => store,
        Err(error) if error.is_corrupt() => return Check::bad(NAME, cause(&error), REPAIR),
        Err(error @ Error::Locked(_)) => return Check::odd(NAME, cause(&error), "wyren worker status"),
        Err(error) => return Check::bad(NAME, cause(&error), format!("ls -l '{shown}'")),
    };
    if let Some(owner) = store.ahead() {
        let message = format!(
            "a later version of Wyren made it ({owner}); this one only reads it and records nothing there"
        );
        return Check::bad(NAME, message, "wyren update");
    }
    let bytes = path.metadata().map_or(0, |file| file.len());
    if subject.is_hurried && bytes > QUICK_BYTES {
        return Check::good(
            NAME,
            format!("{shown} opens; to check all of its {}: wyren doctor", size(bytes)),
        );
    }
    match store.check() {
        Ok(()) => Check::good(NAME, format!("{shown}, {}", retention(&store, subject))),
        Err(error) => Check::bad(NAME, cause(&error), REPAIR),
    }
}

/// Returns how large the database is, and what retention would do about that.
fn retention(store: &Store, subject: &Subject<'_>) -> String {
    let limits = Limits::of(subject.env, subject.paths);
    let Ok(outlook) = retain::outlook(store, &limits, subject.now) else { return "size unknown".to_owned() };
    let bytes = size(outlook.bytes);
    if !limits.is_on() {
        return format!("{bytes}; everything is kept (journal.keep_payloads_days is 0)");
    }
    let turns = |count: u64, what: &str| {
        (count > 0).then(|| format!("{what} of {}", counted(count, "old turn", "old turns")))
    };
    let mut due: Vec<String> =
        [turns(outlook.payloads, "inputs and outputs"), turns(outlook.entries, "entries")]
            .into_iter()
            .flatten()
            .collect();
    if outlook.is_too_large {
        due.push("the oldest, since it is larger than journal.max_mb".to_owned());
    }
    match &*due {
        [] => format!("{bytes}; nothing is old enough to go"),
        due => format!("{bytes}; the worker will let go: {}", due.join(", ")),
    }
}

pub(super) const REPAIR: &str = "wyren repair";

/// Returns an error with its first cause; SQLite's further ones repeat it.
pub(super) fn cause(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
