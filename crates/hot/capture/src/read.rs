//! Reading the spool back: which files there are, what they hold beyond an offset; and taking lines or files away.

use crate::write::{BULK, Pointer, Spool};
use base::lock::Lock;
use base::paths::PRIVATE_MARKER;
use base::{Timestamp, files, system};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file that is fully drained is deleted once no process can still be about to write to it.
const DELETE_AFTER_MILLIS: u64 = 2 * 3_600_000;
/// When a subagent that began under a private prompt has certainly ended.
const SUBAGENT_ENDED: Duration = Duration::from_secs(7 * 24 * 3_600);
/// How long to wait for writers before lines are taken out of a file; each needs some microseconds.
const WRITER_PATIENCE: Duration = Duration::from_secs(5);

/// One file of observations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpoolFile {
    /// Where it is below the spool's folder: `<session>/<hour>.jsonl`.
    pub name: String,
    path: PathBuf,
}

/// What was read of a file.
#[derive(Debug, Default)]
pub struct Batch {
    /// The lines, without their ends and without empty ones; long ones are already in their place.
    pub lines: Vec<Vec<u8>>,
    /// Where to go on: behind the last whole line that was read.
    pub offset: u64,
    /// Whether everything that was there has been read.
    pub is_complete: bool,
}

impl Spool {
    /// Returns the files of the spool, oldest hour of each session first; what cannot be one is passed over.
    pub fn files(&self) -> io::Result<Vec<SpoolFile>> {
        self.files_and_skipped().map(|(files, _)| files)
    }

    /// Returns the files of the spool, oldest hour of each session first, and how many entries were passed over: folders
    /// that cannot be read, and what is only named like a file.
    pub fn files_and_skipped(&self) -> io::Result<(Vec<SpoolFile>, u64)> {
        let mut files = Vec::new();
        let mut skipped = 0;
        for session in read_folder(self.folder())? {
            match self.files_of(&session) {
                Ok(of_session) => files.extend(of_session),
                Err(_) => skipped += 1,
            }
        }
        let before = files.len();
        files.retain(|file| !file.is_something_else());
        skipped += (before - files.len()) as u64;
        files.sort();
        Ok((files, skipped))
    }

    /// Returns the files of one session, oldest hour first.
    pub fn files_of_session(&self, session: &str) -> io::Result<Vec<SpoolFile>> {
        let mut files = self.files_of(&self.session_folder(session))?;
        files.retain(|file| !file.is_something_else());
        files.sort();
        Ok(files)
    }

    fn files_of(&self, session: &Path) -> io::Result<Vec<SpoolFile>> {
        let mut paths = read_folder(session)?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let file = |path: PathBuf| {
            let name = path.strip_prefix(self.folder()).unwrap_or(&path);
            SpoolFile { name: name.to_string_lossy().into_owned(), path }
        };
        Ok(paths.into_iter().map(file).collect())
    }

    /// Deletes the long observations that `keep` refuses, whether a line points to them or their writer was killed before it
    /// could write one; returns how many. What cannot be read keeps none of the others.
    pub fn retain_bulk(&self, mut keep: impl FnMut(&[u8]) -> bool) -> io::Result<usize> {
        let mut removed = Ok(0);
        for session in read_folder(self.folder())? {
            let bulks = match read_folder(&session.join(BULK)) {
                Ok(bulks) => bulks,
                Err(error) => {
                    removed = removed.and(Err(error));
                    continue;
                }
            };
            for path in bulks {
                match remove_unless(&path, &mut keep) {
                    Ok(is_removed) => removed = removed.map(|count| count + usize::from(is_removed)),
                    Err(error) => removed = removed.and(Err(error)),
                }
            }
        }
        removed
    }

    /// Deletes what writers that were killed have left and no line points to: long observations, and files that were never
    /// finished. What is younger than `min_age` may still get its line. Returns how many files went; what cannot be
    /// looked at stays. The caller holds the lock that keeps others from deleting lines.
    pub fn sweep(&self, min_age: Duration, now: Timestamp) -> io::Result<usize> {
        let mut removed = 0;
        for session in read_folder(self.folder())? {
            removed += self.sweep_session(&session, min_age, now).unwrap_or_default();
        }
        Ok(removed)
    }

