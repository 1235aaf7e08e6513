//! Files that Wyren writes whole into the folders of others: a comment near their top says so, with a digest of what follows.
//! One whose digest fits no more was edited, and counts as the user's.

use base::{digest, files};
use std::io;
use std::path::{Path, PathBuf};

/// The words of the comment; the digest follows.
pub(crate) const MARK: &str = "Written by `wyren install`; `wyren uninstall` removes it unless you edit it. ";

/// The line below which front matter begins.
const FRONT: &str = "---\n";

/// The most bytes of a file that are read.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// How a file has a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comment {
    /// With `#`, in the first line of the front matter.
    Front,
    /// With `#`.
    Hash,
    /// With `//`.
    Slashes,
    /// As in HTML.
    Html,
}

/// A file that Wyren writes whole.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    pub path: PathBuf,
    /// What to do about it.
    pub state: State,
}

/// How a file compares with what Wyren would write.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// It is missing, or an older one of ours: its new contents.
    Due(String),
    /// It is as Wyren would write it.
    Done,
    /// The user wrote or edited it.
    Theirs,
}

impl File {
    /// Compares the file at a path with what Wyren would write there.
    pub(crate) fn at(path: PathBuf, contents: String) -> Self {
        let state = match files::read_text_followed(&path, MAX_BYTES) {
            Ok(present) if present == contents => State::Done,
            Ok(present) if is_ours(&present) => State::Due(contents),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !files::is_link(&path) => {
                State::Due(contents)
            }
            _ => State::Theirs,
        };
        Self { path, state }
    }

    /// Writes the file if that is due.
    pub fn write(&self) -> io::Result<()> {
        let State::Due(contents) = &self.state else { return Ok(()) };
        files::write_atomic(&self.path, contents.as_bytes())
    }
}

/// Returns which of these files are ours, and which were when they were written.
pub(crate) fn installed(paths: impl Iterator<Item = PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let read = |path: &PathBuf| files::read_text_capped(path, MAX_BYTES).ok();
    let marked = paths.filter(|path| read(path).is_some_and(|text| text.contains(MARK)));
    marked.partition(|path| read(path).is_some_and(|text| is_ours(&text)))
}

/// Removes a file, and the folders below `root` that are empty without it.
pub fn remove(path: &Path, root: &Path) -> io::Result<()> {
    std::fs::remove_file(path)?;
    files::remove_empty_folders(path.parent().unwrap_or(root), root);
    Ok(())
}

/// Returns a text with the comment.
pub(crate) fn marked(text: &str, comment: Comment) -> String {
    let (above, below) = match comment {
        Comment::Front => text.split_at(if text.starts_with(FRONT) { FRONT.len() } else { 0 }),
        _ => ("", text),
    };
    let digest = digest::sha256_hex(below.as_bytes());
    let (before, after) = match comment {
        Comment::Front | Comment::Hash => ("# ", ""),
        Comment::Slashes => ("// ", ""),
        Comment::Html => ("<!-- ", " -->"),
    };
    format!("{above}{before}{MARK}{digest}{after}\n{below}")
}

pub(crate) fn is_ours(text: &str) -> bool {
    let below_mark = text.split_once(MARK).and_then(|(_, rest)| rest.split_once('\n'));
    below_mark.is_some_and(|(digest, below)| {
        digest.split(' ').next() == Some(&digest::sha256_hex(below.as_bytes()))
    })
}
