//! When the database is damaged: puts it aside, keeps what can still be read, and makes the rest again from the spool
//! and from the client's transcripts.
//!
//! The new database is made beside the old one, which is left as it is, log of changes and all, until the new one is
//! ready. Then the log goes and the new one takes the old one's place. A process killed meanwhile leaves a damaged
//! database, which the next one repairs, or a new one that is ready, which the next one puts in place:
//!
//! | file | what it says |
//! |---|---|
//! | `.damaged-<time>` | a second name of the old database, beside a copy of its log; kept |
//! | `.new` | a database is being made; the last `.damaged-<time>` belongs to it |
//! | `.ready` | it is made and only has to take the old one's place |
//! | `.mended` | a copy of the old database with a sound header, while it is read |

mod header;
mod salvage;

use crate::derived::Derived;
use crate::observations::{self, Drain};
use crate::open::{self, Error, Store};
use crate::schema::Tables;
use crate::transcripts::{Forgotten, Import};
use base::{Timestamp, files};
use capture::Spool;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for a drain, or for someone else who is repairing.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait for another program's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// What SQLite keeps beside a database.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];
/// What the name of a database that was put aside goes on with; a stamp follows.
const ASIDE: &str = ".damaged-";

/// From what a database is made again.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The spool; it also has the lock that keeps drains away.
    pub spool: &'a Spool,
    /// The folder of the client's transcripts.
    pub transcripts: &'a Path,
    /// What of them would have been recorded.
    pub rules: capture::Rules,
    /// What is derived from observations: left out, and made anew.
    pub derived: &'static [&'static dyn Derived],
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Where the damaged database is now; `None` when someone else had repaired it.
    pub aside: Option<PathBuf>,
    /// Rows that could be read from it.
    pub salvaged: u64,
    /// Rows of it that were left out because their data is no longer JSON.
    pub damaged: u64,
    /// Observations that came back from the spool.
    pub from_spool: u64,
    /// Observations that came back from transcripts.
    pub from_transcripts: u64,
}

/// Returns the file that keeps digests of what was forgotten; it is no part of the database, so that it outlives one.
pub fn notes_of_forgotten(database: &Path) -> PathBuf {
    database.with_file_name("forgotten")
}

/// Repairs the database at `path` if it is damaged.
pub fn repair(
    path: &Path,
    tables: &[Tables],
    sources: &Sources<'_>,
    now: Timestamp,
) -> Result<Repaired, Error> {
    repair_in_steps(path, tables, sources, now, |_| Ok(()))
}

/// What a repair has done when it could be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    PutAside,
    Made,
    Ready,
    LogRemoved,
}

