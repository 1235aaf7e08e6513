//! `cache/news/<session>` in the data folder: a note for a session that a sync brought news of the team during its turn.
//!
//! The name is the one of the session's snapshot, `.wyren/state/sessions/<session>`, so that a sync finds the sessions of
//! its clone without knowing their ids. The note is empty: a hook composes the news from the snapshot. Who removes the note
//! looks at the memory after that, so that what arrives later has a note of its own.

use crate::state_folder;
use base::{Paths, Timestamp, digest, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the snapshots below `.wyren/state/`.
const SESSIONS: &str = "sessions";

/// How many sessions of a clone get a note at most: those that were heard of last.
const MAX_SESSIONS: usize = 64;

/// How many names of a folder are looked at.
const MAX_LOOKED_AT: usize = 4_096;

/// How old the snapshot of a session may be that gets a note, and how long a note waits.
const KEPT_MILLIS: u64 = 14 * 24 * 60 * 60 * 1_000;

/// Returns the file of what a session has seen, below the folder of what is never shared.
pub fn snapshot_file(state: &Path, session: &str) -> PathBuf {
    state.join(SESSIONS).join(digest::short_hex(session.as_bytes()))
}

/// Returns whether a note waits for a session: one `stat`.
pub fn is_waiting(paths: &Paths, session: &str) -> bool {
    fs::symlink_metadata(note_file(paths, session)).is_ok()
}

/// Removes the note of a session; returns whether there was one. Of several processes one gets it.
pub fn take(paths: &Paths, session: &str) -> io::Result<bool> {
    files::remove_if_there(&note_file(paths, session))
}

/// Leaves a note for each session that works with the memory in a `.wyren/` folder, and removes notes that no session came
/// for.
pub fn announce(paths: &Paths, wyren: &Path, now: Timestamp) -> io::Result<()> {
    let folder = paths.news();
    for (note, _) in aged(&folder, now).into_iter().filter(|(_, age)| *age > KEPT_MILLIS) {
        let _ = files::remove_if_there(&folder.join(note));
    }
    let sessions = state_folder(wyren).join(SESSIONS);
    // A repository may contain a folder of this name that is a link.
    files::refuse_link(&sessions)?;
    let mut found = aged(&sessions, now);
    found.retain(|(_, age)| *age <= KEPT_MILLIS);
    found.sort_by_key(|(_, age)| *age);
    found
        .into_iter()
        .take(MAX_SESSIONS)
        .try_for_each(|(name, _)| files::open_append_here(&folder.join(name)).map(drop))
}

fn note_file(paths: &Paths, session: &str) -> PathBuf {
    paths.news().join(digest::short_hex(session.as_bytes()))
}

/// Returns whether a file is named as a session is.
fn is_name(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the files of a folder that are named as a session is, with their ages in milliseconds.
fn aged(folder: &Path, now: Timestamp) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_LOOKED_AT);
    let aged = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| is_name(name))?;
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((name, now.millis_since(metadata.modified().ok()?.into())))
    };
    entries.filter_map(aged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;
    use std::time::{Duration, SystemTime};

    fn check(test: impl FnOnce(&Paths, &Path)) {
        let folder = tempfile::tempdir().unwrap();
        let wyren = folder.path().join("app/.wyren");
        fs::create_dir_all(wyren.join("state/sessions")).unwrap();
        test(&Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))])), &wyren);
    }

    fn snapshot(wyren: &Path, session: &str, age: Duration) {
        let file = fs::File::create(snapshot_file(&state_folder(wyren), session)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn every_session_of_the_clone_gets_a_note_and_one_process_takes_it() {
        check(|paths, wyren| {
            snapshot(wyren, "one", DAY);
            snapshot(wyren, "two", DAY);
            assert!(!is_waiting(paths, "one") && !take(paths, "one").unwrap());
            announce(paths, wyren, Timestamp::now()).unwrap();
            announce(paths, wyren, Timestamp::now()).unwrap();
            assert!(is_waiting(paths, "one") && is_waiting(paths, "two") && !is_waiting(paths, "other"));
            assert!(take(paths, "one").unwrap() && !take(paths, "one").unwrap());
            assert!(!is_waiting(paths, "one") && is_waiting(paths, "two"));
        });
    }

    #[test]
    fn sessions_of_long_ago_get_no_note_and_their_notes_go() {
        check(|paths, wyren| {
            snapshot(wyren, "old", 15 * DAY);
            snapshot(wyren, "young", 13 * DAY);
            announce(paths, wyren, Timestamp::now()).unwrap();
            assert!(!is_waiting(paths, "old") && is_waiting(paths, "young"));
            let later = Timestamp::from_millis(Timestamp::now().millis() + KEPT_MILLIS + 1_000);
            announce(paths, wyren, later).unwrap();
            assert!(!is_waiting(paths, "young"));
        });
    }

    #[test]
    fn a_clone_with_many_sessions_makes_notes_for_the_last_ones() {
        check(|paths, wyren| {
            for number in 0..MAX_SESSIONS as u64 + 5 {
                snapshot(wyren, &number.to_string(), Duration::from_secs(60 * number));
            }
            announce(paths, wyren, Timestamp::now()).unwrap();
            assert_eq!(files::files_in(&paths.news()).len(), MAX_SESSIONS);
            assert!(is_waiting(paths, "0") && !is_waiting(paths, "64"));
        });
    }

    #[test]
    fn what_is_no_snapshot_makes_no_note() {
        check(|paths, wyren| {
            let sessions = state_folder(wyren).join(SESSIONS);
            for name in ["config.toml", "0123456789ABCDEF", "0123456789abcde", ".0123456789abcdef.1.0.tmp"] {
                fs::write(sessions.join(name), "").unwrap();
            }
            fs::create_dir(sessions.join("0123456789abcdef")).unwrap();
            announce(paths, wyren, Timestamp::now()).unwrap();
            assert_eq!(files::files_in(&paths.news()), Vec::<PathBuf>::new());
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_sessions_that_is_a_link_is_not_looked_into() {
        check(|paths, wyren| {
            snapshot(wyren, "s", DAY);
            let sessions = state_folder(wyren).join(SESSIONS);
            fs::rename(&sessions, wyren.join("elsewhere")).unwrap();
            std::os::unix::fs::symlink(wyren.join("elsewhere"), &sessions).unwrap();
            assert!(announce(paths, wyren, Timestamp::now()).is_err());
            assert!(!is_waiting(paths, "s"));
        });
    }
}
