//! The database: opens, is intact, and was not made by a later version.

use super::{Check, Subject, describe};
use store::Error;

const NAME: &str = "database";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let path = subject.paths.database();
    let shown = path.display();
    if !path.exists() {
        return Check::good(NAME, "does not exist yet; the first drain creates it");
    }
    let store = match store::open_store(subject.paths) {
        Ok(store) => store,
        Err(error @ Error::Corrupt { .. }) => return Check::bad(NAME, describe(&error), REPAIR),
        Err(error @ Error::Locked(_)) => return Check::odd(NAME, describe(&error), "wyren worker status"),
        Err(error) => return Check::bad(NAME, describe(&error), format!("ls -l '{shown}'")),
    };
    if let Some(owner) = store.ahead() {
        let message = format!("created by a later version of Wyren ({owner}); opened read-only");
        return Check::bad(NAME, message, "claude plugin update wyren");
    }
    match store.check() {
        Ok(()) => Check::good(NAME, shown.to_string()),
        Err(error) => Check::bad(NAME, describe(&error), REPAIR),
    }
}

const REPAIR: &str = "wyren repair";
