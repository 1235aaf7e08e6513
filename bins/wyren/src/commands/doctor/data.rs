//! The data folder: exists, is private and writable, has free space.

use super::{Check, Repair, Subject, size};
use crate::places;
use crate::terminal::counted;
use base::files;
use install::list::{self, Below};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
        return Check::bad(NAME, format!("{shown} is not writable, so nothing is recorded: {error}"), fix);
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
    if let Some(check) = open_to_others(folder) {
        return check;
    }
    match room(folder) {
        Some(room) => Check::good(NAME, format!("{shown}, {} free", size(room))),
        None => Check::good(NAME, shown.to_string()),
    }
}

/// Looks for what other users of this machine can read: the folder itself, or what is in it.
#[cfg(unix)]
fn open_to_others(folder: &Path) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| Some(fs::symlink_metadata(path).ok()?.permissions().mode());
    let is_open = |path: &PathBuf| !files::is_link(path) && mode(path).is_some_and(|mode| mode & 0o077 != 0);
    let within = ["", "logs", "trust", "publish"].into_iter().flat_map(|name| {
        let entries = fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    });
    // The plugin holds nothing of the user's, and what they put beside it is theirs.
    let private = within.filter(|path| {
        let part = path.strip_prefix(folder).unwrap_or(path);
        let is_plugin = part.to_string_lossy().starts_with("plugin");
        !is_plugin
            && (list::is_listed(Below::Data, part) || (path.is_dir() && list::has_listed(Below::Data, part)))
    });
    let open: Vec<PathBuf> = std::iter::once(folder.to_owned()).chain(private).filter(is_open).collect();
    let first = open.first()?.display().to_string();
    let message = match open.len() {
        1 => format!("other users of this machine can read {first}"),
        all => format!("other users of this machine can read {first} and {} more", all - 1),
    };
    let repair = Repair::new(
        format!("let only you read {}", counted(open.len(), "file or folder", "files or folders")),
        move || {
            for path in &open {
                let mode = mode(path).unwrap_or(0o600) & 0o700;
                fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            }
            Ok(())
        },
    );
    Some(Check::odd(NAME, message, format!("chmod go-rwx '{first}', or: wyren doctor --fix")).with(repair))
}

/// Looks at nothing: elsewhere, what is in a user's profile is theirs alone.
#[cfg(not(unix))]
fn open_to_others(_folder: &Path) -> Option<Check> {
    None
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
