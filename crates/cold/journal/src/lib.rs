//! The journal: what was done, told in lines that a stranger understands.
//!
//! Everything here is derived from observations, without a model, and can be made anew at any time: what a person, a model or
//! an import adds is an observation, too. [`make`] turns one turn into entries and a summary and touches nothing;
//! [`derive`] decides which turns are made anew and writes the tables; [`read`] and [`find`] answer questions about them, and
//! [`recall`] those that a session has when it starts. What a person adds goes through [`write`], and what is old or too much
//! goes by [`retain`].

mod derive;
mod edits;
mod entry;
pub mod file_cache;
pub mod find;
mod id;
mod kept;
mod link;
pub mod make;
pub mod read;
pub mod recall;
pub mod recap;
pub mod retain;
mod schema;
pub mod suggest;
mod turn;
pub mod why;
pub mod write;

pub use derive::Journal;
pub use edits::Edits;
pub use entry::{Detail, Entry, File, Kind, Lines, Source, Summary};
pub use id::entry_id;
pub use schema::VERSION;
pub use turn::{Observed, Turn};

use base::Paths;
use store::{Derived, Error, Store};

/// What is derived from observations.
pub const DERIVED: &[&dyn Derived] = &[&work::WorkObservations, &work::contexts::Contexts, &Journal, &Edits];

/// Returns whether the tables of the journal are there, in this version: an earlier program may have left others.
pub fn is_made(store: &Store) -> Result<bool, Error> {
    read::is_made(store, "journal")
}

/// Opens the user's database with everything that is derived from observations.
pub fn open_store(paths: &Paths) -> Result<Store, Error> {
    store::open_store(paths, DERIVED)
}
