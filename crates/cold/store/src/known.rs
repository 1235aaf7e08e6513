//! Where the user worked before publishing needed leave: what the database knows, kept in `publish/known`.
//!
//! Written once, by the first command or worker of a version that asks for leave, before that one drains or syncs. So it has
//! nothing of sessions that only read along.

use crate::{Error, Store, open_store};
use base::leave::Known;
use base::{Paths, Timestamp};
use std::path::{Path, PathBuf};

/// The folders of sessions, and those of distillations, which are asked for also where nothing is recorded. What only a
/// watermark said of a folder may have come with a repository.
const WORKED: &str = "
    SELECT projects.key, sessions.cwd FROM sessions JOIN projects ON projects.row = sessions.project
        WHERE sessions.started_at < ?1
    UNION
    SELECT project, json_extract(payload, '$.cwd') FROM jobs
        WHERE kind = 'distill' AND project IS NOT NULL AND json_valid(payload) AND created < ?1
            AND json_extract(payload, '$.cwd') IS NOT NULL AND json_extract(payload, '$.is_hearsay') IS NULL";

/// Writes `publish/known`, unless it is complete. A database that cannot be read now is asked again by the next process; the
/// moment stays.
pub fn note(paths: &Paths) -> Result<(), Error> {
    let known = Known::read(paths);
    if known.as_ref().is_some_and(|known| known.is_whole) {
        return Ok(());
    }
    let known = match known {
        Some(known) => known,
        // It was there, since the folder is: written anew it would have the sessions that only read along.
        None if paths.known_clones().parent().is_some_and(Path::exists) => {
            return write(&Known { since: Timestamp::now(), worked: Vec::new(), is_whole: true }, paths);
        }
        None => {
            let known = Known { since: Timestamp::now(), worked: Vec::new(), is_whole: false };
            write(&known, paths)?;
            known
        }
    };
    let is_there = paths.database().exists();
    let worked = if is_there { worked_before(&open_store(paths, &[])?, known.since)? } else { Vec::new() };
    // Another process may have completed it meanwhile, and drained since what is no work from before.
    if Known::read(paths).is_some_and(|known| known.is_whole) {
        return Ok(());
    }
    write(&Known { worked, is_whole: true, ..known }, paths)
}

/// Takes folders out of `publish/known` that the database does not have any more.
pub fn refresh(store: &Store, paths: &Paths) -> Result<(), Error> {
    let Some(known) = Known::read(paths).filter(|known| !known.worked.is_empty()) else { return Ok(()) };
    let left = worked_before(store, known.since)?;
    let worked: Vec<_> = known.worked.iter().filter(|folder| left.contains(folder)).cloned().collect();
    if worked.len() == known.worked.len() { Ok(()) } else { write(&Known { worked, ..known }, paths) }
}

fn write(known: &Known, paths: &Paths) -> Result<(), Error> {
    known.write(paths).map_err(Error::io(&paths.known_clones()))
}

fn worked_before(store: &Store, since: Timestamp) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut statement = store.connection().prepare(WORKED)?;
    let rows = statement.query_map([since.millis() as i64], |row| {
        Ok((row.get::<_, String>(0)?, PathBuf::from(row.get::<_, String>(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    fn desk() -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        (folder, paths)
    }

    fn fill(paths: &Paths, session_at: u64, job: &str) {
        let mut store = open_store(paths, &[]).unwrap();
        let written = store.write(|transaction| {
            transaction.execute("INSERT INTO projects (row, key, name, root) VALUES (1, 'git:h/a', 'a', '/a')", [])?;
            transaction.execute(
                "INSERT INTO sessions (platform, id, project, cwd, started_at, last_at) VALUES ('x', 's', 1, '/a/src', ?1, ?1)",
                [session_at as i64],
            )?;
            transaction.execute(
                "INSERT INTO jobs (kind, project, payload, state, max_attempts, not_before, created, updated)
                    VALUES ('distill', 'git:h/b', ?1, 'done', 1, 0, 1, 1)",
                [job],
            )?;
            Ok::<_, Error>(())
        });
        written.unwrap();
    }

    #[test]
    fn sessions_and_distillations_of_before_are_known_and_later_ones_are_not() {
        let (_folder, paths) = desk();
        fill(&paths, 1, r#"{"session":"s","transcript":"/t","cwd":"/b"}"#);
        note(&paths).unwrap();
        let known = Known::read(&paths).unwrap();
        let worked =
            [("git:h/a", "/a/src"), ("git:h/b", "/b")].map(|(key, cwd)| (key.to_owned(), cwd.into()));
        assert_eq!((known.worked.as_slice(), known.is_whole), (worked.as_slice(), true));
        // What is forgotten there is forgotten here.
        let mut store = open_store(&paths, &[]).unwrap();
        store.write(|transaction| Ok::<_, Error>(transaction.execute("DELETE FROM sessions", [])?)).unwrap();
        refresh(&store, &paths).unwrap();
        let known = Known::read(&paths).unwrap();
        assert_eq!((known.worked.as_slice(), known.is_whole), (&worked[1..], true));
        drop(store);
        // It is written once.
        std::fs::remove_file(paths.database()).unwrap();
        note(&paths).unwrap();
        assert_eq!(Known::read(&paths), Some(known));
    }

    #[test]
    fn hearsay_and_what_came_after_the_moment_show_nothing() {
        let (_folder, paths) = desk();
        fill(&paths, u64::MAX >> 2, r#"{"session":"s","transcript":"/t","cwd":"/b","is_hearsay":true}"#);
        note(&paths).unwrap();
        assert_eq!(Known::read(&paths).unwrap().worked, []);
    }

    #[test]
    fn a_database_that_cannot_be_read_is_asked_again_and_the_moment_stays() {
        let (_folder, paths) = desk();
        std::fs::create_dir_all(paths.database()).unwrap();
        assert!(note(&paths).is_err());
        let first = Known::read(&paths).unwrap();
        assert!(!first.is_whole);
        std::fs::remove_dir(paths.database()).unwrap();
        fill(&paths, 1, "{}");
        note(&paths).unwrap();
        let known = Known::read(&paths).unwrap();
        assert_eq!((known.since, known.worked.len(), known.is_whole), (first.since, 1, true));
    }

    #[test]
    fn a_new_user_is_known_nowhere() {
        let (_folder, paths) = desk();
        note(&paths).unwrap();
        assert_eq!(Known::read(&paths).unwrap().worked, []);
        assert!(!paths.database().exists(), "no database is made for it");
    }
}
