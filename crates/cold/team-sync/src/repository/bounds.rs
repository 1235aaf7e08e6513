//! What is shared at all, in numbers and names: a teammate's push is looked at by these bounds before any of it is written
//! here, and the local copy before any of it is published.
//!
//! They depend on the tree alone, so that every clone leaves out the same.

use serde::{Deserialize, Serialize};
use std::fmt;
use text::sanitize;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The largest memory, in bytes. One of 200 KB is a large one.
pub(crate) const MAX_MEMORY: usize = 4 * MIB;

/// The largest other file, in bytes.
pub(crate) const MAX_FILE: usize = MIB;

/// The most bytes of all files but the memory.
pub(crate) const MAX_BYTES: usize = 12 * MIB;

/// The most files.
pub(crate) const MAX_FILES: usize = 2_000;

/// The most folders above a file, `broadcast/` included.
pub(crate) const MAX_DEPTH: usize = 8;

/// The longest name of a file or folder, in bytes: file systems take 255, and a temporary file adds some 20.
pub(crate) const MAX_NAME: usize = 200;

/// The longest path relative to `.wyren/`, in bytes.
pub(crate) const MAX_PATH: usize = 512;

/// The most files and folders in one folder of the broadcast or of the lessons, with all that is below it: such a folder
/// is one thing, and left out as one.
pub(crate) const MAX_FOLDER: usize = 1_000;

/// The most entries of trees that are looked at: folders count, too, even those without a file.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// The largest tree that is read, in bytes: [`MAX_FILES`] with names of usual length are a tenth of it.
pub(crate) const MAX_TREE: usize = MIB;

/// The most bytes of trees that are read.
pub(crate) const MAX_TREES: usize = 4 * MIB;

/// The largest top-level tree of a commit, which in branch mode is the user's.
pub(crate) const MAX_ROOT: usize = 16 * MIB;

/// The largest commit object, in bytes.
pub(crate) const MAX_COMMIT: usize = 16 * MIB;

/// The most files of the state of the local copy, which an earlier version wrote without bounds.
pub(crate) const MAX_STATE: usize = 20_000;

/// The most things that are named when they are left out.
pub(crate) const MAX_NAMED: usize = 100;

/// The longest path that is shown, in characters: the longest that is shared, with room for what is over.
const MAX_SHOWN: usize = 600;

/// Something that is not synced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Relative to `.wyren/`, safe to show: what is no text or would change a terminal is written as `\\x1b`.
    pub path: String,
    pub why: String,
    /// Whether it is in the local copy; else it is on the remote.
    pub here: bool,
}

/// Why a path is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    BadName,
    LongName,
    LongPath,
    Deep,
    /// Larger than this many bytes.
    Large(usize),
    TooMany,
    TooMuch,
    FileAndFolder,
    SameButCase,
    Unreadable,
    /// Local: the file system refused it.
    Refused,
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName => write!(formatter, "not every system can have a file of that name"),
            Self::LongName => write!(formatter, "the name is longer than {MAX_NAME} bytes"),
            Self::LongPath => write!(formatter, "the path is longer than {MAX_PATH} bytes"),
            Self::Deep => write!(formatter, "more than {MAX_DEPTH} folders deep"),
            Self::Large(most) => write!(formatter, "larger than {} MiB", most / MIB),
            Self::TooMany => write!(formatter, "too many files or folders"),
            Self::TooMuch => write!(formatter, "more than {} MiB in all", MAX_BYTES / MIB),
            Self::FileAndFolder => write!(formatter, "a file and a folder have that name"),
            Self::SameButCase => write!(formatter, "another file has that name but for upper and lower case"),
            Self::Unreadable => write!(formatter, "git cannot read it"),
            Self::Refused => write!(formatter, "the file system refused it"),
        }
    }
}

/// Returns the most bytes that a file may have.
pub(crate) fn max_size(path: &str) -> usize {
    if path == place::MEMORY { MAX_MEMORY } else { MAX_FILE }
}

/// Judges a path relative to `.wyren/` by its length and depth, and the last of its names.
pub(crate) fn judge_path(path: &str) -> Result<(), Why> {
    let (folders, name) = path.rsplit_once('/').map_or(("", path), |(folders, name)| (folders, name));
    judge_name(name.as_bytes())?;
    if path.len() > MAX_PATH {
        return Err(Why::LongPath);
    }
    let depth = if folders.is_empty() { 0 } else { folders.split('/').count() };
    if depth > MAX_DEPTH { Err(Why::Deep) } else { Ok(()) }
}

/// Returns whether a file of that name can be shared.
pub(crate) fn can_be_shared(name: &str) -> bool {
    judge_name(name.as_bytes()).is_ok()
}

