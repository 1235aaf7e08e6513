//! Linux, macOS and their like.

use crate::Env;
use std::borrow::Cow;
use std::ffi::CString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Keeps `open` from waiting for the other end of a pipe, and a terminal from becoming ours.
const NEVER_WAIT: libc::c_int = libc::O_NONBLOCK | libc::O_NOCTTY;

/// The user that needs no permission.
const ROOT: u32 = 0;

/// Has folders be made for the owner alone.
pub fn keep_folder_private(builder: &mut DirBuilder) {
    builder.mode(0o700);
}

/// Has files be made for the owner alone.
pub fn keep_file_private(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Has a file be opened only if it is no link, without waiting for a pipe.
pub fn open_no_link(options: &mut OpenOptions) {
    options.custom_flags(NEVER_WAIT | libc::O_NOFOLLOW);
}

/// Has a file be opened without waiting for a pipe.
pub fn open_without_waiting(options: &mut OpenOptions) {
    options.custom_flags(NEVER_WAIT);
}

/// Has a file be appended to, and be one that can be locked.
pub fn append(options: &mut OpenOptions) {
    options.append(true).create(true);
}

/// Returns whether an error of `open` says that there is a link, pipe or socket.
pub fn is_no_file(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EMLINK | libc::ENXIO))
}

/// Returns what something is that is neither a file, a folder nor a link, with its article.
pub fn special_kind(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_fifo() {
        return Some("a named pipe");
    }
    if kind.is_socket() {
        return Some("a socket");
    }
    (kind.is_char_device() || kind.is_block_device()).then_some("a device")
}

/// Puts a file in the place of another.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Has two files or folders change places in one step, where the file system can.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let [one, other] = [one, other].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (one, other) = (one?, other?);
    // Through `syscall`: musl has no function for it.
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "the standard library does not swap files")]
    // SAFETY: both texts end in a zero byte and outlive the call; the other arguments are plain numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            one.as_ptr(),
            libc::AT_FDCWD,
            other.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    #[cfg(target_os = "macos")]
    #[expect(unsafe_code, reason = "the standard library does not swap files")]
    // SAFETY: both texts end in a zero byte and outlive the call.
    let result = unsafe { libc::renamex_np(one.as_ptr(), other.as_ptr(), libc::RENAME_SWAP) };
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    let result = {
        drop((one, other));
        return Err(io::ErrorKind::Unsupported.into());
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Writes bytes at a place in a file.
pub fn write_at(file: &File, contents: &[u8], place: u64) -> io::Result<()> {
    file.write_all_at(contents, place)
}

/// Returns how many names a file has.
pub fn names(_file: &File, metadata: &Metadata) -> io::Result<u64> {
    Ok(metadata.nlink())
}

/// Returns whether an open file was deleted: it has no name any more.
pub fn is_deleted(_file: &File, metadata: &Metadata) -> io::Result<bool> {
    Ok(metadata.nlink() == 0)
}

/// Returns the number of a file in its file system; 0 where the system tells none.
pub fn file_number(metadata: &Metadata) -> u64 {
    metadata.ino()
}

/// Returns whether an open file is the one at `path`.
pub fn is_same_file(open: &File, path: &Path) -> io::Result<bool> {
    Ok(identity(&open.metadata()?) == identity(&fs::metadata(path)?))
}

/// Returns whether two paths lead to one folder that is there.
pub fn is_same_folder(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| fs::metadata(path).ok().map(|folder| identity(&folder));
    of(one).is_some_and(|one| of(other) == Some(one))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns a path in the form in which two of them are compared.
pub fn comparable(path: &str) -> Cow<'_, str> {
    path.into()
}

/// Makes a symbolic link to a file.
pub fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

/// Returns the path without links.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Locks a file, waiting for those who have it locked.
pub fn lock(file: &File) -> io::Result<()> {
    file.lock()
}

/// Locks a file, unless another process has it locked.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Locks a file together with others that lock it so, waiting for those who have it locked for themselves.
pub fn lock_shared(file: &File) -> io::Result<()> {
    file.lock_shared()
}

/// Locks a file together with others that lock it so, unless another process has it locked for itself.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    file.try_lock_shared()
}

/// Lets go of a lock whose file is about to be closed: that alone does it here.
pub fn unlock_closing(_file: &File) {}

/// Returns the id of the user that this process acts for, where the system numbers its users.
pub fn user_id() -> Option<u32> {
    Some(effective_user())
}

fn effective_user() -> u32 {
    static USER: OnceLock<u32> = OnceLock::new();
    #[expect(unsafe_code, reason = "the standard library does not tell the user id")]
    // SAFETY: it takes nothing and cannot fail.
    *USER.get_or_init(|| unsafe { libc::geteuid() })
}

/// Returns whether what `metadata` describes, at a path, is the user's: for root also what belongs to the user who called
/// `sudo`, as with git.
pub fn is_users(metadata: &Metadata, _path: &Path) -> bool {
    let sudo_user = || Env::process().text("SUDO_UID")?.parse().ok();
    belongs(metadata.uid(), effective_user(), sudo_user)
}

fn belongs(owner: u32, user: u32, sudo_user: impl FnOnce() -> Option<u32>) -> bool {
    owner == user || user == ROOT && sudo_user() == Some(owner)
}

