//! Where the cache of a folder is.

use crate::cache::Cache;
use base::{Paths, digest};
use memmap2::Mmap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How many folders the way up from a session's folder has at most.
const MAX_STEPS: usize = 64;

/// Returns the folder of the caches.
pub fn folder(paths: &Paths) -> PathBuf {
    paths.cache().join("recall")
}

/// Returns the cache of the project that has its top at `root`.
pub fn cache_file(paths: &Paths, root: &Path) -> PathBuf {
    let name = digest::short_hex(root.as_os_str().as_encoded_bytes());
    folder(paths).join(format!("{name}.idx"))
}

/// Returns the top of the work tree around a folder, or the folder itself where there is none.
///
/// This only names a cache, so it decides nothing about whose repository that is: `base::project` did when the cache was
/// written. Where the two differ there is no cache of that name.
pub fn root_of(cwd: &Path) -> &Path {
    let cwd = cwd.components().as_path();
    let is_root = |folder: &&Path| {
        let marker = folder.join(".git");
        // An empty `.git` folder is not a repository.
        fs::symlink_metadata(&marker).is_ok_and(|kind| {
            kind.is_file() || (kind.is_dir() && marker.join("HEAD").symlink_metadata().is_ok())
        })
    };
    cwd.ancestors().take(MAX_STEPS).find(is_root).unwrap_or(cwd)
}

/// Opens the cache of the project that has its top at `root`; `None` when there is none that holds.
pub fn open(paths: &Paths, root: &Path) -> Option<Cache<Mmap>> {
    let file = File::open(cache_file(paths, root)).ok()?;
    #[expect(unsafe_code, reason = "mapping a file is what makes the cost independent of its size")]
    // SAFETY: files in the cache are only ever replaced by rename, never changed in place; and every access is checked,
    // so that whatever they hold is at worst a damaged cache.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    Cache::new(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_nearest_repository_or_the_folder_itself() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        let (inner, linked) = (top.join("a/b"), top.join("linked/c"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&linked).unwrap();
        assert_eq!(root_of(&inner), inner, "no repository");
        fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(root_of(&inner), inner, "an empty folder");
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(root_of(&inner), top);
        assert_eq!(root_of(&inner.join("")), top, "a slash at the end");
        fs::write(top.join("linked/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(root_of(&linked), top.join("linked"));
    }
}
