//! Appending an observation: one line, one write, whatever else goes on.

use crate::observation::{Observation, VERSION};
use crate::unrecorded::{self, Unrecorded, Why};
use base::paths::PRIVATE_MARKER;
use base::{Timestamp, digest, files, system};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The longest line: what one append writes in one piece. A longer observation goes into a file of its own.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// How often a file is opened anew when it was drained and deleted in between.
const ATTEMPTS: usize = 8;
const MILLIS_PER_HOUR: u64 = 3_600_000;
/// What is in the mark of a subagent that began under a private prompt.
const SUBAGENT: &[u8] = b"subagent";

/// Why an observation could not be kept.
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
    /// It cannot be written as JSON.
    #[error("could not write the observation as JSON")]
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
    /// Returns the spool in `folder`; nothing is created before the first observation.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the spool's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends an observation. When this returns `Ok`, it survives the death of any process.
    pub fn append(&self, observation: &Observation<'_>) -> Result<(), Error> {
        self.line(observation)?.append()
    }

    /// Returns the line of an observation, to be appended later.
    pub(crate) fn line(&self, observation: &Observation<'_>) -> Result<Line, Error> {
        let session = self.session_folder(&observation.session);
        let file = session.join(file_name(Timestamp::from_millis(observation.at)));
        // The line begins with a line end as well: should an earlier writer have been killed within its line, or
        // have run out of disk, this one is whole all the same.
        let mut text = Vec::with_capacity(1_024);
        text.push(b'\n');
        serde_json::to_writer(&mut text, observation)?;
        // Values are kept as the client wrote them, and JSON allows line ends between them.
        while let Some(at) = memchr::memchr(b'\n', &text[1..]) {
            text[1 + at] = b' ';
        }
        Ok(Line { session, file, text })
    }

    /// Notes whether the session's last prompt was wholly private: then nothing under it is recorded. Says whether the one before
    /// it was and this one is not.
    pub fn set_private(&self, session: &str, is_private: bool) -> Result<bool, Error> {
        let folder = self.session_folder(session);
        let marker = folder.join(PRIVATE_MARKER);
        let done = if is_private {
            files::open_append(&marker).map(|_| false)
        } else {
            files::remove_if_there(&marker)
        };
        done.map_err(|error| Error::of(&marker, error))
    }

    /// Notes that a subagent began under a wholly private prompt. The mark has a word in it, and no prompt takes it away.
    pub fn set_subagent_private(&self, agent: &str) -> Result<(), Error> {
        let marker = self.session_folder(agent).join(PRIVATE_MARKER);
        let noted = files::open_append(&marker).and_then(|mut file| file.write_all(SUBAGENT));
        noted.map_err(|error| Error::of(&marker, error))
    }

    /// Says whether the session's last prompt was wholly private.
    pub fn is_private(&self, session: &str) -> bool {
        self.session_folder(session).join(PRIVATE_MARKER).exists()
    }

    /// Notes that a prompt is left out, for what reads the client's transcript later.
    pub(crate) fn leave_out(&self, prompt_id: &str, why: Why) -> Result<(), Error> {
        let (file, noted) = unrecorded::note(&self.folder, prompt_id, why);
        noted.map_err(|error| Error::of(&file, error))
    }

    /// Returns which prompts were left out.
    pub fn unrecorded(&self) -> Unrecorded {
        Unrecorded::read(&self.folder)
    }

    pub(crate) fn session_folder(&self, session: &str) -> PathBuf {
        self.folder.join(digest::short_hex(session.as_bytes()))
    }
}

/// A line that is ready to be appended.
#[derive(Debug)]
pub(crate) struct Line {
    session: PathBuf,
    file: PathBuf,
    text: Vec<u8>,
}

impl Line {
    /// Appends the line; what is too long for one goes into a file of its own first.
    pub(crate) fn append(mut self) -> Result<(), Error> {
        if self.text.len() > MAX_LINE_BYTES {
            let bulk = write_bulk(&self.session, &self.text[1..])?;
            self.text.truncate(1);
            serde_json::to_writer(&mut self.text, &Pointer { version: VERSION, bulk: bulk.into() })?;
        }
        self.text.push(b'\n');
        append_line(&self.file, &self.text).map_err(|error| Error::of(&self.file, error))
    }
}