    fn sweep_session(&self, session: &Path, min_age: Duration, now: Timestamp) -> io::Result<usize> {
        let marker = session.join(PRIVATE_MARKER);
        let is_subagents = fs::metadata(&marker).is_ok_and(|metadata| metadata.len() > 0);
        if is_subagents && age(&marker, now).is_ok_and(|age| age >= SUBAGENT_ENDED.max(min_age)) {
            fs::remove_file(&marker)?;
            remove_if_empty(session);
        }
        // Looked for before the lines are read: a line that comes meanwhile points to a file that is not among these.
        let mut leftovers = read_folder(&session.join(BULK))?;
        leftovers.extend(read_folder(session)?.into_iter().filter(|path| is_temporary(path)));
        leftovers.retain(|path| age(path, now).is_ok_and(|age| age >= min_age));
        if leftovers.is_empty() {
            return Ok(0);
        }
        let mut files = self.files_of(session)?;
        files.retain(|file| !file.is_something_else());
        let mut pointed_to = HashSet::new();
        for file in &files {
            let text = fs::read(&file.path)?;
            pointed_to
                .extend(text.split(|byte| *byte == b'\n').filter_map(|line| file.bulk_of(line.trim_ascii())));
        }
        leftovers.retain(|path| !pointed_to.contains(path));
        let removed = leftovers.iter().filter(|path| fs::remove_file(path).is_ok()).count();
        if files.is_empty() {
            remove_if_empty(session);
        }
        Ok(removed)
    }
}

/// Says whether this is a file that was to replace another one.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && files::is_temporary(&name)
}

fn age(path: &Path, now: Timestamp) -> io::Result<Duration> {
    let modified = Timestamp::from(fs::metadata(path)?.modified()?);
    Ok(Duration::from_millis(now.millis_since(modified)))
}

/// Deletes a file whose contents `keep` refuses; says whether it did.
fn remove_unless(path: &Path, keep: impl FnOnce(&[u8]) -> bool) -> io::Result<bool> {
    let Some(observation) = files::read_if_there(path)? else { return Ok(false) };
    if keep(&observation) {
        return Ok(false);
    }
    fs::remove_file(path).map(|()| true)
}

impl SpoolFile {
    /// Says whether this is only named like a file: a folder, or a pipe, which would be waited for.
    fn is_something_else(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file())
    }

    /// Returns how many bytes the file has; none when it is gone.
    pub fn size(&self) -> io::Result<u64> {
        match fs::metadata(&self.path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Reads whole lines from `offset` on: at most `most_lines` and about `most_bytes`. Unless the batch is complete, its
    /// offset is beyond the one it began with. A long observation that cannot be read just now ends the batch before it, and is
    /// an error when it comes first.
    pub fn read(&self, offset: u64, most_lines: usize, most_bytes: usize) -> io::Result<Batch> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Batch { offset, is_complete: true, ..Batch::default() });
            }
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        let mut limit = most_bytes as u64;
        let end = loop {
            let read = (&mut file).take(limit).read_to_end(&mut bytes)? as u64;
            match memchr::memrchr(b'\n', &bytes) {
                Some(last) => break last + 1,
                // A writer is still at its line, or the line is longer than we wanted to read.
                None if read < limit => return Ok(Batch { offset, is_complete: true, ..Batch::default() }),
                None => limit *= 2,
            }
        };
        let mut batch = Batch { offset, ..Batch::default() };
        let mut held = 0;
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &bytes[..end]) {
            // A short line may stand for a long observation: what counts is what has to be held.
            if batch.lines.len() == most_lines || held >= most_bytes {
                return Ok(batch);
            }
            let line = &bytes[start..newline];
            start = newline + 1;
            if !line.is_empty() {
                let observation = match self.resolve(line) {
                    Ok(observation) => observation,
                    Err(error) if batch.offset == offset => return Err(error),
                    Err(_) => return Ok(batch),
                };
                held += observation.len();
                batch.lines.push(observation);
            }
            batch.offset = offset + start as u64;
        }
        batch.is_complete = end == bytes.len() && (bytes.len() as u64) < limit;
        Ok(batch)
    }

    /// Puts a long observation in the place of the line that points to it; the line itself remains for one that is gone.
    fn resolve(&self, line: &[u8]) -> io::Result<Vec<u8>> {
        let Some(bulk) = self.bulk_of(line) else { return Ok(line.to_vec()) };
        Ok(files::read_if_there(&bulk)?.unwrap_or_else(|| line.to_vec()))
    }

    fn bulk_of(&self, line: &[u8]) -> Option<PathBuf> {
        // Nearly every line is an observation; only a short one can be a pointer, and parsing is not free.
        if line.len() > MAX_POINTER_BYTES {
            return None;
        }
        let pointer: Pointer<'_> = serde_json::from_slice(line).ok()?;
        let is_plain = !pointer.bulk.contains(['/', '\\']) && !pointer.bulk.starts_with('.');
        is_plain.then(|| self.path.with_file_name(BULK).join(&*pointer.bulk))
    }

    /// Returns the right to delete a file that was drained up to `offset`: if that is all of it, it is old, and no process
    /// writes to it.
    pub fn if_done(&self, offset: u64, now: Timestamp) -> io::Result<Option<Done<'_>>> {
        let Ok(mut file) = File::open(&self.path) else { return Ok(None) };
        let modified = Timestamp::from(file.metadata()?.modified()?);
        if now.millis_since(modified) < DELETE_AFTER_MILLIS || system::try_lock(&file).is_err() {
            return Ok(None);
        }
        // Under the lock no writer can be between its check and its write. A last line without an end is what a killed
        // writer left: it was never acknowledged, and no process will complete it.
        file.seek(SeekFrom::Start(offset))?;
        let mut rest = Vec::new();
        file.read_to_end(&mut rest)?;
        Ok((!rest.contains(&b'\n')).then_some(Done { file: self, _lock: file }))
    }

    /// Rewrites the file without the lines that `keep` refuses, and deletes the long observations behind them; returns how
    /// many lines went. Offsets into the file mean nothing afterwards.
    pub fn retain(&self, mut keep: impl FnMut(&[u8]) -> bool) -> io::Result<usize> {
        // A writer that opened the file before it is replaced sees, once it has its lock, that it must open it anew.
        let lock = Lock::exclusive(&self.path, WRITER_PATIENCE)?;
        let lock = lock.ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))?;
        let text = fs::read(&self.path)?;
        let (mut kept, mut bulks, mut removed) = (Vec::with_capacity(text.len()), Vec::new(), 0);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() || keep(&self.resolve(trimmed)?) {
                kept.extend_from_slice(line);
            } else {
                removed += 1;
                bulks.extend(self.bulk_of(trimmed));
            }
        }
        if removed > 0 {
            files::write_atomic(&self.path, &kept)?;
        }
        for bulk in bulks {
            let _ = fs::remove_file(bulk);
        }
        drop(lock);
        Ok(removed)
    }
}

