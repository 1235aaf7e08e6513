//! The database: the one place that opens it, its schema, and what several capabilities share in it.
//!
//! Each owner of tables hands over its migrations as a numbered list ([`Tables`]). They only go forward. A database
//! whose owner is ahead of the program is opened read-only, and says so.

pub mod capture;
pub mod jobs;
mod open;
pub mod repair;
mod schema;

pub use open::{Error, Store};
pub use rusqlite;
pub use schema::Tables;
