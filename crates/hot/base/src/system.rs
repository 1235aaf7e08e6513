//! What the standard library does not have, or what differs between systems: one interface, in `unix.rs` and `windows.rs`.
//!
//! | | Unix | Windows |
//! |---|---|---|
//! | private files | modes 0700 and 0600 | the rights of the folder that they are made in; the data folder is in the user's profile, which only the user and administrators may read |
//! | locks | `flock` on the file | `LockFileEx` on one byte far behind the end: a lock there keeps no one from reading or writing, as on Unix |
//! | whose a file is | its user id | its owner's security id, as git for Windows decides |
//! | deleted files | have no name any more | the same, or will have none once they are closed |
//! | programs that outlive us | leave the session | have a console without a window, which their children share, and none of our streams |

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, TryLockError};
    use std::io::Write as _;
    use std::path::Path;

    fn open(path: &Path) -> File {
        File::options().read(true).append(true).create(true).open(path).unwrap()
    }

    fn is_refused(result: Result<(), TryLockError>) -> bool {
        matches!(result, Err(TryLockError::WouldBlock))
    }

    #[test]
    fn a_lock_keeps_out_locks_and_no_reader_or_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let [mut one, mut other] = [open(&path), open(&path)];
        try_lock(&one).unwrap();
        assert!(is_refused(try_lock(&other)) && is_refused(try_lock_shared(&other)));
        one.write_all(b"one ").unwrap();
        other.write_all(b"other").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one other");
        unlock_closing(&one);
        drop(one);
        let mut one = open(&path);
        lock_shared(&one).unwrap();
        try_lock_shared(&other).unwrap();
        assert!(is_refused(try_lock(&open(&path))));
        // Under a shared lock, too.
        one.write_all(b"!").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one other!");
        drop((one, other));
        lock(&open(&path)).unwrap();
    }

    #[test]
    fn the_names_of_a_file_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = open(&path);
        let count = || names(&file, &file.metadata().unwrap()).unwrap();
        assert_eq!(count(), 1);
        fs::hard_link(&path, folder.path().join("second")).unwrap();
        assert_eq!(count(), 2);
    }

    #[test]
    fn a_file_that_is_deleted_while_it_is_open_counts_as_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = open(&path);
        let is_gone = || is_deleted(&file, &file.metadata().unwrap()).unwrap();
        assert!(!is_gone());
        fs::remove_file(&path).unwrap();
        assert!(is_gone());
    }

    #[test]
    fn a_file_is_the_same_under_its_path_until_it_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, aside] = ["file", "aside"].map(|name| folder.path().join(name));
        let file = open(&path);
        assert!(is_same_file(&file, &path).unwrap());
        rename(&path, &aside).unwrap();
        let _new = open(&path);
        assert!(!is_same_file(&file, &path).unwrap() && is_same_file(&file, &aside).unwrap());
    }

    #[test]
    fn a_folder_is_the_same_by_every_path_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        assert!(is_same_folder(&below.join(".."), folder.path()));
        assert!(
            !is_same_folder(&below, folder.path()) && !is_same_folder(&below.join("x"), &below.join("x"))
        );
    }

    #[test]
    fn a_living_process_is_distinguished_from_a_dead_one() {
        assert!(is_alive(std::process::id()));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("--list")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let process = child.id();
        // It ends without being waited for, and is no more alive then than afterwards.
        #[cfg(any(target_os = "linux", windows))]
        while is_alive(process) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_alive(process));
        assert!(!is_alive(0) && !is_alive(u32::MAX));
    }

    #[test]
    fn bytes_are_written_at_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        write_at(&file, b"ab", 4).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"0123ab6789");
    }

    #[test]
    fn random_bytes_differ() {
        let [mut one, mut other] = [[0; 32]; 2];
        random(&mut one).unwrap();
        random(&mut other).unwrap();
        assert!(one != other && one != [0; 32]);
    }

    #[test]
    fn what_a_user_makes_is_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::symlink_metadata(folder.path()).unwrap();
        assert!(is_users(&metadata, folder.path()));
    }

    #[test]
    fn a_program_is_found_as_the_system_starts_it() {
        let ours = std::env::current_exe().unwrap();
        assert!(is_program(&ours) && is_program(&ours.with_extension(std::env::consts::EXE_EXTENSION)));
        assert!(!is_program(ours.parent().unwrap()) && !is_program(&ours.with_file_name("no-such-program")));
    }
}