/// A line that says where its observation is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pointer<'a> {
    #[serde(rename = "v")]
    pub(crate) version: u32,
    /// The name of the file in `bulk/`.
    #[serde(borrow)]
    pub(crate) bulk: Cow<'a, str>,
}

/// The folder of the observations that are too long for a line.
pub(crate) const BULK: &str = "bulk";

/// Returns the name of the file for observations of this hour.
fn file_name(at: Timestamp) -> String {
    format!("{}.jsonl", at.millis() / MILLIS_PER_HOUR)
}

fn write_bulk(session: &Path, observation: &[u8]) -> Result<String, Error> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{}-{number}.json", Timestamp::now().millis(), std::process::id());
    let path = session.join(BULK).join(&name);
    // Written before the line that points to it: a pointer never leads nowhere.
    files::write_atomic(&path, observation).map_err(|error| Error::of(&path, error))?;
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
        system::lock_shared(&file)?;
        // The drain may have deleted the file between our opening and locking it: the line would never be read.
        if system::is_deleted(&file, &file.metadata()?)? {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Data, Prompt};
    use serde_json::value::RawValue;
    use std::fs;

    fn prompt<'a>(session: &'a str, id: &'a str, text: &'a str) -> Observation<'a> {
        let data = Data::Prompt(Prompt { text: text.into(), ..Prompt::default() });
        Observation {
            cwd: "/home/dev/project".into(),
            ..Observation::new(session, id, 1_794_796_001_123, data)
        }
    }

    #[test]
    fn an_observation_is_one_line_in_the_file_of_its_hour() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        spool.append(&prompt("s", "p:1", "hello")).unwrap();
        let file = spool.session_folder("s").join("498554.jsonl");
        let text = fs::read_to_string(file).unwrap();
        let expected = concat!(
            r#"{"v":2,"kind":"prompt","id":"p:1","ts":1794796001123,"session":"s","cwd":"/home/dev/project","#,
            r#""data":{"text":"hello"}}"#
        );
        assert_eq!(text, format!("\n{expected}\n"));
    }

    #[test]
    fn a_long_observation_goes_into_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let text = "x".repeat(MAX_LINE_BYTES);
        spool.append(&prompt("s", "p:1", &text)).unwrap();
        let session = spool.session_folder("s");
        let line = fs::read_to_string(session.join("498554.jsonl")).unwrap();
        let pointer: Pointer<'_> = serde_json::from_str(line.trim()).unwrap();
        let bulk = fs::read_to_string(session.join(BULK).join(&*pointer.bulk)).unwrap();
        let observation = Observation::read(bulk.as_bytes()).unwrap();
        assert_eq!(observation.data.json().unwrap().get(), format!(r#"{{"text":"{text}"}}"#));
    }

    #[test]
    fn a_value_that_is_written_on_several_lines_becomes_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        let input = RawValue::from_string("{\n \"command\":\n \"ls\"\n}".to_owned()).unwrap();
        let data = Data::Tool(crate::observation::ToolCall { input: Some(&input), ..Default::default() });
        spool.append(&Observation { data, ..prompt("s", "t:1", "") }).unwrap();
        let lines = spool.files().unwrap()[0].read(0, 10, 10_000).unwrap().lines;
        assert_eq!(lines.len(), 1);
        assert!(Observation::read(&lines[0]).is_some());
    }

    #[test]
    fn a_file_that_was_deleted_under_a_writer_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let stale = files::open_append(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(system::is_deleted(&stale, &stale.metadata().unwrap()).unwrap());
        append_line(&path, b"\nx\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\nx\n");
    }

    #[test]
    fn the_last_prompt_decides_what_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        assert!(!spool.is_private("s"));
        assert!(!spool.set_private("s", true).unwrap());
        assert!(spool.is_private("s") && !spool.is_private("other"));
        assert!(spool.set_private("s", false).unwrap());
        assert!(!spool.is_private("s"));
        assert!(!spool.set_private("s", false).unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_recognised() {
        let error = append_line(Path::new("/dev/full"), b"\nx\n").unwrap_err();
        assert!(matches!(Error::of(Path::new("/dev/full"), error), Error::DiskFull));
    }
}
