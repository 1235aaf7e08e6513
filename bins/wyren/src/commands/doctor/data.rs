//! The data folder: exists, is private and writable, has free space.

use super::{Check, Subject, size};
use crate::places;
use base::files;
use std::fs;
use std::io;
use std::path::Path;

const NAME: &str = "data folder";
/// Less free space than this is a warning.
const SCARCE_BYTES: u64 = 200_000_000;
/// Less free space than this is a failure: nothing can be stored.
const FULL_BYTES: u64 = 5_000_000;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let folder = subject.paths.data();
    let shown = folder.display();
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::good(NAME, format!("{shown} does not exist yet; the first hook creates it"));
        }
        Err(error) => return Check::bad(NAME, format!("{shown}: {error}"), format!("ls -ld '{shown}'")),
        Ok(metadata) if !metadata.is_dir() => {
            let fix = format!("mv '{shown}' '{shown}.old'");
            return Check::bad(NAME, format!("{shown} is a file; expected a folder"), fix);
        }
        Ok(_) => {}
    }
    if let Some(found) = places::anything_misplaced(subject.paths) {
        return Check::bad(NAME, found.problem(), found.fix());
    }
    if let Err(error) = try_to_write(folder) {
        let fix = format!("chmod u+rwx '{shown}'");
        return Check::bad(NAME, format!("{shown} is not writable: {error}"), fix);
    }
    match room(folder) {
        Some(room) if room < FULL_BYTES => {
            let message =
                format!("the disk of {shown} is full; nothing is recorded until there is free space");
            return Check::bad(NAME, message, format!("df -h '{shown}'"));
        }
        Some(room) if room < SCARCE_BYTES => {
            let message = format!("only {} free on the disk of {shown}", size(room));
            return Check::odd(NAME, message, format!("df -h '{shown}'"));
        }
        _ => {}
    }
    if !is_private(folder) {
        let message = format!("other users can list {shown}");
        return Check::odd(NAME, message, format!("chmod 700 '{shown}'"));
    }
    Check::good(NAME, shown.to_string())
}

fn try_to_write(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".doctor-{}", std::process::id()));
    files::private_options().write(true).create_new(true).open(&file)?;
    fs::remove_file(file)
}

#[cfg(unix)]
fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn room(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_folder: &Path) -> bool {
    true
}