/// Returns the name if every system, and git itself, can have a file or folder of it.
pub(crate) fn judge_name(name: &[u8]) -> Result<&str, Why> {
    if name.len() > MAX_NAME {
        return Err(Why::LongName);
    }
    let name = std::str::from_utf8(name).map_err(|_| Why::BadName)?;
    let is_bad = name.is_empty()
        // `.` and `..` are among them. Windows drops a dot or a space at the end.
        || name.ends_with(['.', ' '])
        || name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
        || is_git_folder(name)
        || is_device(name);
    if is_bad { Err(Why::BadName) } else { Ok(name) }
}

/// Returns whether a file system takes the name for `.git`: HFS+ passes over some characters, NTFS has short names.
fn is_git_folder(name: &str) -> bool {
    const IGNORED: [std::ops::RangeInclusive<char>; 4] =
        ['\u{200c}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{206a}'..='\u{206f}', '\u{feff}'..='\u{feff}'];
    let seen: String = name.chars().filter(|c| !IGNORED.iter().any(|range| range.contains(c))).collect();
    let seen = seen.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    let is_short = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    seen == ".git" || seen.strip_prefix("git~").is_some_and(is_short)
}

/// Returns whether Windows takes the name for a device, whatever its extension.
fn is_device(name: &str) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let is_port = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|number| {
            let mut digits = number.chars();
            matches!((digits.next(), digits.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
        })
    };
    DEVICES.contains(&&*stem) || is_port("com") || is_port("lpt")
}

/// Returns a path of a tree as it is shown and typed: what is no text or would change a terminal is written as `\x1b`.
pub(crate) fn shown(parts: &[Vec<u8>]) -> String {
    let mut shown = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            shown.push('/');
        }
        for chunk in part.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    // Characters that one line of a terminal does not show as they are.
                    c if sanitize::one_line(&c.to_string(), 4) != c.to_string() && c != ' ' => {
                        let mut bytes = [0; 4];
                        push_escaped(&mut shown, c.encode_utf8(&mut bytes).as_bytes());
                    }
                    c => shown.push(c),
                }
            }
            push_escaped(&mut shown, chunk.invalid());
        }
    }
    match shown.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

fn push_escaped(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        shown.push_str(&format!("\\x{byte:02x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_every_system_can_have() {
        for name in [
            "a.md",
            ".gitkeep",
            ".gitignore",
            "git",
            "git~",
            "gitk~1",
            "console.md",
            "com",
            "com10",
            "ä 日本.md",
            "👨\u{200d}💻",
            "a~1",
        ] {
            assert_eq!(judge_name(name.as_bytes()), Ok(name), "{name:?}");
        }
        assert!(judge_name("n".repeat(MAX_NAME).as_bytes()).is_ok());
    }

    #[test]
    fn names_that_some_system_refuses_or_takes_for_another() {
        for name in [
            "",
            ".",
            "..",
            "...",
            ".git",
            ".GIT",
            ".git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~12",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git::$INDEX_ALLOCATION",
            "a/b",
            "a\\b",
            "a:b",
            "a\0b",
            "a\nb",
            "a\u{1b}b",
            "a\u{9b}b",
            "a.",
            "a ",
            "CON",
            "con.md",
            "aux.tar.gz",
            "Nul",
            "prn .txt",
            "com1",
            "LPT9.md",
            "com¹",
            "CONIN$",
        ] {
            assert_eq!(judge_name(name.as_bytes()), Err(Why::BadName), "{name:?}");
        }
        assert_eq!(judge_name(b"\xff"), Err(Why::BadName));
        assert_eq!(judge_name("n".repeat(MAX_NAME + 1).as_bytes()), Err(Why::LongName));
    }

    #[test]
    fn paths_are_bounded_in_depth_and_length() {
        let deep = |folders: usize| format!("{}x", "d/".repeat(folders));
        assert_eq!(
            (judge_path(&deep(MAX_DEPTH)), judge_path(&deep(MAX_DEPTH + 1))),
            (Ok(()), Err(Why::Deep))
        );
        let long =
            |bytes: usize| format!("{0}/{0}/{1}", "n".repeat(MAX_NAME), "x".repeat(bytes - 2 * MAX_NAME - 2));
        assert_eq!(
            (judge_path(&long(MAX_PATH)), judge_path(&long(MAX_PATH + 1))),
            (Ok(()), Err(Why::LongPath))
        );
    }

    #[test]
    fn a_path_is_shown_without_control_characters() {
        let shown = |parts: &[&[u8]]| shown(&parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>());
        assert_eq!(shown(&[b"broadcast", b"a b.md"]), "broadcast/a b.md");
        assert_eq!(shown(&[b"x", b"\xff\x1b]0;y\x07"]), "x/\\xff\\x1b]0;y\\x07");
        assert_eq!(shown(&["\u{202e}".as_bytes()]), "\\xe2\\x80\\xae");
        assert!(shown(&[&[b'n'; 70_000]]).len() < 700);
    }
}
