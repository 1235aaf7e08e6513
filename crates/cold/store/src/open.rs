//! Opening the database.

use crate::derived::Derived;
use crate::schema::{self, Standing, Tables};
use base::files;
use base::lock::Lock;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a statement waits for another program's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// For how long opening is tried again when SQLite refuses without having waited, and the pause in between.
const PATIENCE: Duration = Duration::from_millis(500);
const REFUSAL_PAUSE: Duration = Duration::from_millis(20);

/// At how many pages the log of changes is moved into the database: SQLite's own default, and one for bulk work.
const CHECKPOINT_PAGES: u64 = 1_000;
const BULK_CHECKPOINT_PAGES: u64 = 16_000;
/// The memory for bulk work; negative means KiB.
const BULK_CACHE: i64 = -16_384;

/// Why the database could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not a database, or a damaged one.
    #[error("{} is damaged", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is empty, and was not when it was last used.
    #[error("{} is empty, but should not be", .0.display())]
    Emptied(PathBuf),
    /// Something else is in the file's place.
    #[error("{} {problem}. Move it away and try again: mv '{}' '{}.aside'", path.display(), path.display(), path.display())]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What is wrong with what is there.
        problem: &'static str,
    },
    /// Another program holds it for too long.
    #[error("the database is locked by another program")]
    Locked(#[source] rusqlite::Error),
    /// A later program made it; nothing was changed.
    #[error("the database was made by a later version of Wyren ({owner}); it can be read, but not changed")]
    ReadOnly {
        /// Whose tables are ahead.
        owner: &'static str,
    },
    /// A file could not be created, read or written.
    #[error("could not use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite refused for another reason.
    #[error("the database refused")]
    Sqlite(#[source] rusqlite::Error),
    /// Another process keeps changing observations.
    #[error("another wyren is at work on the same data; try again when it is done")]
    Busy,
    /// What should have been stored is not what it claims to be.
    #[error("could not understand a stored value")]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// Returns what turns the system's error about `path` into this one.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::IsADirectory => Self::WrongKind { path, problem: "is a folder" },
            io::ErrorKind::NotADirectory => {
                Self::WrongKind { path: file_on_the_way(path), problem: "is not a folder" }
            }
            _ => Self::Io { path, source },
        }
    }

    /// Says whether the database is damaged, so that it has to be repaired.
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Emptied(_))
    }
}

/// Returns the part of a path that is a file, where a folder should be.
fn file_on_the_way(path: PathBuf) -> PathBuf {
    let file = path.ancestors().find(|part| part.is_file()).map(Path::to_owned);
    file.unwrap_or(path)
}

/// Says whether the database was emptied: the file is there without contents, and a program has noted that it was made.
pub(crate) fn is_emptied(path: &Path) -> bool {
    let length =
        |path: &Path| std::fs::metadata(path).ok().filter(|file| file.is_file()).map(|file| file.len());
    length(path) == Some(0) && length(&lock_of_maker(path)).is_some_and(|length| length > 0)
}

/// Notes that the database is made, so that an empty one is not taken for one that was only begun. Without the note
/// nothing is wrong but that.
fn note_made(path: &Path) {
    let note = lock_of_maker(path);
    if std::fs::metadata(&note).map_or(true, |file| file.len() == 0) {
        let _ = files::open_append(&note).and_then(|mut file| file.write_all(b"made\n"));
    }
}

/// Returns the lock of who makes or migrates the database; it stays there, with the note that it is made.
fn lock_of_maker(path: &Path) -> PathBuf {
    path.with_extension("making")
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path: PathBuf::from("the database"), source: error }
            }
            _ => Self::Sqlite(error),
        }
    }
}

/// How long a hook waits for another program's transaction.
const HOOK_BUSY_TIMEOUT: Duration = Duration::from_millis(20);
/// What `PRAGMA auto_vacuum` says where free pages can be given back a few at a time.
const INCREMENTAL: i64 = 2;

/// The open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    ahead: Option<&'static str>,
    derived: &'static [&'static dyn Derived],
    /// How long a statement waits for another program's transaction.
    patience: Duration,
}

