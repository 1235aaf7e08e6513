//! The transcripts below a projects folder.
//!
//! The walk goes [`MAX_DEPTH`] folders deep, follows no symlinks and does not enter `tool-results/`: what a tool
//! wrote there may end in `.jsonl` too, but it is not a transcript.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::budget::MAX_DEPTH;
use crate::error::Error;

const TOOL_RESULTS: &str = "tool-results";
const PACKED: &[u8] = b".jsonl.zst";

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The transcripts, subagents' too, in the order of their paths.
    pub transcripts: Vec<PathBuf>,
    /// Folders that could not be listed.
    pub unreadable_folders: u64,
    /// Transcripts that are packed (`.jsonl.zst`), which this crate does not read.
    pub packed: u64,
}

/// Finds the transcripts below `root`. Only a root that cannot be listed is an error.
pub fn walk(root: &Path) -> Result<Tree, Error> {
    let mut tree = Tree::default();
    let entries = fs::read_dir(root).map_err(Error::list(root))?;
    visit(entries, 1, &mut tree);
    tree.transcripts.sort();
    Ok(tree)
}

fn visit(entries: fs::ReadDir, depth: usize, tree: &mut Tree) {
    for entry in entries.filter_map(Result::ok) {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_file() && path.extension() == Some(OsStr::new("jsonl")) {
            tree.transcripts.push(path);
        } else if kind.is_file() && entry.file_name().as_encoded_bytes().ends_with(PACKED) {
            tree.packed += 1;
        } else if kind.is_dir() && depth < MAX_DEPTH && entry.file_name() != TOOL_RESULTS {
            match fs::read_dir(&path) {
                Ok(entries) => visit(entries, depth + 1, tree),
                Err(_) => tree.unreadable_folders += 1,
            }
        }
    }
}