/// Makes sure that a folder which is there is this user's alone: in a shared temp folder, anyone could have made it.
pub fn claim_folder(folder: &Path, metadata: &Metadata) -> bool {
    if !metadata.is_dir() || metadata.uid() != effective_user() {
        return false;
    }
    // Ours but open to others, made by other rules: from here on only we may add to it.
    metadata.mode() & 0o077 == 0 || fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).is_ok()
}

/// Returns whether other users may look into a folder.
pub fn is_open_to_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
}

/// Gives an open file a mode, where the system has modes.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(PermissionsExt::from_mode(mode))
}

/// Returns whether a file may be started, as its metadata tells.
pub fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o111 != 0
}

/// Returns whether there is a program at a path.
pub fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
}

/// Returns the home of the user whom `env` describes.
pub fn home(env: &Env) -> Option<PathBuf> {
    env.get("HOME").or_else(|| env.get("USERPROFILE")).map(PathBuf::from)
}

/// Returns the folder of personal data in a home.
pub fn data_in_home(home: &Path) -> PathBuf {
    home.join(".local/share")
}

/// Returns the folder for temporary files.
pub fn temp_folder(env: &Env) -> PathBuf {
    env.get("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

/// Returns git's configuration for all users.
pub fn git_configuration() -> Option<PathBuf> {
    Some("/etc/gitconfig".into())
}

/// Fills `bytes` with what cannot be guessed.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// Returns whether there is a process with this id, as far as the system tells. The id may have been given to another
/// process since: callers also bound the age of what they know.
pub fn is_alive(process: u32) -> bool {
    let Some(process) = libc::pid_t::try_from(process).ok().filter(|process| *process > 0) else {
        return false;
    };
    #[expect(unsafe_code, reason = "the standard library does not ask for a process")]
    // SAFETY: signal 0 is never delivered; the call only looks whether it could be.
    let found = unsafe { libc::kill(process, 0) } == 0;
    let is_there = found || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH);
    is_there && !is_zombie(process)
}

/// Returns whether a process has ended without being waited for: in a container, no process may do so.
#[cfg(target_os = "linux")]
fn is_zombie(process: libc::pid_t) -> bool {
    // Behind the name in brackets, which may hold anything: the state.
    let stat = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let name_end = stat.iter().rposition(|byte| *byte == b')').unwrap_or(stat.len());
    matches!(stat.get(name_end + 2), Some(b'Z' | b'X'))
}

#[cfg(not(target_os = "linux"))]
fn is_zombie(_process: libc::pid_t) -> bool {
    false
}

/// Prepares a command that may go on when we have ended. Nothing is left to do: it leaves our session by itself, and takes
/// none of our streams along.
pub fn outlive_us(_command: &mut Command) {}

/// Gives this program its own session, so that the end of the terminal or client that started it does not reach it.
pub fn leave_session() {
    #[expect(unsafe_code, reason = "the standard library does not call setsid")]
    // SAFETY: the call takes nothing and touches no memory. One that leads a group already stays where it is.
    unsafe {
        libc::setsid();
    }
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail with an error, where the signal would end the process.
pub fn survive_file_size_limit() {
    #[expect(unsafe_code, reason = "signals are not in the standard library")]
    // SAFETY: ignoring a signal installs no handler and touches no memory.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Has the pipe of standard input hold more, where the system can: a large input then changes hands a few times instead of
/// hundreds.
pub fn widen_input() {
    #[cfg(target_os = "linux")]
    {
        const WIDE_PIPE_BYTES: libc::c_int = 1024 * 1024;
        #[expect(unsafe_code, reason = "the standard library does not set the size of a pipe")]
        // SAFETY: the call takes plain numbers; on anything but a pipe it fails, which is as good.
        unsafe {
            libc::fcntl(libc::STDIN_FILENO, libc::F_SETPIPE_SZ, WIDE_PIPE_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: u32 = 1_000;
    const BOB: u32 = 1_001;

    #[test]
    fn ones_own_folder_counts_and_anothers_does_not() {
        assert!(belongs(ADA, ADA, || None) && belongs(ROOT, ROOT, || None));
        assert!(!belongs(BOB, ADA, || None) && !belongs(ROOT, ADA, || None) && !belongs(ADA, ROOT, || None));
    }

    #[test]
    fn under_sudo_the_callers_folder_counts_for_root_alone() {
        assert!(belongs(ADA, ROOT, || Some(ADA)) && belongs(ROOT, ROOT, || Some(ADA)));
        assert!(!belongs(BOB, ROOT, || Some(ADA)) && !belongs(BOB, ADA, || Some(BOB)));
    }

    #[test]
    fn a_folder_that_was_given_away_is_not_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = || fs::symlink_metadata(folder.path()).unwrap();
        assert!(is_users(&metadata(), folder.path()));
        // Only root can give a folder away.
        if effective_user() == ROOT {
            std::os::unix::fs::chown(folder.path(), Some(ADA + 54_321), None).unwrap();
            assert!(!is_users(&metadata(), folder.path()) && !claim_folder(folder.path(), &metadata()));
        }
    }

    #[test]
    fn two_folders_change_places() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        fs::create_dir(&one).unwrap();
        fs::write(&other, "a file").unwrap();
        exchange(&one, &other).unwrap();
        assert!(one.is_file() && other.is_dir());
        assert!(exchange(&one, &folder.path().join("missing")).is_err());
    }
}