impl Store {
    /// Opens the database at `path`, creating it where there is none, and brings `tables` up to date.
    pub fn open(path: &Path, tables: &[Tables]) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::WrongKind { path: path.to_owned(), problem: "is a folder" });
        }
        if is_emptied(path) {
            return Err(Error::Emptied(path.to_owned()));
        }
        let began = Instant::now();
        let mut opened = Self::open_file(path, tables);
        // While another program makes the database or changes its mode, SQLite refuses at once instead of waiting.
        while matches!(opened, Err(Error::Locked(_) | Error::Sqlite(_))) && began.elapsed() < PATIENCE {
            std::thread::sleep(REFUSAL_PAUSE);
            opened = Self::open_file(path, tables);
        }
        if opened.as_ref().is_ok_and(|store| store.ahead.is_none()) {
            note_made(path);
        }
        opened.map_err(|error| match error {
            Error::Corrupt { source, .. } => Error::Corrupt { path: path.to_owned(), source },
            other => other,
        })
    }

    /// Opens the database for a hook, which has no time to make or migrate one, nor to tidy up when it closes it: what it
    /// wrote stays in the log of changes. Returns `None` where the database is missing, is made for an earlier or a later
    /// program, or is locked for more than 20 ms.
    pub fn open_for_hook(path: &Path, tables: &[Tables]) -> Result<Option<Self>, Error> {
        match Self::open_as_it_is(path, HOOK_BUSY_TIMEOUT) {
            Ok(Some(store)) => match store.hurry().and_then(|()| schema::standing(&store.connection, tables))
            {
                Ok(Standing::Current) => Ok(Some(store)),
                Ok(Standing::Behind | Standing::Ahead { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            },
            opened => opened,
        }
        .or_else(|error| if matches!(error, Error::Locked(_)) { Ok(None) } else { Err(error) })
    }

    /// Makes the connection one for a few short questions: pages are read where the system has them, since a copy of each
    /// costs several system calls, and a statement is planned once, whatever values it gets.
    fn hurry(&self) -> rusqlite::Result<()> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        self.connection.execute_batch("PRAGMA mmap_size = 1073741824")
    }

    /// Opens the database at `path` without changing anything, whatever its schema; `None` where there is none.
    pub(crate) fn open_as_it_is(path: &Path, busy_timeout: Duration) -> Result<Option<Self>, Error> {
        // There is nothing in an empty one, and SQLite would delete the log beside it.
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
            return Ok(None);
        }
        if path.is_dir() {
            return Err(Error::WrongKind { path: path.to_owned(), problem: "is a folder" });
        }
        let connection = match Connection::open_with_flags(path, FLAGS) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !path.exists() => {
                return Ok(None);
            }
            connection => connection?,
        };
        connection.busy_timeout(busy_timeout)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute_batch(SETTINGS)?;
        Ok(Some(Self { connection, ahead: None, derived: &[], patience: busy_timeout }))
    }

    fn open_file(path: &Path, tables: &[Tables]) -> Result<Self, Error> {
        let mut connection = connect(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let ahead = match schema::standing(&connection, tables)? {
            Standing::Current => None,
            Standing::Ahead { owner } => Some(owner),
            Standing::Behind => {
                // One program at a time: two that change the mode at once are both refused. The mode is kept in the
                // file, so it is set once.
                let lock = lock_of_maker(path);
                let _lock = Lock::exclusive(&lock, BUSY_TIMEOUT)
                    .map_err(|source| Error::Io { path: lock, source })?;
                // Has to come first: it says how the file is laid out.
                connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
                connection.pragma_update(None, "journal_mode", "WAL")?;
                schema::migrate(&mut connection, tables)?;
                if !gives_back_pages(&connection)? {
                    // A database of the first version: once is enough. Killed here, the next forgetting does it.
                    let _ = connection.execute_batch("VACUUM");
                }
                None
            }
        };
        connection.execute_batch(SETTINGS)?;
        if ahead.is_some() {
            connection.pragma_update(None, "query_only", true)?;
        }
        Ok(Self { connection, ahead, derived: &[], patience: BUSY_TIMEOUT })
    }

    /// Reads the whole database and says whether it is sound; takes about as long as reading the file does.
    pub fn check(&self) -> Result<(), Error> {
        let found: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found == "ok" {
            return Ok(());
        }
        let path = PathBuf::from(self.connection.path().unwrap_or_default());
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Err(Error::Corrupt { path, source: rusqlite::Error::SqliteFailure(corrupt, Some(found)) })
    }

    /// Runs `work` without waiting for anything: neither for other programs' transactions nor for the disk.
    pub(crate) fn without_waiting<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.connection.busy_timeout(Duration::ZERO)?;
        self.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let result = work(self);
        self.connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        self.connection.busy_timeout(self.patience)?;
        result
    }

    /// Runs `work` that changes much. The log of changes is moved into the database rarely, which means waiting for the
    /// disk, and at the end, so that no other program has to do it.
    pub(crate) fn in_bulk<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.connection.pragma_update(None, "wal_autocheckpoint", BULK_CHECKPOINT_PAGES)?;
        // A transaction that fits into memory writes each page once.
        self.connection.pragma_update(None, "cache_size", BULK_CACHE)?;
        let before = self.connection.total_changes();
        let result = work(self);
        if self.connection.total_changes() - before > CHECKPOINT_PAGES {
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        self.connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        result
    }

    /// Derives these tables; without, it derives none.
    #[must_use]
    pub fn deriving(self, derived: &'static [&'static dyn Derived]) -> Self {
        Self { derived, ..self }
    }

    /// Returns what is derived from observations.
    pub fn derived(&self) -> &'static [&'static dyn Derived] {
        self.derived
    }

    /// Gives the pages that are no longer used back to the disk. Deleted text is overwritten when it is deleted.
    pub(crate) fn give_back_pages(&self) -> Result<(), Error> {
        if gives_back_pages(&self.connection)? {
            // Gives back one page for each row that is read.
            let mut vacuum = self.connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            return Ok(());
        }
        self.vacuum()
    }

    /// Writes the whole database anew.
    pub(crate) fn vacuum(&self) -> Result<(), Error> {
        self.connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
        Ok(self.connection.execute_batch("VACUUM")?)
    }

    /// Returns the connection, for reading.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Says whose tables a later version of Wyren has changed; the database can then only be read.
    pub fn ahead(&self) -> Option<&'static str> {
        self.ahead
    }

    /// Changes the database: all of `change` or nothing of it.
    pub fn write<T, E: From<Error>>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(owner) = self.ahead {
            return Err(Error::ReadOnly { owner }.into());
        }
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(Error::from)?;
        let result = change(&transaction)?;
        transaction.commit().map_err(Error::from)?;
        Ok(result)
    }
}

