//! Links that a repository brings along: they would have us write to files of the user's.

use base::files;
use std::io;
use std::path::Path;

/// Fails when a folder that is to be written in is a link.
pub fn refuse_link(folder: &Path) -> io::Result<()> {
    if files::is_link(folder) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is a link", folder.display())));
    }
    Ok(())
}
