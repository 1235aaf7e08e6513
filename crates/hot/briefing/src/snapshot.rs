//! `.wyren/state/sessions/<session>`: what a session has seen, so that it gets the rest and nothing twice.
//!
//! One file per session, replaced as a whole: a line of JSON, then the text of the memory that the session has seen. An
//! unreadable file counts as missing.

use base::{Timestamp, files};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::Error;
use crate::view::Stamp;

/// The version of the format.
const VERSION: u32 = 1;

/// How long the snapshot of a session that says nothing any more is kept.
const KEPT_MILLIS: u64 = 14 * 24 * 60 * 60 * 1_000;

/// How many snapshots one clean-up looks at.
const MAX_CLEANED: usize = 512;

/// The state of the shared files when they were shown. `None` if it cannot be relied on: something is still to be shown,
/// or changed so recently that the next change may have the same stamp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamps {
    pub memory: Option<Stamp>,
    /// The broadcast files, all in one.
    pub broadcast: Option<String>,
    /// The folder of the lessons.
    pub lessons: Option<Stamp>,
}

impl Stamps {
    /// Returns whether nothing changed from here to `now`, as far as can be relied on.
    pub fn still_hold(&self, now: &Self) -> bool {
        self.memory.is_some() && self.broadcast.is_some() && self.lessons.is_some() && self == now
    }
}

/// What a session has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What the files looked like.
    pub stamps: Stamps,
    /// The digests of the broadcast files by their paths.
    pub broadcast: BTreeMap<String, String>,
    /// The digests of the lessons by their names.
    pub lessons: BTreeMap<String, String>,
    /// The tip before the rewriting that the session was warned of.
    pub rewrite: Option<String>,
    /// The text of the memory.
    pub memory: String,
}

/// The first line of the file. Unknown fields are ignored, missing ones are empty.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Header {
    v: u32,
    stamps: Stamps,
    broadcast: BTreeMap<String, String>,
    lessons: BTreeMap<String, String>,
    rewrite: Option<String>,
}

pub(crate) use place::news::snapshot_file as file;

impl Snapshot {
    /// Reads a snapshot; `None` when there is none that can be read.
    pub fn read(file: &Path) -> Option<Self> {
        // A repository may contain a folder of this name that is a link.
        files::refuse_link(file.parent()?).ok()?;
        let text = files::read_text_capped(file, files::cap::SESSION).ok()?;
        let (header, memory) = text.split_once('\n')?;
        let header: Header = serde_json::from_str(header).ok()?;
        let Header { v: VERSION, stamps, broadcast, lessons, rewrite } = header else { return None };
        Some(Self { stamps, broadcast, lessons, rewrite, memory: memory.to_owned() })
    }

    /// Replaces the snapshot in `file`.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let Self { stamps, broadcast, lessons, rewrite, memory } = self.clone();
        let header = Header { v: VERSION, stamps, broadcast, lessons, rewrite };
        let mut text =
            serde_json::to_string(&header).map_err(std::io::Error::from).map_err(Error::write(file))?;
        text.push('\n');
        text.push_str(&memory);
        // A repository may contain a folder of this name that is a link.
        let allowed = file.parent().map_or(Ok(()), files::refuse_link);
        allowed.and_then(|()| files::write_atomic(file, text.as_bytes())).map_err(Error::write(file))
    }
}

/// Removes snapshots of sessions that have not been heard of for two weeks, beside the one in `file`.
///
/// Each time only those are looked at whose names begin as that one's does: a sixteenth of them, and all in the long run.
pub(crate) fn clean_up(file: &Path, now: Timestamp) {
    let Some(folder) = file.parent().filter(|folder| !files::is_link(folder)) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    let start = |name: &OsStr| name.as_encoded_bytes().first().copied();
    let own = file.file_name().and_then(start);
    let is_due = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        // A process that was killed leaves its temporary file behind.
        start(&name) == own || name.to_str().is_some_and(files::is_temporary)
    };
    for entry in entries.flatten().filter(is_due).take(MAX_CLEANED) {
        let file = entry.path();
        if age_millis(&file, now).is_some_and(|age| age > KEPT_MILLIS) {
            // Another session may have been quicker.
            let _ = fs::remove_file(file);
        }
    }
}

/// Returns how old a file is, by when it was changed; `None` when there is none.
pub(crate) fn age_millis(file: &Path, now: Timestamp) -> Option<u64> {
    let modified = fs::metadata(file).ok()?.modified().ok()?;
    Some(now.millis_since(modified.into()))
}

/// Makes a file as old as `now`; one that is not there is made.
pub(crate) fn touch(file: &Path, now: Timestamp) -> Result<(), Error> {
    let touch =
        || files::open_append_here(file)?.set_modified(UNIX_EPOCH + Duration::from_millis(now.millis()));
    touch().map_err(Error::write(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn a_snapshot_is_read_back_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), "s");
        assert_eq!(file.file_name().unwrap().len(), 16);
        let snapshot = Snapshot {
            stamps: Stamps { memory: Some(Stamp { mtime_ns: 1, size: 2, inode: 3 }), ..Stamps::default() },
            broadcast: [("a.md".to_owned(), "0f".to_owned())].into(),
            rewrite: Some("abc".to_owned()),
            memory: "# Wyren Memory\n\n## Decisions\n- a\n".to_owned(),
            ..Snapshot::default()
        };
        snapshot.write(&file).unwrap();
        assert_eq!(Snapshot::read(&file), Some(snapshot));
        let garbage = "x".repeat(1024 * 1024);
        for nonsense in ["", "{}", "{}\ntext", "{\"v\":2}\ntext", "\u{0}\n", &garbage] {
            fs::write(&file, nonsense).unwrap();
            assert_eq!(Snapshot::read(&file), None, "{}", &nonsense[..nonsense.len().min(20)]);
        }
        fs::write(&file, b"{\"v\":1}\n\xff").unwrap();
        assert_eq!(Snapshot::read(&file), None);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert_eq!(Snapshot::read(&file), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_is_neither_written_to_nor_cleaned_up() {
        let state = tempfile::tempdir().unwrap();
        let elsewhere = state.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink("elsewhere", state.path().join("sessions")).unwrap();
        let file = file(state.path(), "s");
        assert!(Snapshot::default().write(&file).is_err());
        let precious = fs::File::create(elsewhere.join(".precious.tmp")).unwrap();
        precious.set_modified(UNIX_EPOCH).unwrap();
        clean_up(&file, Timestamp::now());
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    }

    #[test]
    fn only_what_is_settled_holds() {
        let settled = Stamps {
            memory: Some(Stamp::ABSENT),
            broadcast: Some(String::new()),
            lessons: Some(Stamp::ABSENT),
        };
        assert!(settled.still_hold(&settled));
        let open = Stamps { broadcast: None, ..settled.clone() };
        assert!(!open.still_hold(&open) && !settled.still_hold(&open));
    }

    #[test]
    fn snapshots_of_forgotten_sessions_go() {
        let state = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (session, days) in [("old", 15), ("young", 13)] {
            Snapshot::default().write(&file(state.path(), session)).unwrap();
            let written = fs::File::options().append(true).open(file(state.path(), session)).unwrap();
            written.set_modified(now - Duration::from_secs(days * 24 * 60 * 60)).unwrap();
        }
        // Every other session sees a sixteenth of them, so that many are sure to see all.
        for session in 0..200 {
            clean_up(&file(state.path(), &session.to_string()), now.into());
        }
        assert!(Snapshot::read(&file(state.path(), "old")).is_none());
        assert!(Snapshot::read(&file(state.path(), "young")).is_some());
    }
}
