//! The spool: recorded observations reach the database.

use super::{Check, Repair, Subject, describe, size};
use crate::database::{self, Look};
use crate::terminal::counted;
use crate::when::duration;
use capture::Spool;
use store::observations::{self, Backlog};

const NAME: &str = "spool";
/// Observations older than this should have been drained.
const OLD_MILLIS: u64 = 24 * 3_600_000;
/// More than one day's work.
const LARGE_BYTES: u64 = 256_000_000;
const DRAIN: &str = "wyren worker run --until-idle";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let spool = Spool::new(subject.paths.spool());
    let store = subject.paths.database().exists().then(|| journal::open_store(subject.paths));
    // The database has its own check; until it opens, the spool keeps everything.
    let store = store.and_then(Result::ok);
    let is_usable =
        store.as_ref().map_or(!subject.paths.database().exists(), |store| store.ahead().is_none());
    let backlog = match observations::backlog(store.as_ref(), &spool) {
        Ok(backlog) => backlog,
        Err(error) => {
            return Check::bad(NAME, describe(&error), format!("ls -l '{}'", spool.folder().display()));
        }
    };
    let Backlog { observations, bytes, oldest } = backlog;
    let Some(oldest) = oldest else { return Check::good(NAME, "empty: everything is in the database") };
    let age = subject.now.millis_since(oldest);
    let message = format!(
        "{} ({}) not drained yet, the oldest {} old",
        counted(observations, "observation", "observations"),
        size(bytes),
        duration(age)
    );
    if age > OLD_MILLIS || bytes > LARGE_BYTES {
        let message = format!("{message}: no worker has moved them into the database");
        let check = Check::odd(NAME, message, DRAIN);
        if !is_usable {
            return check;
        }
        let (env, paths) = (subject.env.clone(), subject.paths.clone());
        return check.with(Repair::new("move them into the database", move || {
            database::open_drained(&env, &paths, Look::Quick).map(drop)
        }));
    }
    Check::good(NAME, message)
}
