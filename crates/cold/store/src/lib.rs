//! The database: the one place that opens it, its schema, and what several capabilities share in it.
//!
//! Each owner of tables hands over its migrations as a numbered list ([`Tables`]). They only go forward. A database
//! whose owner is ahead of the program is opened read-only, and says so.

pub mod derived;
pub mod jobs;
pub mod known;
pub mod observations;
mod open;
pub mod repair;
mod schema;
pub mod spend;

pub use derived::Derived;
pub use open::{Error, Store};
pub use rusqlite;
pub use schema::Tables;

use base::Paths;

/// The tables of every owner.
pub const TABLES: &[Tables] = &[observations::TABLES, jobs::TABLES, spend::TABLES];

/// What is derived from observations: none so far.
pub const DERIVED: &[&dyn Derived] = &[];

/// Opens the user's database with the tables of every owner.
pub fn open_store(paths: &Paths) -> Result<Store, Error> {
    Store::open(&paths.database(), TABLES)
}
