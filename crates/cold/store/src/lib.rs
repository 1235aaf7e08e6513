//! The database: the one place that opens it, its schema, and what several capabilities share in it.
//!
//! Each owner of tables hands over its migrations as a numbered list ([`Tables`]). They only go forward. A database
//! whose owner is ahead of the program is opened read-only, and says so.

pub mod claude_mem;
pub mod derived;
pub mod jobs;
pub mod known;
pub mod memory;
pub mod observations;
mod open;
pub mod repair;
mod schema;
pub mod sightings;
pub mod spend;
mod transcribe;
pub mod transcripts;

pub use derived::Derived;
pub use open::{Error, Store};
pub use rusqlite;
pub use schema::Tables;

use base::Paths;
use std::time::Duration;

/// The tables of every owner.
pub const TABLES: &[Tables] = &[observations::TABLES, jobs::TABLES, spend::TABLES, sightings::TABLES];

/// Returns the formats that this program knows: each owner of tables with the number of its last step.
pub fn formats() -> Vec<(&'static str, u32)> {
    TABLES.iter().map(|tables| (tables.owner, tables.newest())).collect()
}

/// Returns the formats of the user's database, without changing it; empty where there is none.
pub fn formats_of(paths: &Paths) -> Result<Vec<(String, u32)>, Error> {
    let store = Store::open_as_it_is(&paths.database(), FORMATS_PATIENCE)?;
    store.map_or(Ok(Vec::new()), |store| Ok(schema::taken(store.connection())?))
}

/// How long to wait for another program to let the formats be read.
const FORMATS_PATIENCE: Duration = Duration::from_secs(2);

/// Opens the user's database with the tables of every owner, and with those that are derived from observations. Programs that
/// drain or forget call `journal::open_store`, which names them all.
pub fn open_store(paths: &Paths, derived: &'static [&'static dyn Derived]) -> Result<Store, Error> {
    let mut store = Store::open(&paths.database(), TABLES)?.deriving(derived);
    derived::prepare(&mut store)?;
    Ok(store)
}