/// Repairs, and says after each step which one it was.
fn repair_in_steps(
    path: &Path,
    tables: &[Tables],
    sources: &Sources<'_>,
    now: Timestamp,
    mut after: impl FnMut(Step) -> Result<(), Error>,
) -> Result<Repaired, Error> {
    let lock = observations::lock(sources.spool, PATIENCE).map_err(Error::io(sources.spool.folder()))?;
    let _lock = lock.ok_or(Error::Busy)?;
    let (fresh, ready) = (suffixed(path, ".new"), suffixed(path, ".ready"));
    // Before anything else: without its log the old database may well look sound.
    if only_waits_for_its_place(&ready, path) {
        fs::rename(&ready, path).map_err(Error::io(path))?;
        return Ok(Repaired { aside: last_aside(path), ..Repaired::default() });
    }
    // Closing must not change what is about to be put aside. SQLite would delete the log of an empty one.
    match Store::open_as_it_is(path, BUSY_TIMEOUT) {
        Ok(None) if open::is_emptied(path) => {}
        Ok(None) => return Ok(Repaired::default()),
        Ok(Some(store)) => match store.check() {
            Err(Error::Corrupt { .. }) => {}
            sound => return sound.map(|()| Repaired::default()),
        },
        Err(Error::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    // An attempt that came no further than to `.new` has left the old database as it was: its second name is used again.
    let earlier = last_aside(path).filter(|_| fresh.exists() && !ready.exists());
    let aside = earlier.unwrap_or_else(|| aside_at(path, now));
    put_aside(path, &aside).map_err(Error::io(path))?;
    after(Step::PutAside)?;
    let mended = suffixed(path, ".mended");
    for outdated in [&ready, &fresh, &mended] {
        remove(outdated).map_err(Error::io(outdated))?;
    }
    let mut repaired = Repaired { aside: Some(aside.clone()), ..Repaired::default() };
    {
        let source = readable_source(&aside, &mended)?;
        // Rows are copied into tables like those they come from, and migrated afterwards.
        let mut store = Store::open(&fresh, &salvage::tables_of(source, tables))?;
        let copied = salvage::copy(source, &mut store)?;
        (repaired.salvaged, repaired.damaged) = (copied.rows, copied.damaged);
        drop(store);
        let mut store = Store::open(&fresh, tables)?.deriving(sources.derived);
        store.write(observations::refresh_sessions)?;
        repaired.from_spool = Drain::unbounded(sources.spool).run_locked(&mut store, now)?.stored;
        repaired.from_transcripts = from_transcripts(&mut store, sources, &notes_of_forgotten(path))?;
        // Everything into the one file that is about to be moved.
        store.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    remove_companions(&fresh).map_err(Error::io(&fresh))?;
    remove(&mended).map_err(Error::io(&mended))?;
    after(Step::Made)?;
    fs::rename(&fresh, &ready).map_err(Error::io(&ready))?;
    after(Step::Ready)?;
    // SQLite would take the old log of changes for one of the new database.
    remove_companions(path).map_err(Error::io(path))?;
    after(Step::LogRemoved)?;
    fs::rename(&ready, path).map_err(Error::io(path))?;
    Ok(repaired)
}

/// Returns what is to be read in place of the damaged database: itself, or a copy with a sound header if that gives more.
fn readable_source<'p>(aside: &'p Path, mended: &'p Path) -> Result<&'p Path, Error> {
    if header::is_sound(aside) {
        return Ok(aside);
    }
    header::make_sound_copy(aside, mended).map_err(Error::io(mended))?;
    Ok(if salvage::count(mended) > salvage::count(aside) { mended } else { aside })
}

/// Says whether a repair was killed right before its last step, and the old database was not used since.
fn only_waits_for_its_place(ready: &Path, path: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let (Ok(made), Ok(used)) = (modified(ready), modified(path)) else { return false };
    used <= made && !COMPANIONS.iter().any(|companion| suffixed(path, companion).exists())
}

fn aside_at(path: &Path, now: Timestamp) -> PathBuf {
    let stamp: String = now.to_string().chars().filter(|letter| !matches!(letter, '-' | ':')).collect();
    suffixed(path, &format!("{ASIDE}{stamp}"))
}

/// Returns the database that was put aside last.
fn last_aside(path: &Path) -> Option<PathBuf> {
    let prefix = suffixed(Path::new(path.file_name()?), ASIDE);
    let prefix = prefix.to_str()?;
    let is_aside = |path: &PathBuf| {
        let stamp = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix(prefix));
        // Stamps have no hyphen; what lies beside a database, and what is half made, has one.
        stamp.is_some_and(|stamp| !stamp.contains('-'))
    };
    files::files_in(path.parent()?).into_iter().rfind(is_aside)
}

/// Gives the damaged database a second name, and puts copies of what lies beside it beside that. The name comes last:
/// where it is, all of it is.
fn put_aside(path: &Path, aside: &Path) -> io::Result<()> {
    for companion in COMPANIONS {
        let (from, to) = (suffixed(path, companion), suffixed(aside, companion));
        if from.exists() {
            replace_by_copy(&from, &to)?;
        } else {
            files::remove_if_there(&to)?;
        }
    }
    files::remove_if_there(aside)?;
    fs::hard_link(path, aside).or_else(|_| replace_by_copy(path, aside))
}

/// Copies a file; it is there whole or not at all.
fn replace_by_copy(from: &Path, to: &Path) -> io::Result<()> {
    let half = suffixed(to, "-half");
    drop(files::open_append(&half)?);
    fs::copy(from, &half)?;
    fs::rename(half, to)
}

/// Stores what the transcripts tell and the database does not know; returns how many observations.
fn from_transcripts(store: &mut Store, sources: &Sources<'_>, notes: &Path) -> Result<u64, Error> {
    // Without transcripts there is nothing to store.
    let Ok(import) = Import::of(sources.transcripts, sources.spool, &sources.rules) else { return Ok(0) };
    Ok(import.run_locked(store, Forgotten::read(notes), |_| ())?.stored)
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Removes a database with all that lies beside it.
fn remove(path: &Path) -> io::Result<()> {
    files::remove_if_there(path)?;
    remove_companions(path)
}

fn remove_companions(path: &Path) -> io::Result<()> {
    COMPANIONS.iter().try_for_each(|companion| files::remove_if_there(&suffixed(path, companion)).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Env, settings::Settings};

    const NOTES: Tables = Tables {
        owner: "test",
        migrations: &["CREATE TABLE notes (text TEXT) STRICT", "CREATE TABLE filler (text TEXT) STRICT"],
    };

    const TABLES: [Tables; 2] = [observations::TABLES, NOTES];

    /// Makes a database with damage in the middle and one note that is only in the log of changes. The database stays
    /// as it is for as long as the store is open.
    fn damaged(path: &Path) -> Store {
        let mut store = Store::open(path, &TABLES).unwrap();
        let write = |store: &mut Store, sql: &str| {
            store.write(|transaction| Ok::<_, Error>(transaction.execute(sql, [])?)).unwrap();
        };
        let filler =
            "INSERT INTO filler WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000)
            SELECT printf('%0200d', x) FROM n";
        write(&mut store, filler);
        store.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        write(&mut store, "INSERT INTO notes VALUES ('only in the log')");
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 3 * 4_096].fill(0xA5);
        fs::write(path, bytes).unwrap();
        store
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        files::files_in(folder).iter().map(name).collect()
    }

    #[test]
    fn a_repair_that_is_killed_after_any_step_is_completed_by_the_next() {
        for last in [Step::PutAside, Step::Made, Step::Ready, Step::LogRemoved] {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path().join("data");
            let path = data.join("wyren.db");
            let spool = Spool::new(folder.path().join("spool"));
            let env = Env::fixed::<String, String>([]);
            let rules = capture::Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env);
            let sources = Sources { spool: &spool, transcripts: Path::new("/nowhere"), rules, derived: &[] };
            let holder = damaged(&path);
            let at = |seconds: u64| Timestamp::from_millis(1_794_796_000_000 + seconds * 1_000);
            let killed = repair_in_steps(&path, &TABLES, &sources, at(0), |step| {
                if step == last { Err(Error::Busy) } else { Ok(()) }
            });
            assert!(matches!(killed, Err(Error::Busy)), "{last:?}: {killed:?}");
            let has_log = suffixed(&path, "-wal").exists();
            assert_eq!(has_log, last != Step::LogRemoved, "{last:?}: {:?}", names(&data));

            let repaired = repair(&path, &TABLES, &sources, at(1)).unwrap();
            let aside = repaired.aside.unwrap();
            assert!(suffixed(&aside, "-wal").exists(), "{last:?}: {:?}", names(&data));
            // What a later step would have replaced is put aside anew; evidence is not overwritten.
            let logs =
                names(&data).iter().filter(|name| name.contains(ASIDE) && name.ends_with("-wal")).count();
            let is_used_again = matches!(last, Step::Made | Step::LogRemoved);
            assert_eq!(logs, if is_used_again { 1 } else { 2 }, "{last:?}: {:?}", names(&data));
            drop(holder);
            let store = Store::open(&path, &TABLES).unwrap();
            store.check().unwrap();
            let count = |table: &str| -> i64 {
                let sql = format!("SELECT count(*) FROM {table}");
                store.connection().query_row(&sql, [], |row| row.get(0)).unwrap()
            };
            assert_eq!(count("notes"), 1, "{last:?}");
            assert!(count("filler") > 1_000, "{last:?}");
            assert!(!suffixed(&path, ".new").exists() && !suffixed(&path, ".ready").exists(), "{last:?}");
        }
    }

    #[test]
    fn a_new_database_that_is_older_than_the_last_use_of_the_old_one_is_not_put_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let (path, ready) = (folder.path().join("wyren.db"), folder.path().join("wyren.db.ready"));
        fs::write(&path, "used").unwrap();
        fs::write(&ready, "made").unwrap();
        let touch = |path: &Path, seconds: u64| {
            let time = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        touch(&ready, 2_000);
        touch(&path, 1_000);
        assert!(only_waits_for_its_place(&ready, &path));
        touch(&path, 3_000);
        assert!(!only_waits_for_its_place(&ready, &path));
        touch(&path, 1_000);
        fs::write(suffixed(&path, "-wal"), "").unwrap();
        assert!(!only_waits_for_its_place(&ready, &path));
    }
}
