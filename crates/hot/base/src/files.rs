//! Private folders, files that are replaced whole or not at all, and files that may be missing.
//!
//! A repository may contain a symbolic link that leads out of it. `open_append_here` and `write_atomic` never write through
//! a link; [`refuse_link`] and [`find_link`] are for everything else that writes below such a folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that could not be read or written. The text contains the cause, so there is no `source`.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// What the system reported.
    pub cause: io::Error,
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "could not access {}: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Returns what adds a path to the system's error.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |cause| Self { path: path.to_owned(), cause }
    }
}

/// The end of a temporary file's name.
const TEMPORARY: &str = ".tmp";

/// Creates a folder and its parents, each readable by the owner alone; existing ones are left as they are.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns options that create files readable by the owner alone.
pub fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets a mode"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns options that create files readable by the owner alone and, on Unix, open no link.
fn unlinked_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has the flag"))]
    let mut options = private_options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options
}

/// Opens a private file for appending, creating it and its folder when missing.
pub fn open_append(path: &Path) -> io::Result<File> {
    append_with(private_options(), path)
}

/// Opens a private file for appending as [`open_append`] does, but not one that is a link.
pub fn open_append_here(path: &Path) -> io::Result<File> {
    // Without `O_NOFOLLOW` a check before opening is enough: a link from a repository was there before this process.
    if cfg!(not(unix)) {
        refuse_link(path)?;
    }
    append_with(unlinked_options(), path)
}

fn append_with(mut options: OpenOptions, path: &Path) -> io::Result<File> {
    options.append(true).create(true);
    let open = || options.open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(path.parent().unwrap_or(Path::new(".")))?;
            open()
        }
        opened => opened,
    }
}

/// Returns whether there is a symbolic link at `path`, dangling or not.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Fails when there is a symbolic link at `path`.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    if is_link(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is a link", path.display())));
    }
    Ok(())
}

/// Returns the first symbolic link on the way from `folder`, itself included, down to `path` below it.
pub fn find_link(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    if is_link(&place) {
        return Some(place);
    }
    path.strip_prefix(folder).unwrap_or(path).components().find_map(|part| {
        place.push(part);
        is_link(&place).then(|| place.clone())
    })
}

/// Reads a file; `None` when there is none.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Removes a file; returns whether there was one.
pub fn remove_if_there(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Returns whether a file of that name is a temporary one, of this program or of the Node version.
pub fn is_temporary(name: &str) -> bool {
    name.ends_with(TEMPORARY)
}

/// Replaces the file at `path` by one with `contents`: a reader sees the old or the new, never a part.
pub fn write_atomic(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_atomic_with(path, |file| file.write_all(contents))
}

/// Replaces the file at `path` by what `write` writes, or leaves it as it was when `write` fails.
///
/// The new file is written beside the old one, on the same file system, so that the rename is atomic; it is
/// not synced, since a hook has no time for that and a power cut may then bring back the old contents.
pub fn write_atomic_with<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // The process id and a counter keep two writers of one file out of each other's temporary file.
    let temporary = folder.join(format!(
        ".{}.{}.{}{TEMPORARY}",
        name.to_string_lossy(),
        std::process::id(),
        COUNTER.fetch_add(1, Ordering::Relaxed)
    ));
    let mut file = match open_new(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(folder)?;
            open_new(&temporary)?
        }
        opened => opened?,
    };
    let written = write(&mut file);
    drop(file);
    let written = written.and_then(|done| rename(&temporary, path).map(|()| done).map_err(E::from));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn open_new(path: &Path) -> io::Result<File> {
    unlinked_options().write(true).create(true).truncate(true).open(path)
}

#[cfg(not(windows))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Retries the rename: a reader or a virus scanner may hold the target for a moment.
#[cfg(windows)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    const PAUSES_MILLIS: [u64; 4] = [1, 2, 3, 4];
    for pause in PAUSES_MILLIS {
        if fs::rename(from, to).is_ok() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(pause));
    }
    fs::rename(from, to)
}

/// Returns the regular files directly in `folder`, sorted by name; none when the folder cannot be read.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_the_file_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file.txt");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(files_in(path.parent().unwrap()), [path]);
    }

    #[test]
    fn a_failed_write_keeps_the_old_state_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "kept").unwrap();
        assert!(write_atomic(&path, b"new").is_err());
        assert_eq!(fs::read(path.join("inside")).unwrap(), b"kept");
        assert_eq!(files_in(folder.path()), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_missing_file_is_read_as_none_and_removed_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!((read_if_there(&path).unwrap(), remove_if_there(&path).unwrap()), (None, false));
        fs::write(&path, "x").unwrap();
        assert_eq!(read_if_there(&path).unwrap().as_deref(), Some(&b"x"[..]));
        assert!(remove_if_there(&path).unwrap() && !path.exists());
        assert!(read_if_there(folder.path()).is_err() && remove_if_there(folder.path()).is_err());
    }

    #[test]
    fn a_writer_that_fails_leaves_the_old_file_and_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let failed: io::Result<()> = write_atomic_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err() && fs::read(&path).unwrap() == b"old");
        assert_eq!(files_in(folder.path()), [path]);
    }

    #[cfg(unix)]
    #[test]
    fn the_first_link_on_the_way_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a/b");
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(find_link(folder.path(), &inside.join("missing")), None);
        std::os::unix::fs::symlink("/nowhere", inside.join("c")).unwrap();
        assert_eq!(find_link(folder.path(), Path::new("a/b/c/d")), Some(inside.join("c")));
        assert_eq!(find_link(&inside.join("c"), Path::new("d")), Some(inside.join("c")));
        assert!(refuse_link(&inside.join("c")).is_err() && refuse_link(&inside).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(is_link(&link) && open_append_here(&link).is_err() && !target.exists());
        fs::write(&target, "kept").unwrap();
        assert!(open_append_here(&link).is_err());
        assert!(!is_link(&target) && open_append_here(&target).is_ok());
        write_atomic(&link, b"new").unwrap();
        assert_eq!((fs::read(&target).unwrap(), is_link(&link)), (b"kept".to_vec(), false));
    }

    #[cfg(unix)]
    #[test]
    fn what_we_create_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private/file");
        open_append(&path).unwrap().write_all(b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        write_atomic(&path, b"y").unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}
