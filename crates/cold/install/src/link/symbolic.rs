//! A symbolic link.

use base::{files, system};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) const NAME: &str = "wyren";

/// Returns where a link leads; `None` for what is not one.
pub(super) fn target(at: &Path) -> io::Result<Option<PathBuf>> {
    match fs::symlink_metadata(at)?.is_symlink() {
        true => fs::read_link(at).map(Some),
        false => Ok(None),
    }
}

pub(super) fn write(at: &Path, program: &Path) -> io::Result<()> {
    files::remove_if_there(at)?;
    system::link(program, at)
}
