//! Private folders, files that are replaced whole or not at all, and files that may be missing.
//!
//! A repository may contain a symbolic link that leads out of it, a named pipe that never answers, or a file without an
//! end; another user may have put one there. `open_append_here` and `write_atomic` never write through a link;
//! [`refuse_link`] and [`find_link`] are for everything else that writes below such a folder. [`read_capped`] and its
//! relatives open regular files only, never wait, and read no more than the caller allows: every read of a file that Wyren
//! did not just make goes through them.

pub mod cap;

use crate::{Env, Paths, system};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
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

/// How much is read at first of a file that claims to be empty, in bytes.
const SMALL: usize = 1024;

/// The end of a temporary file's name.
const TEMPORARY: &str = ".tmp";

/// The folder of team memory in a work tree.
pub const PROJECT_FOLDER: &str = ".wyren";

/// Creates a folder and its parents, each readable by the owner alone; existing ones are left as they are.
///
/// Everything in this module that makes a missing folder does it here, and here a project that was removed stays removed:
/// neither its `.wyren` nor anything above that is made. [`create_project_folder`] does, for those who set a project up.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let Some(project) = project_folder(path) else {
        return private_builder().recursive(true).create(path);
    };
    // One by one, for the project may go meanwhile: a recursive call would make all of it again.
    let mut place = project.to_owned();
    for part in path.strip_prefix(project).unwrap_or(path).components() {
        place.push(part);
        match private_builder().create(&place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created?,
        }
    }
    if fs::metadata(path)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Creates the `.wyren` folder of a project, readable by the owner alone. The folder that it is in must be there.
pub fn create_project_folder(wyren: &Path) -> io::Result<()> {
    match private_builder().create(wyren) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && wyren.is_dir() => Ok(()),
        created => created,
    }
}

/// Creates one folder, readable by the owner alone, in one that is there.
pub fn create_private(path: &Path) -> io::Result<()> {
    private_builder().create(path)
}

fn private_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    system::keep_folder_private(&mut builder);
    builder
}

/// Returns the `.wyren` of the project that a path is in; `None` for a path of the user's own, who may have called the data
/// folder the same.
fn project_folder(path: &Path) -> Option<&Path> {
    let project = path.ancestors().find(|folder| folder.file_name() == Some(OsStr::new(PROJECT_FOLDER)))?;
    (!path.starts_with(Paths::of(&Env::process()).data())).then_some(project)
}

/// Returns options that create files readable by the owner alone.
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    system::keep_file_private(&mut options);
    options
}

/// Returns options that create files readable by the owner alone, follow no link and wait for no pipe. Where a link itself is
/// opened, a look at the open file finds it.
pub fn unlinked_options() -> OpenOptions {
    let mut options = private_options();
    system::open_no_link(&mut options);
    options
}

/// Opens a private file for appending, creating it and its folder when missing; see [`create_private_folder`].
pub fn open_append(path: &Path) -> io::Result<File> {
    append_with(private_options(), path)
}

/// Opens a private file for appending as [`open_append`] does, but only a regular one, and not one that is a link.
pub fn open_append_here(path: &Path) -> io::Result<File> {
    let opened = append_with(unlinked_options(), path).map_err(|error| explained(path, error))?;
    only_regular(opened, path).map(|(file, _)| file)
}

fn append_with(mut options: OpenOptions, path: &Path) -> io::Result<File> {
    system::append(&mut options);
    let open = || options.open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(path.parent().unwrap_or(Path::new(".")))?;
            open()
        }
        opened => opened,
    }
}

/// Opens a regular file for reading, without waiting. Fails for a link, folder, pipe, socket or device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_here(path).map(|(file, _)| file)
}

/// Opens a file of the user's as [`open_regular`] does, but follows links: people link their own configuration.
pub fn open_followed(path: &Path) -> io::Result<File> {
    open_linked(path).map(|(file, _)| file)
}

fn open_here(path: &Path) -> io::Result<(File, u64)> {
    let opened = unlinked_options().read(true).open(path).map_err(|error| explained(path, error))?;
    only_regular(opened, path)
}

fn open_linked(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    system::open_without_waiting(&mut options);
    let opened = options.read(true).open(path).map_err(|error| explained(path, error))?;
    only_regular(opened, path)
}

/// Returns an open file with its length if it is a regular one.
fn only_regular(file: File, path: &Path) -> io::Result<(File, u64)> {
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(refused(path, kind_of(&metadata))) }
}

/// Says that there is a link, pipe or socket where the system's error only says that it was not opened.
fn explained(path: &Path, error: io::Error) -> io::Error {
    match system::is_no_file(&error).then(|| fs::symlink_metadata(path)) {
        Some(Ok(metadata)) if !metadata.is_file() => refused(path, kind_of(&metadata)),
        _ => error,
    }
}

