//! Appending an event: one line, one write, whatever else goes on.

use crate::event::{Event, Pointer, VERSION};
use base::paths::PRIVATE_MARKER;
use base::{Timestamp, digest, files};
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The longest line: what one append writes in one piece. A longer event goes into a file of its own.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// How often a file is opened anew when it was drained and deleted in between.
const ATTEMPTS: usize = 8;
const MILLIS_PER_HOUR: u64 = 3_600_000;

/// Why an event could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no room; capture pauses until there is.
    #[error("the disk is full")]
    DiskFull,
    /// The file system refused.
    #[error("could not append to {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The event cannot be written as JSON.
    #[error("could not write the event as JSON")]
    Json(#[from] serde_json::Error),
}

impl Error {
    fn of(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::DiskFull,
            _ => Self::Io { path: path.to_owned(), source },
        }
    }
}

/// The spool of one user.
#[derive(Clone, Debug)]
pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// Returns the spool in `folder`; nothing is created before the first event.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the spool's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends an event. When this returns `Ok`, the event survives the death of any process.
    pub fn append(&self, event: &Event<'_>) -> Result<(), Error> {
        let session = self.session_folder(&event.session);
        let file = session.join(file_name(Timestamp::from_millis(event.at)));
        // The line begins with a line end as well: should an earlier writer have been killed within its line, or
        // have run out of disk, this one still stands on its own.
        let mut line = Vec::with_capacity(1_024);
        line.push(b'\n');
        serde_json::to_writer(&mut line, event)?;
        if line.len() > MAX_LINE_BYTES {
            let bulk = write_bulk(&session, &line[1..])?;
            line.truncate(1);
            serde_json::to_writer(&mut line, &Pointer { version: VERSION, bulk: bulk.into() })?;
        }
        line.push(b'\n');
        append_line(&file, &line).map_err(|error| Error::of(&file, error))
    }

    /// Notes whether the session's last prompt was wholly private: then nothing under it is recorded.
    pub fn set_private(&self, session: &str, is_private: bool) -> Result<(), Error> {
        let folder = self.session_folder(session);
        let marker = folder.join(PRIVATE_MARKER);
        let done = if is_private {
            files::open_append(&marker).map(|_| ())
        } else {
            files::remove_if_there(&marker).map(|_| ())
        };
        done.map_err(|error| Error::of(&marker, error))
    }

    /// Says whether the session's last prompt was wholly private.
    pub fn is_private(&self, session: &str) -> bool {
        self.session_folder(session).join(PRIVATE_MARKER).exists()
    }

    pub(crate) fn session_folder(&self, session: &str) -> PathBuf {
        self.folder.join(digest::short_hex(session.as_bytes()))
    }
}

/// The folder of the events that are too long for a line.
pub(crate) const BULK: &str = "bulk";

/// Returns the name of the file for events of this hour.
fn file_name(at: Timestamp) -> String {
    format!("{}.jsonl", at.millis() / MILLIS_PER_HOUR)
}

fn write_bulk(session: &Path, event: &[u8]) -> Result<String, Error> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{}-{number}.json", Timestamp::now().millis(), std::process::id());
    let path = session.join(BULK).join(&name);
    // Written before the line that points to it: a pointer never leads nowhere.
    files::write_atomic(&path, event).map_err(|error| Error::of(&path, error))?;
    Ok(name)
}

/// Appends a line in one write, under a shared lock that keeps the drain from deleting the file meanwhile.
fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        let mut file = match files::open_append(path) {
            Ok(file) => file,
            // The drain removed the session's empty folder between our making it and opening the file in it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        file.lock_shared()?;
        // The drain may have deleted the file between our opening and locking it: nobody would read the line.
        if is_deleted(&file)? {
            continue;
        }
        let written = file.write(line)?;
        if written == line.len() {
            return Ok(());
        }
        // A part went in: the disk is full, or as good as.
        return Err(ErrorKind::StorageFull.into());
    }
    Err(io::Error::other("the file is deleted whenever it is opened"))
}

#[cfg(unix)]
fn is_deleted(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) == 0)
}

/// Says no: elsewhere an open file cannot be deleted.
#[cfg(not(unix))]
fn is_deleted(_file: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use std::fs;

    pub(super) fn prompt<'a>(session: &'a str, id: &'a str, text: &'a str) -> Event<'a> {
        Event {
            version: VERSION,
            kind: Kind::Prompt,
            id: id.into(),
            at: 1_794_796_001_123,
            session: session.into(),
            cwd: "/home/dev/project".into(),
            agent: None,
            agent_type: None,
            prompt: Some(text.into()),
            tool: None,
            tool_use_id: None,
            input: None,
            output: None,
            error: None,
            duration_ms: None,
        }
    }

    #[test]
    fn an_event_is_one_line_in_the_file_of_its_hour() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        spool.append(&prompt("s", "p:1", "hello")).unwrap();
        let file = spool.session_folder("s").join("498554.jsonl");
        let text = fs::read_to_string(file).unwrap();
        let expected = concat!(
            r#"{"v":1,"kind":"prompt","id":"p:1","ts":1794796001123,"session":"s","cwd":"/home/dev/project","#,
            r#""prompt":"hello"}"#
        );
        assert_eq!(text, format!("\n{expected}\n"));
    }

    #[test]
    fn a_long_event_goes_into_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let text = "x".repeat(MAX_LINE_BYTES);
        spool.append(&prompt("s", "p:1", &text)).unwrap();
        let session = spool.session_folder("s");
        let line = fs::read_to_string(session.join("498554.jsonl")).unwrap();
        let pointer: Pointer<'_> = serde_json::from_str(line.trim()).unwrap();
        let bulk = fs::read_to_string(session.join(BULK).join(&*pointer.bulk)).unwrap();
        let event: Event<'_> = serde_json::from_str(&bulk).unwrap();
        assert_eq!(event.prompt.as_deref(), Some(&*text));
    }

    #[test]
    fn a_file_that_was_deleted_under_a_writer_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let stale = files::open_append(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(is_deleted(&stale).unwrap());
        append_line(&path, b"\nx\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\nx\n");
    }

    #[test]
    fn the_last_prompt_decides_what_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        assert!(!spool.is_private("s"));
        spool.set_private("s", true).unwrap();
        assert!(spool.is_private("s") && !spool.is_private("other"));
        spool.set_private("s", false).unwrap();
        assert!(!spool.is_private("s"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_apart() {
        let error = append_line(Path::new("/dev/full"), b"\nx\n").unwrap_err();
        assert!(matches!(Error::of(Path::new("/dev/full"), error), Error::DiskFull));
    }
}
