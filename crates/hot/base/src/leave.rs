//! What is kept in the user's data folder about leave to publish, besides the leave itself.
//!
//! `publish/known` is written once, by the first command or worker of a version that asks for leave. It has the moment,
//! and where the user had worked until then:
//!
//! ```text
//! wyren publish 1
//! since 2026-11-16T02:26:41.123Z
//! worked git:github.com/acme/app /home/ada/app/src
//! end
//! ```
//!
//! `cache/kept/<digest>` has the number of changes that stay on this machine, or `told` once the user knows.

use crate::notice::{Key, Mark, Notice};
use crate::{Paths, Timestamp, files};
use std::io;
use std::path::{Path, PathBuf};

/// The first line of the files below `publish/`. One with another first line gives no leave.
pub const HEADER: &str = "wyren publish 1";

/// The contents of `cache/kept/<digest>` once the user knows.
const TOLD: &str = "told";

/// Where the user had worked before publishing needed leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// When publishing began to need leave here. Nothing later shows that a clone was published from before.
    pub since: Timestamp,
    /// The key of the project, as [`crate::project::Project::key`], and the folder.
    pub worked: Vec<(String, PathBuf)>,
    /// Whether the list is complete: the database may have been out of reach.
    pub is_whole: bool,
}

impl Known {
    /// Reads the file; `None` when there is none that makes sense.
    pub fn read(paths: &Paths) -> Option<Self> {
        Self::parse(&files::read_text_capped(&paths.known_clones(), files::cap::TEXTS).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let since = lines.next()?.strip_prefix("since ")?.parse().ok()?;
        let mut known = Self { since, worked: Vec::new(), is_whole: false };
        for line in lines {
            match line.strip_prefix("worked ").and_then(|rest| rest.split_once(' ')) {
                Some((key, folder)) => known.worked.push((key.to_owned(), folder.into())),
                None => known.is_whole |= line == "end",
            }
        }
        Some(known)
    }

    /// Writes the file.
    pub fn write(&self, paths: &Paths) -> io::Result<()> {
        let mut text = format!("{HEADER}\nsince {}\n", self.since);
        // A key with a space, or a folder with a line break, would read as something else.
        let is_plain = |text: &str| !text.chars().any(char::is_control);
        for (key, folder) in &self.worked {
            if let Some(folder) = folder.to_str().filter(|folder| is_plain(folder) && is_plain(key))
                && !key.contains(' ')
            {
                text.push_str(&format!("worked {key} {folder}\n"));
            }
        }
        if self.is_whole {
            text.push_str("end\n");
        }
        files::write_atomic(&paths.known_clones(), text.as_bytes())
    }
}

/// Notes that `count` changes of a clone's memory wait for leave; none ends a notice that was not shown yet.
pub fn note_kept(paths: &Paths, common_folder: &Path, count: usize) -> io::Result<()> {
    let file = paths.kept_file(common_folder);
    let known = files::read_text_capped(&file, files::cap::POINTER).unwrap_or_default();
    if known.trim() == TOLD || known.trim() == count.to_string() {
        return Ok(());
    }
    if count > 0 {
        return files::write_atomic(&file, format!("{count}\n").as_bytes());
    }
    files::remove_if_there(&file).map(drop)
}

/// Forgets what was noted, and that the user knows: the clone has leave.
pub fn forget_kept(paths: &Paths, common_folder: &Path) -> io::Result<()> {
    files::remove_if_there(&paths.kept_file(common_folder)).map(drop)
}

/// Returns what to tell the user once about a clone whose changes stay on this machine; `None` when nothing waits, or the
/// user knows.
pub fn kept_notice(paths: &Paths, common_folder: &Path) -> Option<Notice> {
    let file = paths.kept_file(common_folder);
    let count: u64 = files::read_text_capped(&file, files::cap::POINTER).ok()?.trim().parse().ok()?;
    let text = match count {
        1 => "1 change to the team memory stays".to_owned(),
        _ => format!("{count} changes to the team memory stay"),
    };
    let text = format!("{text} on this machine until you run wyren sync here in a terminal");
    Some(Notice::marked(Key::Kept, text, Mark::Text(file, TOLD.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;
    use std::fs;

    fn desk() -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        (folder, paths)
    }

    #[test]
    fn what_was_known_reads_as_it_was_written() {
        let (_folder, paths) = desk();
        assert_eq!(Known::read(&paths), None);
        let worked = vec![("git:host/a".to_owned(), "/home/ada/my app".into())];
        for is_whole in [false, true] {
            let known = Known { since: Timestamp::from_millis(1_000), worked: worked.clone(), is_whole };
            known.write(&paths).unwrap();
            assert_eq!(Known::read(&paths), Some(known));
        }
    }

    #[test]
    fn a_hostile_folder_adds_no_line_and_another_version_counts_for_nothing() {
        let (_folder, paths) = desk();
        let worked = vec![("git:host/a".to_owned(), "/x\nworked git:host/b /y".into())];
        Known { since: Timestamp::from_millis(1_000), worked, is_whole: true }.write(&paths).unwrap();
        assert_eq!(Known::read(&paths).unwrap().worked, []);
        let text = fs::read_to_string(paths.known_clones()).unwrap();
        fs::write(paths.known_clones(), text.replace("publish 1", "publish 2")).unwrap();
        assert_eq!(Known::read(&paths), None);
    }

    #[test]
    fn a_notice_is_due_once_per_clone_until_leave_is_given() {
        let (folder, paths) = desk();
        let (one, other) = (folder.path().join("a/.git"), folder.path().join("b/.git"));
        assert!(kept_notice(&paths, &one).is_none());
        note_kept(&paths, &one, 2).unwrap();
        let notice = kept_notice(&paths, &one).unwrap();
        assert!(
            notice.text.starts_with("2 changes") && notice.text.contains("wyren sync"),
            "{}",
            notice.text
        );
        assert!(kept_notice(&paths, &one).is_some(), "until the answer is out, it was not said");
        notice.remember().unwrap();
        note_kept(&paths, &one, 3).unwrap();
        assert!(kept_notice(&paths, &one).is_none());
        note_kept(&paths, &other, 1).unwrap();
        assert!(kept_notice(&paths, &other).unwrap().text.starts_with("1 change to"));
        note_kept(&paths, &other, 0).unwrap();
        assert!(kept_notice(&paths, &other).is_none());
        forget_kept(&paths, &one).unwrap();
        note_kept(&paths, &one, 1).unwrap();
        assert!(kept_notice(&paths, &one).is_some());
    }
}
