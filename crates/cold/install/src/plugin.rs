//! This machine's plugin in the data folder, and `wyren` on the PATH.

use base::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// What follows the name of the plugin's folder while another takes its place.
const NEW: &str = ".new";

/// Copies the plugin in `from` to `to`, in place of what is there; returns whether that changed anything.
///
/// The two folders are exchanged in one step where the system can: a hook that starts meanwhile runs the old program or the
/// new one.
pub fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    if to.symlink_metadata().is_ok() && !is_ours(to) {
        let text = format!("{} is there already and is not Wyren's", to.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    let new = beside(to, NEW);
    remove_folder(&new)?;
    if files::canonical(from) == files::canonical(to) || (to.is_dir() && is_same(from, to)?) {
        return Ok(false);
    }
    let copied = copy_folder(from, &new).and_then(|()| replace(&new, to));
    // Holds the old plugin by now, or a part of the new one.
    remove_folder(&new)?;
    copied.map(|()| true)
}

/// Removes a plugin that [`copy`] made; returns whether there was one. Another folder of that name stays.
pub fn remove(folder: &Path) -> io::Result<bool> {
    remove_folder(&beside(folder, NEW))?;
    if is_ours(folder) { remove_folder(folder) } else { Ok(false) }
}

/// Returns whether a folder is a plugin of Wyren's.
fn is_ours(folder: &Path) -> bool {
    let manifest = folder.join(".claude-plugin/plugin.json");
    let text = files::read_capped(&manifest, files::cap::TEXTS).unwrap_or_default();
    serde_json::from_slice::<Value>(&text).is_ok_and(|manifest| manifest["name"] == "wyren")
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!("{name}{ending}"))
}

fn remove_folder(folder: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    files::create_private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}

/// Puts the folder `new` in place of `old`, which is at `new` afterwards if it was there.
fn replace(new: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        return fs::rename(new, old);
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if rustix::fs::renameat_with(
        rustix::fs::CWD,
        new,
        rustix::fs::CWD,
        old,
        rustix::fs::RenameFlags::EXCHANGE,
    )
    .is_ok()
    {
        return Ok(());
    }
    let aside = beside(old, ".old");
    remove_folder(&aside)?;
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(new, old) {
        fs::rename(&aside, old)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (files, others) = (list(one)?, list(other)?);
    if files != others {
        return Ok(false);
    }
    for name in files.keys() {
        if !is_same_file(&one.join(name), &other.join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two files of the same size.
fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let [mut one, mut other] = [files::open_followed(one)?, files::open_followed(other)?].map(BufReader::new);
    loop {
        let (here, there) = (one.fill_buf()?, other.fill_buf()?);
        let length = here.len().min(there.len());
        if here[..length] != there[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(here.len() == there.len());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Returns the files below a folder, with their sizes and whether they are programs.
fn list(folder: &Path) -> io::Result<BTreeMap<PathBuf, (u64, bool)>> {
    let (mut list, mut folders) = (BTreeMap::new(), vec![PathBuf::new()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(folder.join(&next))? {
            let entry = entry?;
            let name = next.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                let metadata = fs::metadata(entry.path())?;
                list.insert(name, (metadata.len(), is_program(&metadata)));
            }
        }
    }
    Ok(list)
}

#[cfg(unix)]
fn is_program(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_metadata: &fs::Metadata) -> bool {
    true
}

/// What is at the place of a link.
#[derive(Debug, PartialEq, Eq)]
pub enum Link {
    /// Nothing.
    Missing,
    /// A link to this program.
    Ours,
    /// A link to `wyren` in another folder of the plugin.
    Older,
    /// Something that Wyren did not put there.
    Theirs,
}

/// Looks at the place where `program` is to be linked.
pub fn look(at: &Path, program: &Path) -> Link {
    match (fs::read_link(at), fs::symlink_metadata(at)) {
        (Ok(target), _) if target == program => Link::Ours,
        (Ok(target), _) if is_of_a_plugin(&target) => Link::Older,
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Link::Missing,
        _ => Link::Theirs,
    }
}

fn is_of_a_plugin(program: &Path) -> bool {
    let is_named = program.file_stem().is_some_and(|name| name == "wyren");
    let folder = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
    is_named
        && program.is_absolute()
        && folder.is_some_and(|folder| folder.join("hooks/hooks.json").is_file())
}

/// Links `program` at a place that has nothing, or an older link of ours.
#[cfg(unix)]
pub fn link(at: &Path, program: &Path) -> io::Result<()> {
    if let Some(folder) = at.parent() {
        files::create_private_folder(folder)?;
    }
    files::remove_if_there(at)?;
    std::os::unix::fs::symlink(program, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_copy_replaces_the_whole_folder_once() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join("bin/wyren"), "one");
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        assert!(copy(&from, &to).unwrap());
        write(&to.join("old"), "");
        assert!(copy(&from, &to).unwrap());
        assert!(!to.join("old").exists());
        assert!(!copy(&from, &to).unwrap() && !copy(&to, &to).unwrap());
        write(&from.join("bin/wyren"), "two");
        assert!(copy(&from, &to).unwrap());
        assert_eq!(fs::read_to_string(to.join("bin/wyren")).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 1);
        assert!(remove(&to).unwrap() && !remove(&to).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_that_fails_leaves_the_plugin_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("data/plugin"));
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        std::os::unix::fs::symlink("nowhere", from.join("broken")).unwrap();
        for earlier in [None, Some("old")] {
            if let Some(text) = earlier {
                write(&to.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
                write(&to.join("bin/wyren"), text);
            }
            copy(&from, &to).unwrap_err();
            assert_eq!(fs::read_to_string(to.join("bin/wyren")).ok().as_deref(), earlier);
            assert!(!beside(&to, NEW).exists());
        }
    }

    #[test]
    fn a_folder_of_the_users_is_neither_replaced_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("plugin"));
        write(&from.join(".claude-plugin/plugin.json"), r#"{"name": "wyren"}"#);
        write(&to.join("mine"), "mine");
        for manifest in [None, Some(r#"{"name": "other"}"#), Some("{")] {
            if let Some(text) = manifest {
                write(&to.join(".claude-plugin/plugin.json"), text);
            }
            assert_eq!(copy(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert!(!remove(&to).unwrap());
            assert_eq!(fs::read_to_string(to.join("mine")).unwrap(), "mine");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_links_of_ours_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (at, program) = (folder.path().join("bin/wyren"), folder.path().join("plugin/bin/wyren"));
        assert_eq!(look(&at, &program), Link::Missing);
        link(&at, &program).unwrap();
        assert_eq!(look(&at, &program), Link::Ours);
        let other = folder.path().join("other/bin/wyren");
        assert_eq!(look(&at, &other), Link::Theirs);
        write(&folder.path().join("plugin/hooks/hooks.json"), "{}");
        assert_eq!(look(&at, &other), Link::Older);
        link(&at, &other).unwrap();
        fs::remove_file(&at).unwrap();
        write(&at, "#!/usr/bin/env node");
        assert_eq!(look(&at, &program), Link::Theirs);
    }
}
