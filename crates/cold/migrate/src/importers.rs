//! What reads the records of an earlier system.

pub(crate) mod claude_mem;
pub(crate) mod lessons;
pub(crate) mod settings;

use crate::act::Report;
use crate::{Around, Journal, Result};
use std::path::{Path, PathBuf};

/// Reads one kind of records.
#[derive(Debug)]
pub struct Importer {
    /// What it brings, as in `lessons`.
    pub what: &'static str,
    /// Returns the files or folders that it would read.
    pub(crate) sources: fn(&Around) -> Vec<PathBuf>,
    /// Says what there is to import, and changes nothing.
    pub(crate) look: fn(&Around, &Path) -> Result<Look>,
    /// Imports: writes into the journal what it is about to do, then does it.
    pub(crate) import: fn(&Around, &Path, &mut Journal, &mut Report<'_>) -> Result<Look>,
}

/// What there is to import, or what was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How many are new here.
    pub new: usize,
    /// How many there are.
    pub all: usize,
    /// What does not come with them, or not as it was.
    pub remarks: Vec<String>,
}
