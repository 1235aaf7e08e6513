//! The journal: what was done, told in lines that a stranger understands.
//!
//! Everything here is derived from observations, without a model, and can be made anew at any time: what a person, a model or
//! an import adds is an observation, too. [`make`] turns one turn into entries and a summary and touches nothing;
//! [`derive`] decides which turns are made anew and writes the tables; [`read`] answers questions about them.

mod derive;
mod edits;
mod entry;
mod id;
mod link;
pub mod make;
pub mod read;
pub mod recap;
mod schema;
mod turn;
pub mod why;

pub use derive::Journal;
pub use edits::Edits;
pub use entry::{Detail, Entry, File, Kind, Source, Summary};
pub use id::entry_id;
pub use turn::{Observed, Turn};

use base::Paths;
use store::{Derived, Error, Store};

/// What is derived from observations.
pub const DERIVED: &[&dyn Derived] = &[&Journal, &Edits];

/// Opens the user's database with everything that is derived from observations.
pub fn open_store(paths: &Paths) -> Result<Store, Error> {
    store::open_store(paths, DERIVED)
}
