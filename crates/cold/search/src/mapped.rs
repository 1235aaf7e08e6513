//! Mapping files of the index.

use memmap2::Mmap;
use std::io;
use std::path::Path;

/// Maps a file of our own; `None` where it has fewer bytes than `least`.
#[expect(unsafe_code, reason = "mapping a file")]
pub(crate) fn map(path: &Path, least: usize) -> io::Result<Option<Mmap>> {
    let file = base::files::open_regular(path)?;
    if file.metadata()?.len() < least as u64 {
        return Ok(None);
    }
    // SAFETY: these are files of our own that are never written to again, only removed, and every access is checked.
    let map = unsafe { Mmap::map(&file) }?;
    Ok(Some(map))
}
