//! The database: opens, is whole, and is not ahead of this program.

use super::{Check, Subject, describe};
use store::Error;

const NAME: &str = "database";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let path = subject.paths.database();
    let shown = path.display();
    if !path.exists() {
        return Check::good(NAME, "none yet; the first drain creates it");
    }
    let store = match store::open_store(subject.paths) {
        Ok(store) => store,
        Err(error @ Error::Corrupt { .. }) => return Check::bad(NAME, describe(&error), REPAIR),
        Err(error @ Error::Locked(_)) => return Check::odd(NAME, describe(&error), "wyren worker status"),
        Err(error) => return Check::bad(NAME, describe(&error), format!("ls -l '{shown}'")),
    };
    if let Some(owner) = store.ahead() {
        let message = format!("made by a later version of Wyren ({owner}); it can be read, but not changed");
        return Check::bad(NAME, message, "claude plugin update wyren");
    }
    match store.check() {
        Ok(()) => Check::good(NAME, shown.to_string()),
        Err(error) => Check::bad(NAME, describe(&error), REPAIR),
    }
}

const REPAIR: &str = "wyren repair";
