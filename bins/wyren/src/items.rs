//! What is remembered, by the ids that people and models type in this folder.

use crate::exit;
use answers::ids;
use anyhow::Result;
use journal::find::Item;
use std::path::PathBuf;
use store::Store;

/// Returns the entry or summary whose id begins with what was typed. `undone` says what was not done.
pub(crate) fn find(store: &Store, typed: &str, undone: &str) -> Result<Item> {
    ids::find(store, &here(), typed, undone).map_err(exit::of)
}

/// The project of this folder has the entries that a refusal names.
pub(crate) fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}
