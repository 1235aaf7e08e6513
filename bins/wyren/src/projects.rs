//! Projects by the names that people know them by.

use crate::exit;
use capture::Spool;
use store::Store;

pub(crate) use answers::projects::name;

/// Returns the key of the project that a person named; what names none, or more than one, is refused with what was not done.
pub(crate) fn find(named: &str, store: &Store, spool: &Spool, undone: &str) -> Result<String, anyhow::Error> {
    answers::projects::find(named, store, spool, undone).map_err(exit::of)
}
