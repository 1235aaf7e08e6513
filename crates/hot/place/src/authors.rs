//! `cache/authors/<digest>` in the data folder: who brought which entry of a memory, as the commits tell it. Never shared.
//!
//! `team-sync` writes it after a fetch; hooks read it when they show entries. An entry that is not in it has no known
//! author: then only its own words say who wrote it.

use base::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const VERSION: u32 = 1;

/// The most that is read of the file, in bytes; a longer one counts as empty.
const MAX_BYTES: usize = 256 * 1024;

/// How many entries the file is about.
const MAX_ENTRIES: usize = 2_000;

/// The longest name, in characters.
pub const MAX_NAME_CHARS: usize = 60;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Stored {
    v: u32,
    /// The names by the keys of the entries.
    authors: BTreeMap<String, String>,
}

/// Reads who brought the entries of a memory from its file ([`base::Paths::authors_file`]); empty when nothing is known.
pub fn read(file: &Path) -> BTreeMap<String, String> {
    let Ok(bytes) = files::read_capped(file, MAX_BYTES) else { return BTreeMap::new() };
    let stored: Stored = serde_json::from_slice(&bytes).unwrap_or_default();
    if stored.v == VERSION { stored.authors } else { BTreeMap::new() }
}

/// Replaces what is known. Of more entries than there is room for, the last by their keys are left out.
pub fn write(file: &Path, authors: &BTreeMap<String, String>) -> std::io::Result<()> {
    let authors = authors
        .iter()
        .take(MAX_ENTRIES)
        .map(|(key, name)| (key.clone(), text::sanitize::one_line(name, MAX_NAME_CHARS)));
    let mut text = serde_json::to_vec(&Stored { v: VERSION, authors: authors.collect() })?;
    text.push(b'\n');
    files::write_atomic(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn authors_are_read_back_bounded_and_on_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let many =
            (0..MAX_ENTRIES + 10).map(|n| (format!("{n:016x}"), format!("A\n\u{1b}[31m{}", "b".repeat(99))));
        write(&folder.path().join("a"), &many.collect()).unwrap();
        let known = read(&folder.path().join("a"));
        assert_eq!(known.len(), MAX_ENTRIES);
        assert!(known.values().all(|name| name.starts_with("A b") && name.chars().count() == MAX_NAME_CHARS));
    }

    #[test]
    fn nonsense_another_version_and_too_much_are_nothing() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a"), &BTreeMap::new()).unwrap();
        let long = format!(r#"{{"v":1,"authors":{{"a":"{}"}}}}"#, "b".repeat(MAX_BYTES));
        for nonsense in ["", "{", r#"{"v":2,"authors":{"a":"b"}}"#, &long] {
            fs::write(folder.path().join("a"), nonsense).unwrap();
            assert_eq!(read(&folder.path().join("a")), BTreeMap::new());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_folder_under_the_name_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let known = [("a".to_owned(), "b".to_owned())].into();
        write(&folder.path().join("a"), &known).unwrap();
        fs::rename(folder.path().join("a"), folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("a")).unwrap();
        assert_eq!(read(&folder.path().join("a")), BTreeMap::new());
        write(&folder.path().join("a"), &known).unwrap();
        assert_eq!(read(&folder.path().join("a")), known, "a write takes the place of the link");
        fs::remove_file(folder.path().join("a")).unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        assert_eq!(read(&folder.path().join("a")), BTreeMap::new());
    }
}
