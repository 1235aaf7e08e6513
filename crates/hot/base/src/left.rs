//! `cache/left/<digest>` in the user's data folder: how many entries distillations of a clone took out of the team memory
//! without anything in their place, until the user knows.

use crate::notice::{Key, Mark, Notice};
use crate::{Paths, files};
use std::io;
use std::path::Path;

/// Where what left the memory is, and how it comes back.
pub const HOW_TO_BRING_BACK: &str =
    "to see it: wyren memory history; to bring it back: wyren memory restore NUMBER";

/// The contents of the file once the user knows.
const TOLD: &str = "told";

/// Notes that `count` more entries left the memory in a `.wyren/` folder.
pub fn note(paths: &Paths, wyren: &Path, count: usize) -> io::Result<()> {
    let file = paths.left_file(wyren);
    let count = waiting(&file).unwrap_or_default().saturating_add(count as u64);
    files::write_atomic(&file, format!("{count}\n").as_bytes())
}

/// Returns what to tell the user once about a memory; `None` when nothing left it, or the user knows.
pub fn notice(paths: &Paths, wyren: &Path) -> Option<Notice> {
    let file = paths.left_file(wyren);
    let what = match waiting(&file)? {
        1 => "removed 1 entry from the team memory".to_owned(),
        count => format!("removed {count} entries from the team memory"),
    };
    let text = format!("{what}; see /wyren:memory history, undo with /wyren:memory restore NUMBER");
    Some(Notice::marked(Key::Left, text, Mark::Text(file, TOLD.to_owned())))
}

fn waiting(file: &Path) -> Option<u64> {
    files::read_text_capped(file, files::cap::POINTER).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;

    #[test]
    fn a_notice_is_due_once_for_all_that_left_until_then() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        let (one, other) = (folder.path().join("a/.wyren"), folder.path().join("b/.wyren"));
        assert!(notice(&paths, &one).is_none());
        note(&paths, &one, 1).unwrap();
        assert!(notice(&paths, &one).unwrap().text.contains("removed 1 entry from"));
        note(&paths, &one, 2).unwrap();
        let due = notice(&paths, &one).unwrap();
        assert!(due.text.contains("removed 3 entries") && due.text.contains("/wyren:memory restore NUMBER"));
        assert!(notice(&paths, &one).is_some(), "until the answer is out, it was not said");
        due.remember().unwrap();
        assert!(notice(&paths, &one).is_none() && notice(&paths, &other).is_none());
        note(&paths, &one, 2).unwrap();
        assert!(notice(&paths, &one).unwrap().text.contains("removed 2 entries"));
    }
}
