//! Windows 10 and later.

use crate::Env;
use std::borrow::Cow;
use std::ffi::c_void;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::thread;
use std::time::Duration;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION, ERROR_SUCCESS,
    HANDLE, HANDLE_FLAG_INHERIT, LocalFree, SetHandleInformation, WAIT_TIMEOUT,
};
use windows_sys::Win32::Security::Authorization::{GetNamedSecurityInfoW, SE_FILE_OBJECT};
use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::Security::{
    CheckTokenMembership, EqualSid, GetTokenInformation, IsWellKnownSid, OWNER_SECURITY_INFORMATION,
    PSECURITY_DESCRIPTOR, PSID, TOKEN_QUERY, TOKEN_USER, TokenUser, WinBuiltinAdministratorsSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_OPEN_REPARSE_POINT, FILE_STANDARD_INFO, FileStandardInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, GetCurrentProcess, OpenProcess, OpenProcessToken,
    PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

/// Where the byte is that a lock is on: behind the end of every file, so that a lock keeps no process from reading or
/// writing. The upper half of the offset, which the system takes for a signed number.
const LOCK_OFFSET_HIGH: u32 = 0x4000_0000;

/// How long to wait between two attempts at a rename, in milliseconds: a quarter of a second in all, far below the deadline of
/// every hook.
const RENAME_PAUSES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The longest path that every function of the system takes without the prefix `\\?\`.
const MAX_PLAIN_PATH: usize = 259;

/// The most bytes that the owner of this process takes: a structure of 16, and a security id of at most 68.
const MAX_TOKEN_USER_BYTES: usize = 16 + 68;

/// Does nothing: a folder has the rights of the one that it is made in.
pub fn keep_folder_private(_builder: &mut DirBuilder) {}

/// Does nothing: a file has the rights of the folder that it is made in.
pub fn keep_file_private(_options: &mut OpenOptions) {}

/// Has a link be opened itself, not what it leads to: a look at the open file then tells that it is one.
pub fn open_no_link(options: &mut OpenOptions) {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

/// Does nothing: there are no pipes among the files.
pub fn open_without_waiting(_options: &mut OpenOptions) {}

/// Has a file be appended to, and be one that can be locked: the system locks none that can only be appended to.
pub fn append(options: &mut OpenOptions) {
    options.append(true).read(true).create(true);
}

/// Returns no: a link is found by a look at the open file.
pub fn is_no_file(_error: &io::Error) -> bool {
    false
}

/// Returns nothing: there are files, folders and links.
pub fn special_kind(_metadata: &Metadata) -> Option<&'static str> {
    None
}

/// Puts a file in the place of another. A reader or a virus scanner may hold one of them for a moment.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    for pause in RENAME_PAUSES {
        match fs::rename(from, to) {
            Err(error) if is_in_use(&error) => thread::sleep(Duration::from_millis(pause)),
            renamed => return renamed,
        }
    }
    fs::rename(from, to)
}

fn is_in_use(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(code, Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION))
}

/// Fails: the system cannot.
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes bytes at a place in a file.
pub fn write_at(file: &File, mut contents: &[u8], mut place: u64) -> io::Result<()> {
    while !contents.is_empty() {
        let written = file.seek_write(contents, place)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        contents = &contents[written..];
        place += written as u64;
    }
    Ok(())
}

/// Returns how many names a file has.
#[expect(unsafe_code, reason = "the standard library does not count the names of a file")]
pub fn names(file: &File, _metadata: &Metadata) -> io::Result<u64> {
    let mut about = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the structure has the size that goes with its kind.
    let is_answered = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStandardInfo,
            (&raw mut about).cast(),
            size_of::<FILE_STANDARD_INFO>() as u32,
        )
    };
    match is_answered {
        0 => Err(io::Error::last_os_error()),
        // Before Windows 10 1809, and on file systems other than NTFS, the name stays until the file is closed.
        _ if about.DeletePending => Ok(0),
        _ => Ok(about.NumberOfLinks.into()),
    }
}

/// Returns whether an open file was deleted: it has no name any more, or none once it is closed.
pub fn is_deleted(file: &File, metadata: &Metadata) -> io::Result<bool> {
    Ok(names(file, metadata)? == 0)
}

/// Returns 0: only an open file tells its number.
pub fn file_number(_metadata: &Metadata) -> u64 {
    0
}

/// Returns whether an open file is the one at `path`.
pub fn is_same_file(open: &File, path: &Path) -> io::Result<bool> {
    Ok(identity(open)? == identity(&File::open(path)?)?)
}

/// Returns whether two paths lead to one folder that is there.
pub fn is_same_folder(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

#[expect(unsafe_code, reason = "the standard library does not tell the number of a file")]
fn identity(file: &File) -> io::Result<(u32, u32, u32)> {
    let mut about = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure lives across the call.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut about) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((about.dwVolumeSerialNumber, about.nFileIndexHigh, about.nFileIndexLow))
}

/// Returns a path in the form in which two of them are compared: with `/`, and in lower case, for the system takes both cases
/// and both separators.
pub fn comparable(path: &str) -> Cow<'_, str> {
    path.replace('\\', "/").to_lowercase().into()
}

/// Makes a symbolic link to a file, if the user may: few may.
pub fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, at)
}

/// Returns the path without links. The standard library begins it with `\\?\`, which git and people do not take.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(plain)
}

/// Takes the prefix `\\?\` off a path that is the same without it.
fn plain(path: PathBuf) -> PathBuf {
    let text = match path.to_str() {
        Some(text) if text.len() <= MAX_PLAIN_PATH => text,
        _ => return path,
    };
    if let Some(share) = text.strip_prefix(r"\\?\UNC\") {
        return format!(r"\\{share}").into();
    }
    match text.strip_prefix(r"\\?\") {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => path,
    }
}

/// Locks a file, waiting for those who have it locked.
pub fn lock(file: &File) -> io::Result<()> {
    lock_byte(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Locks a file, unless another process has it locked.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    lock_byte(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY).map_err(refusal)
}

/// Locks a file together with others that lock it so, waiting for those who have it locked for themselves.
pub fn lock_shared(file: &File) -> io::Result<()> {
    lock_byte(file, 0)
}

/// Locks a file together with others that lock it so, unless another process has it locked for itself.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    lock_byte(file, LOCKFILE_FAIL_IMMEDIATELY).map_err(refusal)
}

/// Lets go of a lock whose file is about to be closed: the system takes its time to do so by itself.
#[expect(unsafe_code, reason = "the lock is one that the standard library does not have")]
pub fn unlock_closing(file: &File) {
    let mut place = lock_place();
    // SAFETY: the handle is open, and the structure lives across the call.
    unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) };
}

#[expect(
    unsafe_code,
    reason = "the standard library locks all of a file, which keeps others from reading it"
)]
fn lock_byte(file: &File, flags: u32) -> io::Result<()> {
    let mut place = lock_place();
    // SAFETY: the handle is open and not asynchronous, so the call is over when it returns, and the structure lives until then.
    match unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn lock_place() -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.OffsetHigh = LOCK_OFFSET_HIGH;
    place
}

fn refusal(error: io::Error) -> TryLockError {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    }
}

/// Returns nothing: users have no numbers.
pub fn user_id() -> Option<u32> {
    None
}

/// Returns whether what is at a path is the user's, as git decides: the user's own, or the administrators' where the user is
/// one of them. A file system that keeps no owners has nothing of the user's.
#[expect(unsafe_code, reason = "the standard library does not tell whose a file is")]
pub fn is_users(_metadata: &Metadata, path: &Path) -> bool {
    let path: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let (mut owner, mut descriptor): (PSID, PSECURITY_DESCRIPTOR) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the path ends in a zero, and what is not asked for is null. The owner is a part of the descriptor, which is
    // freed after the last use.
    unsafe {
        let asked = GetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        );
        let is_users = asked == ERROR_SUCCESS && !owner.is_null() && is_us(owner);
        if !descriptor.is_null() {
            LocalFree(descriptor);
        }
        is_users
    }
}

/// Returns whether a security id is that of the user, or of the administrators where the user is one.
///
/// # Safety
/// It must point to a security id.
#[expect(unsafe_code, reason = "the standard library knows no security ids")]
unsafe fn is_us(owner: PSID) -> bool {
    /// As the structure in it is aligned.
    #[repr(align(8))]
    struct Buffer([u8; MAX_TOKEN_USER_BYTES]);
    let mut buffer = Buffer([0; MAX_TOKEN_USER_BYTES]);
    let mut token: HANDLE = ptr::null_mut();
    // SAFETY: a process may ask about itself; the handle is closed by its owner; the buffer has the length that the call gets
    // and holds a `TOKEN_USER` when it succeeds.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) == 0 {
            return false;
        }
        let _close = OwnedHandle::from_raw_handle(token);
        let place: *mut c_void = (&raw mut buffer.0).cast();
        let mut length = 0;
        let is_answered =
            GetTokenInformation(token, TokenUser, place, MAX_TOKEN_USER_BYTES as u32, &raw mut length);
        if is_answered != 0 && EqualSid(owner, (*place.cast::<TOKEN_USER>()).User.Sid) != 0 {
            return true;
        }
        let mut is_member = 0;
        IsWellKnownSid(owner, WinBuiltinAdministratorsSid) != 0
            && CheckTokenMembership(ptr::null_mut(), owner, &raw mut is_member) != 0
            && is_member != 0
    }
}

/// Makes sure that a folder which is there is the user's: claims are in the data folder, never in a shared one.
pub fn claim_folder(folder: &Path, metadata: &Metadata) -> bool {
    metadata.is_dir() && is_users(metadata, folder)
}

/// Returns no: who may look into a folder is up to the one that it is in, and a user's profile is closed to others.
pub fn is_open_to_others(_folder: &Path) -> bool {
    false
}

/// Does nothing: there are no modes.
pub fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Returns whether a file may be started, as its metadata tells: its name decides.
pub fn is_executable(_metadata: &Metadata) -> bool {
    true
}

/// Returns whether there is a program at a path, which may lack its `.exe`.
pub fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

/// Returns the home of the user whom `env` describes: that of the client, which does not look at `HOME`.
pub fn home(env: &Env) -> Option<PathBuf> {
    env.get("USERPROFILE").or_else(|| env.get("HOME")).map(PathBuf::from)
}

/// Returns the folder of personal data in a home: what stays on this machine.
pub fn data_in_home(home: &Path) -> PathBuf {
    home.join(r"AppData\Local")
}

/// Returns the folder for temporary files.
pub fn temp_folder(env: &Env) -> PathBuf {
    env.get("TEMP").or_else(|| env.get("TMP")).map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Returns git's configuration for all users, where its installer puts it.
pub fn git_configuration() -> Option<PathBuf> {
    let programs = Env::process().get("ProgramFiles")?;
    Some(PathBuf::from(programs).join(r"Git\etc\gitconfig"))
}

/// Fills `bytes` with what cannot be guessed.
#[expect(unsafe_code, reason = "the standard library gives out no random bytes")]
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    // SAFETY: the buffer has the length that the call gets; the system's own generator needs no handle.
    let status = unsafe {
        BCryptGenRandom(ptr::null_mut(), bytes.as_mut_ptr(), length, BCRYPT_USE_SYSTEM_PREFERRED_RNG)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::other("the system gives out no random bytes")) }
}

/// Returns whether there is a process with this id, as far as the system tells. The id may have been given to another
/// process since: callers also bound the age of what they know.
#[expect(unsafe_code, reason = "the standard library does not ask for a process")]
pub fn is_alive(process: u32) -> bool {
    // SAFETY: plain numbers; the handle is closed by its owner, after the wait, which does not wait.
    unsafe {
        let handle = OpenProcess(PROCESS_SYNCHRONIZE, 0, process);
        if handle.is_null() {
            // Another user's, which we may not look at.
            return io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied;
        }
        let _close = OwnedHandle::from_raw_handle(handle);
        WaitForSingleObject(handle, 0) == WAIT_TIMEOUT
    }
}

/// Prepares a command that may go on when we have ended: it has no window, and none of our streams, whose end the client
/// waits for.
///
/// Its console has no window, which its own children share; without a console, each of them would open one. The client's job
/// object lets the children of its children go (`SILENT_BREAKAWAY_OK`).
pub fn outlive_us(command: &mut Command) {
    command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    keep_our_streams();
}

/// Keeps children from inheriting our standard streams, besides those that they are given: the system hands on every handle
/// that may be inherited, and those that a client gives us may.
#[expect(unsafe_code, reason = "the standard library starts every child with all that may be inherited")]
fn keep_our_streams() {
    for stream in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: plain numbers; without such a stream the second call fails, which is as good.
        unsafe { SetHandleInformation(GetStdHandle(stream), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Does nothing: a program that outlives the one that starts it has a console of its own from the start.
pub fn leave_session() {}

/// Does nothing: there is no limit on file sizes.
pub fn survive_file_size_limit() {}

/// Does nothing: who makes a pipe decides how much it holds.
pub fn widen_input() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_prefix_where_it_means_the_same_without() {
        for (path, expected) in [
            (r"\\?\C:\Users\Ada", r"C:\Users\Ada"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\?\Volume{0}\x", r"\\?\Volume{0}\x"),
            (r"D:\x", r"D:\x"),
        ] {
            assert_eq!(plain(path.into()), Path::new(expected));
        }
    }

    #[test]
    fn a_file_that_is_only_appended_to_can_be_locked() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = OpenOptions::new();
        append(&mut options);
        lock(&options.open(folder.path().join("file")).unwrap()).unwrap();
    }
}