/// More bytes than a line that points to a long observation can have.
const MAX_POINTER_BYTES: usize = 256;

/// A file that can be deleted: everything in it is in the database, and no process can write to it while this is held.
#[derive(Debug)]
pub struct Done<'a> {
    file: &'a SpoolFile,
    _lock: File,
}

impl Done<'_> {
    /// Deletes the file and the long observations that its lines point to.
    pub fn delete(self) -> io::Result<()> {
        let path = &self.file.path;
        let text = fs::read(path)?;
        // The file goes first: a long observation without a line is swept one day, a line without its observation would
        // be read.
        fs::remove_file(path)?;
        for bulk in text.split(|byte| *byte == b'\n').filter_map(|line| self.file.bulk_of(line)) {
            let _ = fs::remove_file(bulk);
        }
        path.parent().into_iter().for_each(remove_if_empty);
        Ok(())
    }
}

/// Removes a session's folder once nothing is left in it.
fn remove_if_empty(session: &Path) {
    let _ = fs::remove_dir(session.join(BULK));
    let _ = fs::remove_dir(session);
}

fn read_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Data, Observation, Prompt};

    const HOUR: u64 = 3_600_000;
    const PLENTY: usize = 1_000_000;

    fn spool(folder: &tempfile::TempDir, texts: &[&str]) -> Spool {
        let spool = Spool::new(folder.path().join("spool"));
        for (number, text) in texts.iter().enumerate() {
            let data = Data::Prompt(Prompt { text: (*text).into(), ..Prompt::default() });
            let observation = Observation::new("s", format!("p:{number}"), HOUR, data);
            spool.append(&observation).unwrap();
        }
        spool
    }

    fn only_file(spool: &Spool) -> SpoolFile {
        let mut files = spool.files().unwrap();
        assert_eq!(files.len(), 1);
        files.remove(0)
    }

    fn contains(line: &[u8], word: &str) -> bool {
        memchr::memmem::find(line, word.as_bytes()).is_some()
    }

    #[test]
    fn reading_goes_on_where_it_stopped_and_leaves_a_line_that_is_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = only_file(&spool(&folder, &["one", "two", "three"]));
        let mut torn = fs::read(&file.path).unwrap();
        torn.extend_from_slice(b"\n{\"v\":1,\"ki");
        fs::write(&file.path, torn).unwrap();

        let first = file.read(0, 2, PLENTY).unwrap();
        assert_eq!((first.lines.len(), first.is_complete), (2, false));
        let second = file.read(first.offset, 2, PLENTY).unwrap();
        assert_eq!(second.lines.len(), 1);
        assert!(contains(&second.lines[0], "three"));
        let third = file.read(second.offset, 2, PLENTY).unwrap();
        assert!(third.lines.is_empty());
        assert!(file.read(third.offset, 2, PLENTY).unwrap().is_complete);
    }

    #[test]
    fn long_observations_count_for_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(100_000);
        let file = only_file(&spool(&folder, &[&long, &long, "short"]));
        let batch = file.read(0, 10, 50_000).unwrap();
        assert_eq!((batch.lines.len(), batch.is_complete), (1, false));
        assert_eq!(file.read(batch.offset, 10, PLENTY).unwrap().lines.len(), 2);
    }

    #[test]
    fn a_file_goes_when_it_is_old_and_read_and_with_it_its_long_observations() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(&folder, &["one", &"x".repeat(100_000)]);
        let file = only_file(&spool);
        let offset = file.read(0, 10, PLENTY).unwrap().offset;
        let later = Timestamp::from_millis(Timestamp::now().millis() + 3 * HOUR);
        assert!(file.if_done(offset, Timestamp::now()).unwrap().is_none(), "too young");
        assert!(file.if_done(1, later).unwrap().is_none(), "not read");
        let writer = files::open_append(&file.path).unwrap();
        writer.lock_shared().unwrap();
        assert!(file.if_done(offset, later).unwrap().is_none(), "in use");
        drop(writer);
        file.if_done(offset, later).unwrap().unwrap().delete().unwrap();
        assert_eq!(read_folder(spool.folder()).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_is_taken_out_leaves_no_line_and_no_long_observation() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("secret {}", "x".repeat(100_000));
        let file = only_file(&spool(&folder, &["one", &long, "secret", "two"]));
        assert_eq!(file.retain(|line| !contains(line, "secret")).unwrap(), 2);
        let rest = file.read(0, 10, PLENTY).unwrap();
        assert_eq!(rest.lines.len(), 2);
        assert!(contains(&rest.lines[0], "one") && contains(&rest.lines[1], "two"));
        assert_eq!(read_folder(&file.path.with_file_name(BULK)).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_long_observation_that_no_line_points_to_is_taken_out_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(&folder, &[&"x".repeat(100_000)]);
        fs::remove_file(only_file(&spool).path).unwrap();
        assert_eq!(spool.retain_bulk(|_| true).unwrap(), 0);
        assert_eq!(spool.retain_bulk(|observation| !contains(observation, "xxx")).unwrap(), 1);
    }

    #[test]
    fn a_long_observation_that_cannot_be_read_just_now_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = only_file(&spool(&folder, &["one", &"x".repeat(100_000), "two"]));
        let bulk = read_folder(&file.path.with_file_name(BULK)).unwrap().remove(0);
        let observation = fs::read(&bulk).unwrap();
        // A folder can be opened and not read, by whomever.
        fs::remove_file(&bulk).unwrap();
        fs::create_dir(&bulk).unwrap();
        let batch = file.read(0, 10, PLENTY).unwrap();
        assert_eq!((batch.lines.len(), batch.is_complete), (1, false));
        assert!(file.read(batch.offset, 10, PLENTY).is_err());
        assert!(file.retain(|_| true).is_err());

        fs::remove_dir(&bulk).unwrap();
        fs::write(&bulk, &observation).unwrap();
        let rest = file.read(batch.offset, 10, PLENTY).unwrap();
        assert_eq!((rest.lines.len(), rest.is_complete), (2, true));
        assert_eq!(rest.lines[0], observation);

        fs::remove_file(&bulk).unwrap();
        assert_eq!(file.read(0, 10, PLENTY).unwrap().lines.len(), 3, "one that is gone is not waited for");
    }

    #[test]
    fn what_killed_writers_left_is_swept_once_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(&folder, &[&"x".repeat(100_000)]);
        let session = spool.session_folder("s");
        let left = [session.join(BULK).join("1-1-0.json"), session.join(BULK).join(".2-2-0.json.2.0.tmp")];
        left.iter().for_each(|path| fs::write(path, "left").unwrap());
        let after = |minutes: u64| Timestamp::from_millis(Timestamp::now().millis() + minutes * 60_000);
        let hour = Duration::from_secs(3_600);
        assert_eq!(spool.sweep(hour, after(50)).unwrap(), 0, "too young");
        assert_eq!(spool.sweep(hour, after(70)).unwrap(), 2);
        assert!(left.iter().all(|path| !path.exists()));
        let bulks = read_folder(&session.join(BULK)).unwrap();
        assert_eq!(bulks.len(), 1, "the one that a line points to stays");
        fs::remove_file(only_file(&spool).path).unwrap();
        assert_eq!(spool.sweep(hour, after(70)).unwrap(), 1);
        assert!(!session.exists());
    }

    #[test]
    fn a_folder_that_is_named_like_a_file_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(&folder, &["one"]);
        fs::create_dir(spool.session_folder("s").join("2.jsonl")).unwrap();
        let (files, skipped) = spool.files_and_skipped().unwrap();
        assert_eq!((files.len(), skipped), (1, 1));
    }
}
