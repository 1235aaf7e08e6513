//! `migrate.json` in the data folder: every step, before it is taken, with what it takes to go back.

use crate::{Around, Error, Result};
use base::files;
use install::settings::others::Entry;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

/// The latest version of the file. A file without what came with it has the first one: an earlier program can take it back.
const VERSION: u64 = 2;
const FIRST_VERSION: u64 = 1;

/// One change, with what it takes to go back. Whether it was made shows in the file that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Step {
    /// Hooks and plugins were switched off in a settings file.
    Settings {
        path: PathBuf,
        /// The SHA-256 of the file before; `None` where there was none.
        before: Option<String>,
        after: String,
        /// The file as it was.
        backup: Option<PathBuf>,
        hooks: Vec<Entry>,
        /// Other members that were taken out, such as the status line.
        members: BTreeMap<String, Value>,
        /// Plugins, with the word about each before; `None` where there was none.
        plugins: BTreeMap<String, Option<Value>>,
    },
    /// Values were set in `config.toml`.
    Config {
        /// The file as it was.
        before: Option<String>,
        /// The SHA-256 of the file after.
        after: String,
        values: BTreeMap<String, String>,
    },
    /// Lessons were imported.
    Lessons {
        source: PathBuf,
        /// The files that were written, each with the SHA-256 of its bytes.
        files: Vec<(PathBuf, String)>,
        /// The folders that were made for them.
        folders: BTreeSet<PathBuf>,
    },
    /// Records went into the database.
    Records {
        source: PathBuf,
        /// The last row of `observations` before them.
        after: i64,
    },
    /// A program was taken from the PATH: a link, or the text of a script.
    Program {
        path: PathBuf,
        link: Option<PathBuf>,
        text: Option<String>,
        /// The mode of a script.
        mode: Option<u32>,
    },
    /// A link was made in place of an earlier system's program. Since version 2.
    Link {
        path: PathBuf,
        program: PathBuf,
        /// The folders that were made for it.
        folders: BTreeSet<PathBuf>,
    },
}

/// The steps of all migrations that were not undone.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
    pub(crate) steps: Vec<Step>,
}

impl Journal {
    /// Reads the journal; one that is not there is empty.
    pub fn read(around: &Around) -> Result<Self> {
        let file = around.paths.migration_journal();
        let unreadable = |reason: String| Error::Unreadable { path: file.clone(), reason };
        let bytes = files::read_capped_if_there(&file, files::cap::NAMED).map_err(Error::at(&file))?;
        let Some(bytes) = bytes else { return Ok(Self { file, steps: Vec::new() }) };
        let mut journal: Value =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        match journal["v"].as_u64() {
            Some(FIRST_VERSION..=VERSION) => {}
            Some(later) if later > VERSION => return Err(Error::Later(file)),
            _ => return Err(unreadable("it has no version".to_owned())),
        }
        let steps = serde_json::from_value(journal["steps"].take());
        let steps = steps.map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { file, steps })
    }

    /// Returns whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the steps, the last one at the end.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds a step that is about to be taken.
    pub(crate) fn record(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        self.write()
    }

    /// Takes the last step out, which was undone or never taken.
    pub(crate) fn drop_last(&mut self) -> Result<()> {
        self.steps.pop();
        self.write()
    }

    fn write(&self) -> Result<()> {
        if self.steps.is_empty() {
            return files::remove_if_there(&self.file).map(drop).map_err(Error::at(&self.file));
        }
        let has_link = self.steps.iter().any(|step| matches!(step, Step::Link { .. }));
        let version = if has_link { VERSION } else { FIRST_VERSION };
        let text = format!("{:#}\n", json!({"v": version, "steps": self.steps}));
        files::write_atomic_with(&self.file, |file| {
            io::Write::write_all(file, text.as_bytes())?;
            // The change that follows must not reach the disk before its step.
            file.sync_all()
        })
        .map_err(Error::at(&self.file))
    }
}
