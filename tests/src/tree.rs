//! Everything below a folder, to compare with what it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Every path below a folder with its mode, and the bytes or the target of files and links.
pub type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Reads a folder, with everything that is in it.
pub fn tree(folder: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            #[cfg(unix)]
            let mode = std::os::unix::fs::MetadataExt::mode(&metadata);
            #[cfg(not(unix))]
            let mode = u32::from(metadata.permissions().readonly());
            let contents = if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path)?.into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path)?
            };
            tree.insert(path.strip_prefix(folder)?.to_owned(), (mode, contents));
        }
    }
    Ok(tree)
}

/// Returns the paths that one tree has and the other does not, or has otherwise.
pub fn changed(before: &Tree, after: &Tree) -> BTreeSet<PathBuf> {
    let paths = before.keys().chain(after.keys());
    paths.filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}
