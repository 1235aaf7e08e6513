//! Private folders and files that are replaced completely or not at all.
//!
//! A repository may contain a symbolic link that points out of it: `open_append_here` and `write_atomic` never follow one.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What the name of a file that is being written ends with.
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
    // Where no flag says so a look before does: a link that a repository brings along was there before us.
    if cfg!(not(unix)) && is_link(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link"));
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

/// Returns whether there is a link at `path`, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Returns whether a file of that name is a temporary one, of ours or of the Node version, being written or left behind.
pub fn is_temporary(name: &str) -> bool {
    name.ends_with(TEMPORARY)
}

/// Replaces the file at `path` by one with `contents`: a reader sees the old or the new, never a part.
///
/// The new file is written beside the old one, on the same file system, so that the rename is atomic; it is
/// not synced, since a hook has no time for that and a power cut may then bring back the old contents.
pub fn write_atomic(path: &Path, contents: &[u8]) -> io::Result<()> {
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
    let written = match write_new(&temporary, contents) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(folder)?;
            write_new(&temporary, contents)
        }
        written => written,
    };
    let written = written.and_then(|()| rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, contents: &[u8]) -> io::Result<()> {
    unlinked_options().write(true).create(true).truncate(true).open(path)?.write_all(contents)
}

#[cfg(not(windows))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Renames with some patience: a reader or a virus scanner may hold the target for a moment.
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
