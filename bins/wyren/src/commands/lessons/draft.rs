//! The answers of an interview, kept in a file until the lesson is added: an answer is not given twice.

use base::files;
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::PathBuf;

/// The answers so far, and their file.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) file: PathBuf,
    pub(super) fields: Map<String, Value>,
}

impl Draft {
    /// Reads the draft of an earlier interview; empty when there is none.
    pub(super) fn open(places: &lessons_admin::catalogue::Places) -> Self {
        let file = places.paths.cache().join("drafts/new-lesson.json");
        let text = files::read_text_capped(&file, files::cap::LESSON).unwrap_or_default();
        Self { file, fields: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Takes an answer.
    pub(super) fn put(&mut self, name: &str, value: Value) -> io::Result<()> {
        self.fields.insert(name.to_owned(), value);
        files::write_atomic(&self.file, format!("{:#}\n", Value::from(self.fields.clone())).as_bytes())
    }

    /// Forgets the answers.
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        let _ = fs::remove_file(&self.file);
    }

    /// Returns where the answers are, for an error; `None` when there are none.
    pub(super) fn where_it_is(&self) -> Option<String> {
        let file = self.file.display();
        (!self.fields.is_empty()).then(|| {
            format!(
                "nothing was added; your answers are kept: run `wyren lessons add` again, or edit {file} and run \
                 `wyren lessons add --file {file}`"
            )
        })
    }
}
