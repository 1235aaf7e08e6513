//! What transcripts of Claude Code and other agents tell goes into the database: all of it ([`Import`]), or what no event told
//! ([`follow`]).
//!
//! An observation has the id that a hook would have given it, so that what was recorded is not stored again, however often and
//! in whichever order both come.

mod agent;
mod follow;
mod import;
mod keep;
mod put;
mod source;

pub use crate::transcribe::Refusal;
pub use agent::Agent;
pub(crate) use follow::follow;
pub use import::{Import, Imported};
pub use keep::keep;
pub use put::Forgotten;
pub(crate) use put::has_prompt_like;
pub(crate) use source::Source;

use crate::open::Error;
use base::digest;
use capture::Rules;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::path::Path;

/// Who read a transcript so far.
#[derive(Clone, Copy)]
enum ReadBy {
    Import,
    Follow,
}

impl ReadBy {
    fn name(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Follow => "follow",
        }
    }
}

/// Returns what a transcript is known by: its path may say what a user has forgotten.
pub(crate) fn name_of(path: &Path) -> String {
    digest::short_hex(path.as_os_str().as_encoded_bytes())
}

/// Returns what tells one set of rules from another: with other rules a transcript tells something else.
fn rules_digest(rules: &Rules) -> String {
    digest::short_hex(format!("{rules:?}").as_bytes())
}

/// Returns how far a transcript was read, by the same rules.
fn offset(connection: &Connection, path: &Path, by: ReadBy, rules: &Rules) -> Result<Option<u64>, Error> {
    let mut select = connection
        .prepare_cached("SELECT offset FROM transcripts WHERE name = ?1 AND reader = ?2 AND rules = ?3")?;
    let offset = select.query_row(params![name_of(path), by.name(), rules_digest(rules)], |row| row.get(0));
    Ok(offset.optional()?)
}

fn set_offset(
    transaction: &Transaction<'_>,
    path: &Path,
    by: ReadBy,
    rules: &Rules,
    offset: u64,
) -> Result<(), Error> {
    transaction
        .prepare_cached("INSERT OR REPLACE INTO transcripts VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![name_of(path), by.name(), rules_digest(rules), offset])?;
    Ok(())
}