fn refused(path: &Path, kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} is {kind}, not a regular file", path.display()))
}

/// Returns what something is, with its article.
fn kind_of(metadata: &fs::Metadata) -> &'static str {
    match metadata {
        metadata if metadata.is_symlink() => "a link",
        metadata if metadata.is_dir() => "a folder",
        metadata => system::special_kind(metadata).unwrap_or("something else"),
    }
}

/// Reads a regular file of at most `cap` bytes, without waiting. A larger one is an error of the kind
/// [`FileTooLarge`](io::ErrorKind::FileTooLarge); a link, pipe, socket, device or folder one of the kind
/// [`InvalidInput`](io::ErrorKind::InvalidInput).
pub fn read_capped(path: &Path, cap: usize) -> io::Result<Vec<u8>> {
    read_all(open_here(path)?, path, cap)
}

/// Reads UTF-8 text as [`read_capped`] reads bytes.
pub fn read_text_capped(path: &Path, cap: usize) -> io::Result<String> {
    as_text(read_capped(path, cap)?)
}

/// Reads a file as [`read_capped`] does; `None` when there is none.
pub fn read_capped_if_there(path: &Path, cap: usize) -> io::Result<Option<Vec<u8>>> {
    match read_capped(path, cap) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Reads a file of the user's as [`read_capped`] does, but follows links.
pub fn read_followed(path: &Path, cap: usize) -> io::Result<Vec<u8>> {
    read_all(open_linked(path)?, path, cap)
}

/// Reads UTF-8 text as [`read_followed`] reads bytes.
pub fn read_text_followed(path: &Path, cap: usize) -> io::Result<String> {
    as_text(read_followed(path, cap)?)
}

/// Puts the first `most` bytes of a regular file into `buffer`, in place of what was there, and leaves out the rest.
pub fn read_start(path: &Path, most: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    open_regular(path)?.take(most as u64).read_to_end(buffer).map(|_| ())
}

/// Reads the last `most` bytes of a regular file, and leaves out what is before them.
pub fn read_end(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let (mut file, length) = open_here(path)?;
    if let Some(start) = length.checked_sub(most as u64) {
        file.seek(io::SeekFrom::Start(start))?;
    }
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_all((mut file, length): (File, u64), path: &Path, cap: usize) -> io::Result<Vec<u8>> {
    let too_large = || {
        let words = format!("{} is larger than {cap} bytes", path.display());
        io::Error::new(io::ErrorKind::FileTooLarge, words)
    };
    let length = usize::try_from(length).ok().filter(|length| *length <= cap).ok_or_else(too_large)?;
    // One byte more than expected, so that one short read is the end of most files.
    let mut bytes = vec![0; length.saturating_add(1)];
    let mut filled = 0;
    loop {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if filled > cap {
            return Err(too_large());
        }
        // The file has grown meanwhile, or the system does not know its length.
        if filled == bytes.len() {
            bytes.resize(filled.saturating_mul(2).max(SMALL).min(cap.saturating_add(1)), 0);
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn as_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
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

/// Reads a file as [`read_capped_if_there`] does, up to the largest size of any file of ours.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_capped_if_there(path, cap::LARGEST)
}

/// Removes a folder and those above it, below `root`, for as long as they are empty.
pub fn remove_empty_folders(folder: &Path, root: &Path) {
    for folder in folder.ancestors().take_while(|folder| folder.starts_with(root) && *folder != root) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
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

/// Replaces the file at `path` by one with `contents`: a reader sees the old or the new, never a part. A missing folder is
/// made; see [`create_private_folder`].
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
    let written = written.and_then(|done| system::rename(&temporary, path).map(|()| done).map_err(E::from));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Makes a temporary file. What has its name was left by a killed process, or waits there for this one.
fn open_new(path: &Path) -> io::Result<File> {
    let open = || private_options().write(true).create_new(true).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            open()
        }
        opened => opened,
    }
}

/// Returns the path without links, or as it is when that cannot be told.
pub fn canonical(path: &Path) -> PathBuf {
    system::canonical(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a value of a file with one value per line.
pub fn on_one_line(value: &str) -> String {
    value.replace(char::is_control, "\u{fffd}")
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
    fn d3_a_project_that_was_removed_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let wyren = tree.join(PROJECT_FOLDER);
        type Attempt = (&'static str, fn(&Path) -> io::Result<()>);
        let attempts: [Attempt; 4] = [
            ("state", create_private_folder),
            ("log", |path| open_append(path).map(|_| ())),
            ("state/watermark.lock", |path| open_append_here(path).map(|_| ())),
            ("state/intents/s.json", |path| write_atomic(path, b"{}")),
        ];
        let fail = || {
            for (name, attempt) in attempts {
                let error = attempt(&wyren.join(name)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{name}: {error}");
            }
        };
        fail();
        assert_eq!(create_project_folder(&wyren).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!tree.exists());
        fs::create_dir(&tree).unwrap();
        fail();
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 0);

        create_project_folder(&wyren).unwrap();
        create_project_folder(&wyren).unwrap();
        for (name, attempt) in attempts {
            attempt(&wyren.join(name)).unwrap();
        }
        assert!(wyren.join("state/intents/s.json").is_file());
        fs::write(wyren.join("state/file"), "").unwrap();
        assert!(create_private_folder(&wyren.join("state/file")).is_err());
    }

    #[test]
    fn d3_of_two_folders_called_so_the_inner_one_is_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join(".wyren/tree");
        assert!(create_private_folder(&tree.join(".wyren/state")).is_err());
        fs::create_dir_all(tree.join(".wyren")).unwrap();
        create_private_folder(&tree.join(".wyren/state")).unwrap();
    }

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
    fn empty_folders_go_up_to_the_root_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for name in ["a/b/c", "d/e"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("d/file"), "").unwrap();
        remove_empty_folders(&root.join("a/b/c"), &root);
        remove_empty_folders(&root.join("d/e"), &root);
        assert!(!root.join("a").exists() && !root.join("d/e").exists() && root.join("d/file").exists());
        fs::remove_dir_all(root.join("d")).unwrap();
        remove_empty_folders(&root, &root);
        remove_empty_folders(&root, &folder.path().join("other"));
        assert!(root.exists(), "the root, and what is not below it, stay");
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

    #[test]
    fn a_file_is_read_up_to_its_cap_and_refused_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, 31, 32, 33, 5_000] {
            fs::write(&path, vec![b'x'; length]).unwrap();
            assert_eq!(read_capped(&path, length).unwrap().len(), length);
            assert_eq!(read_followed(&path, length + 1).unwrap().len(), length);
            if length > 0 {
                let error = read_capped(&path, length - 1).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
                assert!(error.to_string().contains("is larger than"), "{error}");
            }
        }
        let mut start = b"old".to_vec();
        fs::write(&path, "0123456789").unwrap();
        read_start(&path, 4, &mut start).unwrap();
        assert_eq!((start, read_end(&path, 4).unwrap()), (b"0123".to_vec(), b"6789".to_vec()));
        assert_eq!(read_end(&path, 40).unwrap(), b"0123456789");
        assert!(read_text_capped(&path, 10).is_ok());
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text_capped(&path, 10).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    /// Runs `work` on a thread, and fails when it waits: a pipe would keep it for ever.
    #[cfg(unix)]
    #[track_caller]
    fn without_waiting<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(work()));
        receiver.recv_timeout(std::time::Duration::from_secs(10)).expect("it waits")
    }

    #[cfg(unix)]
    fn make_pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_sockets_folders_and_links_are_refused_by_name_and_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        make_pipe(&at("pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("target"), "text").unwrap();
        for (link, target) in [("link", "target"), ("zero", "/dev/zero"), ("piped", "pipe")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let refuses = |path: PathBuf, words: &str| {
            let shown = path.display().to_string();
            let errors = without_waiting(move || {
                let read =
                    [read_capped(&path, 9), read_end(&path, 9), read_if_there(&path).map(|_| Vec::new())];
                let opened = [open_regular(&path), open_append_here(&path)];
                let opened = opened.map(|opened| opened.map(|_| Vec::new()));
                read.into_iter().chain(opened).map(|tried| tried.unwrap_err().to_string()).collect::<Vec<_>>()
            });
            assert!(errors.iter().any(|error| error.contains(words)), "{shown}: {errors:?}");
        };
        refuses(at("pipe"), "is a named pipe");
        refuses(at("socket"), "is a socket");
        refuses(at("folder"), "is a folder");
        refuses(at("link"), "is a link");
        refuses(at("zero"), "is a link");
        refuses(PathBuf::from("/dev/null"), "is a device");
        // A link of the user's own is followed, but only to a regular file.
        assert_eq!(read_followed(&at("link"), 9).unwrap(), b"text");
        for odd in ["zero", "piped"] {
            let path = at(odd);
            let error = without_waiting(move || read_followed(&path, 9)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_with_the_name_of_the_temporary_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        make_pipe(&path);
        let opened = without_waiting(move || open_new(&path).and_then(|file| Ok(file.metadata()?.is_file())));
        assert!(opened.unwrap());
    }
}
