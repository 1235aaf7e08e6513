//! `watermark.json` replaced whole, many times a day, while a process of the Node version may read it.

use base::{files, system};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// How long the old file is not reused once a new one took its place: a process may still be reading it.
const READING: Duration = Duration::from_millis(20);

/// The most bytes that are changed in place: the digits of a number.
const MAX_PATCH: usize = 10;

/// A file that was replaced, and may be again.
#[derive(Debug)]
pub struct Replaced {
    file: Option<File>,
    contents: Vec<u8>,
}

/// Replaces the file at `path`: a reader sees the old or the new, never a part. The caller holds a lock on it.
///
/// The new contents go into the file that was replaced before, kept beside this one as `.spare`, and the two change
/// places. Making a file and removing another takes as long as the rest of the hook, and to rename one over another makes
/// ext4 write it to the disk at once; a power cut may empty the file, so marks are kept in another one as well.
pub fn replace(path: &Path, contents: Vec<u8>) -> io::Result<Replaced> {
    let spare = path.with_extension("spare");
    let age =
        fs::metadata(path).and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age < READING) {
        let _ = fs::remove_file(&spare);
    }
    let file = match write_over(&spare, &contents).and_then(|file| swap(&spare, path).map(|()| file)) {
        Ok(file) => Some(file),
        Err(_) => {
            files::write_atomic(path, &contents)?;
            None
        }
    };
    Ok(Replaced { file, contents })
}

impl Replaced {
    /// Replaces the file once more, while the lock is still held. A number that changes is changed in place.
    pub fn again(self, path: &Path, contents: Vec<u8>) -> io::Result<Self> {
        if let (Some(file), Some(range)) = (&self.file, difference(&self.contents, &contents)) {
            system::write_at(file, &contents[range.clone()], range.start as u64)?;
            return Ok(Self { contents, ..self });
        }
        // Windows may refuse to replace a file that is open.
        drop(self.file);
        replace(path, contents)
    }
}

fn write_over(path: &Path, contents: &[u8]) -> io::Result<File> {
    let (mut file, before) = open_own(path)?;
    file.write_all(contents)?;
    let length = contents.len() as u64;
    if before > length {
        file.set_len(length)?;
    }
    Ok(file)
}

/// Opens a file to be written over, and returns its length. What a repository brings along may be a link that leads out of
/// it: anything but a file with this one name is replaced by a new one.
fn open_own(path: &Path) -> io::Result<(File, u64)> {
    if let Ok(file) = files::unlinked_options().write(true).create(true).truncate(false).open(path) {
        let metadata = file.metadata()?;
        if metadata.is_file() && system::names(&file, &metadata)? == 1 {
            return Ok((file, metadata.len()));
        }
    }
    fs::remove_file(path)?;
    Ok((files::unlinked_options().write(true).create_new(true).open(path)?, 0))
}

/// Returns where two texts of one length differ, if all of it is the digits of one number.
fn difference(old: &[u8], new: &[u8]) -> Option<Range<usize>> {
    if old.len() != new.len() {
        return None;
    }
    let differs = |at: &usize| old[*at] != new[*at];
    let start = (0..old.len()).find(differs).unwrap_or_default();
    let end = (start..old.len()).rev().find(differs).map_or(start, |last| last + 1);
    let is_number = |text: &[u8]| text[start..end].iter().all(u8::is_ascii_digit);
    (end - start <= MAX_PATCH && is_number(old) && is_number(new)).then_some(start..end)
}

/// Has two files change places, or moves the first one when the second is not there, or where the system cannot.
fn swap(new: &Path, old: &Path) -> io::Result<()> {
    system::exchange(new, old).or_else(|_| system::rename(new, old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn read(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    /// Makes a file look as if it had been written long ago.
    fn age(path: &Path) {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - 10 * READING).unwrap();
    }

    #[test]
    fn every_write_replaces_the_file_whatever_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        fs::write(folder.path().join("file.spare"), "of a killed hook, and longer than what comes").unwrap();
        for contents in ["one", "the second", "3", "the fourth one"] {
            replace(&path, contents.into()).unwrap();
            assert_eq!(read(&path), contents);
            age(&path);
        }
    }

    #[test]
    fn who_reads_the_old_file_goes_on_reading_it_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        replace(&path, b"first".to_vec()).unwrap();
        let mut reader = File::open(&path).unwrap();
        for contents in ["second", "third"] {
            replace(&path, contents.into()).unwrap();
        }
        assert_eq!(io::read_to_string(&mut reader).unwrap(), "first");
    }

    #[test]
    fn a_number_is_changed_in_place_and_anything_else_is_not() {
        let range = |old: &str, new: &str| difference(old.as_bytes(), new.as_bytes());
        assert_eq!(range("\"pid\": 1234,", "\"pid\": 1299,"), Some(9..11));
        assert_eq!(range("\"pid\": 1234,", "\"pid\": 1234,"), Some(0..0));
        assert_eq!(range("\"pid\": 999,", "\"pid\": 1000,"), None);
        assert_eq!(range("\"pid\": 1234,", "\"pix\": 1234,"), None);
        assert_eq!(range("1 and 2", "2 and 1"), None);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        let replaced = replace(&path, b"{\"pid\": 1234}".to_vec()).unwrap();
        let replaced = replaced.again(&path, b"{\"pid\": 1299}".to_vec()).unwrap();
        assert_eq!(read(&path), "{\"pid\": 1299}");
        replaced.again(&path, b"{}".to_vec()).unwrap();
        assert_eq!(read(&path), "{}");
    }

    #[cfg(unix)]
    #[test]
    fn a_spare_that_is_a_second_name_of_a_file_leaves_that_file_alone() {
        let link = |target: &Path, spare: &Path| std::os::unix::fs::symlink(target, spare).unwrap();
        let name = |target: &Path, spare: &Path| fs::hard_link(target, spare).unwrap();
        for plant in [link as fn(&Path, &Path), name] {
            let folder = tempfile::tempdir().unwrap();
            let [path, target] = ["file.json", "config"].map(|name| folder.path().join(name));
            fs::write(&target, "the user's").unwrap();
            plant(&target, &folder.path().join("file.spare"));
            for contents in ["one", "two"] {
                replace(&path, contents.into()).unwrap();
                assert_eq!((read(&path), read(&target)), (contents.to_owned(), "the user's".to_owned()));
                age(&path);
            }
        }
    }

    #[test]
    fn a_spare_that_is_no_file_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        fs::create_dir(folder.path().join("file.spare")).unwrap();
        replace(&path, b"one".to_vec()).unwrap();
        replace(&path, b"two".to_vec()).unwrap();
        assert_eq!(read(&path), "two");
    }
}