const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
/// What holds for a connection, not for the file. Whatever is deleted is overwritten: it may have been forgotten.
const SETTINGS: &str = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON";

fn gives_back_pages(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: i64 = connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?;
    Ok(mode == INCREMENTAL)
}

/// Connects to the file, which is made where there is none: by us, since SQLite would make it readable for others.
fn connect(path: &Path) -> Result<Connection, Error> {
    match Connection::open_with_flags(path, FLAGS) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            // It is not made yet, whatever was there before.
            let _ = File::options().write(true).truncate(true).open(lock_of_maker(path));
            files::open_append(path).map_err(Error::io(path))?;
            Ok(Connection::open_with_flags(path, FLAGS)?)
        }
        connection => Ok(connection?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Tables = Tables { owner: "test", migrations: &["CREATE TABLE a (x INTEGER) STRICT"] };
    const TWO: Tables = Tables {
        owner: "test",
        migrations: &["CREATE TABLE a (x INTEGER) STRICT", "ALTER TABLE a ADD COLUMN y TEXT"],
    };

    fn count(store: &Store) -> i64 {
        store.connection().query_row("SELECT count(*) FROM a", [], |row| row.get(0)).unwrap()
    }

    fn insert(store: &mut Store) -> Result<(), Error> {
        store.write(|transaction| {
            transaction.execute("INSERT INTO a (x) VALUES (1)", [])?;
            Ok(())
        })
    }

    #[test]
    fn migrations_go_forward_and_keep_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/wyren.db");
        insert(&mut Store::open(&path, &[ONE]).unwrap()).unwrap();
        let mut store = Store::open(&path, &[TWO]).unwrap();
        assert_eq!(count(&store), 1);
        insert(&mut store).unwrap();
        assert_eq!(count(&Store::open(&path, &[TWO]).unwrap()), 2);
    }

    #[test]
    fn a_newer_database_can_be_read_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        insert(&mut Store::open(&path, &[TWO]).unwrap()).unwrap();
        let mut store = Store::open(&path, &[ONE]).unwrap();
        assert_eq!(store.ahead(), Some("test"));
        assert_eq!(count(&store), 1);
        assert!(matches!(insert(&mut store), Err(Error::ReadOnly { owner: "test" })));
        assert!(store.connection().execute("INSERT INTO a (x) VALUES (1)", []).is_err());
    }

    #[test]
    fn a_foreign_or_damaged_file_is_recognised_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        std::fs::write(&path, "this is not a database, however long it may be; ".repeat(100)).unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = Store::open(&path, &[ONE]).unwrap_err();
        assert!(matches!(&error, Error::Corrupt { path: named, .. } if *named == path), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_change_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("wyren.db"), &[ONE]).unwrap();
        let result: Result<(), Error> = store.write(|transaction| {
            transaction.execute("INSERT INTO a (x) VALUES (1)", [])?;
            transaction.execute("INSERT INTO nowhere VALUES (1)", [])?;
            Ok(())
        });
        assert!(result.is_err());
        assert_eq!(count(&store), 0);
    }

    #[test]
    fn programs_that_start_at_once_migrate_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Store::open(&path, &[TWO]).unwrap());
            }
        });
        assert_eq!(count(&Store::open(&path, &[TWO]).unwrap()), 0);
    }

    #[test]
    fn a_hook_gets_nothing_from_a_missing_an_earlier_and_a_later_database_and_changes_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        assert!(Store::open_for_hook(&path, &[ONE]).unwrap().is_none());
        assert!(!path.exists());
        drop(Store::open(&path, &[ONE]).unwrap());
        std::fs::remove_file(path.with_extension("making")).unwrap();
        assert!(Store::open_for_hook(&path, &[TWO]).unwrap().is_none(), "earlier");
        assert!(Store::open_for_hook(&path, &[ONE]).unwrap().is_some());
        assert!(!path.with_extension("making").exists());
        drop(Store::open(&path, &[TWO]).unwrap());
        assert!(Store::open_for_hook(&path, &[ONE]).unwrap().is_none(), "later");
    }

    #[test]
    fn a_hook_does_not_wait_for_a_locked_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        let store = Store::open(&path, &[ONE]).unwrap();
        store.connection().execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
        store.connection().execute("INSERT INTO a (x) VALUES (1)", []).unwrap();
        let began = Instant::now();
        assert!(Store::open_for_hook(&path, &[ONE]).unwrap().is_none());
        assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    }

    #[test]
    fn a_database_gives_back_what_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        let mut store = Store::open(&path, &[TWO]).unwrap();
        let size = |store: &Store| -> i64 {
            store.connection().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap()
        };
        let empty = size(&store);
        let fill = "INSERT INTO a (y) VALUES (hex(zeroblob(500000)))";
        store.write(|transaction| Ok::<_, Error>(transaction.execute(fill, [])?)).unwrap();
        assert!(size(&store) > empty + 200);
        store.write(|transaction| Ok::<_, Error>(transaction.execute("DELETE FROM a", [])?)).unwrap();
        store.give_back_pages().unwrap();
        assert_eq!(size(&store), empty);
    }

    #[cfg(unix)]
    #[test]
    fn the_files_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/wyren.db");
        let mut store = Store::open(&path, &[ONE]).unwrap();
        insert(&mut store).unwrap();
        for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", entry.path().display());
        }
    }
}
