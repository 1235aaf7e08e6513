//! Which files of a work tree have changed, without git: each file's times and size are compared with what `.git/index` has
//! noted. What git would have to read to be sure of counts as unchanged.

use base::files::{self, cap};
use base::project::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// How many files are looked at.
const MOST_FILES: usize = 60;

const SIGNATURE: &[u8] = b"DIRC";
const HEADER_BYTES: usize = 12;
/// Times, device, node, mode, owners and size, in 32 bits each.
const STAT_BYTES: usize = 40;
/// Of the object in a repository that uses SHA-1. Another one reads as damaged.
const DIGEST_BYTES: usize = 20;
const FLAG_EXTENDED: u16 = 0x4000;
const FLAG_STAGE: u16 = 0x3000;
/// Names of this length or more do not have theirs noted.
const NAME_LENGTH: u16 = 0x0fff;
/// A file that a sparse checkout leaves out.
const FLAG_SKIPPED: u16 = 0x4000;

/// Returns which of these files, relative to the work tree, differ from the index or are not in it. Empty where the index is
/// missing, too large or of a form that is not known.
pub(super) fn changed(repository: &Repository, files: &[&str]) -> BTreeSet<String> {
    let wanted: BTreeMap<&[u8], &str> =
        files.iter().take(MOST_FILES).map(|path| (path.as_bytes(), *path)).collect();
    if wanted.is_empty() {
        return BTreeSet::new();
    }
    let index = files::read_capped(&repository.git_folder.join("index"), cap::GIT_INDEX);
    let Some(noted) = index.ok().and_then(|index| read(&index, &wanted)) else { return BTreeSet::new() };
    let differs = |path: &&&str| differs(&repository.root.join(path), noted.get(**path).copied());
    wanted.values().filter(differs).map(|path| (*path).to_owned()).collect()
}

/// What the index says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Noted {
    seconds: u32,
    nanoseconds: u32,
    size: u32,
    is_skipped: bool,
    is_in_conflict: bool,
}

fn differs(path: &Path, noted: Option<Noted>) -> bool {
    match (path.symlink_metadata(), noted) {
        (Err(_), None) => false,
        (Err(_), Some(noted)) => !noted.is_skipped,
        (Ok(file), None) => !file.is_dir(),
        (Ok(file), Some(noted)) => noted.is_in_conflict || !is_as_noted(&file, noted),
    }
}

fn is_as_noted(file: &Metadata, noted: Noted) -> bool {
    let Some(modified) = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()) else {
        return true;
    };
    // Git keeps the lower 32 bits, and no fractions where it was built so.
    let is_same_moment = noted.nanoseconds == 0 || noted.nanoseconds == modified.subsec_nanos();
    file.len() as u32 == noted.size && modified.as_secs() as u32 == noted.seconds && is_same_moment
}

/// Returns the files in the index, relative to the work tree, without those that a sparse checkout leaves out. Empty where the
/// index is missing, too large or of a form that is not known.
pub(crate) fn indexed(repository: &Repository) -> Vec<String> {
    let mut paths = Vec::new();
    if let Ok(index) = files::read_capped(&repository.git_folder.join("index"), cap::WHOLE_GIT_INDEX) {
        each(&index, |name, file| {
            // A file in conflict is there once for each side.
            if !file.is_skipped && paths.last().is_none_or(|last: &String| last.as_bytes() != name) {
                paths.extend(std::str::from_utf8(name).map(str::to_owned));
            }
        });
    }
    paths
}

/// Returns what the index says of the files that are wanted; `None` when it cannot be read.
fn read<'p>(index: &[u8], wanted: &BTreeMap<&[u8], &'p str>) -> Option<BTreeMap<&'p str, Noted>> {
    let mut noted = BTreeMap::new();
    each(index, |name, file| {
        if let Some(path) = wanted.get(name) {
            noted.insert(*path, file);
        }
    })?;
    Some(noted)
}

/// Calls `take` for each file in an index; `None` when it cannot be read to its end.
fn each(index: &[u8], mut take: impl FnMut(&[u8], Noted)) -> Option<()> {
    if !index.starts_with(SIGNATURE) {
        return None;
    }
    let (version, count) = (number(index, 4)?, number(index, 8)?);
    let (mut at, mut name) = (HEADER_BYTES, Vec::new());
    for _ in 0..count {
        let flags_at = at + STAT_BYTES + DIGEST_BYTES;
        let flags = short(index, flags_at)?;
        let is_extended = version >= 3 && flags & FLAG_EXTENDED != 0;
        let is_skipped = is_extended && short(index, flags_at + 2)? & FLAG_SKIPPED != 0;
        let name_at = flags_at + if is_extended { 4 } else { 2 };
        let end = match version {
            2 | 3 => whole_name(index, name_at, flags, &mut name, at)?,
            4 => changed_name(index, name_at, &mut name)?,
            _ => return None,
        };
        let file = Noted {
            seconds: number(index, at + 8)?,
            nanoseconds: number(index, at + 12)?,
            size: number(index, at + 36)?,
            is_skipped,
            is_in_conflict: flags & FLAG_STAGE != 0,
        };
        take(&name, file);
        at = end;
    }
    Some(())
}

