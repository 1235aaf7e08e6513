//! Something that the user reads once.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::files;

/// The size at which the list of what was reported starts anew.
const MAX_REPORTED_BYTES: u64 = 64 * 1024;

/// Something to tell the user once.
#[derive(Clone, Debug)]
pub struct Notice {
    /// What to tell.
    pub text: String,
    pub(crate) file: PathBuf,
    pub(crate) mark: Mark,
}

/// What remembers that the user has seen a notice.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Lines of the file, beside those of earlier notices.
    Lines(Vec<String>),
    /// The file's whole text.
    Text(String),
}

impl Notice {
    /// Remembers that the user has seen it.
    pub fn remember(&self) -> io::Result<()> {
        match &self.mark {
            Mark::Text(text) => files::write_atomic(&self.file, format!("{text}\n").as_bytes()),
            Mark::Lines(lines) => {
                if std::fs::metadata(&self.file).is_ok_and(|metadata| metadata.len() > MAX_REPORTED_BYTES) {
                    std::fs::remove_file(&self.file)?;
                }
                let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
                files::open_append(&self.file)?.write_all(lines.as_bytes())
            }
        }
    }
}