/// Reads a name that is followed by one to eight zeros; returns where the next file begins.
fn whole_name(index: &[u8], at: usize, flags: u16, name: &mut Vec<u8>, begin: usize) -> Option<usize> {
    let length = match flags & NAME_LENGTH {
        NAME_LENGTH => index.get(at..)?.iter().position(|byte| *byte == 0)?,
        length => usize::from(length),
    };
    name.clear();
    name.extend_from_slice(index.get(at..at + length)?);
    Some(begin + (at + length - begin) / 8 * 8 + 8)
}

/// Reads a name that begins as the one before it: how much of that one's end is dropped, then the rest.
fn changed_name(index: &[u8], mut at: usize, name: &mut Vec<u8>) -> Option<usize> {
    let mut byte = *index.get(at)?;
    let mut dropped = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *index.get(at)?;
        dropped = (dropped.checked_add(1)?.checked_mul(128)?).checked_add(usize::from(byte & 0x7f))?;
    }
    at += 1;
    let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
    name.truncate(name.len().checked_sub(dropped)?);
    name.extend_from_slice(&index[at..at + length]);
    Some(at + length + 1)
}

fn number(index: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
}

fn short(index: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::{fs, time};

    const LONG: &str = "a/rather/long/path/to/a/file/that/shares/its/beginning/one.rs";

    fn git(folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@localhost"]).args(arguments).current_dir(folder);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// A work tree in which `changed.rs` was edited, `gone.rs` deleted, `new.rs` added, and the others are as committed.
    fn work_tree(version: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        git(path, &["init", "--quiet"]);
        fs::create_dir_all(path.join(LONG).parent().unwrap()).unwrap();
        for name in ["changed.rs", "gone.rs", "kept.rs", "later.rs", LONG] {
            fs::write(path.join(name), format!("{name}\n")).unwrap();
        }
        git(path, &["add", "--intent-to-add", "later.rs"]);
        git(path, &["add", "changed.rs", "gone.rs", "kept.rs", LONG]);
        git(path, &["update-index", "--index-version", version]);
        fs::write(path.join("changed.rs"), "something else\n").unwrap();
        fs::remove_file(path.join("gone.rs")).unwrap();
        fs::write(path.join("new.rs"), "").unwrap();
        folder
    }

    #[test]
    fn files_that_differ_from_any_kind_of_index_have_changed() {
        for version in ["2", "3", "4"] {
            let folder = work_tree(version);
            let repository = Repository::above(folder.path()).unwrap();
            let files =
                ["changed.rs", "gone.rs", "kept.rs", "later.rs", "never.rs", "new.rs", LONG, "a/rather"];
            let changed = changed(&repository, &files);
            assert_eq!(
                changed.iter().map(String::as_str).collect::<Vec<_>>(),
                ["changed.rs", "gone.rs", "later.rs", "new.rs"],
                "version {version}"
            );
        }
    }

    #[test]
    fn a_touched_file_of_the_same_size_has_changed() {
        let folder = work_tree("2");
        let file = fs::File::options().write(true).open(folder.path().join("kept.rs")).unwrap();
        file.set_modified(time::SystemTime::now() + time::Duration::from_secs(5)).unwrap();
        let repository = Repository::above(folder.path()).unwrap();
        assert_eq!(changed(&repository, &["kept.rs", LONG]).into_iter().collect::<Vec<_>>(), ["kept.rs"]);
    }

    #[test]
    fn an_odd_index_says_nothing() {
        let folder = work_tree("4");
        let repository = Repository::above(folder.path()).unwrap();
        let index = folder.path().join(".git/index");
        let whole = fs::read(&index).unwrap();
        for length in 0..whole.len() - 20 {
            fs::write(&index, &whole[..length]).unwrap();
            let _ = changed(&repository, &["changed.rs", LONG]);
        }
        for odd in [&b"DIRC\0\0\0\x09\0\0\0\x01"[..], b"", b"DIRC\0\0\0\x04\xff\xff\xff\xff\xff\xff"] {
            fs::write(&index, odd).unwrap();
            assert_eq!(changed(&repository, &["changed.rs"]), BTreeSet::new(), "{odd:?}");
        }
        fs::remove_file(&index).unwrap();
        assert_eq!(changed(&repository, &["changed.rs"]), BTreeSet::new());
    }
}
